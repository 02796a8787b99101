"""Training for visitors of a public app: queued, in a process of its own, within limits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.limits import PUBLIC_RUNS, PUBLIC_SECONDS
from morphgraph.segment.models import read_model
from morphgraph.segment.segmenter import Segmenter

_EVERY = 0.5
_ENDINGS = (".txt", ".csv", ".tsv", ".parquet", ".gz")
TrainingNews = Callable[[str, float], object]
"""Called about twice a second with what happens, and how much of the time is over, 0 to 1.

What it raises, as where somebody clicks Stop, ends the training.
"""

_lock = threading.Lock()
_turns: list[str] = []
"""The visitors who train, then those who wait, by the identity of their browser."""


def train_in_turn(
    visitor: str,
    options: Sequence[str],
    name: str,
    tell: TrainingNews,
    file: tuple[str, str, bytes] | None = None,
) -> Segmenter:
    """Return what ``morphgraph train`` makes with these options, when the visitor's turn comes.

    ``visitor``: the identity of their browser; ``name``: the name of the model; ``file``: the
    option for an uploaded file, with its name and content. Raises `MorphGraphError` for errors of
    the command, for too much time or memory, and for a second training of the same visitor.
    """
    with _turn_of(visitor, tell):
        return _trained(options, name, tell, file)


@contextmanager
def _turn_of(visitor: str, tell: TrainingNews) -> Iterator[None]:
    with _lock:
        if visitor in _turns:
            raise MorphGraphError(
                "This browser is training already, perhaps in another tab. Wait for it, or stop it."
            )
        _turns.append(visitor)
    try:
        while (place := _turns.index(visitor) - PUBLIC_RUNS.value + 1) > 0:
            tell(f"Number {place:,} in the queue for training …", 0.0)
            time.sleep(_EVERY)
        yield
    finally:
        with _lock:
            _turns.remove(visitor)


def _trained(
    options: Sequence[str], name: str, tell: TrainingNews, file: tuple[str, str, bytes] | None
) -> Segmenter:
    with tempfile.TemporaryDirectory(prefix="morphgraph-training-") as folder:
        out, errors = Path(folder, "model.json"), Path(folder, "errors")
        command = [sys.executable, "-m", "morphgraph", "train", "--confined", "--out", str(out)]
        if file is not None:
            option, given, data = file
            path = Path(folder, "words" + "".join(_endings(given)))
            path.write_bytes(data)
            options = [*options, option, str(path)]
        with errors.open("wb") as said:
            process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
        try:
            _wait(process, tell)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise MorphGraphError(_error_message(errors, file, process.returncode))
        return read_model(out.read_bytes(), name)


def _endings(name: str) -> list[str]:
    """Return the endings that tell how to read a file; nothing else of its name becomes a path."""
    return [ending for ending in Path(name.lower()).suffixes[-2:] if ending in _ENDINGS]


def _wait(process: subprocess.Popen[bytes], tell: TrainingNews) -> None:
    """Wait for a process to end, at most the visitor's time limit."""
    started, most = time.monotonic(), PUBLIC_SECONDS.value
    while process.poll() is None:
        seconds = time.monotonic() - started
        if seconds > most:
            raise MorphGraphError(
                f"The training was ended after {most:,} seconds, the limit on this server. Train a "
                "smaller vocabulary or on fewer words, or run morphgraph on your own machine."
            )
        tell(f"Training, {seconds:.0f} of at most {most:,} seconds …", seconds / most)
        time.sleep(_EVERY)


def _error_message(errors: Path, file: tuple[str, str, bytes] | None, code: int) -> str:
    lines = errors.read_text("utf-8", "replace").splitlines()
    said = next((line for line in lines if line.startswith("morphgraph: ")), "")
    if code == 2 and said:
        said = said.removeprefix("morphgraph: ")
        if file is not None:
            found = errors.with_name("words" + "".join(_endings(file[1])))
            said = said.replace(str(found), file[1]).replace(found.name, file[1])
        return said
    return (
        "The training was ended: it needs more memory or time than a visitor has on this server. "
        "Train a smaller vocabulary or on fewer words, or run morphgraph on your own machine."
    )
