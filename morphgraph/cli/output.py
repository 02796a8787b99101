"""The output of commands, and what they do when they are asked to end."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.files import check_folder
from morphgraph.core.text import counted, without_nan

if TYPE_CHECKING:
    from rich.console import Console


# ------------------------------------------------------------------------------ files


def print_saved(paths: Iterable[object]) -> None:
    for path in paths:
        print(f"saved {path}")


def check_out(folder: Path | None) -> None:
    """Fail early if a folder cannot be written to."""
    if folder is not None:
        check_folder(folder)


def tell_ids(counts: dict[str, int], as_json: bool) -> dict[str, int]:
    """Return how ids change, and print it, before anything is saved, unless all is JSON."""
    from morphgraph.formats.hugging_face import ids_line

    if not as_json:
        print(ids_line(counts), flush=True)
    return counts


# ------------------------------------------------------------------------------ results


def print_json(value: Any) -> None:
    """Print data as JSON: undefined values as null, `Enum` members by value."""
    data, name = without_nan(value), attrgetter("value")
    print(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False, default=name))


def print_left_out(measured: Any) -> None:
    """Print on stderr how many lines of a corpus were bad, and the first of them."""
    if measured.bad:
        print_message(f"left out: {counted(measured.bad, 'line')}")
        for line in measured.first_bad:
            print_message(f"  {line}")


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], texts: Container[str]
) -> None:
    """Print texts as a table; all but the first column and ``texts`` are numbers."""
    from morphgraph.tables.model import table_of_texts
    from morphgraph.tables.terminal import text_of

    print(text_of(table_of_texts(titles, rows, texts=texts)))


def console(stream: Any, width: int | None = None) -> "Console":
    """Return a console as wide as the terminal, or as ``width``; very wide without a terminal."""
    from rich.console import Console

    if not stream.isatty():
        width = max(1000, width or 0)
    return Console(file=stream, width=width, highlight=False)


# ------------------------------------------------------------------------------ progress

BETWEEN_LINES = 5.0
"""Seconds between two lines of progress without a terminal."""


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
    """Yield a function of the share done that draws a bar on stderr, or prints lines."""
    with progress_line(what) as tell:
        yield partial(tell, what) if sys.stderr.isatty() else None


@contextmanager
def progress_line(start: str = "") -> Iterator[Callable[..., None]]:
    """Draw a bar with a line on stderr; without a terminal, print the line from time to time.

    Yields a function of the line, of the share done, and of a state: the line is printed when the
    state changes, and every few seconds.
    """
    if sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
            task = bar.add_task(start, total=1.0)

            def draw(line: str, share: float, state: str = "") -> None:
                bar.update(task, description=line, completed=share)

            yield draw
        return
    last = ("", time.monotonic())

    def tell(line: str, share: float, state: str = "") -> None:
        nonlocal last
        if state != last[0] or time.monotonic() - last[1] >= BETWEEN_LINES:
            last = (state, time.monotonic())
            print_message(line)

    if start:
        print_message(f"{start} …")
    yield tell


@contextmanager
def on_termination(do: Callable[[int, Any], None], *signals: signal.Signals) -> Iterator[None]:
    """Call ``do`` when a signal asks the program to end."""
    before = {request: signal.signal(request, do) for request in signals}
    try:
        yield
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)


def print_message(line: str) -> None:
    """Print a line on stderr, ignoring write errors, as on a full disk."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        discard_output(sys.stderr)


def discard_output(stream: Any) -> None:
    """Discard a stream's pending and future output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
