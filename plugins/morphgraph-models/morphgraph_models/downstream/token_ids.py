"""Texts as ids of a model's rows, segmented by any method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import decoders

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.kernels import DROPPED
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.words import UNKNOWN, Segmentation
from morphgraph_models.checkpoint import CONFIG, read_checkpoint, read_config
from morphgraph_models.downstream.gold_morphs import GoldMorphs
from morphgraph_models.model_vocabulary import special_roles

IdArray = npt.NDArray[np.int64]

ROLES = ("pad", "unk", "bos", "eos", "mask")
"""The first special ids of a model made from scratch, in this order."""


@dataclass(frozen=True)
class TokenIds:
    """A mapping from a segmenter's tokens to ids of a model.

    ``numbers``: int64, the id of each type; -1 for an absent one. ``size``: the number of rows of
    the model. ``special``: the ids of `ROLES`. ``gold``: words that are segmented by their morphs.
    """

    segmenter: Segmenter
    numbers: IdArray
    size: int
    special: Mapping[str, int]
    by_id: Mapping[int, str] = field(repr=False)
    gold: GoldMorphs | None = field(default=None, repr=False)

    def samples(self, texts: Sequence[str], draws: int = 1) -> Sequence[Segmentation]:
        """Segment whole texts; with a random method, draw the first ``draws`` samples."""
        words = self.segmenter.encode(texts, bare=True)
        draws = draws if self.segmenter.is_random else 1
        if self.gold is None:
            return self.segmenter.samples(words, draws)
        return [*map(self.gold.applied, self.segmenter.samples(self.gold.cut(words), draws))]

    def encode(self, texts: Sequence[str], draws: int = 1) -> list[list[IdArray]]:
        """Return the ids of whole texts in each of the samples."""
        return [self.of(each) for each in self.samples(texts, draws)]

    def plain(self) -> TokenIds:
        """The same without sampling, for tests: dropout is for training only."""
        return replace(self, segmenter=self.segmenter.undrawn)

    def of(self, segmentation: Segmentation) -> list[IdArray]:
        """Return the ids of a segmentation's tokens, text by text."""
        kept = np.flatnonzero(segmentation.token_at >= 0)
        ids = self.ids_of(segmentation.token_at[kept])
        bounds = np.searchsorted(kept, segmentation.words.word_offsets)
        return [ids[start:end] for start, end in pairwise(bounds.tolist())]

    def ids_of(self, tokens: npt.NDArray[np.int32]) -> IdArray:
        """Return the ids of types; unknown or absent ones get that of the unknown token."""
        known = tokens != UNKNOWN
        ids: IdArray = np.full(len(tokens), -1, np.int64)
        ids[known] = self.numbers[tokens[known]]
        ids[ids < 0] = self.special["unk"]
        return ids

    def uncovered(self, texts: Sequence[str]) -> float:
        """Return the share of atoms, such as characters, that have no known token."""
        words = self.segmenter.encode(texts, bare=True)
        tokens = self.segmenter.segment(words).token_at
        types = self.segmenter.types
        unknown = [number for number, text in enumerate(types) if text in _UNKNOWN_TYPES]
        lost = np.isin(tokens, [UNKNOWN, DROPPED, *unknown])
        total = len(lost) + len(words.left_out)
        return (int(lost.sum()) + len(words.left_out)) / total if total else 0.0


_UNKNOWN_TYPES = ("<unk>", "[UNK]", "<UNK>", "<|unk|>")


def framed(rows: Sequence[IdArray], ids: TokenIds, most: int) -> list[IdArray]:
    """Put texts between the special start and end ids, cut to at most ``most`` ids in all."""
    start, end = [ids.special["bos"]], [ids.special["eos"]]
    return [np.concatenate([start, row[: most - 2], end]).astype(np.int64) for row in rows]


def framed_pairs(
    firsts: Sequence[IdArray], seconds: Sequence[IdArray], ids: TokenIds, most: int
) -> tuple[list[IdArray], list[int]]:
    """Join pairs of texts: a start id, the first one, an end id, the second one, an end id.

    To fit in ``most`` ids, the longer text loses its last ones first, as in BERT. Returns the rows,
    and where the second text begins in each.
    """
    start, end, room = [ids.special["bos"]], [ids.special["eos"]], most - 3
    rows, begins = [], []
    for first, second in zip(firsts, seconds, strict=True):
        first = first[: max(room - len(second), (room + 1) // 2)]
        second = second[: room - len(first)]
        rows.append(np.concatenate([start, first, end, second, end]).astype(np.int64))
        begins.append(len(first) + 2)
    return rows, begins


def dense_ids(segmenter: Segmenter) -> TokenIds:
    """Number all present types without gaps after the special ids, for a new model."""
    inventory = segmenter.inventory()
    present = sorted((*inventory.special, *inventory.spelled))
    numbers = np.full(len(segmenter.types), -1, np.int64)
    numbers[present] = np.arange(len(ROLES), len(ROLES) + len(present))
    special = {role: number for number, role in enumerate(ROLES)}
    types = segmenter.types
    by_id = {len(ROLES) + place: types[number] for place, number in enumerate(present)}
    return TokenIds(segmenter, numbers, len(ROLES) + len(present), special, by_id)


_NAMED = {
    "pad": ("pad_token",),
    "unk": ("unk_token",),
    "bos": ("cls_token", "bos_token"),
    "eos": ("sep_token", "eos_token"),
    "mask": ("mask_token",),
}
"""The names of each role's token in a folder's ``tokenizer_config.json``."""


def folder_ids(segmenter: Segmenter, folder: str) -> TokenIds:
    """Return the ids of the model in a folder, whose vocabulary the segmenter must share.

    Special ids come from ``tokenizer_config.json``, ``special_tokens_map.json`` and
    ``config.json``; a missing one is that of the end of text, else of padding, else 0. Raises
    `MorphGraphError` for types without a row in the model.
    """
    config = read_config(Path(folder) / CONFIG)
    size = config.get("vocab_size")
    if not isinstance(size, int):
        fix = "Give a folder that save_pretrained wrote."
        raise FileFormatError(str(Path(folder) / CONFIG), "", "it has no vocab_size", fix)
    inventory = segmenter.inventory()
    numbers = np.full(len(segmenter.types), -1, np.int64)
    by_id: dict[int, str] = {}
    for number in (*inventory.special, *inventory.spelled):
        own = segmenter.vocabulary_id(number)
        if own is None or own >= size:
            text = segmenter.types[number][:40]
            raise MorphGraphError(
                f"{folder}: the model has no row for the type “{text}”. Carry its embeddings over "
                "to this tokeniser first: morphgraph transplant."
            )
        numbers[number] = own
        by_id[own] = segmenter.types[number]
    texts = {text: number for number, text in by_id.items()}
    special = _special(Path(folder), config, texts)
    return TokenIds(segmenter, numbers, size, special, by_id)


def _special(folder: Path, config: Mapping[str, Any], ids: Mapping[str, int]) -> dict[str, int]:
    named = special_roles(settings_beside(folder))
    special: dict[str, int] = {}
    for role, names in _NAMED.items():
        known = (ids[named[name]] for name in names if named.get(name) in ids)
        number = next(known, config.get(f"{role}_token_id"))
        if isinstance(number, int):
            special[role] = number
    usual = special.get("eos", special.get("pad", 0))
    return {role: special.get(role, usual) for role in ROLES}


def model_files(folder: str) -> list[str]:
    """List the files of a checkpoint that affect results; `FileFormatError` if it is none."""
    names = [CONFIG, *read_checkpoint(folder).files]
    names += ["special_tokens_map.json", "tokenizer_config.json"]
    return [str(path) for name in names if (path := Path(folder) / name).is_file()]


def decoded(pieces: Sequence[str], segmenter: Segmenter) -> str:
    """Return the text that types spell, with their tokeniser's marker resolved."""
    if segmenter.preprocessor.byte_level:  # types are written in GPT-2's alphabet of bytes
        text: str = decoders.ByteLevel().decode(list(pieces))
    elif segmenter.inventory().marker == "##":
        text = decoders.WordPiece(prefix="##", cleanup=False).decode(list(pieces))
    else:
        text = "".join(pieces).replace("▁", " ")
    return text.strip()
