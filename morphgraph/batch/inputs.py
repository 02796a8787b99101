"""The files of an evaluation, with checksums of what is in them."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from morphgraph.core.errors import MorphGraphError


def content_checksum(path: str | Path) -> str:
    """A checksum of a file, or of all files in a folder with their names: 16 digits.

    `MorphGraphError` if there is nothing.
    """
    found = Path(path)
    try:
        if found.is_dir():
            files = sorted(file for file in found.rglob("*") if file.is_file())
            named = [f"{file.relative_to(found).as_posix()}\0{_digest(file)}" for file in files]
            return hashlib.sha256("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()[
                :16
            ]
        return _digest(found)[:16]
    except (OSError, ValueError) as error:
        problem = (getattr(error, "strerror", None) or str(error)).lower()
        raise MorphGraphError(f"{path}: {problem}. Check the path and its permissions.") from error


def content_of_files(paths: Sequence[str | Path]) -> str:
    """One checksum of some files, whatever they are called: 16 digits."""
    each = [content_checksum(path) for path in paths]
    return each[0] if len(each) == 1 else hashlib.sha256("\n".join(each).encode()).hexdigest()[:16]


def contents_of_texts(paths: Sequence[str | Path]) -> list[str]:
    """The checksum of each of some text files, with the endings that say how they are read."""
    return sorted(
        f"{content_checksum(path)}{''.join(Path(path).suffixes[-2:]).lower()}" for path in paths
    )


def check_content(found: object, wanted: object, name: str) -> None:
    """`MorphGraphError` if a file is not any more what the plan of a run has seen.

    To be asked before a file is read and again after that.
    """
    if found != wanted:
        raise MorphGraphError(f"{name}: it changed during the run. Start the run once more.")


def _digest(path: Path) -> str:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    return _read_digest(str(path), status.st_size, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=4096)
def _read_digest(path: str, *state: int) -> str:
    """The SHA-256 of a file, read once for each state of it."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
