"""Every remedy side by side: one word or a thousand, against the gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.text import counted, in_percent, ratio_text, shortened
from morphgraph.refine.learning import has_seen
from morphgraph.refine.study import Study
from morphgraph.score.comparison import ComparedWord, Comparison, most_disputed
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import Outcome, outcome_of
from morphgraph.segment.method import METHODS
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import HELD_IN, HELD_IN_NOTE
from morphgraph.tables.scores import agreement_table, comparison_html, summary_table, words_table
from morphgraph.tables.writing import to_csv, to_latex
from morphgraph.tokeniser.words import spelled
from web import choosing
from web import widgets as ui
from web.aside import scored_words
from web.bootstrap import score_metrics, start
from web.choosing import PickedMethod
from web.components import comparison_table
from web.inputs import offer_frequencies
from web.state import Session, keep_session
from web.views.scores import HELD_OUT
from web.views.trees import one_cell

_SHOW, _CELL = "compare show", "compare cell"
_WORDS_WIDER = 1.1
"""The relative width of the column of words."""
KnownMorphs = tuple[str, ...] | None
_SHORT = {
    "most boundary errors": "{count} worst words",
    "at random": "{count} at random",
    "methods disagree most": "{count} most disagreed on",
}
"""How words of the reference are drawn, and the label of each way."""
_NO_GOLD = ["methods disagree most", "at random"]
_USUAL = 50
_MOST = 1000
# The number of words of the reference searched for those that methods disagree on most.
_SEARCHED = 5000
_LONGEST = 100_000
# The limit of characters of text in the page's address, by which it can be shared.
_IN_ADDRESS = 1000
_WORDS, _LINES = "compare_text", "compare_lines"
_HOW, _COUNT = "compare_how", "compare_most"


@st.fragment
def segmentations_page(current: Session) -> None:
    """Show the page; a fragment, so that a choice redraws nothing else."""
    score_metrics(current, "compare")
    with st.container(horizontal=True, vertical_alignment="center", key="compare-controls"):
        field = st.container()
        drawn = st.container(width="content")
        with st.popover("Methods", icon=":material/add:", key="compare methods open"):
            place = st.container()
            choosing.upload_model()  # before the methods, so that its model can be chosen
        more = st.popover("More", icon=":material/tune:", key="compare more open")
        note = st.container(width="content")
    # The address's element must be visible: in a closed popover it is inactive.
    picked = choosing.choose_methods(current, place, with_trained=True)
    lacking = choosing.lacking_counts(current)
    if lacking:
        offer_frequencies(current, lacking)
    ready = [one for one in picked if one.made is not None]
    segmenters = [one.made for one in ready if one.made is not None]
    texts = _typed(current, field, more)
    with drawn:
        words, gold = _drawn(current, picked, is_used=not texts)
    if texts:
        entries = current.study.benchmark.reference.entries
        known = {entry.word: entry.morphs or None for entry in reversed(entries)}
        gold = [known.get(text) for text in texts]
    texts = texts or words
    if not texts or not picked:
        st.info("Choose words and at least one method.")
        return
    labels = [one.label for one in ready]
    key = ("comparison", *map(Same, segmenters), *labels, tuple(texts), tuple(gold))
    scored = choosing.unseen_words(current, picked, current.study.benchmark)
    with ui.attempt():
        comparison = current.once(key, lambda: Comparison(segmenters, texts, gold, labels=labels))
        whole = _scored(segmenters, labels, scored)
        chosen = _filtered(comparison, more)
        shown = f"{len(chosen):,} of " if len(chosen) < len(texts) else ""
        what = "F1" if scored.reference.has_gold else "length"
        note.markdown(f"**{shown}{counted(len(texts), 'word')}**, {what} on {_which(scored)}")
        # The index of each method among those compared; None if it is still being made.
        places = {one.name: number for number, one in enumerate(ready)}
        numbers = [places.get(one.name) for one in picked]
        widths = [_WORDS_WIDER, *(1 for _ in picked)]
        wide = st.container(key="compare-wide", gap=None)  # scrolls sideways in narrow windows
        with wide.container(key="compare-heads"):
            first, *heads = st.columns(widths, gap=None, wrap=False, vertical_alignment="center")
            first.markdown("**gold**" if current.study.benchmark.reference.has_gold else "**word**")
            told: list[str] = []
            for head, one, number in zip(heads, picked, numbers, strict=True):
                with head:
                    told.append(_header(one, number, whole, scored))
        marked = [word for one in picked for word in _learned_from(current, one, texts)]
        with wide:
            _table(picked, numbers, comparison, chosen, marked, told)
        progress = st.container()  # below the words, so that they do not move
        cell = _chosen_cell(comparison)
        if cell is not None:
            one_cell(current, comparison, *cell)
        _summaries(whole, _which(scored))
        partial_note = current.study.benchmark.reference.partial_note
        if partial_note and any(morphs is not None for morphs in gold):
            st.warning(ui.plain(partial_note), icon=":material/info:")
        _downloads(comparison, whole, [comparison.rows[number] for number in chosen])
        keep_session(current)
        choosing.make_next(current, picked, progress)


def _which(scored: GoldSet) -> str:
    words = counted(len(scored.numbers), "word")
    return f"{words} {HELD_OUT}" if scored.drawn else f"all {words}"


def _scored(segmenters: Sequence[Segmenter], labels: Sequence[str], scored: GoldSet) -> Comparison:
    """Return the comparison on all words scored, of which each method cuts them once."""

    def outcome(made: Segmenter) -> Outcome:
        key = Same(made), Same(scored)
        return ui.kept_last("words scored", key, lambda: outcome_of(made, scored), 16)

    def make() -> Comparison:
        gold = [entry.morphs or None for entry in scored]
        outcomes = [outcome(made) for made in segmenters]
        return Comparison(segmenters, scored.texts, gold, labels=labels, outcomes=outcomes)

    key = (*map(Same, segmenters), *labels, Same(scored))
    return ui.kept_last("all words compared", key, make)


def _learned_from(current: Session, one: PickedMethod, texts: Sequence[str]) -> list[str]:
    """Return those of the words that a method was learned from."""
    gold = current.study.benchmark
    if one.base is None or one.split is None or not has_seen(one.base, gold):
        return []
    kept = choosing.kept_words(current, gold, one.split).numbers
    return [text for text in texts if text in gold.numbers and text not in kept]


def _header(one: PickedMethod, number: int | None, whole: Comparison, scored: GoldSet) -> str:
    """Show a method with its settings, description, and F1.

    Returns its F1, or tokens per word without gold, and on what that is, as text.
    """
    settings = ", ".join(
        f"{key} = {spelled(value)}"
        for key, value in one.settings.items()
        if value != METHODS[one.name].fields[key].default
    )
    figure, seen = "…", one.base is not None and has_seen(one.base, scored)
    if number is not None:
        figure = f"{ratio_text(whole.tokens_per_word[number])} tokens per word"
        if scored.reference.has_gold:
            figure = f"F1 {in_percent(whole.scores.of(number, ['f1'])['f1'].value, 1)}"
    facts = [*filter(None, [settings]), figure, *([f":orange-badge[{HELD_IN}]"] if seen else [])]
    label = f"**{ui.plain(shortened(one.title, 24))}** {' · '.join(facts)}"
    options: dict[str, Any] = {"width": "stretch", "wrap": True, "key": f"compare head {one.name}"}
    with st.popover(label, type="tertiary", **options):
        if one.name in METHODS:
            st.caption(METHODS[one.name].does)
        if seen:
            st.caption(HELD_IN_NOTE)
        choosing.method_fields(one)
        drop, key = choosing.drop_method, f"compare drop {one.name}"
        ui.button("Remove", "close", drop, one.name, key=key)
    return " · ".join(filter(None, [figure, HELD_IN if seen else HELD_OUT * bool(scored.drawn)]))


def _chosen_cell(comparison: Comparison) -> tuple[int, int] | None:
    """Return the present position of the clicked word and method, None if one is gone."""
    text, label = st.session_state.get(_CELL, (None, None))
    if text not in comparison.texts or label not in comparison.labels:
        return None
    return comparison.texts.index(text), comparison.labels.index(label)


def _filtered(comparison: Comparison, more: DeltaGenerator) -> list[int]:
    if len(comparison.segmenters) > 1:
        with more:
            if ui.setting(st.toggle, "Only where methods disagree", key=_SHOW, first=False):
                return comparison.disagreeing()
    return list(range(len(comparison.rows)))


def _table(
    picked: Sequence[PickedMethod],
    numbers: Sequence[int | None],
    comparison: Comparison,
    chosen: list[int],
    marked: Sequence[str],
    told: Sequence[str],
) -> None:
    shown = [
        (number, comparison.rows[number]) for number in ui.one_page(chosen, 50, "compare page")
    ]
    if not shown:
        st.info("No word matches.")
        return
    labels = [one.label for one in picked]

    def choose(row: int, column: int) -> None:
        if row < len(comparison.texts) and column < len(labels):
            st.session_state[_CELL] = (comparison.texts[row], labels[column])

    cell = _chosen_cell(comparison)
    comparison_table(
        labels,
        shown,
        key="comparison",
        figures=told,
        columns=numbers,
        first=_WORDS_WIDER,
        notes=dict.fromkeys(marked, HELD_IN),
        chosen=cell and (cell[0], numbers.index(cell[1])),
        on_choose=choose,
    )


def _summaries(comparison: Comparison, which: str) -> None:
    st.subheader(f"Summary of {which}", anchor=False)
    table = summary_table(comparison)
    ui.show_model(table, key="summary")
    st.code(comparison.signature, language=None, wrap_lines=True)
    if len(table.rows) > 1:
        st.markdown("**Words that two methods segment alike, in %**")
        ui.show_model(agreement_table(comparison), key="agreement")


def _downloads(comparison: Comparison, whole: Comparison, rows: list[ComparedWord]) -> None:
    title = "Comparison of segmentations"
    ui.downloads(
        {
            "comparison.csv": lambda: to_csv(words_table(comparison, rows)),
            "comparison.tex": lambda: to_latex(words_table(comparison, rows)),
            "comparison.html": lambda: comparison_html(whole, rows, title),
        },
        "The rows that are shown, on all pages; the web page has the summary, too.",
    )


def _typed(current: Session, field: DeltaGenerator, more: DeltaGenerator) -> list[str]:
    lines, words = ui.value_now(_LINES, ""), ui.value_now(_WORDS, "")
    text = lines if lines.strip() else words
    is_held = bool(text.strip()) and len(text) <= _IN_ADDRESS
    here = (text, "1" if lines.strip() else "") if is_held else ("", "")
    asked = current.address.follow("words", here[0]), current.address.follow("lines", here[1])
    if asked != here:
        ui.set_value(_LINES, asked[0] if asked[1] else "")
        ui.set_value(_WORDS, "" if asked[1] else asked[0])
    lines = ui.setting(
        more.text_area,
        "Texts, one a line",
        key=_LINES,
        first="",
        max_chars=_LONGEST,
        placeholder="sentences, to be compared in place of words",
    )
    words = ui.setting(
        field.text_input,
        "Words",
        key=_WORDS,
        first="",
        max_chars=_LONGEST,
        placeholder="Type or paste words",
        label_visibility="collapsed",
        icon=":material/search:",
        disabled=bool(lines.strip()),
    )
    text = lines if lines.strip() else words
    texts = [t.strip() for t in lines.splitlines()] if lines.strip() else words.split()
    texts = list(dict.fromkeys(t for t in texts if t))
    if len(texts) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(texts):,} are compared.")
    if texts and len(text) > _IN_ADDRESS:
        st.caption(f"The page's address holds no text of more than {_IN_ADDRESS:,} characters.")
    return texts[:_MOST]


def _drawn(
    current: Session, picked: Sequence[PickedMethod], *, is_used: bool
) -> tuple[list[str], list[KnownMorphs]]:
    """Draw words of those kept aside, by the tokeniser as loaded: edits leave the rows."""
    study, entries = current.study, current.study.benchmark.reference.entries
    has_gold = study.benchmark.reference.has_gold
    ways = list(_SHORT) if has_gold else _NO_GOLD
    label = "The reference" if has_gold else "Common words"
    if is_used:
        now, most = ui.value_now(_HOW, ways[0]), ui.value_now(_COUNT, _USUAL)
        label = _SHORT[now if now in ways else ways[0]].format(count=most)

    def forget_typed() -> None:
        ui.set_value(_WORDS, "")
        ui.set_value(_LINES, "")

    with st.popover(label, key="compare draw open", help="Words of the reference"):
        way = ui.choice(st.radio, "Draw those", ways, key=_HOW, on_change=forget_typed)
        limits: dict[str, Any] = {"key": _COUNT, "first": _USUAL, "step": 10}
        most = int(ui.setting(st.number_input, "How many", 1, _MOST, **limits))
        seed = 0
        if way == "at random":
            seed = int(ui.setting(st.number_input, "Seed", 0, key="compare_seed", first=0))
    if not is_used:
        return [], []

    def worst() -> list[int]:
        return Study(study.tokeniser.fork(), study.benchmark).worst_order()

    draws: dict[str, Callable[[], Sequence[int]]] = {
        "most boundary errors": lambda: current.once(("worst words",), worst, of_files=True),
        "at random": lambda: np.random.default_rng(seed).permutation(len(entries)).tolist(),
        "methods disagree most": lambda: _most_disputed(current, picked),
    }
    part = scored_words(current, learning=has_gold).part
    kept = choosing.kept_words(current, study.benchmark, part).numbers
    drawn = (entries[int(number)] for number in draws[way]())
    chosen = list(islice((one for one in drawn if one.word in kept), most))
    return [entry.word for entry in chosen], [entry.morphs or None for entry in chosen]


def _most_disputed(current: Session, picked: Sequence[PickedMethod]) -> list[int]:
    """Return words that the methods cut differently, among this many of the reference.

    They stay as they were first drawn for these methods, whatever is edited or made since.
    """
    entries = current.study.benchmark.reference.entries
    chosen = np.sort(np.random.default_rng(0).permutation(len(entries))[:_SEARCHED])
    names = [(one.name, *one.settings.items()) for one in picked if one.name != choosing.START]

    def make() -> list[int]:
        segmenters = [one.made for one in picked if one.made is not None]
        return most_disputed(segmenters, [entries[i].word for i in chosen])

    disputed = ui.kept_last("words disputed", (current.state(of_files=True), *names), make)
    if len(entries) > _SEARCHED:
        st.caption(f"Among {_SEARCHED:,} of {len(entries):,} words, drawn at random.")
    return [int(chosen[number]) for number in disputed]


segmentations_page(start("Segmentations"))
