"""One call of each kernel, by which ``python -m morphgraph.kernels`` compiles it."""

from typing import Any

from morphgraph.kernels.calls import packed
from morphgraph_remedies.parity_kernel import learn_parity


def call_merge_in_text() -> None:
    """Merge in one word of two atoms."""
    settings: Any = {"minimum_count": 1, "global_merges": 1}
    learn_parity([packed()], [3], [], [], ["a", "b"], 4, **settings)
