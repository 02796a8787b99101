"""Buttons that download tables, archives and recipes."""

import io
import zipfile
from collections.abc import Callable, Mapping

import streamlit as st

from morphgraph.tokeniser.recipe import write_recipe
from morphgraph.tokeniser.tokeniser import Tokeniser

_KINDS = {
    "csv": ("CSV", "text/csv"),
    "tex": ("LaTeX", "application/x-tex"),
    "md": ("Markdown", "text/markdown"),
    "html": ("Web page", "text/html"),
    "json": ("JSON", "application/json"),
    "parquet": ("Parquet", "application/vnd.apache.parquet"),
    "yaml": ("YAML", "application/yaml"),
    "zip": ("Archive", "application/zip"),
    "log": ("Log", "text/plain"),
}


def download(
    label: str,
    make: Callable[[], str | bytes],
    name: str,
    *,
    key: str | None = None,
    help: str | None = None,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """A button for a file, by its name; its content is made when the button is pressed."""
    st.download_button(
        label,
        make,
        file_name=name,
        mime=_KINDS[name.rpartition(".")[2]][1],
        key=key,
        help=help,
        on_click="ignore",
        type="primary" if primary else "secondary",
        icon=":material/download:",
        disabled=disabled,
    )


def downloads(files: Mapping[str, Callable[[], str | bytes]], note: str | None = None) -> None:
    """A button for each file, called as its kind; ``note``: what they give, as a tooltip."""
    with st.container(horizontal=True):
        for name, make in files.items():
            label, _ = _KINDS[name.rpartition(".")[2]]
            download(label, make, name, key=f"download {name}", help=note)


def recipe_button(tokeniser: Tokeniser, place: str) -> None:
    """Save the edits alone; ``place`` is a name that keeps the buttons of a page apart."""
    download(
        "Recipe",
        lambda: write_recipe(tokeniser),
        "recipe.json",
        key=f"recipe {place}",
        help="The edits alone, to be replayed here or with morphgraph knockout --recipe.",
        disabled=not tokeniser.graph.history,
    )


def zipped(files: dict[str, bytes]) -> bytes:
    """Files as one zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
