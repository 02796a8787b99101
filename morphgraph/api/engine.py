"""What is inside a public tokeniser: a segmenter, the merges below it, and its ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from morphgraph.api.texts import TextCodec
from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.segment.bte import file_ids
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import Segmenter, standard_segmenter
from morphgraph.tokeniser.hugging_face import to_document, to_tokenizer_json
from morphgraph.tokeniser.recipe import LINEAGE_FIELD
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, called


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
