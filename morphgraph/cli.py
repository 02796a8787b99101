"""The command line: ``morphgraph score | blame | knockout | segment | train | app``.

Results go to stdout (tables, or JSON with ``--json``), progress and warnings to stderr. What the
user can mend exits with code 2 and one message.
"""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.errors import MorphGraphError

if TYPE_CHECKING:
    from rich.console import Console

    from morphgraph.evaluate import Benchmark, BoundaryScore
    from morphgraph.files import Tokeniser

app = typer.Typer(
    name="morphgraph",
    help="Look inside a BPE tokeniser, see where it cuts across morphemes, and knock out the "
    "merges that are to blame.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

TokeniserOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        help="tokenizer.json, vocab.json or merges.txt (the other beside it), a folder with them, "
        "or demo:en, demo:de, demo:nl.",
    ),
]
ReferenceOption = Annotated[
    str,
    typer.Option("--reference", help="A gold segmentation, or demo:en, demo:de, demo:nl."),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="The reference's format; detected if not given.")
]
FrequenciesOption = Annotated[
    str | None,
    typer.Option(
        "--frequencies", help="Word frequencies for scores over tokens: FILE or wordfreq:LANG."
    ),
]
ForeignOption = Annotated[
    bool, typer.Option("--include-foreign", help="CELEX: keep entries marked [F].")
]
FirstOption = Annotated[
    bool, typer.Option("--first-analysis", help="Only the first analysis of each word counts.")
]
BareOption = Annotated[
    bool, typer.Option("--bare", help="Segment words as whole texts, without the space before.")
]
ScopeOption = Annotated[str, typer.Option("--scope", help="Blame by morphemic or whole-word.")]
WeightingOption = Annotated[str, typer.Option("--weighting", help="Blame by types or tokens.")]
TuplesOption = Annotated[
    bool, typer.Option("--tuples-once", help="A tuple merge counts once per application.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def score(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    format_: FormatOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    as_json: JsonOption = False,
) -> None:
    """Score a tokeniser against a reference: boundary precision, recall and F1."""
    from morphgraph.refine.knockout import score_report
    from morphgraph.segment import segment

    loaded, benchmark = _load(
        tokenizer, reference, format_, frequencies, include_foreign, first_analysis, bare
    )
    scores = benchmark.scores(segment(loaded.graph, benchmark.words))
    report = score_report(benchmark, scores, benchmark.signature(loaded))
    if as_json:
        _print_json(report)
        return
    _print_scores(scores)
    _print_skipped(report["skipped"])
    print(report["signature"])


@app.command()
def blame(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    format_: FormatOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    scope: ScopeOption = "morphemic",
    weighting: WeightingOption = "types",
    tuples_once: TuplesOption = False,
    threshold: Annotated[float, typer.Option(help="Only merges with R of at least this.")] = 0.0,
    limit: Annotated[int, typer.Option(min=0, help="At most this many merges; 0 for all.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N."""
    from morphgraph.evaluate.boundaries import or_none
    from morphgraph.refine.blame import blame as blame_merges
    from morphgraph.refine.blame import blame_table
    from morphgraph.segment import segment

    _check_threshold(threshold)
    loaded, benchmark = _load(
        tokenizer, reference, format_, frequencies, include_foreign, first_analysis, bare
    )
    segmentation = segment(loaded.graph, benchmark.words)
    found = blame_merges(
        benchmark,
        segmentation,
        weighting=_one_of(weighting, "--weighting", ("types", "tokens")),
        scope=_one_of(scope, "--scope", ("morphemic", "whole-word")),
        tuples_once=tuples_once,
    )
    positions = found.candidates(threshold)
    settings = f"{weighting} {scope}" + (" tuples once" if tuples_once else "")
    signature = benchmark.signature(loaded, blame=settings)
    table = blame_table(loaded, found).iloc[positions[: limit or None]]
    if as_json:
        _print_json(
            {
                "merges": table.drop(columns="merge_id").to_dict(orient="records"),
                "threshold": threshold,
                "candidates": len(positions),
                "merges_in_all": len(found.arrays),
                "dropout_rate": or_none(found.dropout_rate(positions)),
                "signature": signature,
            }
        )
        return
    shown = [
        [f"{rank:,}", merge, type_, f"{n:,.0f}", f"{b:,.0f}", f"{r:.3f}"]
        for rank, merge, type_, n, b, r in zip(
            *(table[name] for name in ("rank", "merge", "type", "N", "B", "R")), strict=True
        )
    ]
    _print_table(["rank", "merge", "type", "N", "B", "R"], shown, left={1, 2})
    print(f"{len(positions):,} of {len(found.arrays):,} merges have R ≥ {threshold}")
    print(signature)


@app.command()
def knockout(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the result.")] = None,
    threshold: Annotated[float, typer.Option(help="Knock out merges with R ≥ this.")] = 0.5,
    format_: FormatOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    scope: ScopeOption = "morphemic",
    weighting: WeightingOption = "types",
    tuples_once: TuplesOption = False,
    select: Annotated[
        str, typer.Option(help="By blame, or a baseline: random, last, leaves.")
    ] = "blame",
    count: Annotated[
        int | None,
        typer.Option(min=0, help="How many types; as many as blame chooses if not given."),
    ] = None,
    percent: Annotated[
        float | None, typer.Option(help="How many types, in % of those that merges produce.")
    ] = None,
    minimum_vocabulary: Annotated[
        int, typer.Option("--min-vocab-size", help="Leave at least this many types.")
    ] = 0,
    holdout: Annotated[
        float, typer.Option(help="Share of entries that blame does not see and that are scored.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="For --holdout and --select random.")] = 0,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also remove what is made from a removed type.")
    ] = False,
    recipe: Annotated[
        Path | None, typer.Option(help="Replay this recipe first, or alone with --count 0.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Knock out the types whose merges are most to blame, and save the tokeniser and the recipe."""
    from morphgraph.evaluate.boundaries import or_none
    from morphgraph.evaluate.tables import percent as as_percent
    from morphgraph.files import read_recipe, replay
    from morphgraph.reading import read_bytes
    from morphgraph.refine.baselines import percent_of_types
    from morphgraph.refine.knockout import (
        SELECTIONS,
        KnockoutSettings,
        knock_out,
        score_report,
    )

    _check_threshold(threshold)
    if not 0 <= holdout < 1:
        raise MorphGraphError(f"--holdout {holdout} is not a share. Give 0 to below 1.")
    loaded, benchmark = _load(
        tokenizer, reference, format_, frequencies, include_foreign, first_analysis, bare
    )
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    if percent is not None:
        count = percent_of_types(loaded.graph, percent)
    with _progress("knocking out"):
        result = knock_out(
            loaded,
            benchmark,
            KnockoutSettings(
                _one_of(select, "--select", SELECTIONS),
                threshold,
                minimum_vocabulary,
                _one_of(scope, "--scope", ("morphemic", "whole-word")),
                _one_of(weighting, "--weighting", ("types", "tokens")),
                tuples_once,
                count,
                holdout,
                seed,
                cascade,
            ),
        )
    saved = [] if out is None else _save(loaded, out)
    report: dict[str, Any] = {
        "before": score_report(result.scored, result.before, result.signature_before),
        "after": score_report(result.scored, result.after, result.signature_after),
        "removed": result.removed,
        "dropout_rate": or_none(result.dropout_rate),
        "share_of_merges": result.share_of_merges,
        "vocab_size": result.vocabulary_size,
        "seconds": result.seconds,
        "saved": saved,
    }
    if as_json:
        _print_json(report)
        return
    _print_scores(result.after, result.before)
    print(
        f"{len(result.removed):,} types removed "
        f"({result.share_of_merges:.1%} of the merges, effective dropout rate "
        f"{as_percent(result.dropout_rate)} %); |V| is now {result.vocabulary_size:,}"
    )
    _print_skipped(report["before"]["skipped"])
    for path in saved:
        print(f"saved {path}")
    print(result.signature_after)


@app.command()
def segment(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words; from standard input if none is given.")
    ] = None,
    tokenizer: TokeniserOption = "demo:en",
    text: Annotated[
        bool, typer.Option("--text", help="Each argument or line is a text, not a word.")
    ] = False,
    bare: BareOption = False,
    as_json: JsonOption = False,
) -> None:
    """Segment words, one result a line: the tokens, separated by spaces."""
    from morphgraph.files import load_tokeniser
    from morphgraph.segment import segment as segment_words

    given = words or [line.rstrip("\r\n") for line in _standard_input()]
    given = [word for word in given if word.strip()]
    if not given:
        raise MorphGraphError("There are no words to segment. Name some, or pipe one per line.")
    for position, word in enumerate(given, start=1):
        if not text and (len(word.split()) > 1 or word != word.strip()):
            raise MorphGraphError(
                f"Word {position}, “{word[:60]}”, has a space in it. Give one word per argument or "
                "line, or add --text."
            )
    loaded = load_tokeniser(tokenizer)
    _warn(loaded)
    encoded = loaded.encode(given, bare=bare or text)
    segmentation = segment_words(loaded.graph, encoded)
    rows: list[dict[str, Any]] = []
    for number, word in enumerate(given):
        ends = list(segmentation.token_ends(number))
        rows.append(
            {
                "word": word,
                "tokens": [loaded.token_text(encoded, atom, token) for atom, token in ends],
                "ids": [loaded.vocabulary_id(token) for _, token in ends],
                "splits": segmentation.splits(number),
            }
        )
    if as_json:
        _print_json({"words": rows})
        return
    for row in rows:
        print(" ".join(row["tokens"]))


@app.command()
def train(
    counts: Annotated[
        str, typer.Option(help="Word counts: FILE (word⇥count a line) or wordfreq:LANG.")
    ],
    vocab_size: Annotated[int, typer.Option(help="Size of the vocabulary, the bytes included.")],
    out: Annotated[Path, typer.Option(help="Where to write the tokenizer.json.")],
    minimum_count: Annotated[
        int, typer.Option("--min-count", help="Merge no pair that is rarer than this.")
    ] = 0,
    special: Annotated[
        list[str] | None, typer.Option(help="A special token, placed first; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a byte-level BPE tokeniser from word counts."""
    import time

    from morphgraph.train.tokeniser import train_tokeniser

    started = time.perf_counter()
    with _progress("training") as advance:
        document, merges = train_tokeniser(
            _counts(counts),
            vocab_size,
            minimum_count=minimum_count,
            special=special or [],
            progress=advance,
        )
    _write(out, json.dumps(document, ensure_ascii=False, indent=1).encode())
    report = {
        "saved": str(out),
        "vocab_size": len(document["model"]["vocab"]),
        "merges": merges,
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        _print_json(report)
    else:
        print(f"{report['vocab_size']:,} types, {merges:,} merges: saved {out}")


@app.command(name="app")
def open_app(
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8501,
    headless: Annotated[
        bool, typer.Option("--headless", help="Do not open a browser window.")
    ] = False,
) -> None:
    """Open the app in the browser."""
    import os

    from morphgraph.files.demos import app_folder

    folder = app_folder()
    os.chdir(folder)
    # Everything else is in .streamlit/config.toml, which Streamlit reads from this folder.
    options = {"server.port": port, "server.headless": str(headless).lower()}
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py")]
    command += [item for name, value in options.items() for item in (f"--{name}", str(value))]
    os.execv(sys.executable, command)


def main() -> None:
    """Run the command line; an error that the user can mend is one line and exit code 2."""
    # Types are any text at all; a terminal or pipe that cannot show one gets its code instead.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except MorphGraphError as error:
        print(f"morphgraph: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)


# ------------------------------------------------------------------------------------- loading


def _load(
    tokenizer: str,
    reference: str,
    format_: str | None,
    frequencies: str | None,
    include_foreign: bool,
    first_analysis: bool,
    bare: bool,
) -> "tuple[Tokeniser, Benchmark]":
    from morphgraph.evaluate import Benchmark
    from morphgraph.files import load_tokeniser
    from morphgraph.files.demos import demo_gold_path
    from morphgraph.reference import read_reference

    loaded = load_tokeniser(tokenizer)
    _warn(loaded)
    source: str | Path = reference
    if reference.startswith("demo:"):
        source = demo_gold_path(reference.removeprefix("demo:"))
    gold = read_reference(source, name=reference, format=format_, include_foreign=include_foreign)
    if first_analysis:
        gold = gold.first_analyses()
    known = dict(_counts(frequencies).items()) if frequencies else None
    return loaded, Benchmark.build(loaded, gold, known, frequencies or "", bare=bare)


def _counts(source: str) -> Any:
    from morphgraph.train.counts import read_word_counts, wordfreq_counts

    if source.startswith("wordfreq:"):
        return wordfreq_counts(source.removeprefix("wordfreq:"))
    return read_word_counts(source)


def _standard_input() -> Iterator[str]:
    if sys.stdin.isatty():
        print("Type words, one per line; end with Ctrl-D.", file=sys.stderr)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MorphGraphError(
                f"standard input, line {number}: it is not valid UTF-8. Save the words as UTF-8."
            ) from error


def _one_of(value: str, option: str, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        listed = ", ".join(choices)
        raise MorphGraphError(f"{option} {value} is not known. Use one of: {listed}.")
    return value


def _check_threshold(threshold: float) -> None:
    if not 0 <= threshold <= 1:
        raise MorphGraphError(f"--threshold {threshold} is no ratio. Give 0 to 1.")


# ------------------------------------------------------------------------------------- output


def _save(loaded: "Tokeniser", folder: Path) -> list[str]:
    from morphgraph.files import saved_files

    files = saved_files(loaded)
    for stale in {"tokenizer.json", "tokeniser.bte.json"} - files.keys():
        # A folder with both would be loaded as the other one.
        if (folder / stale).is_file():
            old = folder / f"{stale}.old"
            (folder / stale).replace(old)
            print(f"{folder / stale} was there already: it is now {old}", file=sys.stderr)
    for name, data in files.items():
        _write(folder / name, data)
    return [str(folder / name) for name in files]


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        problem = (error.strerror or "it cannot be written").lower()
        raise MorphGraphError(f"{path}: {problem}. Choose another place with --out.") from error


def _warn(loaded: "Tokeniser") -> None:
    for warning in loaded.warnings:
        print(f"{loaded.name}: {warning}", file=sys.stderr)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def _print_scores(
    scores: "list[BoundaryScore]", before: "list[BoundaryScore] | None" = None
) -> None:
    from morphgraph.evaluate.tables import count, percent

    rows = []
    for number, found in enumerate(scores):
        old = before[number] if before else None
        cells: list[str] = [found.scope, found.weighting]
        for name in ("precision", "recall", "f1"):
            value, start = getattr(found, name), getattr(old, name) if old else None
            shown = percent(value)
            cells.append(shown if start is None else f"{percent(start)} → {shown}")
        counts = (found.true_positives, found.predicted, found.relevant)
        rows.append(cells + [count(value) for value in counts])
    header = ["scope", "over", "precision %", "recall %", "F1 %"]
    header += ["true positives", "predicted", "relevant"]
    _print_table(header, rows, left={0, 1})


def _print_skipped(skipped: dict[str, int]) -> None:
    for reason, number in skipped.items():
        print(f"skipped {number:,}: {reason}")


def _print_table(header: list[str], rows: list[list[str]], left: set[int]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for position, name in enumerate(header):
        table.add_column(Text(name), justify="left" if position in left else "right")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    _console(sys.stdout).print(table)


def _console(stream: Any) -> "Console":
    from rich.console import Console

    width = None if stream.isatty() else 160
    return Console(file=stream, width=width, highlight=False)


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    """A bar on stderr, a line if it is no terminal; yields a function of 0 to 1, or None."""
    from rich.progress import Progress

    if not sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr)
        yield None
        return
    with Progress(console=_console(sys.stderr), transient=True) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share: progress.update(task, completed=share)
