"""Types by their ids in a model, and how one vocabulary writes the types of another."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError, NoMergesError
from morphgraph.core.files import parse_json, read_bytes
from morphgraph.core.text import shortened
from morphgraph.formats.hub import check_is_here
from morphgraph.formats.loading import load_tokeniser, load_vocabulary
from morphgraph.formats.opening import tokeniser_files
from morphgraph.formats.tokeniser_classes import token_content
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.segment.models import merging_class
from morphgraph.segment.pieces import PieceKernel
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.standalone.piece_methods import Pieces, byte_parts
from morphgraph.tokeniser.merging import words_of_atoms
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, BYTES, CHAR_TO_BYTE
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

AS_BYTES = "bytes"
_METHOD_FILE = "tokeniser.method.json"
_BYTE_OF = {text: bytes([number]) for number, text in enumerate(BYTES)}
_LONE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class ModelVocabulary:
    """A tokeniser as a model sees it.

    ``ids``: the id of each type, special and added ones included. ``special``: the special and
    added types. ``writing``: how types encode text: `AS_BYTES`, with ``▁``, ``Ġ`` or ``##`` as
    marker, with a suffix such as ``</w>``, or as is. ``source``: the file that defines the
    segmentation; ``vocabulary``: its types without merges.
    """

    name: str
    ids: Mapping[str, int]
    special: frozenset[str]
    writing: str
    source: str
    vocabulary: SubwordVocabulary

    @property
    def id_count(self) -> int:
        """The number of rows that a model needs: the highest id plus one."""
        return max(self.ids.values()) + 1

    @cached_property
    def loaded(self) -> BpeTokeniser | SubwordVocabulary:
        """The loaded tokeniser, with its merges if it has any; read on demand."""
        if Path(self.source).name == _METHOD_FILE:
            raise self._other_method("looked at")
        try:
            return load_tokeniser(self.source)
        except NoMergesError:
            return self.vocabulary

    @cached_property
    def _ordinary(self) -> SubwordVocabulary:
        """The types as ordinary text has them: no letter is known from a special type's name."""
        return replace(self.vocabulary, in_text=frozenset())

    def _other_method(self, what: str) -> FileFormatError:
        problem = f"a tokeniser of this method cannot be {what}"
        return FileFormatError(
            self.source, "", problem, "Name the tokeniser that it was made from."
        )

    @cached_property
    def _merging(self) -> tuple[Pieces, Pieces] | None:
        """Mergers for inside a word and for its end; None without merges.

        They need no merge graph, which takes longer to build.
        """
        model = self._model
        kind = model.get("type", "BPE" if "merges" in model else None)
        merger = merging_class(kind)
        if merger is None:
            if Path(self.source).name == _METHOD_FILE:
                raise self._other_method("asked for the tokens of new types")
            return None
        try:
            last = merger(model)
            suffix = model.get("end_of_word_suffix")
            inside = merger({**model, "end_of_word_suffix": None}) if suffix else last
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"its merges and types do not fit together ({shortened(repr(error), 80)})"
            fix = "Save the tokeniser again."
            raise FileFormatError(self.source, "field model", problem, fix) from error
        inside.training = last.training = False
        inside.kernel_for = last.kernel_for = PieceKernel
        return inside, last

    @property
    def _model(self) -> Mapping[str, Any]:
        """The model section of a tokenizer.json, or its equivalent for other formats."""
        if Path(self.source).suffix == ".json":
            document = parse_json(read_bytes(self.source), self.source)
        else:
            document = getattr(self.loaded, "document", None)
        model = document.get("model") if isinstance(document, dict) else None
        return model if isinstance(model, dict) else {}

    def text_of(self, type_: str) -> bytes:
        """Return the UTF-8 text of a type, with a leading space where it starts a word."""
        if type_ in self.special:
            return type_.encode()
        if self.writing == AS_BYTES:
            if all(character in CHAR_TO_BYTE for character in type_):
                return bytes(CHAR_TO_BYTE[character] for character in type_)
            return type_.encode()
        if self.writing == "##":
            if type_ in _BYTE_OF:
                return _BYTE_OF[type_]
            start, body = self._start(type_)
            return body.encode() if start else f" {type_}".encode()
        marker = self.writing if self.writing in ("▁", "Ġ") else " "
        return b"".join(
            _BYTE_OF.get(part, part.replace(marker, " ").encode()) for part in byte_parts(type_)
        )

    def size_of(self, type_: str) -> int:
        """Return the number of characters of a type's text; a sign for a space counts as one.

        Bytes that are no whole character count as U+FFFD, which they decode to.
        """
        suffix = self.vocabulary.preprocessor.suffix
        text = self.text_of(type_).decode(errors="replace")
        return len(text.removesuffix(suffix)) + (bool(suffix) and text.endswith(suffix))

    def written(self, text: bytes) -> str:
        """Write a text as types do (inverse of `text_of`); invalid UTF-8 becomes `BYTES`."""
        if self.writing == AS_BYTES:
            return "".join(BYTE_TO_CHAR[byte] for byte in text)
        # A lone surrogate stands for each byte that belongs to no character.
        string = text.decode(errors="surrogateescape")
        if self.writing == "##":
            body = string.strip(" ") or string
            # BERT splits off punctuation, so it always starts a piece.
            starts = string.startswith(" ") or not any(map(str.isalnum, body))
            string = body if starts else f"##{body}"
        elif self.writing in ("▁", "Ġ"):
            string = string.replace(" ", self.writing)
        return _LONE.sub(lambda half: BYTES[ord(half.group()) - 0xDC00], string)

    def spelled(self, other: "ModelVocabulary", type_: str) -> str:
        """Return a type of another vocabulary as this one writes it.

        Special and added tokens stay as they are if this vocabulary has them too.
        """
        if self.writing == other.writing or (type_ in other.special and type_ in self.ids):
            return type_
        return self.written(other.text_of(type_))

    def tokens_of(self, spelled: Sequence[str]) -> list[list[int]]:
        """Return the token ids of strings that are written as this vocabulary writes them.

        A string's marker says where in a word it stands. It is normalised if some of its characters
        are unknown; those that remain unknown have no token.
        """
        if not spelled:
            return []
        if self._merging is not None:
            return self._merged(spelled, *self._merging)
        segmenter = standard_segmenter(self._ordinary).forgiving
        pieces = [self._pieces(text) for text in spelled]
        flat = list(chain.from_iterable(pieces))
        result = segmenter.segment(words_of_atoms(flat, [self._atoms(piece) for piece in flat]))
        numbers = {token: self.vocabulary.vocabulary_id(token) for token in set(result.token_at)}
        numbers |= dict.fromkeys((UNKNOWN, segmenter.unknown_id))
        tokens = (
            [number for token in result.tokens(place) if (number := numbers.get(token)) is not None]
            for place in range(len(flat))
        )
        return [list(chain.from_iterable(islice(tokens, len(own)))) for own in pieces]

    def _pieces(self, text: str) -> list[str]:
        """Split a string as BERT does, at spaces and around punctuation, and write each piece."""
        cut = self.vocabulary.preprocessor.pre_tokenizer
        if self.writing != "##" or cut is None:
            return [text]
        start, body = self._start(text)
        pieces = [piece for piece, _ in cut.pre_tokenize_str(body)]
        if start and pieces and any(map(str.isalnum, pieces[0])):
            pieces[0] = f"##{pieces[0]}"
        return pieces

    def _start(self, text: str) -> tuple[str, str]:
        """Split off the mark of a string that is inside a word."""
        inside = self.writing == "##" and text.startswith("##") and text != "##"
        return (text[:2], text[2:]) if inside else ("", text)

    def _merged(self, spelled: Sequence[str], inside: Pieces, last: Pieces) -> list[list[int]]:
        suffix = self.vocabulary.preprocessor.suffix
        ends = [bool(suffix) and text.endswith(suffix) and text != suffix for text in spelled]
        steps = [last if end else inside for end in ends]
        pieces = [
            text.removesuffix(suffix) if end else text
            for text, end in zip(spelled, ends, strict=True)
        ]
        for step in {id(step): step for step in steps}.values():
            step.fill(piece for piece, own in zip(pieces, steps, strict=True) if own is step)
        return [self._tokens(step, piece) for step, piece in zip(steps, pieces, strict=True)]

    def _tokens(self, step: Pieces, piece: str) -> list[int]:
        parts = byte_parts(piece)
        if len(parts) > 1:
            return [number for part in parts for number in self._tokens(step, part)]
        if piece in _BYTE_OF:
            return [self.ids[piece]] if piece in self.ids else []
        named: list[int] = []
        for form in (piece, self._normalised(piece)):
            tokens = step(form)
            named = [token.id for token in tokens if token.id != step.unknown]
            # Merging itself does not count what it leaves out.
            if len(named) == len(tokens) and not Pieces.unnamed(step, form, tokens):
                break
        return named

    def _atoms(self, text: str) -> list[int]:
        """Return the atoms of a string at the place its marker gives; unknown ones are skipped."""
        start, body = self._start(text)
        path = self._path(body)
        if UNKNOWN in path:
            path = self._path(self._normalised(body))
        return [UNKNOWN] * bool(start) + path

    def _path(self, text: str) -> list[int]:
        atoms, numbers = self._ordinary.atoms, list[int]()
        for part in byte_parts(text):
            is_byte = part in _BYTE_OF
            numbers += [atoms.get(part, UNKNOWN)] if is_byte else self._ordinary.path(part)
        return numbers

    def _normalised(self, text: str) -> str:
        """Return a string after the tokeniser's normaliser, for example in lower case."""
        normaliser = self.vocabulary.preprocessor.normalizer
        if normaliser is None or self.writing not in ("▁", "Ġ", "##", ""):
            return text
        marker = self.writing if text[:1] == self.writing else ""
        body: str = normaliser.normalize_str(text.removeprefix(marker))
        # Some normalisers prefix every text with a space or marker.
        return marker + body.strip(" ▁")


def read_model_vocabulary(source: str | os.PathLike[str]) -> ModelVocabulary:
    """Read the tokeniser of a folder, file or demo, of any kind.

    Raises `FileFormatError` where there is none, or added tokens have other ids than stated.
    """
    name, main = str(source), str(source)
    if not name.startswith("demo:"):
        check_is_here(source, "Give the folder of its tokeniser.")
        main = str(tokeniser_files(source)[0])
    # A special token that a tokenizer.json lacks has a row only if its id is stated.
    types = load_vocabulary(main if main.endswith("tokenizer.json") else source)
    ids = {text: types.file_ids[n] if types.file_ids else n for text, n in types.ids.items()}
    special = types.special | {token.content for token in types.preprocessor.added}
    owners = {number: text for text, number in ids.items()}
    for key, token in (settings_beside(source).get("added_tokens_decoder") or {}).items():
        text, number = token_content(token), int(key) if str(key).isdecimal() else -1
        if text is None or number < 0:
            continue
        if ids.setdefault(text, number) != number or owners.setdefault(number, text) != text:
            problem = f"“{text}” has the id {number:,} here, but another one in the tokeniser"
            raise FileFormatError(name, "added tokens", problem, "Save it again.")
        special |= {text}
    writing = AS_BYTES if types.preprocessor.byte_level else types.preprocessor.suffix
    special &= ids.keys()
    return ModelVocabulary(name, ids, special, writing or types.marker, main, types)


def special_roles(settings: Any) -> dict[str, str]:
    """Return the strings of a tokeniser's special tokens by their names in `transformers`."""
    roles = {}
    for role, token in settings.items() if isinstance(settings, dict) else ():
        text = token.get("content") if isinstance(token, dict) else token
        if role.endswith("_token") and isinstance(text, str):
            roles[role] = text
    return roles


def check_writings(old: ModelVocabulary, new: ModelVocabulary) -> None:
    """Refuse a pair of vocabularies of which only one marks the ends of words."""
    marks = ("", AS_BYTES, "▁", "Ġ", "##")
    if old.writing != new.writing and not {old.writing, new.writing} <= {*marks}:
        suffix = next(w for w in (old.writing, new.writing) if w not in marks)
        raise MorphGraphError(
            f"{old.name} and {new.name} cannot be compared: only one marks the end of a word by "
            f"“{suffix}”. Use a tokeniser that was made from the model's own."
        )
