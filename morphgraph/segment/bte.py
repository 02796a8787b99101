"""The standard segmentation of a tokeniser as a segmenter, and what others on a tokeniser share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.segment.method import Method
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.words import Segmentation, Words, called

if TYPE_CHECKING:
    from morphgraph.tokeniser.tokeniser import Tokeniser


class Bte:
    """BPE, or BTE where there are tuple merges: the merges of a tokeniser's graph as it is now.

    Source: Sennrich et al. 2016; Bauwens & Delobelle 2024 for tuple merges.
    """

    method: ClassVar[str] = "bpe"

    def __init__(self, tokeniser: Tokeniser) -> None:
        self.tokeniser = tokeniser

    @property
    def name(self) -> str:
        """``BTE`` if a merge has three parts or more, else ``BPE``."""
        merges = self.tokeniser.graph.merges().values()
        return "BTE" if any(merge.is_tuple for merge in merges) else "BPE"

    @property
    def parameters(self) -> Mapping[str, object]:
        """Its settings by name; there are none."""
        return {}

    @property
    def types(self) -> Sequence[str]:
        """The string of each type that is or was there, by id."""
        return self.tokeniser.graph.types

    @property
    def vocabulary_size(self) -> int:
        """How many types are present, special tokens included: |V|."""
        return self.tokeniser.vocabulary_size

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Words as atoms, as they stand in running text; ``bare``: as whole texts of their own."""
        return self.tokeniser.encode(words, bare=bare)

    def segment(self, words: Words) -> Segmentation:
        """Cut words; ``closed_by`` holds positions of merges, by rank."""
        return segment(self.tokeniser.graph, words)

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token that ends at an atom."""
        return self.tokeniser.token_text(words, atom, token)

    def vocabulary_id(self, token: int) -> int | None:
        """The id of a type in the tokeniser's file; None if it has none there."""
        return self.tokeniser.vocabulary_id(token)

    def signature(self) -> str:
        """Name, parameters, and the tokeniser's own signature: ``BPE:demo@0a1b2c3d4e5f``."""
        return f"{called(self.name, self.parameters)}:{self.tokeniser.signature()}"

    def document(self) -> dict[str, Any]:
        """All that `from_document` needs, ready for JSON; the model in its present state."""
        return {"method": self.method, **self.parameters, **model_document(self.tokeniser)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The segmenter of a document; `FileFormatError` if it is not one of this method."""
        check_document(document, cls.method)
        return cls(tokeniser_of(document))


BPE = Method(
    "bpe",
    "BPE",
    "Of all merges applicable somewhere the lowest rank, leftmost, until none applies; with tuple "
    "merges it is BTE.",
    Bte,
    "merges",
    source="Sennrich et al. 2016; Bauwens & Delobelle 2024",
)


def model_document(tokeniser: Tokeniser) -> dict[str, Any]:
    """A tokeniser in its present state, under ``model``, with its name and checksum."""
    from morphgraph.tokeniser.hugging_face import to_tokenizer_json

    name, _, checksum = tokeniser.signature().rpartition("@")
    model = json.loads(to_tokenizer_json(tokeniser)[0])
    return {"name": name, "checksum": checksum, "model": model}


def tokeniser_of(document: Mapping[str, Any]) -> Tokeniser:
    """The tokeniser of a document, with the checksum that it states: that of where it came from."""
    from morphgraph.tokeniser.hugging_face import from_tokenizer_json

    name = shortened(" ".join(str(document.get("name", "tokeniser")).split()), 80)
    tokeniser = from_tokenizer_json(json.dumps(document.get("model")).encode(), name)
    stated = str(document.get("checksum", ""))
    if re.fullmatch(r"[0-9a-f]{12}(\+[0-9a-f]{12})?", stated):
        tokeniser.checksum = stated
    return tokeniser


def check_document(document: Mapping[str, Any], method: str) -> None:
    """Refuse the document of another method."""
    found = document.get("method") if isinstance(document, Mapping) else None
    if found != method:
        raise FileFormatError(
            "segmenter",
            "field method",
            f"it is {found!r} instead of “{method}”",
            "Open it with the segmenter that it was saved from.",
        )


def field(document: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    """A field of a document; `FileFormatError` if it is missing or of the wrong kind."""
    value = document.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise FileFormatError(
            "segmenter", f"field {name}", "it is missing or of the wrong kind", "Save it again."
        )
    return value


def tokeniser_of_types(
    name: str, types: Iterable[str], merges: Iterable[Sequence[str]]
) -> Tokeniser:
    """A tokeniser of trained types, by id, with the preprocessing that their marker implies.

    Without a marker, a word is one piece, as it was in training. `MorphGraphError` if there are no
    types.
    """
    from morphgraph.tokeniser.hugging_face import assumed_document, from_tokenizer_json

    vocabulary = {text: number for number, text in enumerate(types)}
    if not vocabulary:
        raise MorphGraphError("There are no types. Train on at least one word.")
    listed = [list(parts) for parts in merges]
    document = assumed_document(vocabulary, listed)
    if document["pre_tokenizer"]["type"] == "Whitespace":
        document["pre_tokenizer"] = None
    unknown = next((text for text in ("<UNK>", "<unk>", "[UNK]") if text in vocabulary), None)
    document["model"] |= {"unk_token": unknown, "vocab": vocabulary, "merges": listed}
    return from_tokenizer_json(json.dumps(document).encode(), name)
