"""The composition of vocabularies, their types, and how well they compress a corpus."""

from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import base_name, counted, shortened, unique_labels
from morphgraph.draw.charts import card_bars, frequency_rank_lines, length_lines
from morphgraph.score import vocabulary_figures as figures
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.vocabulary import ALPHA, NamedCounts, VocabularyHealth, corpus_of
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.tables import vocabulary as tables
from morphgraph.tables.writing import frame_csv
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.edits import never_formed_note, open_in_graph
from web.inputs import frequency_choice, offer_frequencies
from web.state import Session
from web.views.corpus import model_rows, show_corpus_measures

_NOW, _START = "now", "before the edits"
_CARD = "vocabulary card"
_MOST = 6
# The width in pixels of the column of figures, which fits the longest name.
_NAMES = 240


class Card(NamedTuple):
    """A summary figure: its short name, its bars, and the figure whose types it lists."""

    title: str
    bars: str
    listed: str


CARDS = {
    "never_used": Card("Never used", "by length", "never_used"),
    "unreachable": Card("Unreachable", "by length", "unreachable"),
    "duplicates": Card("Duplicates", "by length", "duplicates"),
    "single_use_chains": Card("Single-use chains", "by links", "single_use_chains"),
    "fertility": Card("Fertility", "tokens by length", "tokens"),
    "renyi": Card("Rényi efficiency", "use by rank", "tokens"),
}
"""The figures that have a card."""


@st.fragment
def vocabulary_page(current: Session) -> None:
    """Show the page; a fragment, so that a choice redraws nothing else."""
    score_metrics(current, "vocabulary")
    cards, below = st.container(key="vocabulary-cards"), st.container()
    with cards:
        never_formed_note(current, partial(ui.set_value, _CARD, "never_formed"))
    with st.expander(
        "More: other tokenisers, word frequencies, all figures, charts",
        icon=":material/tune:",
        on_change="rerun",
        key="vocabulary more",
    ) as more:
        chosen, alpha = _choices(current)
        corpus = _corpus(current)
        if corpus is not None:
            name = ui.plain(shortened(base_name(corpus.name)))
            words = counted(len(corpus.counts), "different word")
            with st.popover(f"Word frequencies: {name}, {words}", icon=":material/bar_chart:"):
                frequency_choice(current)
    if chosen:

        def by_label() -> dict[str, Segmenter]:
            labels = unique_labels([_label(current, name) for name in chosen])
            made = [_segmenter(current, name) for name in chosen]
            return dict(zip(labels, made, strict=True))

        show_corpus_measures(current, by_label, alpha)
    model_rows(current, corpus)
    if not chosen:
        cards.info("Choose at least one tokeniser.")
        return
    with ui.attempt():
        healths = [_health(current, name, corpus) for name in chosen]
        # The figure whose types are listed: the chosen one, else one that is available.
        listed = str(
            ui.value_now(_CARD, "duplicates" if healths[0].corpus is None else "never_used")
        )
        with cards:
            number = _cards(current, healths, alpha, listed)
        with below:
            _types_behind(current, chosen[number], healths[number], listed)
        if more.open:
            with more:
                _table(healths, alpha)
                _charts(current, healths)
                st.code(tables.signature(healths, alpha), language=None, wrap_lines=True)
                ui.downloads(
                    {
                        "vocabulary.csv": lambda: tables.figures_csv(healths, alpha),
                        "vocabulary.tex": lambda: tables.figures_latex(healths, alpha),
                    }
                )


def _choices(current: Session) -> tuple[list[str], float]:
    edited = bool(current.study.graph.history)
    states = [_START, _NOW] if edited else [_NOW]
    names = [*states, *(f"model {name}" for name in current.models)]
    left, right = st.columns([6, 2])
    chosen = ui.choice(
        left.multiselect,
        "Tokenisers",
        names,
        key="vocabulary_tokenisers",
        first=states,
        format_func=lambda name: _label(current, name),
        max_selections=_MOST,
        help="The first is the baseline, the last has the cards. The open tokeniser, as it is "
        "before your edits if there are any, and models that you trained on the page Train or "
        "opened on the page Segmentations.",
    )
    how: dict[str, Any] = {
        "step": 0.5,
        "key": "vocabulary_alpha",
        "help": figures.figure_called("renyi").definition,
    }
    with ui.remembered(vocabulary_alpha=ALPHA):
        alpha = right.number_input("α of the Rényi efficiency", 0.01, 100.0, **how)
    return chosen, float(alpha)


def _label(current: Session, name: str) -> str:
    if name == _NOW:
        edited = " now" if current.study.graph.history else ""
        return shortened(base_name(current.study.tokeniser.name)) + edited
    return shortened(name.removeprefix("model "))


def _segmenter(current: Session, name: str) -> Segmenter:
    if name == _NOW:
        return method_on(current.study.tokeniser.copy(), "bpe")  # it is cached while edits continue
    if name == _START:
        return method_on(current.study.tokeniser.fork(), "bpe")
    return current.models[name.removeprefix("model ")]


def _corpus(current: Session) -> NamedCounts | None:
    benchmark = current.study.benchmark

    def make() -> NamedCounts | None:
        language = current.frequency_language
        return _corpus_of(language, benchmark) if language else corpus_of(benchmark)

    return current.once(("vocabulary corpus",), make, of_files=True)


@st.cache_resource(show_spinner=False, max_entries=4)
def _corpus_of(language: str, _benchmark: Benchmark) -> NamedCounts | None:
    return corpus_of(_benchmark)


def _health(current: Session, name: str, corpus: NamedCounts | None) -> VocabularyHealth:
    reference, label = current.study.benchmark.reference, _label(current, name)
    model = current.models.get(name.removeprefix("model ")) if name.startswith("model ") else None

    def make() -> VocabularyHealth:
        with st.spinner(f"Counting the tokens of {ui.plain(label)}…"):
            return VocabularyHealth(_segmenter(current, name), corpus, reference, label=label)

    return current.once(("vocabulary", name, label, Same(model)), make)


def _cards(current: Session, healths: list[VocabularyHealth], alpha: float, listed: str) -> int:
    if healths[0].corpus is None:
        offer_frequencies(current, "How types are used is counted by")
    number = len(healths) - 1
    if len(healths) > 2:
        number = st.selectbox(
            "Of",
            range(len(healths)),
            index=number,
            format_func=lambda n: healths[n].label,
            key=f"vocabulary of {len(healths)}",
        )
    values = tables.figure_values(healths, alpha)
    for place, (key, card) in zip(st.columns(len(CARDS)), CARDS.items(), strict=True):
        with place, st.container(border=True, key=f"vocabulary-card-{key}", height="stretch"):
            _card(card, healths[number], key, values[number][key], values[0][key])
            st.button(
                "Listed below" if key == listed else "List the types",
                key=f"list {key}",
                type="secondary" if key == listed else "tertiary",
                on_click=ui.set_value,
                args=(_CARD, key),
            )
    warning = figures.case_warning(healths)
    if warning:
        st.warning(ui.plain(warning), icon=":material/match_case:")
    return number


def _card(
    card: Card,
    health: VocabularyHealth,
    key: str,
    value: figures.FigureValue,
    before: figures.FigureValue,
) -> None:
    figure = figures.figure_called(key)
    gain = value.number - before.number
    bars = card_bars(health, key)
    st.metric(
        card.title,
        tables.figure_text(figure, value),
        delta=f"{gain:+,.{0 if figure.form == 'count' else 3}f}" if gain and gain == gain else None,
        delta_color="off",
        help=f"{ui.plain(figure.definition)} Bars: {card.bars}.",
        height="stretch",
        chart_data=bars or None,
        chart_type="bar",
    )


def _types_behind(current: Session, name: str, health: VocabularyHealth, listed: str) -> None:
    figure = figures.figure_called(listed)
    card = CARDS.get(listed) or Card(figure.label, "", listed)
    key = card.listed
    table = current.once(
        ("vocabulary list", key, Same(health)), lambda: figures.list_behind(health, key)
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        what = "types by use" if key != listed else counted(len(table), "row")
        st.subheader(f"{card.title}: {what}", anchor=False)
        wanted = st.text_input(
            "Search",
            key="vocabulary search",
            placeholder="Part of a type",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        shown = figures.matching(table, wanted)

        def csv() -> bytes:
            return frame_csv(shown.drop(columns="type_id"))

        ui.download("CSV", csv, f"{key}.csv", key="vocabulary list csv")
    st.caption(ui.plain(figure.definition))
    if not len(shown):
        st.caption("No type matches." if len(table) else "There are none.")
        return
    columns = [name for name in shown.columns if name != "type_id"]
    is_number = pd.api.types.is_numeric_dtype
    numbers = [n for n in columns if is_number(shown[n]) and shown[n].dtype != bool]
    row = ui.chosen_row(
        shown,
        420,
        key=f"vocabulary list {key} {wanted} {health.tokeniser_signature} {current.study_number}",
        column_order=columns,
        column_config={name: ui.NUMBER(name, format="localized") for name in numbers},
    )
    of = f"{len(shown):,} of " if len(shown) < len(table) else ""
    st.caption(f"{of}{counted(len(table), 'row')}. Choose a row to see its type in the graph.")
    if row is not None and name in (_NOW, _START):
        _offer(current, health, int(shown.iloc[row]["type_id"]))


def _table(healths: list[VocabularyHealth], alpha: float) -> None:
    frame = tables.figure_frame(healths, alpha)
    # Widths are measured on first drawing, so other columns need another key.
    shape = [(health.label, health.tokeniser_signature) for health in healths]
    key = f"vocabulary table {shape} {bool(healths[0].corpus)}"

    def choose() -> None:
        rows = st.session_state[key].selection.rows
        if rows and figures.FIGURES[rows[0]].has_list:
            ui.set_value(_CARD, figures.FIGURES[rows[0]].key)

    config = {"figure": ui.TEXT("figure", pinned=True, width=_NAMES)}
    for number, health in enumerate(healths):
        width = ui.width_of([health.label[:24], *frame[number]])
        config[str(number)] = ui.TEXT(health.label, alignment="right", width=width)
    ui.show_table(
        frame.rename(columns=str),
        height=ui.table_height(len(frame)),
        key=key,
        on_select=choose,
        selection_mode="single-row",
        column_config=config,
    )
    undefined = tables.why_undefined(healths, alpha)
    if undefined:
        st.caption("n/a: " + " ".join(ui.plain(why) for why in undefined))


def _offer(current: Session, health: VocabularyHealth, listed: int) -> None:
    """Offer to open the chosen type in the graph; the list may be of a copy of it."""
    graph, tokeniser = current.study.graph, health.segmenter.tokeniser
    number = -1
    if tokeniser is not None and listed >= 0:
        number = graph.ids.get(tokeniser.graph.types[listed], -1)
    if number < 0 or not graph.is_present(number):
        st.caption("The open tokeniser has no such type now.")
        return
    left, right = st.columns([5, 4], vertical_alignment="center")
    left.write(ui.code(shortened(current.study.tokeniser.readable_types[number], 60)))
    how: dict[str, Any] = {"key": f"show type {number}", "width": "stretch"}
    if right.button("Show it in the graph", icon=":material/hub:", **how):
        open_in_graph(current, number)


def _charts(current: Session, healths: list[VocabularyHealth]) -> None:
    ids = tuple(map(Same, healths))
    names = [health.label for health in healths]
    labels = [name + "′" * names[:number].count(name) for number, name in enumerate(names)]

    def lines(draw: Any, values: list[Any]) -> Any:
        return draw(dict(zip(labels, values, strict=True)))

    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How often types are used", anchor=False)
        if healths[0].compression is None:
            st.caption("n/a: there is no corpus.")
        else:
            key = ("vocabulary ranks", ids)
            ranks = [health.frequency_rank for health in healths]
            figure = current.once(key, lambda: lines(frequency_rank_lines, [of() for of in ranks]))
            st.plotly_chart(figure, key="frequency rank")
    with right:
        st.subheader("How long types are", anchor=False)
        key = ("vocabulary lengths", ids)
        figure = current.once(key, lambda: lines(length_lines, [h.lengths() for h in healths]))
        st.plotly_chart(figure, key="type lengths")


vocabulary_page(start("Vocabulary"))
