"""The command that holds methods against each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    BareOption,
    Drawn,
    EncodingOption,
    FormatOption,
    FrequenciesOption,
    JoinOption,
    JsonOption,
    MethodsOption,
    ModelsOption,
    RecipeOption,
    ReferenceOption,
    SampleOption,
    SampleSeedOption,
    TokeniserOption,
    chosen_methods,
    labelled_models,
    load_edited,
    made_on,
    read_one_gold,
    word_counts,
)
from morphgraph.cli.output import print_json, print_model, print_table, progress_bar, write
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import apart

if TYPE_CHECKING:
    from morphgraph.score.comparison import Comparison


def compare(
    reference: ReferenceOption,
    methods: MethodsOption = "bpe",
    tokenizer: TokeniserOption = "demo:en",
    model: ModelsOption = None,
    recipe: RecipeOption = None,
    join: JoinOption = False,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    frequencies: FrequenciesOption = None,
    bare: BareOption = False,
    limit: Annotated[
        int, typer.Option(min=0, help="At most this many words of the reference; 0 for all.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Also write the words: .csv, .tex or .html.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare methods on the words of a reference: scores with intervals, and their agreement."""
    from morphgraph.score.comparison import Comparison

    if out is not None and out.suffix not in _ENDINGS:
        raise MorphGraphError(f"{out} has an unknown ending. Use .csv, .tex or .html.")
    loaded = load_edited(tokenizer, recipe)
    gold = read_one_gold(
        reference, format_, encoding=encoding, drawn=Drawn(join, sample, sample_seed)
    )
    counts = word_counts(frequencies) if frequencies else None
    named = []
    for method, given, label in chosen_methods(methods):
        if method.needs == "gold":
            raise MorphGraphError(
                f"{method.name} learns from the reference, so it would be compared on what it has "
                "seen. Use morphgraph score, which holds words out."
            )
        named.append((label, made_on(loaded, method, given, counts)))
    named += labelled_models(model or ())
    if not named:
        raise MorphGraphError("There is no method to compare. Name some with --methods.")
    entries = gold.entries[: limit or None]
    with progress_bar("comparing"):
        made = Comparison(
            [make() for _, make in named],
            [entry.word for entry in entries],
            [entry.morphs for entry in entries],
            labels=apart([label for label, _ in named]),
            bare=bare,
        )
        report = _report(made)
    if out is not None:
        write(out, _file(made, out.suffix))
    if as_json:
        print_json(report)
        return
    _print(made)
    if out is not None:
        print(f"saved {out}")


_ENDINGS = (".csv", ".tex", ".html")


def _file(made: "Comparison", ending: str) -> bytes:
    """The words as a file with one of the endings."""
    from morphgraph.tables.comparison import comparison_csv, comparison_html, comparison_latex

    if ending == ".csv":
        return comparison_csv(made, made.rows)
    if ending == ".tex":
        return comparison_latex(made, made.rows).encode()
    return comparison_html(made, made.rows, "Comparison of segmentations")


def _report(made: "Comparison") -> dict[str, Any]:
    from morphgraph.score.boundaries import or_none

    return {
        "methods": [
            {
                "label": found.label,
                "precision": or_none(found.precision),
                "recall": or_none(found.recall),
                "f1": or_none(found.f1),
                "f1_interval": [or_none(found.interval.low), or_none(found.interval.high)],
                "exact": or_none(found.exact),
                "tokens_per_word": or_none(found.fertility),
                "vocab_size": found.vocabulary_size,
                "signature": found.signature,
            }
            for found in made.summaries
        ],
        "signature": made.signature,
        "agreement": [[or_none(float(share)) for share in row] for row in made.agreement],
        "words": [
            {
                "word": row.text,
                "gold": list(row.gold) if row.gold is not None else None,
                "tokens": {
                    label: list(cell.tokens)
                    for label, cell in zip(made.labels, row.cells, strict=True)
                },
                "exact": {
                    label: cell.exact for label, cell in zip(made.labels, row.cells, strict=True)
                },
            }
            for row in made.rows
        ],
    }


def _print(made: "Comparison") -> None:
    from morphgraph.core.text import percent
    from morphgraph.tables.comparison import summary_table

    table = summary_table(made)
    print_model(table)
    print()
    alike = [
        [label, *(percent(share, 1) for share in shares)]
        for label, shares in zip(made.labels, made.agreement, strict=True)
    ]
    print_table(["cut alike, %", *made.labels], alike, left={0})
    print("\n".join(table.signatures))
