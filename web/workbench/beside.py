"""The open vocabulary beside another one: what is in both, and what is in one only."""

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.score.vocabulary_health import NamedCounts
from morphgraph.tables.model import Table
from morphgraph.tables.vocabularies import vocabularies_beside
from web import widgets as ui
from web.making import START, make_method
from web.state import Session


def beside(current: Session, corpus: NamedCounts | None) -> None:
    """Compare the open vocabulary with that before the edits, or with a model's."""
    others = [START] if current.study.graph.history else []
    others += [f"model {name}" for name in current.models]
    if not others:
        return
    opening = st.expander("Beside another vocabulary", on_change="rerun", key="vocabularies")
    if not opening.open:
        return
    gold = current.study.benchmark.reference
    with opening, ui.attempt(), st.spinner("Comparing the vocabularies…"):
        other = ui.choice(st.selectbox, "The other one", others, key="other vocabulary")
        theirs, ours = (make_method(current, name, {}) for name in (other, "bpe"))

        def make() -> Table:
            both = (other.removeprefix("model "), theirs), (current.study.tokeniser.name, ours)
            return vocabularies_beside(both, corpus, gold if gold.has_gold else None).table()

        table = current.once(("vocabulary beside", Same(theirs)), make)
        ui.show_model(table, len(table.rows), key="vocabularies beside each other")
        st.caption(ui.plain(" ".join(table.notes)))
        st.code(table.signatures[0], language=None, wrap_lines=True)
