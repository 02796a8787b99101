"""The standard segmentation of a tokeniser, and what other methods on one share."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.formats.export import bpe_model
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.hugging_face import (
    assumed_document,
    from_tokenizer_json,
    new_ids,
    to_tokenizer_json,
)
from morphgraph.graph.atoms import atoms_of
from morphgraph.segment.method import Method, Training
from morphgraph.segment.segmenter import Inventory, Segmenter
from morphgraph.tokeniser.merging import segment, unreachable_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import detect_marker
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words


class Bte(Segmenter):
    """BPE, or BTE with tuple merges: applies the current merges of a tokeniser's graph.

    Source: Sennrich et al. 2016; Bauwens & Delobelle 2024 for tuple merges.
    """

    method = "bpe"
    tokeniser: BpeTokeniser
    absent: Collection[int] = ()
    """Ids of types that only exist for merging."""

    def __init__(self, tokeniser: BpeTokeniser) -> None:
        super().__init__(tokeniser)
        self.tokeniser = tokeniser

    @property
    def name(self) -> str:
        """``BTE`` if a merge has three or more parts, else ``BPE``."""
        return "BTE" if self.tokeniser.graph.has_tuples else "BPE"

    def segment(self, words: Words) -> Segmentation:
        """Segment words; ``closed_by`` holds positions of merges, by rank."""
        return segment(self.tokeniser.graph, words)

    def document(self) -> dict[str, Any]:
        name, _, checksum = self.tokeniser.signature().rpartition("@")
        model = json.loads(to_tokenizer_json(self.tokeniser)[0])
        held = {"name": name, "checksum": checksum, "model": model}
        return {"method": self.method, **self.parameters, **held}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        return cls(saved_tokeniser(document))

    def exported(self, unchanged: bool) -> ExportedModel:
        return bpe_model(self.tokeniser, file_ids(self.tokeniser) if unchanged else None)

    @property
    def editable(self) -> BpeTokeniser | None:
        """The tokeniser, unless a method built on it does more than merging."""
        return self.tokeniser if type(self) is Bte else None

    @property
    def unknown_id(self) -> int:
        name = self.tokeniser.preprocessor.unknown
        return UNKNOWN if name is None else self.tokeniser.graph.ids.get(name, UNKNOWN)

    def inventory(self) -> Inventory:
        tokeniser, graph = self.tokeniser, self.tokeniser.graph
        present = [number for number in graph.type_ids() if number not in self.absent]
        marker = tokeniser.suffix or detect_marker([graph.types[number] for number in present])
        return Inventory.of(
            graph.types,
            present,
            tokeniser.special,
            "" if marker == "##" else marker,  # a merged type can begin with ## in any text
            tokeniser.preprocessor,
            tokeniser.readable_types,
            graph,
        )

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types that their own atoms are not merged into."""
        if self.editable is not None:
            return unreachable_types(self.tokeniser.graph)
        atoms, offsets = (each.tolist() for each in atoms_of(self.tokeniser.graph))
        spelled = {n: atoms[offsets[n] : offsets[n + 1]] for n in inventory.spelled}
        paths = {number: path for number, path in spelled.items() if len(path) > 1}
        return [number for number, end in self.last_tokens(paths).items() if end != number]


def file_ids(tokeniser: BpeTokeniser) -> dict[int, int]:
    """Return the ids of present types by id in the graph; unedited, those of the file."""
    if tokeniser.is_edited:
        return new_ids(tokeniser)
    absent = tokeniser.graph.absent
    return {
        number: id_ for number, id_ in enumerate(tokeniser.vocabulary_ids) if number not in absent
    }


def merging_model(
    segmenter: Bte,
    unchanged: bool = False,
    apart: Mapping[str, Sequence[tuple[str, int]]] | None = None,
    numbers: Mapping[int, int] | None = None,
) -> ExportedModel:
    """Return the exported model of a segmenter that does more than merging.

    Unless ids must stay ``unchanged``, types are renumbered without those that are ``absent``.
    ``apart``: the replacement of each type after merging, with numbers of atoms. ``numbers``: the
    current ids of types, if not the tokeniser's.
    """
    gone = set(segmenter.absent)
    ids = file_ids(segmenter.tokeniser)
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
    return segmenter.exported_on(merging, model)


def _trained(*given: Any, **more: Any) -> Bte:
    from morphgraph.segment.training import train_bpe, train_merge_tokeniser

    return Bte(train_merge_tokeniser(train_bpe, *given, **more)[0])


BPE = Method(
    "bpe",
    "BPE",
    "The applicable merge of the lowest rank, leftmost first, until none applies; with tuple "
    "merges it is BTE.",
    Bte,
    "merges",
    source="Sennrich et al. 2016; Bauwens & Delobelle 2024",
    training=Training(
        "Merges the most frequent pair (Sennrich et al. 2016).", _trained, special=True
    ),
    standalone="morphgraph.standalone.merges:Merging",
)
BPE_PRIME = Method(
    "bpe-prime",
    "BPE′",
    "BPE in which every space is a token of its own.",
    None,
    "training",
    source="Gow-Smith et al. 2022",
    training=Training(
        "BPE in which every space is a token of its own (Gow-Smith et al. 2022).",
        _trained,
        unmarked=True,
    ),
)


def saved_tokeniser(document: Mapping[str, Any]) -> BpeTokeniser:
    """Return the tokeniser of a document, with the checksum of its origin."""
    name = shortened(" ".join(str(document.get("name", "tokeniser")).split()), 80)
    tokeniser = from_tokenizer_json(json.dumps(document.get("model")).encode(), name)
    stated = str(document.get("checksum", ""))
    if re.fullmatch(r"[0-9a-f]{12}(\+[0-9a-f]{12})?", stated):
        tokeniser.checksum = stated
    return tokeniser


def tokeniser_of_types(
    name: str, types: Iterable[str], merges: Iterable[Sequence[str]]
) -> BpeTokeniser:
    """Return a tokeniser of trained types, by id, preprocessing as their marker implies.

    Without a marker, a word is one piece. `MorphGraphError` without types.
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


def flat_lists(
    lists: Sequence[Sequence[int]],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Concatenate lists; return where each begins, and the last one ends."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(numbers) for numbers in lists], out=offsets[1:])
    return np.fromiter(chain.from_iterable(lists), np.int32, int(offsets[-1])), offsets
