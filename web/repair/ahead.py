"""What an edit would do, as every remedy says it, and the words that it would change."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.text import counted, from_to, signed
from morphgraph.draw.word_lines import WordRow, rows_ahead
from morphgraph.graph.merge_table import Change
from morphgraph.refine.outlook import Outlook
from web import widgets as ui
from web.aside import scored_words, sides
from web.components import WordGroup, word_rows
from web.edits import make, open_in_merge_tree
from web.state import Session

_BETTER, _WORSE = 40, 20
"""The words that are listed at most."""
_WORD = "word chosen on Repair"


class Ahead(NamedTuple):
    """What an edit would do.

    ``said``: what comes of it; ``gain``: the difference with its interval; ``sign``: whether that
    is up or down, empty for neither; ``rest``: on which words, and what it costs in tokens.
    """

    said: str
    gain: str
    sign: str
    rest: str
    changes: str
    rows: list[WordRow]
    texts: dict[int, str]

    @classmethod
    def of(cls, outlook: Outlook, on: str) -> "Ahead":
        """Describe what is to come, on words that are scored."""
        before, after = outlook.f1
        gain, better, worse = 100 * (after - before), outlook.better, outlook.worse
        text, interval = "", ""
        if after == after:
            text = f"F1 {from_to(before, after)}"
            low, high = (
                signed(100 * end, 1) for end in (outlook.interval.low, outlook.interval.high)
            )
            interval = f"({signed(gain)} [{low}, {high}])"
        tokens = " → ".join(f"{number:.2f}" for number in outlook.tokens_per_word)
        changed = outlook.changed.tolist()
        words = changed[:_BETTER] if better else changed[: _BETTER + _WORSE]
        words += [n for n in changed[len(changed) - min(worse, _WORSE) :] if n not in words]
        rows = rows_ahead(outlook, words)
        count = f"{better:,} better · {worse:,} worse" if text else f"{len(changed):,}"
        sign = "up" if gain > 0 else "down" if gain < 0 else ""
        rest = f"{f'on {on} ' if on else ''}· tokens per word {tokens}"
        return cls(text, interval, sign, rest, count, rows, {row.number: row.word for row in rows})


def ahead_of(current: Session, *changes: Change) -> Ahead:
    """Return what changes would do to the words that figures are over."""
    words = scored_words(current)
    scored = current.study.benchmark if words.part is None else sides(current)[1]
    return Ahead.of(Outlook.of(current.study.tokeniser, scored, *changes), words.said)


def ask_and_do(question: str, label: str, icon: str, act: Callable[[], None] | None) -> None:
    """Show the question of a remedy and its one button, which makes one edit."""
    with st.container(horizontal=True, vertical_alignment="center", key="repair-head"):
        st.subheader(question, anchor=False, width="stretch")
        options: dict[str, Any] = {"primary": True, "disabled": act is None}
        options["help"] = "One edit: Undo takes it back."
        ui.button(label, icon, act, key="repair now", **options)


class Offer(NamedTuple):
    """Edits that a remedy offers: what its button does and to how many types, and what is said.

    ``notes`` stand below; ``steps`` are a recipe.
    """

    verb: str
    types: int
    said: str
    notes: list[str]
    steps: list[Mapping[str, Any]]
    ahead: Ahead


def offer(
    current: Session, question: str, icon: str, offered: Offer, top: Any, field: str = ""
) -> None:
    """Show the button, ``top``: in its place, what it would do, and the words that would change.

    ``field`` is emptied by the edit.
    """
    ahead = offered.ahead
    with top:
        label = f"{offered.verb} {counted(offered.types, 'type')}"
        act = partial(make, current, offered.steps, field) if offered.types else None
        ask_and_do(question, label, icon, act)
        colour = {"up": "green", "down": "red", "": "gray"}[ahead.sign]
        gain = f" :{colour}[{ui.plain(ahead.gain)}]" if ahead.gain else ""
        st.markdown(f"**{ui.plain(f'{offered.said} {ahead.said}')}**{gain} {ui.plain(ahead.rest)}")
    for note in offered.notes:
        st.caption(ui.plain(f"{note}."))
    words_ahead(ahead, "420px")


def words_ahead(ahead: Ahead, height: str = "300px") -> None:
    """Show the words that would change, better ones first; a click opens one."""

    def choose(word: int) -> None:
        st.session_state[_WORD] = ahead.texts.get(word)

    more = "" if ahead.rows else "No word changes."
    groups = [WordGroup("Words that change", ahead.changes, ahead.rows, more, "changed")]
    word_rows(groups, key="words ahead", height=height, on_choose=choose)


def open_what_was_chosen(current: Session) -> None:
    """Open the word that was clicked in a list; not in a callback."""
    if word := st.session_state.pop(_WORD, None):
        open_in_merge_tree(current, word)
