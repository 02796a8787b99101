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
    key = f"rebpe types {current.study_number}"
    worst = blamed.arrays.results[blamed.order[:100]].tolist()
    offered = [number for number in worst if graph.is_removable(number)]
    if key not in st.session_state:  # an initial example
        few = [number for number in offered if graph.fan_out(number) <= 8]
        st.session_state[key] = [names[n] for n in sorted(few, key=graph.fan_out)[-1:]]
    named = st.multiselect(
        "Types to knock out",
        list(dict.fromkeys([*st.session_state[key], *(names[number] for number in offered)])),
        key=key,
        max_selections=12,
        select_all=False,
        accept_new_options=True,
        placeholder="choose among those most to blame, or type one",
    )
    present = [graph.ids[text] for text in map(study.tokeniser.type_from, named) if text]
    chosen = list(dict.fromkeys(filter(graph.is_removable, present)))
    if not chosen:
        st.caption("Choose types, and see them as they are now, knocked out, and reified.")
        return
    with ui.attempt():
        texts = [graph.types[number] for number in chosen]
        _scenes(current, texts, chosen)
        tip = "Two edits, which Undo takes back one after the other."
        options: dict[str, Any] = {"primary": True, "key": "rebpe do both", "help": tip}
        label = "Do both: knock out, then reify"
        ui.button(label, "content_cut", knock_out_and_reify, current, texts, key, **options)


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
    did = ", ".join(f"{number:,} {kind}" for kind, number in counts) or "nothing to repair"
    st.caption(
        f"Used by {used} · {did}. A blue border marks what changed; a removed type stays as a "
        "ghost. Colour is blame as it is now."
    )
