"""The command that scores tokenisers against references."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    BareOption,
    FirstOption,
    ForeignOption,
    FormatOption,
    FrequenciesOption,
    JsonOption,
    MethodsOption,
    ModelsOption,
    RecipeOption,
    TokeniserOption,
    labelled_segmenters,
    load_edited,
    one_of,
    read_gold,
    word_counts,
)
from morphgraph.cli.output import print_json, print_scores, print_skipped, print_table, write
from morphgraph.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.evaluate.breakdown import Breakdown
    from morphgraph.evaluate.flota_scores import FlotaScores
    from morphgraph.evaluate.score_table import Estimate, ScoreTable
    from morphgraph.evaluate.yardstick import Yardstick
    from morphgraph.files import Tokeniser


def score(
    tokenizer: TokeniserOption,
    reference: Annotated[
        list[str],
        typer.Option(
            help="A gold segmentation, demo:en, demo:de, demo:nl, or catalogue:NAME; may be "
            "repeated."
        ),
    ],
    methods: MethodsOption = "bpe",
    model: ModelsOption = None,
    recipe: RecipeOption = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="Which scores, separated by commas: names or groups, or all. "
            "--scores help lists them."
        ),
    ] = None,
    scope: Annotated[str, typer.Option(help="morphemic, whole-word or both.")] = "both",
    weighting: Annotated[str, typer.Option(help="Over types, tokens or both.")] = "both",
    ideal: Annotated[bool, typer.Option("--ideal", help="Add the gold as a tokeniser.")] = False,
    baseline: Annotated[
        int, typer.Option(min=0, help="Test all others against this one, from 1; 0 for none.")
    ] = 1,
    resamples: Annotated[
        int, typer.Option(min=0, max=100_000, help="For intervals; 0 for none.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="For intervals and tests.")] = 0,
    by: Annotated[
        str | None,
        typer.Option(
            help="Break the first score down by boundaries, affixes, formation, length, frequency "
            "or morphs."
        ),
    ] = None,
    flota: Annotated[
        bool, typer.Option("--flota", help="FLOTA's coverage, stem recall and full match too.")
    ] = False,
    format_: FormatOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Also write the tables: .csv, .tex or .md.")
    ] = None,
    signature_only: Annotated[
        bool, typer.Option("--signature-only", help="Print signatures, compute no scores.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Score tokenisers against references, with intervals, tests and signatures."""
    from morphgraph.evaluate.metrics import USUAL, check_metrics
    from morphgraph.evaluate.outcome import ideal as ideal_of
    from morphgraph.evaluate.score_table import ScoreTable, outcomes_of
    from morphgraph.evaluate.yardstick import SCOPES, WEIGHTINGS, Yardstick

    if scores == "help":
        _list_scores()
        return
    if out is not None and out.suffix not in _WRITERS:
        raise MorphGraphError(f"{out} is of no kind that is known. Use .csv, .tex or .md.")
    chosen = check_metrics(scores.split(",")) if scores else USUAL
    asked_scope = one_of(scope, "--scope", (*SCOPES, "both"))
    scopes = SCOPES if asked_scope == "both" else (asked_scope,)
    loaded = load_edited(tokenizer, recipe)
    counts = word_counts(frequencies) if frequencies else None
    named = labelled_segmenters(loaded, methods, model or (), counts)
    if baseline > len(named):
        raise MorphGraphError(f"--baseline {baseline}: there are {len(named)} tokenisers.")
    known = dict(counts.items()) if counts is not None else None
    yardsticks = []
    tables = []
    for source in reference:
        gold = read_gold(source, format_, include_foreign)
        gold = gold.first_analyses() if first_analysis else gold
        yardstick = Yardstick.of(gold, known, frequencies or "", bare=bare)
        yardsticks.append(yardstick)
        weightings = _weightings(weighting, yardstick, WEIGHTINGS)
        outcomes = outcomes_of(named, yardstick)
        if ideal:
            outcomes.append(ideal_of(yardstick))
        tables += [
            ScoreTable(
                outcomes,
                one_scope,
                over,
                chosen,
                baseline=baseline - 1 if baseline and len(outcomes) > 1 else None,
                resamples=resamples,
                seed=seed,
            )
            for one_scope in scopes
            if yardstick.has_gold(one_scope).any() or one_scope == scope
            for over in weightings
        ]
    if signature_only:
        for table in tables:
            for number in range(len(table.outcomes)):
                print(table.signature_of(number))
        return
    if out is not None:
        write(out, _WRITERS[out.suffix](tables))
    found = _flota_scores(loaded, yardsticks) if flota else []
    broken = [_broken_down(table, by) for table in tables] if by is not None else []
    if as_json:
        report = _report(loaded, yardsticks[0], tables)
        if flota:
            report["flota"] = [_flota_report(each) for each in found]
        if by is not None:
            report["breakdowns"] = [_breakdown_report(each) for each in broken]
        print_json(report)
        return
    if len(named) == 1 and len(yardsticks) == 1 and scores is None:
        print_scores(_boundary_scores(loaded, yardsticks[0])[0])
    for yardstick in yardsticks:
        print_skipped({skip.reason: skip.count for skip in yardstick.reference.skipped})
    for table in tables:
        _print(table)
    for part in broken:
        _print_breakdown(part)
    for each in found:
        _print_flota(each)
    if out is not None:
        print(f"saved {out}")


def _weightings(asked: str, yardstick: "Yardstick", every: tuple[Any, ...]) -> tuple[Any, ...]:
    chosen = one_of(asked, "--weighting", (*every, "both"))
    if chosen == "both":
        return yardstick.weightings
    yardstick.weights(chosen)  # fails if there are no frequencies
    return (chosen,)


def _list_scores() -> None:
    from morphgraph.evaluate.metrics import METRICS

    rows = [[metric.group, name, metric.meaning] for name, metric in METRICS.items()]
    print_table(["group", "score", "meaning"], rows, left={0, 1, 2})


def _print(table: "ScoreTable") -> None:
    from morphgraph.evaluate.metrics import METRICS
    from morphgraph.evaluate.outcome import Outcome

    yardstick = table.yardstick
    if yardstick is not None:
        print(f"\n{yardstick.reference.name}: {table.scope} over {table.weighting}")
    header = ["tokeniser"] + [
        f"{METRICS[name].title}{' %' * (METRICS[name].unit == '%')}" for name in table.metrics
    ]
    rows = []
    for outcome, found in zip(table.outcomes, table.estimates, strict=True):
        cells = [outcome.label]
        for name in table.metrics if found is not None else ():
            cells.append(_estimate_text(name, found[name]))  # type: ignore[index]
        if not isinstance(outcome, Outcome):
            cells += ["failed", *[""] * (len(table.metrics) - 1)]
            print(f"{outcome.label}: {outcome.message}")
        rows.append(cells)
    print_table(header, rows, left={0})
    print(table.signature)


def _boundary_scores(loaded: "Tokeniser", yardstick: "Yardstick") -> tuple[Any, Any]:
    from morphgraph.evaluate.boundaries import Benchmark
    from morphgraph.segment import segment

    benchmark = Benchmark.on(yardstick, loaded)
    return benchmark.scores(segment(loaded.graph, benchmark.words)), benchmark


def _report(
    loaded: "Tokeniser", yardstick: "Yardstick", tables: "list[ScoreTable]"
) -> dict[str, Any]:
    from morphgraph.refine.knockout import score_report

    scores, benchmark = _boundary_scores(loaded, yardstick)
    report = dict(score_report(benchmark, scores, benchmark.signature(loaded)))
    report["tables"] = [_table_report(table) for table in tables]
    return report


def _table_report(table: "ScoreTable") -> dict[str, Any]:
    from morphgraph.evaluate.outcome import Outcome

    rows: list[dict[str, Any]] = []
    for number, (outcome, found) in enumerate(zip(table.outcomes, table.estimates, strict=True)):
        row: dict[str, Any] = {"tokeniser": outcome.label, "error": None}
        if isinstance(outcome, Outcome) and found is not None:
            row["vocab_size"] = outcome.vocabulary_size
            row["scores"] = {name: _estimate_report(estimate) for name, estimate in found.items()}
        else:
            row["error"] = getattr(outcome, "message", "")
        row["signature"] = table.signature_of(number)
        rows.append(row)
    yardstick = table.yardstick
    return {
        "reference": yardstick.reference.name if yardstick else None,
        "scope": table.scope,
        "weighting": table.weighting,
        "rows": rows,
        "signature": table.signature,
    }


def _broken_down(table: "ScoreTable", by: str) -> "Breakdown":
    from morphgraph.evaluate.breakdown import break_down
    from morphgraph.evaluate.outcome import Outcome

    outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
    if by == "frequency" and table.yardstick is not None and table.yardstick.frequencies is None:
        raise MorphGraphError("--by frequency needs --frequencies, or counts in the reference.")
    return break_down(outcomes, by, table.metrics[0], table.scope, table.weighting)


def _breakdown_report(found: "Breakdown") -> dict[str, Any]:
    rows = [
        {
            "tokeniser": label,
            "group": group.name,
            found.counted: group.size,
            **_estimate_report(estimate),
        }
        for number, label in enumerate(found.labels)
        for group, estimate in zip(found.rows[number], found.estimates(number), strict=True)
    ]
    return {"by": found.by, "score": found.metric, "rows": rows, "signature": found.signature}


def _print_breakdown(found: "Breakdown") -> None:
    from morphgraph.evaluate.breakdown import BREAKDOWNS
    from morphgraph.evaluate.metrics import METRICS

    metric = METRICS[found.metric]
    print(f"\n{metric.title}{' %' * (metric.unit == '%')} by {BREAKDOWNS[found.by].lower()}")
    rows = [
        [
            group.name,
            f"{group.size:,}",
            *(
                _estimate_text(found.metric, found.estimates(number)[place])
                for number in range(len(found.labels))
            ),
        ]
        for place, group in enumerate(found.groups)
    ]
    print_table(["group", found.counted, *found.labels], rows, left={0})
    print(found.signature)


def _estimate_text(name: str, estimate: "Estimate") -> str:
    from morphgraph.evaluate.score_files import score_text

    half = (estimate.interval.high - estimate.interval.low) / 2
    spread = f" ±{score_text(name, half)}" if half == half else ""
    return f"{score_text(name, estimate.value)}{spread}{estimate.mark}"


def _estimate_report(estimate: "Estimate") -> dict[str, Any]:
    from morphgraph.evaluate.boundaries import or_none

    return {
        "value": or_none(estimate.value),
        "interval": [or_none(estimate.interval.low), or_none(estimate.interval.high)],
        "p": or_none(estimate.p),
    }


def _flota_scores(loaded: "Tokeniser", yardsticks: "list[Yardstick]") -> "list[FlotaScores]":
    from morphgraph.evaluate.flota_scores import flota_scores, standard_segmenter
    from morphgraph.files.vocabularies import vocabulary_of

    vocabulary, standard = vocabulary_of(loaded), standard_segmenter(loaded)
    return [flota_scores(vocabulary, each.reference, standard) for each in yardsticks]


def _flota_report(found: "FlotaScores") -> dict[str, Any]:
    rows = [
        {key: None if value != value else value for key, value in row.items()}
        for row in found.rows()
    ]
    return {"rows": rows, "signature": found.signature}


def _print_flota(found: "FlotaScores") -> None:
    from morphgraph.evaluate.tables import count, percent

    rows = [
        [
            each.method,
            "∞" if each.k is None else str(each.k),
            *map(percent, (each.coverage, each.stem_recall, each.full_match)),
            count(each.entries),
            count(each.entries_with_stem),
        ]
        for each in found.scores
    ]
    print()
    header = ["method", "k", "coverage %", "stem recall %", "full match %", "words", "with a stem"]
    print_table(header, rows, left={0})
    print(found.signature)


def _csv(tables: "list[ScoreTable]") -> bytes:
    from morphgraph.evaluate.score_files import scores_csv

    return scores_csv(tables)


def _latex(tables: "list[ScoreTable]") -> bytes:
    from morphgraph.evaluate.score_files import scores_latex

    return scores_latex(tables).encode()


def _markdown(tables: "list[ScoreTable]") -> bytes:
    from morphgraph.evaluate.score_files import scores_markdown

    return scores_markdown(tables).encode()


_WRITERS = {".csv": _csv, ".tex": _latex, ".md": _markdown}
