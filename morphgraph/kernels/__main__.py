"""Compile all kernels into the disk cache: ``python -m morphgraph.kernels``, done at set-up."""

import time

from morphgraph.kernels import alignment, repairing, segmenting, segmenting_long, training


def main() -> None:
    """Call every kernel once with the dtypes in use."""
    started = time.perf_counter()
    for kernels in (segmenting, segmenting_long, repairing, alignment, training):
        kernels.warm_up()
    print(f"kernels ready after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
