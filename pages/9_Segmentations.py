"""Every remedy side by side: one word or a thousand, against the gold."""

import itertools
from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.text import counted, in_percent, percent, ratio_text, shortened
from morphgraph.methods import METHODS
from morphgraph.refine.learning import has_seen
from morphgraph.score.comparison import ComparedWord, Comparison, Summary
from morphgraph.score.uncertainty import Interval
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import HELD_IN, HELD_IN_NOTE
from morphgraph.tables.scores import comparison_csv, comparison_html, comparison_latex
from web.bootstrap import start
from web.components import comparison_table
from web.inputs import offer_frequencies
from web.method_picker import (
    PickedMethod,
    choose_methods,
    drop_method,
    lacking_counts,
    make_method,
    method_fields,
    upload_model,
)
from web.reopening import keep_session
from web.scoreboard import partial_gold
from web.state import Session
from web.text import plain
from web.views.trees import one_cell
from web.widgets import (
    attempt,
    button,
    choice,
    downloads,
    one_page,
    right_aligned,
    set_value,
    show_table,
    value_now,
)
from web.word_picker import choose_words

_PLACE = "compare"
_PAGE = 50
_SHOW = "compare show"
_ALL, _DISAGREE, _BETTER = "all", "methods disagree", "one beats another"
_WORDS_WIDER = 1.1
"""The relative width of the column of words."""


@st.fragment
def segmentations_page(current: Session) -> None:
    """Show the page; a fragment, so that a choice redraws nothing else."""
    st.title("Segmentations")
    with st.container(horizontal=True, vertical_alignment="center", key="compare-controls"):
        field = st.container()
        drawn = st.container(width="content")
        with st.popover("Methods", icon=":material/add:", key="compare methods open"):
            place = st.container()
            upload_model(_PLACE)  # run before the methods, so that its model can be chosen
        more = st.popover("More", icon=":material/tune:", key="compare more open")
        note = st.container(width="content")
    # The address's element must be visible: in a closed popover it is inactive.
    picked = choose_methods(current, _PLACE, place, wait=False)
    lacking = lacking_counts(current, _PLACE)
    if lacking:
        offer_frequencies(current, lacking)
    ready = [one for one in picked if one.made is not None]
    segmenters = [one.made for one in ready if one.made is not None]
    texts, gold = choose_words(current, segmenters, field, drawn, more)
    if not texts or not picked:
        st.info("Choose words and at least one method.")
        return
    with attempt():
        comparison = _compared(current, segmenters, [one.label for one in ready], texts, gold)
        chosen = _filtered(current, comparison, more)
        shown = f"{len(chosen):,} of " if len(chosen) < len(texts) else ""
        note.markdown(f"**{shown}{counted(len(texts), 'word')}**")
        _headers(current, picked, comparison)
        _table(picked, comparison, chosen)
        progress = st.container()  # below the words, so that they do not move
        cell = _chosen_cell(comparison)
        if cell is not None:
            one_cell(current, comparison, *cell)
        _summaries(comparison)
        if any(known is not None for known in gold):
            partial_gold(current.study.benchmark.reference.partial_note)
        _downloads(comparison, [comparison.rows[number] for number in chosen])
        keep_session(current)
        _make_next_method(current, picked, progress)


def _make_next_method(
    current: Session, picked: Sequence[PickedMethod], progress: DeltaGenerator
) -> None:
    """Make a slow method now that the others are shown; then show it, too."""
    waiting = next((one for one in picked if one.made is None), None)
    if waiting is None:
        return
    with progress, st.spinner(f"Making {waiting.title}…"):
        make_method(current, _PLACE, waiting.name, waiting.settings)
    st.rerun()


def _headers(current: Session, picked: Sequence[PickedMethod], comparison: Comparison) -> None:
    """Show above each column its method: settings, description, and F1 on these words."""
    gold = current.study.benchmark
    with st.container(key="compare-heads"):
        first, *places = st.columns(
            [_WORDS_WIDER, *(1 for _ in picked)], gap=None, wrap=False, vertical_alignment="center"
        )
        first.markdown("**gold**")
        numbers = _numbers(picked)
        for place, one, number in zip(places, picked, numbers, strict=True):
            found = None if number is None else comparison.summaries[number]
            held_in = one.base is not None and has_seen(one.base, gold)
            with place:
                _header(one, found, held_in=held_in)


def _numbers(picked: Sequence[PickedMethod]) -> list[int | None]:
    """Return each chosen method's index among those compared; None if it is still being made."""
    ready = itertools.count()
    return [None if one.made is None else next(ready) for one in picked]


def _header(one: PickedMethod, found: Summary | None, *, held_in: bool) -> None:
    facts = [one.spelled_settings] if one.spelled_settings else []
    if found is None:
        facts.append("…")
    else:
        facts.append(f"F1 {in_percent(found.f1, 1)}")
    facts += [f":orange-badge[{HELD_IN}]"] * held_in
    label = f"**{plain(shortened(one.title, 24))}** {' · '.join(facts)}"
    with st.popover(
        label, type="tertiary", width="stretch", wrap=True, key=f"compare head {one.name}"
    ):
        if one.name in METHODS:
            st.caption(METHODS[one.name].does)
        if held_in:
            st.caption(HELD_IN_NOTE)
        method_fields(one, _PLACE)
        button("Remove", "close", drop_method, _PLACE, one.name, key=f"compare drop {one.name}")


def _compared(
    current: Session,
    segmenters: list[Segmenter],
    labels: list[str],
    texts: list[str],
    gold: list[tuple[str, ...] | None],
) -> Comparison:
    """Return the comparison, made once for the same words and methods."""
    key = (
        "comparison",
        tuple(segmenter.signature() for segmenter in segmenters),
        tuple(map(Same, segmenters)),  # a model file states its own checksum
        tuple(labels),
        tuple(texts),
        tuple(gold),
    )
    return current.once(key, lambda: Comparison(segmenters, texts, gold, labels=labels))


def _chosen_cell(comparison: Comparison) -> tuple[int, int] | None:
    """Return the present position of the clicked word and method, None if one is gone."""
    text, label = st.session_state.get("compare cell", (None, None))
    if text not in comparison.texts or label not in comparison.labels:
        return None
    return comparison.texts.index(text), comparison.labels.index(label)


def _filtered(current: Session, comparison: Comparison, more: DeltaGenerator) -> list[int]:
    """Return the numbers of the rows to show."""
    several = len(comparison.segmenters) > 1
    kinds = [_ALL, _DISAGREE, _BETTER] if several else [_ALL]
    here = value_now(_SHOW, _ALL)
    asked = current.address.follow("show", here, among=kinds)
    if asked != here:
        set_value(_SHOW, asked)
    which: str = choice(more.segmented_control, "Show", kinds, key=_SHOW, required=True)
    if which == _DISAGREE:
        return comparison.disagreeing()
    if which == _BETTER:
        numbers = range(len(comparison.labels))
        names = comparison.labels.__getitem__
        better = more.selectbox("Better", numbers, format_func=names, key="compare better")
        worse = more.selectbox("than", numbers, index=1, format_func=names, key="compare worse")
        return comparison.better(int(better or 0), int(worse or 0))
    return list(range(len(comparison.rows)))


def _table(picked: Sequence[PickedMethod], comparison: Comparison, chosen: list[int]) -> None:
    shown = [
        (number, comparison.rows[number]) for number in one_page(chosen, _PAGE, "compare page")
    ]
    if not shown:
        st.info("No word matches.")
        return
    labels = [one.label for one in picked]
    numbers = _numbers(picked)

    def choose(row: int, column: int) -> None:
        if row < len(comparison.texts) and column < len(labels):
            st.session_state["compare cell"] = (comparison.texts[row], labels[column])

    cell = _chosen_cell(comparison)
    comparison_table(
        labels,
        shown,
        key="comparison",
        columns=numbers,
        first=_WORDS_WIDER,
        chosen=cell and (cell[0], numbers.index(cell[1])),
        on_choose=choose,
    )


def _summaries(comparison: Comparison) -> None:
    st.subheader("Summary of these words", anchor=False)
    rows = [
        {
            "method": found.label,
            "precision %": percent(found.precision),
            "recall %": percent(found.recall),
            "F1 %": percent(found.f1),
            "95 % interval of F1": _span(found.interval),
            "exact %": percent(found.exact),
            "tokens per word": ratio_text(found.fertility),
            "types": f"{found.vocabulary_size:,}",
            "signature": shortened(found.signature, 80),
        }
        for found in comparison.summaries
    ]
    frame = pd.DataFrame(rows)
    show_table(frame, column_config=right_aligned(frame.columns[1:-1]))
    st.code(comparison.signature, language=None, wrap_lines=True)
    if len(rows) < 2:
        return
    st.markdown("**Words that two methods segment alike, in %**")
    matrix = pd.DataFrame(
        [[percent(value, 1) for value in row] for row in comparison.agreement],
        index=list(comparison.labels),
        columns=list(comparison.labels),
    )
    st.dataframe(matrix, column_config=right_aligned(matrix.columns))


def _span(interval: Interval) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}"


def _downloads(comparison: Comparison, rows: list[ComparedWord]) -> None:
    downloads(
        {
            "comparison.csv": lambda: comparison_csv(comparison, rows),
            "comparison.tex": lambda: comparison_latex(comparison, rows),
            "comparison.html": lambda: comparison_html(
                comparison, rows, "Comparison of segmentations"
            ),
        },
        "The rows that are shown, on all pages.",
    )


segmentations_page(start("Segmentations"))
