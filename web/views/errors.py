"""The error browser: which words a tokeniser segments wrongly, and why."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import counted
from morphgraph.score.comparison import ERROR_KINDS, ErrorBrowser
from morphgraph.score.gold_set import Scope
from morphgraph.score.outcome import Outcome
from morphgraph.tables.scores import errors_csv
from web.edits import look_at
from web.scoreboard import MARKS
from web.state import Session
from web.text import code
from web.views.scores import gold_boundaries
from web.views.trees import now, open_in_merge_tree, word_trees
from web.widgets import choice, chosen_row, download, one_page, remembered

_PAGE = 200
_ANY = "any affix"


@st.fragment
def error_browser(current: Session, outcomes: Mapping[str, Outcome], scope: Scope) -> None:
    """Search and filter the words of one tokeniser, and inspect one of them."""
    if not outcomes:
        return
    first, second = st.columns([3, 7], vertical_alignment="bottom")
    name = choice(first.selectbox, "Tokeniser", outcomes, key="errors_of")
    outcome = outcomes[name]
    browser = current.once(("errors", Same(outcome), scope), lambda: ErrorBrowser(outcome, scope))
    counts = browser.counts()
    kinds = choice(
        second.pills,
        "What is wrong",
        ERROR_KINDS,
        key="error_kinds",
        first=list(ERROR_KINDS[:3]),
        selection_mode="multi",
        format_func=lambda kind: f"{kind} {counts[kind]:,}",
        help="Over-segmented: only splits too many. Under-segmented: only splits too few.",
    )
    text, affix = _search(current, outcome)
    found = browser.find(kinds, text=text, among=affix)
    numbers = one_page(found.tolist(), _PAGE, "errors page")
    if not numbers:
        st.info("No word matches.")
        return
    columns = ["word", "gold", "tokens", "marked", "wrong", "missed"]
    if outcome.gold_set.frequencies is not None:
        columns.append("weight")
    shown = pd.DataFrame([browser.row(entry) for entry in numbers], columns=columns)
    row = chosen_row(
        shown.rename(columns={"weight": "frequency"}),
        420,
        key=f"errors table {id(outcome)} {scope} {sorted(kinds)} {text} {numbers[0]} {len(found)}",
        column_config={
            "wrong": st.column_config.NumberColumn("wrong splits"),
            "missed": st.column_config.NumberColumn("missed boundaries"),
            "frequency": st.column_config.NumberColumn(format="localized"),
        },
    )
    st.caption(
        f"{counted(len(found), 'word')}, the most wrong gaps first, then the most frequent. "
        f"{MARKS}. Choose a row to see how the word is segmented."
    )
    download(
        f"All {counted(len(found), 'word')} as CSV",
        lambda: errors_csv(browser, found),
        "errors.csv",
        key="errors csv",
    )
    if row is not None:
        _one_word(current, outcome, numbers[row])


def _search(current: Session, outcome: Outcome) -> tuple[str, npt.NDArray[np.bool_] | None]:
    """Return the text to search for, and the entries with the chosen affix."""
    left, right, _ = st.columns([3, 3, 4], vertical_alignment="bottom")
    with remembered(error_search=""):
        text = left.text_input(
            "Search words", key="error_search", placeholder="part of a word", max_chars=50
        )
    gold_set = outcome.gold_set
    gold = gold_boundaries(current, gold_set)
    affixes = [_ANY, *list(gold.affixes)[:1000]]
    chosen = choice(
        right.selectbox,
        "With the affix",
        affixes,
        key="error_affix",
        format_func=lambda name: _ANY if name == _ANY else f"{name}  ({len(gold.affixes[name]):,})",
    )
    if chosen == _ANY:
        return text.strip(), None
    among = np.zeros(len(gold_set.reference), bool)
    among[gold.owners[gold.affixes[chosen]]] = True
    return text.strip(), among


def _one_word(current: Session, outcome: Outcome, entry: int) -> None:
    """Show a word's segmentation and merge tree, with links to its types in the graph."""
    word = outcome.gold_set.texts[entry]
    st.markdown(f"**{code(word)}** → {' '.join(code(t) for t in outcome.token_texts(entry))}")
    segmenter = outcome.segmenter
    tokeniser = current.study.tokeniser
    merged = None if segmenter is None else segmenter.tokeniser
    is_open = merged is not None and merged.numbered == tokeniser.numbered
    if not is_open:
        st.caption("The merge tree and the graph are those of the open tokeniser as it is now.")
    left, right = st.columns([4, 6], vertical_alignment="bottom")
    if left.button("Open in Merge tree", icon=":material/account_tree:", key="errors to tree"):
        open_in_merge_tree(current, word)
    if is_open and outcome.segmentation is not None:
        types = [
            type_
            for _, type_ in outcome.segmentation.token_ends(entry)
            if 0 <= type_ < len(current.study.graph.types)
        ]
        names = tokeniser.readable_types
        with right:
            chosen = st.pills(
                "Show a token in the graph",
                list(dict.fromkeys(types)),
                format_func=lambda type_: names[type_],
                key=f"errors to graph {entry} {id(outcome)}",
            )
        if chosen is not None:
            look_at(current, chosen)
            st.switch_page("pages/1_Merge_graph.py")
        word_trees(current, word, now(current), "errors tree")
