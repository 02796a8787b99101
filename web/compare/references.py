"""The references of the view of languages: the open one, demos, public ones, and further files."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.files import DEMOS
from morphgraph.core.isolated import VISITOR
from morphgraph.core.text import counted
from morphgraph.reference import catalogue
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet, Weighting
from web import widgets as ui
from web.inputs import clear_upload, open_file
from web.jobs import Tell, Waiting
from web.sources import Source, frequencies_of, reference_of, references_there
from web.state import Session, session

OPEN = "open"
_CHOSEN, _FILES, _ADDED = "compare references", "references to score on", "compare reference"
_MOST = 8
"""The limit of files beside the open reference."""


def choose_references(current: Session, waiting: Waiting) -> list[str]:
    """Show the chosen references in a menu, and return their names; at first, the demos."""
    opened = current.study.benchmark.reference
    files: dict[str, Reference] = st.session_state.setdefault(_FILES, {})
    offered = {OPEN: opened.name} if opened.has_gold else {}
    offered |= {f"demo {code}": f"demo:{code}" for code in DEMOS if code != current.language}
    there = map(catalogue.find_source, references_there())
    offered |= {f"public {one.name}": f"{one.title}: {one.language_names}" for one in there}
    usual = list(offered)[: len(DEMOS)]
    chosen = ui.value_now(_CHOSEN, usual)
    known = {*offered, *(f"file {name}" for name in files)}
    count = sum(name in known for name in chosen)
    with st.popover(counted(count, "reference"), icon=":material/translate:", key="references"):
        # Run first, so that what is added can be chosen.
        _upload(files, [opened.name, *files], usual, waiting)
        offered |= {f"file {name}": name for name in files}
        tip = "Scores of different references are never mixed. Public ones are on this machine."
        how: dict[str, Any] = {"first": usual, "format_func": offered.__getitem__, "help": tip}
        return list(ui.choice(st.multiselect, "References", offered, key=_CHOSEN, **how))


def remove_reference(name: str | None) -> None:
    """Remove a reference from the chosen ones, or (None) cancel the upload being read."""
    if name is None:
        clear_upload(_ADDED)
        return
    ui.set_value(_CHOSEN, [other for other in ui.value_now(_CHOSEN, []) if other != name])


def gold_set_of(current: Session, name: str, waiting: Waiting, over: Weighting) -> GoldSet:
    """Return a reference as a gold set, the same object each time, so that results are cached.

    ``over``: what words count by; a demo has frequencies, which take seconds to read, for it.
    """
    kind, _, rest = name.partition(" ")
    if kind == "demo":
        return _demo_gold_set(rest, over)
    key: tuple[Hashable, ...] = ("gold_set", name)
    if kind == "file":
        reference = st.session_state[_FILES][rest]
        make = partial(GoldSet.of, reference)
        return current.once((*key, Same(reference)), make, of_files=True)

    def read(_: Tell) -> GoldSet:
        return GoldSet.of(read_reference(f"catalogue:{rest}"))

    do = partial(waiting.do, key, f"Reading {rest}", read, about=name)
    return current.once(key, do, of_files=True)


@st.cache_resource(show_spinner=False)
def _demo_gold_set(code: str, over: Weighting) -> GoldSet:
    reference, counts = reference_of(Source(f"demo:{code}")), Source(f"wordfreq:{code}")
    if over == "types":
        return GoldSet.of(reference)
    return GoldSet.of(reference, frequencies_of(counts), counts.name)


def _upload(
    files: dict[str, Reference], taken: list[str], usual: list[str], waiting: Waiting
) -> None:
    def take(name: str, data: bytes) -> None:
        VISITOR.set(session().store.folder.name)  # which a fragment does not have from its page

        def read(tell: Tell) -> Reference:
            reference = read_reference(data, name=name)
            tell(1.0)
            return reference

        reference = waiting.do(("read", name, hash(data)), f"Reading {name}", read)
        name = ui.unique_name(name, taken)
        files[name] = replace(reference, name=name)
        ui.forget_oldest(files, _MOST)
        ui.set_value(_CHOSEN, [*ui.value_now(_CHOSEN, usual), f"file {name}"])

    how: dict[str, Any] = {"help": "It stays closed: edits and blame stay with the open one."}
    open_file("One more gold list", _ADDED, take, **how)
