"""Compile all kernels into the disk cache at set-up: ``python -m morphgraph.kernels``."""

import time

from morphgraph.kernels import calls


def main() -> None:
    """Call every kernel once, and say how long it took."""
    started = time.perf_counter()
    calls.TOGETHER.insert(0, calls.ALL)
    for call in calls.ALL:
        call()
    print(f"kernels ready after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
