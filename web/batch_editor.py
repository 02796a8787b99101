"""The tab that configures an evaluation: choose or open a file, edit it, see what it comes to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from morphgraph.batch.shipped import shipped_configurations, shipped_folder
from morphgraph.batch.yaml_reading import MAX_BYTES
from morphgraph.errors import FileFormatError, MorphGraphError
from morphgraph.reading import check_size, decode_utf8
from morphgraph.text import shortened, visible
from web.batch_checking import (
    Checked,
    cell_table,
    check_text,
    described,
    free_name,
    one_line,
    same_languages,
    summary,
    task_table,
)
from web.batch_help import what_can_stand_here
from web.batch_state import OWN, SOURCE, Settings, add_source, begin, cores, known_runs
from web.inputs import attempt
from web.session import remembered
from web.text import plain

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_PROBLEM = "batch problem"
_EDITOR_HEIGHT = 520


def configure_tab() -> None:
    """Choose, edit, check and start."""
    sources = _sources()
    source = _choice(sources)
    if source is None:
        return
    left, right = st.columns([7, 5], gap="large")
    with left:
        text = _editor(source, sources[source])
    with right.container():
        _outcome(source, text)
    what_can_stand_here()


# ------------------------------------------------------------------------------------- choosing


def _sources() -> dict[str, str]:
    """The texts to start from, by name: what ships, and what was opened here."""
    shipped: dict[str, str] = {}
    attempt(lambda: shipped.update(shipped_configurations()))
    own: dict[str, str] = st.session_state.setdefault(OWN, {})
    return shipped | own


def _choice(sources: dict[str, str]) -> str | None:
    left, right = st.columns([7, 5], gap="large", vertical_alignment="bottom")
    titles = {name: described(text)[0] or name for name, text in sources.items()}
    with left, remembered(**{SOURCE: next(iter(sources), None)}):
        if st.session_state[SOURCE] not in sources:
            st.session_state[SOURCE] = next(iter(sources), None)
        source: str | None = st.selectbox(
            "Start from",
            list(sources),
            key=SOURCE,
            format_func=lambda name: shortened(visible(f"{titles[name]} · {name}"), 90),
        )
    with right.popover("Open a file", icon=":material/upload_file:", width="stretch"):
        _upload()
    if source is not None:
        note = one_line(described(sources[source])[1])
        if note:
            st.caption(plain(note))
    return source


def _upload() -> None:
    """A YAML file becomes one more text to start from."""
    key = f"batch upload {len(st.session_state[OWN])}"
    st.file_uploader(
        "Evaluation",
        type=["yaml", "yml"],
        key=key,
        max_upload_size=2,
        on_change=_take,
        args=(key,),
        help="A YAML file in UTF-8. It is shown here first; nothing runs before you press Start.",
    )
    if st.session_state.get(_PROBLEM):
        st.error(plain(st.session_state[_PROBLEM]), icon=":material/error:")


def _take(key: str) -> None:
    """Keep what was uploaded, and choose it."""
    file: UploadedFile | None = st.session_state[key]
    st.session_state[_PROBLEM] = ""
    if file is None:
        return
    try:
        text, shipped = read_configuration(file.name, file.getvalue()), shipped_configurations()
    except MorphGraphError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    add_source(shortened(visible(file.name), 60), text, shipped)


def read_configuration(name: str, data: bytes) -> str:
    """The text of an uploaded file; one that is too large or not UTF-8 is a `FileFormatError`."""
    check_size(name, len(data))
    if len(data) > MAX_BYTES:
        problem = f"it has {len(data):,} bytes, more than {MAX_BYTES:,}"
        raise FileFormatError(name, "", problem, "Choose the YAML file of an evaluation.")
    text = decode_utf8(data, name)
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ------------------------------------------------------------------------------------- editing


def _editor(source: str, original: str) -> str:
    key = f"batch text {source}"
    with st.container(key="batch-editor"), remembered(**{key: original}):
        text = st.text_area(
            "Evaluation",
            key=key,
            height=_EDITOR_HEIGHT,
            max_chars=MAX_BYTES,
            help="Edit it as you like. Click elsewhere, or press Ctrl+Enter, and it is checked.",
        )
    st.html(_MONOSPACE)
    with st.container(horizontal=True):
        st.download_button(
            "Download YAML",
            lambda: text.encode("utf-8", "replace"),
            file_name="evaluation.yaml",
            mime="application/yaml",
            icon=":material/download:",
            key="batch yaml",
            on_click="ignore",
        )
        st.button(
            "Undo all edits",
            icon=":material/restart_alt:",
            disabled=text == original,
            on_click=_put_back,
            args=(key, original),
            help="Back to how the file was.",
        )
    return str(text)


_MONOSPACE = """<style>
.st-key-batch-editor textarea {
  font-family: var(--st-code-font, "Source Code Pro", monospace);
  font-size: 0.85rem;
  line-height: 1.5;
  white-space: pre;
  overflow-x: auto;
}
</style>"""


def _put_back(key: str, original: str) -> None:
    st.session_state[key] = st.session_state[f"kept {key}"] = original


# ------------------------------------------------------------------------------------- outcome


def _outcome(source: str, text: str) -> None:
    """What the text comes to, the choices of a run, and the button that starts it."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder = _folder(source)
    first = _checked(text, file, folder, None)
    chosen = _languages(first.languages) if len(first.languages) > 1 else list(first.languages)
    # What is missing for one language must not forbid to run the others.
    wanted = same_languages(chosen, first.languages)
    checked = first if wanted is None else _checked(text, file, folder, wanted)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with remembered(batch_workers=cores()):
            workers = st.number_input(
                "Workers",
                1,
                cores(),
                key="batch_workers",
                help=f"Tasks at once; this machine has {cores()} cores. Each takes memory of its "
                "own, up to 1 GB for large vocabularies.",
            )
        name = _name(checked.name)
    problem = _name_problem(name) if checked.prepared else ""
    _told(checked, int(workers), problem)
    st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=checked.prepared is None or bool(problem),
        on_click=_start,
        args=(text, name, Settings(int(workers), wanted, str(folder))),
    )
    if any(run.progress is not None and not run.progress.is_over for run in known_runs()):
        st.caption("Another run is at work: both will share this machine.")
    refused = st.session_state.pop("batch refused", "")
    if refused:
        st.error(plain(refused), icon=":material/error:")
    if checked.prepared is not None:
        with st.expander("The plan", icon=":material/list:"):
            st.dataframe(task_table(checked.prepared), hide_index=True)
            cells = cell_table(checked.prepared)
            st.dataframe(
                cells,
                hide_index=True,
                height=38 + 35 * min(len(cells), 10),
                key=f"batch cells {hash((text, tuple(chosen)))}",
            )


def _folder(source: str) -> Path:
    """Where relative paths start: beside what ships, else where the app was started."""
    return Path.cwd() if source in st.session_state[OWN] else shipped_folder()


def _checked(text: str, file: str, folder: Path, languages: list[str] | None) -> Checked:
    """What a text comes to, looked at anew only where it or its surroundings may be different."""
    kept: dict[object, Checked] = st.session_state.setdefault("batch checked", {})
    key = (text, file, str(folder), None if languages is None else tuple(languages))
    if key not in kept or kept[key].prepared is None:
        found = check_text(text, file, folder, languages)
        while len(kept) >= 4:
            del kept[next(iter(kept))]
        kept[key] = found
    return kept[key]


def _languages(known: tuple[str, ...]) -> list[str]:
    key = f"batch languages {known}"
    with remembered(**{key: list(known)}):
        chosen: list[str] = st.multiselect(
            "Languages",
            list(known),
            key=key,
            format_func=lambda name: shortened(visible(name), 40),
            placeholder="Choose at least one",
        )
    return chosen


def _name(wanted: str) -> str:
    """The name of the run; what is suggested is free."""
    suggested = free_name(wanted or "evaluation", [run.name for run in known_runs()])
    key = f"batch name {suggested}"
    with remembered(**{key: suggested}):
        name = st.text_input(
            "Name of the run",
            key=key,
            max_chars=80,
            help="Letters, digits, dots, dashes and underscores. Its folder gets this name.",
        )
    return str(name).strip()


def _name_problem(name: str) -> str:
    if not name:
        return "The run needs a name."
    if any(run.name == name for run in known_runs()):
        return f"There is a run “{name}” already. Choose another name, or let it go on under Runs."
    return ""


def _told(checked: Checked, workers: int, problem: str) -> None:
    """One green line, or what is wrong and the lines around it."""
    if checked.prepared is None:
        st.error(plain(checked.message), icon=":material/error:")
        if checked.excerpt:
            st.code(checked.excerpt, language=None)
        st.button("Check again", icon=":material/refresh:", help="After you mended a file.")
    elif problem:
        st.error(plain(problem), icon=":material/error:")
    else:
        st.success(plain(summary(checked.prepared, workers)), icon=":material/check_circle:")


def _start(text: str, name: str, settings: Settings) -> None:
    try:
        begin(text, name, settings)
    except MorphGraphError as error:
        st.session_state["batch refused"] = str(error)
