"""What the files of a tokeniser hold; each kind becomes a tokeniser or vocabulary in its way."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.limits import TYPE_CUTS
from morphgraph.formats.completing import document_of_class
from morphgraph.formats.hugging_face import (
    SPECIAL,
    assumed_document,
    check_limits,
    checked_vocabulary,
    from_document,
    model_in,
    model_kind,
    scored_types,
)
from morphgraph.formats.pipeline_parts import NO_PARTS, special_token
from morphgraph.formats.sentencepiece import bpe_document, is_bpe, text_parts, text_preparation
from morphgraph.formats.tokeniser_classes import CHARSMAP, FolderSettings, bert_parts, class_name
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN
from morphgraph.tokeniser.pipeline import added_tokens, added_tokens_of, preprocessor_of
from morphgraph.tokeniser.preprocess import BYTES, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary, detect_marker


class Content(ABC):
    """What a file holds; ``name``: of the file, in errors."""

    warnings: tuple[str, ...] = ()

    @property
    def has_merges(self) -> bool:
        """Whether words are segmented by merges alone."""
        return False

    @abstractmethod
    def check_limits(self, name: str) -> None:
        """Raise `FileFormatError` if it lists too much, or would make too many merges."""

    @abstractmethod
    def tokeniser(self, name: str, checksum: str) -> BpeTokeniser:
        """Return it as a BPE tokeniser; `NoMergesError` if it is none."""

    @abstractmethod
    def vocabulary(self, name: str) -> SubwordVocabulary:
        """Return its vocabulary; `FileFormatError` if it has none."""

    def of_class(self, settings: FolderSettings) -> tuple[dict[str, Any] | None, FolderSettings]:
        """Return what a class of `transformers` makes of it, if any, and the settings that count.

        The class is the one that the settings name, or that they then imply.
        """
        return None, settings


def _without_merges(name: str, problem: str, place: str = "") -> NoMergesError:
    return NoMergesError(name, place, problem, "Choose a BPE tokeniser.")


def _no_vocabulary(name: str) -> FileFormatError:
    fix = "Choose a list with one type per line, vocab.json or tokenizer.json."
    return FileFormatError(name, "", "it is not a vocabulary", fix)


@dataclass(frozen=True)
class SavedModel(Content):
    """The JSON of a model that was saved, by us or by the authors of a method; ``what`` it is."""

    document: Any
    what: str

    def check_limits(self, name: str) -> None:
        """Leave that to what reads it."""

    def tokeniser(self, name: str, checksum: str) -> BpeTokeniser:
        """Refuse it."""
        problem = f"this is a {self.what}, which does not segment by its merges alone"
        raise _without_merges(name, problem)

    def vocabulary(self, name: str) -> SubwordVocabulary:
        """Refuse it."""
        raise _no_vocabulary(name)


@dataclass(frozen=True)
class Document(Content):
    """A document laid out as ``tokenizer.json``.

    ``merges_name``: of the file of its merges, if that is another one.
    """

    document: dict[str, Any]
    merges_name: str = ""
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def has_merges(self) -> bool:
        """Whether its model is one of merges."""
        return model_kind(self.document["model"]) in ("BPE", "BTE")

    def check_limits(self, name: str) -> None:
        """Count all that it lists."""
        check_limits(self.document, name)

    def tokeniser(self, name: str, checksum: str) -> BpeTokeniser:
        """Return its tokeniser."""
        return from_document(self.document, name, checksum, self.merges_name)

    def of_class(self, settings: FolderSettings) -> tuple[dict[str, Any] | None, FolderSettings]:
        """Return itself; a vocabulary and its merges are prepared as a class does."""
        model = self.document["model"]
        document = self.merges_name and document_of_class(settings, model["vocab"], model["merges"])
        return document or self.document, settings

    def vocabulary(self, name: str) -> SubwordVocabulary:
        """Return its types, numbered by their ids in the file, from 0."""
        document = self.document
        model = model_in(document)
        if not model:
            raise _no_vocabulary(name)
        kind = model_kind(model)
        scores: dict[str, float] = {}
        unknown = model.get("unk_token")
        if kind == "Unigram":
            scores = scored_types(model.get("vocab"), name)
            vocabulary = {text: number for number, text in enumerate(scores)}
            number = model.get("unk_id")
            if number is not None and (
                not isinstance(number, int) or not 0 <= number < len(scores)
            ):
                problem = f"the id of the unknown token, {number!r}, is not in the vocabulary"
                raise FileFormatError(name, "field model.unk_id", problem, DOWNLOAD_AGAIN)
            unknown = None if number is None else list(scores)[number]
        elif kind in ("WordPiece", "BPE", "BTE") or {"method", "of"} & model.keys():
            vocabulary = checked_vocabulary(model.get("vocab"), name, "field model.vocab")
        else:
            problem = f"models of the type {kind} are not supported"
            fix = "Choose a WordPiece, Unigram or BPE tokeniser."
            raise FileFormatError(name, "field model.type", problem, fix)
        prefix = model.get("continuing_subword_prefix")
        if prefix not in (None, "", "##"):
            place = "field model.continuing_subword_prefix"
            problem = f"types inside a word are marked with {prefix!r}; only “##” is supported"
            raise FileFormatError(name, place, problem, "Choose another tokeniser.")
        longest = model.get("max_input_chars_per_word")
        if longest is not None and (type(longest) is not int or longest < 1):
            place = "field model.max_input_chars_per_word"
            problem = f"it is {longest!r:.40} instead of a whole number of 1 or more"
            raise FileFormatError(name, place, problem, "Write 100, as in BERT.")
        ids = vocabulary | added_tokens(document, vocabulary, name)
        types = sorted(ids, key=ids.__getitem__)
        preprocessor = preprocessor_of(document, name, ids)
        special = {token["content"] for token in document.get("added_tokens") or []}
        if preprocessor.sentencepiece is not None:
            # User-defined symbols are ordinary strings where substrings are looked up.
            special.difference_update(preprocessor.sentencepiece.symbols)
            text = replace(preprocessor.sentencepiece, symbols=())
            preprocessor = replace(preprocessor, sentencepiece=text)
        lists = ("vocab", "merges", "levels")
        rest = {key: held for key, held in model.items() if key not in lists}
        unknown = unknown if isinstance(unknown, str) and unknown in ids else None
        if unknown is not None:
            special.add(unknown)
        marker = detect_marker(types)
        if kind == "WordPiece" and prefix != "":
            marker = "##"
        elif kind == "WordPiece":  # types inside a word are as at its start
            marker = "" if marker == "##" else marker
        elif prefix:
            marker = "##"
        in_text = special & vocabulary.keys() if kind in ("Unigram", "WordPiece") else ()
        return SubwordVocabulary(
            tuple(types),
            marker,
            preprocessor,
            frozenset(special),
            unknown,
            name,
            # Added tokens are found before the model runs, so their scores do not matter.
            tuple(scores.get(text, 0.0) for text in types) if scores else None,
            file_ids=_file_ids(types, ids),
            file={**document, "model": rest},
            in_text=frozenset(in_text),
        )


@dataclass(frozen=True)
class TypeList(Content):
    """A list of types with their ids, which does not say how text is normalised.

    This follows BERT (``##``; lowercased if no type has a capital), GPT-2 (``Ġ``) and SentencePiece
    (``▁``), by the marker of most types.
    """

    ids: dict[str, int]

    def check_limits(self, name: str) -> None:
        """Count its types."""
        check_limits({"model": {"vocab": self.ids}}, name)

    def tokeniser(self, name: str, checksum: str) -> BpeTokeniser:
        """Refuse it."""
        raise _without_merges(name, "this is a list of types, which has no merges")

    def of_class(self, settings: FolderSettings) -> tuple[dict[str, Any] | None, FolderSettings]:
        """Return what the class makes of them; without one, types with ``##`` are BERT's."""
        if not class_name(settings) and any(text.startswith("##") for text in self.ids):
            cased = any(text != text.lower() for text in self.ids if not SPECIAL.fullmatch(text))
            bert = {"tokenizer_class": "BertTokenizer"}
            settings = {"do_lower_case": not cased, **settings, **bert}
        return document_of_class(settings, self.ids), settings

    def vocabulary(self, name: str) -> SubwordVocabulary:
        """Return them, numbered by their ids, from 0."""
        ids = self.ids
        types = sorted(ids, key=ids.__getitem__)
        marker = detect_marker(types)
        special = frozenset(text for text in types if SPECIAL.fullmatch(text)) - set(BYTES)
        file = _usual_file(marker, types, ids, special)
        document = {**file, "model": {"byte_fallback": marker == "▁"}}
        return SubwordVocabulary(
            tuple(types),
            marker,
            replace(preprocessor_of(document, name, ids), leading_space=marker == "Ġ"),
            special,
            next((text for text in _UNKNOWN if text in special), None),
            name,
            file_ids=_file_ids(types, ids),
            file=file,
        )


@dataclass(frozen=True)
class SentencePieceModel(Content):
    """The message of a SentencePiece model."""

    model: Any

    @property
    def has_merges(self) -> bool:
        """Whether it is a model of BPE."""
        return is_bpe(self.model)

    def check_limits(self, name: str) -> None:
        """Count its types, and the ways to cut them, from which merges come."""
        texts = [piece.piece for piece in self.model.pieces]
        if self.has_merges:
            TYPE_CUTS.check(sum(len(text) ** 2 for text in texts), name)
        check_limits({"model": {"vocab": dict.fromkeys(texts)}}, name)

    def tokeniser(self, name: str, checksum: str) -> BpeTokeniser:
        """Return its tokeniser, with all merges that its types imply."""
        if not self.has_merges:
            problem = "this is a Unigram model of SentencePiece, which has no merges"
            raise _without_merges(name, problem, "field trainer_spec")
        tokeniser = from_document(bpe_document(self.model, name), name, checksum)
        if tokeniser.unused:
            tokeniser.warnings += (
                f"{len(tokeniser.unused):,} types are marked as unused. sentencepiece takes them "
                "apart after all merges; in the merge graph they are ordinary types.",
            )
        return tokeniser

    def of_class(self, settings: FolderSettings) -> tuple[dict[str, Any] | None, FolderSettings]:
        """Return what the class makes of its types, their scores and its symbols."""
        model, kind = self.model, self.model.SentencePiece
        listed = settings.get("extra_special_tokens") or settings.get("additional_special_tokens")
        symbols = [
            {"content": piece.piece, "normalized": False, "special": piece.type == kind.CONTROL}
            for piece in model.pieces
            if piece.type in (kind.CONTROL, kind.USER_DEFINED)
        ]
        named = listed.values() if isinstance(listed, dict) else listed or ()
        held = {
            **settings,
            CHARSMAP: model.normalizer_spec.precompiled_charsmap,
            "extra_special_tokens": [*named, *symbols],
            "additional_special_tokens": None,
        }
        pieces = [[piece.piece, piece.score] for piece in model.pieces]
        return document_of_class(held, pieces), settings

    def vocabulary(self, name: str) -> SubwordVocabulary:
        """Return its types, with the scores of a Unigram model."""
        model, kind = self.model, self.model.SentencePiece
        pieces = list(model.pieces)
        types = tuple(piece.piece for piece in pieces)
        hidden = (kind.CONTROL, kind.UNKNOWN, kind.UNUSED)
        unknown = next((piece.piece for piece in pieces if piece.type == kind.UNKNOWN), None)
        scores = None
        if not self.has_merges:
            # The score of a user-defined symbol in SentencePiece 0.2.3: a tenth per further byte.
            scores = tuple(
                (len(p.piece.encode()) - 1) / 10 if p.type == kind.USER_DEFINED else p.score
                for p in pieces
            )
        settings = model.normalizer_spec
        file = text_parts(model)
        # User-defined symbols are ordinary types, found in normalised text.
        file["added_tokens"] = [token for token in file["added_tokens"] if token["special"]]
        return SubwordVocabulary(
            types,
            detect_marker(types),
            Preprocessor(
                sentencepiece=text_preparation(model),
                leading_space=not settings.add_dummy_prefix
                and not settings.remove_extra_whitespaces,
                byte_fallback=model.trainer_spec.byte_fallback,
                added=added_tokens_of(file),
            ),
            frozenset(piece.piece for piece in pieces if piece.type in hidden),
            unknown,
            name,
            scores,
            single=True,
            file=file,
        )


_UNKNOWN = ("[UNK]", "<unk>")
_RESERVED = re.compile(r"\[unused\d+\]")


def _usual_file(
    marker: Marker, types: Sequence[str], ids: Mapping[str, int], special: frozenset[str]
) -> dict[str, Any]:
    """Return what a complete file of this kind would contain, as BERT's or GPT-2's does."""
    parts = {**NO_PARTS}
    if marker == "##":
        uncased = all(text == text.lower() for text in types if text not in special)
        parts |= bert_parts({"do_lower_case": uncased})
        if {"[CLS]", "[SEP]"} <= special:
            both = {"sep": ["[SEP]", ids["[SEP]"]], "cls": ["[CLS]", ids["[CLS]"]]}
            parts["post_processor"] = {"type": "BertProcessing", **both}
    elif marker:
        usual = assumed_document({marker: 0}, [])
        parts = {part: usual[part] for part in parts}
    # BERT's own tokeniser treats the names of its reserved types as text.
    added = [
        special_token(text, number)
        for text, number in ids.items()
        if text in special and not _RESERVED.fullmatch(text)
    ]
    return {"added_tokens": added, **parts}


def _file_ids(types: Sequence[str], ids: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the ids of types in the file; None if they are 0, 1, 2 and so on."""
    numbers = tuple(ids[text] for text in types)
    return None if numbers == tuple(range(len(types))) else numbers
