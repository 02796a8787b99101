"""Scores before and after, as metrics that every page shows alike."""

import streamlit as st

from morphgraph.core.text import count_text, counted, percent, signed
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import score_frame
from morphgraph.score.gold_set import Scope, Weighting
from web.bootstrap import edit_buttons
from web.session import Session
from web.text import plain, right_aligned

MARKS = (
    "Marks: **|** split on a gold boundary; **·** split inside a morph; **‿** gold boundary closed"
)
_RATIOS = (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1"))


def score_metrics(
    current: Session, place: str, scope: Scope = "morphemic", weighting: Weighting = "types"
) -> None:
    """Precision, recall, F1 and |V| now, each with its difference to the start; undo and redo.

    ``place`` is a name that keeps the buttons of pages apart.
    """
    study = current.study
    now, start = study.now.score(scope, weighting), study.start.score(scope, weighting)
    edits = len(study.graph.history)
    columns = st.columns([3, 3, 3, 3, 2])
    for column, (label, name) in zip(columns, _RATIOS, strict=False):
        value, before = getattr(now, name), getattr(start, name)
        gain = 100 * (value - before)
        defined = gain == gain
        column.metric(
            f"{label} %",
            percent(value),
            delta=f"{gain:+.2f} from {percent(before)}" if edits and defined else None,
            delta_color="normal" if gain else "off",
        )
    size, before_size = study.tokeniser.vocabulary_size, study.graph.loaded_type_count
    columns[3].metric(
        "Types in the vocabulary",
        f"{size:,}",
        delta=f"{size - before_size:+,} from {before_size:,}" if edits else None,
        delta_color="off",
    )
    with columns[4]:
        edit_buttons(current, place)
    made = f" · {counted(edits, 'edit')}" if edits else ""
    caption, place_of_signature = st.columns([12, 2], vertical_alignment="center")
    caption.caption(
        f"{scope} boundaries over word {weighting}: {count_text(now.true_positives)} right of "
        f"{counted(now.predicted, 'split')}, "
        f"{counted(now.relevant, 'gold boundary', 'gold boundaries')}{made}"
    )
    partial_gold(study.benchmark.reference.partial_note)
    with place_of_signature.popover("Signature", type="tertiary", width="stretch"):
        st.caption("All that these scores depend on. Quote it, so that others can reproduce them.")
        st.code(
            study.benchmark.signature(study.tokeniser, scores=f"{scope} {weighting}"),
            language=None,
            wrap_lines=True,
        )


def partial_gold(note: str) -> None:
    """Say beside precision that the gold is partial, where there is such a note."""
    if note:
        st.warning(plain(note), icon=":material/info:")


def score_table(study: Study) -> None:
    """All scopes and weightings, with the counts behind them and the difference to the start."""
    edited = bool(study.graph.history)
    frame = score_frame(study.now.scores, study.start.scores if edited else None)
    shown = frame.copy()
    for column in shown.columns[2:]:
        if column.startswith("Δ"):
            shown[column] = [signed(value) for value in frame[column]]
        elif column in ("precision", "recall", "F1"):
            shown[column] = [percent(value / 100) for value in frame[column]]
        else:
            shown[column] = [count_text(value) for value in frame[column]]
    st.dataframe(
        shown,
        hide_index=True,
        column_config=right_aligned(shown.columns[2:]),
    )
    notes = ["Precision, recall and F1 in %."]
    if edited:
        notes.append("Δ: difference to the tokeniser without edits, in percentage points.")
    if not study.benchmark.reference.has_whole_words:
        notes.append(
            "Whole-word scores are n/a: this reference does not mark free and bound morphemes."
        )
    if "tokens" not in study.benchmark.weightings:
        notes.append("Scores over tokens are n/a: choose word frequencies above.")
    st.caption(" ".join(notes))
