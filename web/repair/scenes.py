"""Chosen types in three scenes: as they are, knocked out, and after repair and reification."""

from typing import Any

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.draw.fan import stages
from morphgraph.graph.view import type_key
from web import widgets as ui
from web.components import fan_graph
from web.edits import knock_out_and_reify
from web.state import Session


def chosen_types(current: Session) -> None:
    """Show user-chosen types before, after knockout, and after reification."""
    study = current.study
    graph, names, blamed = study.graph, study.tokeniser.readable_types, study.blame()
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    key = f"rebpe types {current.study_number}"
    text = left.text_input(
        "Find types", key=f"{key} find", placeholder="part of a type", max_chars=100
    )
    worst = [int(blamed.arrays.results[place]) for place in blamed.order[:100]]
    offered = study.tokeniser.search(text) if text else worst
    if key in st.session_state:
        already = [n for n in st.session_state[key] if graph.is_present(n)]
    else:  # an initial example
        few = [n for n in worst if graph.is_removable(n) and graph.fan_out(n) <= 8]
        already = sorted(few, key=graph.fan_out)[-1:]
    if already != st.session_state.get(key):
        st.session_state[key] = already
    chosen = right.multiselect(
        "Types to knock out",
        list(dict.fromkeys([*already, *(n for n in offered if graph.is_removable(n))])),
        format_func=names.__getitem__,
        key=key,
        max_selections=12,
        select_all=False,
        placeholder="choose among those found" if text else "choose among those most to blame",
    )
    if not chosen:
        st.caption(
            "Choose types to see three scenes: as they are now, knocked out, and after repair and "
            "reification of the merges that used them."
        )
        return
    with ui.attempt():
        texts = [graph.types[number] for number in chosen]
        _scenes(current, texts, chosen)
        tip = "Two edits, which Undo takes back one after the other."
        options: dict[str, Any] = {"primary": True, "key": "rebpe do both", "help": tip}
        label = "Do both: knock out, then reify"
        ui.button(label, "content_cut", knock_out_and_reify, current, texts, **options)


def _scenes(current: Session, texts: list[str], chosen: list[int]) -> None:
    shown = current.once(("stages", *texts), lambda: stages(current.study, texts))
    scenes = {"Before": shown.before, "Knocked out": shown.knocked_out, "Reified": shown.reified}
    rows = [item.y for scene in scenes.values() for item in scene.vertices]
    # With room above and below; what is higher is zoomed out, and can be moved.
    height = min(round(max(rows, default=0) - min(rows, default=0)) + 70, 440)
    scene = ui.segments("Scene", scenes, key="rebpe scene", label_visibility="collapsed")
    fan_graph(
        scenes[scene],
        key="rebpe stage",
        view_key=f"stage {current.study_number} {chosen}",
        selected=type_key(chosen[0]),
        height=f"{height}px",
        least=0.7,
    )
    used = counted(len(shown.knockout.rewired), "merge")
    counts = shown.reification.counts().items()
    did = ", ".join(f"{number:,} {kind}" for kind, number in counts) or "nothing to mend"
    st.caption(
        f"Used by {used} · {did}. A blue border marks what changed; a removed type stays as a "
        "ghost. Colour is blame as it is now."
    )
