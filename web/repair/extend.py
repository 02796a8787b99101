"""Extend: training goes on with words, or another tokeniser's types come; ids stay as they are."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.limits import PUBLIC_TYPES, PUBLIC_WORDS, is_public
from morphgraph.core.text import counted
from morphgraph.corpus.counting import columns_of, read_text
from morphgraph.corpus.counts import WordCounts, parse_word_counts, wordfreq_counts
from morphgraph.graph.merge_table import Change
from morphgraph.refine.extending import preview_append, preview_extend
from web import widgets as ui
from web.edits import make as make_edit
from web.inputs import content_of
from web.repair.ahead import Ahead, ahead_of, ask_and_do, say_ahead, words_ahead
from web.sources import demo_name, wordfreq_languages
from web.state import Session

_ASKED = "extension looked at"
_SOURCES = {
    "wordfreq": "wordfreq's counts",
    "counts": "a file of word counts",
    "text": "a file of text",
    "tokeniser": "another tokeniser's types",
}


class _Source(NamedTuple):
    """What new types come from; ``preview`` finds them and, of counts, the tokens per word."""

    name: str
    preview: Callable[[], tuple[Change, str]]


def show_extend(current: Session) -> None:
    """Choose where types come from, look at what they would do, and add them."""
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = _source(current)
    question = "Which words should become shorter?"
    asked = source is not None and st.session_state.get(_ASKED) == (source.name, current.state())
    if source is None or not asked:
        with top:
            look = None
            if source is not None:
                known = (source.name, current.state())
                look = partial(st.session_state.__setitem__, _ASKED, known)
            ask_and_do(question, "Look for them", "search", look)
            st.markdown(
                "New types come after all that there are, so these keep their ids. What they would "
                "do stands here before they are added."
            )
        return

    def made() -> tuple[Change, Ahead, str]:
        with st.spinner("Looking for new types…"):
            change, tokens = source.preview()
            return change, ahead_of(current, change), tokens

    with ui.attempt():
        change, ahead, tokens = current.once(("extension", source.name), made)
        number = len(change.added_types)
        with top:
            act = partial(make_edit, current, [change.step]) if number else None
            ask_and_do(question, f"Add {counted(number, 'type')}", "add", act)
            say_ahead(f"{counted(number, 'type comes', 'types come')}.", ahead)
        if tokens:
            st.caption(f"{tokens} tokens per word of what they are from.")
        words_ahead(ahead, "words extended", "420px")


def _source(current: Session) -> _Source | None:
    options: dict[str, Any] = {"format_func": _SOURCES.__getitem__, "width": 240}
    kind = ui.choice(st.selectbox, "From", _SOURCES, key="extend_from", **options)
    if kind == "tokeniser":
        return _other(current)
    counts: Callable[[], WordCounts] | None = None
    if kind == "wordfreq":
        options = {"key": "extend_language", "first": "en", "width": 160}
        options["format_func"] = demo_name
        language = ui.setting(st.selectbox, "Language", wordfreq_languages(), **options)
        name, counts = f"wordfreq:{language}", partial(wordfreq_counts, language)
    else:
        name, counts = _of_file(kind)
    most = PUBLIC_TYPES.value if is_public() else 500_000
    options = {"step": 100, "key": "extend_add", "first": 1000, "width": 160}
    add = int(ui.setting(st.number_input, "New types", 1, most, **options))
    if counts is None:
        return None
    read, study = counts, current.study

    def preview() -> tuple[Change, str]:
        words = read()
        if is_public():
            PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
        change = preview_extend(study.tokeniser, words, add)
        tokens = study.tokens_per_word(words), study.tokens_per_word(words, change)
        return change, " → ".join(f"{value:.3f}" for value in tokens)

    return _Source(f"{name} {add}", preview)


def _of_file(kind: str) -> tuple[str, Callable[[], WordCounts] | None]:
    tip = "One word a line: the word, a tab or a space, and its count."
    if kind == "text":
        tip = "Plain text, or a csv, tsv or parquet file with a column of text, in UTF-8."
    file = st.file_uploader("Words", key=f"extend {kind}", help=tip, width=320)
    if file is None:
        return "", None
    data, name = content_of(file), file.name
    if kind == "counts":
        return f"{name} {file.file_id}", lambda: parse_word_counts(data, name)

    def read() -> WordCounts:
        columns = columns_of(data, name)
        usual = next((each for each in columns if each.lower() == "text"), None)
        return read_text(data, name, column=usual or (columns[0] if columns else None))

    return f"{name} {file.file_id}", read


def _other(current: Session) -> _Source | None:
    """Choose one of the tokenisers that were trained or opened beside the open one."""
    models = {name: model for name, model in current.models.items() if model.editable is not None}
    if not models:
        st.markdown("Train one under Build, or open one under Compare: then it can be chosen here.")
        return None
    name = ui.choice(st.selectbox, "Tokeniser", models, key="extend_other", width=360)
    other = models[name].editable
    assert other is not None
    return _Source(name, lambda: (preview_append(current.study.tokeniser, other), ""))
