"""The command that compares methods."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    BareOption,
    FrequenciesOption,
    GoldOptions,
    JsonOption,
    MethodsOption,
    ModelsOption,
    RecipeOption,
    TokeniserOption,
    load_edited,
    methods_on,
    models_of,
    with_options,
    word_counts,
)
from morphgraph.cli.output import (
    check_ending,
    print_json,
    print_model,
    print_table,
    progress_bar,
    write,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import percent, unique_labels

if TYPE_CHECKING:
    from morphgraph.score.comparison import Comparison


@with_options
def compare(
    golds: GoldOptions,
    methods: MethodsOption = "bpe",
    tokenizer: TokeniserOption = "demo:en",
    model: ModelsOption = None,
    recipe: RecipeOption = None,
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
    from morphgraph.tables.scores import comparison_csv, comparison_html, comparison_latex

    writers: dict[str, Any] = {
        ".csv": comparison_csv,
        ".tex": comparison_latex,
        ".html": comparison_html,
    }
    check_ending(out, *writers)
    loaded = load_edited(tokenizer, recipe)
    entries = golds.gold().entries[: limit or None]
    counts = word_counts(frequencies) if frequencies else None
    entrants = [*methods_on(loaded, methods, counts), *models_of(model or ())]
    if not entrants:
        raise MorphGraphError("There is no method to compare. Name some with --methods.")
    segmenters: list[Any] = []
    for each in entrants:
        if each.learner is not None:
            raise MorphGraphError(
                f"{each.learner.method.name} learns from the reference, so it would be compared on "
                "what it has seen. Use morphgraph score, which holds words out."
            )
        segmenters.append(each.made() if callable(each.made) else each.made)
    with progress_bar("comparing"):
        made = Comparison(
            segmenters,
            [entry.word for entry in entries],
            [entry.morphs for entry in entries],
            labels=unique_labels([each.label for each in entrants]),
            bare=bare,
        )
        report = _report(made)
    if out is not None:
        write(out, writers[out.suffix](made, made.rows))
    if as_json:
        print_json(report)
        return
    _print(made)
    if out is not None:
        print(f"saved {out}")


def _report(made: "Comparison") -> dict[str, Any]:
    return {
        "methods": [
            {
                "label": found.label,
                "precision": found.precision,
                "recall": found.recall,
                "f1": found.f1,
                "f1_interval": [found.interval.low, found.interval.high],
                "exact": found.exact,
                "tokens_per_word": found.fertility,
                "vocab_size": found.vocabulary_size,
                "signature": found.signature,
            }
            for found in made.summaries
        ],
        "signature": made.signature,
        "agreement": made.agreement.tolist(),
        "words": [
            {
                "word": row.text,
                "gold": row.gold,
                "tokens": dict(zip(made.labels, (c.tokens for c in row.cells), strict=True)),
                "exact": dict(zip(made.labels, (c.exact for c in row.cells), strict=True)),
            }
            for row in made.rows
        ],
    }


def _print(made: "Comparison") -> None:
    from morphgraph.tables.scores import summary_table

    table = summary_table(made)
    print_model(table)
    print()
    alike = [
        [label, *(percent(share, 1) for share in shares)]
        for label, shares in zip(made.labels, made.agreement, strict=True)
    ]
    print_table(["cut alike, %", *made.labels], alike, left={0})
    print("\n".join(table.signatures))
