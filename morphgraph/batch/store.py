"""Where a run keeps the results of its tasks: one Parquet file each, complete or absent."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.system import try_lock

if TYPE_CHECKING:
    import pyarrow as pa

_PARTIAL = ".partial-"
_PATIENCE = 0.5


class StoreError(MorphGraphError):
    """What a run has found cannot be kept; the message names the place and the fix."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file such that it is there with all its content, or as it was before.

    A `StoreError` names the file and what to do, such as where the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=_PARTIAL, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> StoreError:
    problem = (error.strerror or "it cannot be written").lower()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        fix = "Make room there and run the same command again: it resumes where it stopped."
    else:
        fix = "Choose another folder with --out, or mend its permissions."
    return StoreError(f"{path}: {problem}. {fix}")


class Store:
    """The results of tasks in a folder, by their keys; open for one runner at a time.

    Used in a ``with``; a second runner in the same folder is a `MorphGraphError`. The lock goes
    with the process, also if that is killed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "store"
        self._lock: Any = None

    def __enter__(self) -> Self:
        try:
            self.results.mkdir(parents=True, exist_ok=True)
            self._lock = lock_path(self.folder).open("a")
            if not _lock_soon(self._lock):
                self._lock.close()
                raise MorphGraphError(
                    f"{self.folder}: another run is active in this folder. Wait for it, stop it, "
                    "or choose another folder with --out."
                )
            for partial in (*self.folder.glob(f"{_PARTIAL}*"), *self.results.glob(f"{_PARTIAL}*")):
                partial.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()

    def path(self, key: str) -> Path:
        """The file of a task."""
        return self.results / f"{key}.parquet"

    def read(self, key: str) -> pa.Table | None:
        """The result of a task; None if there is none yet, or if the file was damaged since."""
        import pyarrow
        from pyarrow import parquet

        try:
            return parquet.read_table(self.path(key), page_checksum_verification=True)
        except (OSError, pyarrow.ArrowException):
            return None

    def facts(self, key: str) -> dict[str, str] | None:
        """What a finished task reports (seconds, memory …); None if it is not finished,
        or its file was damaged since."""
        table = self.read(key)
        if table is None:
            return None
        known = table.schema.metadata or {}
        return {name.decode(): value.decode() for name, value in known.items()}

    def data(self, key: str) -> bytes:
        """The file of a finished task."""
        return self.path(key).read_bytes()

    def keep(self, key: str, data: bytes) -> None:
        """Keep the result of a task: the bytes of its Parquet file."""
        write_atomically(self.path(key), data)


def _lock_soon(file: IO[str]) -> bool:
    """Lock a file; somebody who only looks whether it is locked holds it for a moment."""
    patience = time.monotonic() + _PATIENCE
    while not try_lock(file):
        if time.monotonic() > patience:
            return False
        time.sleep(0.02)
    return True


def lock_path(folder: Path) -> Path:
    """The file that a runner locks."""
    return folder / "lock"


def is_at_work(folder: Path) -> bool:
    """Whether a runner is alive in a folder."""
    try:
        with lock_path(folder).open("a") as file:
            return not try_lock(file)
    except OSError:
        return False
