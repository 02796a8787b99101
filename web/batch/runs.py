"""The tab of runs: progress, failures, stopping, resuming, and results."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace

import streamlit as st

from morphgraph.batch.run import Run, RunProgress, ended_early, read_progress, stop_run
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.core.text import counted, shortened, visible
from web.batch.progress import (
    badge_of,
    buttons_of,
    is_over,
    state_of,
    visible_lines,
)
from web.batch.results import results_of
from web.batch.state import (
    CHOSEN,
    REFUSED,
    add_source,
    begin,
    known_runs,
    show_editor,
    start_settings,
)
from web.hosting import is_public
from web.queue import is_waiting, leave_queue, place_in_queue
from web.storage import without_folder
from web.text import code, plain_line
from web.widgets import (
    button,
    choice,
    deferred_error,
    show_deferred_error,
    show_error,
)

_EVERY = 1.0
_MOST_FAILURES = 20
_BEGINNING = "Workers start, load libraries, then tokenisers and references: some seconds."
_GONE = (
    "The process ended unexpectedly, as when a machine is switched off. What was done is kept: "
    "Resume runs the rest."
)


def runs_tab() -> None:
    """Show the chosen run, the newest by default."""
    runs = {run.name: run for run in known_runs()}
    if not runs:
        st.info("Nothing has been run yet. Choose an evaluation under Configure, and press Start.")
        button("Configure one", "tune", show_editor)
        return
    name = choice(
        st.selectbox,
        "Run",
        runs,
        key=CHOSEN,
        format_func=lambda name: shortened(visible(name), 80),
        help="The newest first.",
    )
    run = runs[name]
    _watched(run)
    _buttons(run)
    # A report is written after results, so missing results were deleted.
    has_ended = run.has_results or state_of(run) == "done"
    if has_ended and is_over(run) and not results_of(run) and state_of(run) == "done":
        # Finished tasks are in the run's store; "Resume" also writes the results.
        key = f"batch write again {run.name}"
        button("Write the results again", "refresh", _resume, run, primary=True, key=key)
    _folder(run)


# ------------------------------------------------------------------------------------- state


def _watched(run: Run) -> None:
    """Show a run's progress, refreshed about once a second while it is running."""
    at_work, shown = not is_over(run), buttons_of(run)

    def show() -> None:
        now = replace(run, progress=read_progress(run.folder))
        if at_work and buttons_of(now) != shown:
            st.rerun()  # the whole page, as buttons and results have changed
        _state(now)

    st.fragment(show, run_every=_EVERY if at_work else None)()


def _state(run: Run) -> None:
    progress = run.progress
    title, colour, icon = badge_of(run)
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
        st.progress(share, plain_line(progress.summary(), 200))
        if not progress.is_over:
            # The line is always drawn, so that nothing below it moves.
            last = f"Last: {code(shortened(visible(progress.last), 110))}"
            st.caption(last if progress.last else _BEGINNING)
        if progress.state == "interrupted":
            st.caption(_GONE)
        if progress.message:
            show_error(progress.message)
    if progress.failed:
        _failures(run, progress)


def _no_progress(run: Run) -> None:
    place = place_in_queue(run.folder)
    if place:
        st.progress(0.0, f"Number {place:,} in the queue …")
        st.caption(
            "Runs of all visitors start one after the other. You can close this page meanwhile."
        )
        return
    said = without_folder(ended_early(run))
    if state_of(run) == "beginning":
        st.progress(0.0, "Getting ready …")
        st.caption(_BEGINNING)
        return
    show_error(
        "It ended before its first task, or its file progress.json cannot be read. "
        "Resume to run what is missing."
    )
    if said:
        st.code(visible_lines(said), language=None, wrap_lines=True)


def _failures(run: Run, progress: RunProgress) -> None:
    title = f"{counted(progress.failed, 'task')} failed"
    with st.expander(title, icon=":material/error:", expanded=True):
        shown = progress.failures[-_MOST_FAILURES:]
        for line in shown:
            st.markdown(f"- {plain_line(without_folder(line), 500)}")
        if progress.failed > len(shown):
            st.caption(f"The last {len(shown):,} of {progress.failed:,}; the log has them all.")


# ------------------------------------------------------------------------------------- buttons


def _buttons(run: Run) -> None:
    show_deferred_error(REFUSED)
    state, can = state_of(run), buttons_of(run)
    if can != "over":
        if can == "stopping":
            st.button("Stopping …", icon=":material/stop:", disabled=True, key="batch stopping")
            return
        with st.popover("Stop", icon=":material/stop:", disabled=can == "wait"):
            st.write("What is done is kept, and the run can be resumed later.")
            key = f"batch stop {run.name}"
            st.button("Stop the run", type="primary", on_click=_stop, args=(run,), key=key)
        return
    failed = run.progress is not None and run.progress.failed > 0
    if state == "done" and not failed:
        return
    button(
        "Retry failed tasks" if state == "done" else "Resume",
        "play_arrow",
        _resume,
        run,
        primary=state != "done",
        key=f"batch go on {run.name}",
        help="What is done is kept: only what is missing is run.",
    )


def _configuration(run: Run) -> str:
    path = run.folder / "configuration.yaml"
    return decode_utf8(read_bytes(path), str(path))


def _edit_a_copy(run: Run) -> None:
    """Open a run's configuration in the editor, to change it and start another run."""
    with deferred_error(REFUSED):
        add_source(f"copy of {run.name}"[:80], _configuration(run))
        show_editor()


def _stop(run: Run) -> None:
    with deferred_error(REFUSED):
        (leave_queue if is_waiting(run.folder) else stop_run)(run.folder)


def _resume(run: Run) -> None:
    """Resume a run with the same text, name, languages and workers."""
    with deferred_error(REFUSED):
        begin(_configuration(run), run.name, start_settings(run.folder))


def _folder(run: Run) -> None:
    button(
        "Edit a copy of its file",
        "edit",
        _edit_a_copy,
        run,
        key=f"batch copy {run.name}",
        help="Under Configure; the run stays as it is.",
    )
    if not is_public():
        with st.expander("Files of this run", icon=":material/folder:"):
            st.caption("All of it is in this folder of this machine:")
            st.code(str(run.folder), language=None, wrap_lines=True)
            st.caption("To resume it in a terminal")
            st.code(resume_command(run), language=None, wrap_lines=True)


def resume_command(run: Run) -> str:
    """Return the command that resumes a run in a terminal."""
    settings = start_settings(run.folder)
    words = ["morphgraph", "evaluate", str(run.folder / "configuration.yaml")]
    words += ["--out", str(run.folder), "--workers", str(settings.workers)]
    if settings.folder is not None:
        words += ["--folder", settings.folder]
    return shlex.join(words)
