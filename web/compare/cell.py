"""Why a word is cut as it is: its merge tree, samples, or what a method did to it."""

from collections import Counter
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw.merge_tree import describe_tree
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import ComparedWord
from morphgraph.score.outcome import Outcome
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.preprocess import shown_token
from web import widgets as ui
from web.components import tree_picture
from web.edits import open_in_merge_tree
from web.state import Session
from web.views.trees import file_name, word_trees

_SAMPLES, _SHOWN = 200, 12


def explain(current: Session, outcome: Outcome, row: ComparedWord, column: int) -> None:
    """Show in a dialogue what a method makes of a word, and why."""
    title = f"{ui.plain(outcome.label)}: {ui.plain(shortened(row.text, 60))}"
    shown = st.dialog(title, width="large", on_dismiss=ui.close_dialog)(_explain)
    shown(current, outcome, row, column)


def _explain(current: Session, outcome: Outcome, row: ComparedWord, column: int) -> None:
    label, segmenter = outcome.label, outcome.segmenter
    tokens = [ui.code(shortened(shown_token(token))) for token in row.cells[column].tokens]
    st.markdown(" ".join(tokens) or "no tokens")
    if segmenter is None:
        st.caption("As its file says.")
    elif segmenter.explained_by == "samples":
        _samples(segmenter, row.text)
    elif segmenter.explained_by == "events":
        _events(segmenter, row.text)
    elif segmenter.explained_by == "decomposition":
        _decomposed(segmenter, row.text)
    elif segmenter.tokeniser is not None:
        _tree(current, label, segmenter, row)
    if ui.button("Open in the Workbench", "account_tree", key="compare to tree"):
        ui.close_dialog()
        open_in_merge_tree(current, row.text)


def _tree(current: Session, label: str, segmenter: Segmenter, row: ComparedWord) -> None:
    tokeniser = segmenter.tokeniser
    assert tokeniser is not None
    if tokeniser.numbered == current.study.tokeniser.numbered:
        word_trees(current, row.text, "compare tree", [(label, len(current.study.graph.history))])
        return
    # A tokeniser that is not open: without blame.
    words, gaps = tokeniser.encode([row.text]), None
    if row.gold is not None:
        wanted = set(boundary_positions(row.gold))
        gaps = {gap for gap, place in enumerate(words.gap_position.tolist()) if place in wanted}
    tree = describe_tree(tokeniser, words, 0, graph=tokeniser.graph, gold=gaps, title=label)
    tree_picture([tree], key="compare tree", file_name=file_name(row.text))


def _samples(segmenter: Any, text: str) -> None:
    words = segmenter.encode([text])
    counts = Counter(
        " ".join(map(shown_token, segmenter.token_texts(sample, 0)))
        for sample in segmenter.samples(words, _SAMPLES)
    )
    frame = pd.DataFrame(counts.most_common(_SHOWN), columns=["segmentation", "share"])
    frame["share"] /= _SAMPLES
    share = ui.PROGRESS("share", min_value=0, max_value=1)
    ui.show_table(frame, column_config={"share": share})
    rest = len(counts) - _SHOWN
    more = "; " + counted(rest, "more is rarer", "more are rarer") if rest > 0 else ""
    st.caption(f"{_SAMPLES} samples, {len(counts):,} different{more}")


def _events(segmenter: Any, text: str) -> None:
    names = segmenter.types
    performed = segmenter.events_of(segmenter.encode([text]), 0)

    def spelled(types: tuple[int, ...], sign: str) -> str:
        return shortened(sign.join(names[type_] for type_ in types), 200)

    ui.show_table(
        {
            "event": [entry.number for entry in performed],
            "kind": [entry.event.kind for entry in performed],
            "parts": [spelled(entry.event.parts, " + ") for entry in performed],
            "type": [names[entry.event.type] for entry in performed],
            "tokens after it": [spelled(entry.tokens, " ") for entry in performed],
        }
    )


def _decomposed(segmenter: Any, text: str) -> None:
    names = segmenter.types
    entries = segmenter.decomposed(segmenter.encode([text]), 0)
    if not entries:
        st.caption("No token of this word was taken apart.")
        return
    into = [" + ".join(names[part] for part in entry.parts) for entry in entries]
    ui.show_table({"taken apart": [names[entry.type] for entry in entries], "into": into})
