"""From words to atoms: the tokeniser's own normaliser, pre-tokeniser and alphabet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.kernels import worth_loading
from morphgraph.tokeniser.added_tokens import AddedToken, Searches
from morphgraph.tokeniser.byte_level import BYTE_TO_CHAR, encode
from morphgraph.tokeniser.confined import confined
from morphgraph.tokeniser.known_parts import LONG_TEXT, check_length
from morphgraph.tokeniser.sentencepiece import SentencePieceText
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, UNKNOWN, Words, concatenate

MARKERS = frozenset("Ġ▁")
"""Start-of-word markers, as characters of a piece."""
SHOWN_MARKER = "␣"
"""The displayed form of any marker."""
_SHOWN = str.maketrans("▁ ", SHOWN_MARKER * 2)


def shown_token(token: str) -> str:
    """Return the text of a token with ``␣`` for its start-of-word marker and its spaces.

    >>> [shown_token(text) for text in ("Ġähn", "▁of▁the", "##ing")]
    ['␣ähn', '␣of␣the', '##ing']
    """
    text = token.translate(_SHOWN)
    return SHOWN_MARKER + text[1:] if text.startswith("Ġ") else text


Piece = list[tuple[str, int, int]]
"""The characters of a piece, each with its span in the original text."""


_ALL = slice(None)


def _as_pieces(found: Any) -> list[Piece]:
    return [[(text, start, end) for text, start, end in piece] for piece in found]


@dataclass
class Preprocessor:
    """Turns words into atoms exactly as the tokeniser's own pipeline does.

    ``normalizer`` and ``pre_tokenizer`` are objects of the ``tokenizers`` library, or None.
    ``byte_level``: the pre-tokeniser maps bytes to printable characters.
    ``splits_only_non_letters``: it leaves a run of letters whole. ``adds_space``: it puts a space
    before every text. ``leading_space``: a word in running text is seen with the space before it,
    which becomes its start-of-word marker. ``suffix`` is joined to the last character of a piece
    (``</w>``). ``unknown`` is the type for characters outside the alphabet; ``fuse_unknown`` joins
    adjacent ones. ``byte_fallback``: such a character becomes its bytes ``<0x..>`` first, where the
    alphabet has them. ``added``: the added tokens, kept whole wherever they occur. ``parts``:
    normaliser and pre-tokeniser as JSON, for a separate process if these objects are not known to
    be fast (``is_known``), or a text is long. ``sentencepiece`` replaces ``normalizer`` and
    ``pre_tokenizer`` if present; it treats the text between two added tokens as a whole.
    """

    normalizer: Any = None
    pre_tokenizer: Any = None
    byte_level: bool = False
    splits_only_non_letters: bool = False
    adds_space: bool = False
    leading_space: bool = False
    suffix: str = ""
    unknown: str | None = None
    fuse_unknown: bool = False
    byte_fallback: bool = False
    added: tuple[AddedToken, ...] = ()
    sentencepiece: SentencePieceText | None = None
    parts: str = ""
    is_known: bool = True

    def _is_confined(self, text: str) -> bool:
        return bool(self.parts) and not (self.is_known and len(text) <= LONG_TEXT)

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of the pre-tokeniser, as characters with spans into ``text``."""
        if self.sentencepiece is not None:
            return self.pieces_of_part(text)
        if self._is_confined(text):
            return _as_pieces(confined(self.parts, "pieces", text))
        normal = text if self.normalizer is None else self.normalizer.normalize_str(text)
        check_length(normal)
        if normal == text:
            if self.pre_tokenizer is None:
                return [[(c, i, i + 1) for i, c in enumerate(text)]] if text else []
            found = []
            for piece, (start, end) in self.pre_tokenizer.pre_tokenize_str(text):
                if self.byte_level and encode(text[start:end]) == piece:
                    found.append(
                        [
                            (BYTE_TO_CHAR[byte], i, i + 1)
                            for i in range(start, end)
                            for byte in text[i].encode()
                        ]
                    )
                elif not self.byte_level and text[start:end] == piece:
                    found.append([(text[i], i, i + 1) for i in range(start, end)])
                else:
                    return self.pieces_of_part(text)
            return found
        return self.pieces_of_part(text)

    def pieces_of_part(self, text: str, raw: slice = _ALL, normalised: slice = _ALL) -> list[Piece]:
        """Return the pieces of a part of a text, giving the library its context.

        ``raw``: the part's span in the text; ``normalised``: its span in that after normalisation.
        """
        if self.sentencepiece is not None:
            found = self.sentencepiece.joined(self._characters(text, raw, normalised))
            return [found] if found else []
        if self._is_confined(text):
            return _as_pieces(confined(self.parts, "pieces_of_part", text, raw, normalised))
        work = self._part(text, raw, normalised)
        if self.pre_tokenizer is not None:
            self.pre_tokenizer.pre_tokenize(work)
        lengths = [len(piece) for piece, *_ in work.get_splits("original", "char")]
        work.split(lambda _, part: [part[i : i + 1] for i in range(len(part.normalized))])
        characters = iter(work.get_splits("original", "char"))
        return [
            [(text, *span) for _, (text, span, _) in zip(range(n), characters, strict=False)]
            for n in lengths
        ]

    def span_of_part(self, text: str, raw: slice, normalised: slice) -> tuple[int, int]:
        """Return the span in the text of a part of its normalised form."""
        if self.sentencepiece is not None:
            characters = self._characters(text, raw, normalised)
            return characters[0][1], characters[-1][2]
        if self._is_confined(text):
            start, end = confined(self.parts, "span_of_part", text, raw, normalised)
            return start, end
        found = self._part(text, raw, normalised).get_splits("original", "char")
        return found[0][1] if found else (raw.start, raw.start)

    def _characters(self, text: str, raw: slice, normalised: slice) -> Piece:
        """Return the characters of a part, normalised separately by SentencePiece."""
        assert self.sentencepiece is not None
        shift = raw.start or 0
        found = self.sentencepiece.normalised(text[raw])[normalised]
        return [(character, start + shift, end + shift) for character, start, end in found]

    def _part(self, text: str, raw: slice, normalised: slice) -> Any:
        from tokenizers import PreTokenizedString

        def chosen(_: int, whole: Any) -> list[Any]:
            part = whole[raw]
            if part is None:
                return []
            if self.normalizer is not None:
                self.normalizer.normalize(part)
            part = part[normalised]
            return [] if part is None else [part]

        work = PreTokenizedString(text)
        work.split(chosen)
        return work


class WordEncoder:
    """Encodes lists of words for one alphabet: a preprocessor and the ids of the types.

    ``added``: the ids of the added tokens, which are not part of the alphabet; those without ids
    are not searched for. ``missing`` collects the atoms that were needed and are not in the
    alphabet.
    """

    def __init__(
        self,
        preprocessor: Preprocessor,
        ids: Mapping[str, int],
        added: Mapping[str, int] | None = None,
    ) -> None:
        self.preprocessor = preprocessor
        self.ids = ids
        self.added = added or {}
        self._searches = Searches(
            [token for token in preprocessor.added if token.content in self.added],
            preprocessor.sentencepiece or preprocessor.normalizer,
        )
        self.missing: set[str] = set()
        self._byte_atoms = np.array([ids.get(c, UNKNOWN) for c in BYTE_TO_CHAR], np.int32)
        # Only such added tokens can occur in letters with a space before them.
        self._added_letters = any(
            all(c.isalpha() or c.isspace() for c in token.content) for token in preprocessor.added
        )
        self._bytes_complete = bool((self._byte_atoms != UNKNOWN).all())
        self._cuts_bytes = (
            self._bytes_complete
            and preprocessor.byte_level
            and preprocessor.pre_tokenizer is not None
            and preprocessor.normalizer is None
            and preprocessor.sentencepiece is None
            and not preprocessor.suffix
        )

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as in running text, or ``bare``: as whole texts of their own."""
        if isinstance(words, str):  # otherwise each letter would count as a word
            check_list(words, "words")
        prefix = " " if self.preprocessor.leading_space and not bare else ""
        letters_prefix = " " if self.preprocessor.adds_space else prefix
        try:
            whole = _separated(words)
            if self._is_simple(whole):
                letters = self._encode_letters(words, whole, letters_prefix)
                if letters is not None:
                    return letters
            odd: list[int] = []
            simple: list[int] = []
            cut: list[int] = []
            lengths: list[int] = []
            for place, word in enumerate(words):
                if SEPARATOR not in word and self._is_simple(word):
                    simple.append(place)
                elif pieces := self._bytes_of_pieces(word, prefix, letters_prefix):
                    cut.append(place)
                    lengths += pieces
                else:
                    odd.append(place)
            chunks = [self._encode_any(words[place], prefix) for place in odd]
            for chosen in filter(None, (simple, cut)):
                some = [words[place] for place in chosen]
                found = cast(Words, self._encode_letters(some, _separated(some), letters_prefix))
                if chosen is cut:
                    ends = np.append(0, np.cumsum(lengths, dtype=np.int64))
                    found = replace(found, piece_offsets=ends)
                chunks.append(found)
        except (KeyboardInterrupt, SystemExit, MorphGraphError):
            raise
        except UnicodeEncodeError as error:
            raise MorphGraphError(
                f"The word {error.object.strip()!r} has half of a surrogate pair, which is no "
                "character. Give it in UTF-8."
            ) from error
        except BaseException as error:  # a panic of the library is no Exception
            raise MorphGraphError(
                "The tokeniser's normaliser or pre-tokeniser fails on one of the words "
                f"({str(error)[:120]}). Use another tokeniser, or leave out odd words."
            ) from error
        encoded = concatenate(chunks)
        order = odd + simple + cut
        return (
            encoded
            if len(order) in map(len, (odd, simple, cut))
            else encoded.subset(np.argsort(order))
        )

    def _bytes_of_pieces(self, word: str, prefix: str, whole_prefix: str) -> list[int]:
        """Return the number of bytes of each piece of a word, if its atoms are its bytes."""
        text = prefix + word
        if not (self._cuts_bytes and word) or SEPARATOR in word or self._searches.match(text):
            return []
        check_length(text)
        pieces = [piece for piece, _ in self.preprocessor.pre_tokenizer.pre_tokenize_str(text)]
        # A piece has a character for each byte.
        return list(map(len, pieces)) if "".join(pieces) == encode(whole_prefix + word) else []

    def _is_simple(self, word: str) -> bool:
        # A run of letters is one piece to GPT-2's pattern, so the library is not needed.
        return (
            self._bytes_complete
            and self.preprocessor.splits_only_non_letters
            and not self.preprocessor.suffix
            and word.isalpha()
            and self.preprocessor.normalizer is None
            and not (
                self._added_letters and self._searches.match(" " + word.replace(SEPARATOR, " "))
            )
        )

    def _encode_letters(self, words: Sequence[str], separated: str, prefix: str) -> Words | None:
        """Words, each a piece of its bytes, with a separator around each; None if one is empty or
        holds it.
        """
        if not worth_loading(len(separated)):
            fits = SEPARATOR * 2 not in separated and separated.count(SEPARATOR) == len(words) + 1
            return self._encode_few_letters(words, prefix) if fits else None
        from morphgraph.kernels.words import encode_letters

        atoms, offsets, position = encode_letters(
            np.frombuffer(separated.encode(), np.uint8),
            np.frombuffer(SEPARATOR.encode(), np.uint8),
            len(words),
            np.frombuffer(prefix.encode(), np.uint8),
            self._byte_atoms,
            INSIDE_CHARACTER,
        )
        if offsets[-1] < 0:
            return None
        return Words(tuple(words), atoms, offsets, offsets, position)

    def _encode_few_letters(self, words: Sequence[str], prefix: str) -> Words:
        """Encode words as the kernel does, without it."""
        atoms: list[int] = []
        position: list[int] = []
        offsets = [0]
        for word in words:
            atoms += self._byte_atoms[list((prefix + word).encode())].tolist()
            position += [NO_GAP] * len(prefix)
            for place, character in enumerate(word, start=1):
                position += [INSIDE_CHARACTER] * (len(character.encode()) - 1) + [place]
            position[-1] = NO_GAP
            offsets.append(len(atoms))
        ends = np.array(offsets, np.int64)
        return Words(
            tuple(words), np.array(atoms, np.int32), ends, ends, np.array(position, np.int32)
        )

    def _encode_any(self, word: str, prefix: str) -> Words:
        atoms: list[int] = []
        spans: list[tuple[int, int]] = []
        markers: set[int] = set()
        piece_offsets = [0]
        unknown: dict[int, str] = {}
        added: list[int] = []
        text = prefix + word
        check_length(text)
        for token, span, pieces in self._parts(text):
            if token is not None:
                added.append(len(atoms))
                atoms.append(self.added[token.content])
                spans.append(span)
                piece_offsets.append(len(atoms))
            for piece in pieces:
                if piece and piece[0][0] in MARKERS:
                    markers.add(len(atoms))
                for atom, first, last in self._atoms(piece, unknown, len(atoms)):
                    atoms.append(atom)
                    spans.append((first, last))
                if len(atoms) > piece_offsets[-1]:
                    piece_offsets.append(len(atoms))
        position = [
            gap_position(left, right, len(prefix), len(text), i in markers)
            for i, (left, right) in enumerate(pairwise(spans))
        ]
        return Words(
            (word,),
            np.array(atoms, np.int32),
            np.array([0, len(atoms)], np.int64),
            np.array(piece_offsets, np.int64),
            np.array([*position, NO_GAP][: len(atoms)], np.int32),
            unknown,
            tuple(added),
        )

    def _parts(self, text: str) -> Iterator[tuple[AddedToken | None, tuple[int, int], list[Piece]]]:
        """Return the added tokens with their spans, and the pieces between them."""
        settings = self.preprocessor
        if not self._searches.match(text):
            yield None, (0, len(text)), settings.pieces(text)
            return
        for outer in self._searches.raw.parts(text):
            raw = slice(outer.start, outer.end)
            if outer.token is not None:
                yield outer.token, (outer.start, outer.end), []
                continue
            for inner in self._searches.normalised.parts(self._searches.normal(text[raw])):
                part = slice(inner.start, inner.end)
                if inner.token is not None:
                    yield inner.token, settings.span_of_part(text, raw, part), []
                else:
                    yield None, (0, 0), settings.pieces_of_part(text, raw, part)

    def _atoms(
        self, piece: Piece, unknown: dict[int, str], offset: int
    ) -> Iterator[tuple[int, int, int]]:
        settings = self.preprocessor
        found: list[tuple[int, int, int]] = []
        last_unknown = False
        for i, (character, start, end) in enumerate(piece):
            text = character + settings.suffix if i == len(piece) - 1 else character
            atom = self.ids.get(text)
            if atom is not None:
                found.append((atom, start, end))
                last_unknown = False
                continue
            bytes_ = [f"<0x{byte:02X}>" for byte in text.encode()] if settings.byte_fallback else []
            if bytes_ and all(byte in self.ids for byte in bytes_):
                found += [(self.ids[byte], start, end) for byte in bytes_]
                last_unknown = False
                continue
            self.missing.add(text)
            if last_unknown and settings.fuse_unknown:
                found[-1] = (found[-1][0], found[-1][1], end)
                unknown[offset + len(found) - 1] += character
                continue
            stand_in = self.ids.get(settings.unknown) if settings.unknown is not None else None
            unknown[offset + len(found)] = character
            found.append((UNKNOWN if stand_in is None else stand_in, start, end))
            last_unknown = stand_in is not None
        yield from found


SEPARATOR = "ª"
"""Stands between words that are encoded together: a letter, so that one look at the whole tells
whether all are letters; rare, and one byte of a Python string, so that it does not get wider."""


def _separated(words: Sequence[str]) -> str:
    return SEPARATOR.join(["", *words, ""])


def gap_position(
    left: tuple[int, int], right: tuple[int, int], prefix: int, length: int, marker: bool = False
) -> int:
    """Return the position in a word of the gap between two atoms, from their spans.

    ``marker``: the left atom is a start-of-word marker, which may share the first letter's span.

    >>> gap_position((1, 2), (2, 3), 1, 6)  # behind the first letter of a word of five
    1
    >>> gap_position((0, 1), (1, 2), 1, 6) == NO_GAP  # behind the marker
    True
    >>> gap_position((1, 2), (1, 2), 1, 6) == INSIDE_CHARACTER
    True
    >>> gap_position((0, 1), (0, 1), 0, 5, marker=True) == NO_GAP
    True
    """
    start = right[0]
    if prefix < start < length and start >= left[1]:
        return start - prefix
    return NO_GAP if marker or left[1] <= prefix else INSIDE_CHARACTER
