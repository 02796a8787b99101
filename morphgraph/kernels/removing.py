"""Edit merges in flat arrays: remove types, and repair tuple merges.

A tuple merge is repaired by giving it the parts into which earlier merges segment its result.
Types, merges and tables are those of `kernels.segmenting`.
"""

import numpy as np

from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.merge_lookup import add_merge, build_table, remove_merge
from morphgraph.kernels.segmenting import SCAN_ROWS, scan


@kernel
def parts_without(parts, spans, results, producer, removed, is_new):
    """Return the merges that lose parts when more types are removed, and their new parts.

    Merge *m* has ``parts[spans[m, 0] : spans[m, 1]]``; ``producer``: the first merge that makes a
    type. ``removed`` and ``is_new`` (uint8, by type): all removed types, and those removed now.
    Merges that make such a type lose all parts; in others it is replaced by the parts of its
    producer until no removed type is left. Source: Bauwens & Delobelle 2024, Algorithm 1.

    Returns the merges, ascending, their new parts, int32, and int64 offsets into these.
    """
    merges = results.shape[0]
    changed = np.empty(merges, np.int32)
    offsets = np.zeros(merges + 1, np.int64)
    new_parts = np.empty(1024, np.int32)
    waiting = np.empty(64, np.int32)
    count = np.int64(0)
    size = np.int64(0)
    for merge in range(merges):
        first, last = spans[merge, 0], spans[merge, 1]
        is_gone = removed[results[merge]]
        touched = is_new[results[merge]]
        if not is_gone:
            for place in range(first, last):
                touched |= is_new[parts[place]]
        if not touched:
            continue
        depth = np.int64(0)
        while not is_gone:
            while depth + last - first > waiting.shape[0]:
                waiting = np.append(waiting, np.empty_like(waiting))
            for place in range(last - 1, first - 1, -1):
                waiting[depth] = parts[place]
                depth += 1
            while depth and not removed[waiting[depth - 1]]:
                if size == new_parts.shape[0]:
                    new_parts = np.append(new_parts, np.empty_like(new_parts))
                depth -= 1
                new_parts[size] = waiting[depth]
                size += 1
            if depth == 0:
                break
            depth -= 1
            made_by = producer[waiting[depth]]
            first, last = spans[made_by, 0], spans[made_by, 1]
        changed[count] = merge
        count += 1
        offsets[count] = size
    return changed[:count], new_parts[:size], offsets[: count + 1]


@kernel
def expanded(parts, offsets, order):
    """Return what types consist of: what their parts consist of, one after the other.

    Type *t* has ``parts[offsets[t] : offsets[t + 1]]``, an atom itself. ``order``: all that have
    parts, each one after these. Returns the atoms, int32, and int64 offsets into these.
    """
    sizes = np.diff(offsets)
    for type_ in order:
        size = np.int64(0)
        for part in parts[offsets[type_] : offsets[type_ + 1]]:
            size += sizes[part]
        sizes[type_] = size
    starts = np.zeros_like(offsets)
    starts[1:] = np.cumsum(sizes)
    atoms = np.empty(starts[-1], np.int32)
    for type_ in order:
        at = starts[type_]
        for part in parts[offsets[type_] : offsets[type_ + 1]]:
            if part == type_:
                atoms[at] = part
            else:
                atoms[at : at + sizes[part]] = atoms[starts[part] : starts[part + 1]]
            at += sizes[part]
    return atoms, starts


@kernel
def replace_parts(table, dense, twins, next_state, parts, spans, changed, new_parts, new_offsets):
    """Replace the parts of changed merges in the table; merges without parts are removed.

    Returns the next free state; see `merge_lookup`.
    """
    for merge in changed:
        remove_merge(table, dense, twins, merge, parts[spans[merge, 0] : spans[merge, 1]])
    for i in range(changed.shape[0]):
        its_parts = new_parts[new_offsets[i] : new_offsets[i + 1]]
        if its_parts.shape[0]:
            next_state = add_merge(table, dense, twins, next_state, changed[i], its_parts)
    return next_state


@kernel
def carry_over(closed_by, piece_offsets, moved, carried):
    """Translate merge positions into ``carried``, gap by gap; ``moved``: new ones by old.

    Returns uint8, by piece: 1 where a merge was applied whose new position is -1.
    """
    touched = np.zeros(piece_offsets.shape[0] - 1, np.uint8)
    for piece in range(piece_offsets.shape[0] - 1):
        for gap in range(piece_offsets[piece], piece_offsets[piece + 1]):
            merge = closed_by[gap]
            if merge < 0:
                carried[gap] = merge
                continue
            carried[gap] = moved[merge]
            if moved[merge] < 0:
                touched[piece] = 1
    return touched


@kernel
def highest_values(closed_by, piece_offsets, wanted, value, highest):
    """Write the highest ``value`` (by merge) of those applied in ``wanted`` pieces.

    The result goes to ``highest``: -1 for pieces in which nothing was applied.
    """
    for piece in range(piece_offsets.shape[0] - 1):
        if wanted[piece]:
            highest[piece] = -1.0
            for gap in range(piece_offsets[piece], piece_offsets[piece + 1]):
                if closed_by[gap] >= 0:
                    highest[piece] = max(highest[piece], value[closed_by[gap]])


@kernel
def repair(parts, part_offsets, results, tuples, atoms, atom_offsets, type_count):
    """Return new parts of tuple merges, by rank, each given the merges repaired so far.

    ``tuples``: the positions, ascending, of the tuple merges; ``atom_offsets``: into ``atoms``, the
    atoms of the result of each. Returns int32 (total) new parts and int64 (tuples + 1) offsets into
    them; an empty range means that the merge stays as it is: earlier merges yield its parts, or
    already its result.
    """
    table, dense, widest, twins, next_state = build_table(
        parts, part_offsets, type_count, atoms.shape[0]
    )
    longest = np.int64(1)
    for i in range(tuples.shape[0]):
        longest = max(longest, atom_offsets[i + 1] - atom_offsets[i])
    rows = np.empty((SCAN_ROWS, longest), np.int32)
    closed_by = np.empty(longest, np.int32)
    leaders = parts[:0]
    repaired = np.empty(atoms.shape[0], np.int32)
    offsets = np.zeros(tuples.shape[0] + 1, np.int64)
    used = np.int64(0)
    for i in range(tuples.shape[0]):
        merge = np.int64(tuples[i])
        string = atoms[atom_offsets[i] : atom_offsets[i + 1]]
        old = parts[part_offsets[merge] : part_offsets[merge + 1]]
        count = scan(string, table, dense, widest, results, leaders, merge, rows, closed_by)
        tokens = rows[0, :count]
        offsets[i + 1] = used
        if count < 2 or np.array_equal(tokens, old):
            continue
        remove_merge(table, dense, twins, merge, old)
        next_state = add_merge(table, dense, twins, next_state, merge, tokens)
        widest = max(widest, count)
        repaired[used : used + count] = tokens
        used += count
        offsets[i + 1] = used
    return repaired[:used].copy(), offsets
