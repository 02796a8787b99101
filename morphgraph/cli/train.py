"""The command that trains a tokeniser."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import JsonOption, word_counts
from morphgraph.cli.output import on_termination, print_json, print_message, progress_line, write
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_folder, json_bytes
from morphgraph.core.limits import PUBLIC_MEMORY, PUBLIC_SECONDS, PUBLIC_TYPES, PUBLIC_WORDS
from morphgraph.core.system import limit_this_process, lower_priority
from morphgraph.core.text import counted
from morphgraph.methods import METHODS

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts


def train(
    vocab_size: Annotated[int, typer.Option(help="Size of the vocabulary, the atoms included.")],
    out: Annotated[
        Path, typer.Option(help="Where to write the tokenizer.json; with --method, the model.")
    ],
    counts: Annotated[
        str | None, typer.Option(help="Word counts: FILE (word⇥count a line) or wordfreq:LANG.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Instead of counts: plain text, csv, tsv or parquet.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of a table with the text.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(METHODS.trained)}, with parameters as in picky(threshold=0.9); "
            "byte-level BPE as a tokenizer.json if not given."
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="With --method, what happens to words first: plain, knockout, rebpe, spaces or "
            "no-spaces."
        ),
    ] = None,
    minimum_count: Annotated[
        int | None,
        typer.Option(
            "--min-count",
            help="Merge no pair that is rarer than this; with --method, drop rarer words.",
        ),
    ] = None,
    special: Annotated[
        list[str] | None,
        typer.Option(help="Without --method: a special token, placed first; may be repeated."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="On Ctrl-C, write what was trained so far to this file, and end."),
    ] = None,
    confined: Annotated[
        bool,
        typer.Option("--confined", help="Stay within the limits of the public app."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Train a tokeniser from word counts or text; by default, byte-level BPE."""
    import time

    started = time.perf_counter()
    if method is None:
        if pipeline is not None:
            raise MorphGraphError("--pipeline needs a method. Add --method bpe, or another one.")
    elif special:
        raise MorphGraphError("--special does not go with --method. Leave one of them out.")
    if confined:
        lower_priority()
        limit_this_process(PUBLIC_SECONDS.value, PUBLIC_MEMORY.value)
        PUBLIC_TYPES.check(vocab_size, "The vocabulary", fix="Ask for fewer")
    with _ending_early(checkpoint) as enough, _training_progress() as advance:
        words = _words(counts, text, column)
        advance(0.0)
        if confined:
            PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
        if method is None:
            from morphgraph.segment.training import train_tokeniser

            document, merges = train_tokeniser(
                words,
                vocab_size,
                minimum_count=minimum_count or 0,
                special=special or [],
                progress=advance,
                enough=enough,
            )
            data: str | bytes = json_bytes(document, str(out))
            report: dict[str, Any] = {
                "vocab_size": len(document["model"]["vocab"]),
                "merges": merges,
            }
        else:
            data, report = _model(
                method, words, vocab_size, pipeline, minimum_count, advance, enough
            )
    stopped = enough is not None and enough()
    saved = checkpoint if stopped and checkpoint is not None else out
    write(saved, data)
    report = {"saved": str(saved), **report, "seconds": time.perf_counter() - started}
    if as_json:
        print_json(report)
    else:
        shown = f", {counted(report['merges'], 'merge')}" if "merges" in report else ""
        print(f"{counted(report['vocab_size'], 'type')}{shown}: saved {saved}")
        if "signature" in report:
            print(report["signature"])
    if stopped:
        print_message(f"stopped: {saved} has what was trained so far")
        raise typer.Exit(130)


@contextmanager
def _training_progress() -> "Iterator[Callable[[float], None]]":
    """Yield a progress function that shows a bar, or lines with the time left."""
    from morphgraph.segment.training import TrainingClock

    line = TrainingClock("training", "training: preparing the words")
    with progress_line("training") as tell:
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

    with on_termination(end, signal.SIGINT):
        yield enough


def _words(counts: str | None, text: Path | None, column: str | None) -> "WordCounts":
    if (counts is None) == (text is None):
        raise MorphGraphError(
            "Train on word counts or on text: give either --counts or --text, and not both."
        )
    if text is not None:
        from morphgraph.corpus.text import read_text

        return read_text(text, column=column)
    if column is not None:
        raise MorphGraphError("--column names a column of the --text file. Give one, or leave out.")
    found: WordCounts = word_counts(counts or "")
    return found


def _model(
    method: str,
    words: "WordCounts",
    vocab_size: int,
    pipeline: str | None,
    minimum_count: int | None,
    advance: Any,
    enough: Any,
) -> tuple[bytes, dict[str, Any]]:
    from morphgraph.segment.method import parse_method
    from morphgraph.segment.models import write_model
    from morphgraph.segment.training import train as train_segmenter
    from morphgraph.segment.training import training_of

    name, parameters = parse_method(method)
    entry, chosen = training_of(name)
    if not chosen.stoppable:
        if enough is not None:
            raise MorphGraphError(
                f"{entry.title} trains in one go, so there is nothing to keep before its end. "
                "Leave out --checkpoint."
            )
        print(f"{entry.title} shows no progress while it trains", file=sys.stderr)
    segmenter = train_segmenter(
        name,
        words,
        vocab_size,
        pipeline=pipeline,
        parameters=parameters,
        minimum_count=minimum_count,
        progress=advance,
        enough=enough,
    )
    if warning := segmenter.warning():
        print(warning, file=sys.stderr)
    return write_model(segmenter), {
        "method": name,
        "pipeline": pipeline or chosen.pipelines[0],
        "vocab_size": segmenter.vocabulary_size,
        "signature": segmenter.signature(),
    }
