"""From words to atoms: the tokeniser's own normaliser, pre-tokeniser and alphabet."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.kernels import worth_loading
from morphgraph.tokeniser.parts import check_length
from morphgraph.tokeniser.preprocess import (
    BYTE_TO_CHAR,
    MARKERS,
    AddedToken,
    Piece,
    Preprocessor,
    printable_bytes,
)
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, UNKNOWN, Words, concatenate


class Found(NamedTuple):
    """A part of a text: an added token, or the text between two (``token`` is None).

    ``start`` and ``end`` are those of the token's content, without included white space.
    """

    token: AddedToken | None
    start: int
    end: int


class Search:
    """One pass over a text: leftmost longest matches, regardless of their flags.

    Then ``single_word`` is checked, and a match is extended by ``lstrip`` and ``rstrip``; a match
    that begins inside the previous extended one still counts.

    >>> search = Search([("ab", AddedToken("ab", single_word=True)), ("b", AddedToken("b"))])
    >>> [text[found.start : found.end] for text in ["abc b"] for found in search.parts(text)]
    ['abc ', 'b']
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken]]) -> None:
        self._tokens: dict[str, AddedToken] = {}
        for text, token in tokens:
            if text:
                self._tokens.setdefault(text, token)
        lengths: dict[str, set[int]] = {}
        for text in self._tokens:
            lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        self._first = re.compile(f"[{re.escape(''.join(lengths))}]") if lengths else None

    def matches(self, text: str) -> Iterator[Found]:
        """Return the leftmost longest matches, without overlaps, before checking flags."""
        candidate = self._first and self._first.search(text)
        while self._first and candidate:
            start = end = candidate.start()
            for length in self._lengths[text[start]]:
                token = self._tokens.get(text[start : start + length])
                if token is not None:
                    end = start + length
                    yield Found(token, start, end)
                    break
            candidate = self._first.search(text, max(end, start + 1))

    def parts(self, text: str) -> Iterator[Found]:
        """Split the whole text at its added tokens."""
        at = 0
        for token, start, end in self.matches(text):
            if token is None or (token.single_word and not _stands_alone(text, start, end)):
                continue
            left = max(at, _without_space_before(text, start)) if token.lstrip else start
            right = _without_space_behind(text, end) if token.rstrip else end
            if at < left:
                yield Found(None, at, left)
            if left < right:  # else it is white space included in the previous token
                yield Found(token, start, end)
            at = right
        if at < len(text):
            yield Found(None, at, len(text))


class Searches:
    """Both passes: tokens of the raw text first, then those of the normalised text."""

    def __init__(self, tokens: Iterable[AddedToken], normalizer: Any) -> None:
        self._tokens = tuple(tokens)
        self.normalizer = normalizer

    @cached_property
    def raw(self) -> Search:
        """The search in the text as it is."""
        return Search((token.content, token) for token in self._tokens if not token.normalized)

    @cached_property
    def normalised(self) -> Search:
        """The search in the normalised text."""
        return Search(
            (self.normal(token.content), token) for token in self._tokens if token.normalized
        )

    def normal(self, text: str) -> str:
        """Return the normalised text."""
        normal: str = text if self.normalizer is None else self.normalizer.normalize_str(text)
        return normal

    def match(self, text: str) -> bool:
        """Return whether an added token occurs in a text, regardless of flags."""
        return any(True for _ in self.raw.matches(text)) or (
            any(token.normalized for token in self._tokens)
            and any(True for _ in self.normalised.matches(self.normal(text)))
        )


_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's white space, which is less than Python's."""
_BEFORE = re.compile(f"[{_SPACE}]*\\Z")
_BEHIND = re.compile(f"[{_SPACE}]*")


def _without_space_before(text: str, end: int) -> int:
    found = _BEFORE.search(text[:end])
    return found.start() if found else end


def _without_space_behind(text: str, start: int) -> int:
    found = _BEHIND.match(text, start)
    return found.end() if found else start


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, behind = text[:start][-1:], text[end : end + 1]
    return not (before and is_word_character(before)) and not (behind and is_word_character(behind))


@lru_cache(maxsize=1 << 16)
def is_word_character(character: str) -> bool:
    r"""Return whether ``\w`` of Rust's regular expressions matches: marks do, ½ and ² do not.

    It asks the library, whose `Whitespace` uses that class.

    >>> [is_word_character(character) for character in ("é", "\u0301", "_", "½", "²", "-")]
    [True, True, True, False, False, False]
    """
    return _whitespace().pre_tokenize_str("a" + character)[0][0] == "a" + character  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _whitespace() -> Any:
    from tokenizers.pre_tokenizers import Whitespace

    return Whitespace()


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
        return (
            list(map(len, pieces))
            if "".join(pieces) == printable_bytes(whole_prefix + word)
            else []
        )

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
