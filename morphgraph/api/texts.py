"""Whole texts to ids and back, just as the `tokenizers` library does it by the tokeniser's file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.segment.segmenter import Segmenter
from morphgraph.standalone.pieces import let_decode_bytes, load
from morphgraph.tokeniser.export import known_ids
from morphgraph.tokeniser.words import UNKNOWN, Segmentation

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
