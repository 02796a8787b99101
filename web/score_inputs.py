"""What is scored: references, and segmentations by other programs."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.demos import DEMOS
from morphgraph.reference.entry import Reference
from morphgraph.reference.predictions import PREDICTION_FORMATS, Predictions, read_predictions
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet
from web.inputs import attempt, content_of
from web.session import Session, demo_reference, remembered, wordfreq_frequencies
from web.text import plain

_OPEN = "open"
_MOST = 8
_REFERENCES = "references to score on"


def choose_references(current: Session, files: DeltaGenerator) -> list[GoldSet]:
    """The chosen references with the weights of their words; the open one at first.

    ``files``: where more of them are added.
    """
    more = _more()
    with files:  # first in time, so that what is added can be chosen
        _upload_reference(more, current.study.benchmark.reference.name)
    demos = [f"demo {code}" for code in DEMOS if code != current.language]
    names = [_OPEN, *demos, *(f"file {name}" for name in more)]
    key = "scores_references"
    st.session_state.setdefault(key, st.session_state.get(f"kept {key}", [_OPEN]))
    st.session_state[key] = [name for name in st.session_state[key] if name in names]
    chosen = st.multiselect(
        "References",
        names,
        key=key,
        format_func=lambda name: _label(current, name),
        help="Scores of different references are never mixed: each has rows of its own.",
    )
    st.session_state[f"kept {key}"] = chosen
    return [_gold_set(current, name, more) for name in chosen]


def _more() -> dict[str, Reference]:
    """References of this visit beside the open one, by name."""
    found: dict[str, Reference] = st.session_state.setdefault(_REFERENCES, {})
    return found


def _label(current: Session, name: str) -> str:
    if name == _OPEN:
        return current.study.benchmark.reference.name
    kind, _, rest = name.partition(" ")
    return f"demo:{rest}" if kind == "demo" else rest


def _gold_set(current: Session, name: str, more: Mapping[str, Reference]) -> GoldSet:
    """A reference as a gold set, made once, so that what is computed on it can be kept."""
    if name == _OPEN:
        benchmark = current.study.benchmark
        made: GoldSet = current.once(
            ("gold_set", _OPEN),
            lambda: GoldSet.of(
                benchmark.reference, benchmark.frequencies, benchmark.frequency_source
            ),
        )
        return made
    kind, _, rest = name.partition(" ")
    if kind == "demo":
        return _demo_gold_set(rest)
    reference = more[rest]
    added: GoldSet = current.once(("gold_set", name, id(reference)), lambda: GoldSet.of(reference))
    return added


@st.cache_resource
def _demo_gold_set(code: str) -> GoldSet:
    return GoldSet.of(demo_reference(code), wordfreq_frequencies(code), f"wordfreq:{code}")


def _upload_reference(more: dict[str, Reference], taken: str) -> None:
    file = st.file_uploader(
        "One more gold list",
        key="scores reference",
        help="It is added to the list and stays closed: edits and blame stay with the open one.",
    )
    if file is None or st.session_state.get("scores reference read") == file.file_id:
        return

    def read() -> None:
        name = file.name
        while name in more or name == taken:
            name += "′"
        more[name] = replace(read_reference(content_of(file), name=file.name), name=name)
        while len(more) > _MOST:
            more.pop(next(iter(more)))
        st.session_state["scores_references"] = [
            *st.session_state.get("scores_references", [_OPEN]),
            f"file {name}",
        ]

    if attempt(read):
        st.session_state["scores reference read"] = file.file_id
        st.caption(f"{plain(file.name)} is in the list.")


_DETECT = "detect"
_PREDICTIONS = "predictions to score"
_CHOSEN = "scores_predictions"


def choose_predictions(files: DeltaGenerator) -> dict[str, Predictions]:
    """The chosen files of segmentations, by their names in tables; ``files``: where to add some."""
    known: dict[str, Predictions] = st.session_state.setdefault(_PREDICTIONS, {})
    with files:  # first in time, so that what is added can be chosen
        _upload_predictions(known)
    if not known:
        return {}
    with remembered(**{_CHOSEN: list(known)}):
        st.session_state[_CHOSEN] = [n for n in st.session_state[_CHOSEN] if n in known]
        chosen = st.multiselect(
            "Other programs",
            list(known),
            key=_CHOSEN,
            help="Their segmentations are scored as they are: they have no vocabulary, and a word "
            "that a file lacks is an error.",
        )
    return {name: known[name] for name in chosen}


def _upload_predictions(known: dict[str, Predictions]) -> None:
    st.caption(
        "A word a line, as another program cut it: `word⇥un break able`, `un|break|able`, "
        "`word⇥un @@break @@able` (SIGMORPHON), or what Morfessor saves or prints."
    )
    format_ = st.selectbox(
        "Form",
        [_DETECT, *PREDICTION_FORMATS],
        format_func=lambda name: PREDICTION_FORMATS.get(name, name),
        key="predictions form",
    )
    file = st.file_uploader("Segmentations", key="predictions file")
    if file is None or st.session_state.get("predictions read") == (file.file_id, format_):
        return

    def read() -> None:
        named = None if format_ == _DETECT else format_
        found = read_predictions(content_of(file), name=file.name, format=named)
        name = file.name.rsplit(".", 1)[0]
        while name in known and known[name].checksum != found.checksum:
            name += "′"
        known[name] = found
        while len(known) > _MOST:
            known.pop(next(iter(known)))
        kept = st.session_state.get(_CHOSEN, st.session_state.get(f"kept {_CHOSEN}", []))
        st.session_state[_CHOSEN] = list(dict.fromkeys([*kept, name]))

    if attempt(read):
        st.session_state["predictions read"] = (file.file_id, format_)
        added = next(reversed(known.values()))
        st.caption(f"{plain(file.name)}: {len(added):,} words.")
        for skip in added.skipped:
            st.warning(plain(f"{skip.count:,} × {skip.reason}, first on line {skip.first_line:,}."))
