"""Warnings where words of one language meet the gold, or the tokeniser, of another."""

from collections.abc import Sequence

import streamlit as st

from morphgraph.core.demos import DEMOS
from morphgraph.core.text import shortened
from morphgraph.reference.language import clash, language_of
from web.session import Session
from web.text import plain

_MARKERS = "Ġ▁␣ "
_LANGUAGES_OF_WORDFREQ = "wordfreq:"


def reference_in_another_language(current: Session) -> None:
    """Warn where the reference is of another language than the tokeniser, or its frequencies."""
    study = current.study
    reference = study.benchmark.reference
    words = [entry.word for entry in reference.entries]
    name = plain(shortened(reference.name, 60))
    found: tuple[str, str] = current.once(
        ("language of the types",), lambda: clash(words, _whole_words(current))
    )
    _warn(found, f"The words of {name}", "the types of the tokeniser")
    source = study.benchmark.frequency_source
    code = source.removeprefix(_LANGUAGES_OF_WORDFREQ)
    if code == source:
        return
    spoken: str = current.once(("language of the reference",), lambda: language_of(words))
    if spoken and spoken != code:
        st.warning(
            f"The words of {name} are {_named(spoken)}, but the word frequencies are those of "
            f"{plain(source)}. Choose frequencies of the same language.",
            icon=":material/translate:",
        )


def words_in_another_language(current: Session, words: Sequence[str]) -> None:
    """Warn where words to be compared are of another language than the gold."""
    reference = current.study.benchmark.reference
    gold = [entry.word for entry in reference.entries]
    found: tuple[str, str] = current.once(("language of words", *words), lambda: clash(words, gold))
    _warn(found, "These words", f"the gold of {plain(shortened(reference.name, 60))}")


def _warn(found: tuple[str, str], words: str, others: str) -> None:
    one, two = found
    if not two:
        return
    what = f"are {_named(one)}" if one else f"are hardly ever {_named(two)}"
    st.warning(
        f"{words} {what}, but {others} {'is' if others.startswith('the gold') else 'are'} "
        f"{_named(two)}: scores then say little. Open a tokeniser and a reference of one language.",
        icon=":material/translate:",
    )


def _whole_words(current: Session) -> list[str]:
    """The types that begin a word, without the marker; all of them where none is marked."""
    names = current.study.tokeniser.readable_types
    marked = [name for name in names if name[:1] in _MARKERS and len(name) > 1]
    return [name.strip(_MARKERS).removesuffix("</w>") for name in marked or names]


def _named(code: str) -> str:
    return DEMOS.get(code, code)
