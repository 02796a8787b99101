"""The picture of the Workbench: a word's merge tree, a type among its merges, or all types."""

from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.glossary import glossed
from morphgraph.core.text import shortened
from morphgraph.draw import BLAME_SCALE
from morphgraph.draw.fan import fan_around
from morphgraph.draw.scene import scene_around, stand_alone_html
from morphgraph.graph.view import type_key
from web import edits
from web import widgets as ui
from web.components import Click, fan_graph, page_frame
from web.edits import CANVAS, word_key
from web.state import Session
from web.views.trees import before_and_after, word_trees
from web.workbench.all_types import all_types, list_users
from web.workbench.place import ALL_TYPES, PICTURES, TYPE, WORD

_USERS = 12
"""Merges that use a type and are drawn; the others are listed."""
_LONGEST = 200
"""Characters that are shown of a typed word."""


class Options(NamedTuple):
    """What is chosen in the menu of the picture."""

    down: int = 1
    up: int = 1
    free: bool = False
    cascade: bool = False


def options_now() -> Options:
    """Return what is chosen, whether or not the menu has been drawn."""
    first = Options()
    values = {name: ui.value_now(f"canvas {name}", getattr(first, name)) for name in first._fields}
    return Options(**values)


def canvas(current: Session) -> None:
    """Show the choice of a picture, its menu, and the picture."""
    with st.container(horizontal=True, vertical_alignment="center", key="canvas-head"):
        label = {"label_visibility": "collapsed"}
        state = ui.segments("Picture", PICTURES, key=CANVAS, **label)
        st.space("stretch")
        if current.study.has_blame and state == TYPE:
            _scale()
        with st.popover("", icon=":material/more_horiz:", type="tertiary", key="canvas-menu"):
            _menu(current, state)
    shows = {WORD: _word, TYPE: _type, ALL_TYPES: all_types}
    with st.container(key="canvas"):
        shows[state](current)


def _scale() -> None:
    # Colours for both themes, as the theme can change while the page is open.
    pairs = zip(BLAME_SCALE["light"], BLAME_SCALE["dark"], strict=True)
    steps = "".join(f'<i style="background:light-dark({a}, {b})"></i>' for a, b in pairs)
    scale = f'<div class="morphgraph-legend"><span>blame 0 {steps} 100 %</span></div>'
    st.html(scale, width="content")


def _menu(current: Session, state: str) -> None:
    first = Options()

    def setting(widget: Any, label: str, name: str, *limits: int, **options: Any) -> Any:
        return ui.setting(
            widget, label, *limits, key=f"canvas {name}", first=getattr(first, name), **options
        )

    if state == TYPE:
        one, two = st.columns(2)
        setting(one.number_input, "Steps down", "down", 0, 12, help="Towards the atoms.")
        setting(two.number_input, "Steps up", "up", 0, 6, help="Towards longer types.")
        tip = "Drag vertices, and see how merges share types; a click on one goes back there."
        setting(st.toggle, "Free layout", "free", help=tip)
        page = partial(_free_page, current, options_now())
        tip = "This neighbourhood in free layout. It works offline."
        ui.download("Web page", page, "merge-graph.html", help=tip)
    tip = glossed("cascade")
    setting(st.toggle, "Knock out what is made from it, too", "cascade", help=tip)


def _chosen_type(current: Session, key: str) -> int | None:
    """Return the number in a key; it comes from the browser, so it may be of no type."""
    number = int(key) if key.isdecimal() else -1
    return number if 0 <= number < len(current.study.graph.types) else None


# ------------------------------------------------------------------------------------- a word


def _word(current: Session) -> None:
    study, word = current.study, ui.value_now(word_key(current), "")
    if not word:
        st.info("Type a word above to see how it is segmented.")
        return
    if len(word) > _LONGEST and study.number_of(word) is None:
        st.info(f"Only the first {_LONGEST} of {len(word):,} characters are shown.")
        word = word[:_LONGEST]

    def choose(clicks: list[Click]) -> None:
        number = _chosen_type(current, clicks[-1].key[1:])
        if number is not None:
            edits.look_at(current, number)

    states = before_and_after(current, word, "before the edits", 0) if study.graph.history else []
    word_trees(current, word, "tree", states, choose, chosen=current.selected)
    notes = []
    if study.number_of(word) is None and study.benchmark.reference.has_gold:
        notes.append("This word is not in the reference, so its gold boundaries are not known.")
    if unknown := study.tokeniser.missing_atoms([word]):
        signs = " ".join(map(ui.code, unknown))
        notes.append(f"Not in the alphabet of this tokeniser, so no merge applies to it: {signs}")
    if notes:
        st.caption("  \n".join(notes))


# ------------------------------------------------------------------------------------- a type


def _type(current: Session) -> None:
    focus, chosen = current.focus or 0, options_now()

    def on_event(clicks: list[Click]) -> None:
        more = [click.key.removeprefix("more") for click in clicks if click.key.startswith("more")]
        number = _chosen_type(current, more[-1]) if more else None
        if number is not None:
            list_users(current, number)
        edits.handle_clicks(current, clicks)

    def centre(clicks: list[Click]) -> None:
        number = _chosen_type(current, clicks[-1].key.removeprefix("t"))
        if number is not None:
            edits.look_at(current, number)
            ui.set_value("canvas free", False)

    if chosen.free:
        page = _free_page(current, chosen)
        page_frame(page, "Free layout", key="free graph", height=620, on_event=centre)
        return
    down, up = chosen[:2]
    fan_graph(
        fan_around(current.study, focus, up=up, down=down, rows=_USERS),
        key="merge graph",
        view_key=f"{current.study_number} {focus} {down} {up}",
        selected=type_key(focus if current.selected is None else current.selected),
        height="var(--canvas)",
        least=11 / 14,
        on_event=on_event,
    )


def _free_page(current: Session, chosen: Options) -> str:
    study, focus = current.study, current.focus or 0
    scene = scene_around(study, focus, up=chosen.up, down=chosen.down)
    name = shortened(study.tokeniser.readable_types[focus], _LONGEST)
    return stand_alone_html(scene, f"Around {name}")
