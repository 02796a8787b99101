# mypy: disable-error-code="assignment"
"""Segment by the events of Picky BPE, in order: merges of pairs, and splits of types.

Arrays are as in `morphgraph.kernels.segmenting`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.kernels import Int32, Int64
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.merge_lookup import DENSE, NONE, slot_of


class Events(NamedTuple):
    """The merges of pairs and splits of types of Picky BPE, in order of training.

    Pairs are looked up in ``table`` and ``dense`` of `merge_lookup.build_table`, where a value's
    upper half is the number of a pair; ``merge_events[merge_offsets[n] : merge_offsets[n + 1]]``
    are the events that merge pair *n*, ascending; ``split_events`` and ``split_offsets`` those that
    split a type. Event *e* makes ``event_types[event_offsets[e] : event_offsets[e + 1]]``: the
    result of a merge, or the parts of a split type. ``widths``: the number of atoms of each type.
    """

    table: Int64
    dense: Int64
    merge_events: Int32
    merge_offsets: Int64
    split_events: Int32
    split_offsets: Int64
    event_types: Int32
    event_offsets: Int64
    is_split: npt.NDArray[np.bool_]
    widths: Int32


@kernel
def segment_by_events(atoms, piece_offsets, longest, events, closed_by, token_at):
    """Segment pieces of at most ``longest`` atoms into ``closed_by`` and ``token_at``.

    Repeatedly apply the earliest possible event not before the last one, at its leftmost place.
    ``candidate[i]`` is the next one that splits token *i* or merges it with its successor; as the
    last event is the earliest of all candidates, the others stay valid.
    """
    table, dense, merge_events, merge_offsets, split_events, split_offsets = events[:6]
    event_types, event_offsets, is_split, widths = events[6:]
    token = np.empty(longest, np.int32)
    end = np.empty(longest, np.int32)
    candidate = np.empty(longest, np.int64)
    for piece in range(piece_offsets.shape[0] - 1):
        start = piece_offsets[piece]
        count = np.int64(piece_offsets[piece + 1] - start)
        for i in range(count):
            token[i] = atoms[start + i]
            end[i] = i
            closed_by[start + i] = -1
            token_at[start + i] = -1
        low = np.int64(0)
        high = count
        last = np.int64(0)
        while True:
            for i in range(low, high):
                best, left = np.int64(NONE), np.int64(token[i])
                if left < split_offsets.shape[0] - 1:
                    for next_ in range(split_offsets[left], split_offsets[left + 1]):
                        if split_events[next_] >= last:
                            best = np.int64(split_events[next_])
                            break
                number = np.int64(NONE)
                if i + 1 < count:
                    right = np.int64(token[i + 1])
                    if left < DENSE and right < DENSE:
                        number = dense[left, right] >> 32
                    else:
                        number = table[slot_of(table, (left << 32) | right), 1] >> 32
                if number != NONE:
                    for next_ in range(merge_offsets[number], merge_offsets[number + 1]):
                        if merge_events[next_] >= last:
                            best = min(best, np.int64(merge_events[next_]))
                            break
                candidate[i] = best
            event = np.int64(NONE)
            at = np.int64(-1)
            for i in range(count):
                if candidate[i] < event:
                    event = candidate[i]
                    at = np.int64(i)
            if at < 0:
                break
            last = event
            first = event_offsets[event]
            if is_split[event]:
                grown = np.int64(event_offsets[event + 1] - first) - 1
                for i in range(count - 1, at, -1):
                    token[i + grown] = token[i]
                    end[i + grown] = end[i]
                    candidate[i + grown] = candidate[i]
                place = end[at]
                for p in range(grown, -1, -1):
                    token[at + p] = event_types[first + p]
                    end[at + p] = place
                    if p < grown:
                        closed_by[start + place] = -1
                    place -= widths[event_types[first + p]]
                count += grown
                high = min(count, at + grown + 1)
            else:
                closed_by[start + end[at]] = event
                token[at] = event_types[first]
                end[at] = end[at + 1]
                count -= 1
                for i in range(at + 1, count):
                    token[i] = token[i + 1]
                    end[i] = end[i + 1]
                    candidate[i] = candidate[i + 1]
                high = min(count, at + 1)
            low = max(np.int64(0), at - 1)
        for i in range(count):
            token_at[start + end[i]] = token[i]
