"""Look-ups of strings in a trie, and segmentation with them, on flat integer arrays.

- ``atoms[i]`` is a character's id; one outside the alphabet has an id that no path holds.
- ``piece_offsets[p] : piece_offsets[p + 1]`` are the atoms of piece *p*; no token crosses its ends.
- ``closed_by[i]`` is the id of the type whose token closed the gap after atom *i*; -1 if open.
- ``token_at[i]`` is the token that ends at atom *i*; else `INSIDE_TOKEN` or `DROPPED`.

The trie is one open-addressing table. The key of a step is ``state << 32 | atom``; the value is the
next state times 4, plus 1 and 2 if a type of form 0 and of form 1 ends there. Steps from the root,
which account for most look-ups, are in a separate array instead.
"""

import numpy as np
from numba import njit

from morphgraph.kernels import DROPPED, INSIDE_TOKEN
from morphgraph.kernels.merge_lookup import EMPTY, slot_of

ABSENT = -1
"""No type ends in this state; no step leads on from here."""


@njit(cache=True, nogil=True)
def build_trie(paths, path_offsets, types, forms, alphabet_size):  # type: ignore[no-untyped-def]
    """Build a trie of atoms: table, first states, types by end state, longest path.

    ``table``: int64 (slots, 2), keys and values. ``root``: int32, the value of each first atom.
    ``ends``: int32 (states, 2), the type of form 0 and of form 1 that ends in a state, or `ABSENT`.
    Path *p* ends in ``types[p]``, as form ``forms[p]``; no path is empty.
    """
    size = np.int64(16)
    while size < 2 * paths.shape[0]:
        size *= 2
    table = np.full((size, 2), EMPTY, np.int64)
    root = np.full(alphabet_size, np.int32(ABSENT), np.int32)
    ends = np.full((paths.shape[0] + 1, 2), np.int32(ABSENT), np.int32)
    states = np.int64(1)
    longest = np.int64(0)
    for path in range(path_offsets.shape[0] - 1):
        first = path_offsets[path]
        last = path_offsets[path + 1]
        longest = max(longest, last - first)
        state = np.int64(root[paths[first]])
        if state == ABSENT:
            state = states
            root[paths[first]] = np.int32(state)
            states += 1
        for position in range(first + 1, last):
            key = (state << 32) | np.int64(paths[position])
            slot = slot_of(table, key)
            if table[slot, 0] == EMPTY:
                table[slot, 0] = key
                table[slot, 1] = states
                states += 1
            state = table[slot, 1]
        ends[state, forms[path]] = types[path]
    # Rebuild it no larger than needed: small tables stay in the processor's caches.
    flags = (ends[:, 0] != ABSENT) + 2 * (ends[:, 1] != ABSENT)
    wide = table
    size = np.int64(16)
    while size < states * 3 // 2:
        size *= 2
    table = np.full((size, 2), EMPTY, np.int64)
    for place in range(wide.shape[0]):
        key = wide[place, 0]
        if key != EMPTY:
            slot = slot_of(table, key)
            table[slot, 0] = key
            table[slot, 1] = 4 * wide[place, 1] + flags[wide[place, 1]]
    for atom in range(alphabet_size):
        if root[atom] != ABSENT:
            root[atom] = np.int32(4 * root[atom] + flags[root[atom]])
    return table, root, ends[:states].copy(), longest


@njit(cache=True, nogil=True)
def _step(table, root, state, atom):  # type: ignore[no-untyped-def]
    """Return the value of the step by one more atom, or `ABSENT`; state 0 is the root."""
    if state == 0:
        return np.int64(root[atom]) if atom < root.shape[0] else np.int64(ABSENT)
    return table[slot_of(table, (state << 32) | np.int64(atom)), 1]


@njit(cache=True, nogil=True)
def _longest_match(atoms, start, end, table, root, forms):  # type: ignore[no-untyped-def]
    """The length and end state of the longest match; ``forms``: 1, 2, or 3 for either."""
    state = np.int64(0)
    length = np.int64(0)
    found = np.int64(0)
    for position in range(start, end):
        value = _step(table, root, state, atoms[position])
        if value == ABSENT:
            break
        state = value >> 2
        if value & forms:
            found = state
            length = np.int64(position - start + 1)
    return length, found


@njit(cache=True, nogil=True)
def longest_first(  # type: ignore[no-untyped-def]
    atoms,
    word_offsets,
    piece_offsets,
    table,
    root,
    ends,
    depth,
    marker,
    initial,
    bare_initial,
    strict,
    units,
    count,
    closed_by,
    token_at,
):
    """FLOTA: repeatedly take the longest match anywhere in a word, leftmost among equals.

    ``marker``: the atom that marks the start of a word, or -1; ``initial``: the form of types that
    start a word. ``bare_initial``: a piece without a marker starts a word too. ``strict``: there
    the other form is not a fallback. ``units``: the unit of each atom, ascending; ``count``: at
    most this many tokens begin in a unit. ``depth``: the trie's longest path.

    ``length[i]``, ``found[i]``: the longest remaining match at atom *i*, and its end state. A match
    that is cut by a taken one becomes shorter than it, so one pass over the word for each length
    is enough.
    """
    length, found, limit, form = np.empty((4, atoms.shape[0]), np.int64)
    last_unit = np.int64(units[-1]) if units.shape[0] else np.int64(0)
    left = np.full(last_unit + 1, np.int64(count))
    piece = np.int64(0)
    for word in range(word_offsets.shape[0] - 1):
        base = word_offsets[word]
        size = word_offsets[word + 1] - base
        level = np.int64(0)
        while piece < piece_offsets.shape[0] - 1 and piece_offsets[piece] < base + size:
            start = piece_offsets[piece]
            end = piece_offsets[piece + 1]
            piece += 1
            starts_word = bare_initial
            if marker >= 0 and start < end and atoms[start] == marker:
                length[start - base] = 0
                limit[start - base] = start
                start += 1
                starts_word = True
            for i in range(start, end):
                at = i - base
                limit[at] = end
                form[at] = initial if starts_word and i == start else 1 - initial
                forms = 1 + initial if strict and form[at] == initial else 3
                length[at], found[at] = _longest_match(atoms, i, end, table, root, forms)
                level = max(level, length[at])
        for i in range(base, base + size):
            closed_by[i] = -1
            token_at[i] = DROPPED
        while level > 0:
            below = np.int64(0)
            for at in range(size):
                if length[at] < level:
                    below = max(below, length[at])
                    continue
                first = base + at
                if left[units[first]] == 0:
                    length[at] = 0
                    continue
                left[units[first]] -= 1
                last = first + level - 1
                type_ = ends[found[at], form[at]]
                if marker >= 0 and form[at] == initial and type_ != ABSENT:
                    # The marker before the word's start belongs to a word-initial type only.
                    closed_by[first - 1] = type_
                    token_at[first - 1] = INSIDE_TOKEN
                if type_ == ABSENT:
                    type_ = ends[found[at], 1 - form[at]]
                for i in range(first, last):
                    closed_by[i] = type_
                    token_at[i] = INSIDE_TOKEN
                token_at[last] = type_
                for taken in range(at, at + level):
                    length[taken] = 0
                    limit[taken] = first
                before = at - 1
                while before >= 0 and at - before < depth and limit[before] > first:
                    limit[before] = first
                    if before + length[before] > at:
                        forms = 1 + initial if strict and form[before] == initial else 3
                        length[before], found[before] = _longest_match(
                            atoms, base + before, first, table, root, forms
                        )
                        below = max(below, length[before])
                    before -= 1
            level = below


@njit(cache=True, nogil=True)
def leftmost_longest(  # type: ignore[no-untyped-def]
    atoms,
    piece_offsets,
    table,
    root,
    ends,
    first_form,
    later_form,
    atom_types,
    unknown,
    whole,
    longest_piece,
    closed_by,
    token_at,
):
    """Take the longest match from the left, in the form for a piece's start or its rest.

    Where nothing matches: with ``whole``, the piece becomes one ``unknown`` token, as does a piece
    of more atoms than ``longest_piece``; else the atom becomes a token, of its own type in
    ``atom_types`` if that is not `ABSENT`, or ``unknown``.
    """
    for piece in range(piece_offsets.shape[0] - 1):
        start = piece_offsets[piece]
        end = piece_offsets[piece + 1]
        i = start
        fails = whole and end - start > longest_piece
        while i < end and not fails:
            form = first_form if i == start else later_form
            length, state = _longest_match(atoms, i, end, table, root, 1 + form)
            type_ = ends[state, form]
            if length == 0:
                if whole:
                    fails = True
                    break
                length = np.int64(1)
                atom = atoms[i]
                type_ = atom_types[atom] if atom < atom_types.shape[0] else np.int32(ABSENT)
                if type_ == ABSENT:
                    type_ = np.int32(unknown)
            for inner in range(i, i + length - 1):
                closed_by[inner] = type_
                token_at[inner] = INSIDE_TOKEN
            i += length
            closed_by[i - 1] = -1
            token_at[i - 1] = type_
        if fails and end > start:
            for inner in range(start, end - 1):
                closed_by[inner] = unknown
                token_at[inner] = INSIDE_TOKEN
            closed_by[end - 1] = -1
            token_at[end - 1] = unknown


@njit(cache=True, nogil=True)
def best_path(  # type: ignore[no-untyped-def]
    atoms,
    piece_offsets,
    inside_character,
    table,
    root,
    ends,
    first_form,
    later_form,
    scores,
    atom_types,
    unknown,
    unknown_score,
    fuse,
    rounded,
    closed_by,
    token_at,
):
    """Viterbi: find the tokens of each piece with the largest sum of scores.

    Earlier starts win ties. ``scores``: float64, of each type. An unmatched atom costs
    ``unknown_score``: it is a token of its type in ``atom_types``, if that is not `ABSENT` (then
    the last atom of a character pays for all of it; ``inside_character`` is 1 behind the others),
    else ``unknown``, and ``fuse`` joins neighbouring unknown ones. Sums are kept in the type of
    ``rounded``, an array with one element.
    """
    longest = atoms.shape[0]
    best = np.empty(longest + 1, rounded.dtype)
    begin = np.empty(longest + 1, np.int64)
    token = np.empty(longest + 1, np.int32)
    stand_in = np.empty(longest + 1, np.uint8)
    for piece in range(piece_offsets.shape[0] - 1):
        base = piece_offsets[piece]
        size = piece_offsets[piece + 1] - base
        best[0] = 0.0
        for at in range(1, size + 1):
            begin[at] = -1
        for at in range(size):
            here = np.float64(best[at])
            form = first_form if at == 0 else later_form
            state = np.int64(0)
            single = False
            for end in range(at + 1, size + 1):
                value = _step(table, root, state, atoms[base + end - 1])
                if value == ABSENT:
                    break
                state = value >> 2
                if not value & (1 + form):
                    continue
                type_ = ends[state, form]
                if end == at + 1:
                    single = True
                # Round before comparing, as in the reference program.
                rounded[0] = scores[type_] + here
                if begin[end] < 0 or rounded[0] > best[end]:
                    best[end] = rounded[0]
                    begin[end] = at
                    token[end] = type_
                    stand_in[end] = 0
            if not single:
                atom = atoms[base + at]
                type_ = atom_types[atom] if atom < atom_types.shape[0] else np.int32(ABSENT)
                free = type_ != ABSENT and inside_character[base + at]
                rounded[0] = here if free else unknown_score + here
                if begin[at + 1] < 0 or rounded[0] > best[at + 1]:
                    best[at + 1] = rounded[0]
                    begin[at + 1] = at
                    token[at + 1] = np.int32(unknown) if type_ == ABSENT else type_
                    stand_in[at + 1] = 1 if type_ == ABSENT else 0
        end = size
        fused = False
        while end > 0:
            type_ = token[end]
            joined = fuse and fused and stand_in[end] == 1
            closed_by[base + end - 1] = type_ if joined else -1
            token_at[base + end - 1] = INSIDE_TOKEN if joined else type_
            for inner in range(begin[end], end - 1):
                closed_by[base + inner] = type_
                token_at[base + inner] = INSIDE_TOKEN
            fused = stand_in[end] == 1
            end = begin[end]


@njit(cache=True, nogil=True)
def keep_tokens(offsets, is_marker, count, by_length, closed_by, token_at):  # type: ignore[no-untyped-def]
    """Drop all but ``count`` tokens of each part: the first ones, or the longest.

    ``offsets[p] : offsets[p + 1]`` are the atoms of part *p*, which ends with a token.
    ``is_marker``: 1 for atoms that do not count towards a token's length. Changes the arrays.
    """
    length = np.empty(closed_by.shape[0], np.int64)
    for part in range(offsets.shape[0] - 1):
        tokens = size = np.int64(0)
        for i in range(offsets[part], offsets[part + 1]):
            size += 1 - is_marker[i]
            if token_at[i] != INSIDE_TOKEN:
                if token_at[i] != DROPPED:
                    length[tokens] = size
                    tokens += 1
                size = np.int64(0)
        if tokens <= count:
            continue
        threshold = np.int64(-1)
        quota = np.int64(count)
        if by_length:
            threshold = np.int64(np.sort(length[:tokens])[tokens - count])
            quota -= np.int64((length[:tokens] > threshold).sum())
        number = np.int64(0)
        start = np.int64(offsets[part])
        for i in range(start, offsets[part + 1]):
            if token_at[i] == INSIDE_TOKEN:
                continue
            if token_at[i] != DROPPED:
                last = not by_length or length[number] == threshold  # among those that may be kept
                if last and quota > 0:
                    quota -= 1
                elif last or length[number] < threshold:
                    for inner in range(start, i + 1):
                        closed_by[inner] = -1
                        token_at[inner] = DROPPED
                number += 1
            start = np.int64(i + 1)
