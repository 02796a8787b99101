"""What vocabularies are made of, which types, and how well they compress a corpus."""

import pandas as pd
import streamlit as st

from morphgraph.core.text import base_name, counted, shortened
from morphgraph.draw.vocabulary_charts import frequency_rank_lines, length_lines
from morphgraph.score.compression import ALPHA, NamedCounts, corpus_of
from morphgraph.score.vocabulary_figures import FIGURES, case_warning, figure_called
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.score.vocabulary_lists import list_behind, matching
from morphgraph.segment.registry import method_on
from morphgraph.tables.vocabulary import (
    figure_frame,
    figures_csv,
    figures_latex,
    signature,
    why_undefined,
)
from morphgraph.tokeniser.words import Segmenter
from web.bootstrap import start
from web.edits import look_at
from web.inputs import frequency_choice
from web.session import Session, trained_models
from web.text import code, plain
from web.widgets import (
    attempt,
    choice,
    chosen_row,
    downloads,
    remembered,
    rows_high,
    show_table,
    width_of,
)

_NOW, _START = "now", "before the edits"
_FIGURE = "vocabulary figure"
_MOST = 6
# The width of the column of figures, in pixels: the longest name fits.
_NAMES = 240


@st.fragment
def vocabulary_page(current: Session) -> None:
    """The whole page; a fragment, so that a choice draws nothing else anew."""
    st.title("Vocabulary")
    st.caption(
        "What vocabularies are made of, which types are useless, and how short a corpus becomes "
        "in tokens. The first tokeniser is the baseline."
    )
    chosen, alpha = _choices(current)
    corpus = current.once(("vocabulary corpus",), lambda: corpus_of(current.study.benchmark))
    _frequencies(current, corpus)
    if not chosen:
        st.info("Choose at least one tokeniser.")
        return
    with attempt():
        healths = [_health(current, name, corpus) for name in chosen]
        with st.container(key="vocabulary-figures"):
            left, right = st.columns([6, 5], gap="large")
        with left:
            _table(current, healths, alpha)
        with right:
            _types_behind(current, chosen, healths)
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
    """The chosen tokenisers by name, and α."""
    edited = bool(current.study.graph.history)
    states = [_START, _NOW] if edited else [_NOW]
    names = [*states, *(f"model {name}" for name in trained_models())]
    left, right = st.columns([6, 2])
    chosen = choice(
        left.multiselect,
        "Tokenisers",
        names,
        key="vocabulary_tokenisers",
        first=states,
        format_func=lambda name: _label(current, name),
        max_selections=_MOST,
        help="The open tokeniser, as it is before your edits if there are any, and models that "
        "you trained on the page Train or opened on the page Segmentations.",
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
    """The name of a tokeniser in tables."""
    if name == _NOW:
        edited = " now" if current.study.graph.history else ""
        return shortened(base_name(current.study.tokeniser.name)) + edited
    return shortened(name.removeprefix("model "))


def _segmenter(current: Session, name: str) -> Segmenter:
    if name == _NOW:
        return method_on(current.study.tokeniser, "bpe")
    if name == _START:
        return method_on(current.study.tokeniser.fork(), "bpe")
    return trained_models()[name.removeprefix("model ")]


def _health(current: Session, name: str, corpus: NamedCounts | None) -> VocabularyHealth:
    """A vocabulary with its figures, made once for each state of it."""
    model = trained_models().get(name.removeprefix("model ")) if name.startswith("model ") else None

    def make() -> VocabularyHealth:
        with st.spinner(f"Counting the tokens of {plain(_label(current, name))}…"):
            return VocabularyHealth(
                _segmenter(current, name),
                corpus,
                current.study.benchmark.reference,
                label=_label(current, name),
            )

    return current.once(("vocabulary", name, id(model)), make)


def _frequencies(current: Session, corpus: NamedCounts | None) -> None:
    if corpus is None:
        st.info(
            "Figures of a corpus are n/a: choose word frequencies below.",
            icon=":material/bar_chart:",
        )
        title = "Word frequencies: none"
    else:
        name = plain(shortened(base_name(corpus.name)))
        title = f"Word frequencies: {name}, {counted(len(corpus.counts), 'different word')}"
    with st.expander(title, icon=":material/bar_chart:", expanded=corpus is None):
        frequency_choice(current)


# ------------------------------------------------------------------------------------- figures


def _table(current: Session, healths: list[VocabularyHealth], alpha: float) -> None:
    """The figures, one column for each tokeniser; a click on a row chooses its figure."""
    frame = figure_frame(healths, alpha)
    # Widths are measured when a table is first drawn, so other columns need another key.
    shape = [(health.label, health.tokeniser_signature) for health in healths]
    key = f"vocabulary table {current.study_number} {shape} {bool(healths[0].corpus)}"

    def choose() -> None:
        rows = st.session_state[key].selection.rows
        if rows and rows[0] < len(FIGURES):
            st.session_state[_FIGURE] = FIGURES[rows[0]].key

    show_table(
        frame.rename(columns=str),
        height=rows_high(len(frame)),
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
    warning = case_warning(healths)
    if warning:
        st.warning(plain(warning), icon=":material/match_case:")
    undefined = why_undefined(healths, alpha)
    if undefined:
        st.caption("n/a: " + " ".join(plain(why) for why in undefined))


def _types_behind(current: Session, chosen: list[str], healths: list[VocabularyHealth]) -> None:
    """The types behind the chosen figure of a tokeniser."""
    key = choice(
        st.selectbox,
        "Types behind",
        [figure.key for figure in FIGURES],
        key=_FIGURE,
        first="never_used" if healths[0].corpus is not None else "duplicates",
        format_func=lambda key: figure_called(key).label,
        help="Or click a row of the table.",
    )
    figure = figure_called(key)
    st.caption(plain(figure.definition))
    number = 0
    if len(healths) > 1:
        number = st.selectbox(
            "Of",
            range(len(healths)),
            format_func=lambda n: healths[n].label,
            key=f"vocabulary of {len(healths)}",
        )
    if not figure.has_list:
        st.caption("There is no list of types behind this figure.")
        return
    health = healths[number]
    table = current.once(("vocabulary list", key, id(health)), lambda: list_behind(health, key))
    wanted = st.text_input(
        "Search", key="vocabulary search", placeholder="part of a type", icon=":material/search:"
    )
    shown = matching(table, wanted)
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
    st.caption(f"{of}{counted(len(table), 'row')}.")
    if row is not None and chosen[number] in (_NOW, _START):
        _offer(current, int(shown.iloc[row]["type_id"]))


def _offer(current: Session, number: int) -> None:
    """A type was chosen: offer to look at it in the graph."""
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
    ids = tuple(map(id, healths))
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
