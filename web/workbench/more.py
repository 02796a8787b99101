"""What few need of a vocabulary: all its figures, another one beside it, a model's rows."""

from functools import partial

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import base_name, counted, shortened
from morphgraph.score.vocabulary_health import ALPHA, NamedCounts, VocabularyHealth
from morphgraph.tables import figures as tables
from morphgraph.tables.vocabularies import ComparedVocabularies
from morphgraph.tables.writing import to_latex
from web import widgets as ui
from web.edits import several_words_note
from web.inputs import frequency_choice, offer_frequencies
from web.making import EDITED, START, make_method
from web.state import Session
from web.views.undertrained import model_rows

_NOW = "bpe"
_MOST = 6


def more(current: Session, corpus: NamedCounts | None) -> None:
    """Offer all figures of vocabularies side by side, word frequencies, and a model's rows."""
    several_words_note(current)
    if corpus is None:
        offer_frequencies(current, "How types are used is counted by")
    opening = st.expander(
        "More: all figures, other vocabularies, word frequencies",
        icon=":material/tune:",
        on_change="rerun",
        key="vocabulary more",
    )
    if opening.open:
        with opening:
            _figures(current, corpus)
    model_rows(current, corpus)


def _figures(current: Session, corpus: NamedCounts | None) -> None:
    if corpus is not None:
        name = ui.plain(shortened(base_name(corpus.name)))
        words = counted(len(corpus.counts), "different word")
        with st.popover(f"Word frequencies: {name}, {words}", icon=":material/bar_chart:"):
            frequency_choice(current)
    states = [START, _NOW] if current.study.graph.history else [_NOW]
    chosen = [*states, *(f"model {name}" for name in current.models)][:_MOST]
    with ui.attempt():
        healths = [_health(current, name, corpus) for name in chosen]
        table = tables.figure_table(healths, ALPHA)
        ui.show_model(table, len(table.rows), key="vocabulary table")
        st.caption(ui.plain(" ".join(table.notes)))
        st.code(table.signatures[0], language=None, wrap_lines=True)
        ui.downloads(
            {
                "vocabulary.csv": partial(tables.figures_csv, healths, ALPHA),
                "vocabulary.tex": partial(to_latex, table),
            }
        )
        if len(healths) > 1:
            both = healths[0], healths[-1]
            question = ("vocabularies", *map(Same, both))
            beside = current.once(question, ComparedVocabularies(*both).table)
            ui.show_model(beside, len(beside.rows), key="vocabularies beside each other")
            st.caption(ui.plain(" ".join(beside.notes)))


def _label(current: Session, name: str) -> str:
    if name == _NOW:
        edited = current.study.graph.history
        return EDITED if edited else shortened(base_name(current.study.tokeniser.name))
    return shortened(name.removeprefix("model "))


def _health(current: Session, name: str, corpus: NamedCounts | None) -> VocabularyHealth:
    reference, label = current.study.benchmark.reference, _label(current, name)
    model = current.models.get(name.removeprefix("model ")) if name.startswith("model ") else None

    def make() -> VocabularyHealth:
        with st.spinner(f"Counting the tokens of {ui.plain(label)}…"):
            segmenter = make_method(current, name, {})
            gold = reference if reference.has_gold else None
            return VocabularyHealth(segmenter, corpus, gold, label=label)

    return current.once(("vocabulary", name, label, Same(model)), make)
