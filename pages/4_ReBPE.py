"""ReBPE, phase by phase to convergence: anneal, knock out, reify; a line to play."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from morphgraph.core.text import counted, from_to
from morphgraph.draw.fan import stages
from morphgraph.graph.view import type_key
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from web.bootstrap import score_metrics, start
from web.components import fan_graph
from web.edits import knock_out_and_reify, never_formed_note, show_message
from web.state import Session, keep_session
from web.views import rebpe as view
from web.widgets import attempt, button, setting, value_now

_NAMES = {"anneal": "anneal", "knockout": "knock out", "reify": "reify"}
_TAB, _CHANGED, _SCENES = "rebpe tab", "What it changed", "Three scenes"
_SWITCHES = (
    ("anneal", "Anneal first", "Add merges that rarely cross a boundary."),
    ("repair", "Repair", "Merges of many parts that can no longer apply get parts that can."),
    ("link", "Reuse pairs", "Use pair merges that are there inside merges of many parts (link)."),
    ("expand", "Create pairs", "Create pair merges inside merges of many parts (expand)."),
    ("cascade", "Cascade", "Knockouts also remove what is made from a type."),
    (
        "tuples_once",
        "Count each application once",
        "A merge of many parts counts once wherever it applies; else each of its joins counts.",
    ),
)
"""Name, label, and description."""
_BLAME = "Knock out merges of which at least this share of joins is wrong."
_LARGEST = "Annealing adds at most this many types; 0 for no limit."
_HELD_OUT = "Share of words hidden from the run; its line scores only these."
_NUMBERS: tuple[tuple[str, str, float, float | None, float, str], ...] = (
    ("threshold", "Least blame, θ", 0.01, 1.0, 0.05, _BLAME),
    ("iterations", "Most iterations, I", 1, 100, 1, "The run ends after this many."),
    ("minimum", "Smallest vocabulary", 0, None, 1000, "Knockouts leave at least this many types."),
    ("maximum", "Largest vocabulary", 0, None, 1000, _LARGEST),
    ("holdout", "Words held out, %", 0, 90, 10, _HELD_OUT),
    ("seed", "Seed", 0, None, 1, "Seed for choosing the words held out."),
)
"""Name, label, minimum, maximum, step, and description."""
_CHOICES = {
    "scope": ("Gold boundaries", {"morphemic": "morphemic", "whole-word": "whole-word"}),
    "weighting": ("Each word counts", {"types": "once", "tokens": "by its frequency"}),
}


def rebpe_page(current: Session) -> None:
    """Show the page; a visitor who returns to it finds it stopped."""
    if not current.just_asked:
        current.asked = ""
    _page(current)


@st.fragment
def _page(current: Session) -> None:
    """Show everything; a fragment, so that a step redraws nothing else."""
    current.just_asked = False
    run = current.run
    if run is not None and run.is_stale:
        run = current.run = None
    if run is not None and len(run.all_phases) > 1:  # it may have been opened again
        for name, value in _values(run.settings).items():
            st.session_state.setdefault(f"kept {name}", value)
    settings = _settings(current)
    if run is None or (len(run.all_phases) == 1 and run.settings != settings):
        run = current.run = ReBPERun(current.study.tokeniser, current.study.benchmark, settings)
    running = _run_next_phase(current, run)
    settings = run.settings
    begun = len(run.all_phases) > 1
    score_metrics(current, "rebpe", settings.scope, settings.weighting)
    current.doing = "The run of ReBPE" if running else ""
    keep_session(current)
    show_message(current)
    if not running and begun:
        view.follow_phase(current, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        if running:
            said = "What is done stays; resume whenever you like."
            button("Stop", "stop", current.ask, "", key="rebpe stop", help=said)
            last = run.phases[-1]
            done = _NAMES.get(last.kind, last.kind)
            st.markdown(f"Iteration {last.iteration}: {done} done …", width="content")
        else:
            _buttons(current, run)
            view.return_button(run)
        st.space("stretch")
        with st.popover("Settings", icon=":material/tune:"):
            _settings_panel(current, locked=begun)
        st.page_link(
            "pages/6_History_and_export.py", label="Export the result", icon=":material/download:"
        )
    if begun:
        view.phase_line(current, run, playing=running)
    else:
        st.caption(
            "A run first adds merges that keep inside morphs (anneal), then in turn removes those "
            "to blame (knock out) and repairs and reuses the rest (reify). Each phase becomes "
            "a point of a line here. Below is what the last two do to a single type."
        )
    if running:
        # One phase per run, so that a click on Stop takes effect and the page shows the state.
        try:
            st.rerun(scope="fragment")
        except StreamlitAPIException:  # the whole page was run
            current.just_asked = True
            st.rerun()
    never_formed_note(current)
    shown: dict[str, Callable[[], None]] = {
        _CHANGED: lambda: view.phase_changes(current, run),
        _SCENES: lambda: chosen_types(current),
        "Over the run": lambda: view.charts(run),
        "Ablation": lambda: view.ablation_table(current, run),
    }
    st.session_state.setdefault(_TAB, _CHANGED if begun else _SCENES)
    tabs = st.tabs(list(shown), on_change="rerun", key=_TAB)
    for tab, show in zip(tabs, shown.values(), strict=True):
        if tab.open:
            with tab:
                show()


def _values(settings: ReBPESettings) -> dict[str, Any]:
    values = {
        **dict(settings),
        "minimum": settings.minimum_vocabulary,
        "maximum": settings.maximum_vocabulary or 0,
        "holdout": round(100 * settings.holdout),
    }
    return {f"rebpe_{name}": value for name, value in values.items()}


def _settings(current: Session) -> ReBPESettings:
    gold, usual = current.study.benchmark, _values(ReBPESettings())
    given = {key.removeprefix("rebpe_"): value_now(key, value) for key, value in usual.items()}
    holdout, seed = given.pop("holdout"), given.pop("seed")
    given["minimum_vocabulary"] = given.pop("minimum")
    given["maximum_vocabulary"] = given.pop("maximum") or None
    given |= {"holdout": holdout / 100, "seed": seed if holdout else 0}
    if not gold.reference.has_whole_words:
        del given["scope"]
    if "tokens" not in gold.weightings:
        del given["weighting"]
    return ReBPESettings(**given)


def _settings_panel(current: Session, *, locked: bool) -> None:
    gold, usual = current.study.benchmark, _values(ReBPESettings())

    def start_over() -> None:
        if current.run is not None:
            current.run.go_to(1)
        new_run()

    def new_run() -> None:
        current.asked, current.run = "", None
        view.choose_phase(None)

    def field(widget: Callable[..., Any], label: str, *given: Any, name: str, **how: Any) -> None:
        key = f"rebpe_{name}"
        off = locked or (name == "seed" and not value_now("rebpe_holdout", 0))
        setting(widget, label, *given, key=key, first=usual[key], disabled=off, **how)

    if locked:
        st.caption("A run keeps its settings. These two unlock them:")
        with st.container(horizontal=True):
            said = "Undo the whole run, and your edits in between. Redo brings them back."
            button("Start over", "restart_alt", start_over, key="rebpe over", help=said)
            said = "Keep what is done, and begin another run on top of it."
            button("New run from here", "add", new_run, key="rebpe new", help=said)
    columns = st.columns(2)
    for number, (name, label, help_) in enumerate(_SWITCHES):
        field(columns[number % 2].toggle, label, name=name, help=help_)
    columns = st.columns(2)
    for number, (name, label, least, most, step, help_) in enumerate(_NUMBERS):
        widget = columns[number % 2].number_input
        field(widget, label, least, most, name=name, step=step, help=help_)
    offered = {"scope": gold.reference.has_whole_words, "weighting": "tokens" in gold.weightings}
    for name, (label, names) in _CHOICES.items():
        if offered[name]:
            how = {"required": True, "format_func": names.__getitem__}
            field(st.segmented_control, label, list(names), name=name, **how)


def _run_next_phase(current: Session, run: ReBPERun) -> bool:
    if not current.asked:
        return False
    view.choose_phase(None)
    if len(run.all_phases) == 1:
        st.session_state[_TAB] = _CHANGED
    current.note_learning(run.settings)
    if run.step() is None or run.upcoming is None or current.asked == "phase":
        current.asked = ""
    return bool(current.asked)


def _buttons(current: Session, run: ReBPERun) -> None:
    upcoming = run.upcoming
    if upcoming is None:
        first, last = run.phases[0].score.f1, run.phases[-1].score.f1
        how = "Converged" if run.converged else "The limit of iterations is reached"
        iterations = counted(run.phases[-1].iteration, "iteration")
        held_out = " on the words held out" if run.settings.holdout else ""
        said = f"{how}: F1 {from_to(first, last, 1)} in {iterations}{held_out}"
        st.markdown(f":green[:material/check_circle: **{said}**]", width="content")
        return
    said = "Run until nothing changes. It can be stopped at any time."
    everything: dict[str, Any] = {"key": "rebpe all", "primary": True, "help": said}
    button("Run to convergence", "fast_forward", current.ask, "all", **everything)
    number = f" (iteration {upcoming[0]})" if upcoming[0] else ""
    label = f"Next: {_NAMES[upcoming[1]]}{number}"
    button(label, "skip_next", current.ask, "phase", key="rebpe phase", help="Run one phase.")


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
    found = study.tokeniser.search(text) if text else worst
    if key in st.session_state:
        already = [n for n in st.session_state[key] if graph.is_present(n)]
    else:  # an initial example
        few = [n for n in worst if graph.is_removable(n) and graph.fan_out(n) <= 8]
        already = sorted(few, key=graph.fan_out)[-1:]
    if already != st.session_state.get(key):
        st.session_state[key] = already
    chosen = right.multiselect(
        "Types to knock out",
        list(dict.fromkeys([*already, *(n for n in found if graph.is_removable(n))])),
        format_func=names.__getitem__,
        key=key,
        max_selections=12,
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
        _scenes(current, texts, chosen)
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


def _scenes(current: Session, texts: list[str], chosen: list[int]) -> None:
    shown = current.once(("stages", *texts), lambda: stages(current.study, texts))
    counts = shown.reification.counts()
    did = ", ".join(f"{number:,} {kind}" for kind, number in counts.items()) or "nothing to mend"
    used = f"merges that use the chosen types: {len(shown.knockout.rewired):,}"
    scenes = (
        ("Before", used, shown.before),
        ("Knocked out", "these take the parts instead", shown.knocked_out),
        ("Reified", did, shown.reified),
    )
    rows = [item.y for _, _, scene in scenes for item in scene.vertices]
    height = round(max(rows, default=0) - min(rows, default=0)) + 70  # above and below
    for number, (title, says, scene) in enumerate(scenes):
        st.markdown(f"**{title}** · {says}")
        fan_graph(
            scene,
            key=f"rebpe stage {number}",
            view_key=f"stage {number} {current.study_number} {chosen}",
            selected=type_key(chosen[0]),
            height=f"{height}px",
        )
    st.caption(
        "A blue border marks what changed; a removed type stays as a ghost. Colour is blame as it "
        "is now."
    )


rebpe_page(start("ReBPE"))
