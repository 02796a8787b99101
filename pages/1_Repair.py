"""Make a tokeniser better: the remedies, what each would do before one presses its button."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from web import edits
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.repair import ahead, blame, extend, listed, prune, rebpe
from web.state import Session, keep_session
from web.tape import tape
from web.views.without_gold import needs_gold


@dataclass(frozen=True)
class _Remedy:
    """A way to make a tokeniser better; ``gold``: whether it learns from gold."""

    name: str
    does: str
    show: Callable[[Session], None]
    bar: Callable[[Session], None] | None = None
    settings: Callable[[Session], None] | None = None
    gold: bool = False


_REMEDIES = {
    "blame": _Remedy(
        "Knock out by blame",
        "Removes each type whose merges cover boundaries too often.",
        blame.show_blame,
        blame.blame_bar,
        blame.blame_settings,
        gold=True,
    ),
    "rebpe": _Remedy(
        "ReBPE",
        "Adds merges inside morphs, knocks out, repairs, reuses; until nothing changes.",
        rebpe.show_rebpe,
        rebpe.rebpe_bar,
        rebpe.rebpe_settings,
        gold=True,
    ),
    "prune": _Remedy(
        "Prune to a size",
        "Removes what your text needs least; nothing else changes.",
        prune.show_prune,
        settings=prune.prune_settings,
    ),
    "extend": _Remedy(
        "Extend with words",
        "Goes on training on your counts, or takes another's types; ids stay.",
        extend.show_extend,
    ),
    "list": _Remedy(
        "A list of types",
        "Knocks out types that you name, or that a file names.",
        listed.show_list,
    ),
}


def repair(current: Session) -> None:
    """Show the page; a visitor who returns to it finds a run of ReBPE stopped."""
    if not current.just_asked:
        current.asked = ""
    _page(current)


@st.fragment
def _page(current: Session) -> None:
    """Show the remedies, and the chosen one; a fragment, so that a handle is followed at once."""
    ahead.open_what_was_chosen(current)
    with st.container(key="repair-address"):
        chosen = current.address.remember("remedy", "remedy", "blame", among=_REMEDIES)
    remedy = _REMEDIES[chosen]
    if chosen != "rebpe":
        current.asked = ""
    needs = remedy.gold and not current.study.has_blame
    if needs or remedy.bar is None:
        score_metrics(current, "repair")
    else:
        remedy.bar(current)
    keep_session(current)
    with st.container(key="wide-repair"):
        left, right = st.columns([5, 18], gap="medium")
    with left:
        _choose(current, None if needs else remedy.settings)
    with right:
        if needs:
            needs_gold(current, f"{remedy.name} needs")
        else:
            remedy.show(current)
        with st.container():  # a message does not make what is below it new
            edits.show_message(current)
            edits.never_formed_note(current)
            edits.several_words_note(current)
    tape(current, learning=remedy.gold)


def _choose(current: Session, settings: Callable[[Session], None] | None) -> None:
    with st.container(key="cards-remedies"):
        ui.choice(
            st.radio,
            "Make it better by",
            _REMEDIES,
            key="remedy",
            format_func=lambda name: _REMEDIES[name].name,
            captions=[remedy.does for remedy in _REMEDIES.values()],
        )
    if settings is not None:
        with st.popover("Settings", icon=":material/tune:", type="tertiary"):
            settings(current)


repair(start("Repair"))
