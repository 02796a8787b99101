"""What the Workbench shows: a text, a word of it, a type, and one of three pictures."""

from collections.abc import Sequence
from itertools import chain

import streamlit as st

from morphgraph.draw.scene import first_focus
from morphgraph.draw.word_lines import WordLine, illustrative_word, lines_of, without_marks
from web.edits import CANVAS, look_at, word_key
from web.state import Session
from web.widgets import set_value, value_now

WORD, TYPE, ALL_TYPES = PICTURES = ("Word", "Type", "All types")
_ENGLISH = "The bakeries were carrying unbelievable strawberries, underestimating"
"""The text that the English demo begins with."""
_WORDS = 6
"""How many words a text has that is made up of those that a tokeniser cuts wrongly."""
TextLines = list[list[WordLine]]


def text_key(current: Session) -> str:
    """Return the key of the text."""
    return f"text {current.study_number}"


def another_text(current: Session) -> str:
    """Return a text of words with boundaries that the worst merges cover, another each time."""
    counter = f"texts {current.study_number}"
    number = st.session_state.get(counter, 0)
    st.session_state[counter] = number + 1
    places = range(_WORDS * number, _WORDS * (number + 1))
    words = [illustrative_word(current.study, place) for place in places]
    return " ".join(dict.fromkeys(words))


def show_text(current: Session, text: str) -> None:
    """Show another text, as if it had been typed, and choose its new word."""
    known, key = set(bare_words(value_now(text_key(current), ""))), text_key(current)
    set_value(key, text)
    new = [word for word in bare_words(text) if word not in known]
    if new:
        set_value(word_key(current), new[-1])


def bare_words(text: str) -> list[str]:
    """Return the words of a text, without the marks around them."""
    return [without_marks(word) for word in text.split()]


def now_shown(current: Session) -> tuple[str, TextLines]:
    """Return the text and its words as tokens, after following the address.

    On a first visit the word and the type are those that the worst merge of the text made.
    """
    key, study = text_key(current), current.study
    first = value_now(key, None)
    if first is None:
        first = _ENGLISH if current.language == "en" else another_text(current)
    text = current.address.remember("text", key, first, step=False)
    set_value(key, text)
    lines, worst = lines_of(study, text)
    _follow_state(current)
    _follow_word(current, lines)
    _follow_type(current, lines, worst)
    return text, lines


def _follow_state(current: Session) -> None:
    asks = st.query_params
    own = TYPE if asks.get("type") and not asks.get("word") else WORD
    shown = value_now(CANVAS, own)
    held = "" if shown == WORD else shown
    asked = current.address.follow("state", held, among=("", *PICTURES)) or WORD
    set_value(CANVAS, asked)


def _follow_word(current: Session, lines: TextLines) -> None:
    first = value_now(word_key(current), None)
    if first is None:
        words = list(chain.from_iterable(lines))
        culprits = [w for w in words if any(token.is_culprit for token in w.tokens)]
        chosen = (culprits or words)[:1]
        first = without_marks(chosen[0].word) if chosen else illustrative_word(current.study, 0)
    set_value(word_key(current), current.address.remember("word", word_key(current), first))


def _follow_type(current: Session, lines: TextLines, worst: int | None) -> None:
    graph = current.study.graph
    if current.focus is None:
        look_at(current, type_to_look_at(current, list(chain.from_iterable(lines)), worst))
    if current.selected is None:
        current.selected = current.focus
    asked = current.address.follow("type", graph.types[current.focus or 0], among=graph.ids)
    if graph.ids[asked] != current.focus:
        look_at(current, graph.ids[asked])


def type_to_look_at(current: Session, words: Sequence[WordLine], worst: int | None) -> int:
    """Return what the merge most to blame for some words makes, else their longest token."""
    graph = current.study.graph
    if worst is not None:
        return graph.merge(worst).result
    tokens = [token for word in words for token in word.tokens if token.type < len(graph.types)]
    joined = [token for token in tokens if graph.incoming(token.type)]
    if joined:
        return max(joined, key=lambda token: len(graph.types[token.type])).type
    return first_focus(current.study)
