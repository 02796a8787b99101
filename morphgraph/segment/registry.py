"""All methods by name, and how to apply one to a tokeniser, vocabulary or segmenter.

A method is written as its name and parameters: ``dropout(p=0.1, seed=3)``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError, nearest
from morphgraph.core.files import document_field
from morphgraph.segment.method import Method, Needs

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.segment.parameters import Parameters
    from morphgraph.segment.segmenter import Segmenter
    from morphgraph.tokeniser.tokeniser import BpeTokeniser
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

Value = bool | int | float | str


@dataclass(frozen=True)
class Listing:
    """Where the entry of a method is: ``module`` has it as a constant, its name in capitals.

    The other fields repeat those of the entry (see `Method`), to be known before loading it.
    """

    module: str
    segments: bool = True
    offered: bool = True
    trained: bool = False
    learns: bool = False


class Registry(MutableMapping[str, Method]):
    """Methods by name, loaded when first used: names alone load nothing."""

    def __init__(self, listed: Mapping[str, Listing]) -> None:
        self._listed: dict[str, Listing | Method] = {**listed}

    @property
    def segmenting(self) -> list[str]:
        """The names of methods that have segmenters."""
        return [name for name, one in self._listed.items() if one.segments]

    @property
    def offered(self) -> list[str]:
        """The names of methods for any tokeniser with merges."""
        return [name for name, one in self._listed.items() if one.segments and one.offered]

    @property
    def trained(self) -> list[str]:
        """The names of methods that can be trained."""
        return [name for name, one in self._listed.items() if one.trained]

    @property
    def learning(self) -> list[str]:
        """The names of methods that learn from gold."""
        return [name for name, one in self._listed.items() if one.learns]

    def __getitem__(self, name: str) -> Method:
        found = self._listed[name]
        if isinstance(found, Listing):
            constant = name.upper().replace("-", "_")
            found = self._listed[name] = getattr(import_module(found.module), constant)
        return found

    def __setitem__(self, name: str, entry: Listing | Method) -> None:
        """Add a method, or the listing of its entry."""
        self._listed[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._listed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


METHODS = Registry(
    {
        "bpe": Listing("morphgraph.segment.bte", trained=True),
        "bpe-prime": Listing("morphgraph.segment.bte", segments=False, trained=True),
        "dropout": Listing("morphgraph.segment.dropout"),
        "trimmed": Listing("morphgraph.segment.trimmed"),
        "flota": Listing("morphgraph.segment.flota"),
        "first": Listing("morphgraph.segment.flota"),
        "longest": Listing("morphgraph.segment.flota"),
        "greedy": Listing("morphgraph.segment.wordpiece"),
        "picky": Listing("morphgraph.segment.picky", offered=False, trained=True),
        "scaffold": Listing("morphgraph.segment.scaffold", offered=False, trained=True),
        "unigram": Listing("morphgraph.segment.unigram", offered=False, trained=True),
        "unigram-prime": Listing("morphgraph.segment.unigram", segments=False, trained=True),
        "wordpiece": Listing("morphgraph.segment.wordpiece", offered=False, trained=True),
    }
)
"""All methods by name; `morphgraph.methods` adds those defined in higher rooms."""


def method_named(name: str, among: Sequence[str]) -> Method:
    """Return a method by name; `MorphGraphError` if it is not ``among`` the given ones."""
    if name not in among:
        raise MorphGraphError(
            f"There is no method “{name}”.{nearest(name, among)} Choose one of: {', '.join(among)}."
        )
    return METHODS[name]


def method_of(parameters: Parameters) -> str:
    """The name of the one method that has parameters of this class; else a `MorphGraphError`."""
    kind = type(parameters)
    names = [name for name, entry in METHODS.items() if entry.parameters is kind]
    if len(names) != 1:
        of = f"of several: {', '.join(names)}" if names else "of none that segments without gold"
        raise MorphGraphError(f"{kind.__name__} are parameters {of}. Give the method by its name.")
    return names[0]


# ------------------------------------------------------------------------- made on something


def method_on(
    base: BpeTokeniser | SubwordVocabulary | Segmenter,
    method: str,
    parameters: Mapping[str, Any] | None = None,
    counts: WordCounts | Mapping[str, float] | str | os.PathLike[str] | None = None,
) -> Segmenter:
    """Apply one of the `METHODS` to a tokeniser in its present state, vocabulary or segmenter.

    ``parameters`` not given have their default. ``counts``: word counts of a second corpus, for
    methods that need them; also a file of them, or ``wordfreq:en``. `MorphGraphError` for unknown
    or invalid parameters, and for a base that does not suit the method.
    """
    entry = method_named(method, METHODS.segmenting)
    settings = entry.settings(parameters or {})
    below = _NEEDED[entry.needs](base, method)
    if not entry.counts:
        return entry.make(below, settings)
    if counts is None:
        raise MorphGraphError(
            f"{entry.title} needs the word counts of a second corpus. Give a file of counts, "
            "wordfreq:LANG, or a reference with frequencies."
        )
    from morphgraph.corpus.counts import to_word_counts

    return entry.make(below, settings, counts=to_word_counts(counts))


def standard_segmenter(base: BpeTokeniser | SubwordVocabulary | Segmenter) -> Segmenter:
    """Return the own segmentation of a tokeniser or vocabulary; a segmenter unchanged.

    A tokeniser uses its merges, after which types that SentencePiece marks as unused are
    decomposed; a vocabulary uses Unigram with log-probabilities, WordPiece with ``##``, and else
    the longest match from the left.
    """
    from morphgraph.tokeniser.tokeniser import BpeTokeniser
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

    if isinstance(base, SubwordVocabulary):
        if base.scores is not None:
            return method_on(base, "unigram")
        return method_on(base, "wordpiece" if base.marker == "##" else "greedy")
    if not isinstance(base, BpeTokeniser):
        return base
    if unused := base.unused:
        trimmed: Any = METHODS["trimmed"].kind
        return cast("Segmenter", trimmed(base, [text not in unused for text in base.types], 0))
    return method_on(base, "bpe")


def by_merges(segmenter: Segmenter) -> bool:
    """Return whether a segmenter uses just a tokeniser's merges, so others can be built on it.

    Trained ones may have a tokeniser too, but with types that their method removes again.
    """
    entry = METHODS.get(getattr(segmenter, "method", ""))
    return entry is not None and entry.needs == "merges"


def _merges(base: Any, method: str) -> BpeTokeniser:
    from morphgraph.tokeniser.tokeniser import BpeTokeniser

    if isinstance(base, BpeTokeniser):
        return base
    if not by_merges(base):
        raise MorphGraphError(
            f"{method} needs a tokeniser of merges alone, which {base.name} is not. Choose one "
            "that was trained by BPE."
        )
    return cast("BpeTokeniser", base.tokeniser)


def _vocabulary(base: Any, method: str) -> SubwordVocabulary:
    from morphgraph.tokeniser.loading import vocabulary_of
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

    found = base if isinstance(base, SubwordVocabulary) else getattr(base, "vocabulary", None)
    if found is not None:
        return cast("SubwordVocabulary", found)
    tokeniser = _merges(base, method)
    question = "vocabulary", tokeniser.name
    return tokeniser.cache.get(tokeniser.numbered, question, lambda: vocabulary_of(tokeniser))


def _segmenter(base: Any, _: str) -> Segmenter:
    entry = METHODS.get(getattr(base, "method", ""))
    is_kept = entry is not None and entry.needs == "segmenter"
    return cast("Segmenter", base.segmenter) if is_kept else standard_segmenter(base)


def _only_trained(_: Any, method: str) -> None:
    raise MorphGraphError(
        f"{method} needs a model that was trained so. Train one with morphgraph train --method "
        f"{method}."
    )


_NEEDED: Mapping[Needs, Callable[[Any, str], Any]] = {
    "merges": _merges,
    "vocabulary": _vocabulary,
    "segmenter": _segmenter,
    "training": _only_trained,
}
"""How to obtain what a method needs from its base."""


# ------------------------------------------------------------------------- as a document


def segmenter_of(document: Mapping[str, Any]) -> Segmenter:
    """Return the segmenter of a document by its method, or raise `MorphGraphError`."""
    name: Any = document.get("method")
    entry = METHODS[name] if name in METHODS.segmenting else None
    if entry is None or entry.kind is None:
        problem = f"it is {str(name)[:40]!r}, none of {', '.join(METHODS.segmenting)}"
        raise FileFormatError("", "field method", problem, "Update morphgraph.")
    if entry.needs == "segmenter":
        below = segmenter_of(document_field(document, "model", dict))
        document = {**document, "model": below}
    return entry.kind.from_document(document)


# ------------------------------------------------------------------------- as it is written


_SPEC = re.compile(r"\s*([\w-]+)\s*(?:\(([^()]*)\))?\s*")


def parse_method(text: str) -> tuple[str, dict[str, Value]]:
    """Parse a method as it is written into its name and parameters.

    >>> parse_method("dropout(p=0.1, queue=true)"), parse_method("knockout(select=random)")
    (('dropout', {'p': 0.1, 'queue': True}), ('knockout', {'select': 'random'}))
    """
    found = _SPEC.fullmatch(text)
    if found is None:
        raise MorphGraphError(f"“{text[:80]}” is not a method. Write it like dropout(p=0.1).")
    parts = [part.strip() for part in (found[2] or "").split(",")]
    return found[1], dict(_parameter(part) for part in parts if part)


def _parameter(text: str) -> tuple[str, Value]:
    name, _, value = (item.strip() for item in text.partition("="))
    if name and value in ("true", "false"):
        return name, value == "true"
    if name and re.fullmatch(r"[+-]?\d{1,15}", value):
        return name, int(value)
    try:
        number = float(value[:30])
    except ValueError:
        if name and re.fullmatch(r"[a-z]+(-[a-z]+)*", value):
            return name, value
    else:
        if name and math.isfinite(number):
            return name, number
    raise MorphGraphError(f"“{text[:80]}” is not a parameter. Write it like p=0.1.")


def split_methods(text: str) -> list[str]:
    """Split methods at commas that are not inside brackets.

    >>> split_methods("bpe, dropout(p=0.1, seed=3), flota")
    ['bpe', 'dropout(p=0.1, seed=3)', 'flota']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]
