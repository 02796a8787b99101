"""A type: its merge, its blame, what its knockout changes, and the button."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.text import counted, from_to, in_percent, shortened
from morphgraph.graph.merge_table import Change
from web import edits
from web import widgets as ui
from web.aside import scored_words
from web.state import Session


def type_card(
    current: Session, number: int, *, cascade: bool = False, centre: bool = False
) -> Change | None:
    """Show a type, with a button that knocks it out or brings it back; return its removal, if any.

    ``cascade``: a knockout also removes what is made from it. ``centre``: offer to look at it in
    the middle of the merge graph.
    """
    graph = current.study.graph
    name = ui.code(shortened(current.study.tokeniser.readable_types[number]))
    is_present = graph.is_present(number)
    change = None if is_present else graph.removal_of(number)
    with st.container(key="type-sheet"):
        st.subheader(name if is_present else f"~~{name}~~", anchor=False)
        with st.container(horizontal=True, vertical_alignment="center"):
            # One button both removes and restores it, so that it keeps the focus.
            options: dict[str, Any] = {"primary": True, "key": "knock out"}
            if not is_present:
                ui.button("Bring it back", "undo", edits.bring_back, current, number, **options)
            elif graph.is_removable(number):
                knock_out = partial(edits.knock_out_type, cascade=cascade)
                ui.button("Knock out", "content_cut", knock_out, current, number, **options)
            if centre:
                tip = "Centre the graph on it; a double click there does the same."
                options = {"key": "centre", "help": tip}
                ui.button(
                    "Go there", "center_focus_strong", edits.look_at, current, number, **options
                )
        if graph.incoming(number) and graph.is_removable(number):
            _preview(current, number, cascade)
        elif change is not None and change is graph.history[-1]:
            _outcome(current)
        if is_present and graph.incoming(number) and current.study.has_blame:
            _blame(current, graph.incoming(number))
    if is_present:
        _about(current, number)
    elif change is not None:
        _removed(current, number, change)
    return change


def _about(current: Session, number: int) -> None:
    study = current.study
    graph, tokeniser = study.graph, study.tokeniser
    uses = counted(graph.fan_out(number), "merge")
    producers = graph.incoming(number)
    if not producers:
        special = graph.types[number] in tokeniser.special
        kind = "A special token" if special else "An atom"
        st.caption(f"{kind}: no merge makes it. Used by {uses}.")
        return
    if not graph.is_removable(number):
        st.caption("An added token, or the end of a word: it cannot be knocked out.")
    merges = " and ".join(
        f"**{ui.plain(ui.sum_of(tokeniser.readable_types, merge.parts))}**, rank {merge.rank:,}"
        for merge in map(graph.merge, producers)
    )
    st.caption(f"{merges}; used by {uses}")


def _blame(current: Session, producers: Sequence[int]) -> None:
    blamed = current.study.blame()
    joins, wrong = blamed.counts(blamed.worst_of(producers))
    blame = in_percent(wrong / joins if joins else math.nan, 0)
    with st.container(horizontal=True, gap="medium", key="type-figures"):
        for label, value, meaning in (
            ("joins", f"{joins:,.0f}", "Gaps that the merge closed in the words of the reference."),
            ("wrong", f"{wrong:,.0f}", "Wrong joins: those of them on a gold boundary."),
            ("blame", blame, "The share of its joins that are wrong."),
        ):
            st.metric(label, value, help=meaning, width="content")


def _preview(current: Session, number: int, cascade: bool) -> None:
    study, on = current.study, scored_words(current)

    def make() -> tuple[float, float, int, int]:
        types = [study.graph.types[number]]
        preview = study.preview(types, cascade=cascade, part=on.part)  # too large to cache
        goes = len(preview.change.removed_types)
        return preview.before.f1, preview.after.f1, preview.changed_words, goes

    before, after, changed, goes = current.once(("preview", number, cascade), make)
    others = f" · {counted(goes, 'type')} go" if goes > 1 else ""
    words = counted(changed, "word changes", "words change")
    if not study.benchmark.reference.has_gold:
        st.markdown(
            f"**{words}**{others}",
            help=f"Of the {len(study.benchmark):,} commonest words, without this type.",
        )
        return
    st.markdown(
        f":{ui.gain_colour(after - before)}[**F1 {from_to(before, after)}** · {words}{others}]",
        help=f"F1 now and without this type, and how many words it would resegment. {on.help}",
    )


def _outcome(current: Session) -> None:
    gain, description = edits.outcome(current)
    colour = ui.gain_colour(gain)
    first, *rest = description.split(" · ")
    st.markdown(f":{colour}-background[:{colour}[{' · '.join([f'**{first}**', *rest])}]]")


def _removed(current: Session, number: int, change: Change) -> None:
    names = current.study.tokeniser.readable_types
    rewired = [entry for entry in change.rewired if number in entry.old_parts]
    parts = next(m.parts for m in change.removed_merges.values() if m.result == number)
    takes = counted(len(rewired), "merge takes", "merges take")
    st.caption(f"Knocked out; {takes} **{ui.plain(ui.sum_of(names, parts))}** instead.")
