"""Buttons that download tables, archives and recipes."""

import io
import zipfile
from collections.abc import Callable, Mapping

import streamlit as st

from morphgraph.tokeniser.recipe import write_recipe
from morphgraph.tokeniser.tokeniser import Tokeniser

_KINDS = {
    ".csv": ("CSV", "text/csv"),
    ".tex": ("LaTeX", "application/x-tex"),
    ".md": ("Markdown", "text/markdown"),
    ".html": ("Web page", "text/html"),
}


def downloads(files: Mapping[str, Callable[[], str | bytes]], note: str | None = None) -> None:
    """A button for each file, by its name; its content is made when it is pressed.

    ``note``: what the buttons give, as a tooltip.
    """
    with st.container(horizontal=True):
        for name, make in files.items():
            label, mime = _KINDS[name[name.rindex(".") :]]
            st.download_button(
                label,
                make,
                file_name=name,
                mime=mime,
                icon=":material/download:",
                key=f"download {name}",
                on_click="ignore",
                help=note,
            )


def recipe_button(tokeniser: Tokeniser, place: str) -> None:
    """Save the edits alone; ``place`` is a name that keeps the buttons of a page apart."""
    st.download_button(
        "Recipe",
        lambda: write_recipe(tokeniser),
        file_name="recipe.json",
        key=f"recipe {place}",
        mime="application/json",
        icon=":material/download:",
        disabled=not tokeniser.graph.history,
        on_click="ignore",
        help="The edits alone, to be replayed here or with morphgraph knockout --recipe.",
    )


def zipped(files: dict[str, bytes]) -> bytes:
    """Files as one zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
