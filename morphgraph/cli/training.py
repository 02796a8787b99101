"""The commands that train tokenisers and look into models: train, transplant, undertrained."""

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli import output
from morphgraph.cli.options import AS_FOUND, Reading, Whole, with_options, word_counts
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_folder, json_bytes, write_files
from morphgraph.core.limits import PUBLIC_MEMORY, PUBLIC_SECONDS, PUBLIC_TYPES, PUBLIC_WORDS
from morphgraph.core.system import limit_this_process, lower_priority
from morphgraph.core.text import counted
from morphgraph.score import SHARE_KEPT
from morphgraph.segment.method import parse_method

if TYPE_CHECKING:
    from morphgraph.corpus.counts import LanguageCounts, WordCounts
    from morphgraph.reference.entry import Reference


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
    read: Reading = AS_FOUND,
    pipeline: str | None = None,
    minimum_count: int | None = None,
    special: list[str] | None = None,
    checkpoint: Path | None = None,
    confined: bool = False,
    as_json: bool = False,
) -> None:
    """Train a tokeniser from word counts or text.

    method: {trained} or morphbpe, with parameters as in picky(threshold=0.9); morphbpe(holdout=0)
        learns from all of --gold, else a fifth is kept aside. bpe makes byte-level BPE, as a
        tokenizer.json, if no --pipeline is named.
    counts: Word counts: FILE (word⇥count a line) or wordfreq:LANG. Of several languages, each with
        its name: en=FILE de=FILE.
    vocab_size: Size of the vocabulary, the atoms included.
    out: Where to write the tokenizer.json, or the model.
    development: For parity: word counts of a parallel text, which tell what language is behind,
        en=FILE; given again for each. Without, the training counts do.
    text: Instead of counts: plain text, csv, tsv or parquet.
    column: The column of a table with the text.
    gold: For morphbpe, which learns from it: FILE, demo:en or catalogue:NAME.
    pipeline: What happens to words first: plain, knockout, rebpe, spaces or no-spaces.
    minimum_count: Drop rarer words; bpe without --pipeline merges no pair that is rarer.
    special: For bpe without --pipeline: a special token, placed first; may be repeated.
    checkpoint: On Ctrl-C, write what was trained so far to this file, and end.
    confined: Stay within the limits of the public app.
    """
    started = time.perf_counter()
    name, parameters = parse_method(method)
    is_plain = name == "bpe" and not parameters and pipeline is None
    if special and not is_plain:
        raise MorphGraphError("--special is for bpe without a --pipeline. Leave it out.")
    if development and is_plain:
        raise MorphGraphError("--development is for parity. Leave it out.")
    if (name == "morphbpe") != (gold is not None):
        raise MorphGraphError("Only morphbpe learns from --gold, and needs it. Give both.")
    learned_from = read.gold(gold)
    if confined:
        lower_priority()
        limit_this_process(PUBLIC_SECONDS.value, PUBLIC_MEMORY.value)
        PUBLIC_TYPES.check(vocab_size, "The vocabulary", fix="Ask for fewer")
    with _ending_early(checkpoint) as enough, _training_progress() as advance:
        words = _words(counts or [], development or [], text, column)
        advance(0.0)
        if confined:
            PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
        how: Any = {"progress": advance, "enough": enough}
        if is_plain:
            from morphgraph.segment.training import train_tokeniser

            how |= {"minimum_count": minimum_count or 0, "special": special or []}
            document, merges = train_tokeniser(words, vocab_size, **how)
            data: str | bytes = json_bytes(document, str(out))
            made: dict[str, Any] = {"vocab_size": len(document["model"]["vocab"]), "merges": merges}
        else:
            how |= {"pipeline": pipeline, "minimum_count": minimum_count}
            data, made = _model(method, words, vocab_size, how, learned_from)
    stopped = enough is not None and enough()
    saved = checkpoint if stopped and checkpoint is not None else out
    output.write(saved, data)
    if as_json:
        output.print_json({"saved": str(saved), **made, "seconds": time.perf_counter() - started})
    else:
        shown = f", {counted(made['merges'], 'merge')}" if "merges" in made else ""
        print(f"{counted(made['vocab_size'], 'type')}{shown}: saved {saved}")
        if "signature" in made:
            print(made["signature"])
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
            "Train on word counts or on text: name either counts or --text, and not both."
        )
    if text is not None:
        from morphgraph.corpus.counting import read_text

        return read_text(text, column=column)
    if column is not None:
        raise MorphGraphError("--column names a column of the --text file. Give one, or leave out.")
    if len(counts) == 1 and not development and _named(counts[0]) is None:
        found: WordCounts = word_counts(counts[0])
        return found
    from morphgraph.corpus.counts import to_language_counts

    return to_language_counts(_by_language("", counts), _by_language("--development ", development))


def _named(given: str) -> tuple[str, str] | None:
    """Return the language and the source of en=FILE; None if it is a file alone."""
    found = re.fullmatch(r"([\w-]+)=(.+)", given)
    return None if found is None or Path(given).exists() else (found[1], found[2])


def _by_language(option: str, given: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for each in given:
        named = _named(each)
        if named is None:
            raise MorphGraphError(
                f"{option}{each} does not say its language, and there are several. Write it "
                f"like {option}en={each}."
            )
        if named[0] in sources:
            raise MorphGraphError(f"{option}{each}: give each language once.")
        sources[named[0]] = named[1]
    return sources


def _model(
    method: str,
    words: "WordCounts | LanguageCounts",
    vocab_size: int,
    how: dict[str, Any],
    gold: "Reference | None",
) -> tuple[bytes, dict[str, Any]]:
    from morphgraph.segment.models import write_model
    from morphgraph.segment.training import train as train_segmenter
    from morphgraph.segment.training import training_of

    name, parameters = parse_method(method)
    # A method that learns from a reference is made of BPE.
    entry, chosen = training_of(name if gold is None else "bpe")
    if how["enough"] is not None and not (chosen.stoppable and gold is None):
        raise MorphGraphError(
            f"{entry.title} trains in one go, so there is nothing to keep before its end. "
            "Leave out --checkpoint."
        )
    if not chosen.stoppable:
        print(f"{entry.title} trains in one go, with little progress to show", file=sys.stderr)
    if gold is None:
        segmenter = train_segmenter(name, words, vocab_size, parameters=parameters, **how)
    else:
        from morphgraph.corpus.counts import WordCounts
        from morphgraph.refine.morphbpe import train_morphbpe

        if not isinstance(words, WordCounts):
            raise MorphGraphError("MorphBPE takes the counts of one language. Name them once.")
        holdout: Any = parameters.pop("holdout", SHARE_KEPT)
        base = train_segmenter("bpe", words, vocab_size, **how)
        given = {"types": vocab_size, **parameters}
        segmenter = train_morphbpe(base, words, gold, given, holdout)
    if warning := segmenter.warning():
        print(warning, file=sys.stderr)
    return write_model(segmenter), {
        "method": name,
        "pipeline": how["pipeline"] or chosen.pipelines[0],
        "vocab_size": segmenter.vocabulary_size,
        "signature": segmenter.signature(),
    }


# ------------------------------------------------------------------------------ transplant


@with_options
def transplant(
    model: Annotated[Path, typer.Argument()],
    tokeniser: Annotated[Path, typer.Argument()],
    out: Path | None = None,
    init: str = "mean",
    norm: str | None = None,
    seed: Whole = 0,
    pad_to_multiple_of: Annotated[int, typer.Option(min=1)] = 1,
    old: str | None = None,
    padded: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Transplant a model to another tokeniser: copy the rows of kept types, make the others.

    model: Folder of a model, its weights in safetensors.
    tokeniser: Folder of the new tokeniser, such as export writes.
    out: New folder for the model with the new tokeniser.
    init: The row of a new type: mean (of the rows of the old tokens of its string), length (the
        same, weighted by their characters), zeros, normal (drawn with each column's mean and
        standard deviation) or hewitt (drawn with the covariance of columns, too).
    norm: median scales new input rows to the median norm of old ones; refused where input and
        output are one matrix.
    seed: For --init normal and hewitt.
    pad_to_multiple_of: Add rows up to a multiple of this number.
    old: The tokeniser that the model was trained with; that in its folder.
    padded: Rows beyond the old tokeniser's ids are padding, however many.
    dry_run: Say what would be done, and write nothing.
    """
    from morphgraph import models

    if out is None and not dry_run:
        raise MorphGraphError("Nothing says where the model goes. Give --out, or --dry-run.")
    how: Any = {"init": init, "norm": norm, "seed": seed, "padded": padded}
    how |= {"pad_to_multiple_of": pad_to_multiple_of, "old_tokenizer": old}
    made = models.transplant(model, tokeniser, None if dry_run else out, **how)
    if as_json:
        output.print_json(made.to_dict())
    else:
        print(made)
        for change in made.config:
            if change.after is None:
                output.print_message(
                    f"{change.field}: the new tokeniser has no such token, so it is null"
                )


# ------------------------------------------------------------------------------ undertrained


@with_options
def undertrained(
    model: Annotated[Path, typer.Argument()],
    tokeniser: Annotated[str | None, typer.Argument()] = None,
    frequencies: str | None = None,
    padded: bool = False,
    by: str | None = None,
    share: float = 0.02,
    limit: Whole = 50,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Find the under-trained types of a model by their rows.

    model: Folder of a model, its weights in safetensors.
    frequencies: Word counts that types are counted in: FILE, wordfreq:LANG.
    tokeniser: The model's tokeniser, if it is not in its folder.
    padded: Rows beyond the tokeniser's ids are padding.
    by: Rank types by norm, cosine or euclidean: the norm of the input row, or its distance from
        unused rows. By default cosine where one matrix is input and output, else norm, as Land &
        Bartolo's program does.
    share: The share of types, those that rank lowest, that stand out.
    limit: At most this many types; 0 for all.
    out: Folder for the table (CSV) and the chart (HTML).
    """
    from morphgraph import models
    from morphgraph.models.undertrained_types import check_stand_out
    from morphgraph.tables.writing import frame_csv

    check_stand_out(share)
    output.check_out(out)
    with output.progress_bar("looking at rows"):
        found = models.undertrained(model, frequencies, tokenizer=tokeniser, padded=padded, by=by)
    files: dict[Path, bytes] = {}
    if out is not None:
        from morphgraph.draw.charts import undertrained_page

        files[out / "undertrained.csv"] = frame_csv(found.frame)
        files[out / "undertrained.html"] = undertrained_page(found).encode()
        write_files(files, " with --out")
    if as_json:
        output.print_json({**found.to_dict(share, limit), "saved": list(map(str, files))})
        return
    print(found.report(share, limit))
    output.print_saved(files)
