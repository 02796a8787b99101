"""The composition of vocabularies, their types, and how well they compress a corpus."""

from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import base_name, counted, shortened
from morphgraph.score import vocabulary_figures as figures
from morphgraph.score.vocabulary_figures import FigureValue
from morphgraph.score.vocabulary_health import ALPHA, NamedCounts, VocabularyHealth
from morphgraph.tables import figures as tables
from morphgraph.tables.vocabularies import ComparedVocabularies
from morphgraph.tables.writing import frame_csv, to_latex
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.edits import (
    never_formed_note,
    offer_to_open,
    several_words_note,
    show_message,
)
from web.inputs import frequency_choice, offer_frequencies
from web.making import EDITED, START, make_method
from web.state import Session, keep_session
from web.views.undertrained import model_rows

_NOW = "bpe"
_CARD = "vocabulary card"
_CHOSEN, _EDITED = "vocabulary_tokenisers", "vocabulary after edits"
_MOST = 6
_FINALITY = (
    "FI ratio: of a type's occurrences in the corpus, the share as a token, and not as a part of a "
    "merge that is applied. Neighbour entropy: that of the tokens before it or behind it, the "
    "smaller of the two, in bits. Both are low for residues of merging (Sun et al. 2026). The "
    "corpus is segmented once more for it."
)


CARDS = {
    "never_used": "Never used",
    "unreachable": "Unreachable",
    "duplicates": "Duplicates",
    "single_use_chains": "Single-use chains",
    "fertility": "Fertility",
    "renyi": "Rényi efficiency",
}
"""The figures that have a card, with their short names."""


@st.fragment
def vocabulary_page(current: Session) -> None:
    """Show the page; a fragment, so that a choice redraws nothing else."""
    score_metrics(current, "vocabulary")
    keep_session(current)
    show_message(current)
    cards, below = st.container(key="vocabulary-cards"), st.container()
    with cards:
        never_formed_note(current, partial(ui.set_value, _CARD, "never_formed"))
        several_words_note(current, partial(ui.set_value, _CARD, "several_words"))
    with st.expander(
        "More: other tokenisers, word frequencies, all figures",
        icon=":material/tune:",
        on_change="rerun",
        key="vocabulary more",
    ) as more:
        chosen, alpha = _choices(current)
        corpus = current.corpus()
        if corpus is not None:
            name = ui.plain(shortened(base_name(corpus.name)))
            words = counted(len(corpus.counts), "different word")
            with st.popover(f"Word frequencies: {name}, {words}", icon=":material/bar_chart:"):
                frequency_choice(current)
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
            _types_behind(current, chosen[number], healths[number], listed, healths[0])
        if more.open:
            with more:
                table = tables.figure_table(healths, alpha)
                ui.show_model(
                    table, len(table.rows), key="vocabulary table", on_choose=_list_behind
                )
                st.caption(ui.plain(" ".join(table.notes)))
                st.code(table.signatures[0], language=None, wrap_lines=True)
                ui.downloads(
                    {
                        "vocabulary.csv": lambda: tables.figures_csv(healths, alpha),
                        "vocabulary.tex": lambda: to_latex(table),
                    }
                )
                if number:
                    both = healths[0], healths[number]
                    beside = current.once(
                        ("vocabularies", *map(Same, both)), ComparedVocabularies(*both).table
                    )
                    ui.show_model(beside, len(beside.rows), key="vocabularies beside each other")
                    st.caption(ui.plain(" ".join(beside.notes)))


def _list_behind(row: int) -> None:
    if figures.FIGURES[row].has_list:
        ui.set_value(_CARD, figures.FIGURES[row].key)


def _choices(current: Session) -> tuple[list[str], float]:
    edited = bool(current.study.graph.history)
    states = [START, _NOW] if edited else [_NOW]
    names = [*states, *(f"model {name}" for name in current.models)]
    known = ui.value_now(_CHOSEN, None)
    if edited and known and not st.session_state.get(_EDITED):  # the first edit brings its start
        ui.set_value(_CHOSEN, list(dict.fromkeys([START, *known]))[:_MOST])
    st.session_state[_EDITED] = edited
    left, right = st.columns([6, 2])
    chosen = ui.choice(
        left.multiselect,
        "Tokenisers",
        names,
        key=_CHOSEN,
        first=states,
        format_func=lambda name: _label(current, name),
        max_selections=_MOST,
        help="The first is the baseline, the last has the cards. The open tokeniser, as it is "
        "before your edits if there are any, and models that you trained on the page Train or "
        "opened on the page Compare.",
    )
    tip = figures.figure_called("renyi").definition
    options: dict[str, Any] = {"step": 0.5, "key": "vocabulary_alpha", "first": ALPHA, "help": tip}
    label = "α of the Rényi efficiency"
    return chosen, float(ui.setting(right.number_input, label, 0.01, 100.0, **options))


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
    for place, key in zip(st.columns(len(CARDS)), CARDS, strict=True):
        with place, st.container(border=True, key=f"vocabulary-card-{key}", height="stretch"):
            _card(key, values[number][key], values[0][key])
            label, kind = "List the types", "tertiary"
            if key == listed:
                label, kind = "Listed below", "secondary"
            button = partial(ui.button, label, "", ui.set_value, _CARD, key)
            button(key=f"list {key}", type=kind)
    return number


def _card(key: str, value: FigureValue, before: FigureValue) -> None:
    figure, gain = figures.figure_called(key), value.number - before.number
    digits = 0 if figure.form == "count" else 3
    st.metric(
        CARDS[key],
        tables.figure_text(figure, value),
        delta=f"{gain:+,.{digits}f}" if gain and gain == gain else None,
        delta_color="off",
        help=ui.plain(figure.definition),
        height="stretch",
    )


def _types_behind(
    current: Session, name: str, health: VocabularyHealth, listed: str, baseline: VocabularyHealth
) -> None:
    figure = figures.figure_called(listed)
    key = listed if figure.has_list else "tokens"
    merges = health.segmenter.editable is not None
    offered = merges and health.corpus is not None and figures.lists_types(key)
    options: dict[str, Any] = {"key": "vocabulary finality", "first": False, "help": _FINALITY}
    finality = offered and bool(ui.value_now(options["key"], False))
    table = current.once(
        ("vocabulary list", key, finality, Same(health), Same(baseline)),
        lambda: figures.list_behind(health, key, finality=finality, baseline=baseline),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        what = "types by use" if key != listed else counted(len(table), "row")
        st.subheader(f"{CARDS.get(listed, figure.label)}: {what}", anchor=False)
        wanted = st.text_input(
            "Search",
            key="vocabulary search",
            placeholder="Part of a type",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        if offered:
            ui.setting(st.toggle, "FI ratio, neighbours", **options)
        shown = figures.matching(table, wanted)
        columns = [name for name in shown.columns if name != "type_id"]
        csv = partial(frame_csv, shown[columns])
        ui.download("CSV", csv, f"{key}.csv")
    st.caption(ui.plain(figure.definition))
    if not len(shown):
        st.caption("No type matches." if len(table) else "There are none.")
        return
    numbers = shown[columns].select_dtypes("number").columns
    row = ui.chosen_row(
        shown,
        11,
        key=f"vocabulary list {key} {wanted} {health.tokeniser_signature} {current.study_number}",
        column_order=columns,
        column_config={
            "type": ui.TEXT(width=180),  # else as narrow as its first rows
            **{name: ui.NUMBER(name, format=_form(name)) for name in numbers},
        },
    )
    of = f"{len(shown):,} of " if len(shown) < len(table) else ""
    st.caption(f"{of}{counted(len(table), 'row')}. Choose a row to see its type in the graph.")
    if row is not None and name in (_NOW, START):
        with_ids = baseline if key in ("shared_types", "dropped_types") else health
        _offer(current, with_ids, int(shown.iloc[row]["type_id"]))


def _form(column: str) -> str:
    return "%.3f" if column in (figures.RATIO, figures.ENTROPY) else "localized"


def _offer(current: Session, health: VocabularyHealth, listed: int) -> None:
    """Offer to open the chosen type in the graph; the list may be of a copy of it."""
    graph, tokeniser = current.study.graph, health.segmenter.tokeniser
    number = -1
    if tokeniser is not None and listed >= 0:
        number = graph.ids.get(tokeniser.graph.types[listed], -1)
    if number < 0 or not graph.is_present(number):
        st.caption("The open tokeniser has no such type now.")
        return
    offer_to_open(current, number, shortened(current.study.tokeniser.readable_types[number], 60))


vocabulary_page(start("Vocabulary"))
