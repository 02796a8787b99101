"""The command that evaluates vocabularies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from morphgraph.cli.cluster import SchedulerOption, check_one_place, cluster_for
from morphgraph.cli.options import (
    FrequenciesOption,
    JsonOption,
    Reading,
    warn,
    with_options,
    word_counts,
)
from morphgraph.cli.output import (
    print_json,
    print_message,
    print_model,
    print_table,
    progress_bar,
    progress_line,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import count_text, counted, unique_labels

if TYPE_CHECKING:
    from morphgraph.score.corpus_measures import CorpusMeasures
    from morphgraph.score.vocabulary import VocabularyHealth
    from morphgraph.segment.segmenter import Segmenter


@with_options
def vocabulary(
    reading: Reading,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            help="tokenizer.json, vocab.json, a list of types, a SentencePiece model, or demo:en; "
            "may be repeated. demo:en if neither this nor --model is given."
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(help="A trained model, or a tokeniser or vocabulary; may be repeated."),
    ] = None,
    frequencies: FrequenciesOption = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure texts of any size instead: files, patterns, folders, as count reads "
            "them; may be repeated."
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="For --corpus: the column, or field, with the text.")
    ] = None,
    language_column: Annotated[
        str | None,
        typer.Option(help="For --corpus: the column, or field, with the language."),
    ] = None,
    parallel: Annotated[
        bool,
        typer.Option(
            "--parallel", help="For --corpus: the same lines in several languages, a file each."
        ),
    ] = False,
    base: Annotated[
        str | None, typer.Option(help="For --parallel: the language that others are relative to.")
    ] = None,
    unit: Annotated[
        Literal["words", "lines"] | None,
        typer.Option(
            help="For --corpus: segment words, or lines as whole texts; lines with --parallel."
        ),
    ] = None,
    bad_lines: Annotated[
        Literal["stop", "skip"],
        typer.Option(help="For --corpus: what becomes of a line that cannot be read."),
    ] = "stop",
    memory: Annotated[
        str, typer.Option(help="For --corpus: words and counts, over all workers: 64M or more.")
    ] = "512M",
    workers: Annotated[
        int | None, typer.Option(help="For --corpus: how many processes; one if not given.")
    ] = None,
    scheduler: SchedulerOption = None,
    reference: Annotated[
        str | None, typer.Option(help="A gold segmentation, or demo:en, demo:de, demo:nl.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="The order of the Rényi efficiency, above 0.")] = 2.5,
    list_: Annotated[
        str | None,
        typer.Option(
            "--list", help="Print the types behind a figure: never_used, unreachable, duplicates…"
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most this many in a list; 0 for all.")] = 50,
    as_json: JsonOption = False,
    signature_only: Annotated[
        bool, typer.Option("--signature-only", help="Print the signature and nothing else.")
    ] = False,
) -> None:
    """Measure vocabularies: useless types, compression of a corpus, morphs that are types."""
    from morphgraph.corpus.counting import parse_memory
    from morphgraph.score.vocabulary import NamedCounts, VocabularyHealth, check_alpha
    from morphgraph.score.vocabulary_figures import figure_called
    from morphgraph.tables.vocabulary import figure_table, signature, why_undefined

    check_alpha(alpha)
    if list_ is not None:
        figure = figure_called(list_)
        if not figure.has_list:
            raise MorphGraphError(f"There is no list behind “{figure.label}”. Use another --list.")
    segmenters = _segmenters(tokenizer or [], model or [])
    if corpus:
        if frequencies or reference or list_ is not None:
            raise MorphGraphError(
                "--corpus measures texts alone. Leave out --frequencies, --reference and --list."
            )
        options = {
            "column": column,
            "language_column": language_column,
            "parallel": parallel,
            "base": base,
            "unit": unit,
            "alpha": alpha,
            "memory": parse_memory(memory),
            "bad_lines": bad_lines,
        }
        measured = _measured(segmenters, corpus, options, (workers, scheduler))
        _print_measured(measured, limit, as_json, signature_only)
        return
    _only_of_a_corpus(column, language_column, parallel or None, base, unit, workers, scheduler)
    known = NamedCounts(word_counts(frequencies), frequencies) if frequencies else None
    gold = reading.read(reference) if reference else None
    with progress_bar("counting"):
        found = [
            VocabularyHealth(segmenter, known, gold, label=label)
            for label, segmenter in segmenters.items()
        ]
    if signature_only:
        print(signature(found, alpha))
    elif as_json:
        print_json(_report(found, alpha, list_, limit))
    else:
        if list_ is not None:
            _print_lists(found, list_, limit)
        else:
            print_model(figure_table(found, alpha))
            for why in why_undefined(found, alpha):
                print(f"n/a: {why}")
        print(signature(found, alpha))


def _only_of_a_corpus(*given: object) -> None:
    if any(option is not None for option in given):
        raise MorphGraphError(
            "--column, --language-column, --parallel, --base, --unit, --workers and --scheduler "
            "are for --corpus. Name its files with --corpus, or leave them out."
        )


def _measured(
    segmenters: "dict[str, Segmenter]",
    corpus: list[str],
    options: dict[str, Any],
    place: tuple[int | None, str | None],
) -> "CorpusMeasures":
    """Measure the corpus in this process, in several, or on a cluster."""
    from morphgraph.score.corpus_measures import measure_corpus

    workers, scheduler = place
    check_one_place(*place)
    if workers is not None and workers < 1:
        raise MorphGraphError(f"There cannot be {workers} workers. Give 1 or more.")
    with progress_line("measuring") as tell:
        options["progress"] = lambda share: tell(f"measuring: {share:.0%}", share)
        if (workers or 1) == 1 and scheduler is None:
            return measure_corpus(segmenters, corpus, **options)
        from morphgraph.batch.cluster import runner_on

        with cluster_for(workers or 1, scheduler)() as client:
            there = workers or max(1, len(client.scheduler_info(-1)["workers"]))
            run = runner_on(client)
            return measure_corpus(segmenters, corpus, run=run, workers=there, **options)


def _print_measured(
    measured: "CorpusMeasures", limit: int, as_json: bool, signature_only: bool
) -> None:
    from morphgraph.tables.vocabulary import UNITS, corpus_json, corpus_table, parity_table

    if measured.bad:
        print_message(f"left out: {counted(measured.bad, 'line')}")
        for line in measured.first_bad:
            print_message(f"  {line}")
    if signature_only:
        print(measured.signature)
        return
    if as_json:
        print_json(corpus_json(measured))
        return
    print_model(corpus_table(measured, limit or None))
    texts = len({one.text for one in measured.texts})
    if limit and texts > limit:
        print(f"{limit:,} of {counted(texts, measured.by)}; --limit 0 shows all")
    if measured.base is not None:
        print()
        print_model(parity_table(measured))
    print(UNITS[measured.unit])
    print(measured.signature)


def _segmenters(tokenizers: list[str], models: list[Path]) -> "dict[str, Segmenter]":
    """Return the segmenters to evaluate, by unique label."""
    from morphgraph.core.text import base_name
    from morphgraph.segment.models import load_segmenter

    sources = [
        *((base_name(source), source) for source in tokenizers),
        *((path.stem, str(path)) for path in models),
    ] or [("demo:en", "demo:en")]
    names = [name for name, _ in sources]
    labels = unique_labels([name if names.count(name) == 1 else source for name, source in sources])
    found = {}
    for label, (_, source) in zip(labels, sources, strict=True):
        found[label] = segmenter = load_segmenter(source)
        if segmenter.tokeniser is not None:
            warn(segmenter.tokeniser)
    return found


def _report(
    found: "list[VocabularyHealth]", alpha: float, list_: str | None, limit: int
) -> dict[str, Any]:
    from morphgraph.score.vocabulary_figures import list_behind
    from morphgraph.tables.vocabulary import figure_values, signature, values_json
    from morphgraph.tables.writing import whole

    tokenisers = []
    for health, values in zip(found, figure_values(found, alpha), strict=True):
        entry: dict[str, Any] = {
            "label": health.label,
            "signature": health.tokeniser_signature,
            "figures": values_json(values),
        }
        if list_ is not None:
            table = list_behind(health, list_)[: limit or None]
            rows = table.drop(columns="type_id").to_dict("records")
            entry["list"] = [
                {key: whole(cell) if isinstance(cell, float) else cell for key, cell in row.items()}
                for row in rows
            ]
        tokenisers.append(entry)
    return {"alpha": alpha, "tokenisers": tokenisers, "signature": signature(found, alpha)}


def _print_lists(found: "list[VocabularyHealth]", key: str, limit: int) -> None:
    from pandas.api.types import is_numeric_dtype

    from morphgraph.score.vocabulary_figures import list_behind

    for health in found:
        table = list_behind(health, key)
        shown = table[: limit or None].drop(columns="type_id")
        rows = [
            [count_text(cell) if isinstance(cell, float) else str(cell) for cell in row]
            for row in shown.itertuples(index=False)
        ]
        strings = {n for n, name in enumerate(shown) if not is_numeric_dtype(shown[name])}
        print(f"{health.label}: {len(shown):,} of {len(table):,}")
        if rows:
            print_table(list(shown.columns), rows, left=strings)
