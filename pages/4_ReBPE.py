"""ReBPE, step by step: anneal, knock out, reify, back and forth, to convergence."""

import streamlit as st
from streamlit.errors import StreamlitAPIException

from morphgraph.draw.charts import phase_label
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from web.bootstrap import start
from web.edits import show_message
from web.reopening import keep_session
from web.scoreboard import score_metrics
from web.session import Session, remembered
from web.views.rebpe import ablation_table, charts, followed_word, phase_changes
from web.views.stages import chosen_types

_DEFAULTS = ReBPESettings()
_NAMES = {"anneal": "anneal", "knockout": "knock out", "reify": "reify"}


def rebpe_page(current: Session) -> None:
    """The whole page. Who comes back to it finds it at rest, whatever it was doing."""
    if not current.just_asked:
        current.asked = ""
    _page(current)


@st.fragment
def _page(current: Session) -> None:
    """All of it; a fragment, so that a step draws nothing else anew."""
    current.just_asked = False
    run = current.run
    if run is not None and run.is_stale:
        run = current.run = None
    settings = _settings(current, locked=run is not None and len(run.all_phases) > 1)
    if run is None or (len(run.all_phases) == 1 and run.settings != settings):
        run = current.run = ReBPERun(current.study.tokeniser, current.study.benchmark, settings)
    running = _run_on(current, run)
    score_metrics(current, "rebpe", settings.scope, settings.weighting)
    keep_session(current)
    show_message()
    if running:
        _progress(current, run)
        # One phase at a time: in between, a click on Stop is heard, and the page shows the state.
        try:
            st.rerun(scope="fragment")
        except StreamlitAPIException:  # the whole page was run
            current.just_asked = True
            st.rerun()
    _buttons(current, run)
    _timeline(current, run)
    names = ["What changed", "One word", "Over the run", "Ablation", "Chosen types"]
    changes, word, over, ablation, types = st.tabs(names, on_change="rerun", key="rebpe tab")
    if changes.open:
        with changes:
            phase_changes(current, run)
    if word.open:
        with word:
            followed_word(current, run)
    if over.open:
        with over:
            charts(run)
    if ablation.open:
        with ablation:
            ablation_table(current, run)
    if types.open:
        with types:
            chosen_types(current)


# ------------------------------------------------------------------------------------- settings


def _settings(current: Session, *, locked: bool) -> ReBPESettings:
    """The switches of the run; locked once it has begun."""
    benchmark = current.study.benchmark
    with (
        remembered(
            rebpe_anneal=True,
            rebpe_repair=True,
            rebpe_link=True,
            rebpe_expand=True,
            rebpe_cascade=False,
            rebpe_threshold=_DEFAULTS.threshold,
            rebpe_iterations=_DEFAULTS.iterations,
            rebpe_minimum=0,
            rebpe_maximum=0,
            rebpe_holdout=0,
            rebpe_seed=0,
            rebpe_tuples_once=False,
            rebpe_scope="morphemic",
            rebpe_weighting="types",
        ),
        st.expander("Settings", icon=":material/tune:"),
    ):
        if locked:
            st.caption(
                "A run keeps its settings. Start over, or a new run from here, unlocks them."
            )
        switches = st.columns(5)

        def switch(place: int, label: str, key: str, help_: str) -> bool:
            return switches[place].toggle(label, key=f"rebpe_{key}", disabled=locked, help=help_)

        anneal = switch(
            0, "Anneal", "anneal", "First add merges that hardly ever cross a boundary."
        )
        repair = switch(
            1, "Repair", "repair", "Tuple merges that can no longer apply get parts that can."
        )
        link = switch(2, "Link", "link", "Use pair merges that are there inside tuple merges.")
        expand = switch(3, "Expand", "expand", "Create pair merges inside tuple merges.")
        cascade = switch(4, "Cascade", "cascade", "Knockouts also remove what is made from a type.")
        row = st.columns(6)
        threshold = row[0].number_input(
            "θ, least R",
            0.01,
            1.0,
            step=0.05,
            key="rebpe_threshold",
            disabled=locked,
            help="Knock out merges with a blame ratio of at least this.",
        )
        iterations = row[1].number_input(
            "Iterations",
            1,
            100,
            key="rebpe_iterations",
            disabled=locked,
            help="At most this many iterations.",
        )
        minimum = row[2].number_input(
            "Least |V|",
            0,
            step=1000,
            key="rebpe_minimum",
            disabled=locked,
            help="Knockouts leave at least this many types.",
        )
        maximum = row[3].number_input(
            "Most |V|",
            0,
            step=1000,
            key="rebpe_maximum",
            disabled=locked,
            help="Annealing adds at most this many types; 0 for no limit.",
        )
        holdout = row[4].number_input(
            "Held out %",
            0,
            90,
            step=10,
            key="rebpe_holdout",
            disabled=locked,
            help="Share of words hidden from the run; its plots score only these.",
        )
        seed = row[5].number_input(
            "Seed", 0, key="rebpe_seed", disabled=locked or not holdout, help="Of the holdout."
        )
        more = st.columns([3, 3, 4])
        once = more[2].toggle(
            "A tuple merge counts once per application",
            key="rebpe_tuples_once",
            disabled=locked,
            help="Otherwise each of its joins counts.",
        )
        settings = ReBPESettings(
            anneal=anneal,
            repair=repair,
            link=link,
            expand=expand,
            cascade=cascade,
            threshold=threshold,
            iterations=int(iterations),
            minimum_vocabulary=int(minimum),
            maximum_vocabulary=int(maximum) or None,
            holdout=holdout / 100,
            seed=int(seed) if holdout else 0,
            tuples_once=once,
        )
        if benchmark.reference.has_whole_words:
            scope = more[0].segmented_control(
                "Gold boundaries",
                ["morphemic", "whole-word"],
                key="rebpe_scope",
                required=True,
                disabled=locked,
            )
            settings = settings.changed(scope=scope)
        if "tokens" in benchmark.weightings:
            weighting = more[1].segmented_control(
                "Each word counts",
                ["types", "tokens"],
                key="rebpe_weighting",
                required=True,
                disabled=locked,
                format_func=lambda n: "once" if n == "types" else "by its frequency",
            )
            settings = settings.changed(weighting=weighting)
    return settings


# ------------------------------------------------------------------------------------- running


def _run_on(current: Session, run: ReBPERun) -> bool:
    """Do the next phase, if one is asked for; whether more are to follow."""
    if not current.asked:
        return False
    phase = run.step()
    upcoming = run.upcoming
    if (
        phase is None
        or upcoming is None
        or current.asked == "phase"
        or (current.asked == "iteration" and upcoming[0] > max(phase.iteration, 1))
    ):
        current.asked = ""
    return bool(current.asked)


def _progress(current: Session, run: ReBPERun) -> None:
    """How far the run has come, and a button that stops it."""
    last = run.phases[-1]
    left, right = st.columns([8, 2], vertical_alignment="center")
    left.progress(
        1 - 0.75**last.iteration,
        f"Iteration {last.iteration}: {_NAMES.get(last.kind, last.kind)} done …",
    )
    right.button(
        "Stop",
        icon=":material/stop:",
        width="stretch",
        on_click=current.ask,
        args=("",),
        help="What is done stays; resume whenever you like.",
        key="rebpe stop",
    )


def _buttons(current: Session, run: ReBPERun) -> None:
    """What to do next."""
    upcoming = run.upcoming
    if upcoming is None:
        says = (
            "Converged: nothing is left to change."
            if run.converged
            else ("The limit of iterations is reached.")
        )
        st.markdown(f":green[:material/check_circle:] {says}")
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Done"
        if upcoming is not None:
            number = f" (iteration {upcoming[0]})" if upcoming[0] else ""
            label = f"Next: {_NAMES[upcoming[1]]}{number}"
        st.button(
            label,
            icon=":material/skip_next:",
            key="rebpe phase",
            on_click=current.ask,
            args=("phase",),
            disabled=upcoming is None,
            help="Run one phase.",
        )
        st.button(
            "One iteration",
            icon=":material/redo:",
            key="rebpe iteration",
            on_click=current.ask,
            args=("iteration",),
            disabled=upcoming is None,
            help="Run to the end of the iteration: a knockout and a reification.",
        )
        st.button(
            "To convergence",
            icon=":material/fast_forward:",
            key="rebpe all",
            type="primary",
            on_click=current.ask,
            args=("all",),
            disabled=upcoming is None,
            help="Run until nothing changes. It can be stopped at any time.",
        )


def _start_over(current: Session) -> None:
    current.asked = ""
    if current.run is not None:
        current.run.go_to(1)
    current.run = None


def _new_run(current: Session) -> None:
    current.asked = ""
    current.run = None


# ------------------------------------------------------------------------------------- timeline


def _timeline(current: Session, run: ReBPERun) -> None:
    """Where the run stands; going elsewhere undoes and redoes."""
    everything = run.all_phases
    if len(everything) == 1:
        st.caption(
            "A run first adds merges that keep inside morphs (anneal), then in turn removes those "
            "to blame (knock out) and mends and uses what that leaves (reify). Run a phase and "
            "look at what it did, or run to convergence and go back and forth."
        )
        return
    position = len(run.phases)
    places = list(range(1, len(everything) + 1))
    # The key is that of this state: a choice that was made in another one cannot come back.
    key = f"rebpe position {len(everything)} {position} {current.study.graph.revision}"

    def go() -> None:
        run.go_to(st.session_state[key] or position)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            key="rebpe back",
            on_click=run.go_to,
            args=(position - 1,),
            disabled=position <= 1,
            help="Undo one phase, and what you edited since.",
        )
        st.button(
            "Forward",
            icon=":material/arrow_forward:",
            key="rebpe forward",
            on_click=run.go_to,
            args=(position + 1,),
            disabled=position >= len(everything),
            help="Redo one phase.",
        )
        st.button(
            "Start over",
            icon=":material/restart_alt:",
            key="rebpe over",
            on_click=_start_over,
            args=(current,),
            help="Undo the whole run, and your edits in between. Redo brings them back.",
        )
        st.button(
            "New run from here",
            icon=":material/add:",
            key="rebpe new",
            on_click=_new_run,
            args=(current,),
            help="Keep what is done, and begin another run on top of it.",
        )
        st.page_link("pages/7_Export.py", label="Export the result", icon=":material/download:")
    st.pills(
        "Timeline",
        places,
        key=key,
        default=position,
        format_func=lambda number: phase_label(everything[number - 1]),
        on_change=go,
    )


rebpe_page(start("ReBPE"))
