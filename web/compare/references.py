"""The references of the view of languages: the open one, demos, public ones, earlier files."""

from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.files import DEMOS
from morphgraph.core.text import counted
from morphgraph.reference import catalogue
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet, Weighting
from web import widgets as ui
from web.jobs import Waiting
from web.sources import Source, frequencies_of, reference_of, references_there
from web.state import Session

OPEN = "open"
_CHOSEN = "compare references"


def choose_references(current: Session) -> list[str]:
    """Show the chosen references in a menu, and return their names; at first, the demos."""
    opened = current.study.benchmark.reference
    offered = {OPEN: opened.name} if opened.has_gold else {}
    offered |= {f"demo {code}": f"demo:{code}" for code in DEMOS if code != current.language}
    there = map(catalogue.find_source, references_there())
    offered |= {f"public {one.name}": f"{one.title}: {one.language_names}" for one in there}
    usual = list(offered)[: len(DEMOS)]
    offered |= {f"file {name}": name for name in current.gold_files if name != opened.name}
    count = sum(name in offered for name in ui.value_now(_CHOSEN, usual))
    with st.popover(counted(count, "reference"), icon=":material/translate:", key="references"):
        tip = "Never mixed. Public ones are on this machine; your files are those that you opened."
        options: dict[str, Any] = {"first": usual, "format_func": offered.__getitem__, "help": tip}
        return list(ui.choice(st.multiselect, "References", offered, key=_CHOSEN, **options))


def remove_reference(name: str) -> None:
    """Remove a reference from the chosen ones."""
    ui.set_value(_CHOSEN, [other for other in ui.value_now(_CHOSEN, []) if other != name])


def gold_set_of(current: Session, name: str, waiting: Waiting, over: Weighting) -> GoldSet:
    """Return a reference as a gold set, the same object each time, so that results are cached.

    ``over``: what words count by; a demo has frequencies, which take seconds to read, for it.
    """
    kind, _, rest = name.partition(" ")
    if kind == "demo":
        return _demo_gold_set(rest, over)
    if kind == "file":
        reference = current.gold_files[rest]
        make = partial(GoldSet.of, reference)
        return current.once(("gold_set", Same(reference)), make, of_files=True)
    key = ("gold_set", name)
    do = partial(waiting.do, key, f"Reading {rest}", lambda _: _public(rest), about=name)
    return current.once(key, do, of_files=True)


def _public(name: str) -> GoldSet:
    return GoldSet.of(read_reference(f"catalogue:{name}"))


@st.cache_resource(show_spinner=False)
def _demo_gold_set(code: str, over: Weighting) -> GoldSet:
    reference, counts = reference_of(Source(f"demo:{code}")), Source(f"wordfreq:{code}")
    if over == "types":
        return GoldSet.of(reference)
    return GoldSet.of(reference, frequencies_of(counts), counts.name)
