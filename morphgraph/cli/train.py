"""The command that trains tokenisers: train."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli import output
from morphgraph.cli.options import AS_FOUND, GoldReading, with_options, word_counts
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_folder
from morphgraph.core.limits import PUBLIC_MEMORY, PUBLIC_SECONDS, PUBLIC_TYPES, PUBLIC_WORDS
from morphgraph.core.system import limit_this_process, lower_priority
from morphgraph.core.text import counted
from morphgraph.segment.method import parse_method

if TYPE_CHECKING:
    from morphgraph.corpus.counts import LanguageCounts, WordCounts


@with_options
def train(
    method: Annotated[str, typer.Argument()],
    counts: Annotated[list[str] | None, typer.Argument()] = None,
    *,
    vocab_size: int,
    out: Path,
    development: list[str] | None = None,
    text: Path | None = None,
    column: str | None = None,
    gold: str | None = None,
    read: GoldReading = AS_FOUND,
    pipeline: str | None = None,
    minimum_count: int | None = None,
    special: list[str] | None = None,
    checkpoint: Path | None = None,
    confined: bool = False,
    as_json: bool = False,
) -> None:
    """Train a tokeniser from word counts or text.

    method: {trained}, with parameters as in picky(threshold=0.9). One that learns from gold keeps a
        fifth of it aside, or nothing with holdout=0.
    counts: Word counts: FILE (word⇥count per line) or wordfreq:LANG. For several languages, each
        with its name: en=FILE de=FILE.
    vocab_size: Size of the vocabulary, the atoms included.
    out: Where to write the model, which is a tokenizer.json if it segments by merges alone.
    development: For a method that balances languages: word counts of a parallel text, as en=FILE,
        which show which language is behind; the training counts if not given. Repeat it for each.
    text: Instead of counts: plain text, csv, tsv or parquet.
    column: The column of a table with the text.
    gold: For a method that learns from it: FILE, demo:en or catalogue:NAME.
    pipeline: What happens to words first: plain, knockout, rebpe, spaces or no-spaces.
    minimum_count: Leave out rarer words.
    special: For bpe: a special token, placed first; may be repeated.
    checkpoint: On Ctrl-C, write what was trained so far to this file, and end.
    confined: Stay within the limits of the public app.
    """
    from morphgraph.api.functions import train as run

    started = time.perf_counter()
    name, parameters = parse_method(method)
    for own in parameters.keys() & signature(run).parameters.keys() - {"holdout"}:
        raise MorphGraphError(f"{name} has no parameter “{own}”. Leave it out, or name the option.")
    options: dict[str, Any] = {
        **parameters,
        "gold": read.gold(gold),
        "pipeline": pipeline,
        "minimum_count": minimum_count,
        "special": special or (),
    }
    if confined:
        lower_priority()
        limit_this_process(PUBLIC_SECONDS.value, PUBLIC_MEMORY.value)
        PUBLIC_TYPES.check(vocab_size, "The vocabulary", fix="Ask for fewer")
    with _ending_early(checkpoint) as enough, _training_progress() as advance:
        words = _words(counts or [], development or [], text, column)
        advance(0.0)
        if confined:
            PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
        trained = run(name, words, vocab_size, progress=advance, enough=enough, **options)
    stopped = enough is not None and enough()
    saved = checkpoint if stopped and checkpoint is not None else out
    trained.save(saved)
    if as_json:
        seconds = time.perf_counter() - started
        output.print_json({"saved": str(saved), **trained.to_dict(), "seconds": seconds})
    else:
        told = trained.to_dict()
        merges = f", {counted(told['merges'], 'merge')}" if "merges" in told else ""
        print(f"{counted(told['vocab_size'], 'type')}{merges}\n{told['signature']}")
        output.print_saved([saved])
    if stopped:
        output.print_message(f"stopped: {saved} has what was trained so far")
        raise typer.Exit(130)


@contextmanager
def _training_progress() -> "Iterator[Callable[[float], None]]":
    """Yield a progress function that shows a bar, or lines with the time left."""
    from morphgraph.segment.training import TrainingClock

    line = TrainingClock("training", "training: preparing the words")
    with output.progress_line("training") as tell:
        tell("training: reading the words", 0.0)
        yield lambda share: tell(line(share), share)


@contextmanager
def _ending_early(checkpoint: Path | None) -> "Iterator[Callable[[], bool] | None]":
    """Yield a function that tells whether Ctrl-C asked to end at the next checkpoint.

    Before the first merge, a second time, or without a checkpoint, Ctrl-C ends the program at once.
    """
    if checkpoint is None:
        yield None
        return
    check_folder(checkpoint.parent)
    begun = asked = False

    def enough() -> bool:
        nonlocal begun
        begun = True
        return asked

    def end(number: int, frame: Any) -> None:
        nonlocal asked
        if asked or not begun:
            raise KeyboardInterrupt
        asked = True

    with output.on_termination(end, signal.SIGINT):
        yield enough


def _words(
    counts: list[str], development: list[str], text: Path | None, column: str | None
) -> "WordCounts | LanguageCounts":
    if (not counts) == (text is None):
        raise MorphGraphError(
            "Training needs word counts or text. Give either counts or --text, not both."
        )
    if text is not None:
        from morphgraph.corpus.counting import read_text

        return read_text(text, column=column)
    if column is not None:
        raise MorphGraphError("--column is for a --text file. Give one, or leave out --column.")
    if len(counts) == 1 and not development and _named(counts[0]) is None:
        known: WordCounts = word_counts(counts[0])
        return known
    from morphgraph.corpus.counts import to_language_counts

    return to_language_counts(_by_language("", counts), _by_language("--development ", development))


def _named(given: str) -> tuple[str, str] | None:
    """Return the language and the source of en=FILE; None if it is a file alone."""
    match = re.fullmatch(r"([\w-]+)=(.+)", given)
    return None if match is None or Path(given).exists() else (match[1], match[2])


def _by_language(option: str, given: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for each in given:
        named = _named(each)
        if named is None:
            raise MorphGraphError(
                f"{option}{each} does not name its language, but there are several. Write it "
                f"like {option}en={each}."
            )
        if named[0] in sources:
            raise MorphGraphError(f"{option}{each}: the language is given twice. Give it once.")
        sources[named[0]] = named[1]
    return sources
