"""Read what is open, and record its origin: demos, wordfreq's lists, the user's own files."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from weakref import WeakValueDictionary

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import DEMOS
from morphgraph.corpus.counts import parse_word_counts, wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference import catalogue
from morphgraph.reference.entry import Reference
from morphgraph.reference.plain import reference_of_words
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_reading import Reading
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser

COMMON_WORDS = 10_000
"""How many words of a language show what an edit changes where there is no gold."""


@dataclass(frozen=True)
class Source:
    """The origin of something open, from which it can be opened again.

    ``name``: its title, or that of a demo or a list of wordfreq (``demo:en``, ``wordfreq:en``, or
    ``words:en`` for its words in place of gold), which needs no ``files``; these are names with
    contents. ``format``, ``encoding``, ``separator`` and ``exempt``: how a reference is read, if
    that was chosen.
    """

    name: str
    files: tuple[tuple[str, bytes], ...] = ()
    format: str | None = None
    encoding: str | None = None
    separator: str | None = None
    exempt: tuple[str, ...] = ()

    def list_of(self, kind: str) -> str:
        """Return the language of a list of this kind (``demo``, ``wordfreq``); empty for others."""
        of_kind, _, language = self.name.partition(":")
        return language if of_kind == kind and not self.files else ""

    def shared(self) -> Source:
        """Return an equal source shared by sessions: large files are in memory only once."""
        files = [(name, hashlib.sha256(data).digest()) for name, data in self.files]
        options = self.format, self.encoding, self.separator, self.exempt
        return _sources.setdefault((self.name, *files, *options), self)


_sources: WeakValueDictionary[tuple[Hashable, ...], Source] = WeakValueDictionary()


def tokeniser_of(source: Source) -> BpeTokeniser:
    """Return a source's tokeniser with a graph of its own; `MorphGraphError` if there is none."""
    model = _read_model(source.list_of("demo"), source.files)
    if model.editable is None:
        names = ", ".join(name for name, _ in source.files)
        raise MorphGraphError(f"{names} has no merges. Choose a BPE tokeniser.")
    return model.editable.fork()


def uploaded_model(files: Mapping[str, bytes]) -> Segmenter:
    """Return the model in one file of any kind, or in a vocab.json and merges.txt together.

    A model segmented by its merges is a `Bte`, whose tokeniser can be opened. It is shared by
    sessions: fork it before editing. Raises `MorphGraphError` if it cannot be read.
    """
    return _read_model("", tuple(files.items()))


@st.cache_resource(show_spinner="Reading the tokeniser…", max_entries=8)
def _read_model(demo: str, files: tuple[tuple[str, bytes], ...]) -> Segmenter:
    return load_segmenter(dict(files)) if files else Bte(load_tokeniser(f"demo:{demo}"))


@st.cache_resource(show_spinner="Reading the reference…", max_entries=8)
def reference_of(source: Source) -> Reference:
    """Return a source's gold list, or words without gold; `MorphGraphError` if unreadable."""
    if language := source.list_of("words"):
        known = wordfreq_counts(language).words  # with abbreviations, and numbers such as 0.00
        common = islice((word for word in known if not {"0", "."} & {*word}), COMMON_WORDS)
        return reference_of_words(common, f"common words, {language}")
    if not source.files:
        return read_reference(f"demo:{source.list_of('demo')}")
    (_, content), *_ = source.files
    named = {name: getattr(source, name) for name in ("format", "encoding", "separator")}
    reading = Reading(**named, exempt=[*source.exempt])
    return reading.chosen(reading.read(content, source.name))


@st.cache_resource(show_spinner="Reading word frequencies…", max_entries=8)
def frequencies_of(source: Source) -> Mapping[str, float]:
    """Return the word frequencies (of wordfreq, per 10⁹ words); may raise `MorphGraphError`."""
    if not source.files:
        return dict(wordfreq_counts(source.name.removeprefix("wordfreq:")).items())
    (name, data), *_ = source.files
    return dict(parse_word_counts(data, name).items())


@st.cache_resource(show_spinner=False)
def wordfreq_languages() -> list[str]:
    """Return the codes of the languages for which wordfreq has lists."""
    import wordfreq

    return sorted(wordfreq.available_languages())


@st.cache_resource(show_spinner=False, ttl=60)  # cache_data would pickle
def references_there() -> list[str]:
    """The names of the catalogue's sources that need no download; looked for again after a while.

    ``references_there.clear()`` has them looked for at once.
    """
    return [name for name, one in catalogue.SOURCES.items() if catalogue.is_downloaded(one)]


def demo_name(code: str) -> str:
    """Return the name of a demo's language."""
    return DEMOS.get(code, code)
