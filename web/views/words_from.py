"""Words to learn from: a language's counts, a file of counts, or a file of text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from morphgraph.corpus.counting import read_text
from morphgraph.corpus.counts import WordCounts, parse_word_counts, wordfreq_counts
from web import widgets as ui
from web.inputs import content_of
from web.sources import demo_name, wordfreq_languages

_WORDS_FROM = {
    "wordfreq": "wordfreq's counts",
    "counts": "a file of word counts",
    "text": "a file of text",
}
_A_LINE = "One word per line: the word, a tab or a space, and its count."
_TEXT = "Plain text, or a csv, tsv or parquet file with a column called text, in UTF-8."


@dataclass(frozen=True)
class WordSource:
    """Words, and how to read them.

    ``number``: distinguishes files of one name; ``is_known``: whether reading takes no time.
    """

    name: str
    read: Callable[[], WordCounts]
    number: str = ""
    is_known: bool = False


def words_from(place: str) -> WordSource | None:
    """Choose where words come from; ``place``: what begins the keys of its fields."""
    name: Any = {"format_func": _WORDS_FROM.__getitem__, "key": f"{place}_source", "width": 200}
    kind = ui.choice(st.selectbox, "Words from", _WORDS_FROM, **name)
    if kind == "wordfreq":
        options: dict[str, Any] = {"key": f"{place}_language", "first": "en", "width": 160}
        options["format_func"] = demo_name
        language = ui.setting(st.selectbox, "Language", wordfreq_languages(), **options)
        name = f"wordfreq:{language}"
        return WordSource(name, lambda: wordfreq_counts(language), is_known=True)
    label, tip = ("Word counts", _A_LINE) if kind == "counts" else ("Text", _TEXT)
    file = st.file_uploader(label, key=f"{place} {kind}", help=tip)
    if file is None:
        return None
    read: Callable[[bytes, str], WordCounts] = parse_word_counts if kind == "counts" else read_text
    return WordSource(file.name, lambda: read(content_of(file), file.name), file.file_id)
