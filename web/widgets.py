"""Widgets as this app needs them: remembered across pages, sized to their content."""

import inspect
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.tokeniser.recipe import write_recipe
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.storage import without_folder
from web.text import plain

_ROW = 35
"""The height of a table's row, in pixels."""
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
    "graphml": ("GraphML", "application/xml"),
}


# ------------------------------------------------------------------------------------- errors


def show_error(error: object) -> None:
    """Show an error, whatever characters are in its text."""
    st.error(plain(without_folder(str(error))), icon=":material/error:")


@contextmanager
def attempt() -> Iterator[None]:
    """Show an error raised in the ``with`` block, for example by a bad file, and end the block."""
    try:
        yield
    except MorphGraphError as error:
        show_error(error)


@contextmanager
def deferred_error(key: str) -> Iterator[None]:
    """In a callback, keep an error of the ``with`` block for the next run."""
    try:
        yield
    except MorphGraphError as error:
        st.session_state[key] = str(error)


def show_deferred_error(key: str) -> None:
    """Show an error of a callback, once."""
    refused = st.session_state.pop(key, "")
    if refused:
        show_error(refused)


# ------------------------------------------------------------------------------------- values


def button(
    label: str,
    icon: str,
    action: Callable[..., None],
    *given: Any,
    primary: bool = False,
    **how: Any,
) -> None:
    """Show a button with a Material icon that calls an action with arguments."""
    st.button(
        label,
        icon=f":material/{icon}:",
        type="primary" if primary else "secondary",
        on_click=action,
        args=given,
        **how,
    )


@contextmanager
def remembered(**defaults: Any) -> Iterator[None]:
    """Keep the values of widgets made in the ``with`` block across pages, by their keys.

    Streamlit forgets a widget as soon as a page without it is shown. For widgets that can be
    collapsed, use `setting` or `choice`.
    """
    for key, default in defaults.items():
        if key not in st.session_state:
            st.session_state[key] = value_now(key, default)
    yield
    for key in defaults:
        st.session_state[f"kept {key}"] = st.session_state[key]


@contextmanager
def resent_in_every_run(**defaults: Any) -> Iterator[None]:
    """Like `remembered`, for texts and lists: values are sent to the browser in every run.

    A value that is set once is lost if its run is interrupted, and the widget is empty. What moves
    faster than runs, such as a slider, would jump back.
    """
    for key, default in defaults.items():
        st.session_state[key] = value_now(key, default)
    with remembered(**defaults):
        yield


def value_now(key: str, default: Any) -> Any:
    """Return the value of a remembered widget, whether or not this run has drawn it."""
    return st.session_state.get(key, st.session_state.get(f"kept {key}", default))


def set_value(key: str, value: Any) -> None:
    """Set a remembered widget's value before it is drawn."""
    st.session_state[key] = st.session_state[f"kept {key}"] = value


def setting(
    widget: Callable[..., Any], label: str, *given: Any, key: str, first: Any, **how: Any
) -> Any:
    """Show a remembered widget, ``first`` at first, that has its value wherever it is expanded.

    A value sent once is lost on a widget in a popover that has not been opened, and one sent in
    every run is late if a browser is ahead of the runs. A default is neither.
    """
    with remembered(**{key: first}):
        value, takes = st.session_state[key], inspect.signature(widget).parameters
        if "index" in takes:
            how["index"] = list(given[0]).index(value) if given[0] else None
        else:
            how["default" if "default" in takes else "value"] = value
        return widget(label, *given, key=key, **how)


def choice(
    widget: Callable[..., Any],
    label: str,
    options: Iterable[Any],
    *,
    key: str,
    first: Any = None,
    **how: Any,
) -> Any:
    """Show a remembered widget to choose among options, which may change.

    ``first``: the initial choice, also when the chosen option is gone, by default the first option;
    a list if several can be chosen.
    """
    options = list(options)
    if first is None and options:
        first = options[0]
    now = value_now(key, first)
    if isinstance(first, list):
        st.session_state[key] = [one for one in now if one in options]
    elif now not in options:
        st.session_state[key] = first
    return setting(widget, label, options, key=key, first=first, **how)


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Keep only the newest entries of a dictionary, at most this many."""
    while len(kept) > most:
        del kept[next(iter(kept))]


def unique_name(name: str, taken: Iterable[str]) -> str:
    """Return a name not yet taken, adding primes if necessary.

    >>> unique_name("a", ["a", "a′"])
    'a′′'
    """
    while name in taken:
        name += "′"
    return name


# ------------------------------------------------------------------------------------- tables


def right_aligned(columns: Iterable[str]) -> dict[str, Any]:
    """Return the configuration of columns that hold numbers as text."""
    return {name: st.column_config.TextColumn(name, alignment="right") for name in columns}


def show_table(data: Any, most: int | None = None, **how: Any) -> Any:
    """Show a table without row numbers, as high as its rows, at most ``most`` pixels."""
    if most is not None:
        rows = len(next(iter(data.values()))) if isinstance(data, dict) else len(data)
        how["height"] = min(_ROW * (rows + 1) + 3, most)
    return st.dataframe(data, hide_index=True, **how)


def table_height(rows: int) -> int:
    """Return the height of a table with this many rows, in pixels."""
    return _ROW * (rows + 1) + 3


def chosen_row(data: Any, most: int | None = None, **how: Any) -> int | None:
    """Show a table with selectable rows; return the selected row's number, or None.

    Its ``key`` must change with its rows, so that a number never outlives them.
    """
    event = show_table(data, most, on_select="rerun", selection_mode="single-row", **how)
    rows = event.selection.rows if event else []
    return rows[0] if rows and rows[0] < len(data) else None


def width_of(texts: Iterable[str], most: int = 10_000) -> int:
    """Return the width in pixels of a column that cuts no text, at most ``most``."""
    return min(most, 8 * max(map(len, texts), default=0) + 24)


def one_page(everything: Sequence[Any], size: int, key: str, width: int = 160) -> Sequence[Any]:
    """Show a page selector for many rows; return those on the chosen page."""
    pages = max(1, -(-len(everything) // size))
    page = 1
    if pages > 1:
        label = f"Page of {pages:,}"
        page = int(st.number_input(label, 1, pages, key=f"{key} {pages}", width=width))
    return everything[(page - 1) * size : page * size]


# ------------------------------------------------------------------------------------- downloads


def download(
    label: str,
    make: Callable[[], str | bytes],
    name: str,
    *,
    primary: bool = False,
    **how: Any,
) -> None:
    """Show a download button named after its file, whose content is made on demand."""
    st.download_button(
        label,
        make,
        file_name=name,
        mime=_KINDS[name.rpartition(".")[2]][1],
        on_click="ignore",
        type="primary" if primary else "secondary",
        **{"icon": ":material/download:", **how},
    )


def downloads(files: Mapping[str, Callable[[], str | bytes]], note: str | None = None) -> None:
    """Show a button for each file, labelled by its kind; ``note``: a tooltip on their content."""
    with st.container(horizontal=True):
        for name, make in files.items():
            label, _ = _KINDS[name.rpartition(".")[2]]
            download(label, make, name, key=f"download {name}", help=note)


def recipe_button(tokeniser: BpeTokeniser, place: str) -> None:
    """Show a button that saves only the edits; ``place`` keeps the buttons of pages apart."""
    download(
        "Recipe",
        lambda: write_recipe(tokeniser),
        "recipe.json",
        key=f"recipe {place}",
        help="The edits alone, to be replayed here or with morphgraph knockout --recipe.",
        disabled=not tokeniser.graph.history,
    )


def zipped(files: dict[str, bytes]) -> bytes:
    """Return files as one zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
