"""The composition of vocabularies, their types, and how well they compress a corpus."""

from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import base_name, counted, shortened, unique_labels
from morphgraph.draw.charts import card_bars, frequency_rank_lines, length_lines
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.vocabulary import ALPHA, NamedCounts, VocabularyHealth, corpus_of
from morphgraph.score.vocabulary_figures import (
    FIGURES,
    FigureValue,
    case_warning,
    figure_called,
    list_behind,
    matching,
)
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.tables.vocabulary import (
    figure_frame,
    figure_text,
    figure_values,
    figures_csv,
    figures_latex,
    signature,
    why_undefined,
)
from morphgraph.tables.writing import frame_csv
from web.bootstrap import start
from web.edits import look_at, never_formed_note
from web.inputs import frequency_choice, offer_frequencies
from web.scoreboard import score_metrics
from web.state import Session
from web.text import code, plain
from web.views.corpus import show_corpus_measures
from web.views.model_rows import model_rows
from web.widgets import (
    attempt,
    choice,
    chosen_row,
    download,
    downloads,
    remembered,
    set_value,
    show_table,
    table_height,
    value_now,
    width_of,
)

_NOW, _START = "now", "before the edits"
_CARD = "vocabulary card"
_MOST = 6
# The width in pixels of the column of figures, which fits the longest name.
_NAMES = 240


@dataclass(frozen=True)
class Card:
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
        never_formed_note(current, partial(set_value, _CARD, "never_formed"))
    with st.expander(
        "More: other tokenisers, word frequencies, all figures, charts",
        icon=":material/tune:",
        on_change="rerun",
        key="vocabulary more",
    ) as more:
        chosen, alpha = _choices(current)
        corpus = _corpus(current)
        _frequencies(current, corpus)
    if chosen:
        show_corpus_measures(current, lambda: _by_label(current, chosen), alpha)
    model_rows(current, corpus)
    if not chosen:
        cards.info("Choose at least one tokeniser.")
        return
    with attempt():
        healths = [_health(current, name, corpus) for name in chosen]
        with cards:
            listed = _listed(healths)
            number = _cards(current, healths, alpha, listed)
        with below:
            _types_behind(current, chosen[number], healths[number], listed)
        if more.open:
            with more:
                _table(healths, alpha)
                _charts(current, healths)
                st.code(signature(healths, alpha), language=None, wrap_lines=True)
                downloads(
                    {
                        "vocabulary.csv": lambda: figures_csv(healths, alpha),
                        "vocabulary.tex": lambda: figures_latex(healths, alpha),
                    }
                )


# ------------------------------------------------------------------------------------- choices


def _choices(current: Session) -> tuple[list[str], float]:
    """Return the chosen tokenisers by name, and α."""
    edited = bool(current.study.graph.history)
    states = [_START, _NOW] if edited else [_NOW]
    names = [*states, *(f"model {name}" for name in current.models)]
    left, right = st.columns([6, 2])
    chosen = choice(
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
    with remembered(vocabulary_alpha=ALPHA):
        alpha = right.number_input(
            "α of the Rényi efficiency",
            0.01,
            100.0,
            step=0.5,
            key="vocabulary_alpha",
            help=figure_called("renyi").definition,
        )
    return chosen, float(alpha)


def _label(current: Session, name: str) -> str:
    """Return the name of a tokeniser in tables."""
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


def _by_label(current: Session, chosen: list[str]) -> dict[str, Segmenter]:
    """Return the chosen tokenisers by unique labels."""
    labels = unique_labels([_label(current, name) for name in chosen])
    return {label: _segmenter(current, name) for label, name in zip(labels, chosen, strict=True)}


def _corpus(current: Session) -> NamedCounts | None:
    """Return the words that are counted: the frequencies of the open reference."""
    benchmark = current.study.benchmark

    def make() -> NamedCounts | None:
        language = current.frequency_language
        return _corpus_of(language, benchmark) if language else corpus_of(benchmark)

    return current.once(("vocabulary corpus",), make, of_files=True)


@st.cache_resource(show_spinner=False, max_entries=4)
def _corpus_of(language: str, _benchmark: Benchmark) -> NamedCounts | None:
    return corpus_of(_benchmark)


def _health(current: Session, name: str, corpus: NamedCounts | None) -> VocabularyHealth:
    """Return a vocabulary's figures, computed once for each of its states."""
    study = current.study
    model = current.models.get(name.removeprefix("model ")) if name.startswith("model ") else None
    label = _label(current, name)

    def make() -> VocabularyHealth:
        with st.spinner(f"Counting the tokens of {plain(label)}…"):
            return VocabularyHealth(
                _segmenter(current, name), corpus, study.benchmark.reference, label=label
            )

    return current.once(("vocabulary", name, label, Same(model)), make)


def _frequencies(current: Session, corpus: NamedCounts | None) -> None:
    """Choose other word frequencies; if there are none, above the cards."""
    if corpus is None:
        return
    name = plain(shortened(base_name(corpus.name)))
    title = f"Word frequencies: {name}, {counted(len(corpus.counts), 'different word')}"
    with st.popover(title, icon=":material/bar_chart:"):
        frequency_choice(current)


# ------------------------------------------------------------------------------------- figures


def _listed(healths: list[VocabularyHealth]) -> str:
    """Return the figure whose types are listed: the chosen one, else one that is available."""
    first = "duplicates" if healths[0].corpus is None else "never_used"
    return str(value_now(_CARD, first))


def _cards(current: Session, healths: list[VocabularyHealth], alpha: float, listed: str) -> int:
    """Show a card for each summary figure; return the number of the tokeniser shown."""
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
    values = figure_values(healths, alpha)
    for place, (key, card) in zip(st.columns(len(CARDS)), CARDS.items(), strict=True):
        with place, st.container(border=True, key=f"vocabulary-card-{key}", height="stretch"):
            _card(card, healths[number], key, values[number][key], values[0][key])
            st.button(
                "Listed below" if key == listed else "List the types",
                key=f"list {key}",
                type="secondary" if key == listed else "tertiary",
                on_click=set_value,
                args=(_CARD, key),
            )
    warning = case_warning(healths)
    if warning:
        st.warning(plain(warning), icon=":material/match_case:")
    return number


def _card(
    card: Card, health: VocabularyHealth, key: str, value: FigureValue, before: FigureValue
) -> None:
    figure = figure_called(key)
    gain = value.number - before.number
    bars = card_bars(health, key)
    st.metric(
        card.title,
        figure_text(figure, value),
        delta=f"{gain:+,.{0 if figure.form == 'count' else 3}f}" if gain and gain == gain else None,
        delta_color="off",
        help=f"{plain(figure.definition)} Bars: {card.bars}.",
        height="stretch",
        chart_data=bars or None,
        chart_type="bar",
    )


def _types_behind(current: Session, name: str, health: VocabularyHealth, listed: str) -> None:
    """List the types behind the chosen figure."""
    figure = figure_called(listed)
    card = CARDS.get(listed) or Card(figure.label, "", listed)
    key = card.listed
    table = current.once(("vocabulary list", key, Same(health)), lambda: list_behind(health, key))
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
        shown = matching(table, wanted)
        download(
            "CSV",
            lambda: frame_csv(shown.drop(columns="type_id")),
            f"{key}.csv",
            key="vocabulary list csv",
        )
    st.caption(plain(figure.definition))
    if not len(shown):
        st.caption("No type matches." if len(table) else "There are none.")
        return
    row = chosen_row(
        shown,
        420,
        key=f"vocabulary list {key} {wanted} {health.tokeniser_signature} {current.study_number}",
        column_order=[name for name in shown.columns if name != "type_id"],
        column_config={
            name: st.column_config.NumberColumn(name, format="localized")
            for name in shown.columns
            if pd.api.types.is_numeric_dtype(shown[name]) and shown[name].dtype != bool
        },
    )
    of = f"{len(shown):,} of " if len(shown) < len(table) else ""
    st.caption(f"{of}{counted(len(table), 'row')}. Choose a row to see its type in the graph.")
    if row is not None and name in (_NOW, _START):
        _offer(current, _number_of(current, health, int(shown.iloc[row]["type_id"])))


def _table(healths: list[VocabularyHealth], alpha: float) -> None:
    """Show all figures by tokeniser; a click on a row lists the types behind it."""
    frame = figure_frame(healths, alpha)
    # Widths are measured on first drawing, so other columns need another key.
    shape = [(health.label, health.tokeniser_signature) for health in healths]
    key = f"vocabulary table {shape} {bool(healths[0].corpus)}"

    def choose() -> None:
        rows = st.session_state[key].selection.rows
        if rows and FIGURES[rows[0]].has_list:
            set_value(_CARD, FIGURES[rows[0]].key)

    show_table(
        frame.rename(columns=str),
        height=table_height(len(frame)),
        key=key,
        on_select=choose,
        selection_mode="single-row",
        column_config={
            "figure": st.column_config.TextColumn("figure", pinned=True, width=_NAMES),
            **{
                str(number): st.column_config.TextColumn(
                    health.label,
                    alignment="right",
                    width=width_of([health.label[:24], *frame[number]]),
                )
                for number, health in enumerate(healths)
            },
        },
    )
    undefined = why_undefined(healths, alpha)
    if undefined:
        st.caption("n/a: " + " ".join(plain(why) for why in undefined))


def _number_of(current: Session, health: VocabularyHealth, number: int) -> int:
    """Return a listed type's number in the open graph, or -1: lists are of a copy."""
    tokeniser = health.segmenter.tokeniser
    if tokeniser is None or number < 0:
        return -1
    return current.study.graph.ids.get(tokeniser.graph.types[number], -1)


def _offer(current: Session, number: int) -> None:
    """Offer to open the chosen type in the graph."""
    graph = current.study.graph
    if not (0 <= number < len(graph.types) and graph.is_present(number)):
        st.caption("The open tokeniser has no such type now.")
        return
    left, right = st.columns([5, 4], vertical_alignment="center")
    left.write(code(shortened(current.study.tokeniser.readable_types[number], 60)))
    if right.button(
        "Show it in the graph", icon=":material/hub:", key=f"show type {number}", width="stretch"
    ):
        look_at(current, number)
        st.switch_page("pages/1_Merge_graph.py")


# ------------------------------------------------------------------------------------- pictures


def _charts(current: Session, healths: list[VocabularyHealth]) -> None:
    ids = tuple(map(Same, healths))
    labels = [
        health.label + "′" * [h.label for h in healths[:number]].count(health.label)
        for number, health in enumerate(healths)
    ]
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How often types are used", anchor=False)
        if healths[0].compression is None:
            st.caption("n/a: there is no corpus.")
        else:
            tables = [health.frequency_rank for health in healths]
            figure = current.once(
                ("vocabulary ranks", ids),
                lambda: frequency_rank_lines(
                    dict(zip(labels, (make() for make in tables), strict=True))
                ),
            )
            st.plotly_chart(figure, key="frequency rank")
    with right:
        st.subheader("How long types are", anchor=False)
        figure = current.once(
            ("vocabulary lengths", ids),
            lambda: length_lines(
                dict(zip(labels, (health.lengths() for health in healths), strict=True))
            ),
        )
        st.plotly_chart(figure, key="type lengths")


vocabulary_page(start("Vocabulary"))
