"""Segmentations by other programs, opened to be scored beside tokenisers."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.reference.predictions import (
    PREDICTION_FORMATS,
    Predictions,
    read_predictions,
)
from web.inputs import attempt, content_of
from web.session import remembered
from web.text import plain

_DETECT = "detect"
_KEPT = "predictions to score"
_CHOSEN = "scores_predictions"
_MOST = 8


def choose_predictions(files: DeltaGenerator) -> dict[str, Predictions]:
    """The chosen files of segmentations, by their names in tables; ``files``: where to add some."""
    known: dict[str, Predictions] = st.session_state.setdefault(_KEPT, {})
    with files:  # first in time, so that what is added can be chosen
        _upload(known)
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


def _upload(known: dict[str, Predictions]) -> None:
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
