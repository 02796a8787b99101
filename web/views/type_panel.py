"""Details of the selected type, and the words that contain it."""

import math
from functools import partial

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, from_to, in_percent, shortened
from morphgraph.draw.word_rows import rows_changed, rows_through
from morphgraph.graph.merge_table import Change
from morphgraph.refine.study import ChangedWord
from web.components.fan import WordGroup, word_rows
from web.edits import bring_back, knock_out_type, look_at, outcome
from web.scoreboard import MARKS
from web.state import Session
from web.text import code, gain_colour, plain, sum_of
from web.views.trees import open_in_merge_tree
from web.widgets import button, show_table

_HEIGHT = "max(220px, calc(100vh - 470px))"
_CHANGED_HEIGHT = "max(220px, calc(100vh - 340px))"
_WORD_CHOSEN = "word to look at"


def type_panel(current: Session, *, cascade: bool = False) -> None:
    """Show the selected type: its merge, its blame, its knockout's effect, and its words.

    ``cascade``: a knockout also removes everything made from the type.
    """
    number = current.selected
    if number is None:
        st.info("Click a type in the graph to see what it does.")
        return
    word = st.session_state.pop(_WORD_CHOSEN, None)
    if word is not None:
        open_in_merge_tree(current, current.study.benchmark.words.texts[word])
    graph = current.study.graph
    name = code(shortened(current.study.tokeniser.readable_types[number]))
    is_present = graph.is_present(number)
    st.subheader(name if is_present else f"~~{name}~~", anchor=False)
    _buttons(current, number, cascade)
    if is_present:
        _about(current, number, cascade)
    elif (change := graph.removal_of(number)) is not None:
        _removed(current, number, change)


def _buttons(current: Session, number: int, cascade: bool) -> None:
    """Show the actions for the type.

    One button both removes and restores it, so that it keeps the focus.
    """
    graph = current.study.graph
    with st.container(horizontal=True, vertical_alignment="center"):
        if not graph.is_present(number):
            button(
                "Bring it back", "undo", bring_back, current, number, primary=True, key="knock out"
            )
        elif graph.is_removable(number):
            knock_out = partial(knock_out_type, cascade=cascade)
            button(
                "Knock out",
                "content_cut",
                knock_out,
                current,
                number,
                primary=True,
                key="knock out",
            )
        if current.focus != number:
            button(
                "Go there",
                "center_focus_strong",
                look_at,
                current,
                number,
                key="centre",
                help="Centre the graph on it; a double click there does the same.",
            )


def _about(current: Session, number: int, cascade: bool) -> None:
    study = current.study
    graph, tokeniser = study.graph, study.tokeniser
    uses = counted(graph.fan_out(number), "merge")
    producers = graph.incoming(number)
    if not producers:
        special = graph.types[number] in tokeniser.special
        kind = "A special token" if special else "An atom"
        st.caption(f"{kind}: no merge makes it. Used by {uses}.")
        return
    if graph.is_removable(number):
        _preview(current, number, cascade)
    else:
        st.caption("An added token, or the end of a word: it cannot be knocked out.")
    made = " and ".join(
        f"**{plain(sum_of(tokeniser.readable_types, merge.parts))}**, rank {merge.rank:,}"
        for merge in map(graph.merge, producers)
    )
    st.caption(f"{made}; used by {uses}")
    _figures(current, number)
    _words_through(current, number)


def _preview(current: Session, number: int, cascade: bool) -> None:
    """Describe the effect of its knockout, in a line."""
    study = current.study
    types = [study.graph.types[number]]

    def make() -> tuple[float, float, int, int]:
        found = study.preview(types, cascade=cascade)  # too large for the cache
        goes = len(found.change.removed_types)
        return found.before.f1, found.after.f1, found.changed_words, goes

    before, after, changed, goes = current.once(("preview", number, cascade), make)
    others = f" · {counted(goes, 'type')} go" if goes > 1 else ""
    words = counted(changed, "word changes", "words change")
    st.markdown(
        f":{gain_colour(after - before)}[**F1 {from_to(before, after)}** · {words}{others}]",
        help="F1 now and without this type, and how many words it would resegment.",
    )


def _figures(current: Session, number: int) -> None:
    study = current.study
    blamed = study.blame()
    joins, wrong = blamed.counts(blamed.worst_of(study.graph.incoming(number)))
    with st.container(horizontal=True, gap="medium", key="type-figures"):
        for label, value, meaning in (
            ("joins", f"{joins:,.0f}", "Gaps that the merge closed in the words of the reference."),
            ("wrong", f"{wrong:,.0f}", "Wrong joins: those of them on a gold boundary."),
            (
                "blame",
                in_percent(wrong / joins if joins else math.nan, 0),
                "The share of its joins that are wrong.",
            ),
        ):
            st.metric(label, value, help=meaning, width="content")


def _removed(current: Session, number: int, change: Change) -> None:
    """Show a removed type: what replaced it, and the words that changed."""
    graph, names = current.study.graph, current.study.tokeniser.readable_types
    is_last = change is graph.history[-1]
    if is_last:
        gain, said = outcome(current)
        colour = gain_colour(gain)
        f1, _, words = said.partition(" · ")
        st.markdown(f":{colour}-background[:{colour}[**{f1}** · {words}]]")
    rewired = [entry for entry in change.rewired if number in entry.old_parts]
    parts = next(m.parts for m in change.removed_merges.values() if m.result == number)
    takes = counted(len(rewired), "merge takes", "merges take")
    st.caption(f"Knocked out; {takes} **{plain(sum_of(names, parts))}** instead.")
    if is_last:
        _words_changed(current)


# ------------------------------------------------------------------------------------- words


def _choose(number: int) -> None:
    st.session_state[_WORD_CHOSEN] = number


def _words_through(current: Session, number: int) -> None:
    study = current.study

    def make() -> list[WordGroup]:
        counts = study.example_counts(number)
        titles = ("Words it got right", "Words it got wrong")
        return [
            WordGroup(
                title,
                f"{count:,}",
                rows,
                f"{count - len(rows):,} more" if count > len(rows) else "",
            )
            for title, count, rows in zip(titles, counts, rows_through(study, number), strict=True)
        ][::-1]

    groups = current.once(("words through", number), make)
    word_rows(groups, key="word rows", height=_HEIGHT, on_choose=_choose)


def _words_changed(current: Session) -> None:
    study = current.study

    def make() -> list[WordGroup]:
        rows, total = rows_changed(study)
        more = f"{total - len(rows):,} more" if total > len(rows) else ""
        more = more or ("" if rows else "No word of the reference changes.")
        return [WordGroup("Words that changed", "better first", rows, more, fresh=True)]

    groups = current.once(("words changed",), make)
    word_rows(groups, key="word rows", height=_CHANGED_HEIGHT, on_choose=_choose)


def changed_table(words: list[ChangedWord], total: int, most: int) -> None:
    """Show changed words, the first of ``total``; the gain counts newly correct gaps."""
    frame = pd.DataFrame(words, columns=["gold", "before", "after", "gain"])
    show_table(frame, most)
    shown = f", the first {len(words):,} shown" if len(words) < total else ""
    st.caption(f"{counted(total, 'word')}{shown} · {MARKS}")
