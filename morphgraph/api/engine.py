"""What is inside a public tokeniser: a segmenter, merges below it, ids of texts; gold, scores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError, check_choice, check_list
from morphgraph.core.text import counted, shortened
from morphgraph.corpus.counts import to_word_counts
from morphgraph.formats.export import known_ids
from morphgraph.formats.hugging_face import to_document, to_tokenizer_json
from morphgraph.formats.recipe import LINEAGE_FIELD
from morphgraph.reference.entry import Reference
from morphgraph.reference.plain import reference_of_pairs
from morphgraph.reference.predictions import Predictions
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.segment.bte import file_ids
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import Segmenter, standard_segmenter
from morphgraph.standalone.pieces import let_decode_bytes, load
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, called

if TYPE_CHECKING:
    from morphgraph.score.table import ScoreTable

Gold = GoldSet | Reference | str | os.PathLike[str] | Iterable[tuple[str, Sequence[str]]]
"""Whatever `read_gold` reads."""


def read_gold(
    source: Gold | bytes,
    *,
    format: str | None = None,
    encoding: str | None = None,
    frequencies: Mapping[str, float] | str | None = None,
    bare: bool = False,
) -> GoldSet:
    """Read a gold segmentation.

    ``source``: a file, ``demo:en``, ``catalogue:…``, or a list of (word, morphs). ``format`` and
    ``encoding``: of a file; detected from its content if not given. ``frequencies``: word → count,
    a file of counts, or ``wordfreq:en``. ``bare``: words are whole texts of their own, without the
    space before. Errors: `MorphGraphError`.

    >>> gold = mg.read_gold("demo:en")
    >>> mg.read_gold([("undo", ["un", "do"]), ("houses", ["house", "s"])])
    <GoldSet pairs: pairs, 2 entries>
    """
    if isinstance(source, GoldSet):
        return source
    if isinstance(source, Reference):
        reference = source
    elif isinstance(source, str | bytes | os.PathLike):
        reference = read_reference(source, format=format, encoding=encoding)
    elif isinstance(source, Iterable):
        reference = reference_of_pairs(source)
    else:
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a gold segmentation. Give a file, demo:en, "
            "catalogue:NAME, or a list of (word, morphs)."
        )
    if isinstance(frequencies, str):
        counts = dict(to_word_counts(frequencies).items())
        return GoldSet.of(reference, counts, frequencies, bare=bare)
    named = "" if frequencies is None else "given counts"
    return GoldSet.of(reference, frequencies, named, bare=bare)


AnyToken = TypeVar("AnyToken", int, str)


class TextCodec:
    """Ids of texts by a segmenter, in the numbering of a document laid out as ``tokenizer.json``.

    ``glues_bytes``: types that glue bytes to characters are decoded as in an exported folder.
    ``ids``: the id of each type, in order of ids; ``types``: the type of each id.
    """

    def __init__(
        self, segmenter: Segmenter, document: Mapping[str, Any], glues_bytes: bool
    ) -> None:
        known = known_ids(document)
        self.ids = {text: known[text] for text in sorted(known, key=known.__getitem__)}
        self.types = {number: text for text, number in self.ids.items()}
        self._segmenter = segmenter
        self._document = document
        self._glues_bytes = glues_bytes
        # By the segmenter's own number of a type.
        self._numbers = np.array([known.get(text, -1) for text in segmenter.types], np.int64)

    def encode(self, text: str, special_tokens: bool) -> list[int]:
        """The ids of a text; ``special_tokens``: with those that belong around it."""
        found, ends = self._segmented(text)
        ids: list[int] = self._numbers[found.token_at[ends]].tolist()
        return self._framed(ids, self._frame) if special_tokens else ids

    def tokenize(self, text: str, special_tokens: bool) -> list[str]:
        """The types of a text; ``special_tokens``: with those that belong around it."""
        found, ends = self._segmented(text)
        segmenter, tokens = self._segmenter, found.token_at[ends].tolist()
        shown = segmenter.unknown_id if segmenter.shows_unknown else None
        types = [
            segmenter.types[token]
            if token != shown
            else segmenter.token_text(found.words, atom, token)
            for atom, token in zip(ends.tolist(), tokens, strict=True)
        ]
        frame = [None if number is None else self.types[number] for number in self._frame]
        return self._framed(types, frame) if special_tokens else types

    def _segmented(self, text: str) -> tuple[Segmentation, npt.NDArray[np.int64]]:
        """A text, and where its tokens end; what is outside the alphabet may be none."""
        if not isinstance(text, str):
            raise MorphGraphError(f"{shortened(repr(text))} is not a text. Give a string.")
        found = self._segmenter.segment(self._segmenter.encode([text], bare=True))
        ends = np.flatnonzero((found.token_at >= 0) & (found.token_at != UNKNOWN))
        return found, ends[self._numbers[found.token_at[ends]] >= 0]

    def _framed(self, found: list[AnyToken], frame: Sequence[AnyToken | None]) -> list[AnyToken]:
        return [each for part in frame for each in (found if part is None else [part])]

    def decode(self, ids: Sequence[int], special_tokens: bool) -> str:
        """The text of ids; ``special_tokens``: with those that are special."""
        return str(self._library.decode(list(ids), skip_special_tokens=not special_tokens))

    @cached_property
    def _library(self) -> Any:
        """A tokeniser of the library that has the types and the decoder, and no merges."""
        library = load(self._document)
        if self._glues_bytes:
            let_decode_bytes(library, self._document["model"]["vocab"])
        return library

    @cached_property
    def _frame(self) -> list[int | None]:
        """What the post-processor makes of a text: special tokens, and None for the text."""
        from tokenizers import Tokenizer

        processor = self._document.get("post_processor")
        if processor is None:
            return [None]
        text = max(self.types) + 1
        model = {"type": "WordLevel", "vocab": {"x": text}, "unk_token": "x"}
        plain = {"version": "1.0", "added_tokens": [], "model": model, "post_processor": processor}
        framed = Tokenizer.from_str(json.dumps(plain)).encode("x").ids
        return [None if number == text else number for number in framed]


@dataclass(frozen=True)
class Engine:
    """A segmenter, and the tokeniser with merges that it was made from, if there is one."""

    segmenter: Segmenter
    base: BpeTokeniser | None = None

    @classmethod
    def of(cls, tokeniser: BpeTokeniser) -> Engine:
        """Return a tokeniser as it segments by itself."""
        return cls(standard_segmenter(tokeniser), tokeniser)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what is computed on demand, which cannot be pickled."""
        return Engine, (self.segmenter, self.base)

    def merges(self, what: str) -> BpeTokeniser:
        """Return the tokeniser whose merges ``what`` needs; else a `MorphGraphError`."""
        found = self.segmenter.editable
        if found is None:
            raise MorphGraphError(
                f"{what} needs a tokeniser that segments by merges alone, and this one segments "
                f"by {self.segmenter.name}. Use one that was loaded or trained as BPE."
            )
        return found

    @property
    def name(self) -> str:
        """What the types were loaded from or trained as."""
        below: Any = self.segmenter
        while hasattr(below, "below"):
            below = below.below
        return str(below.name)

    @property
    def warnings(self) -> Sequence[str]:
        """What there is to know about the file."""
        return () if self.base is None else self.base.warnings

    def described(self, types: int) -> str:
        """Return method and sizes, in one line."""
        segmenter, merges = self.segmenter, self.segmenter.editable
        said = f"{called(segmenter.name, segmenter.parameters)}, {counted(types, 'type')}"
        if merges is not None:
            graph = merges.graph
            said += f", {counted(graph.merge_count, 'merge')}"
            said += f", {counted(len(graph.history), 'edit')}" if graph.history else ""
        return said

    def saved(self) -> bytes:
        """Return all of it as one file that loads again."""
        merges = self.segmenter.editable
        if merges is None:
            return write_model(self.segmenter)
        return to_tokenizer_json(merges, file_ids(merges))[0]

    def segment(self, words: Sequence[str]) -> list[list[str]]:
        """Return the types of words as in running text; an unknown character as itself."""
        segmenter = self.segmenter
        encoded = segmenter.encode(words)
        found = segmenter.segment(encoded)
        return [
            [
                segmenter.token_text(encoded, atom, token)
                if token in (UNKNOWN, segmenter.unknown_id) or atom in encoded.unknown
                else segmenter.types[token]
                for atom, token in found.token_ends(number)
            ]
            for number in range(len(encoded))
        ]

    @cached_property
    def texts(self) -> TextCodec:
        """Ids of texts: those of the loaded file, or as an exported folder gives them."""
        merges = self.segmenter.editable
        is_loaded = merges is not None and not merges.is_edited
        return TextCodec(self.segmenter, self._document, glues_bytes=not is_loaded)

    @cached_property
    def _document(self) -> Mapping[str, Any]:
        """All of it, laid out as ``tokenizer.json``."""
        below: Any = self.segmenter
        while True:
            if below.editable is not None:
                return to_document(below.editable, file_ids(below.editable))[0]
            try:
                found: Mapping[str, Any] = below.exported(False).document
            except MorphGraphError:
                # It cannot be exported; its types are those of what it stands on.
                below = below.below
                if isinstance(below, SubwordVocabulary):
                    raise
                below = standard_segmenter(below)
            else:
                return found

    @cached_property
    def state(self) -> State:
        """The identity of vocabulary, merges, method and preprocessing, by which equality goes."""
        segmenter = self.segmenter
        return State.of(segmenter.method, dict(segmenter.parameters), _nameless(self._document))


def _nameless(value: Any) -> Any:
    """Return a document without what only says where it came from."""
    # Types are keys of numbers and lists there, never of texts.
    if not isinstance(value, dict):
        return value
    return {
        key: _nameless(inner)
        for key, inner in value.items()
        if not (key in ("name", "checksum") and isinstance(inner, str))
        and not (key == LINEAGE_FIELD and isinstance(inner, dict))
    }


def table_of(
    compared: Mapping[str, Engine | Predictions],
    gold: Gold,
    scope: Scope,
    weighting: Weighting,
    metrics: Sequence[str],
    baseline: int | None = None,
) -> ScoreTable:
    """The scores of each by its label; `MorphGraphError` if none can be scored."""
    from morphgraph.refine.learning import Entrant, learn_and_score
    from morphgraph.score.metrics import USUAL
    from morphgraph.score.table import ScoreTable, SegmentationFailure

    check_choice("scope", scope, SCOPES)
    check_choice("weighting", weighting, WEIGHTINGS)
    chosen = check_list(metrics, "scores") or USUAL
    gold_set = read_gold(gold)
    gold_set.weights(weighting)  # fails if there are no frequencies
    if not gold_set.has_gold(scope).any():
        raise MorphGraphError(
            f"{gold_set.reference.name} has no {scope} boundaries. Choose another scope."
        )
    entrants = [
        Entrant(label, made.segmenter, made.base)
        if isinstance(made, Engine)
        else Entrant(label, made)
        for label, made in compared.items()
    ]
    outcomes = learn_and_score(entrants, gold_set)
    failed = [outcome for outcome in outcomes if isinstance(outcome, SegmentationFailure)]
    if len(failed) == len(outcomes):
        raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
    return ScoreTable(outcomes, scope, weighting, chosen, baseline=baseline)
