# mypy: disable-error-code="assignment"
"""Look types up from the right; arrays are as in `morphgraph.kernels.trie`."""

import numpy as np

from morphgraph.kernels import DROPPED, INSIDE_TOKEN
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.trie import ABSENT, next_state


@kernel
def longest_from_right(atoms, piece_offsets, trie, forms):
    """Take the longest match from the right, in the first of the ``forms`` where a piece starts.

    Where nothing matches, the atom becomes a token of its own type if it has one; else it is
    dropped, and with it the rest of the piece, on its left.
    """
    table, root, ends, _, atom_types = trie
    closed_by = np.full(atoms.shape[0], -1, np.int32)
    token_at = np.full(atoms.shape[0], np.int32(DROPPED), np.int32)
    # Where the longest match that ends before each atom begins, and its type.
    begin = np.empty(atoms.shape[0] + 1, np.int64)
    token = np.empty(atoms.shape[0] + 1, np.int32)
    for piece in range(piece_offsets.shape[0] - 1):
        base = piece_offsets[piece]
        size = piece_offsets[piece + 1] - base
        begin[: size + 1] = -1
        for at in range(size):
            form = forms[0] if at == 0 else forms[1]
            state = np.int64(0)
            for end in range(at + 1, size + 1):
                value = next_state(table, root, state, atoms[base + end - 1])
                if value == ABSENT:
                    break
                state = value >> 2
                if value & (1 + form) and begin[end] < 0:
                    begin[end] = at
                    token[end] = ends[state, form]
        end = size
        while end > 0:
            start = begin[end]
            type_ = token[end]
            if start < 0:
                start = end - 1
                atom = atoms[base + start]
                type_ = atom_types[atom] if atom < atom_types.shape[0] else np.int32(ABSENT)
                if type_ == ABSENT:
                    break
            for inner in range(base + start, base + end - 1):
                closed_by[inner] = type_
                token_at[inner] = INSIDE_TOKEN
            token_at[base + end - 1] = type_
            end = start
    return closed_by, token_at
