"""Tasks: pure functions of plain values and of other tasks' results, run on any machine.

A run keeps their results in a `Store`: one Parquet file each, complete or absent.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import shutil
import stat
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import PARTIAL, write_file, writing
from morphgraph.core.limits import HASHED_BYTES, HASHED_FILES
from morphgraph.core.plugins import code_files, installed
from morphgraph.core.system import try_lock

if TYPE_CHECKING:
    import pyarrow as pa

Work = Callable[[Mapping[str, Any], "Sequence[pa.Table]"], "pa.Table"]


@dataclass(frozen=True)
class Task:
    """A task: ``work`` on plain values ``spec``, after the tasks that it ``needs``.

    ``cost``: estimated seconds. ``label``: its title. ``columns``: a cell's columns in results.
    ``resumes``: it keeps checkpoints, and gets a ``folder`` for them.
    """

    kind: str
    label: str
    work: Work = field(repr=False)
    spec: Mapping[str, Any] = field(repr=False)
    needs: tuple[str, ...] = ()
    cost: float = 1.0
    columns: Mapping[str, Any] = field(default_factory=dict, repr=False)
    resumes: bool = False

    @cached_property
    def key(self) -> str:
        """A hash of everything that the result depends on: kind, values, needs and code."""
        named = {
            "kind": self.kind,
            "spec": _placeless(self.spec),
            "needs": list(self.needs),
            "columns": self.columns,
            "code": code_version(),
        }
        text = json.dumps(named, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True)
class TaskFailure:
    """A task's failure: its message, and where it happened."""

    label: str
    message: str
    traceback: str


@dataclass(frozen=True)
class TaskResult:
    """The result of a task: the bytes of a Parquet file, or its failure."""

    data: bytes = field(repr=False)
    failure: TaskFailure | None = None


@dataclass(frozen=True)
class TaskReport:
    """How a task ended. ``from_store``: it was finished by an earlier start of the run."""

    task: Task
    state: Literal["done", "failed", "not run"] = "not run"
    failure: TaskFailure | None = None
    from_store: bool = False


# ------------------------------------------------------------------------------ keys

_PLACES = frozenset({"path", "paths", "files", "folders"})
"""Fields for the paths of files, which unlike their ``content`` change no result."""


def _placeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _placeless(inner) for name, inner in value.items() if name not in _PLACES}
    return [_placeless(inner) for inner in value] if isinstance(value, list) else value


_COMPUTING = ("batch/cells.py", "batch/store.py")
_SHOWING = {"api", "batch", "cli", "draw", "tables"}
"""The rooms of the library that results do not depend on, but for the files above."""
_ADDED = ("morphgraph.methods", "morphgraph.readers", "morphgraph.metrics")
"""The groups of plug-ins that any result may depend on; a task's code is among its values."""
_LIBRARIES = "numpy numba openpyxl pyarrow sentencepiece tokenizers wordfreq"


@cache
def code_version() -> str:
    """Return a checksum of the code that results depend on, plug-ins included, and libraries."""
    library = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for file in sorted(library.glob("*/**/*.py")):
        name = file.relative_to(library).as_posix()
        if name in _COMPUTING or name.partition("/")[0] not in _SHOWING:
            digest.update(name.encode() + b"\0" + file.read_bytes())
    added = {entry.module for group in _ADDED for entry in installed().select(group=group)}
    for package in sorted({module.partition(".")[0] for module in added} - {library.name}):
        digest.update(package_code(package))
    digest.update(json.dumps(versions_of(_LIBRARIES)).encode())
    return digest.hexdigest()[:12]


def package_code(module: str) -> bytes:
    """Return the code of the package that a module is in, with the names of its files."""
    package, files = module.partition(".")[0], code_files(module)
    return b"".join(f"{package}/{file.name}".encode() + b"\0" + file.read_bytes() for file in files)


def versions_of(libraries: str) -> dict[str, str]:
    """Return the versions of Python and of those of some libraries that are installed."""
    versions = {"python": platform.python_version()}
    for name in libraries.split():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def contents(paths: Iterable[str | Path]) -> list[str]:
    """Return the SHA-256 of files, with the suffixes that determine their format; sorted.

    `MorphGraphError` for an unreadable or irregular file, and for more files or bytes than
    `HASHED_FILES` and `HASHED_BYTES` before the first one too many is read.
    """
    sums: list[str] = []
    size = 0
    for path in map(Path, paths):
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("it is not a regular file")
            size += status.st_size
            HASHED_FILES.check(len(sums) + 1, str(path), fix="Name fewer files")
            HASHED_BYTES.check(size, str(path), fix="Name fewer or smaller files")
            digest = _digest(str(path), status.st_size, status.st_mtime_ns, status.st_ino)
        except (OSError, ValueError) as error:
            problem = (getattr(error, "strerror", None) or str(error)).lower()
            fix = "Check the path and its permissions."
            raise MorphGraphError(f"{path}: {problem}. {fix}") from error
        sums.append(f"{digest}{''.join(path.suffixes[-2:]).lower()}")
    return sorted(sums)


@lru_cache(maxsize=4096)
def _digest(path: str, *state: int) -> str:
    """Return the SHA-256 of a file, read once for each state of it."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# ------------------------------------------------------------------------------ running one


def run_task(task: Task, code: str, *needs: TaskResult, folder: str | None = None) -> TaskResult:
    """Run a task on its worker; any error becomes its failure, and stops no other task.

    ``code``: the runner's `code_version`; a worker with other code fails, as its results would be
    stored under a wrong key. ``folder``: where the task may keep checkpoints.
    """
    import pyarrow
    from pyarrow import parquet

    buffer = io.BytesIO()
    try:
        if code != code_version():
            raise MorphGraphError(
                f"The worker {platform.node()} has different code ({code_version()}) from the "
                f"runner ({code}). Install the same version of morphgraph on it."
            )
        for need in needs:
            if need.failure is not None:
                raise MorphGraphError(f"{need.failure.label} failed: {need.failure.message}")
        tables = [parquet.read_table(pyarrow.BufferReader(need.data)) for need in needs]
        table = task.work({**task.spec, "folder": folder} if task.resumes else task.spec, tables)
    except Exception as error:
        is_ours = isinstance(error, MorphGraphError)
        message = str(error) if is_ours else f"{type(error).__name__}: {error}".strip(": ")
        return TaskResult(b"", TaskFailure(task.label, message, traceback.format_exc()))
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"key": task.key})
    parquet.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    return TaskResult(buffer.getvalue())


# ------------------------------------------------------------------------------ keeping results

_PATIENCE = 0.5
"""Seconds to wait for those who briefly lock a folder just to look."""


class Store:
    """The results of tasks in a folder, by key; open for one runner at a time.

    Used in a ``with``; a second runner in the same folder raises `MorphGraphError`. The lock is
    released when the process ends, even if killed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "store"

    def __enter__(self) -> Self:
        with writing(self.folder, " with --out"):
            self.results.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("a")
            patience = time.monotonic() + _PATIENCE
            while not try_lock(self._lock):
                if time.monotonic() > patience:
                    self._lock.close()
                    raise MorphGraphError(
                        f"{self.folder}: another run is active in this folder. Wait for it, stop "
                        "it, or choose another folder with --out."
                    )
                time.sleep(0.02)
            for partial in (*self.folder.glob(f"{PARTIAL}*"), *self.results.glob(f"{PARTIAL}*")):
                partial.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def path(self, key: str) -> Path:
        """Return the path of a task's file."""
        return self.results / f"{key}.parquet"

    def read(self, key: str) -> pa.Table | None:
        """Return the result of a task; None if there is none, or if the file is damaged."""
        import pyarrow
        from pyarrow import parquet

        try:
            return parquet.read_table(self.path(key), page_checksum_verification=True)
        except (OSError, pyarrow.ArrowException):
            return None

    def checkpoints(self, key: str) -> Path:
        """Return the folder for a task's checkpoints."""
        return self.folder / "checkpoints" / key

    def keep(self, key: str, data: bytes) -> None:
        """Store the result of a task: the bytes of its Parquet file."""
        write_file(self.path(key), data)
        shutil.rmtree(self.checkpoints(key), ignore_errors=True)
        with suppress(OSError):  # it is not empty, or never existed
            self.checkpoints(key).parent.rmdir()


def has_runner(folder: Path) -> bool:
    """Return whether a runner is alive in a folder."""
    try:
        with (folder / "lock").open("a") as file:
            return not try_lock(file)
    except OSError:
        return False
