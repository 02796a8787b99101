"""The page Compare: what is compared, on which words, and one of its views."""

from typing import Any

import streamlit as st

from morphgraph.core.text import counted, shortened
from web import choosing, inputs
from web import widgets as ui
from web.bar import score_metrics
from web.compare.figures import How, choose_metrics, compare_methods
from web.compare.languages import languages_view
from web.compare.rows import choose_rows, texts_to_compare
from web.compare.where import where_view
from web.compare.words import words_view
from web.jobs import Waiting
from web.opening import what_was_read
from web.state import Session, keep_session
from web.views.without_gold import needs_gold

_VIEW = "compare_view"
_WORDS, _LANGUAGES, _WHERE = "Words", "Languages", "Where errors are"


@st.fragment
def compare_page(current: Session) -> None:
    """Show the page; a fragment, so that a choice redraws nothing else."""
    score_metrics(current, "compare")
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
    view = ui.value_now(_VIEW, _WORDS)
    with st.container(key="compare-controls", **row):
        way = choose_rows(current) if view == _WORDS else ""
        left = st.container(width=170 if view == _WORDS else "content", **row)
        count = left.empty()  # keeps the place before it is known what stands there
        st.space("stretch")
        views = [_WORDS, _LANGUAGES, _WHERE]
        ui.segments("View", views, key=_VIEW, label_visibility="collapsed")
        adding = st.popover("Method", icon=":material/add:", key="compare methods open")
        with st.popover("Table", icon=":material/download:", key="compare table open"):
            table, more = st.container(), st.container()
    with adding:
        place = st.container()
        choosing.upload_method()  # before the methods, so that its model can be chosen
    messages = st.container()  # what comes and goes there moves nothing below it in the tree
    waiting = Waiting(messages.empty(), choosing.drop_method)
    with messages:
        _read_from_file(current)
        picked = choosing.choose_methods(current, place)
        texts = texts_to_compare() if view == _WORDS else []
    with more:
        scoring = _scoring(current)
    lacking = choosing.lacking_counts(current)
    if lacking:
        with messages:
            inputs.offer_frequencies(current, lacking)
    if not picked:
        st.info("Add at least one method.")
        return
    shown, progress = st.container(), st.container()
    scored = choosing.unseen_words(current, picked, current.study.benchmark)
    with shown, ui.attempt():
        with messages:
            compared = compare_methods(current, picked, scored, waiting.do, scoring)
        waiting.clear()
        pending = [one for one in picked if one.made is None]
        if compared is not None:
            if view == _WORDS:
                words_view(current, compared, pending, texts, way, count, table)
            elif view == _LANGUAGES:
                languages_view(current, compared, scoring, left, table)
            elif compared.has_gold:
                where_view(current, compared, left, table)
            else:
                needs_gold(current, "Where errors are needs")
        inputs.reference_in_another_language(current)
    keep_session(current)
    choosing.make_next(current, picked, progress)


def _read_from_file(current: Session) -> None:
    """Tell in one line what was read of one's own reference, with the details behind it."""
    source, reference = current.sources.get("reference"), current.study.benchmark.reference
    if source is None or not source.files:
        return
    skipped = sum(skip.count for skip in reference.skipped)
    lines = f", {counted(skipped, 'line')} skipped" if skipped else ", nothing skipped"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = ui.plain(shortened(reference.name, 60))
        st.caption(f"{name}: {counted(len(reference), 'word')} read{lines}", width="content")
        key = f"what was read {reference.checksum}"
        with st.popover("Details", type="tertiary", key=key, on_change="rerun") as details:
            if details.open:
                what_was_read(current)


def _scoring(current: Session) -> How:
    """Choose how words are scored, and by what."""
    gold = current.study.benchmark
    scope, weighting = choosing.scope_and_weighting("scores", gold)
    metrics = choose_metrics("compare_metrics") if gold.reference.has_gold else []
    return scope, weighting, metrics
