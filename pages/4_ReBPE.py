"""ReBPE, step by step: anneal, knock out, reify, back and forth, to convergence."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from morphgraph.draw.charts import phase_label
from morphgraph.draw.explore import Stages, stages
from morphgraph.graph.view import type_key
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from web.bootstrap import start
from web.components import merge_graph
from web.edits import knock_out_and_reify, show_message
from web.reopening import keep_session, setting_values
from web.scoreboard import score_metrics
from web.session import Session
from web.views.rebpe import ablation_table, charts, followed_word, phase_changes
from web.widgets import attempt, button, remembered

_NAMES = {"anneal": "anneal", "knockout": "knock out", "reify": "reify"}
_ITERATION = "Run to the end of the iteration: a knockout and a reification."
_ALL = "Run until nothing changes. It can be stopped at any time."
_MOST_TYPES = 12
_SWITCHES = (
    ("anneal", "Anneal", "First add merges that hardly ever cross a boundary."),
    ("repair", "Repair", "Tuple merges that can no longer apply get parts that can."),
    ("link", "Link", "Use pair merges that are there inside tuple merges."),
    ("expand", "Expand", "Create pair merges inside tuple merges."),
    ("cascade", "Cascade", "Knockouts also remove what is made from a type."),
)
"""Name, label, and what it does."""
_NUMBERS: tuple[tuple[str, str, float, float | None, float, str], ...] = (
    (
        "threshold",
        "θ, least R",
        0.01,
        1.0,
        0.05,
        "Knock out merges with a blame ratio of at least this.",
    ),
    ("iterations", "Iterations", 1, 100, 1, "At most this many iterations."),
    ("minimum", "Least |V|", 0, None, 1000, "Knockouts leave at least this many types."),
    (
        "maximum",
        "Most |V|",
        0,
        None,
        1000,
        "Annealing adds at most this many types; 0 for no limit.",
    ),
    (
        "holdout",
        "Held out %",
        0,
        90,
        10,
        "Share of words hidden from the run; its plots score only these.",
    ),
    ("seed", "Seed", 0, None, 1, "Of the holdout."),
)
"""Name, label, least, most, step, and what it does."""


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
    shown: tuple[Callable[[], None], ...] = (
        lambda: phase_changes(current, run),
        lambda: followed_word(current, run),
        lambda: charts(run),
        lambda: ablation_table(current, run),
        lambda: chosen_types(current),
    )
    tabs = st.tabs(names, on_change="rerun", key="rebpe tab")
    for tab, show in zip(tabs, shown, strict=True):
        if tab.open:
            with tab:
                show()


# ------------------------------------------------------------------------------------- settings


def _settings(current: Session, *, locked: bool) -> ReBPESettings:
    """The switches of the run; locked once it has begun."""
    benchmark = current.study.benchmark
    usual = {f"rebpe_{name}": value for name, value in setting_values(ReBPESettings()).items()}
    with remembered(**usual), st.expander("Settings", icon=":material/tune:"):
        if locked:
            st.caption(
                "A run keeps its settings. Start over, or a new run from here, unlocks them."
            )
        given: dict[str, Any] = {}
        with st.container(horizontal=True):
            for name, label, help_ in _SWITCHES:
                given[name] = st.toggle(
                    label, key=f"rebpe_{name}", disabled=locked, help=help_, width="content"
                )
        row = st.columns(6)
        for column, (name, label, least, most, step, help_) in zip(row, _NUMBERS, strict=True):
            given[name] = column.number_input(
                label,
                least,
                most,
                step=step,
                key=f"rebpe_{name}",
                disabled=locked or (name == "seed" and not given["holdout"]),
                help=help_,
            )
        holdout, seed = given.pop("holdout"), given.pop("seed")
        given["minimum_vocabulary"] = given.pop("minimum")
        given["maximum_vocabulary"] = given.pop("maximum") or None
        given |= {"holdout": holdout / 100, "seed": seed if holdout else 0}
        left, middle, right = st.columns([3, 3, 4])
        given["tuples_once"] = right.toggle(
            "A tuple merge counts once per application",
            key="rebpe_tuples_once",
            disabled=locked,
            help="Otherwise each of its joins counts.",
        )
        if benchmark.reference.has_whole_words:
            given["scope"] = left.segmented_control(
                "Gold boundaries",
                ["morphemic", "whole-word"],
                key="rebpe_scope",
                required=True,
                disabled=locked,
            )
        if "tokens" in benchmark.weightings:
            given["weighting"] = middle.segmented_control(
                "Each word counts",
                ["types", "tokens"],
                key="rebpe_weighting",
                required=True,
                disabled=locked,
                format_func=lambda n: "once" if n == "types" else "by its frequency",
            )
    return ReBPESettings(**given)


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
    with right:
        said = "What is done stays; resume whenever you like."
        button("Stop", "stop", current.ask, "", key="rebpe stop", width="stretch", help=said)


def _buttons(current: Session, run: ReBPERun) -> None:
    """What to do next."""
    upcoming = run.upcoming
    if upcoming is None:
        says = "The limit of iterations is reached."
        if run.converged:
            says = "Converged: nothing is left to change."
        st.markdown(f":green[:material/check_circle:] {says}")
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Done"
        if upcoming is not None:
            number = f" (iteration {upcoming[0]})" if upcoming[0] else ""
            label = f"Next: {_NAMES[upcoming[1]]}{number}"
        for what, name, icon, help_ in (
            ("phase", label, "skip_next", "Run one phase."),
            ("iteration", "One iteration", "redo", _ITERATION),
            ("all", "To convergence", "fast_forward", _ALL),
        ):
            button(
                name,
                icon,
                current.ask,
                what,
                key=f"rebpe {what}",
                primary=what == "all",
                disabled=upcoming is None,
                help=help_,
            )


def _start_over(current: Session) -> None:
    if current.run is not None:
        current.run.go_to(1)
    _new_run(current)


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
        button(
            "Back",
            "arrow_back",
            run.go_to,
            position - 1,
            disabled=position <= 1,
            key="rebpe back",
            help="Undo one phase, and what you edited since.",
        )
        button(
            "Forward",
            "arrow_forward",
            run.go_to,
            position + 1,
            disabled=position >= len(everything),
            key="rebpe forward",
            help="Redo one phase.",
        )
        button(
            "Start over",
            "restart_alt",
            _start_over,
            current,
            key="rebpe over",
            help="Undo the whole run, and your edits in between. Redo brings them back.",
        )
        button(
            "New run from here",
            "add",
            _new_run,
            current,
            key="rebpe new",
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


# ------------------------------------------------------------------------------------- chosen types


def chosen_types(current: Session) -> None:
    """Before, knocked out, and reified, for types that the user chooses."""
    study = current.study
    graph, names = study.graph, study.tokeniser.readable_types
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    key = f"rebpe types {current.study_number}"
    text = left.text_input(
        "Find types", key=f"{key} find", placeholder="part of a type", max_chars=100
    )
    already = [n for n in st.session_state.get(key, []) if graph.is_present(n)]
    blamed = study.blame()
    worst = [int(blamed.arrays.results[place]) for place in blamed.order[:100]]
    found = study.tokeniser.search(text) if text else worst
    if key not in st.session_state:  # something to look at, before anything is chosen
        few = [n for n in worst if graph.is_removable(n) and graph.fan_out(n) <= 8]
        already = sorted(few, key=graph.fan_out)[-1:]
        st.session_state[key] = already
    options = list(dict.fromkeys([*already, *(n for n in found if graph.is_removable(n))]))
    if already != st.session_state.get(key, already):
        st.session_state[key] = already
    chosen = right.multiselect(
        "Types to knock out",
        options,
        format_func=names.__getitem__,
        key=key,
        max_selections=_MOST_TYPES,
        placeholder="choose among those found" if text else "choose among those most to blame",
    )
    if not chosen:
        st.caption(
            "Choose types to see three scenes: as they are now, knocked out, and after repair and "
            "reification of the merges that used them."
        )
        return
    with attempt():
        texts = [graph.types[number] for number in chosen]
        _scenes(current, current.once(("stages", *texts), lambda: stages(study, texts)), chosen)
        button(
            "Do both: knock out, then reify",
            "content_cut",
            knock_out_and_reify,
            current,
            texts,
            primary=True,
            key="rebpe do both",
            help="Two edits, which Undo takes back one after the other.",
        )


def _scenes(current: Session, shown: Stages, chosen: list[int]) -> None:
    counts = shown.reification.counts()
    did = ", ".join(f"{number:,} {kind}" for kind, number in counts.items()) or "nothing to mend"
    used = f"merges that use the chosen types: {len(shown.knockout.rewired):,}"
    scenes = (
        ("Before", used, shown.before),
        ("Knocked out", "these take the parts instead", shown.knocked_out),
        ("Reified", did, shown.reified),
    )
    with st.container(key="wide-stages"):
        columns = st.columns(3)
    for number, (title, says, scene) in enumerate(scenes):
        with columns[number]:
            st.markdown(f"**{title}** · {says}")
            merge_graph(
                scene.to_dict(),
                key=f"rebpe stage {number}",
                view_key=f"stage {number} {current.study_number} {chosen}",
                selected=type_key(chosen[0]),
                height=420,
                whole=True,
            )
    st.caption(
        "A blue border marks what changed; a removed type stays as a ghost; a stack is a tuple "
        "merge. Colour is blame as it is now."
    )


rebpe_page(start("ReBPE"))
