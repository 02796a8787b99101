"""Compile all kernels into the disk cache at set-up: ``python -m morphgraph.kernels``."""

import time
from collections.abc import Callable
from typing import Any

from morphgraph.core.plugins import Registry
from morphgraph.kernels import calls


def main() -> None:
    """Call every kernel once, those of plug-ins too, and say how long it took."""
    started = time.perf_counter()
    calls.TOGETHER.insert(0, calls.ALL)
    kind: Any = Callable
    for call in (*calls.ALL, *Registry("morphgraph.kernels", kind).values()):
        call()
    print(f"kernels ready after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
