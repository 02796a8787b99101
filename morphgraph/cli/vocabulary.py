"""The command that looks at vocabularies."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    EncodingOption,
    FormatOption,
    FrequenciesOption,
    JsonOption,
    read_reference_option,
    warn,
    word_counts,
)
from morphgraph.cli.output import print_json, print_model, print_table, progress_bar
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.vocabulary_health import VocabularyHealth
    from morphgraph.tokeniser.words import Segmenter


def vocabulary(
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
    reference: Annotated[
        str | None, typer.Option(help="A gold segmentation, or demo:en, demo:de, demo:nl.")
    ] = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
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
    """Look at vocabularies: types of no use, compression of a corpus, morphs that are types."""
    from morphgraph.score.compression import NamedCounts, check_alpha
    from morphgraph.score.vocabulary_figures import figure_called
    from morphgraph.score.vocabulary_health import VocabularyHealth
    from morphgraph.tables.vocabulary import signature

    check_alpha(alpha)
    if list_ is not None:
        figure = figure_called(list_)
        if not figure.has_list:
            raise MorphGraphError(f"There is no list behind “{figure.label}”. Use another --list.")
    segmenters = _segmenters(tokenizer or [], model or [])
    corpus = None
    if frequencies:
        corpus = NamedCounts(word_counts(frequencies), frequencies)
    gold = read_reference_option(reference, format_, encoding=encoding) if reference else None
    with progress_bar("counting"):
        found = [
            VocabularyHealth(segmenter, corpus, gold, label=label)
            for label, segmenter in segmenters.items()
        ]
    if signature_only:
        print(signature(found, alpha))
    elif as_json:
        print_json(_report(found, alpha, list_, limit))
    elif list_ is not None:
        _print_lists(found, list_, limit)
        print(signature(found, alpha))
    else:
        _print(found, alpha)


def _segmenters(tokenizers: list[str], models: list[Path]) -> "dict[str, Segmenter]":
    """What to look at, by a label that is nobody else's."""
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.models import load_segmenter
    from morphgraph.tokeniser.tokeniser import base_name

    listed: list[tuple[str, str, Segmenter]] = []
    sources = [
        *((base_name(source), source) for source in tokenizers),
        *((path.stem, str(path)) for path in models),
    ]
    for name, source in sources or [("demo:en", "demo:en")]:
        segmenter = load_segmenter(source)
        if isinstance(segmenter, Bte):
            warn(segmenter.tokeniser)
        listed.append((name, source, segmenter))
    names = [name for name, _, _ in listed]
    found: dict[str, Segmenter] = {}
    for name, source, segmenter in listed:
        label = name if names.count(name) == 1 else source
        while label in found:
            label += "′"
        found[label] = segmenter
    return found


def _report(
    found: "list[VocabularyHealth]", alpha: float, list_: str | None, limit: int
) -> dict[str, Any]:
    from morphgraph.score.vocabulary_lists import list_behind
    from morphgraph.tables.vocabulary import figure_values, signature, values_json

    tokenisers = []
    for health, values in zip(found, figure_values(found, alpha), strict=True):
        entry: dict[str, Any] = {
            "label": health.label,
            "signature": health.tokeniser_signature,
            "figures": values_json(values),
        }
        if list_ is not None:
            table = _limited(list_behind(health, list_), limit)
            entry["list"] = [
                {key: _plain(value) for key, value in row.items() if key != "type_id"}
                for row in table.to_dict("records")
            ]
        tokenisers.append(entry)
    return {"alpha": alpha, "tokenisers": tokenisers, "signature": signature(found, alpha)}


def _plain(value: Any) -> Any:
    """A cell as JSON: undefined values are null, whole numbers integers."""
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    return value


def _limited(table: "pd.DataFrame", limit: int) -> "pd.DataFrame":
    return table.head(limit) if limit else table


def _print(found: "list[VocabularyHealth]", alpha: float) -> None:
    from morphgraph.tables.vocabulary import figure_table, signature, why_undefined

    print_model(figure_table(found, alpha))
    for why in why_undefined(found, alpha):
        print(f"n/a: {why}")
    print(signature(found, alpha))


def _print_lists(found: "list[VocabularyHealth]", key: str, limit: int) -> None:
    from pandas.api.types import is_numeric_dtype

    from morphgraph.score.vocabulary_lists import list_behind

    for health in found:
        table = list_behind(health, key)
        shown = _limited(table, limit).drop(columns="type_id")
        rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False)]
        strings = {n for n, name in enumerate(shown) if not is_numeric_dtype(shown[name])}
        print(f"{health.label}: {len(shown):,} of {len(table):,}")
        if rows:
            print_table(list(shown.columns), rows, left=strings)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "n/a" if math.isnan(value) else f"{value:,.0f}"
    return str(value)
