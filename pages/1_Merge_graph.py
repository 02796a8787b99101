"""Browse the merge graph, click types to see what they do, and knock them out."""

from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw import BLAME_SCALE
from morphgraph.draw.fan import Order, fan_around
from morphgraph.draw.overview import Overview
from morphgraph.draw.scene import first_focus, scene_around, stand_alone_html
from morphgraph.draw.word_lines import rows_changed, rows_through
from morphgraph.graph.view import MAX_VERTICES, type_key
from web import edits
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.components import (
    Click,
    WordGroup,
    fan_graph,
    page_frame,
    type_finder,
    type_overview,
    word_rows,
)
from web.state import Session, keep_session
from web.views.trees import open_in_merge_tree
from web.views.type_card import type_card

SELECT, KNOCK_OUT = "Show it", "Knock it out"
_WORD_CHOSEN, _ORDER = "word to look at", "order of merges"
_MOST, _LONGEST = 100, 200
"""Types that are listed at once, and characters of a name."""
_ORDERS: dict[Order, str] = {"rank": "by rank", "joins": "joins", "blame": "blame"}
_SIGNS = (
    ("type", "", "a type"),
    ("merge", "", "a merge, with what it makes at its right"),
    ("merge none", "", "grey: never applied, or an atom, which no merge makes"),
    ("", "▪", "in a merge: the type in the middle"),
    ("", "␣", "the start of a word"),
    ("line", "", "the merges that use the type in the middle"),
    ("type chosen", "", "the type in the panel; dashed: where the keyboard is"),
    ("merge changed", "", "changed by the last edit"),
    ("merge gone", "", "knocked out; the name of its type is struck out"),
    ("line parts", "", "the parts of a type that is knocked out, running through it"),
    ("merge more", "", "merges that are not drawn"),
)
"""The kind, text and meaning of each sign of the picture."""
HEIGHT = "clamp(300px, calc(100vh - var(--beside-graph, 225px)), 900px)"


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
    score_metrics(current, "graph")
    with st.container(key="wide-graph"):
        left, right = st.columns([5, 2])
    with left:
        controls = _controls(current)
        _graph(current, current.focus, controls)
        edits.never_formed_note(current)
    with right:
        _overview(current)
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
            _go_to(current, click.key.removeprefix("more"))  # merges that are not drawn, of a type
        edits.handle_clicks(current, clicks, controls.knocks_out, cascade=controls.cascade)

    def focus_on(clicks: list[Click]) -> None:
        _go_to(current, clicks[-1].key.removeprefix("t"))

    has_blame = current.study.has_blame
    if controls.free:
        page = _free_page(current, controls)
        page_frame(page, "Free layout", key="free graph", height=620, on_event=focus_on)
    else:
        order: Order = ui.value_now(_ORDER, "rank") if has_blame else "rank"
        fan_graph(
            fan_around(current.study, focus, up=up, down=down, rows=rows, order=order),
            key="merge graph",
            view_key=f"{current.study_number} {focus} {down} {up} {rows} {order}",
            selected=type_key(focus if current.selected is None else current.selected),
            height=HEIGHT,
            least=11 / 14,
            on_event=on_event,
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if has_blame:
            # Colours for both themes, as the theme can change while the page is open.
            pairs = zip(BLAME_SCALE["light"], BLAME_SCALE["dark"], strict=True)
            steps = "".join(f'<i style="background:light-dark({a}, {b})"></i>' for a, b in pairs)
            scale = f'<div class="morphgraph-legend"><span>blame 0 {steps} 100 %</span></div>'
            st.html(scale, width="content")
        if not controls.free:
            if has_blame:
                shown = {"format_func": _ORDERS.get, "label_visibility": "collapsed"}
                ui.segments("Order of the merges", _ORDERS, key=_ORDER, **shown)
            with st.popover("", icon=":material/help:", type="tertiary", key="signs"):
                signs = (
                    f'<span><i class="{kind}">{i}</i>{said}</span>' for kind, i, said in _SIGNS
                )
                st.html(f'<div class="morphgraph-legend signs">{"".join(signs)}</div>')


def _free_page(current: Session, controls: Controls) -> str:
    study, focus = current.study, current.focus or 0
    scene = scene_around(study, focus, up=controls.up, down=controls.down)
    return stand_alone_html(scene, f"Around {study.tokeniser.readable_types[focus]}")


def _go_to(current: Session, number: str) -> None:
    """Show a type in the middle; ``number``: from the browser, so possibly of no type."""
    if number.isdecimal() and int(number) < len(current.study.graph.types):
        edits.look_at(current, int(number))
        ui.set_value("free_layout", False)


def _controls(current: Session) -> Controls:
    with st.container(horizontal=True, wrap=False, key="graph-controls"):
        with st.container():
            _finder(current, current.focus, current.selected)
        with st.popover("View"):
            return _view(current)


def _overview(current: Session) -> None:
    study, number = current.study, current.selected or 0
    names = study.tokeniser.readable_types
    if not study.has_blame:
        return

    def make() -> Overview:
        return Overview.of(study.blame(), names, study.graph.type_ids())

    overview, name = current.once(("overview",), make), shortened(names[number], _LONGEST)
    go_to = partial(edits.look_at, current)
    type_overview(overview, number, name, key="overview", on_choose=go_to)


@st.fragment
def _finder(current: Session, *shown: int | None) -> None:
    """Show the field that finds types; a fragment, so that typing redraws nothing else."""
    study, graph = current.study, current.study.graph
    has_blame, blamed = study.has_blame, study.blame()
    names = study.tokeniser.readable_types

    def weights() -> list[float]:
        if has_blame:
            return list(blamed.joins_of_types)
        return [graph.fan_out(number) for number in range(len(graph.types))]

    def first() -> list[int]:
        if not has_blame:
            return sorted(graph.type_ids(), key=by_weight.__getitem__, reverse=True)[:_MOST]
        results = blamed.arrays.results[blamed.order[:_MOST]]
        return list(dict.fromkeys(results.tolist()))

    by_weight = current.once(("weights of types",), weights)
    label = "Most to blame" if has_blame else "In most merges"

    def find(text: str) -> tuple[str, list[tuple[int, str, str]]]:
        if text:
            numbers = study.tokeniser.search(text, _MOST, by_weight)
            title = counted(len(numbers), "match", "matches")
            title = title if len(numbers) < _MOST else f"First {_MOST} matches"
        else:
            numbers, title = current.once(("first types",), first), label
        shown = [shortened(names[number], _LONGEST) for number in numbers]
        figures_of = blamed.figures if has_blame else lambda n: counted(graph.fan_out(n), "merge")
        return title, [(n, s, figures_of(n)) for n, s in zip(numbers, shown, strict=True)]

    if shown != (current.focus, current.selected):
        st.rerun()  # all of the page
    type_finder(find, label, key="find a type", on_choose=lambda n: _go_to(current, str(n)))


def _view(current: Session) -> Controls:
    def number(column: Any, label: str, *limits: int, **options: Any) -> int:
        return int(ui.setting(column.number_input, label, *limits, **options))

    def switch(label: str, key: str, said: str) -> bool:
        return bool(ui.setting(st.toggle, label, key=key, first=False, help=said))

    one, two, three = st.columns(3)
    down = number(one, "Steps down", 0, 12, key="down", first=1, help="Towards the atoms.")
    up = number(two, "Steps up", 0, 6, key="up", first=1, help="Towards longer types.")
    options: dict[str, Any] = {
        "key": "limit",
        "first": 124,
        "help": "Merges of a type.",
        "step": 10,
    }
    rows = number(three, "At most", 4, MAX_VERTICES, **options)
    mode = ui.segments("A click on a type", [SELECT, KNOCK_OUT], key="click_mode")
    said = "Cascade: also remove every type whose derivation needs this one."
    cascade = switch("Knock out everything made from it, too", "cascade", said)
    said = "Drag vertices, and see how merges share types; a click on one goes back there."
    free = switch("Free layout", "free_layout", said)
    controls = Controls(down, up, rows, mode == KNOCK_OUT, cascade, free)
    said = "This neighbourhood in free layout. It works offline."
    ui.download("Web page", lambda: _free_page(current, controls), "merge-graph.html", help=said)
    return controls


def type_panel(current: Session, number: int, cascade: bool) -> None:
    """Show the selected type, and its words."""
    word = st.session_state.pop(_WORD_CHOSEN, None)
    if word is not None:
        open_in_merge_tree(current, current.study.benchmark.words.texts[word])
    graph = current.study.graph
    removal = type_card(current, number, cascade=cascade, centre=current.focus != number)
    if removal is not None and removal is graph.history[-1]:
        _words_changed(current)
    elif graph.is_present(number) and graph.incoming(number):
        _words_through(current, number)


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
            kind: Any = "wrong" if title.endswith("wrong") else "right"
            groups.append(WordGroup(title, f"{count:,}", rows, more, kind))
        return groups

    _words(current.once(("words through", number), make), 605)


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
        return [WordGroup("Words that changed", order, rows, more, "changed")]

    _words(current.once(("words changed",), make), 475)


def _words(groups: list[WordGroup], above: int) -> None:
    height = f"max(220px, calc(100vh - {above}px))"
    choose = partial(st.session_state.__setitem__, _WORD_CHOSEN)
    word_rows(groups, key="word rows", height=height, on_choose=choose)


explorer(start("Merge graph"))
