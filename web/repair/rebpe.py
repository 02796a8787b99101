"""ReBPE, phase by phase to convergence: anneal, knock out, reify; a line to play."""

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from morphgraph.core.text import counted, from_to, signed
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.segment.method import values_of
from web import widgets as ui
from web.aside import scored_words, share_field, sides
from web.choosing import parameter_field, scope_and_weighting, scoring_now
from web.repair import phases as view
from web.repair.scenes import chosen_types
from web.state import Session

_PACE = 0.15
"""Seconds that a phase takes at least, so that one sees its point come."""
_TAB, _CHANGED, _SCENES = "rebpe tab", "What this phase changed", "The graph, in three scenes"
_ABLATION = "Ablation"


def prepare_rebpe(current: Session) -> None:
    """Begin a run, unless there is one, and perform the next phase if one was asked for."""
    current.just_asked = False
    run = current.run
    if run is not None and run.is_stale:
        run = current.run = None
    if run is not None and len(run.all_phases) > 1:  # it may have been opened again
        for name, value in run.settings:
            st.session_state.setdefault(f"kept rebpe_{name}", value)
    settings = _settings_now(current)
    rest, kept = sides(current)
    fits = run is not None and (run.settings, run.scored.parts) == (settings, kept.parts)
    if run is None or (len(run.all_phases) == 1 and not fits):
        run = current.run = ReBPERun(current.study.tokeniser, rest, settings, kept)
    _run_next_phase(current, run)
    current.doing = "The run of ReBPE" if current.asked else ""


def show_rebpe(current: Session) -> None:
    """Show the run as a line to play, and below it what it did."""
    run, running = current.run, bool(current.asked)
    assert run is not None
    begun = len(run.all_phases) > 1
    address = st.container(key="rebpe-address")
    if begun and not running:
        with address:
            view.follow_phase(current, run)
    with st.container(horizontal=True, vertical_alignment="center", key="rebpe-actions"):
        st.subheader(_title(run, running), anchor=False, width="stretch")
        if running:
            tip = "What is done stays; resume whenever you like."
            ui.button("Stop", "stop", current.ask, "", key="rebpe stop", help=tip)
        else:
            view.return_button(run)
            _buttons(current, run)
    st.markdown(_outcome(current, run), width="stretch")
    # Before the run, too, so that its points find the line on the page, and move nothing.
    view.phase_line(current, run, None if running else address)
    if running:
        # One phase per run, so that a click on Stop takes effect and the page shows the state.
        current.just_asked = True
        time.sleep(max(0.0, _PACE - run.phases[-1].seconds))
        ui.run_again()
    st.session_state.setdefault(_TAB, _CHANGED if begun else _SCENES)
    if view.begins_to_play(run) and st.session_state[_TAB] in (_SCENES, _ABLATION):
        st.session_state[_TAB] = _CHANGED  # a tab that follows
    shown: dict[str, Callable[[], None]] = {
        _CHANGED: lambda: view.phase_changes(current, run),
        _SCENES: lambda: chosen_types(current),
        _ABLATION: lambda: view.ablation_table(current, run),
    }
    tabs = st.tabs(list(shown), key=_TAB, on_change="rerun")
    for tab, show in zip(tabs, shown.values(), strict=True):
        if tab.open:  # drawn only then
            with tab:
                show()


def _settings_now(current: Session) -> ReBPESettings:
    fields = ReBPESettings.model_fields.items()
    given = {name: ui.value_now(f"rebpe_{name}", field.default) for name, field in fields}
    given["scope"], given["weighting"] = scoring_now("rebpe", current.study.benchmark)
    return ReBPESettings(**given)


def rebpe_settings(current: Session) -> None:
    """Choose the settings of the run, which it keeps once it has begun."""
    locked = current.run is not None and len(current.run.all_phases) > 1

    def start_over() -> None:
        if current.run is not None:
            current.run.go_to(1)
        new_run()

    def new_run() -> None:
        current.asked, current.run = "", None
        view.choose_phase(None)

    if locked:
        st.caption("A run keeps its settings. These two unlock them:")
        with st.container(horizontal=True):
            tip = "Undo the whole run, and your edits in between. Redo brings them back."
            ui.button("Start over", "restart_alt", start_over, key="rebpe over", help=tip)
            tip = "Keep what is done, and begin another run on top of it."
            ui.button("New run from here", "add", new_run, key="rebpe new", help=tip)
    columns, fields = st.columns(2), dict(ReBPESettings.model_fields)
    del fields["scope"], fields["weighting"]
    switches_first = sorted(fields, key=lambda name: values_of(fields[name]) is not bool)
    for number, name in enumerate(switches_first):
        options: dict[str, Any] = {"disabled": locked, "width": "stretch"}
        if name.endswith("vocabulary"):
            options |= {"step": 1000, "placeholder": "no limit"}
        parameter_field(columns[number % 2], f"rebpe_{name}", name, fields[name], **options)
    scope_and_weighting("rebpe", current.study.benchmark, disabled=locked)
    share_field(current, disabled=locked)


def _run_next_phase(current: Session, run: ReBPERun) -> None:
    if not current.asked:
        return
    view.choose_phase(None)
    if len(run.all_phases) == 1:
        st.session_state[_TAB] = _CHANGED
    if run.step() is None or run.upcoming is None or current.asked == "phase":
        current.asked = ""


def _buttons(current: Session, run: ReBPERun) -> None:
    upcoming = run.upcoming
    if upcoming is None:
        return
    number = f" (iteration {upcoming[0]})" if upcoming[0] else ""
    tip = f"Run one phase: {upcoming[1]}{number}."
    ui.button("Step", "skip_next", current.ask, "phase", key="rebpe phase", help=tip)
    tip = "Run until nothing changes. It can be stopped at any time."
    options: dict[str, Any] = {"key": "rebpe all", "primary": True, "help": tip}
    ui.button("Run", "fast_forward", current.ask, "all", **options)


def _title(run: ReBPERun, running: bool) -> str:
    last = run.phases[-1]
    if running:
        return f"ReBPE: {last.kind} done …"
    if len(run.phases) == 1:
        return "ReBPE: not yet run"
    title = (
        f"ReBPE: {counted(len(run.phases) - 1, 'phase')}, {counted(last.iteration, 'iteration')}"
    )
    if run.upcoming is not None:
        return title
    return f"{title}, {'converged' if run.converged else 'at the limit of iterations'}"


def _outcome(current: Session, run: ReBPERun) -> str:
    first, last = run.phases[0], run.phases[-1]
    if first is last:
        return "Merges to blame go; what is left is repaired and used again, until nothing changes."
    gain = 100 * (last.score.f1 - first.score.f1)
    words = len(run.scored)
    per_word = (f"{phase.tokens / max(1, words):.2f}" for phase in (first, last))
    return (
        f"**F1 {from_to(first.score.f1, last.score.f1)}** "
        f":{ui.gain_colour(gain)}[({signed(gain)})] "
        f"on {scored_words(current, learning=True).said} · "
        f"{first.vocabulary_size:,} → {last.vocabulary_size:,} types · "
        f"tokens per word {' → '.join(per_word)}"
    )
