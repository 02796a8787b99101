"""FLOTA's own scores of the chosen references: coverage, stem recall, full match."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.numbers import percent
from morphgraph.core.text import counted
from morphgraph.score.flota import FlotaScores, flota_scores, standard_segmenter
from morphgraph.score.gold_set import GoldSet
from morphgraph.tokeniser.vocabularies import vocabulary_of
from web.session import Session, remembered
from web.text import plain


@st.fragment
def flota_table(current: Session, gold_sets: Sequence[GoldSet]) -> None:
    """Computed on demand; on the vocabulary of the open tokeniser as it is now."""
    st.subheader("FLOTA's scores", anchor=False)
    with remembered(scores_flota=False):
        wanted = st.toggle(
            "Coverage, stem recall and full match of FLOTA, FIRST and LONGEST",
            key="scores_flota",
            help="Over words of two morphs that are both in the vocabulary while the word is not "
            "(Hofmann et al. 2022): how many of the morphs are among at most k tokens.",
        )
    if not wanted:
        return
    for gold_set in gold_sets:
        try:
            # The gold set is kept with them, so that no other one can have its id.
            _, found = current.once(
                ("flota scores", id(gold_set)), partial(_scores, current, gold_set)
            )
        except MorphGraphError as error:
            st.error(plain(str(error)))
            continue
        _show(found, gold_set)


def _scores(current: Session, gold_set: GoldSet) -> tuple[GoldSet, FlotaScores]:
    tokeniser = current.study.tokeniser
    standard = standard_segmenter(tokeniser)
    return gold_set, flota_scores(vocabulary_of(tokeniser), gold_set.reference, standard)


def _show(found: FlotaScores, gold_set: GoldSet) -> None:
    rows: list[dict[str, Any]] = [
        {
            "method": score.method,
            "k": "∞" if score.k is None else str(score.k),
            "coverage C %": percent(score.coverage),
            "stem recall R %": percent(score.stem_recall),
            "full match M %": percent(score.full_match),
        }
        for score in found.scores
    ]
    frame = pd.DataFrame(rows)
    numbers = list(frame.columns[1:])
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            name: st.column_config.TextColumn(name, alignment="right") for name in numbers
        },
    )
    first = found.scores[0]
    notes = [
        f"{plain(gold_set.reference.name)}: {counted(first.entries, 'word')} of two morphs that "
        f"are both types while the word is not, {first.entries_with_stem:,} of them with a stem."
    ]
    if not first.entries_with_stem:
        notes.append("Stem recall is n/a: the reference does not say which morph is a stem.")
    st.caption(" ".join(notes))
    st.code(found.signature, language=None, wrap_lines=True)
    st.download_button(
        "CSV",
        lambda: frame.assign(signature=found.signature).to_csv(index=False).encode(),
        file_name="flota.csv",
        mime="text/csv",
        icon=":material/download:",
        key=f"flota csv {id(gold_set)}",
        on_click="ignore",
    )
