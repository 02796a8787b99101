"""ReBPE, phase by phase to convergence: anneal, knock out, reify; a line to play."""

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from morphgraph.core.text import counted, from_to, signed
from morphgraph.draw.fan import stages
from morphgraph.graph.view import type_key
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from web import widgets as ui
from web.aside import scored_words, share_field, sides
from web.bootstrap import score_bar, score_metrics, start
from web.choosing import parameter_field, scope_and_weighting, scoring_now
from web.components import fan_graph
from web.edits import knock_out_and_reify, never_formed_note, several_words_note, show_message
from web.state import Session, keep_session
from web.tape import tape
from web.views import rebpe as view
from web.views.without_gold import needs_gold

_NAMES = {
    "anneal": "anneal",
    "knockout": "knock out",
    "reify": "reify",
    "portable": "make portable",
}
_PACE = 0.15
"""Seconds that a phase takes at least, so that one sees its point come."""
_TAB, _CHANGED, _SCENES = "rebpe tab", "What it changed", "Three scenes"
_ABLATION = "Ablation"
_SWITCHES = {
    "anneal": "Anneal first",
    "repair": "Repair",
    "link": "Reuse pairs",
    "expand": "Create pairs",
    "cascade": "Cascade",
    "portable": "Only pairs in the end",
    "tuples_once": "Count tuples once",
}
_NUMBERS = {
    "threshold": "Least blame, θ",
    "iterations": "Most iterations, I",
    "minimum_vocabulary": "Smallest vocabulary",
    "maximum_vocabulary": "Largest vocabulary",
}


def rebpe_page(current: Session) -> None:
    """Show the page; a visitor who returns to it finds it stopped."""
    if not current.just_asked:
        current.asked = ""
    _page(current)


@st.fragment
def _page(current: Session) -> None:
    """Show everything; a fragment, so that a step redraws nothing else."""
    if not current.study.has_blame:
        score_metrics(current, "rebpe")
        needs_gold(current, "ReBPE needs")
        return
    current.just_asked = False
    run = current.run
    if run is not None and run.is_stale:
        run = current.run = None
    if run is not None and len(run.all_phases) > 1:  # it may have been opened again
        for name, value in run.settings:
            st.session_state.setdefault(f"kept rebpe_{name}", value)
    settings = _settings(current)
    rest, kept = sides(current)
    fits = run is not None and (run.settings, run.scored.parts) == (settings, kept.parts)
    if run is None or (len(run.all_phases) == 1 and not fits):
        run = current.run = ReBPERun(current.study.tokeniser, rest, settings, kept)
    running = _run_next_phase(current, run)
    settings = run.settings
    begun = len(run.all_phases) > 1
    current.doing = "The run of ReBPE" if running else ""
    keep_session(current)
    if running:  # what is not drawn stays as it was, and leaves the browser time for the line
        score_bar("rebpe")
    else:
        score_metrics(current, "rebpe", settings.scope, settings.weighting, learning=True)
    address = st.container(key="rebpe-address")
    if begun and not running:
        with address:
            view.follow_phase(current, run)
    with st.container(horizontal=True, vertical_alignment="center", key="rebpe-actions"):
        with st.container(horizontal=True, width="content"):
            if running:
                tip = "What is done stays; resume whenever you like."
                ui.button("Stop", "stop", current.ask, "", key="rebpe stop", help=tip)
            else:
                _buttons(current, run)
                view.return_button(run)
        st.markdown(_where_it_is(current, run, running), width="stretch")
        with st.popover("Settings", icon=":material/tune:"):
            _settings_panel(current, locked=begun)
    # Before the run, too, so that its points find the line on the page, and move nothing.
    view.phase_line(current, run, None if running else address)
    if running:
        # One phase per run, so that a click on Stop takes effect and the page shows the state.
        current.just_asked = True
        time.sleep(max(0.0, _PACE - run.phases[-1].seconds))
        ui.run_again()
    with st.container():  # a message does not make the tabs below new ones
        show_message(current)
        never_formed_note(current)
        several_words_note(current)
    st.session_state.setdefault(_TAB, _CHANGED if begun else _SCENES)
    if view.begins_to_play(run) and st.session_state[_TAB] in (_SCENES, _ABLATION):
        st.session_state[_TAB] = _CHANGED  # a tab that follows
    shown: dict[str, Callable[[], None]] = {
        _CHANGED: lambda: view.phase_changes(current, run),
        _SCENES: lambda: chosen_types(current),
        "Over the run": lambda: view.charts(run),
        _ABLATION: lambda: view.ablation_table(current, run),
    }
    ui.tabs(shown, key=_TAB)
    tape(current)


def _settings(current: Session) -> ReBPESettings:
    fields = ReBPESettings.model_fields.items()
    given = {name: ui.value_now(f"rebpe_{name}", field.default) for name, field in fields}
    given["scope"], given["weighting"] = scoring_now("rebpe", current.study.benchmark)
    return ReBPESettings(**given)


def _settings_panel(current: Session, *, locked: bool) -> None:
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
    for labels in (_SWITCHES, _NUMBERS):
        columns = st.columns(2)
        for number, (name, label) in enumerate(labels.items()):
            field = ReBPESettings.model_fields[name]
            options: dict[str, Any] = {"disabled": locked, "width": "stretch"}
            if name.endswith("vocabulary"):
                options |= {"step": 1000, "placeholder": "no limit"}
            parameter_field(
                columns[number % 2], label, f"rebpe_{name}", field, field.default, **options
            )
    scope_and_weighting("rebpe", current.study.benchmark, disabled=locked)
    share_field(current, disabled=locked)


def _run_next_phase(current: Session, run: ReBPERun) -> bool:
    if not current.asked:
        return False
    view.choose_phase(None)
    if len(run.all_phases) == 1:
        st.session_state[_TAB] = _CHANGED
    if run.step() is None or run.upcoming is None or current.asked == "phase":
        current.asked = ""
    return bool(current.asked)


def _buttons(current: Session, run: ReBPERun) -> None:
    upcoming = run.upcoming
    if upcoming is None:
        return
    tip = "Run until nothing changes. It can be stopped at any time."
    options: dict[str, Any] = {"key": "rebpe all", "primary": True, "help": tip}
    ui.button("Run to convergence", "fast_forward", current.ask, "all", **options)
    number = f" (iteration {upcoming[0]})" if upcoming[0] else ""
    label = f"Next: {_NAMES[upcoming[1]]}{number}"
    ui.button(label, "skip_next", current.ask, "phase", key="rebpe phase", help="Run one phase.")


def _where_it_is(current: Session, run: ReBPERun, running: bool) -> str:
    first, last = run.phases[0], run.phases[-1]
    if running:
        return f"Iteration {last.iteration}: {_NAMES.get(last.kind, last.kind)} done …"
    if run.upcoming is not None:
        summary = "ReBPE removes the merges to blame, then repairs and reuses what is left."
        return f":gray[{summary}]" if last is first else ""
    changed = from_to(first.score.f1, last.score.f1, 1)
    ended = "Converged" if run.converged else "The limit of iterations is reached"
    changed += f" on {scored_words(current, learning=True).said}"
    more = f"tokens {signed(100 * run.tokens_added, 1, ' %')} in "
    more += counted(last.iteration, "iteration")
    return f":green[:material/check_circle: **{ended}: F1 {changed}; {more}**]"


def chosen_types(current: Session) -> None:
    """Show user-chosen types before, after knockout, and after reification."""
    study = current.study
    graph, names, blamed = study.graph, study.tokeniser.readable_types, study.blame()
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    key = f"rebpe types {current.study_number}"
    text = left.text_input(
        "Find types", key=f"{key} find", placeholder="part of a type", max_chars=100
    )
    worst = [int(blamed.arrays.results[place]) for place in blamed.order[:100]]
    offered = study.tokeniser.search(text) if text else worst
    if key in st.session_state:
        already = [n for n in st.session_state[key] if graph.is_present(n)]
    else:  # an initial example
        few = [n for n in worst if graph.is_removable(n) and graph.fan_out(n) <= 8]
        already = sorted(few, key=graph.fan_out)[-1:]
    if already != st.session_state.get(key):
        st.session_state[key] = already
    chosen = right.multiselect(
        "Types to knock out",
        list(dict.fromkeys([*already, *(n for n in offered if graph.is_removable(n))])),
        format_func=names.__getitem__,
        key=key,
        max_selections=12,
        select_all=False,
        placeholder="choose among those found" if text else "choose among those most to blame",
    )
    if not chosen:
        st.caption(
            "Choose types to see three scenes: as they are now, knocked out, and after repair and "
            "reification of the merges that used them."
        )
        return
    with ui.attempt():
        texts = [graph.types[number] for number in chosen]
        _scenes(current, texts, chosen)
        tip = "Two edits, which Undo takes back one after the other."
        options: dict[str, Any] = {"primary": True, "key": "rebpe do both", "help": tip}
        label = "Do both: knock out, then reify"
        ui.button(label, "content_cut", knock_out_and_reify, current, texts, **options)


def _scenes(current: Session, texts: list[str], chosen: list[int]) -> None:
    shown = current.once(("stages", *texts), lambda: stages(current.study, texts))
    scenes = {
        "Before": shown.before,
        "Knocked out": shown.knocked_out,
        "Reified": shown.reified,
    }
    rows = [item.y for scene in scenes.values() for item in scene.vertices]
    # With room above and below; what is higher is zoomed out, and can be moved.
    height = min(round(max(rows, default=0) - min(rows, default=0)) + 70, 440)
    before, after = view.around_scenes(current, shown)
    with st.container(key="rebpe-scenes"):
        left, middle, right = st.columns([5, 13, 7])
    with left:
        st.markdown(f"**What goes** · used by {counted(len(shown.knockout.rewired), 'merge')}")
        ui.show_table(before, height // 35 - 1)
    with middle:
        scene = ui.segments("Scene", scenes, key="rebpe scene", label_visibility="collapsed")
        fan_graph(
            scenes[scene],
            key="rebpe stage",
            view_key=f"stage {current.study_number} {chosen}",
            selected=type_key(chosen[0]),
            height=f"{height}px",
            least=0.7,
        )
        st.caption(
            "A blue border marks what changed; a removed type stays as a ghost. Colour is blame as "
            "it is now."
        )
    with right:
        counts = shown.reification.counts()
        did = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
        st.markdown(f"**What comes** · {did or 'nothing to mend'}")
        ui.show_table(after, height // 35 - 1)


rebpe_page(start("ReBPE"))
