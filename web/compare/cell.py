"""Why a word is cut as it is: its merge tree, or what the method does."""

import streamlit as st

from morphgraph.core.text import shortened
from morphgraph.draw.merge_tree import describe_tree
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import ComparedWord
from morphgraph.score.outcome import Outcome
from morphgraph.segment.method import METHODS
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.components import tree_picture
from web.edits import open_in_merge_tree
from web.state import Session
from web.views.trees import file_name, word_trees


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
    elif segmenter.editable is not None:
        _tree(current, label, segmenter.editable, row)
    elif segmenter.method in METHODS:
        st.caption(ui.plain(METHODS[segmenter.method].does))
    if ui.button("Open in the Workbench", "account_tree", key="compare to tree"):
        ui.close_dialog()
        open_in_merge_tree(current, row.text)


def _tree(current: Session, label: str, tokeniser: BpeTokeniser, row: ComparedWord) -> None:
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
