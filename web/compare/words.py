"""The view of words: one grid of methods and their figures, with the words below them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.score.comparison import Comparison
from morphgraph.tables.model import HELD_IN, Table
from morphgraph.tables.scores import scores_table, words_table
from web import choosing
from web import widgets as ui
from web.choosing import PickedMethod
from web.compare import cell
from web.compare.figures import MethodScores, figures, heads
from web.compare.rows import rows_of_reference, seen_words, type_words, typed_rows, typed_words
from web.components import comparison_grid
from web.state import Session

_PAGE = 50


def words_view(
    current: Session,
    compared: MethodScores,
    pending: Sequence[PickedMethod],
    texts: Sequence[str],
    way: str,
    count: DeltaGenerator,
    table: DeltaGenerator,
) -> None:
    """Show the grid; ``count``: where it says how many rows; ``table``: where files are."""
    comparison, places = compared.comparison, list[int | None](range(len(compared.picked)))
    if texts:
        comparison, places = typed_rows(current, compared, texts)
        numbers = list(range(len(texts)))
    else:
        methods = [one.name for one in (*compared.picked, *pending)]
        numbers, caption = rows_of_reference(current, compared, way, methods)
        count.caption(caption)
    grid = st.container()
    page = ui.one_page(numbers, _PAGE, "compare page")
    shown = [(number, comparison.row(number)) for number in page]
    columns = [places[place] for place in compared.order]

    def choose(row: int, column: int) -> None:
        if row < len(comparison.texts) and column < len(compared.order):
            label = compared.labels[compared.order[column]]
            ui.open_dialog("Compare", "cell", comparison.texts[row], label)

    seen = seen_words(current, compared, texts)
    chosen = _chosen(comparison)
    marked = chosen and (chosen[0], columns.index(chosen[1]))
    with grid:
        comparison_grid(
            heads(compared, pending),
            figures(compared, len(pending)),
            shown,
            [*columns, *(None for _ in pending)],
            key="comparison",
            typed=typed_words(),
            said=_said(compared),
            notes=dict.fromkeys(seen, HELD_IN),
            chosen=marked,
            on_choose=choose,
            on_ask=_asked,
        )
    with table:
        _downloads(compared, comparison, numbers)
    if chosen is not None:
        row, column = chosen
        outcome = comparison.outcomes[column]
        cell.explain(current, outcome, comparison.row(row), column)


def _asked(what: str, given: list[Any]) -> None:
    """Do what the grid asked for."""
    match what, given:
        case "words", [str() as text]:
            type_words(text)
        case "set", [str() as name, str() as key, bool() | int() | float() as value]:
            choosing.set_field(name, key, value)
        case "base", [str() as name]:
            choosing.use_as_baseline(name)
        case "drop", [str() as name]:
            choosing.drop_method(name)


def _chosen(comparison: Comparison) -> tuple[int, int] | None:
    """Return the present position of the clicked word and method, None if one is gone."""
    text, label = ui.dialog_now("Compare", "cell") or (None, None)
    if text not in comparison.texts or label not in comparison.labels:
        return None
    return comparison.texts.index(text), comparison.labels.index(label)


def _said(compared: MethodScores) -> str:
    """Say what the figures are over, and what their marks mean."""
    if not compared.has_gold:
        return f"Tokens per word over {compared.which}, whatever rows are shown."
    learned = "; methods that learn have not seen them" if compared.scored.drawn else ""
    caption = f"Figures are over {compared.which}{learned}, whatever rows are shown."
    if len(compared.picked) > 1:
        baseline = compared.labels[compared.baseline]
        caption += (
            f" *** differs from {baseline} with p < 0.001 (** 0.01, * 0.05); n.s.: not significant."
        )
    return caption


def _downloads(compared: MethodScores, comparison: Comparison, numbers: Sequence[int]) -> None:
    """Offer the figures and the words of the grid as files."""
    if compared.has_gold:
        st.markdown("**Figures** with intervals, p-values and signatures")
        make = partial(scores_table, [compared.table])
        ui.table_downloads(make, "scores", "A row for each method.")
    st.markdown("**Words**: all rows of the grid")

    def words() -> Table:
        return words_table(comparison, list(map(comparison.row, numbers)))

    ui.table_downloads(words, "comparison", "A row for each word.")
    signature = compared.table.signature if compared.has_gold else comparison.signature
    st.code(signature, language=None, wrap_lines=True)
