"""Tasks: pure functions of plain values and of the results of other tasks, run on any machine."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import stat
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    import pyarrow as pa

Work = Callable[[Mapping[str, Any], "Sequence[pa.Table]"], "pa.Table"]


@dataclass(frozen=True)
class Task:
    """Something to do: ``work`` on plain values ``spec``, after the tasks that it ``needs``.

    ``key`` is a hash of all that the outcome depends on, `task_key`. ``cost``: seconds that it may
    take. ``label``: what people call it. ``columns``: what results say of a cell.
    """

    key: str
    kind: str
    label: str
    work: Work = field(repr=False)
    spec: Mapping[str, Any] = field(repr=False)
    needs: tuple[str, ...] = ()
    cost: float = 1.0
    columns: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class TaskFailure:
    """A task that failed: what it says, and where it happened."""

    key: str
    label: str
    message: str
    traceback: str


@dataclass(frozen=True)
class TaskResult:
    """The result of a task: the bytes of a Parquet file, or its failure."""

    key: str
    data: bytes = field(repr=False)
    failure: TaskFailure | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


def task_key(kind: str, spec: Mapping[str, Any], needs: Sequence[str] = ()) -> str:
    """The key of a task: a hash of its kind, its values, what it needs, and the code.

    >>> task_key("cell", {"p": 0.1}) == task_key("cell", {"p": 0.1})
    True
    """
    named = {"kind": kind, "spec": spec, "needs": list(needs), "code": code_version()}
    text = json.dumps(named, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


_COMPUTING = (
    "batch/names.py",
    "batch/cell_methods.py",
    "batch/cell_rows.py",
    "batch/cells.py",
    "batch/tasks.py",
    "core",
    "corpus",
    "graph",
    "kernels",
    "reference",
    "refine",
    "score",
    "segment",
    "tokeniser",
    "train",
)
"""The parts of the library that results depend on."""
_LIBRARIES = (
    "numpy",
    "numba",
    "openpyxl",
    "pyarrow",
    "sentencepiece",
    "tokenizers",
    "wordfreq",
)


@cache
def code_version() -> str:
    """A checksum of the code that results depend on, and of the libraries that it uses."""
    from importlib.metadata import version

    library = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for part in _COMPUTING:
        path = library / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(library).as_posix().encode() + b"\0" + file.read_bytes())
    digest.update(f"python {platform.python_version()}\n".encode())
    for name in _LIBRARIES:
        digest.update(f"{name}=={version(name)}\n".encode())
    return digest.hexdigest()[:12]


def run_task(task: Task, code: str, *needs: TaskResult) -> TaskResult:
    """Run a task where it was sent to; whatever goes wrong is its failure, and stops no other one.

    ``code``: the runner's `code_version`; a worker with other code is a failure, as its results
    would go by a wrong key.
    """
    import pyarrow
    from pyarrow import parquet

    started, cpu = time.perf_counter(), time.process_time()
    _forget_peak()
    try:
        if code != code_version():
            raise MorphGraphError(
                f"The worker {platform.node()} has other code ({code_version()}) than the runner "
                f"({code}). Install the same version of morphgraph on it."
            )
        tables = [parquet.read_table(pyarrow.BufferReader(_data(result))) for result in needs]
        table = task.work(task.spec, tables)
    except Exception as error:
        message = str(error) if isinstance(error, MorphGraphError) else _named(error)
        failure = TaskFailure(task.key, task.label, message, traceback.format_exc())
        return TaskResult(task.key, b"", failure, _facts(task, started, cpu))
    facts = _facts(task, started, cpu)
    buffer = io.BytesIO()
    metadata = dict(table.schema.metadata or {})
    metadata |= {name.encode(): value.encode() for name, value in facts.items()}
    kept = table.replace_schema_metadata(metadata)
    parquet.write_table(kept, buffer, compression="zstd", write_page_checksum=True)
    return TaskResult(task.key, buffer.getvalue(), None, facts)


def _data(result: TaskResult) -> bytes:
    if result.failure is not None:
        raise MorphGraphError(f"{result.failure.label} failed: {result.failure.message}")
    return result.data


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip(": ")


def _facts(task: Task, started: float, cpu: float) -> dict[str, str]:
    return {
        "key": task.key,
        "kind": task.kind,
        "label": task.label,
        "seconds": f"{time.perf_counter() - started:.4f}",
        "cpu_seconds": f"{time.process_time() - cpu:.4f}",
        "peak_memory": str(_peak_memory()),
        "worker": _worker(),
    }


def _worker() -> str:
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return str(get_worker().address)
    return platform.node()


def _forget_peak() -> None:
    """Let the kernel reset this process's peak memory, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int:
    """The most bytes of memory that this process had at once since `_forget_peak`."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
