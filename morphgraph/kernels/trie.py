"""Look-ups of strings in a trie, and segmentation with them, on flat integer arrays.

- ``atoms[i]`` is a character's id; one outside the alphabet has an id that no path holds.
- ``piece_offsets[p] : piece_offsets[p + 1]`` are the atoms of piece *p*; no token crosses its ends.
- ``closed_by[i]`` is the id of the type whose token closed the gap after atom *i*; -1 if open.
- ``token_at[i]`` is the token that ends at atom *i*; else `INSIDE_TOKEN` or `DROPPED`.

The trie is one open-addressing table. The key of a step is ``state << 32 | atom``; the value is the
next state times 4, plus 1 and 2 if a type of form 0 and of form 1 ends there. Steps from the root,
which account for most look-ups, are in a separate array instead.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from morphgraph.kernels import DROPPED, INSIDE_TOKEN, Int32, Int64
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.merge_lookup import EMPTY, slot_of

ABSENT = -1
"""No type ends in this state; no step leads on from here."""


class Trie(NamedTuple):
    """A vocabulary by the atoms of its types.

    ``table``: (slots, 2), keys and values. ``root``: the value of each first atom. ``ends``:
    (states, 2), the type of form 0 and of form 1 that ends in a state. ``depth``: the longest path.
    ``atom_types``: by atom, its own type if it is a byte ``<0x..>``. `ABSENT` where there is none.
    """

    table: Int64
    root: Int32
    ends: Int32
    depth: int
    atom_types: Int32


@kernel
def build_trie(paths, path_offsets, types, forms, alphabet_size):
    """Return the first four fields of a `Trie`; path *p* ends in ``types[p]``, in ``forms[p]``.

    No path is empty.
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


@njit(nogil=True)
def next_state(table, root, state, atom):
    """Return the value of the step by one more atom, or `ABSENT`; state 0 is the root."""
    if state == 0:
        return np.int64(root[atom]) if atom < root.shape[0] else np.int64(ABSENT)
    return table[slot_of(table, (state << 32) | np.int64(atom)), 1]


@njit(nogil=True)
def _longest_match(atoms, start, end, table, root, forms):
    """The length and end state of the longest match; ``forms``: 1, 2, or 3 for either."""
    state = np.int64(0)
    length = np.int64(0)
    end_state = np.int64(0)
    for position in range(start, end):
        value = next_state(table, root, state, atoms[position])
        if value == ABSENT:
            break
        state = value >> 2
        if value & forms:
            end_state = state
            length = np.int64(position - start + 1)
    return length, end_state


@kernel
def longest_first(
    atoms, word_offsets, piece_offsets, trie, marker, initial, bare_initial, strict, units, count
):
    """FLOTA: repeatedly take the longest match anywhere in a word, leftmost among equals.

    ``marker``: the atom that marks the start of a word, or -1; ``initial``: the form of types that
    start a word. ``bare_initial``: a piece without a marker starts a word too. ``strict``: there
    the other form is not a fallback. ``units``: the unit of each atom, ascending; ``count``: at
    most this many tokens begin in a unit.

    ``length[i]``, ``found[i]``: the longest remaining match at atom *i*, and its end state. A match
    that is cut by a taken one becomes shorter than it, so one pass over the word for each length
    is enough.
    """
    table, root, ends, depth, _ = trie
    closed_by = np.full(atoms.shape[0], -1, np.int32)
    token_at = np.full(atoms.shape[0], np.int32(DROPPED), np.int32)
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
    return closed_by, token_at


@kernel
def leftmost_longest(atoms, piece_offsets, trie, forms, unknown, whole, longest_piece):
    """Take the longest match from the left, in the first of the ``forms`` where a piece starts.

    Where nothing matches: with ``whole``, the piece becomes one ``unknown`` token, as does a piece
    of more atoms than ``longest_piece``; else the atom becomes a token, of its own type if it has
    one, or ``unknown``.
    """
    table, root, ends, _, atom_types = trie
    closed_by, token_at = np.empty((2, atoms.shape[0]), np.int32)
    for piece in range(piece_offsets.shape[0] - 1):
        start = piece_offsets[piece]
        end = piece_offsets[piece + 1]
        i = start
        fails = whole and end - start > longest_piece
        while i < end and not fails:
            form = forms[0] if i == start else forms[1]
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
    return closed_by, token_at


@kernel
def best_path(
    atoms, piece_offsets, inside_character, trie, forms, scores, unknown, unknown_score, fuse
):
    """Viterbi: find the tokens of each piece with the largest sum of scores.

    Earlier starts win ties. ``scores``: of each type; sums are of the same precision. An unmatched
    atom costs ``unknown_score``: it is a token of its own type, if it has one (then the last atom
    of a character pays for all of it; ``inside_character`` is 1 behind the others), else
    ``unknown``, and ``fuse`` joins neighbouring unknown ones.
    """
    table, root, ends, _, atom_types = trie
    closed_by, token_at = np.empty((2, atoms.shape[0]), np.int32)
    longest = atoms.shape[0]
    best = np.zeros(longest + 1, scores.dtype)
    begin = np.empty(longest + 1, np.int64)
    token = np.empty(longest + 1, np.int32)
    for piece in range(piece_offsets.shape[0] - 1):
        base = piece_offsets[piece]
        size = piece_offsets[piece + 1] - base
        begin[1 : size + 1] = -1
        for at in range(size):
            form = forms[0] if at == 0 else forms[1]
            state = np.int64(0)
            single = False
            for end in range(at + 1, size + 1):
                value = next_state(table, root, state, atoms[base + end - 1])
                if value == ABSENT:
                    break
                state = value >> 2
                if not value & (1 + form):
                    continue
                type_ = ends[state, form]
                single |= end == at + 1
                score = best[at] + scores[type_]
                if begin[end] < 0 or score > best[end]:
                    best[end] = score
                    begin[end] = at
                    token[end] = type_
            if not single:
                atom = atoms[base + at]
                type_ = atom_types[atom] if atom < atom_types.shape[0] else np.int32(ABSENT)
                score = best[at]
                if type_ == ABSENT or not inside_character[base + at]:
                    score += unknown_score
                if begin[at + 1] < 0 or score > best[at + 1]:
                    best[at + 1] = score
                    begin[at + 1] = at
                    token[at + 1] = np.int32(unknown) if type_ == ABSENT else type_
        end = size
        fused = False
        while end > 0:
            type_ = token[end]
            joined = fuse and fused and type_ == unknown
            closed_by[base + end - 1] = type_ if joined else -1
            token_at[base + end - 1] = INSIDE_TOKEN if joined else type_
            for inner in range(begin[end], end - 1):
                closed_by[base + inner] = type_
                token_at[base + inner] = INSIDE_TOKEN
            fused = type_ == unknown
            end = begin[end]
    return closed_by, token_at


@kernel
def keep_tokens(offsets, is_marker, count, by_length, closed_by, token_at):
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


@njit(nogil=True)
def _joined(atoms, state, start, end, table, root):
    """The state after these atoms, from that of the part before them; `ABSENT` if there is none."""
    for position in range(start, end):
        value = next_state(table, root, state, atoms[position])
        if value == ABSENT:
            return np.int64(ABSENT)
        state = value >> 2
    return state


@kernel
def recover_merges(atoms, offsets, table, root, ends):
    """Recover the merge of each type from an order of types: the two parts of each, or `ABSENT`.

    ``atoms[offsets[t] : offsets[t + 1]]`` are the atoms of type *t*, ``table``, ``root``, ``ends``
    their trie, of form 0. A type is cut by the types before it: the first type that two adjacent
    parts are, at its leftmost place, joins these, until none does. Its merge is known if two parts
    are left.
    """
    count = offsets.shape[0] - 1
    merges = np.full((2, count), np.int32(ABSENT), np.int32)
    for type_ in range(count):
        # Parts by where they begin; their states in the trie, that of each joined with the next
        # one, and the type that this would be.
        first = offsets[type_]
        begin = np.arange(first, offsets[type_ + 1] + 1)
        parts = begin.shape[0] - 1
        join = np.full(max(parts, 1), np.int64(count), np.int64)
        states = np.empty(max(parts, 1), np.int64)
        both = np.empty(max(parts, 1), np.int64)
        for i in range(parts):
            states[i] = _joined(atoms, np.int64(0), begin[i], begin[i + 1], table, root)
        for i in range(parts - 1):
            both[i] = _joined(atoms, states[i], begin[i + 1], begin[i + 2], table, root)
            joined = ends[both[i], 0] if both[i] != ABSENT else ABSENT
            join[i] = joined if joined != ABSENT and joined < type_ else count
        while parts > 2:
            best = 0
            for i in range(1, parts - 1):
                if join[i] < join[best]:
                    best = i
            if join[best] == count:
                break
            states[best] = both[best]
            for i in range(best + 1, parts - 1):
                begin[i] = begin[i + 1]
                states[i] = states[i + 1]
                both[i] = both[i + 1]
                join[i] = join[i + 1]
            begin[parts - 1] = begin[parts]
            parts -= 1
            for i in range(max(best - 1, 0), min(best + 1, parts - 1)):
                both[i] = _joined(atoms, states[i], begin[i + 1], begin[i + 2], table, root)
                joined = ends[both[i], 0] if both[i] != ABSENT else ABSENT
                join[i] = joined if joined != ABSENT and joined < type_ else count
        if parts == 2:
            merges[0, type_] = ends[states[0], 0]
            merges[1, type_] = ends[states[1], 0]
    return merges
