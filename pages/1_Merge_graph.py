"""Browse the merge graph, click types to see what they do, and knock them out."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.text import counted, from_to, in_percent, shortened
from morphgraph.draw import BLAME_SCALE
from morphgraph.draw.fan import fan_around
from morphgraph.draw.scene import first_focus, scene_around, stand_alone_html
from morphgraph.draw.words import rows_changed, rows_through
from morphgraph.graph.merge_table import Change
from morphgraph.graph.view import MAX_VERTICES, to_graphml, to_networkx, type_key
from web import edits
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.components import Click, WordGroup, fan_graph, page_frame, word_rows
from web.state import Session, keep_session
from web.views.trees import open_in_merge_tree

SELECT, KNOCK_OUT = "Show it", "Knock it out"
_FIND = "find a type"
_WORD_CHOSEN = "word to look at"
HEIGHT = "clamp(400px, calc(100vh - 225px), 900px)"


@st.fragment
def explorer(current: Session) -> None:
    """Show the page; a fragment, so that a click redraws nothing else."""
    graph = current.study.graph
    if current.focus is None:
        current.focus = first_focus(current.study)
    if current.selected is None:
        current.selected = current.focus
    asked = current.address.follow("type", graph.types[current.focus], among=graph.ids)
    if graph.ids[asked] != current.focus:
        edits.look_at(current, graph.ids[asked])
        st.session_state[_FIND] = ""  # another type was found
    score_metrics(current, "graph")
    with st.container(key="wide-graph"):
        left, right = st.columns([5, 2])
    with left:
        controls = _controls(current)
        _graph(current, current.focus, controls)
        edits.never_formed_note(current)
    with right:
        edits.show_message(current)
        type_panel(current, current.selected, controls.cascade)
    keep_session(current)


class Controls(NamedTuple):
    """The values of the row of widgets above the graph."""

    down: int
    up: int
    rows: int
    knocks_out: bool
    cascade: bool
    free: bool


def _graph(current: Session, focus: int, controls: Controls) -> None:
    down, up, rows = controls[:3]

    def on_event(clicks: list[Click]) -> None:
        for click in clicks:
            if click.key.startswith("more"):
                _show_more(current, click.key)
        edits.handle_clicks(current, clicks, controls.knocks_out, cascade=controls.cascade)

    def focus_on(clicks: list[Click]) -> None:
        number = clicks[-1].key.removeprefix("t")
        if number.isdecimal() and int(number) < len(current.study.graph.types):
            edits.look_at(current, int(number))
            ui.set_value("free_layout", False)

    if controls.free:
        page = _free_page(current, controls)
        page_frame(page, "Free layout", key="free graph", height=620, on_event=focus_on)
    else:
        first = current.first_row
        fan_graph(
            fan_around(current.study, focus, up=up, down=down, rows=rows, first=first),
            key="merge graph",
            view_key=f"{current.study_number} {focus} {down} {up} {rows} {first}",
            selected=type_key(focus if current.selected is None else current.selected),
            height=HEIGHT,
            on_event=on_event,
        )
    # Colours for both themes, as the theme can change while the page is open.
    pairs = zip(BLAME_SCALE["light"], BLAME_SCALE["dark"], strict=True)
    steps = "".join(f'<i style="background:light-dark({a}, {b})"></i>' for a, b in pairs)
    has_gold = current.study.benchmark.reference.has_gold
    scale = f"<span>blame 0 {steps} 100 %</span>" if has_gold else ""
    st.html(f"""<div class="morphgraph-legend">{scale}
        <span>▪ the type they all share</span><span>␣ start of a word</span>
        <span><i class="changed"></i> changed now</span></div>""")


def _free_page(current: Session, controls: Controls) -> str:
    study, focus = current.study, current.focus or 0
    limit = 4 * controls.rows  # vertices
    scene = scene_around(study, focus, up=controls.up, down=controls.down, limit=limit)
    return stand_alone_html(scene, f"Around {study.tokeniser.readable_types[focus]}")


def _show_more(current: Session, key: str) -> None:
    """Show the merges that a vertex stands for, those of another type in its own picture."""
    first, _, number = key.removeprefix("more").partition(":")
    if not (first.isdecimal() and number.isdecimal()):
        return
    if int(number) == current.focus:
        current.first_row = int(first)
    elif int(number) < len(current.study.graph.types):
        edits.look_at(current, int(number))


def _controls(current: Session) -> Controls:
    find, matches, view = st.columns([5, 5, 2], vertical_alignment="center")
    tokeniser = current.study.tokeniser

    def find_exactly() -> None:
        text = st.session_state[_FIND]
        if text.strip() and (exact := tokeniser.type_from(text)) is not None:
            edits.look_at(current, tokeniser.graph.ids[exact])

    text = find.text_input(
        "Find a type",
        key=_FIND,
        placeholder="Find a type …",
        max_chars=100,
        on_change=find_exactly,
        label_visibility="collapsed",
    )
    if text:
        numbers = tokeniser.search(text)
        found = counted(len(numbers), "match", "matches")
        label = found if len(numbers) < 100 else "First 100 matches"
    elif not current.study.benchmark.reference.has_gold:
        numbers, label = _most_used(current), "In most merges"
    else:
        blamed = current.study.blame()
        results = (int(blamed.arrays.results[place]) for place in blamed.order[:100])
        numbers, label = list(dict.fromkeys(results)), "Most to blame"
    choice_key = f"choice {current.study_number} {text}"

    def choose() -> None:
        if (number := st.session_state.get(choice_key)) is not None:
            edits.look_at(current, number)
            st.session_state[choice_key] = None  # so that it can be chosen again

    matches.selectbox(
        label,
        numbers,
        index=None,
        format_func=tokeniser.readable_types.__getitem__,
        key=choice_key,
        placeholder=label,
        on_change=choose,
        disabled=not numbers,
        label_visibility="collapsed",
    )
    with view.popover("View", width="stretch"):
        return _view(current)


def _most_used(current: Session) -> list[int]:
    graph = current.study.graph

    def make() -> list[int]:
        return sorted(graph.type_ids(), key=graph.fan_out, reverse=True)[:100]

    return current.once(("most used",), make)


def _view(current: Session) -> Controls:
    def number(column: Any, label: str, *limits: int, **how: Any) -> int:
        return int(ui.setting(column.number_input, label, *limits, **how))

    def switch(label: str, key: str, said: str) -> bool:
        return bool(ui.setting(st.toggle, label, key=key, first=False, help=said))

    one, two, three = st.columns(3)
    down = number(one, "Steps down", 0, 12, key="down", first=1, help="Towards the atoms.")
    up = number(two, "Steps up", 0, 6, key="up", first=1, help="Towards longer types.")
    how: dict[str, Any] = {"key": "limit", "first": 14, "help": "Merges of a type.", "step": 10}
    rows = number(three, "At most", 4, MAX_VERTICES, **how)
    mode = ui.segments("A click on a type", [SELECT, KNOCK_OUT], key="click_mode")
    said = "Cascade: also remove every type whose derivation needs this one."
    cascade = switch("Knock out everything made from it, too", "cascade", said)
    said = "Drag vertices, and see how merges share types; a click on one goes back there."
    free = switch("Free layout", "free_layout", said)
    controls = Controls(down, up, rows, mode == KNOCK_OUT, cascade, free)
    graph, names = current.study.graph, current.study.tokeniser.readable_types
    files: dict[str, Callable[[], str | bytes]] = {
        "merge-graph.html": lambda: _free_page(current, controls),
        "merge-graph.graphml": lambda: to_graphml(to_networkx(graph, names=names)),
    }
    said = "The page has this neighbourhood in free layout and works offline, GraphML all merges."
    ui.downloads(files, said)
    return controls


def type_panel(current: Session, number: int, cascade: bool) -> None:
    """Show the selected type: its merge, its blame, the effect of its knockout, and its words."""
    word = st.session_state.pop(_WORD_CHOSEN, None)
    if word is not None:
        open_in_merge_tree(current, current.study.benchmark.words.texts[word])
    graph = current.study.graph
    name = ui.code(shortened(current.study.tokeniser.readable_types[number]))
    is_present = graph.is_present(number)
    st.subheader(name if is_present else f"~~{name}~~", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        # One button both removes and restores it, so that it keeps the focus.
        how: dict[str, Any] = {"primary": True, "key": "knock out"}
        if not is_present:
            ui.button("Bring it back", "undo", edits.bring_back, current, number, **how)
        elif graph.is_removable(number):
            knock_out = partial(edits.knock_out_type, cascade=cascade)
            ui.button("Knock out", "content_cut", knock_out, current, number, **how)
        if current.focus != number:
            said = "Centre the graph on it; a double click there does the same."
            how = {"key": "centre", "help": said}
            ui.button("Go there", "center_focus_strong", edits.look_at, current, number, **how)
    if is_present:
        _about(current, number, cascade)
    elif (change := graph.removal_of(number)) is not None:
        _removed(current, number, change)


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
        f"**{ui.plain(ui.sum_of(tokeniser.readable_types, merge.parts))}**, rank {merge.rank:,}"
        for merge in map(graph.merge, producers)
    )
    st.caption(f"{made}; used by {uses}")
    if study.benchmark.reference.has_gold:
        _blame(current, producers)
    _words_through(current, number)


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
    study = current.study

    def make() -> tuple[float, float, int, int]:
        found = study.preview([study.graph.types[number]], cascade=cascade)  # too large to cache
        goes = len(found.change.removed_types)
        return found.before.f1, found.after.f1, found.changed_words, goes

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
        help="F1 now and without this type, and how many words it would resegment.",
    )


def _removed(current: Session, number: int, change: Change) -> None:
    graph, names = current.study.graph, current.study.tokeniser.readable_types
    is_last = change is graph.history[-1]
    if is_last:
        gain, said = edits.outcome(current)
        colour = ui.gain_colour(gain)
        first, *rest = said.split(" · ")
        st.markdown(f":{colour}-background[:{colour}[{' · '.join([f'**{first}**', *rest])}]]")
    rewired = [entry for entry in change.rewired if number in entry.old_parts]
    parts = next(m.parts for m in change.removed_merges.values() if m.result == number)
    takes = counted(len(rewired), "merge takes", "merges take")
    st.caption(f"Knocked out; {takes} **{ui.plain(ui.sum_of(names, parts))}** instead.")
    if is_last:
        _words_changed(current)


def _words_through(current: Session, number: int) -> None:
    study = current.study

    def make() -> list[WordGroup]:
        right, wrong = zip(study.example_counts(number), rows_through(study, number), strict=True)
        groups = []
        titles = {"Words it got wrong": wrong, "Words it got right": right}
        if not study.benchmark.reference.has_gold:
            titles = {"Words it is used in": right}
        for title, (count, rows) in titles.items():
            more = f"{count - len(rows):,} more" if count > len(rows) else ""
            groups.append(WordGroup(title, f"{count:,}", rows, more))
        return groups

    _words(current.once(("words through", number), make), 470)


def _words_changed(current: Session) -> None:
    def make() -> list[WordGroup]:
        rows, total = rows_changed(current.study)
        more = f"{total - len(rows):,} more" if total > len(rows) else ""
        has_gold = current.study.benchmark.reference.has_gold
        of = (
            "of the reference" if has_gold else f"of the {len(current.study.benchmark):,} commonest"
        )
        more = more or ("" if rows else f"No word {of} changes.")
        order = "better first" if has_gold else f"{total:,}"
        return [WordGroup("Words that changed", order, rows, more, fresh=True)]

    _words(current.once(("words changed",), make), 340)


def _words(groups: list[WordGroup], above: int) -> None:
    height = f"max(220px, calc(100vh - {above}px))"
    choose = partial(st.session_state.__setitem__, _WORD_CHOSEN)
    word_rows(groups, key="word rows", height=height, on_choose=choose)


explorer(start("Merge graph"))
