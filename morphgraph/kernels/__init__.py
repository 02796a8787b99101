"""The numba kernels: integers in flat arrays."""

import sys
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
IntArray = TypeVar("IntArray", Int32, Int64)

INSIDE_TOKEN = -1
"""In ``token_at``: an atom that is not the last of its token."""
DROPPED = -2
"""In ``token_at``: an atom in no token, because the method leaves part of the word out."""

FEW_ATOMS = 20_000
"""The number of atoms that plain Python segments while numba and a kernel would load."""


def worth_loading(atoms: int) -> bool:
    """Return whether kernels are faster for this many atoms: always once numba is loaded.

    Otherwise the caller uses plain Python with the same result.
    """
    return atoms > FEW_ATOMS or "numba" in sys.modules
