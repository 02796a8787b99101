"""Make a tokeniser better: the remedies, what each would do before one presses its button."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from web import edits
from web import widgets as ui
from web.aside import scored_words
from web.bar import numbers, score_metrics
from web.bootstrap import start
from web.choosing import scoring_now
from web.repair import ahead, blame, extend, listed, prune, rebpe
from web.state import Session, keep_session
from web.tape import tape
from web.views.without_gold import needs_gold


class _Remedy(NamedTuple):
    """A way to make a tokeniser better; ``gold``: whether it learns from gold."""

    name: str
    does: str
    show: Callable[[Session], None]
    settings: Callable[[Session], None] | None = None
    gold: bool = False


_REMEDIES = {
    "blame": _Remedy(
        "Knock out by blame :gray-badge[BPE-knockout]",
        "Removes each type whose merges close gold boundaries too often.",
        blame.show_blame,
        blame.blame_settings,
        gold=True,
    ),
    "rebpe": _Remedy(
        "ReBPE",
        "Adds merges inside morphs, knocks out and repairs, until nothing changes.",
        rebpe.show_rebpe,
        rebpe.rebpe_settings,
        gold=True,
    ),
    "prune": _Remedy(
        "Prune to a size",
        "Removes what your text needs least; nothing else changes.",
        prune.show_prune,
    ),
    "extend": _Remedy(
        "Extend with words",
        "Trains further on your counts; ids stay.",
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
    remedy, benchmark = _REMEDIES[chosen], current.study.benchmark
    learns = remedy.gold and current.study.has_blame
    if chosen != "rebpe":
        current.asked = ""
    elif learns:
        rebpe.prepare_rebpe(current)
    if current.asked:  # what is not drawn stays as it was, and leaves the browser time for the line
        numbers("repair")
    else:
        score_metrics(current, "repair", *scoring_now(chosen, benchmark), learning=learns)
    keep_session(current)
    with st.container(key="wide-repair"):
        left, right = st.columns([5, 18], gap="medium")
    with left:
        _choose(current, remedy, learns=learns)
    with right:
        if remedy.gold and not learns:
            needs_gold(current, f"{remedy.name.partition(' :')[0]} needs")
        else:
            remedy.show(current)
        with st.container():  # a message does not make what is below it new
            edits.show_message(current)
            edits.several_words_note(current)
    tape(current, learning=remedy.gold)


def _choose(current: Session, remedy: _Remedy, *, learns: bool) -> None:
    with st.container(key="cards-remedies"):
        ui.choice(
            st.radio,
            "Make it better by",
            _REMEDIES,
            key="remedy",
            format_func=lambda name: _REMEDIES[name].name,
            captions=[remedy.does for remedy in _REMEDIES.values()],
        )
    part = scored_words(current, learning=learns).part
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if learns and part is not None:
            note = f"{100 * part.share:g} % of the word families are kept aside to score on."
            st.caption(note, width="content")
        if remedy.settings is not None and (learns or not remedy.gold):
            with st.popover("Settings", icon=":material/tune:", type="tertiary"):
                remedy.settings(current)


repair(start("Repair"))
