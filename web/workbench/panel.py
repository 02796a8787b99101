"""The panel beside the picture: the chosen type, one button, what it would do, its words."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from morphgraph.core.text import counted, from_to, shortened
from morphgraph.draw.word_lines import WordRow, rows_changed, rows_left, rows_through
from morphgraph.graph.merge_table import Change
from web import edits
from web import widgets as ui
from web.aside import scored_words
from web.components import WordGroup, word_rows
from web.edits import CANVAS, word_key
from web.state import Session
from web.workbench.place import TYPE, WORD


def panel(current: Session, *, cascade: bool) -> None:
    """Show the chosen type, with a button that knocks it out or brings it back, and its words."""
    graph, number = current.study.graph, current.selected or 0
    is_present = graph.is_present(number)
    change = None if is_present else graph.removal_of(number)
    name = ui.code(shortened(current.study.tokeniser.readable_types[number], 60))
    with st.container(key="type-sheet"):
        with st.container(horizontal=True, vertical_alignment="bottom", key="type-name"):
            st.subheader(name if is_present else f"~~{name}~~", anchor=False, width="content")
            size = current.study.tokeniser.vocabulary_size
            st.caption(f"one of {size:,} types" if is_present else "knocked out", width="content")
        with st.container(key="type-verdict"):  # as high before a knockout as after it
            verdict = _verdict(current, number) if is_present else _instead(current, number, change)
            st.markdown(verdict)
        _button(current, number, cascade)
        if is_present and graph.incoming(number) and graph.is_removable(number):
            _promise(current, number, cascade)
        elif change is not None and change is graph.history[-1]:
            gain, description = edits.outcome(current)
            colour = ui.gain_colour(gain)
            st.markdown(f":{colour}-background[:{colour}[**{description}**]]")
    edits.show_message(current)
    _about(current, number)
    if change is not None and change is graph.history[-1]:
        _words_changed(current, number)
    elif is_present and graph.incoming(number):
        _words_through(current, number)


def _button(current: Session, number: int, cascade: bool) -> None:
    # One button of one kind both removes and restores it, so that it keeps the focus.
    options: dict[str, Any] = {"key": "knock out", "width": "stretch", "primary": True}
    graph = current.study.graph
    if not graph.is_present(number):
        ui.button("Bring it back", "undo", edits.bring_back, current, number, **options)
    elif graph.is_removable(number) and graph.incoming(number):
        knock_out = partial(edits.knock_out_type, cascade=cascade)
        options["shortcut"] = "K"
        ui.button("Knock out", "content_cut", knock_out, current, number, **options)


def _verdict(current: Session, number: int) -> str:
    """Say how often a type joins two parts, and how often wrongly."""
    study, graph = current.study, current.study.graph
    producers = graph.incoming(number)
    if not producers:
        is_special = graph.types[number] in study.tokeniser.special
        return f"{'A special token' if is_special else 'An atom'}: no merge makes it."
    if not study.has_blame:
        used = sum(study.example_counts(number))
        words = counted(used, "word takes it in", "words take it in")
        return f"{words}, of the {len(study.benchmark):,} commonest."
    joins, wrong = study.blame().counts(study.blame().worst_of(producers))
    if not joins:
        return "It joins nothing in the words of the reference."
    colour = "red" if wrong / joins >= 0.5 else "orange" if wrong else "green"
    times = "time" if joins == 1 else "times"
    return (
        f":{colour}[**{wrong:,.0f} of {joins:,.0f}**] {times} that it joins two parts, it closes "
        "a boundary between morphs."
    )


def _instead(current: Session, number: int, change: Change | None) -> str:
    """Say what stands in for a type that is knocked out."""
    if change is None:
        return ""
    names = current.study.tokeniser.readable_types
    rewired = [entry for entry in change.rewired if number in entry.old_parts]
    parts = next(m.parts for m in change.removed_merges.values() if m.result == number)
    takes = counted(len(rewired), "merge now takes", "merges now take")
    some = takes if rewired else "Words now have"
    return f"{some} **{ui.plain(ui.sum_of(names, parts))}** in its place."


def _promise(current: Session, number: int, cascade: bool) -> None:
    """Say what a knockout would do, before it is made."""
    study, on = current.study, scored_words(current)

    def make() -> tuple[float, float, int, tuple[int, int], int]:
        types = [study.graph.types[number]]
        preview = study.preview(types, cascade=cascade, part=on.part)  # too large to cache
        goes = len(preview.change.removed_types)
        gains = study.better_worse_after(preview, on.part)
        return preview.before.f1, preview.after.f1, preview.changed_words, gains, goes

    before, after, changed, gains, goes = current.once(("promise", number, cascade), make)
    others = f" · {counted(goes, 'type')} go" if goes > 1 else ""
    if not study.benchmark.reference.has_gold:
        words = counted(changed, "common word changes", "common words change")
        st.markdown(f"**{words}**{others}")
        return
    better = counted(gains[0], "word better", "words better")
    of = f" of the {on.said}" if on.part else ""
    promise = f"F1 {from_to(before, after)} · {better}, {gains[1]:,} worse{of}{others}"
    st.markdown(f":{ui.gain_colour(after - before)}[**{promise}**]")


def _about(current: Session, number: int) -> None:
    """Say what makes a type and how many use it, with the way to its picture."""
    study, graph = current.study, current.study.graph
    names, producers = study.tokeniser.readable_types, graph.incoming(number)
    facts = [
        f"{ui.plain(ui.sum_of(names, merge.parts))}, rank {merge.rank:,}"
        for merge in map(graph.merge, producers)
    ]
    if graph.is_present(number):
        facts.append(f"used by {counted(graph.fan_out(number), 'merge')}")
    if producers and not graph.is_removable(number):
        facts.append("an added token, or the end of a word: it cannot be knocked out")
    if facts:
        st.caption(" · ".join(facts))
    if ui.value_now(CANVAS, WORD) == TYPE and current.focus != number:
        tip = "What it is made of, and what uses it; a double click in the picture does so, too."
        look_at = partial(edits.look_at, current, number)
        ui.button("Show it in the middle", "", look_at, type="tertiary", key="centre", help=tip)


# ------------------------------------------------------------------------------------- words


def _words_through(current: Session, number: int) -> None:
    study = current.study

    def make() -> list[WordGroup]:
        right, wrong = zip(study.example_counts(number), rows_through(study, number), strict=True)
        shown = {"Joins it gets wrong": wrong, "Joins it gets right": right}
        if not study.benchmark.reference.has_gold:
            shown = {"Words it is used in": right}
        return [_group(title, *rows) for title, rows in shown.items() if rows[0]]

    _words(current, current.once(("words through", number), make))


def _words_changed(current: Session, number: int) -> None:
    study, has_gold = current.study, current.study.benchmark.reference.has_gold

    def make() -> list[WordGroup]:
        rows, total = rows_changed(study)
        changed = _group("Words that changed", total, rows, "changed")
        if not rows:
            of = "of the reference" if has_gold else f"of the {len(study.benchmark):,} commonest"
            changed = replace(changed, more=f"No word {of} changes.")
        if not has_gold:
            return [changed]
        left, count = rows_left(study, number)
        stay = _group("Words that stay wrong, and the type to blame now", count, left)
        order = f"of all {len(study.benchmark):,}, better first"
        return [replace(changed, count=order), *([stay] if left else [])]

    _words(current, current.once(("words changed", number), make))


def _group(
    title: str, count: int, rows: list[WordRow], kind: Literal["right", "changed"] = "right"
) -> WordGroup:
    more = f"{count - len(rows):,} more" if count > len(rows) else ""
    return WordGroup(title, f"{count:,}", rows, more, kind)


def _words(current: Session, groups: list[WordGroup]) -> None:
    texts = current.study.benchmark.words.texts

    def choose(number: int) -> None:
        if 0 <= number < len(texts):
            ui.set_value(word_key(current), texts[number])
            ui.set_value(CANVAS, WORD)

    def look_at_closer(word: int, closer: int) -> None:
        if 0 <= closer < len(current.study.graph.types):
            choose(word)
            edits.look_at(current, closer)

    height = "max(220px, calc(100vh - var(--around-words, 615px)))"
    word_rows(groups, key="word rows", height=height, on_choose=choose, on_closer=look_at_closer)
