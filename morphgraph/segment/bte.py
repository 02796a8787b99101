"""The standard segmentation of a tokeniser as a segmenter, and what others on a tokeniser share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.segment.method import Method
from morphgraph.segment.segmenter import MethodSegmenter
from morphgraph.tokeniser.hugging_face import (
    assumed_document,
    from_tokenizer_json,
    new_ids,
    to_tokenizer_json,
)
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Segmentation, Words

if TYPE_CHECKING:
    from morphgraph.tokeniser.export import ExportedModel


class Bte(MethodSegmenter):
    """BPE, or BTE where there are tuple merges: the merges of a tokeniser's graph as it is now.

    Source: Sennrich et al. 2016; Bauwens & Delobelle 2024 for tuple merges.
    """

    method = "bpe"

    def __init__(self, tokeniser: BpeTokeniser) -> None:
        super().__init__(tokeniser)
        self.tokeniser = tokeniser

    @property
    def name(self) -> str:
        """``BTE`` if a merge has three parts or more, else ``BPE``."""
        return "BTE" if self.tokeniser.graph.has_tuples else "BPE"

    def segment(self, words: Words) -> Segmentation:
        """Cut words; ``closed_by`` holds positions of merges, by rank."""
        return segment(self.tokeniser.graph, words)

    def document(self) -> dict[str, Any]:
        """Method, parameters, and the tokeniser in its present state, as JSON."""
        name, _, checksum = self.tokeniser.signature().rpartition("@")
        model = json.loads(to_tokenizer_json(self.tokeniser)[0])
        held = {"name": name, "checksum": checksum, "model": model}
        return {"method": self.method, **self.parameters, **held}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        return cls(saved_tokeniser(document))


def _exported(bpe: Any, unchanged: bool) -> ExportedModel:
    from morphgraph.tokeniser.export import bpe_model

    return bpe_model(bpe.tokeniser, _ids(bpe.tokeniser) if unchanged else None)


def _ids(tokeniser: BpeTokeniser) -> dict[int, int]:
    """The ids of all present types, by their ids in the graph: those of the file without edits."""
    if tokeniser.graph.history:
        return new_ids(tokeniser)
    return dict(enumerate(tokeniser.vocabulary_ids))


def merging_model(
    segmenter: Bte,
    unchanged: bool = False,
    left_out: Iterable[int] = (),
    apart: Mapping[str, Sequence[tuple[str, int]]] | None = None,
    numbers: Mapping[int, int] | None = None,
) -> ExportedModel:
    """What leaves of a segmenter that does more than merging.

    ``left_out``: types, by id, that no token is of; the others are numbered anew without them, if
    ids need not stay ``unchanged``. ``apart``: what takes the place of a type after merging, each
    with its number of atoms. ``numbers``: the ids that types have so far, if not the tokeniser's.
    """
    from morphgraph.tokeniser.export import bpe_model, leaving_on

    gone = set(left_out)
    ids = _ids(segmenter.tokeniser)
    order: Iterable[int] = new_ids(segmenter.tokeniser)
    if numbers is not None:
        ids = {number: id_ for number, id_ in numbers.items() if number not in gone}
        order = sorted(ids, key=ids.__getitem__)
    if not unchanged:
        ids = {number: new for new, number in enumerate(n for n in order if n not in gone)}
    merging = bpe_model(segmenter.tokeniser, ids)
    if numbers is not None:
        merging = replace(merging, id_map={numbers[n]: new for n, new in ids.items()})
    model = {
        "type": segmenter.method,
        **({} if apart is None else {"apart": apart}),
        "method": segmenter.document(),
    }
    return leaving_on(merging, segmenter, segmenter.name, model)


BPE = Method(
    "bpe",
    "BPE",
    "Of all merges applicable somewhere the lowest rank, leftmost, until none applies; with tuple "
    "merges it is BTE.",
    Bte,
    "merges",
    source="Sennrich et al. 2016; Bauwens & Delobelle 2024",
    export=_exported,
)


def saved_tokeniser(document: Mapping[str, Any]) -> BpeTokeniser:
    """The tokeniser of a document, with the checksum that it states: that of where it came from."""
    name = shortened(" ".join(str(document.get("name", "tokeniser")).split()), 80)
    tokeniser = from_tokenizer_json(json.dumps(document.get("model")).encode(), name)
    stated = str(document.get("checksum", ""))
    if re.fullmatch(r"[0-9a-f]{12}(\+[0-9a-f]{12})?", stated):
        tokeniser.checksum = stated
    return tokeniser


def tokeniser_of_types(
    name: str, types: Iterable[str], merges: Iterable[Sequence[str]]
) -> BpeTokeniser:
    """A tokeniser of trained types, by id, with the preprocessing that their marker implies.

    Without a marker, a word is one piece, as it was in training. `MorphGraphError` if there are no
    types.
    """
    vocabulary = {text: number for number, text in enumerate(types)}
    if not vocabulary:
        raise MorphGraphError("There are no types. Train on at least one word.")
    document = assumed_document(vocabulary, [list(parts) for parts in merges])
    if document["pre_tokenizer"]["type"] == "Whitespace":
        document["pre_tokenizer"] = None
    unknown = next((text for text in ("<UNK>", "<unk>", "[UNK]") if text in vocabulary), None)
    document["model"]["unk_token"] = unknown
    return from_tokenizer_json(json.dumps(document).encode(), name)
