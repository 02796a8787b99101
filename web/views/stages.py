"""Knockout and reification of chosen types: three scenes side by side."""

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.explore import Stages, stages
from morphgraph.graph.view import type_key
from web.components.graph import merge_graph
from web.edits import knock_out_and_reify
from web.session import Session
from web.text import plain

_MOST = 12


def chosen_types(current: Session) -> None:
    """Before, knocked out, and reified, for types that the user chooses."""
    study = current.study
    graph, names = study.graph, study.tokeniser.readable_types
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    key = f"rebpe types {current.study_number}"
    text = left.text_input(
        "Find types", key=f"{key} find", placeholder="part of a type", max_chars=100
    )
    already = [n for n in st.session_state.get(key, []) if graph.is_present(n)]
    blamed = study.blame()
    worst = [int(blamed.arrays.results[place]) for place in blamed.order[:100]]
    found = study.tokeniser.search(text) if text else worst
    if key not in st.session_state:  # something to look at, before anything is chosen
        few = [n for n in worst if graph.is_removable(n) and graph.fan_out(n) <= 8]
        already = sorted(few, key=graph.fan_out)[-1:]
        st.session_state[key] = already
    options = list(dict.fromkeys([*already, *(n for n in found if graph.is_removable(n))]))
    if already != st.session_state.get(key, already):
        st.session_state[key] = already
    chosen = right.multiselect(
        "Types to knock out",
        options,
        format_func=names.__getitem__,
        key=key,
        max_selections=_MOST,
        placeholder="choose among those found" if text else "choose among those most to blame",
    )
    if not chosen:
        st.caption(
            "Choose types to see three scenes: as they are now, knocked out, and after repair and "
            "reification of the merges that used them."
        )
        return
    try:
        texts = [graph.types[number] for number in chosen]
        shown = current.once(("stages", *texts), lambda: stages(study, texts))
    except MorphGraphError as error:
        st.error(plain(str(error)))
        return
    _scenes(current, shown, chosen)
    st.button(
        "Do both: knock out, then reify",
        type="primary",
        icon=":material/content_cut:",
        key="rebpe do both",
        on_click=knock_out_and_reify,
        args=(current, [graph.types[number] for number in chosen]),
        help="Two edits, which Undo takes back one after the other.",
    )


def _scenes(current: Session, shown: Stages, chosen: list[int]) -> None:
    counts = shown.reification.counts()
    did = ", ".join(f"{number:,} {kind}" for kind, number in counts.items()) or "nothing to mend"
    titles = (
        ("Before", f"merges that use the chosen types: {len(shown.knockout.rewired):,}"),
        ("Knocked out", "these take the parts instead"),
        ("Reified", did),
    )
    scenes = (shown.before, shown.knocked_out, shown.reified)
    with st.container(key="wide-stages"):
        columns = st.columns(3)
    for number, (column, (title, says), scene) in enumerate(
        zip(columns, titles, scenes, strict=True)
    ):
        with column:
            st.markdown(f"**{title}** · {says}")
            merge_graph(
                scene.to_dict(),
                key=f"rebpe stage {number}",
                view_key=f"stage {number} {current.study_number} {chosen}",
                selected=type_key(chosen[0]),
                height=420,
                whole=True,
            )
    st.caption(
        "A blue border marks what changed; a removed type stays as a ghost; a stack is a tuple "
        "merge. Colour is blame as it is now."
    )
