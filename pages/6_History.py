"""The edits made, to be undone, saved and replayed; and a link to export the edited tokeniser."""

import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.tokeniser.recipe import read_recipe, replay
from web.bootstrap import edit_buttons, start
from web.inputs import content_of
from web.session import Session
from web.widgets import attempt, recipe_button, show_table


def edit_list(current: Session) -> None:
    """Edits, oldest first; undone ones behind them."""
    study = current.study
    with st.container(horizontal=True, width=300):
        edit_buttons(current, "history")
    changes = [*study.graph.history, *reversed(study.graph.undone)]
    if not changes:
        st.info("No edits yet. Knock out a type in the merge graph, or all above a threshold.")
        return
    names = study.tokeniser.readable_types
    done = len(study.graph.history)
    types = [change.removed_types or change.added_types for change in changes]
    show_table(
        {
            "step": list(range(1, len(changes) + 1)),
            "edit": [str(change.step["edit"]) for change in changes],
            "merges": [
                ", ".join(f"{number:,} {kind}" for kind, number in change.counts().items())
                for change in changes
            ],
            "types": [shortened(", ".join(names[t] for t in some[:20]), 120) for some in types],
            "state": ["done" if i < done else "undone" for i in range(len(changes))],
        },
        column_config={
            "step": st.column_config.NumberColumn("step", width=60),
            "edit": st.column_config.TextColumn("edit", width=100),
            "merges": st.column_config.TextColumn(
                "merges", help="Split: a knockout gave them other parts."
            ),
            "state": st.column_config.TextColumn("state", width=90),
        },
    )


def save_buttons(current: Session) -> None:
    """Save the recipe; the tokeniser with its edits has a page of its own."""
    st.subheader("Save", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        recipe_button(current.study.tokeniser, "history")
        st.page_link(
            "pages/7_Export.py",
            label="Export the tokeniser",
            icon=":material/deployed_code:",
        )


def recipe_upload(current: Session) -> None:
    """Replay a saved recipe on the open tokeniser."""
    st.subheader("Replay a recipe", anchor=False)
    file = st.file_uploader(
        "Recipe",
        type=["json"],
        key=f"recipe upload {current.study_number}",
        help="Its edits are added to yours, all or none.",
    )
    if file is None or not st.button("Replay", icon=":material/play_arrow:"):
        return

    with attempt():
        recipe = read_recipe(content_of(file), file.name)
        changes = replay(current.study.tokeniser, recipe, file.name)
        current.notice = f"{counted(len(changes), 'edit')} replayed."
        st.rerun()


current = start("History")
st.title("History")
edit_list(current)
save_buttons(current)
recipe_upload(current)
