"""Scores before and after, the same on every page, and notes on the open reference."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from morphgraph.core.text import count_text, counted, percent, shortened, signed
from morphgraph.reference.language import mismatch
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import BoundaryScore, score_frame
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.tokeniser.preprocess import SHOWN_MARKER
from web.bootstrap import edit_buttons
from web.opening import what_is_open
from web.sources import demo_name
from web.state import Session
from web.text import plain
from web.views.reference_read import reference_read
from web.widgets import right_aligned, show_table

MARKS = (
    "Marks: **|** split on a gold boundary; **·** split inside a morph; **‿** gold boundary closed"
)
_FEW = 10
"""A reference with fewer words than this was probably misread."""
_REASONS = 3
"""The number of reasons for skipped lines shown in a warning."""
_RATIOS = (
    ("F1", "f1", "The harmonic mean of precision and recall."),
    ("Precision", "precision", "The share of splits that are on a gold boundary."),
    ("Recall", "recall", "The share of gold boundaries that are split."),
)


def score_metrics(
    current: Session, place: str, scope: Scope = "morphemic", weighting: Weighting = "types"
) -> None:
    """Show a slim sticky bar: what is open, its scores and their differences, undo and redo.

    ``place`` is a name that keeps the buttons of pages apart.
    """
    study = current.study
    now, start = study.now.score(scope, weighting), study.start.score(scope, weighting)
    edits = len(study.graph.history)
    size, before_size = study.tokeniser.vocabulary_size, study.graph.loaded_type_count
    with st.container(
        key=f"score-bar-{place}", horizontal=True, vertical_alignment="center", gap="medium"
    ):
        what_is_open(current, place)
        note = study.benchmark.reference.partial_note
        if note:
            st.badge("partial gold", icon=":material/info:", color="orange", help=note)
        st.space("stretch")
        for label, name, meaning in _RATIOS:
            value, before = getattr(now, name), getattr(start, name)
            gain = 100 * (value - before)
            is_shown = name == "f1" and edits and gain == gain
            _figure(
                f"{label} %",
                percent(value),
                f"{percent(before)} before the first edit. {meaning}" if edits else meaning,
                delta=f"{gain:+.2f}" if is_shown else None,
                delta_color="normal" if gain else "off",
                key=f"figure-{name}-{place}",
            )
        _figure(
            "Types",
            f"{size:,}",
            "|V|: how many types the vocabulary has.",
            delta=f"{size - before_size:+,}" if edits else None,
            delta_color="off",
            key=f"figure-types-{place}",
        )
        with st.container(horizontal=True, width="content", key=f"score-actions-{place}"):
            edit_buttons(current, place)
            with st.popover("", icon=":material/info:", type="tertiary", help="What is counted"):
                _what_is_counted(current, now, scope, weighting)
    if reference_read(current, place):
        doubtful_reference(current)


def _figure(label: str, value: str, meaning: str, *, key: str, **how: Any) -> None:
    with st.container(key=key, width="content"):
        st.metric(label, value, help=meaning, width="content", **how)


def _what_is_counted(
    current: Session, now: BoundaryScore, scope: Scope, weighting: Weighting
) -> None:
    study = current.study
    st.caption(
        f"{scope} boundaries over word {weighting}: {count_text(now.true_positives)} right of "
        f"{counted(now.predicted, 'split')}, "
        f"{counted(now.relevant, 'gold boundary', 'gold boundaries')}"
    )
    st.markdown("**Signature**")
    st.caption("All that these scores depend on. Quote it, so that others can reproduce them.")
    st.code(
        study.benchmark.signature(study.tokeniser, scores=f"{scope} {weighting}"),
        language=None,
        wrap_lines=True,
    )


def partial_gold(note: str) -> None:
    """Note beside precision that the gold is partial, if it is."""
    if note:
        st.warning(plain(note), icon=":material/info:")


def score_table(study: Study) -> None:
    """Show all scopes and weightings, with counts and the difference to the start."""
    edited = bool(study.graph.history)
    frame = score_frame(study.now.scores, study.start.scores if edited else None)
    shown = frame.copy()
    for column in shown.columns[2:]:
        if column.startswith("Δ"):
            shown[column] = frame[column].map(signed)
        elif column in ("precision", "recall", "F1"):
            shown[column] = (frame[column] / 100).map(percent)
        else:
            shown[column] = frame[column].map(count_text)
    show_table(shown, column_config=right_aligned(shown.columns[2:]))
    notes = ["Precision, recall and F1 in %."]
    if edited:
        notes.append("Δ: difference to the tokeniser without edits, in percentage points.")
    if not study.benchmark.reference.has_whole_words:
        notes.append(
            "Whole-word scores are n/a: this reference does not mark free and bound morphemes."
        )
    if "tokens" not in study.benchmark.weightings:
        notes.append("Scores over tokens are n/a: choose word frequencies below.")
    st.caption(" ".join(notes))


# ----------------------------------------------------------------------------------- the reference


def skipped_lines(current: Session) -> None:
    """Show how many lines of the reference were skipped, by reason."""
    skipped = current.study.benchmark.reference.skipped
    if not skipped:
        return
    total = sum(skip.count for skip in skipped)
    with st.expander(
        counted(total, "line of the reference was", "lines of the reference were") + " skipped"
    ):
        show_table(
            {
                "reason": [skip.reason for skip in skipped],
                "lines": [skip.count for skip in skipped],
                "first line": [skip.first_line for skip in skipped],
            }
        )


def doubtful_reference(current: Session) -> None:
    """Warn of a reference with hardly any words, or with most lines skipped."""
    reference = current.study.benchmark.reference
    # A line may hold several analyses; two sheets of a workbook have the same line numbers.
    used = len({(entry.line, entry.word) for entry in reference.entries})
    total = used + sum(skip.count for skip in reference.skipped)
    if total > 2 * used:
        why = "; ".join(f"{skip.count:,} × {skip.reason}" for skip in reference.skipped[:_REASONS])
        more = "; …" if len(reference.skipped) > _REASONS else ""
        message = f"Only {used:,} of {counted(total, 'line')} could be used: {why}{more}."
    elif len(reference) < _FEW:
        message = f"The reference has only {counted(len(reference), 'word')}."
    else:
        return
    st.warning(
        f"{plain(message)} If that is not what the file holds, choose its format and encoding.",
        icon=":material/warning:",
    )


def reference_in_another_language(current: Session) -> None:
    """Warn if the reference's language differs from the tokeniser's or the frequencies'."""
    study = current.study
    reference = study.benchmark.reference
    words = [entry.word for entry in reference.entries]
    name = plain(shortened(reference.name, 60))
    found = current.once(("language of the types",), lambda: mismatch(words, _whole_words(current)))
    _warn(found, f"The words of {name}", "the types of the tokeniser")
    source = study.benchmark.frequency_source
    code = source.removeprefix("wordfreq:")
    if code == source:
        return
    spoken = current.reference_language
    if spoken and spoken != code:
        st.warning(
            f"The words of {name} are {demo_name(spoken)}, but the word frequencies are those of "
            f"{plain(source)}. Choose frequencies of the same language.",
            icon=":material/translate:",
        )


def words_in_another_language(current: Session, words: Sequence[str]) -> None:
    """Warn if words to compare are in another language than the gold."""
    reference = current.study.benchmark.reference
    gold = [entry.word for entry in reference.entries]
    found = current.once(("language of words", *words), lambda: mismatch(words, gold))
    _warn(found, "These words", f"the gold of {plain(shortened(reference.name, 60))}")


def _warn(found: tuple[str, str], words: str, others: str) -> None:
    one, two = found
    if not two:
        return
    what = f"are {demo_name(one)}" if one else f"are hardly ever {demo_name(two)}"
    are = "is" if others.startswith("the gold") else "are"
    st.warning(
        f"{words} {what}, but {others} {are} {demo_name(two)}: scores then say little. Open a "
        "tokeniser and a reference of one language.",
        icon=":material/translate:",
    )


def _whole_words(current: Session) -> list[str]:
    """Return word-initial types without their marker; all types if none is marked."""
    names = current.study.tokeniser.readable_types
    marked = [name for name in names if name[:1] == SHOWN_MARKER and len(name) > 1]
    return [name.strip(SHOWN_MARKER).removesuffix("</w>") for name in marked or names]
