"""A vocabulary of subword types without merges, for looking up substrings."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum, document_field
from morphgraph.core.text import base_name
from morphgraph.tokeniser.encoding import WordEncoder
from morphgraph.tokeniser.pipeline import (
    added_tokens,
    preprocessor_document,
    preprocessor_from,
    preprocessor_state,
)
from morphgraph.tokeniser.preprocess import BYTES, Preprocessor, readable_bytes, shown_token
from morphgraph.tokeniser.words import UNKNOWN, Words

if TYPE_CHECKING:
    from morphgraph.kernels.trie import Trie

Marker: TypeAlias = Literal["##", "Ġ", "▁", ""]
"""What a vocabulary marks: `##` types inside a word; `Ġ` and `▁` types that start one; nothing."""

PLAIN, MARKED = 0, 1
"""The two forms of a string in the trie: plain, and with the marker before it."""


def detect_marker(types: Sequence[str]) -> Marker:
    """Return the marker that most types have; none if no type has one."""
    choices: tuple[Marker, ...] = ("##", "▁", "Ġ")
    counts = {
        marker: sum(text.startswith(marker) and text != marker for text in types)
        for marker in choices
    }
    best = max(choices, key=counts.__getitem__)
    return best if counts[best] else ""


@dataclass(frozen=True)
class SubwordVocabulary:
    """Types, their marker, and the preprocessing of texts.

    ``types``: the strings, by id, each once. ``marker``: ``##`` stands before types inside a word,
    ``Ġ`` or ``▁`` before types that start one. ``preprocessor``: the tokeniser's own pipeline.
    ``special``: types that no substring of a text matches; those ``in_text`` are found there by
    Unigram and WordPiece all the same, as by the `tokenizers` library. ``unknown``: the type for
    what no type covers. ``scores``: the log-probability of each type, where there are any;
    ``single``: they were summed in single precision. ``file_ids``: the id in the file of each type,
    where they are not 0, 1, 2 and so on. ``file``: the other content of the file, laid out as
    ``tokenizer.json`` without types, merges and scores; it is for the defaults of methods and for
    exports. ``warnings``: for the user. `MorphGraphError` if these are inconsistent.
    """

    types: tuple[str, ...]
    marker: Marker = ""
    preprocessor: Preprocessor = field(default_factory=Preprocessor)
    special: frozenset[str] = frozenset()
    unknown: str | None = None
    name: str = "vocabulary"
    scores: tuple[float, ...] | None = None
    single: bool = False
    file_ids: tuple[int, ...] | None = None
    file: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    in_text: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        faults = {
            f"“{self.marker}” is not a known marker. Choose ##, Ġ, ▁ or none.": (
                self.marker not in get_args(Marker)
            ),
            "The vocabulary has no types, or has an empty one. Remove that one.": (
                not self.types or not all(self.types)
            ),
            "A type is in the vocabulary more than once. Keep one of them.": (
                len(self.ids) < len(self.types)
            ),
            f"The unknown token “{self.unknown}” is not in the vocabulary. Add it to the types.": (
                self.unknown is not None and self.unknown not in self.ids
            ),
            "There are not as many ids as types. Give each type one id.": (
                self.file_ids is not None and len(self.file_ids) != len(self.types)
            ),
        }
        if problem := next((text for text, is_so in faults.items() if is_so), ""):
            raise MorphGraphError(problem)
        if self.scores is not None:
            check_scores(self.scores, self.types)

    def vocabulary_id(self, token: int) -> int | None:
        """Return the id of a type in the file; None for an unknown character."""
        if not 0 <= token < len(self.types):
            return None
        return token if self.file_ids is None else self.file_ids[token]

    @property
    def vocabulary_size(self) -> int:
        """|V|, special types included."""
        return len(self.types)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each type."""
        return {text: number for number, text in enumerate(self.types)}

    @property
    def file_model(self) -> Mapping[str, Any]:
        """The settings of the model in the file, without types; empty if there are none."""
        model: Mapping[str, Any] = (self.file or {}).get("model") or {}
        return model

    @property
    def initial_form(self) -> int:
        """The form in the trie of types that start a word: `PLAIN` or `MARKED`."""
        return MARKED if self.marker in ("Ġ", "▁") else PLAIN

    @property
    def spelled_forms(self) -> tuple[int, int]:
        """The forms in the trie that spell a piece, marker included: at its start, later."""
        return (PLAIN, MARKED) if self.marker == "##" else (PLAIN, PLAIN)

    @cached_property
    def byte_fallback(self) -> bool:
        """Whether characters without a type are written as bytes ``<0x..>``."""
        return self.preprocessor.byte_fallback and all(byte in self.ids for byte in BYTES)

    @cached_property
    def atoms(self) -> dict[str, int]:
        """The alphabet with its ids: characters of types, and bytes as a fallback."""
        texts: dict[str, None] = {}
        byte_types = set(BYTES) if self.byte_fallback else set()
        for text in self.types:
            if text in byte_types:
                texts[text] = None
            elif text not in self.special or text in self.in_text:
                characters = self._characters(text)
                if not self.byte_fallback or len(characters) == 1:
                    texts.update(dict.fromkeys(characters))
        return {text: number for number, text in enumerate(texts)}

    @cached_property
    def added(self) -> dict[str, int]:
        """The added tokens that are types, with ids in encoded words, after the alphabet's."""
        contents = (token.content for token in self.preprocessor.added)
        texts = dict.fromkeys(text for text in contents if text in self.ids)
        return {text: number for number, text in enumerate(texts, start=len(self.atoms))}

    def _characters(self, text: str) -> Sequence[str]:
        """Return the characters of a string; an end-of-word suffix belongs to the last one."""
        suffix = self.preprocessor.suffix
        if suffix and text.endswith(suffix) and len(text) > len(suffix):
            return [*text[: -len(suffix) - 1], text[-len(suffix) - 1 :]]
        return text

    @cached_property
    def trie(self) -> "Trie":
        """The types by their characters, in both forms, without special ones."""
        return self._trie_with(frozenset())

    @cached_property
    def full_trie(self) -> "Trie":
        """The types by their characters, in both forms, with the special ones `in_text`."""
        return self._trie_with(self.in_text) if self.in_text else self.trie

    def _trie_with(self, in_text: frozenset[str]) -> "Trie":
        from morphgraph.kernels.trie import ABSENT, Trie, build_trie

        atom_count = len(self.atoms) + len(self.added)
        atom_types = np.full(atom_count, ABSENT, np.int32)
        bytes_ = set(BYTES) if self.byte_fallback else set()
        entries: list[tuple[list[int], int, int]] = []
        for number, text in enumerate(self.types):
            if text in self.added:
                entries += [([self.added[text]], number, form) for form in (PLAIN, MARKED)]
            if text in bytes_:
                atom_types[self.atoms[text]] = number
            elif text in in_text or not (text in self.added or text in self.special):
                path = self.path(text)
                entries.append((path, number, PLAIN))
                if self.marker and text.startswith(self.marker) and text != self.marker:
                    body = self.path(text[len(self.marker) :])
                    entries.append((body, number, MARKED))
        offsets = np.zeros(len(entries) + 1, np.int64)
        np.cumsum([len(path) for path, *_ in entries], out=offsets[1:])
        table, root, ends, depth = build_trie(
            np.array([atom for path, *_ in entries for atom in path], np.int32),
            offsets,
            np.array([number for _, number, _ in entries], np.int32),
            np.array([form for *_, form in entries], np.int64),
            atom_count,
        )
        return Trie(table, root, ends, int(depth), atom_types)

    @cached_property
    def _encoder(self) -> WordEncoder:
        # Each segmenter decides which token stands for an unknown character.
        own = replace(
            self.preprocessor,
            unknown=None,
            fuse_unknown=False,
            byte_fallback=self.byte_fallback,
        )
        return WordEncoder(own, self.atoms, self.added)

    @cached_property
    def _atom_texts(self) -> tuple[str, ...]:
        return (*self.atoms, *self.added)

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as characters of the alphabet, as in running text.

        ``bare``: as whole texts of their own.
        """
        return self._encoder.encode(words, bare=bare)

    def atom_text(self, words: Words, atom: int) -> str:
        """Return the character at a position of ``words.atoms``."""
        number = int(words.atoms[atom])
        return words.unknown.get(atom, "�") if number == UNKNOWN else self._atom_texts[number]

    def path(self, text: str) -> list[int]:
        """The atoms of a type's string, `UNKNOWN` ones included."""
        atoms = self.atoms
        if not self.byte_fallback:
            return [atoms.get(character, UNKNOWN) for character in self._characters(text)]
        path = []
        for character in self._characters(text):
            atom = atoms.get(character)
            if atom is not None:
                path.append(atom)
            else:
                path += [atoms[BYTES[byte]] for byte in character.encode()]
        return path

    @property
    def unknown_id(self) -> int:
        """The type for what no type covers; `UNKNOWN` if there is none."""
        return UNKNOWN if self.unknown is None else self.ids[self.unknown]

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the text of a token that ends at an atom, as in `BpeTokeniser.token_text`."""
        if token in (UNKNOWN, self.unknown_id):
            return self.atom_text(words, atom)
        return self._decoded(token)

    def readable(self, token: int) -> str:
        """Return a readable type: ``␣`` for the marker, bytes as whole characters if possible."""
        text = self.types[token]
        return text if text in self.special else shown_token(self._decoded(token))

    def _decoded(self, token: int) -> str:
        text = self.types[token]
        is_plain = not self.preprocessor.byte_level or text in self.special
        return text if is_plain else readable_bytes(text)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON data; `MorphGraphError` if the pipeline is Python code."""
        return {
            "name": self.name,
            "types": list(self.types),
            "marker": self.marker,
            "special": sorted(self.special),
            "unknown": self.unknown,
            "scores": None if self.scores is None else list(self.scores),
            "single": self.single,
            **({} if self.file_ids is None else {"ids": list(self.file_ids)}),
            "preprocessor": preprocessor_document(self.preprocessor),
            **({"in_text": sorted(self.in_text)} if self.in_text else {}),
            **({} if self.file is None else {"file": {**self.file}}),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "SubwordVocabulary":
        """Read the result of `document`; anything else is a `MorphGraphError`."""
        scores = document_field(document, "scores", list, optional=True)
        ids = document_field(document, "ids", list, of=int, optional=True)
        return cls(
            types=tuple(document_field(document, "types", list, of=str)),
            marker=document_field(document, "marker", str),
            preprocessor=preprocessor_from(document_field(document, "preprocessor", dict)),
            special=frozenset(document_field(document, "special", list, of=str)),
            unknown=document_field(document, "unknown", str, optional=True),
            name=document_field(document, "name", str),
            scores=None if scores is None else tuple(scores),
            single=document_field(document, "single", bool),
            file_ids=None if ids is None else tuple(ids),
            file=_checked_file(document_field(document, "file", dict, optional=True), document),
            in_text=frozenset(
                document_field(document, "in_text", list, of=str, optional=True) or ()
            ),
        )

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of everything that segmentation depends on, the first 12 digits."""
        content = {**self.document(), "name": None}
        content.pop("ids", None)
        content.pop("file", None)
        return checksum(json.dumps(content, ensure_ascii=False, sort_keys=True).encode())

    @cached_property
    def state(self) -> State:
        """The identity of types with ids, scores, marker and pipeline; the name is not in it."""
        own = (self.types, self.marker, sorted(self.special), self.unknown, self.scores)
        pipeline = preprocessor_state(self.preprocessor)
        more = [sorted(self.in_text)] if self.in_text else []
        return State.of("vocabulary", *own, self.single, self.file_ids, pipeline, *more)

    def signature(self) -> str:
        """The file's name and the content's checksum: ``bert.txt@0a1b2c3d4e5f``."""
        return f"{base_name(self.name)}@{self.checksum}"


_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "padding", "truncation")


def _checked_file(
    file: dict[str, Any] | None, document: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the other content of a file, if it is laid out as ``tokenizer.json``."""
    if file is None:
        return None
    for part in (*_PARTS, "model"):
        document_field(file, part, dict, optional=True)
    text = document_field(file.get("model") or {}, "sentencepiece", dict, optional=True)
    document_field(text or {}, "symbols", list, of=str, optional=True)
    types = document["types"]
    numbers = document.get("ids") or range(len(types))
    added_tokens(file, dict(zip(types, numbers, strict=False)), "model")
    return file


def check_scores(scores: Sequence[Any], types: Sequence[str]) -> None:
    """Refuse log-probabilities that are not one finite number for each type."""
    if len(scores) != len(types):
        raise MorphGraphError(
            f"There are {len(scores):,} log-probabilities for {len(types):,} types. Give one each."
        )
    for text, score in zip(types, scores, strict=True):
        try:
            is_finite = type(score) in (int, float) and math.isfinite(score)
        except OverflowError:
            is_finite = False
        if not is_finite:
            raise MorphGraphError(
                f"The log-probability of “{text}” is {score!r}. Give a finite number."
            )
