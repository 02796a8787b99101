"""What there is to know about the selected type, and the words that an edit changed."""

from typing import Literal

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, percent, ratio_text, shortened, signed
from morphgraph.graph.change import Rewired
from morphgraph.refine.study import ChangedWord, Example
from web.components import Click
from web.edits import knock_out_type, look_at
from web.scoreboard import MARKS
from web.session import Session
from web.text import code, sum_of
from web.views.trees import before_and_after, word_trees
from web.widgets import button, remembered, show_table

_REVEALED = "trees revealed"
SINCE_START, SINCE_LAST = "all edits", "the last edit"


def type_panel(current: Session) -> None:
    """The selected type: its merge and blame, examples, and what its knockout would change."""
    if current.selected is None:
        st.info("Click a type in the graph to see what it does.")
        examples = []
    else:
        examples = _about_type(current, current.selected)
    _choose_tree(current, [example.word for example in examples])


def _about_type(current: Session, number: int) -> list[Example]:
    """What there is to say about a type; returns the example words shown."""
    study = current.study
    graph, tokeniser = study.graph, study.tokeniser
    name = tokeniser.readable_types[number]
    st.subheader(code(shortened(name)), anchor=False)
    if not graph.is_present(number):
        _removed(current, number)
        return []
    producers = graph.incoming(number)
    uses = graph.fan_out(number)
    if not producers:
        special = graph.types[number] in tokeniser.special
        kind = "A special token: no merge makes it." if special else "An atom: no merge makes it."
        st.write(f"{kind} It takes part in {counted(uses, 'merge')} and cannot be knocked out.")
        _centre_button(current, number)
        return []
    for producer in producers:
        merge = graph.merge(producer)
        st.write(
            f"{code(shortened(graph.describe(producer, tokeniser.readable_types), 200))}, "
            f"rank {merge.rank:,}; "
            f"takes part in {counted(uses, 'merge')}"
        )
    blamed = study.blame()
    position = blamed.worst_producer(graph, number) or 0
    applied, crossed = blamed.applied[position], blamed.blamed[position]
    ratio = blamed.shown_ratio(position)
    columns = st.columns(3)
    columns[0].metric("N", f"{applied:,.0f}", help="Joins that the merge closed.")
    columns[1].metric("B", f"{crossed:,.0f}", help="Of these, on a gold boundary.")
    columns[2].metric("R = B ÷ N", ratio_text(ratio), help="Its share of blame.")
    if graph.is_removable(number):
        _knockout(current, number)
    else:
        st.write("An added token, or the end of a word: it cannot be knocked out.")
        _centre_button(current, number)
    rightly, wrongly = study.examples(number)
    _examples("Closed a gold boundary", wrongly)
    _examples("Applied inside a morph", rightly)
    if rightly or wrongly:
        st.caption(f"{MARKS}; **+** where this merge joined")
    return [*wrongly, *rightly]


def _removed(current: Session, number: int) -> None:
    """A type that is gone: what its knockout changed."""
    graph = current.study.graph
    change = next((c for c in graph.history if number in c.removed_types), None)
    if change is None:
        return
    rewired = [entry for entry in change.rewired if number in entry.old_parts]
    how = "Undo brings it back."
    if change is not graph.history[-1]:
        how = "Undo the later edits and this one to bring it back."
    st.info(f"Knocked out. {how}", icon=":material/content_cut:")
    _rewired_table(current, rewired, "was made from", "is made from")


def _rewired_table(current: Session, rewired: list[Rewired], old: str, new: str) -> None:
    names, graph = current.study.tokeniser.readable_types, current.study.graph
    shown = [entry for entry in rewired if graph.has_merge(entry.merge)][:500]
    if not shown:
        return
    show_table(
        {
            "type": [shortened(names[graph.merge(entry.merge).result]) for entry in shown],
            old: [sum_of(names, entry.old_parts) for entry in shown],
            new: [sum_of(names, entry.new_parts) for entry in shown],
        },
        250,
    )


def _centre_button(current: Session, number: int) -> None:
    disabled = current.focus == number
    label, icon = "Centre the graph here", "center_focus_strong"
    button(label, icon, look_at, current, number, key="centre", disabled=disabled)


def _knockout(current: Session, number: int) -> None:
    study = current.study
    cascade = st.toggle(
        "And everything made from it",
        key="cascade",
        help="Cascade: also remove every type whose derivation needs this one.",
    )
    preview = study.preview([study.graph.types[number]], cascade=cascade)
    gain = 100 * (preview.after.f1 - preview.before.f1)
    rewired, removed = len(preview.change.rewired), len(preview.change.removed_types)
    effect = [f"F1 {percent(preview.after.f1)} % ({signed(gain)})"]
    effect.append(counted(preview.changed_words, "word changes", "words change"))
    if rewired:
        effect.append(counted(rewired, "merge gets other parts", "merges get other parts"))
    if removed > 1:
        effect.append(counted(removed, "type goes", "types go"))
    st.write("Without it: " + ", ".join(effect) + ".")
    left, right = st.columns(2)
    left.button(
        "Knock out",
        key="knock out",
        type="primary",
        icon=":material/content_cut:",
        width="stretch",
        on_click=knock_out_type,
        args=(current, number),
        kwargs={"cascade": cascade},
    )
    with right:
        _centre_button(current, number)
    if rewired:
        with st.expander(
            counted(rewired, "merge that gets other parts", "merges that get other parts")
        ):
            _rewired_table(current, list(preview.change.rewired), "is made from", "then made from")


def _examples(title: str, examples: list[Example]) -> None:
    if examples:
        st.markdown(f"**{title}**")
        frame = pd.DataFrame(examples, columns=["gold", "segmentation", "merge_at"])
        show_table(frame.set_axis(["gold", "segmented", "joined at"], axis="columns"), 220)


def _choose_tree(current: Session, words: list[str]) -> None:
    """Choose an example word whose tree is shown; it stays while one looks at other types."""
    key = _tree_key(current)
    chosen = st.session_state.get(f"kept {key}")
    choices = list(dict.fromkeys([*words, *([chosen] if chosen else [])]))
    if not choices:
        return

    def reveal() -> None:
        st.session_state[_REVEALED] = st.session_state.get(_REVEALED, 0) + 1

    with remembered(**{key: None}):
        st.selectbox(
            "Merge tree",
            choices,
            index=None,
            key=key,
            placeholder="choose an example word",
            on_change=reveal,
            help="How the word comes to be segmented, merge by merge, shown below.",
        )


def _tree_key(current: Session) -> str:
    return f"example word {current.study_number}"


def example_tree(current: Session) -> None:
    """The tree of the chosen example word; a click on a merge selects the type that it makes."""
    word = st.session_state.get(f"kept {_tree_key(current)}")
    if not word:
        return
    graph = current.study.graph

    def select(clicks: list[Click]) -> None:
        number = int(clicks[-1].key[1:]) if clicks[-1].key[1:].isdecimal() else -1
        if 0 <= number < len(graph.types):
            current.selected = number

    st.subheader(f"Merge tree of {code(shortened(word))}", anchor=False)
    revealed = st.session_state.get(_REVEALED, 0)
    states = before_and_after(current, word)
    word_trees(current, word, states, "example tree", select, reveal=revealed)


def changed_words(current: Session) -> None:
    """The words that edits segmented differently, better or worse ones first."""
    study = current.study
    history = study.graph.history
    if not history:
        return
    st.subheader("Words segmented differently", anchor=False)
    left, middle, _ = st.columns([3, 3, 6], vertical_alignment="bottom")
    since = left.segmented_control(
        "Changed by", [SINCE_LAST, SINCE_START], default=SINCE_LAST, required=True
    )
    orders: list[Literal["better", "worse"]] = ["better", "worse"]
    order = middle.segmented_control(
        "Order",
        orders,
        default="better",
        required=True,
        format_func=lambda name: f"{name} first",
    )
    state = study.start if since == SINCE_START else study.before_last
    words, total = study.changed_words(state, order=order)
    if not total:
        st.caption("No word of the reference is segmented differently.")
        return
    changed_table(words, total, 320)


def changed_table(words: list[ChangedWord], total: int, most: int) -> None:
    """Changed words, the first of ``total``; the gain counts gaps that became right."""
    frame = pd.DataFrame(words, columns=["gold", "before", "after", "gain"])
    show_table(frame, most)
    shown = f", the first {len(words):,} shown" if len(words) < total else ""
    st.caption(f"{counted(total, 'word')}{shown} · {MARKS}")
