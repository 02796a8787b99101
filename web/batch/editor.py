"""The tab that configures an evaluation: choose or open a file, edit it, check it, start it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_size, decode_utf8, shipped_configurations
from morphgraph.core.limits import PUBLIC_WORKERS, YAML_CHARACTERS
from morphgraph.core.system import available_cores
from morphgraph.core.text import shortened, visible
from web.batch.checking import free_name, summary
from web.batch.state import (
    CONFIGURE,
    REFUSED,
    SOURCE,
    VIEW,
    Settings,
    add_source,
    begin,
    checked_text,
    edited_texts,
    folder_of,
    keep_upload,
    known_runs,
    own_sources,
    uploads_folder,
)
from web.hosting import is_public
from web.inputs import clear_and_rerun, content_of, upload_key
from web.text import plain
from web.widgets import (
    attempt,
    button,
    choice,
    deferred_error,
    download,
    remembered,
    resent_in_every_run,
    set_value,
    show_deferred_error,
    show_error,
    show_table,
    table_height,
    value_now,
)

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_PROBLEM = "batch problem"
_NAMED_FILES = "batch files"
_WORKERS, _NAME = "batch_workers", "batch_name"


def configure_tab() -> None:
    """Choose, edit, check and start a configuration."""
    sources = _sources()
    source = _choice(sources)
    if source is None:
        return
    left, right = st.columns([7, 5], gap="large")
    with left:
        text = _editor(source, sources[source])
    with right.container():
        _outcome(source, text)


# ------------------------------------------------------------------------------------- choosing


def _sources() -> dict[str, str]:
    """Return the texts to start from, by name: shipped ones and those opened here."""
    shipped: dict[str, str] = {}
    with attempt():
        shipped = shipped_configurations()
    if is_public():  # others need files that visitors cannot access
        shipped = {name: text for name, text in shipped.items() if "${" not in text}
    return shipped | own_sources()


def _choice(sources: dict[str, str]) -> str | None:
    left, right = st.columns([7, 5], gap="large", vertical_alignment="bottom")
    source: str | None = choice(
        left.selectbox,
        "Start from",
        sources,
        key=SOURCE,
        format_func=lambda name: shortened(visible(name), 90),
    )
    # A new key closes the popover, so that it does not cover what was opened.
    key = f"batch open {len(own_sources())}"
    with right.popover("Open a file", icon=":material/upload_file:", width="stretch", key=key):
        _upload()
        if is_public():
            _upload_files()
    return source


def _upload() -> None:
    """Add a YAML file to the texts to start from."""
    key = f"batch upload {len(own_sources())}"
    st.file_uploader(
        "Evaluation",
        type=["yaml", "yml"],
        key=key,
        max_upload_size=10,  # above our own limit, whose error says what to do
        on_change=_take,
        args=(key,),
        help="A YAML file in UTF-8. It is shown here first; nothing runs before you press Start.",
    )
    if st.session_state.get(_PROBLEM):
        show_error(st.session_state[_PROBLEM])


def _upload_files() -> None:
    """Upload files to which this visitor's evaluations can refer instead of paths."""
    kept = sorted(path.name for path in uploads_folder().glob("*"))
    files = st.file_uploader(
        "Files that it names",
        accept_multiple_files=True,
        key=upload_key(_NAMED_FILES),
        help="Tokenisers, references, word counts or texts: the evaluation then names them, as in "
        "file: tokenizer.json.",
    )
    if kept:
        st.caption(f"There are: {plain(', '.join(kept))}.")
    if files:
        with attempt():
            for file in files:
                keep_upload(file.name, content_of(file))
            clear_and_rerun(_NAMED_FILES)


def _take(key: str) -> None:
    """Store and choose an uploaded text."""
    file: UploadedFile | None = st.session_state[key]
    st.session_state[_PROBLEM] = ""
    if file is None:
        return
    with deferred_error(_PROBLEM):
        data = file.getvalue()
        check_size(file.name, len(data))
        text = decode_utf8(data, file.name)
        YAML_CHARACTERS.check(len(text), file.name, fix="Choose the YAML file of an evaluation")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        add_source(shortened(visible(file.name), 60), text, shipped_configurations())


# ------------------------------------------------------------------------------------- editing


def _editor(source: str, original: str) -> str:
    texts, key = edited_texts(), _text_key(source)
    with st.container(key="batch-editor"):
        st.session_state[key] = texts.get(source, original)  # sent in every run
        text = st.text_area(
            "Evaluation",
            key=key,
            height=520,
            max_chars=YAML_CHARACTERS.value,
            help="Edit it as you like. Click elsewhere, or press Ctrl+Enter, and it is checked.",
            on_change=_keep_text,
            args=(source,),
        )
    with st.container(horizontal=True):
        # The dictionary, not the text, is read when the button is pressed.
        download(
            "Download YAML",
            lambda: texts.get(source, original).encode("utf-8", "replace"),
            "evaluation.yaml",
            key="batch yaml",
            help="Edits last as long as this page is open.",
        )
        button(
            "Undo all edits",
            "restart_alt",
            _undo,
            source,
            disabled=text == original,
            help="Back to the original file.",
        )
    return str(text)


def _text_key(source: str) -> str:
    return f"batch text {source}"


def _undo(source: str) -> None:
    edited_texts().pop(source, None)


def _keep_text(source: str) -> None:
    edited_texts()[source] = st.session_state[_text_key(source)]


# ------------------------------------------------------------------------------------- outcome


def _outcome(source: str, text: str) -> None:
    """Show the result of the check, the options of a run, and the start button."""
    checked = checked_text(source, text)
    runs = known_runs()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        workers = PUBLIC_WORKERS.value
        if not is_public():
            cores = available_cores()
            with remembered(**{_WORKERS: cores}):
                memory = "Each takes memory of its own, up to 1 GB for large vocabularies."
                note = f"Tasks at once; this machine has {cores} cores. {memory}"
                workers = st.number_input("Workers", 1, cores, key=_WORKERS, help=note)
        with resent_in_every_run(**{_NAME: ""}):
            st.text_input(
                "Name of the run",
                max_chars=80,
                placeholder=free_name(checked.name or "evaluation", [run.name for run in runs]),
                help="Unaccented letters, digits, dots, dashes and underscores. Its folder gets "
                "this name.",
                key=_NAME,
            )
    if checked.plan is None:
        show_error(checked.message)
        if checked.excerpt:
            st.code(checked.excerpt, language=None)
        st.button("Check again", icon=":material/refresh:", help="After you have corrected a file.")
    else:
        st.success(plain(summary(checked.plan, workers)), icon=":material/check_circle:")
    impossible = checked.plan is None
    button("Start", "play_arrow", _start, source, primary=True, disabled=impossible)
    if not is_public() and any(run.progress and not run.progress.is_over for run in runs):
        st.caption("Another run is running: both will share this machine.")
    show_deferred_error(REFUSED)
    if checked.plan is not None:
        with st.expander("Cells", icon=":material/list:"):
            labels = [shortened(visible(cell.label), 200) for cell in checked.plan.cells]
            show_table({"cell": labels}, table_height(10), key=f"batch cells {hash(text)}")


def _start(source: str) -> None:
    """Start the text now in the editor: the run that drew the button may have had an older one."""
    text = str(st.session_state[_text_key(source)])
    checked = checked_text(source, text)
    if checked.plan is None:
        if st.session_state.get(VIEW) == CONFIGURE:  # ignore the second half of a double click
            st.session_state[REFUSED] = "Nothing was started: correct the error above first."
        return
    names = [run.name for run in known_runs()]
    name = str(value_now(_NAME, "")).strip() or free_name(checked.name or "evaluation", names)
    with deferred_error(REFUSED):
        if name in names:
            raise MorphGraphError(
                f"There is a run “{name}” already. Choose another name, or resume it under Runs."
            )
        workers = int(value_now(_WORKERS, available_cores()))
        begin(text, name, Settings(workers, str(folder_of(source))))
        set_value(_NAME, "")
