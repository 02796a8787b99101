"""Compile all kernels into the disk cache at set-up: ``python -m morphgraph.kernels``."""

import time

from morphgraph.kernels import (
    alignment,
    dropout,
    encoding,
    merge_lookup,
    picky_segmenting,
    picky_training,
    removing,
    repairing,
    resampling,
    segmenting,
    segmenting_long,
    segmenting_pairs,
    sequences,
    training,
    trie,
    words,
)


def main() -> None:
    """Call every kernel once with the dtypes in use."""
    started = time.perf_counter()
    for kernels in (
        encoding,
        merge_lookup,
        segmenting,
        segmenting_long,
        segmenting_pairs,
        removing,
        repairing,
        dropout,
        picky_segmenting,
        trie,
        alignment,
        training,
        picky_training,
        resampling,
        sequences,
        words,
    ):
        kernels.warm_up()
    print(f"kernels ready after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
