"""How a word is segmented, merge by merge, now and before edits."""

import streamlit as st

from morphgraph.core.text import counted, in_percent, shortened
from morphgraph.draw.merge_tree import MergeTree
from web.bootstrap import start
from web.components import Click
from web.edits import knock_out_type, look_at, show_message
from web.scoreboard import score_metrics
from web.state import Session
from web.text import code, plain
from web.views.trees import Since, before_and_after, now, word_key, word_trees
from web.widgets import choice, remembered, set_value, show_table, value_now

# The number of characters shown of a typed word.
LONGEST = 200
_SINCE: dict[str, Since] = {"the last edit": "last", "all edits": "start"}
_NOTHING = "nothing"
_OFFERS = {"k": "Knock out", "g": "Open in the merge graph"}
_OPENS = "tree opens the graph"


@st.fragment
def tree_page(current: Session) -> None:
    """Show the page; a fragment, so that another word redraws nothing else."""
    study = current.study
    if st.session_state.pop(_OPENS, False):
        st.switch_page("pages/1_Merge_graph.py")
    score_metrics(current, "tree")
    show_message(current)
    word, compared = _word(current)
    if word is None:
        return
    number = study.number_of(word)
    states = now(current)
    if compared in _SINCE:
        states = before_and_after(current, word, _SINCE[compared])
    trees = word_trees(
        current, word, states, "tree", lambda clicks: _done(current, clicks), offers=_OFFERS
    )
    if not trees:
        return
    if number is None:
        st.caption(
            "This word is not in the reference, so there are no gold boundaries to compare with."
        )
    unknown = dict.fromkeys(leaf.label for leaf in trees[-1].leaves if leaf.is_unknown)
    if unknown:
        st.caption(
            f"Not in the alphabet of this tokeniser, so no merge applies to it: "
            f"{' '.join(code(label) for label in unknown)}"
        )
    with st.expander("The merges as a table", expanded=True):
        _merge_table(trees[-1])


def _done(current: Session, clicks: list[Click]) -> None:
    """Perform the action chosen for a box: knock out its type, or open it in the graph."""
    graph = current.study.graph
    for click in clicks:
        number = int(click.key[1:]) if click.key[1:].isdecimal() else len(graph.types)
        if number >= len(graph.types):
            continue
        if click.key[0] == "k":
            knock_out_type(current, number)
        elif click.key[0] == "g":
            look_at(current, number)
            st.session_state[_OPENS] = True


def _word(current: Session) -> tuple[str | None, str]:
    """Type a word, or choose one of the worst, and a state to compare with.

    No word, with a message, if there is nothing to show.
    """
    study = current.study
    key = word_key(current)
    edited = bool(study.graph.history)
    typed, worst, *states = st.columns([3, 4, 3] if edited else [3, 4])
    examples = study.worst_words(100)
    first = examples[0].word if examples else study.benchmark.words.texts[0]
    gold = {example.word: f"{example.gold}  ({-example.gain})" for example in examples}
    choice_key = f"worst word {current.study_number}"

    def choose() -> None:
        chosen = st.session_state.get(choice_key)
        if chosen:
            st.session_state[key] = chosen

    worst.selectbox(
        "Or one of the worst words",
        list(gold),
        index=None,
        format_func=lambda word: gold[word],
        key=choice_key,
        placeholder="choose a word" if gold else "every word is split at its gold boundaries",
        disabled=not gold,
        on_change=choose,
        help="With its gold boundaries and the number of its wrong gaps.",
    )
    now_shown = value_now(key, first)
    asked = current.address.follow("word", now_shown)
    if asked != now_shown:
        set_value(key, asked)
    with remembered(**{key: first}):
        text = typed.text_input("Word", key=key, help="Any word, even one that is in no list.")
    compared = _NOTHING
    if edited:
        compared = choice(
            states[0].segmented_control,
            "Compare with before",
            [*_SINCE, _NOTHING],
            key="tree_compared",
            required=True,
        )
    words = text.split()
    if not words:
        st.info("Type a word to see how it is segmented.")
        return None, compared
    if len(words) > 1:
        st.info(f"One word at a time: this is the first one, {plain(shortened(words[0]))}.")
    word = words[0]
    if len(word) > LONGEST and study.number_of(word) is None:
        st.info(f"Only the first {LONGEST} of {len(word):,} characters are shown.")
        word = word[:LONGEST]
    return word, compared


def _merge_table(tree: MergeTree) -> None:
    """Show the merges of a tree, in the order of application."""
    tokens = " ".join(code(tree.label(root)) for root in tree.roots[:60])
    st.markdown(f"**{counted(len(tree.roots), 'token')}:** {tokens}")
    if not tree.merges:
        st.caption("No merge applies to this word: its tokens are its atoms.")
        return
    closed = [merge.closes for merge in tree.merges]
    show_table(
        {
            "step": range(1, len(tree.merges) + 1),
            "rank": [merge.rank for merge in tree.merges],
            "merge": [shortened(merge.description, 200) for merge in tree.merges],
            "blame": [in_percent(merge.ratio, 0) for merge in tree.merges],
            **({"gold boundaries closed": closed} if tree.has_gold else {}),
        },
        420,
        column_config={
            "step": st.column_config.NumberColumn(width="small"),
            "rank": st.column_config.NumberColumn(format="localized", width="small"),
            "merge": st.column_config.TextColumn(width="medium"),
            "blame": st.column_config.TextColumn(
                width="small",
                alignment="right",
                help="Its share of wrong joins, in all of the reference; n/a: never applied.",
            ),
            "gold boundaries closed": st.column_config.NumberColumn(
                width="small", help="In this word."
            ),
        },
    )
    st.caption("The merges in the order in which they are applied now.")


tree_page(start("Merge tree"))
