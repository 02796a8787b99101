"""Full evaluations: a configuration to edit, check and start; runs, their progress and results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from morphgraph.batch.run import Run, ended_early, read_progress, stop_path, stop_run
from morphgraph.core.files import decode_utf8, read_bytes, shipped_configurations
from morphgraph.core.limits import YAML_CHARACTERS, is_public
from morphgraph.core.text import counted, shortened, visible
from web import batch
from web import widgets as ui
from web.components import page_frame
from web.inputs import open_file
from web.jobs import is_waiting, leave_queue, place_in_queue
from web.storage import without_folder

_REFUSED = "batch refused"
_FILES = ("report.html", "report.md", "results.parquet", "results.json", "configuration.yaml")
_LOG = "run.log"


def evaluate_panel() -> None:
    """Choose, edit, check and start a configuration; below it are runs."""
    st.title("Run a whole evaluation", anchor=False)
    st.caption(
        "One file names tokenisers, methods, languages and scores. It runs here or on a cluster, "
        "and can be resumed after any stop. Drop a file of your own anywhere."
    )
    shipped = shipped_configurations()
    if is_public():  # others need files that visitors cannot access
        shipped = {n: t for n, t in shipped.items() if "${" not in t and "catalogue:" not in t}
    sources = shipped | batch.kept("own")
    source: str = ui.choice(
        st.selectbox,
        "Start from",
        sources,
        key=batch.SOURCE,
        format_func=lambda name: shortened(visible(name), 90),
    )
    _outcome(source, _editor(source, sources[source]))
    if runs := {run.name: run for run in batch.known_runs()}:
        with st.container(border=True, key="batch-run"):
            _runs(runs)


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
            help="Edit it as you like. Click elsewhere, or press Ctrl+Enter, to check it.",
            on_change=keep,
            label_visibility="collapsed",
        )
    return str(text)


def _outcome(source: str, text: str) -> None:
    """Show Start beside what would be done, or what is wrong."""
    plan = batch.checked_text(source, text)
    with st.container(horizontal=True, vertical_alignment="center"):
        off = isinstance(plan, str)
        ui.button("Start", "play_arrow", _start, source, primary=True, disabled=off)
        if not isinstance(plan, str):
            st.caption(ui.plain(batch.summary(plan)), width="content")
        with st.popover("From the command line", type="tertiary"):
            _elsewhere(source, text)
    if isinstance(plan, str):
        ui.show_error(plan)
    elif left_out := plan.left_out:
        with st.expander(f"{counted(len(left_out), 'input')} left out"):
            st.text("\n\n".join(left_out))
    ui.show_deferred_error(_REFUSED)


def _elsewhere(source: str, text: str) -> None:
    """Show how the text is run without this page; a visitor adds the files that it names."""
    texts = batch.kept("edited")
    st.code("morphgraph evaluate evaluation.yaml --out results", language="bash")
    st.caption("With --workers or --scheduler: as many at once as you like.")
    # The dictionary, not the text, is read when the button is pressed.
    ui.download(
        "Download YAML",
        lambda: texts.get(source, text).encode("utf-8", "replace"),
        "evaluation.yaml",
        key="batch yaml",
        help="Edits last as long as this page is open.",
    )
    if is_public():
        open_file(
            "Files that it names",
            "batch files",
            batch.keep_upload,
            accept_multiple_files=True,
            help="Tokenisers, references, word counts or texts. The evaluation can then name them, "
            "as in file: tokenizer.json.",
        )
        if kept := sorted(path.name for path in batch.uploads_folder().glob("*")):
            st.caption(f"There are: {ui.plain(', '.join(kept))}.")


def _start(source: str) -> None:
    """Start the text now in the editor: the run that drew the button may have had an older one."""
    text = str(st.session_state[f"batch text {source}"])
    plan = batch.checked_text(source, text)
    if isinstance(plan, str):
        st.session_state[_REFUSED] = "Nothing was started: correct the error above first."
        return
    name = ui.unique_name(plan.evaluation.name, [run.name for run in batch.known_runs()])
    with ui.deferred_error(_REFUSED):
        batch.begin(text, name, batch.folder_of(source))


def _runs(runs: dict[str, Run]) -> None:
    """Show the chosen run, the newest by default."""
    name = next(iter(runs))
    if len(runs) > 1:
        name = ui.choice(
            st.selectbox,
            "Run",
            runs,
            key=batch.CHOSEN,
            format_func=lambda name: shortened(visible(name), 80),
            help="The newest first.",
        )
    run = runs[name]
    is_active = not batch.is_over(run)

    def show() -> None:
        now = replace(run, progress=read_progress(run.folder))
        if batch.is_over(now) == is_active:
            st.rerun()  # the whole page, as this has to be drawn again more often, or no more
        _run(now, is_active=is_active)

    st.fragment(show, run_every=1.0 if is_active else None)()


def _run(run: Run, *, is_active: bool) -> None:
    title, colour, icon = batch.STATES[batch.state_of(run)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{ui.plain_line(run.name, 60)}**", width="content")
        st.badge(title, color=colour, icon=icon)
        st.space("stretch")
        (_stop_button if is_active else _resume_button)(run)
    ui.show_deferred_error(_REFUSED)
    _progress(run)
    for table in batch.tables_of_run(run)[:1]:
        ui.show_model(table, 15, key=f"batch table {run.name}", is_brief=True)
    if not is_active:
        _results(run)


def _stop_button(run: Run) -> None:
    def stop() -> None:
        with ui.deferred_error(_REFUSED):
            (leave_queue if is_waiting(run.folder) else stop_run)(run.folder)

    # Before its first report, a run ignores requests.
    off = stop_path(run.folder).exists() or not (run.progress or is_waiting(run.folder))
    tip = "What is done is kept, and the run can be resumed later."
    ui.button("Stop", "stop", stop, disabled=off, help=tip, key="batch stop")


def _resume_button(run: Run) -> None:
    def resume() -> None:
        with ui.deferred_error(_REFUSED):
            batch.resume(run)

    is_done = batch.state_of(run) == "done"
    has_failed = run.progress is not None and run.progress.failed > 0
    if not is_done or has_failed or not (run.folder / "report.html").is_file():
        tip = "What is done is kept: only what is missing, or has failed, is run."
        ui.button("Resume", "play_arrow", resume, primary=not is_done, help=tip, key="batch resume")


def _progress(run: Run) -> None:
    progress, state = run.progress, batch.state_of(run)
    if state == "waiting":
        st.progress(0.0, f"Number {place_in_queue(run.folder):,} in the queue …")
    elif state == "beginning":
        st.progress(0.0, "Workers start, and load libraries, tokenisers and references …")
    elif progress is None:
        ui.show_error(
            "It ended before its first task, or its file progress.json cannot be read. "
            "Resume to run what is missing."
        )
        if output := without_folder(ended_early(run)):
            st.code(batch.visible_lines(output), language=None, wrap_lines=True)
    else:
        share = min(1.0, progress.share)  # the file may have been tampered with
        st.progress(share, ui.plain_line(progress.summary(), 200))
        if progress.message:
            ui.show_error(progress.message)
        if progress.failed:
            title = f"{counted(progress.failed, 'task')} failed"
            with st.expander(title, icon=":material/error:", expanded=True):
                for line in progress.failures[-20:]:  # the log has all
                    st.markdown(f"- {ui.plain_line(without_folder(line), 500)}")


def _results(run: Run) -> None:
    """Offer a run's report and files, and show the report."""
    report = run.folder / "report.html"
    if not report.is_file():
        return
    name = shortened(visible(run.name), 60)
    tip = "The report, all results (Parquet, JSON), tables as LaTeX and CSV, the evaluation."
    options: dict[str, Any] = {"key": "batch files", "help": tip}
    ui.download("All files", lambda: _archive(run), f"{name}.zip", **options)
    if not is_public():
        st.caption(f"All of it is in {ui.plain(str(run.folder))}")
    with st.expander("The whole report", key=f"report {run.name}", on_change="rerun") as opened:
        if opened.open:
            with ui.attempt():
                page_frame(decode_utf8(read_bytes(report), "report.html"), "Report", key="report")


def _archive(run: Run) -> bytes:
    """Return a run's files as an archive; the log, whose tracebacks tell of a server, not there."""
    names = _FILES if is_public() else (*_FILES, _LOG)
    paths = [*(run.folder / name for name in names), *(run.folder / "tables").glob("*")]
    return ui.zipped(
        {
            path.relative_to(run.folder).as_posix(): read_bytes(path)
            for path in paths
            if path.is_file()
        }
    )
