"""Full evaluations: a configuration to edit, check and start; runs, their progress and results."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from morphgraph.batch.run import Run, ended_early, read_progress, stop_run
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes, shipped_configurations
from morphgraph.core.limits import PUBLIC_WORKERS, YAML_CHARACTERS, is_public
from morphgraph.core.system import available_cores
from morphgraph.core.text import counted, shortened, visible
from web import batch
from web import widgets as ui
from web.components import page_frame
from web.inputs import open_file
from web.jobs import is_waiting, leave_queue, place_in_queue
from web.storage import without_folder

_REFUSED = "batch refused"
_WORKERS, _NAME = "batch_workers", "batch_name"
_BEGINNING = "Workers start, load libraries, then tokenisers and references: some seconds."
_GONE = (
    "The process ended unexpectedly, as when a machine is switched off. What was done is kept: "
    "Resume runs the rest."
)
_FILES = {
    "report.html": ("Report", "One web page with all tables and charts. It needs no network."),
    "report.md": ("Markdown", None),
    "results.parquet": ("Parquet", "All results, in long form."),
    "tables.zip": ("Tables", "Each table as LaTeX and as CSV."),
    "results.json": ("JSON", "All results, with versions, command and checksums."),
    "run.log": ("Log", "With the tracebacks of what failed."),
}
"""The files of a run to download, each with its label and content."""


def evaluate_panel() -> None:
    """Choose, edit, check and start a configuration; below it are runs."""
    st.title("Run a whole evaluation", anchor=False)
    st.caption(
        "One file says which languages, tokenisers, methods and references; it runs in the "
        "background, with a report at the end, and is resumed after any stop."
    )
    _configure()
    if runs := {run.name: run for run in batch.known_runs()}:
        with st.container(border=True, key="batch-run"):
            _runs(runs)


def _configure() -> None:
    shipped: dict[str, str] = {}
    with ui.attempt():
        shipped = shipped_configurations()
    if is_public():  # others need files that visitors cannot access
        needed = ("${", "catalogue:")
        shipped = {
            n: text for n, text in shipped.items() if not any(map(text.__contains__, needed))
        }
    left, right = st.columns([7, 4], vertical_alignment="bottom")
    # A new key closes the popover, so that it does not cover what was opened.
    key = f"batch open {len(batch.kept('own'))}"
    with right.popover("Open a file", icon=":material/upload_file:", width="stretch", key=key):
        open_file(  # run first, so that what is added can be chosen
            "Evaluation",
            "batch",
            batch.take,
            type=["yaml", "yml"],
            max_upload_size=10,  # above our own limit, whose error says what to do
            help="A YAML file in UTF-8. It is shown here first; nothing runs before you press "
            "Start.",
        )
        if is_public():
            _upload_files()
    sources = shipped | batch.kept("own")
    source: str | None = ui.choice(
        left.selectbox,
        "Start from",
        sources,
        key=batch.SOURCE,
        format_func=lambda name: shortened(visible(name), 90),
    )
    if source is None:
        return
    text = _editor(source, sources[source])
    _outcome(source, text, is_edited=text != sources[source])


def _upload_files() -> None:
    open_file(
        "Files that it names",
        "batch files",
        batch.keep_upload,
        accept_multiple_files=True,
        help="Tokenisers, references, word counts or texts: the evaluation then names them, as in "
        "file: tokenizer.json.",
    )
    if kept := sorted(path.name for path in batch.uploads_folder().glob("*")):
        st.caption(f"There are: {ui.plain(', '.join(kept))}.")


def _editor(source: str, original: str) -> str:
    texts, key = batch.kept("edited"), f"batch text {source}"

    def keep() -> None:
        texts[source] = st.session_state[key]

    with st.container(key="batch-editor"):
        st.session_state[key] = texts.get(source, original)  # sent in every run
        text = st.text_area(
            "Evaluation",
            key=key,
            height=260,
            max_chars=YAML_CHARACTERS.value,
            help="Edit it as you like. Click elsewhere, or press Ctrl+Enter, and it is checked.",
            on_change=keep,
            label_visibility="collapsed",
        )
    return str(text)


def _outcome(source: str, text: str, *, is_edited: bool) -> None:
    """Show Start beside what would be done, or what is wrong."""
    checked, runs = batch.checked_text(source, text), batch.known_runs()
    free = batch.free_name(checked.name or "evaluation", [run.name for run in runs])
    with st.container(horizontal=True, vertical_alignment="center"):
        off = checked.plan is None
        ui.button("Start", "play_arrow", _start, source, primary=True, disabled=off)
        said = st.empty()
        st.space("stretch")
        with st.popover("Options", icon=":material/tune:"):
            workers = _options(source, text, free, is_edited=is_edited)
    if checked.plan is None:
        ui.show_error(checked.message)
        if checked.excerpt:
            st.code(checked.excerpt, language=None)
        st.button("Check again", icon=":material/refresh:", help="After you have corrected a file.")
    else:
        said.caption(ui.plain(batch.summary(checked.plan, workers)))
        if left_out := checked.plan.left_out:
            with st.expander(f"{counted(len(left_out), 'input')} left out"):
                st.text("\n\n".join(left_out))
    if not is_public() and any(run.progress and not run.progress.is_over for run in runs):
        st.caption("A run is running: another one would share this machine with it.")
    ui.show_deferred_error(_REFUSED)


def _options(source: str, text: str, free: str, *, is_edited: bool) -> int:
    """Choose how it is run, and save or undo its edits; return the number of workers."""
    workers = PUBLIC_WORKERS.value
    if not is_public():
        cores = available_cores()
        memory = "Each takes memory of its own, up to 1 GB for large vocabularies."
        tip = f"Tasks at once; this machine has {cores} cores. {memory}"
        options: dict[str, Any] = {"key": _WORKERS, "first": cores, "help": tip}
        workers = ui.setting(st.number_input, "Workers", 1, cores, **options)
    # Sent in every run: a value that is set once is lost if its run is interrupted.
    st.session_state[_NAME] = ui.value_now(_NAME, "")
    tip = "Unaccented letters, digits, dots, dashes and underscores. Its folder gets this name."
    options = {"key": _NAME, "first": "", "max_chars": 80, "placeholder": free, "help": tip}
    ui.setting(st.text_input, "Name of the run", **options)
    texts = batch.kept("edited")
    # The dictionary, not the text, is read when the button is pressed.
    ui.download(
        "Download YAML",
        lambda: texts.get(source, text).encode("utf-8", "replace"),
        "evaluation.yaml",
        key="batch yaml",
        help="Edits last as long as this page is open.",
    )
    tip = "Back to the original file."
    ui.button("Undo all edits", "restart_alt", texts.pop, source, disabled=not is_edited, help=tip)
    return int(workers)


def _start(source: str) -> None:
    """Start the text now in the editor: the run that drew the button may have had an older one."""
    text = str(st.session_state[f"batch text {source}"])
    checked = batch.checked_text(source, text)
    if checked.plan is None:
        st.session_state[_REFUSED] = "Nothing was started: correct the error above first."
        return
    names = [run.name for run in batch.known_runs()]
    free = batch.free_name(checked.name or "evaluation", names)
    name = str(ui.value_now(_NAME, "")).strip() or free
    with ui.deferred_error(_REFUSED):
        if name in names:
            raise MorphGraphError(
                f"There is a run “{name}” already. Choose another name, or resume it below."
            )
        workers = int(ui.value_now(_WORKERS, available_cores()))
        folder = batch.folder_of(source)
        batch.begin(text, name, ["--workers", str(workers), "--folder", str(folder)])
        ui.set_value(_NAME, "")


def _runs(runs: dict[str, Run]) -> None:
    """Show the chosen run, the newest by default."""
    name = ui.choice(
        st.selectbox,
        "Run",
        runs,
        key=batch.CHOSEN,
        format_func=lambda name: shortened(visible(name), 80),
        help="The newest first.",
    )
    run = runs[name]

    def resume() -> None:
        """Resume it with the same text, name, languages and workers."""
        with ui.deferred_error(_REFUSED):
            batch.begin(batch.configuration_of(run), name, batch.options_of(run))

    def edit_a_copy() -> None:
        with ui.deferred_error(_REFUSED):
            batch.add_source(f"copy of {name}"[:80], batch.configuration_of(run))

    at_work, can = not batch.is_over(run), batch.buttons_of(run)

    def show() -> None:
        now = replace(run, progress=read_progress(run.folder))
        if at_work and batch.buttons_of(now) != can:
            st.rerun()  # the whole page, as buttons and results have changed
        _state(now)

    st.fragment(show, run_every=1.0 if at_work else None)()
    ui.show_deferred_error(_REFUSED)
    state = batch.state_of(run)
    _buttons(run, state, can, resume)
    if batch.is_over(run) and (state == "done" or (run.folder / "report.html").is_file()):
        results_of(run)
    tip = "In the editor above; the run stays as it is."
    ui.button("Edit a copy of its file", "edit", edit_a_copy, key=f"batch copy {name}", help=tip)
    if not is_public():
        with st.expander("Files of this run", icon=":material/folder:"):
            st.caption("All of it is in this folder of this machine:")
            st.code(str(run.folder), language=None, wrap_lines=True)


def _buttons(run: Run, state: str, can: str, resume: Callable[[], None]) -> None:
    def stop() -> None:
        with ui.deferred_error(_REFUSED):
            (leave_queue if is_waiting(run.folder) else stop_run)(run.folder)

    has_failed = run.progress is not None and run.progress.failed > 0
    if can == "stopping":
        st.button("Stopping …", icon=":material/stop:", disabled=True, key="batch stopping")
    elif can != "over":
        with st.popover("Stop", icon=":material/stop:", disabled=can == "wait"):
            st.write("What is done is kept, and the run can be resumed later.")
            key = f"batch stop {run.name}"
            st.button("Stop the run", type="primary", on_click=stop, key=key)
    elif state != "done" or has_failed or not (run.folder / "report.html").is_file():
        label = "Retry failed tasks" if state == "done" and has_failed else "Resume"
        tip = "What is done is kept: only what is missing is run."
        first, key = state != "done", f"batch go on {run.name}"
        ui.button(label, "play_arrow", resume, primary=first, key=key, help=tip)


def _state(run: Run) -> None:
    progress = run.progress
    title, colour, icon = batch.badge_of(run)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(title, color=colour, icon=icon)
            if progress is not None and progress.started:
                began = time.localtime(progress.started)
                st.caption(time.strftime("started %d %b %Y, %H:%M", began))
        if progress is None:
            _no_progress(run)
            return
        share = min(1.0, max(0.0, progress.share))  # the file may have been tampered with
        st.progress(share, ui.plain_line(progress.summary(), 200))
        if not progress.is_over:
            # The line is always drawn, so that nothing below it moves.
            last = f"Last: {ui.code(shortened(visible(progress.last), 110))}"
            st.caption(last if progress.last else _BEGINNING)
        if progress.state == "interrupted":
            st.caption(_GONE)
        if progress.message:
            ui.show_error(progress.message)
    if progress.failed:
        title = f"{counted(progress.failed, 'task')} failed"
        with st.expander(title, icon=":material/error:", expanded=True):
            shown = progress.failures[-20:]
            for line in shown:
                st.markdown(f"- {ui.plain_line(without_folder(line), 500)}")
            if progress.failed > len(shown):
                st.caption(f"The last {len(shown):,} of {progress.failed:,}; the log has them all.")


def _no_progress(run: Run) -> None:
    place = place_in_queue(run.folder)
    if place:
        st.progress(0.0, f"Number {place:,} in the queue …")
        st.caption(
            "Runs of all visitors start one after the other. You can close this page meanwhile."
        )
        return
    output = without_folder(ended_early(run))
    if batch.state_of(run) == "beginning":
        st.progress(0.0, "Getting ready …")
        st.caption(_BEGINNING)
        return
    ui.show_error(
        "It ended before its first task, or its file progress.json cannot be read. "
        "Resume to run what is missing."
    )
    if output:
        st.code(batch.visible_lines(output), language=None, wrap_lines=True)


def results_of(run: Run) -> None:
    """Show a run's report and files."""
    st.subheader("Results", anchor=False)
    _download_buttons(run)
    try:
        page = decode_utf8(read_bytes(run.folder / "report.html"), "report.html")
    except MorphGraphError as error:
        ui.show_error(f"The report cannot be shown: {error}")
        return
    page_frame(page, "Report", key="batch report")


def _download_buttons(run: Run) -> None:
    folder = run.folder

    def content(name: str) -> Callable[[], bytes]:
        return lambda: read_bytes(folder / name)

    offered = {name: content(name) for name in _FILES if (folder / name).is_file()}
    if is_public():
        offered.pop("run.log", None)  # its tracebacks reveal details of the server
    if tables := sorted((folder / "tables").iterdir()) if (folder / "tables").is_dir() else []:
        offered["tables.zip"] = lambda: ui.zipped({path.name: read_bytes(path) for path in tables})
    with st.container(horizontal=True):
        for name, (label, note) in _FILES.items():
            if name in offered:
                file = f"{shortened(visible(run.name), 60)}-{name}"
                options = {"key": f"batch download {name}", "help": note}
                ui.download(label, offered[name], file, primary=name == "report.html", **options)
