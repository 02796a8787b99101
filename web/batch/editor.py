"""The tab that configures an evaluation: choose or open a file, edit it, see what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from morphgraph.batch.configuration import METHOD_MODELS
from morphgraph.core.demos import shipped_configurations
from morphgraph.core.files import check_size, decode_utf8
from morphgraph.core.limits import PUBLIC_WORKERS, YAML_CHARACTERS
from morphgraph.core.system import available_cores
from morphgraph.core.text import shortened, visible
from morphgraph.reference.catalogue import SOURCES
from web.batch.checking import (
    Checked,
    cell_table,
    described,
    first_sentence,
    free_name,
    name_problem,
    parts_of_file,
    summary,
    task_table,
)
from web.batch.form import FIELDS, entries_of, in_one_line, with_entries
from web.batch.state import (
    CONFIGURE,
    OWN,
    REFUSED,
    SOURCE,
    VIEW,
    Settings,
    add_source,
    begin,
    checked_text,
    folder_of,
    keep_upload,
    known_runs,
    text_key,
    uploads_folder,
)
from web.hosting import is_public
from web.inputs import content_of, taken, upload_key
from web.session import own_folder, wordfreq_languages
from web.storage import Draft, forget_draft, keep_draft
from web.text import plain
from web.widgets import (
    attempt,
    button,
    choice,
    deferred_error,
    download,
    remembered,
    rows_high,
    sent_again,
    show_deferred_error,
    show_error,
    show_table,
    value_now,
)

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from morphgraph.batch.plan import Plan

_PROBLEM = "batch problem"
_NAMED_FILES = "batch files"
_WORKERS = "batch_workers"
_EDITOR_HEIGHT = 520


def configure_tab() -> None:
    """Choose, edit, check and start."""
    sources = _sources()
    source = _choice(sources)
    if source is None:
        return
    left, right = st.columns([7, 5], gap="large")
    with left:
        form, yaml = st.tabs(["Form", "YAML"], key="batch form or yaml")
    with yaml:
        text = _editor(source, sources[source])
    with form:
        _form(source, sources[source], text)
    with right.container():
        checked = _outcome(source, text)
    if checked.plan is not None:
        _plan(checked.plan)
    what_can_stand_here()


# ------------------------------------------------------------------------------------- choosing


def _sources() -> dict[str, str]:
    """The texts to start from, by name: what ships, and what was opened here."""
    shipped: dict[str, str] = {}
    with attempt():
        shipped = shipped_configurations()
    if is_public():  # others need files that a visitor cannot name
        shipped = {name: text for name, text in shipped.items() if "${" not in text}
    own: dict[str, str] = st.session_state.setdefault(OWN, {})
    return shipped | own


def _choice(sources: dict[str, str]) -> str | None:
    left, right = st.columns([7, 5], gap="large", vertical_alignment="bottom")
    titles = {name: described(text)[0] or name for name, text in sources.items()}
    source: str | None = choice(
        left.selectbox,
        "Start from",
        sources,
        format_func=lambda name: shortened(visible(f"{titles[name]} · {name}"), 90),
        **_kept_at_once(SOURCE),
    )
    # A popover of another key is closed: it must not cover what was opened.
    key = f"batch open {len(st.session_state[OWN])}"
    with right.popover("Open a file", icon=":material/upload_file:", width="stretch", key=key):
        _upload()
        if is_public():
            _upload_files()
    if source is not None:
        note = first_sentence(described(sources[source])[1])
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
        max_upload_size=10,  # more than we take, so that it is we who say what to do
        on_change=_take,
        args=(key,),
        help="A YAML file in UTF-8. It is shown here first; nothing runs before you press Start.",
    )
    if st.session_state.get(_PROBLEM):
        show_error(st.session_state[_PROBLEM])


def _upload_files() -> None:
    """Files that evaluations of this visitor can name, in place of paths."""
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
            taken(_NAMED_FILES)


def _take(key: str) -> None:
    """Keep what was uploaded, and choose it."""
    file: UploadedFile | None = st.session_state[key]
    st.session_state[_PROBLEM] = ""
    if file is None:
        return
    with deferred_error(_PROBLEM):
        text = read_configuration(file.name, file.getvalue())
        add_source(shortened(visible(file.name), 60), text, shipped_configurations())


def read_configuration(name: str, data: bytes) -> str:
    """The text of an uploaded file; one that is too large or not UTF-8 is a `FileFormatError`."""
    check_size(name, len(data))
    text = decode_utf8(data, name)
    YAML_CHARACTERS.check(len(text), name, fix="Choose the YAML file of an evaluation")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ------------------------------------------------------------------------------------- editing


def _editor(source: str, original: str) -> str:
    key = text_key(source)
    with st.container(key="batch-editor"), sent_again(**{key: original}):
        text = st.text_area(
            "Evaluation",
            key=key,
            height=_EDITOR_HEIGHT,
            max_chars=YAML_CHARACTERS.value,
            help="Edit it as you like. Click elsewhere, or press Ctrl+Enter, and it is checked.",
            on_change=_keep_text,
            args=(source, original),
        )
    st.html(_MONOSPACE)
    if not Draft(source, None, text).fits:
        st.caption("A text of more than 200 kB is lost when this page is closed: download it.")
    with st.container(horizontal=True):
        download("Download YAML", _text_now(key, text), "evaluation.yaml", key="batch yaml")
        button(
            "Undo all edits",
            "restart_alt",
            _put_back,
            source,
            original,
            disabled=text == original,
            help="Back to how the file was.",
        )
    return str(text)


def _form(source: str, original: str, text: str) -> None:
    """What most evaluations differ in; each choice is written into the text, which counts."""
    found, at_first = entries_of(text), entries_of(original) or {}
    if found is None:
        st.info("The file cannot be read as it is. Mend it under YAML.")
        return
    offered = {
        "languages": {code: in_one_line(code) for code in wordfreq_languages()},
        "methods": {name: name for name in METHOD_MODELS},
        "references": {
            name: in_one_line(name)
            for name in ("demo:{code}", *(f"catalogue:{name}" for name in SOURCES))
        },
        "seeds": {str(seed): str(seed) for seed in range(10)},
    }
    for field in FIELDS:
        options = offered[field] | at_first.get(field, {})
        key = f"batch {field} {source}"
        st.session_state[key] = list(found[field])
        st.multiselect(
            field.capitalize(),
            list(options),  # always the same: with others it would be a new field, and empty
            key=key,
            accept_new_options=True,
            placeholder="0" if field == "seeds" else "Choose, or type",
            help=_MEANING[field],
            on_change=_choose,
            args=(source, original, field, options),
        )
    st.caption("Tokenisers, scores and tables stand in the YAML.")


_MEANING = {
    "languages": "Codes; the YAML says what is opened for each.",
    "methods": "Each is applied to each tokeniser. Settings go in brackets, as in dropout(p=0.1).",
    "references": "Gold lists: those that ship, public ones (they must have been fetched), or a "
    "file.",
    "seeds": "For what is random: one run for each.",
}


def _choose(source: str, original: str, field: str, known: dict[str, str]) -> None:
    """Write what is chosen in the form into the text that is in the editor now."""
    text = str(value_now(text_key(source), original))
    found = (entries_of(text) or {}).get(field, {})
    known = known | found
    chosen = st.session_state[f"batch {field} {source}"]
    if list(chosen) == list(found):
        return  # the browser repeats what the text says
    entries = [
        known.get(name) or (name if name.isdecimal() else in_one_line(name)) for name in chosen
    ]
    st.session_state[text_key(source)] = with_entries(text, field, entries)
    _keep_text(source, original)


_MONOSPACE = """<style>
.st-key-batch-editor textarea {
  font-family: var(--st-code-font, "Source Code Pro", monospace);
  font-size: 0.85rem;
  line-height: 1.5;
  white-space: pre;
  overflow-x: auto;
}
</style>"""


def _text_now(key: str, shown: str) -> Callable[[], bytes]:
    """What makes a download of what is in the editor then, outside of any run of the page."""
    context = get_script_run_ctx()

    def data() -> bytes:
        state = None if context is None else context.session_state
        text = state[key] if state is not None and key in state else shown
        return str(text).encode("utf-8", "replace")

    return data


def _kept_at_once(key: str) -> dict[str, Any]:
    """The key of a widget that is kept at once: the run that brings a value may not draw it."""
    return {"key": key, "on_change": _keep, "args": (key,)}


def _keep(key: str) -> None:
    st.session_state[f"kept {key}"] = st.session_state[key]


def _keep_text(source: str, original: str) -> None:
    _keep(text_key(source))
    text, own = st.session_state[text_key(source)], st.session_state[OWN]
    if source in own or text != original:
        keep_draft(own_folder(), Draft(source, own.get(source), text))
    else:
        forget_draft(own_folder(), source)


def _put_back(source: str, original: str) -> None:
    st.session_state[text_key(source)] = original
    _keep_text(source, original)


# ------------------------------------------------------------------------------------- outcome


def _outcome(source: str, text: str) -> Checked:
    """What the text comes to, the choices of a run, and the button that starts it."""
    checked = checked_text(source, text)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        workers = PUBLIC_WORKERS.value if is_public() else _workers()
        suggested = _suggested(checked)
        name = _name(suggested)
    problem = name_problem(name, _names()) if checked.plan else ""
    _told(checked, workers, problem)
    button(
        "Start",
        "play_arrow",
        _start,
        source,
        checked.name,
        suggested,
        primary=True,
        width="stretch",
        disabled=checked.plan is None or bool(problem),
    )
    if not is_public() and any(run.progress and not run.progress.is_over for run in known_runs()):
        st.caption("Another run is running: both will share this machine.")
    show_deferred_error(REFUSED)
    return checked


def _workers() -> int:
    cores = available_cores()
    with remembered(**{_WORKERS: cores}):
        workers = st.number_input(
            "Workers",
            1,
            cores,
            help=f"Tasks at once; this machine has {cores} cores. Each takes memory of its own, up "
            "to 1 GB for large vocabularies.",
            **_kept_at_once(_WORKERS),
        )
    return int(workers)


def _plan(plan: Plan) -> None:
    """The tasks and cells of a run; what all cells share stands above them."""
    with st.expander("Plan preview", icon=":material/list:"):
        show_table(task_table(plan))
        cells, alike = cell_table(plan)
        if alike:
            shared = "; ".join(f"{title}: {value}" for title, value in alike.items())
            st.caption(plain(f"The same in all cells: {shared}"))
        show_table(cells, rows_high(10), key=f"batch cells {hash(cells.to_csv())}")


def _names() -> list[str]:
    return [run.name for run in known_runs()]


def _suggested(checked: Checked) -> str:
    return free_name(checked.name or "evaluation", _names())


def _name_key(suggested: str) -> str:
    return f"batch name {suggested}"


def _name(suggested: str) -> str:
    """The name of the run; what is suggested is free."""
    key = _name_key(suggested)
    with sent_again(**{key: suggested}):
        name = st.text_input(
            "Name of the run",
            max_chars=80,
            help="Unaccented letters, digits, dots, dashes and underscores. Its folder gets this "
            "name.",
            **_kept_at_once(key),
        )
    return str(name).strip()


def _told(checked: Checked, workers: int, problem: str) -> None:
    """One green line, or what is wrong and the lines around it."""
    if checked.plan is None:
        show_error(checked.message)
        if checked.excerpt:
            st.code(checked.excerpt, language=None)
        st.button("Check again", icon=":material/refresh:", help="After you mended a file.")
    elif problem:
        show_error(problem)
    else:
        st.success(plain(summary(checked.plan, workers)), icon=":material/check_circle:")


def _start(source: str, shown_name: str, suggested: str) -> None:
    """Start what is in the editor now: the run that drew the button may have had an older text.

    ``shown_name``: what that text called itself; ``suggested``: what stood in the field of the
    name, which is computed anew if the text has another name now and the field was left alone.
    """
    text = str(value_now(text_key(source), ""))
    checked = checked_text(source, text)
    name = str(value_now(_name_key(suggested), suggested)).strip()
    if checked.name != shown_name and name == suggested:
        name = _suggested(checked)
    if checked.plan is None or name_problem(name, _names()):
        if st.session_state.get(VIEW) == CONFIGURE:  # not for the second half of a double click
            st.session_state[REFUSED] = "Nothing was started: correct the error above first."
        return
    with deferred_error(REFUSED):
        workers = int(value_now(_WORKERS, available_cores()))
        begin(text, name, Settings(workers, None, str(folder_of(source))))


def what_can_stand_here() -> None:
    """A part of the file to choose, and its fields."""
    with st.expander("Configuration reference", icon=":material/help:"):
        parts = parts_of_file()
        part = choice(st.selectbox, "Part of the file", parts, key="batch_part")
        meaning, fields = parts[part]
        st.caption(plain(meaning))
        columns = {
            "field": ("name", 150),
            "what can stand there": ("values", 300),
            "if left out": ("default", 150),
            "meaning": ("meaning", 400),
        }
        show_table(
            {
                title: [getattr(field, name) for field in fields]
                for title, (name, _) in columns.items()
            },
            rows_high(12),
            key=f"batch fields {part}",
            column_config={
                title: st.column_config.TextColumn(width=width, pinned=title == "field")
                for title, (_, width) in columns.items()
            },
        )
