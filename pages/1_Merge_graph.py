"""Browse the merge graph, and click types to knock them out."""

from typing import NamedTuple

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.draw.colours import BLAME_SCALE
from morphgraph.draw.fan import fan_around
from morphgraph.draw.scene import first_focus, scene_around, stand_alone_html
from morphgraph.graph.view import MAX_VERTICES, to_graphml, to_networkx, type_key
from web.bootstrap import start
from web.components import Click, page_frame
from web.components.fan import fan_graph
from web.edits import handle_clicks, look_at, never_formed_note, show_message
from web.reopening import keep_session
from web.scoreboard import score_metrics
from web.state import Session
from web.views.type_panel import type_panel
from web.widgets import download, set_value, setting

SELECT, KNOCK_OUT = "Show it", "Knock it out"
_FIND = "find a type"
_VERTICES_PER_ROW = 4
HEIGHT = "clamp(400px, calc(100vh - 225px), 900px)"


@st.fragment
def explorer(current: Session) -> None:
    """Show the page; a fragment, so that a click redraws nothing else."""
    if current.focus is None:
        current.focus = first_focus(current.study)
    if current.selected is None:
        current.selected = current.focus
    _follow_focus(current)
    score_metrics(current, "graph")
    with st.container(key="wide-graph"):
        left, right = st.columns([5, 2])
    with left:
        controls = _controls(current)
        _graph(current, controls)
        never_formed_note(current)
    with right:
        show_message(current)
        type_panel(current, cascade=controls.cascade)
    keep_session(current)


def _follow_focus(current: Session) -> None:
    """Synchronise the focused type with the address, which wins on arrival."""
    graph = current.study.graph
    assert current.focus is not None
    here = graph.types[current.focus]
    asked = current.address.follow("type", here, among=graph.ids)
    if asked != here:
        look_at(current, graph.ids[asked])
        st.session_state[_FIND] = ""  # another type was found


class Controls(NamedTuple):
    """The values of the row of widgets above the graph."""

    down: int
    up: int
    rows: int
    knocks_out: bool
    cascade: bool
    free: bool


def _graph(current: Session, controls: Controls) -> None:
    study, focus = current.study, current.focus
    assert focus is not None
    selected = type_key(focus if current.selected is None else current.selected)
    place = f"{current.study_number} {focus} {controls.down} {controls.up} {controls.rows}"

    def on_event(clicks: list[Click]) -> None:
        for click in clicks:
            if click.key.startswith("more"):
                _show_more(current, click.key)
        handle_clicks(current, clicks, controls.knocks_out, cascade=controls.cascade)

    if controls.free:
        page_frame(
            _free_page(current, controls),
            "Free layout",
            key="free graph",
            height=620,
            on_event=lambda clicks: _focus(current, clicks[-1].key),
        )
    else:
        fan = fan_around(
            study,
            focus,
            up=controls.up,
            down=controls.down,
            rows=controls.rows,
            first=current.first_row,
        )
        fan_graph(
            fan,
            key="merge graph",
            view_key=f"{place} {current.first_row}",
            selected=selected,
            height=HEIGHT,
            on_event=on_event,
        )
    _legend()


def _free_page(current: Session, controls: Controls) -> str:
    """Return the neighbourhood in free layout, as a page that works offline."""
    study, focus = current.study, current.focus
    assert focus is not None
    up, down, limit = controls.up, controls.down, _VERTICES_PER_ROW * controls.rows
    title = f"Around {study.tokeniser.readable_types[focus]}"
    return stand_alone_html(scene_around(study, focus, up=up, down=down, limit=limit), title)


def _focus(current: Session, key: str) -> None:
    """Focus the fan on the type clicked in free layout."""
    number = key.removeprefix("t")
    if number.isdecimal() and int(number) < len(current.study.graph.types):
        look_at(current, int(number))
        set_value("free_layout", False)


def _show_more(current: Session, key: str) -> None:
    """Show the merges that a vertex stands for, those of another type in its own picture."""
    first, _, number = key.removeprefix("more").partition(":")
    if not (first.isdecimal() and number.isdecimal()):
        return
    if int(number) == current.focus:
        current.first_row = int(first)
    elif int(number) < len(current.study.graph.types):
        look_at(current, int(number))


def _controls(current: Session) -> Controls:
    find, matches, view = st.columns([5, 5, 2], vertical_alignment="center")
    tokeniser = current.study.tokeniser

    def find_exactly() -> None:
        text = st.session_state[_FIND]
        exact = tokeniser.type_from(text) if text.strip() else None
        if exact is not None:
            look_at(current, tokeniser.graph.ids[exact])

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
    else:
        blamed = current.study.blame()
        order = blamed.order[:100]
        numbers = list(dict.fromkeys(int(blamed.arrays.results[place]) for place in order))
        label = "Most to blame"
    readable = tokeniser.readable_types
    choice_key = f"choice {current.study_number} {text}"

    def choose() -> None:
        number = st.session_state.get(choice_key)
        if number is not None:
            look_at(current, number)
            st.session_state[choice_key] = None  # so that it can be chosen again

    matches.selectbox(
        label,
        numbers,
        index=None,
        format_func=lambda number: readable[number],
        key=choice_key,
        placeholder=label,
        on_change=choose,
        disabled=not numbers,
        label_visibility="collapsed",
    )
    with view.popover("View", width="stretch"):
        return _view(current)


def _view(current: Session) -> Controls:
    columns = st.columns(3)
    down = setting(
        columns[0].number_input, "Steps down", 0, 12, key="down", first=1, help="Towards the atoms."
    )
    up = setting(
        columns[1].number_input, "Steps up", 0, 6, key="up", first=1, help="Towards longer types."
    )
    rows = setting(
        columns[2].number_input,
        "At most",
        4,
        MAX_VERTICES,
        step=10,
        key="limit",
        first=14,
        help="Merges of a type.",
    )
    mode = setting(
        st.segmented_control,
        "A click on a type",
        [SELECT, KNOCK_OUT],
        key="click_mode",
        first=SELECT,
        required=True,
    )
    cascade = setting(
        st.toggle,
        "Knock out everything made from it, too",
        key="cascade",
        first=False,
        help="Cascade: also remove every type whose derivation needs this one.",
    )
    free = setting(
        st.toggle,
        "Free layout",
        key="free_layout",
        first=False,
        help="Drag vertices, and see how merges share types; a click on one goes back there.",
    )
    controls = Controls(down, up, rows, mode == KNOCK_OUT, cascade, free)
    _exports(current, controls)
    return controls


def _legend() -> None:
    # Colours for both themes, as the theme can change while the page is open.
    pairs = zip(BLAME_SCALE["light"], BLAME_SCALE["dark"], strict=True)
    steps = "".join(f'<i style="background:light-dark({a}, {b})"></i>' for a, b in pairs)
    st.html(
        f"""<div class="morphgraph-legend"><span>blame 0 {steps} 100 %</span>
        <span>▪ the type they all share</span><span>␣ start of a word</span>
        <span><i class="changed"></i> changed now</span></div>"""
    )


def _exports(current: Session, controls: Controls) -> None:
    study = current.study
    with st.container(horizontal=True):
        download(
            "Web page",
            lambda: _free_page(current, controls),
            "merge-graph.html",
            key=f"html {current.study_number}",
            help="This neighbourhood in free layout, in a file that works offline.",
        )
        download(
            "GraphML",
            lambda: to_graphml(to_networkx(study.graph, names=study.tokeniser.readable_types)),
            "merge-graph.graphml",
            key=f"graphml {current.study_number}",
            help="The whole graph.",
        )


explorer(start("Merge graph"))
