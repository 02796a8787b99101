"""Widgets as this app needs them: remembered across pages, sized to their content, safe to fill."""

import inspect
import io
import re
import zipfile
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from pandas.api.types import is_string_dtype
from streamlit.errors import StreamlitAPIException

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import UNDEFINED, shortened, side_by_side, unique_labels, visible
from morphgraph.tables.model import Table, text_frame
from morphgraph.tables.writing import to_csv, to_latex, to_markdown
from web.storage import without_folder

T = TypeVar("T")
NUMBER, TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
BEST = "font-weight: 700; background-color: rgba(125, 90, 230, 0.18)"
_DIALOG = "dialog that is open"
_WRITERS: dict[str, tuple[str, Callable[[Table], str | bytes]]] = {
    "CSV": ("csv", to_csv),
    "LaTeX": ("tex", to_latex),
    "Markdown": ("md", to_markdown),
}
_CONVERTED = re.compile(
    r"(?<=[-<>~=])(?=[-<>=])|(?<=:)(?=//|streamlit:)|(?<=www)(?=\.)|(?=@)|(?<=mailto)(?=:)", re.I
)
"""Places inside arrows, addresses and the like, which escapes alone do not protect."""


def plain(text: str) -> str:
    """Escape a text for messages: lines are joined, and Markdown has no effect.

    An invisible word joiner keeps Streamlit from turning ``->`` into an arrow and addresses into
    links. For a type, which people may want to copy, use `code`.

    >>> plain("<b> a.json")
    '\\\\<b\\\\> a\\\\.json'
    >>> plain("www.a") == "www\u2060\\\\.a"
    True
    """
    apart = _CONVERTED.sub("\u2060", " ".join(text.split()))
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", apart)


def plain_line(text: str, length: int = 1_000) -> str:
    """Escape a text from a file or an error for a message: in one line, shortened, all visible."""
    return plain(shortened(visible(" ".join(text.split())), length))


def code(text: str) -> str:
    """Format a text as inline code, verbatim but for line ends and runs of spaces.

    >>> code("a->b"), code("`")
    ('`` a->b ``', '`` ` ``')
    """
    fence = "`" * (max(map(len, re.findall("`+", text)), default=1) + 1)
    return f"{fence} {' '.join(text.split()) or ' '} {fence}"


def gain_colour(gain: float) -> str:
    """Return Streamlit's name of the colour for a difference.

    >>> gain_colour(0.1), gain_colour(-0.1), gain_colour(float("nan"))
    ('green', 'red', 'gray')
    """
    return "green" if gain > 0 else "red" if gain < 0 else "gray"


def sum_of(names: Sequence[str], parts: Sequence[int]) -> str:
    """Format the parts of a merge (ids of types) for people; long ones are shortened.

    >>> sum_of(["un", "do"], (0, 1))
    'un + do'
    """
    return shortened(side_by_side([shortened(names[part]) for part in parts[:50]], " + "), 200)


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


def button(
    label: str,
    icon: str = "",
    action: Callable[..., Any] | None = None,
    *given: Any,
    primary: bool = False,
    **options: Any,
) -> bool:
    """Show a button with a Material icon; ``action`` is called with the arguments at a click."""
    options = {"type": "primary" if primary else "secondary", **options}
    icon = f":material/{icon}:" if icon else icon
    return st.button(label, icon=icon or None, on_click=action, args=given, **options)


def value_now(key: str, default: Any) -> Any:
    """Return the value of a remembered widget, whether or not this run has drawn it."""
    return st.session_state.get(key, st.session_state.get(f"kept {key}", default))


def set_value(key: str, value: Any) -> None:
    """Set a remembered widget's value before it is drawn."""
    st.session_state[key] = st.session_state[f"kept {key}"] = value


def setting(
    widget: Callable[..., Any], label: str, *given: Any, key: str, first: Any, **options: Any
) -> Any:
    """Show a widget whose value is remembered across pages by its key, ``first`` at first.

    Streamlit forgets a widget as soon as a page without it is shown, or keeps what it reads, which
    may change. A value sent once is lost on a widget in a popover that has not been opened, and one
    sent in every run is late if a browser is ahead of the runs. A default is neither.
    """
    value = st.session_state.setdefault(key, value_now(key, first))
    takes = inspect.signature(widget).parameters
    if "index" in takes:
        options["index"] = list(given[0]).index(value) if given[0] else None
    else:
        options["default" if "default" in takes else "value"] = value
    shown = widget(label, *given, key=key, **options)
    st.session_state[f"kept {key}"] = st.session_state[key]
    return shown


def choice(
    widget: Callable[..., Any],
    label: str,
    options: Iterable[Any],
    *,
    key: str,
    first: Any = None,
    **settings: Any,
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
    return setting(widget, label, options, key=key, first=first, **settings)


def segments(label: str, options: Iterable[Any], *, key: str, **settings: Any) -> Any:
    """Show a remembered choice of exactly one of a few options, side by side."""
    return choice(st.segmented_control, label, options, key=key, required=True, **settings)


def open_dialog(page: str, kind: str, *about: Any) -> None:
    """Let a page show a dialog; it takes the place of another, as there is one at a time."""
    st.session_state[_DIALOG] = page, kind, about


def dialog_now(page: str, kind: str) -> tuple[Any, ...] | None:
    """Return what the dialog of this kind is about, if it is open; another page's is closed."""
    there, what, about = st.session_state.get(_DIALOG, (page, "", ()))
    if there != page:
        close_dialog()
    return about if (there, what) == (page, kind) else None


def close_dialog() -> None:
    """Show no dialog; as ``on_dismiss`` where somebody closes it."""
    st.session_state.pop(_DIALOG, None)


def run_again() -> None:
    """Run the fragment again, or the page where all of it is running."""
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Keep only the newest entries of a dictionary, at most this many."""
    while len(kept) > most:
        del kept[next(iter(kept))]


def kept_last(name: str, key: Hashable, make: Callable[[], T]) -> T:
    """Return what this session made for a key, of which it keeps the last one."""
    kept: dict[Hashable, T] = st.session_state.setdefault(name, {})
    if key not in kept:
        kept.clear()
        kept[key] = make()
    return kept[key]


def unique_name(name: str, taken: Container[str]) -> str:
    """Return a name not yet taken, numbered if necessary.

    >>> unique_name("demo", []), unique_name("demo", ["demo", "demo-2"])
    ('demo', 'demo-3')
    >>> len(unique_name("x" * 80, ["x" * 80]))
    76
    """
    names = (f"{name[:74]}-{number}" for number in count(2))
    return name if name not in taken else next(other for other in names if other not in taken)


def number_in(text: str) -> float:
    """Return the number that a text begins with, NaN without one.

    >>> number_in("1,234.5** [1,200, 1,300]"), number_in("−3"), number_in("n/a")
    (1234.5, -3.0, nan)
    """
    number = re.match(r"[+-]?[\d,]*\.?\d+", text.replace("−", "-"))
    return float(number[0].replace(",", "")) if number else float("nan")


def show_table(data: Any, most: int | None = None, *, best: Any = None, **options: Any) -> Any:
    """Show a table without row numbers, as high as its rows, at most ``most`` of them.

    The first column is pinned. Texts that are aligned right stay as they are written, and are
    sorted as numbers; one that is missing is n/a. Bold: those that are ``best``, a table of flags.
    """
    frame = pd.DataFrame(data).reset_index(drop=True)
    options.setdefault("placeholder", UNDEFINED)
    if most is not None:
        options["height"] = 35 * (min(len(frame), most) + 1) + 3
    config = options["column_config"] = dict(options.get("column_config", {}))
    first, *others = options.get("column_order", frame.columns)
    is_pinned = len(others) > 3  # it is greyer then, and only wide tables are scrolled
    config[first] = {**st.column_config.Column(), **config.get(first, {}), "pinned": is_pinned}
    written = [
        name
        for name, one in config.items()
        if name in frame and one.get("alignment") == "right" and is_string_dtype(frame[name])
    ]
    if not written and best is None:
        return st.dataframe(frame, hide_index=True, **options)
    texts = frame
    frame = frame.assign(**{name: frame[name].map(number_in) for name in written})
    style: Any = frame.style
    for name in written:
        config[name] = {**config[name], "type_config": NUMBER()["type_config"]}
    for row, line in enumerate(texts[written].to_dict("records")):
        as_written = {name: partial(lambda text, _: text, text) for name, text in line.items()}
        style.format(as_written, subset=([row], written))
    if best is not None:
        bold = best.map(lambda is_best: BEST if is_best else "")
        style.apply(lambda _: bold, None)
    return st.dataframe(style, hide_index=True, **options)


def show_model(table: Table, most: int | None = None, *, key: str, is_brief: bool = False) -> None:
    """Show a table of the library as it is written elsewhere, the best in bold.

    Each block is below its title. ``is_brief``: without intervals, and filled while its cells
    arrive.
    """
    columns = (*table.names, *table.columns)
    titles = unique_labels([column.title for column in columns])
    sides: list[Any] = ["left" if column.form == "text" else "right" for column in columns]
    config = {title: TEXT(title, alignment=side) for title, side in zip(titles, sides, strict=True)}
    for number, (above, part) in enumerate(table.parts):
        if above:
            st.caption(plain(above))
        frame, best = (each.set_axis(titles, axis="columns") for each in text_frame(part))
        # Widths are measured on first drawing, so another table needs another key.
        own = f"{key} {number} {len(frame) if is_brief else hash(frame.to_csv())}"
        if is_brief:
            frame = frame.replace({"not run": "…", r" \[.*\]$": ""}, regex=True)
        show_table(frame, most, best=best, key=own, column_config=config)


def show_report(table: Table, most: int | None = None, *, key: str) -> None:
    """Show a table with its errors, notes, what its marks mean, and its signatures."""
    for row in table.rows:
        if row.error:
            show_error(f"{row.names[0]}: {row.error}")
    for note in table.notes:
        st.warning(plain(note), icon=":material/info:")
    show_model(table, most, key=key)
    if table.explained:
        st.caption(plain(" ".join(table.explained)))
    for signature in table.signatures:
        st.code(signature, language=None, wrap_lines=True)


def chart(figure: Any, key: str) -> None:
    """Show a figure that can be saved under its key."""
    saved = {"format": "svg", "filename": key}
    buttons = {"modeBarButtons": [["toImage"]], "toImageButtonOptions": saved}
    st.plotly_chart(figure, key=key, config={"displaylogo": False, **buttons})


def one_page(everything: Sequence[Any], size: int, key: str) -> Sequence[Any]:
    """Show a page selector for many rows; return those on the chosen page."""
    pages = max(1, -(-len(everything) // size))
    page = 1
    if pages > 1:
        label = f"Page of {pages:,}"
        page = int(st.number_input(label, 1, pages, key=f"{key} {pages}", width=160))
    return everything[(page - 1) * size : page * size]


def download(
    label: str, make: Callable[[], str | bytes], name: str, *, primary: bool = False, **options: Any
) -> None:
    """Show a download button named after its file, whose content is made on demand."""
    kind = "primary" if primary else "secondary"
    options = {"icon": ":material/download:", "on_click": "ignore", "type": kind, **options}
    options.setdefault("key", f"download {name}")
    st.download_button(label, make, file_name=name, **options)


def table_downloads(make: Callable[[], Table], name: str, note: str) -> None:
    """Show a button for each form that a table of the library, made on demand, is written in."""

    def written(write: Callable[[Table], str | bytes]) -> str | bytes:
        return write(make())

    with st.container(horizontal=True):
        for label, (end, write) in _WRITERS.items():
            download(label, partial(written, write), f"{name}.{end}", help=note)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return files as one zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
