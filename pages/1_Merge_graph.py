"""Browse the merge graph, and click types to knock them out."""

from typing import NamedTuple

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.draw.colours import BLAME_SCALE, SCENE_COLOURS
from morphgraph.draw.explore import View, first_focus, view_around
from morphgraph.draw.export_html import stand_alone_html
from morphgraph.graph.view import MAX_VERTICES, to_graphml, to_networkx, type_key
from web.bootstrap import start
from web.components import merge_graph
from web.edits import handle_clicks, look_at, show_message
from web.reopening import keep_session
from web.scoreboard import score_metrics
from web.session import Session
from web.views.type_panel import changed_words, example_tree, type_panel
from web.widgets import download, remembered

SELECT, KNOCK_OUT = "Show it", "Knock it out"


@st.fragment
def explorer(current: Session) -> None:
    """The whole page; a fragment, so that a click draws nothing else anew."""
    study = current.study
    if current.focus is None:
        current.focus = first_focus(study)
    if current.selected is None:
        current.selected = current.focus
    score_metrics(current, "graph")
    controls = _controls(current)
    # Only an edit keeps what was drawn: another depth or place is a picture of its own.
    asked = (current.study_number, current.focus, controls.up, controls.down, controls.limit)
    if current.drawn_for != asked:
        current.drawn_for, current.shown_merges = asked, frozenset()
    view = view_around(
        study,
        current.focus,
        up=controls.up,
        down=controls.down,
        limit=controls.limit,
        previous=current.positions,
        shown=current.shown_merges,
    )
    current.positions |= view.scene.positions()  # undo then finds the old places
    current.shown_merges = view.merges
    with st.container(key="wide-graph"):
        left, right = st.columns([5, 3])
    with left:
        merge_graph(
            view.scene.to_dict(),
            key="merge graph",
            view_key=f"{current.study_number} {current.focus}",
            selected=type_key(current.selected),
            click_mode="knockout" if controls.knocks_out else "select",
            height=560,
            on_event=lambda clicks: handle_clicks(current, clicks, controls.knocks_out),
        )
        _legend(view, controls.limit)
        _exports(current, view)
    with right:
        show_message()
        type_panel(current)
    example_tree(current)
    changed_words(current)
    keep_session(current)


class Controls(NamedTuple):
    """What the row of widgets above the graph says."""

    down: int
    up: int
    limit: int
    knocks_out: bool


def _controls(current: Session) -> Controls:
    find, matches, down, up, limit, mode = st.columns(
        [3, 4, 2, 2, 2, 4], vertical_alignment="bottom"
    )
    tokeniser = current.study.tokeniser

    def find_exactly() -> None:
        exact = tokeniser.type_from(st.session_state["find a type"])
        if exact is not None:
            look_at(current, tokeniser.graph.ids[exact])

    text = find.text_input(
        "Find a type",
        key="find a type",
        placeholder="part of a type",
        max_chars=100,
        on_change=find_exactly,
        help="A space in front finds types that start a word.",
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

    matches.selectbox(
        label,
        numbers,
        index=None,
        format_func=lambda number: readable[number],
        key=choice_key,
        placeholder="choose a type" if numbers else "nothing found",
        on_change=choose,
        disabled=not numbers,
    )
    with remembered(down=2, up=1, limit=60, click_mode=SELECT):
        return Controls(
            down.number_input("Steps down", 0, 12, key="down", help="Towards the atoms."),
            up.number_input("Steps up", 0, 6, key="up", help="Towards longer types."),
            limit.number_input(
                "At most", 10, MAX_VERTICES, step=10, key="limit", help="Vertices drawn."
            ),
            mode.segmented_control(
                "A click on a type", [SELECT, KNOCK_OUT], key="click_mode", required=True
            )
            == KNOCK_OUT,
        )


def _legend(view: View, limit: int) -> None:
    # Both colours of each pair, as the theme can change while the page is open.
    def colour(name: str) -> str:
        return f"light-dark({SCENE_COLOURS['light'][name]}, {SCENE_COLOURS['dark'][name]})"

    pairs = zip(BLAME_SCALE["light"], BLAME_SCALE["dark"], strict=True)
    steps = "".join(f'<i style="background:light-dark({a}, {b})"></i>' for a, b in pairs)
    st.html(
        f"""<div class="morphgraph-legend"><span>Blame R: 0 {steps} 1</span>
        <span><i style="background:{colour("undefined")}"></i> n/a or atom</span>
        <span><i style="border:3px solid {colour("changed")}"></i> changed by the last edit</span>
        <span>pill: type · box: merge, with its rank · dots: more neighbours</span></div>"""
    )
    if view.left_out_merges:
        fix = "raise “At most”, or lower the steps."
        if limit >= MAX_VERTICES:
            fix = "lower the steps."
        left_out = counted(view.left_out_merges, "merge")
        st.caption(f"{left_out} left out to stay within the vertices drawn: {fix}")


def _exports(current: Session, view: View) -> None:
    study = current.study
    with st.popover("Export", icon=":material/download:"):
        download(
            "This picture as a web page",
            lambda: stand_alone_html(view.scene, "morphgraph"),
            "merge-graph.html",
            key=f"html {current.study_number}",
            icon=None,
        )
        download(
            "The whole graph as GraphML",
            lambda: to_graphml(to_networkx(study.graph, names=study.tokeniser.readable_types)),
            "merge-graph.graphml",
            key=f"graphml {current.study_number}",
            icon=None,
        )


explorer(start("Merge graph"))
