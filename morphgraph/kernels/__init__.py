"""The numba kernels: integers in flat arrays."""

import sys
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
IntArray = TypeVar("IntArray", Int32, Int64)

INSIDE_TOKEN = -1
"""In ``token_at``: an atom that another one of the same token follows."""
DROPPED = -2
"""In ``token_at``: an atom that no token covers, because the method leaves part of the word out."""

FEW_ATOMS = 20_000
"""Plain Python segments this many atoms in the time that loading numba and a kernel takes."""


def worth_loading(atoms: int) -> bool:
    """Whether kernels are quicker for this many atoms: always once numba is loaded.

    For fewer, the caller has plain Python with the same result.
    """
    return atoms > FEW_ATOMS or "numba" in sys.modules
