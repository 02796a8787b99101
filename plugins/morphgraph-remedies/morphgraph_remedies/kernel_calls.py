# mypy: disable-error-code="call-arg"
"""One call of each kernel, by which ``python -m morphgraph.kernels`` compiles it."""

from typing import Any

import numpy as np

from morphgraph.kernels.calls import PIECES, WORD, ids, no_types, outcome, packed, places, tables
from morphgraph_remedies.lookup_kernel import longest_from_right
from morphgraph_remedies.parity_kernel import learn_parity
from morphgraph_remedies.picky_kernel import Events, segment_by_events


def call_merge_in_text() -> None:
    """Merge in one word of two atoms."""
    settings: Any = {"minimum_count": 1, "global_merges": 1}
    learn_parity([packed()], [3], [], [], ["a", "b"], 4, **settings)


def call_segment_by_events() -> None:
    """Segment one word by an event."""
    table, square, _ = tables()
    merged, split = (ids(0), places(0, 1)), (ids(0), places(0, 0, 0, 0))
    types: Any = (ids(2), places(0, 1), np.zeros(1, np.bool_))
    events = Events(table, square, *merged, *split, *types, ids(1, 1, 2))
    segment_by_events(WORD, PIECES, 4, events, *outcome())


def call_longest_from_right() -> None:
    """Look up no types in one word."""
    longest_from_right(WORD, PIECES, no_types(), (0, 1))
