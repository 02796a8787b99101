"""The history page: edits as a list, the recipe, and the edited tokeniser."""

import io
import zipfile

import streamlit as st

from morphgraph.files import read_recipe, replay, saved_files, write_recipe
from morphgraph.text import shortened
from web.bootstrap import edit_buttons
from web.inputs import attempt, content_of
from web.session import Session


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
    st.dataframe(
        {
            "step": list(range(1, len(changes) + 1)),
            "edit": [str(change.step["edit"]) for change in changes],
            "types": [
                shortened(", ".join(names[t] for t in change.removed_types[:20]), 120)
                for change in changes
            ],
            "types removed": [len(change.removed_types) for change in changes],
            "merges rewired": [len(change.rewired) for change in changes],
            "state": ["done" if i < done else "undone" for i in range(len(changes))],
        },
        hide_index=True,
    )


def save_buttons(current: Session) -> None:
    """Save the recipe, and the tokeniser with its edits."""
    tokeniser = current.study.tokeniser
    st.subheader("Save", anchor=False)
    left, middle, _ = st.columns([3, 4, 4])
    left.download_button(
        "Recipe",
        lambda: write_recipe(tokeniser),
        file_name="recipe.json",
        mime="application/json",
        icon=":material/download:",
        width="stretch",
        disabled=not tokeniser.graph.history,
        on_click="ignore",
        help="The edits, to be replayed here or with morphgraph knockout --recipe.",
    )
    middle.download_button(
        "Tokeniser with its edits",
        lambda: zipped(saved_files(tokeniser)),
        file_name="tokeniser.zip",
        mime="application/zip",
        icon=":material/download:",
        width="stretch",
        on_click="ignore",
        help="The tokeniser, its recipe, and a map from the old ids to the new ones.",
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

    def replay_it() -> None:
        recipe = read_recipe(content_of(file), file.name)
        changes = replay(current.study.tokeniser, recipe, file.name)
        current.notice = f"{len(changes):,} edits replayed."

    if attempt(replay_it):
        st.rerun()


def zipped(files: dict[str, bytes]) -> bytes:
    """Files as one zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
