"""How a word is segmented, merge by merge, now and before edits."""

import streamlit as st

from morphgraph.core.text import counted, in_percent, shortened
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.word_lines import illustrative_word
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.components import Click
from web.edits import knock_out_type, look_at, open_in_graph, show_message
from web.state import Session
from web.views.trees import NamedState, before_and_after, word_key, word_trees

# The number of characters shown of a typed word.
LONGEST = 200
_NO_WORST = {True: "every word is split at its gold boundaries", False: "needs a reference"}
_OPENS = "tree opens the graph"


@st.fragment
def tree_page(current: Session) -> None:
    """Show the page; a fragment, so that another word redraws nothing else."""
    study = current.study
    if st.session_state.pop(_OPENS, False):
        open_in_graph(current, current.selected or 0)
    score_metrics(current, "tree")
    show_message(current)
    word, states = _word(current)
    if not word:
        return

    def perform(clicks: list[Click]) -> None:
        for click in clicks:
            number = int(click.key[1:]) if click.key[1:].isdecimal() else len(study.graph.types)
            if number >= len(study.graph.types):
                continue
            if click.key[0] == "k":
                knock_out_type(current, number)
            elif click.key[0] == "g":
                look_at(current, number)
                st.session_state[_OPENS] = True

    offers = {"k": "Knock out", "g": "Open in the merge graph"}
    trees = word_trees(current, word, "tree", states, perform, offers=offers)
    if not trees:
        return
    if study.number_of(word) is None and study.benchmark.reference.has_gold:
        st.caption(
            "This word is not in the reference, so there are no gold boundaries to compare with."
        )
    if unknown := study.tokeniser.missing_atoms([word]):
        st.caption(
            f"Not in the alphabet of this tokeniser, so no merge applies to it: "
            f"{' '.join(map(ui.code, unknown))}"
        )
    with st.expander("The merges as a table", expanded=True):
        _merge_table(trees[-1], study.has_blame)


def _word(current: Session) -> tuple[str, list[NamedState]]:
    """Choose a word and states to compare; no word, and a message, if there is none."""
    study, key = current.study, word_key(current)
    edits = len(study.graph.history)
    typed, worst, *compared = st.columns([3, 4, 3] if edits else [3, 4])
    examples = study.worst_words(100)
    first = examples[0].word if examples else illustrative_word(study, 0)
    gold = {example.word: f"{example.gold}  ({-example.gain})" for example in examples}
    choice_key = f"worst word {current.study_number}"

    def choose() -> None:
        if word := st.session_state.get(choice_key):
            ui.set_value(key, word)

    worst.selectbox(
        "Or one of the worst words",
        list(gold),
        index=None,
        format_func=gold.__getitem__,
        key=choice_key,
        placeholder="choose a word" if gold else _NO_WORST[study.benchmark.reference.has_gold],
        disabled=not gold,
        on_change=choose,
        help="With its gold boundaries and the number of its wrong gaps.",
    )
    current.address.remember("word", key, first)
    tip = "Any word, even one that is in no list."
    words = ui.setting(typed.text_input, "Word", key=key, first=first, help=tip).split()
    since = {"the last edit": ("before the last edit", edits - 1)}
    since["all edits"] = ("before any edit", 0)
    chosen = ""
    if edits:
        with compared[0]:
            chosen = ui.segments("Compare with before", [*since, "nothing"], key="tree_compared")
    if not words:
        st.info("Type a word to see how it is segmented.")
        return "", []
    word = words[0]
    if len(words) > 1:
        st.info(f"One word at a time: this is the first one, {ui.plain(shortened(word))}.")
    if len(word) > LONGEST and study.number_of(word) is None:
        st.info(f"Only the first {LONGEST} of {len(word):,} characters are shown.")
        word = word[:LONGEST]
    return word, before_and_after(current, word, *since[chosen]) if chosen in since else []


def _merge_table(tree: MergeTree, has_blame: bool) -> None:
    tokens = " ".join(ui.code(tree.label(root)) for root in tree.roots[:60])
    st.markdown(f"**{counted(len(tree.roots), 'token')}:** {tokens}")
    if not tree.merges:
        st.caption("No merge applies to this word: its tokens are its atoms.")
        return
    columns = {
        "step": range(1, len(tree.merges) + 1),
        "rank": [merge.rank for merge in tree.merges],
        "merge": [shortened(merge.description, 200) for merge in tree.merges],
    }
    if has_blame:
        columns["blame"] = [in_percent(merge.ratio, 0) for merge in tree.merges]
    if tree.has_gold:
        columns["gold boundaries closed"] = [merge.closes for merge in tree.merges]
    meaning = "Its share of wrong joins, in all of the reference; n/a: never applied."
    config = {
        "rank": ui.NUMBER(format="localized"),
        "blame": ui.TEXT(alignment="right", help=meaning),
        "gold boundaries closed": ui.NUMBER(help="In this word."),
    }
    ui.show_table(columns, 11, column_config=config)
    st.caption("The merges in the order in which they are applied now.")


tree_page(start("Merge tree"))
