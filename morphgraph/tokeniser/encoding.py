"""From words to atoms: the tokeniser's own normaliser, pre-tokeniser and alphabet."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.tokeniser.preprocess import (
    BYTE_TO_CHAR,
    MARKERS,
    AddedToken,
    Piece,
    Preprocessor,
    check_length,
    printable_bytes,
)
from morphgraph.tokeniser.words import (
    INSIDE_CHARACTER,
    NO_GAP,
    UNKNOWN,
    LeftOut,
    Words,
    code_points,
    concatenate,
)

_SPACE = "".join(
    c for c in map(chr, (*range(9, 14), 32, 133, 160, *range(0x1680, 0x3001))) if c.isspace()
)
"""Unicode's white space, which is less than Python's."""
_SPACES = re.compile(f"[{_SPACE}]*")

Found = tuple[AddedToken | None, int, int, slice]
"""A part of a text, with its span: an added token, without included space, or None between two.

Last, the same with included space.
"""


class Search:
    """One pass over a text: leftmost longest matches, regardless of their flags.

    Then ``single_word`` is checked, and a match is extended by ``lstrip`` and ``rstrip``; a match
    that begins inside the previous extended one still counts.

    >>> search = Search([("ab", AddedToken("ab", single_word=True)), ("b", AddedToken("b"))])
    >>> [("abc b")[start:end] for _, start, end, _ in search.parts("abc b")]
    ['abc ', 'b']
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken]]) -> None:
        self._tokens: dict[str, AddedToken] = {}
        lengths: dict[str, set[int]] = {}
        for text, token in tokens:
            if text:
                self._tokens.setdefault(text, token)
                lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {
            first: sorted(of_first, reverse=True) for first, of_first in lengths.items()
        }
        self._first = re.compile(f"[{re.escape(''.join(lengths))}]") if lengths else None

    def __bool__(self) -> bool:
        return self._first is not None

    def occurs_in(self, text: str) -> bool:
        """Return whether there is a match, before checking flags."""
        return any(True for _ in self.matches(text))

    def matches(self, text: str) -> Iterator[tuple[AddedToken, int, int]]:
        """Return the leftmost longest matches, without overlaps, before checking flags."""
        candidate = self._first and self._first.search(text)
        while self._first and candidate:
            start = end = candidate.start()
            for length in self._lengths[text[start]]:
                token = self._tokens.get(text[start : start + length])
                if token is not None:
                    end = start + length
                    yield token, start, end
                    break
            candidate = self._first.search(text, max(end, start + 1))

    def parts(self, text: str) -> Iterator[Found]:
        """Split the whole text at its added tokens."""
        at = 0
        for token, start, end in self.matches(text):
            beside = text[max(0, start - 1) : start] + text[end : end + 1]
            if token.single_word and any(map(is_word_character, beside)):
                continue
            left = max(at, len(text[:start].rstrip(_SPACE))) if token.lstrip else start
            right = cast("re.Match[str]", _SPACES.match(text, end)).end() if token.rstrip else end
            if at < left:
                yield None, at, left, slice(at, left)
            if left < right:  # else it is white space included in the previous token
                yield token, start, end, slice(left, right)
            at = right
        if at < len(text):
            yield None, at, len(text), slice(at, None)


@lru_cache(maxsize=1 << 16)
def is_word_character(character: str) -> bool:
    r"""Return whether ``\w`` of Rust's regular expressions matches: marks do, ½ and ² do not.

    It asks the library, whose `Whitespace` uses that class.
    """
    from tokenizers.pre_tokenizers import Whitespace

    return bool(Whitespace().pre_tokenize_str("a" + character)[0][0] == "a" + character)


class WordEncoder:
    """Encodes lists of words for one alphabet: a preprocessor and the ids of the types.

    ``added``: the ids of the added tokens, which are not part of the alphabet; those without ids
    are not searched for. ``missing`` collects the atoms that were needed and are not in the
    alphabet. ``leaves_out``: such a character has no atom if there is no unknown token, as in the
    `tokenizers` library's BPE; ``whole``: except in a piece that is a type, as it may stay whole.
    """

    def __init__(
        self,
        preprocessor: Preprocessor,
        ids: Mapping[str, int],
        added: Mapping[str, int] | None = None,
        *,
        leaves_out: bool = False,
        whole: bool = False,
    ) -> None:
        self.preprocessor = preprocessor
        self.leaves_out, self.whole = leaves_out, whole
        self.ids = ids
        self.added = added or {}
        self.missing: set[str] = set()
        self._byte_atoms = np.array([ids.get(c, UNKNOWN) for c in BYTE_TO_CHAR], np.int32)
        # Only such added tokens can occur in letters with a space before them.
        self._added_letters = any(
            all(c.isalpha() or c.isspace() for c in token.content) for token in preprocessor.added
        )
        keeps_bytes = not preprocessor.suffix and bool((self._byte_atoms != UNKNOWN).all())
        self._keeps_letters = (
            keeps_bytes and preprocessor.normalizer is None and preprocessor.splits_only_non_letters
        )
        self._cuts_bytes = (
            keeps_bytes
            and preprocessor.byte_level
            and preprocessor.pre_tokenizer is not None
            and preprocessor.sentencepiece is None
            # Others run in a separate process, once a word.
            and (preprocessor.normalizer is None or preprocessor.is_known)
        )
        self._space = preprocessor.space if preprocessor.space in ids else ""

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as in running text, or ``bare``: as whole texts of their own."""
        if isinstance(words, str):  # otherwise each letter would count as a word
            check_list(words, "words")
        prefix = " " if self.preprocessor.leading_space and not bare else ""
        letters_prefix = " " if self.preprocessor.adds_space else prefix
        try:
            if self._is_simple(*words) and all(words):
                return self._encode_letters(words, letters_prefix)
            odd, cut, lengths = list[int](), list[int](), list[int]()
            for first in range(0, len(words), _CUT_TOGETHER):
                some = words[first : first + _CUT_TOGETHER]
                together = self._lengths_together(some, letters_prefix)
                lengths += together
                cut += range(first, first + len(some)) if together else []
                for place, word in enumerate([] if together else some, start=first):
                    pieces = self._lengths_of_pieces(word, prefix, letters_prefix)
                    (cut if pieces else odd).append(place)
                    lengths += pieces
            chunks = [self._encode_any(words[place], prefix) for place in odd]
            if cut:
                some = [words[place] for place in cut]
                together_encoded = (
                    self._encode_characters(some, len(prefix))
                    if self._space
                    else self._encode_letters(some, letters_prefix)
                )
                ends = np.append(0, np.cumsum(lengths, dtype=np.int64))
                chunks.append(replace(together_encoded, piece_offsets=ends))
        except (KeyboardInterrupt, SystemExit, MorphGraphError):
            raise
        except UnicodeEncodeError as error:
            raise MorphGraphError(
                f"The word {error.object.strip()!r} has half of a surrogate pair, which is not a "
                "character. Give it in UTF-8."
            ) from error
        except BaseException as error:  # a panic of the library is no Exception
            raise MorphGraphError(
                "The tokeniser's normaliser or pre-tokeniser fails on one of the words "
                f"({str(error)[:120]}). Use another tokeniser, or leave out odd words."
            ) from error
        encoded = concatenate(chunks)
        return encoded.subset(np.argsort(odd + cut)) if odd and cut else encoded

    @cached_property
    def _tokens(self) -> list[AddedToken]:
        return [token for token in self.preprocessor.added if token.content in self.added]

    @cached_property
    def _raw(self) -> Search:
        """The search in the text as it is."""
        return Search((token.content, token) for token in self._tokens if not token.normalized)

    @cached_property
    def _normalised(self) -> Search:
        """The search in the normalised text."""
        return Search((self._normal(t.content), t) for t in self._tokens if t.normalized)

    def _normal(self, text: str) -> str:
        normalizer = self.preprocessor.sentencepiece or self.preprocessor.normalizer
        return text if normalizer is None else str(normalizer.normalize_str(text))

    def _has_added(self, text: str) -> bool:
        """Return whether an added token occurs in a text, regardless of flags."""
        return self._raw.occurs_in(text) or (
            bool(self._normalised) and self._normalised.occurs_in(self._normal(text))
        )

    def _lengths_of_pieces(self, word: str, prefix: str, whole_prefix: str) -> list[int]:
        """Return the number of atoms in each piece of a word, if its bytes or letters are they."""
        if self._space:
            known = self._letters.issuperset(word) and bool(word)
            odd = self._added_letters and self._has_added(prefix + word)
            return [len(prefix + word)] if known and not odd else []
        if self._is_simple(word):
            return [len((whole_prefix + word).encode())]
        text = prefix + word
        if not (self._cuts_bytes and word):
            return []
        check_length(text)
        if self._normal(text) != text or self._has_added(text):
            return []
        pieces = [piece for piece, _ in self.preprocessor.pre_tokenizer.pre_tokenize_str(text)]
        # A piece has a character for each byte.
        is_whole = "".join(pieces) == printable_bytes(whole_prefix + word)
        return list(map(len, pieces)) if is_whole else []

    def _lengths_together(self, words: Sequence[str], prefix: str) -> list[int]:
        """Return what `_lengths_of_pieces` does, for all words in one list; empty if it must do so.

        In GPT-2's pattern a space is only at the start of a piece, and a piece is the same whatever
        is around, so that words with a space before each are cut as a text.
        """
        if not (self._keeps_letters and prefix == " "):
            return []
        text = " " + " ".join(words)
        if text.split() != list(words):
            return []
        check_length(max(words, key=len))
        if self._has_added(text):
            return []
        return [len(piece) for piece, _ in self.preprocessor.pre_tokenizer.pre_tokenize_str(text)]

    def _is_simple(self, *words: str) -> bool:
        # A run of letters is one piece to GPT-2's pattern, so the library is not needed.
        return (
            self._keeps_letters
            and "".join(words).isalpha()
            and not (self._added_letters and self._has_added(" " + " ".join(words)))
        )

    def _encode_letters(self, words: Sequence[str], prefix: str) -> Words:
        """Encode words, none of them empty, each a piece of its bytes behind a space or nothing."""
        bytes_ = np.frombuffer(prefix.join(["", *words]).encode(), np.uint8)
        return _in_one_piece(
            words, len(prefix), self._byte_atoms[bytes_], begins=(bytes_ & 0xC0) != 0x80
        )

    @cached_property
    def _letters(self) -> frozenset[str]:
        """The letters that are atoms, without those that may mark the start of a word."""
        return frozenset(text for text in self.ids if len(text) == 1 and text.isalpha()) - MARKERS

    def _encode_characters(self, words: Sequence[str], prefix: int) -> Words:
        """Words of known letters, each a piece of its characters behind a space or (0) none."""
        points = code_points((self._space * prefix).join(["", *words]))
        unique, where = np.unique(points, return_inverse=True)
        atoms = np.array([self.ids[chr(point)] for point in unique.tolist()], np.int32)[where]
        return _in_one_piece(words, prefix, atoms, begins=np.ones(len(atoms), bool))

    def _encode_any(self, word: str, prefix: str) -> Words:
        atoms: list[int] = []
        spans: list[tuple[int, int]] = []
        markers: set[int] = set()
        piece_offsets = [0]
        unknown: dict[int, str] = {}
        left_out: list[tuple[int, tuple[int, int], str]] = []
        behind: list[int] = []
        added: dict[int, str] = {}
        text = prefix + word
        check_length(text)
        for token, span, pieces, named in self._parts(text):
            if token is not None:
                added[len(atoms)] = named
                atoms.append(self.added[token.content])
                spans.append(span)
                piece_offsets.append(len(atoms))
            for piece in pieces:
                before = len(left_out)
                placed = self._atoms(piece, unknown, left_out, len(atoms))
                is_first_out = any(at == len(atoms) for at, *_ in left_out[before:])
                behind += [at - len(atoms) if placed else -1 for at, *_ in left_out[before:]]
                if piece and piece[0][0] in MARKERS and not is_first_out:
                    markers.add(len(atoms))
                for atom, first, last in placed:
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
            added,
            tuple(
                LeftOut(0, at, _place_alone(span, spans[max(0, at - 1) : at + 1], prefix), text, n)
                for (at, span, text), n in zip(left_out, behind, strict=True)
            ),
        )

    def _parts(
        self, text: str
    ) -> Iterator[tuple[AddedToken | None, tuple[int, int], list[Piece], str]]:
        """Return the added tokens with their spans and texts, and the pieces between them."""
        settings = self.preprocessor
        if not self._has_added(text):
            yield None, (0, len(text)), settings.pieces(text), ""
            return
        for outer, start, end, whole in self._raw.parts(text):
            if outer is not None:
                yield outer, (start, end), [], text[whole]
                continue
            raw = slice(start, end)
            normal = self._normal(text[raw])
            for inner, first, last, whole in self._normalised.parts(normal):
                part = slice(first, last)
                if inner is not None:
                    yield inner, settings.span_of_part(text, raw, part), [], normal[whole]
                else:
                    yield None, (0, 0), settings.pieces_of_part(text, raw, part), ""

    def _atoms(
        self,
        piece: Piece,
        unknown: dict[int, str],
        left_out: list[tuple[int, tuple[int, int], str]],
        offset: int,
    ) -> list[tuple[int, int, int]]:
        """Return the atoms of a piece with their spans."""
        settings = self.preprocessor
        stand_in = self.ids.get(settings.unknown, UNKNOWN) if settings.unknown else UNKNOWN
        leaves_out = self.leaves_out and stand_in == UNKNOWN
        if leaves_out and self.whole:
            leaves_out = "".join(character for character, *_ in piece) not in self.ids
        atoms: list[tuple[int, int, int]] = []
        waiting: list[tuple[str, int, int]] = []

        def end_unknown() -> None:
            if waiting:
                unknown[offset + len(atoms)] = "".join(text for text, *_ in waiting)
                atoms.append((stand_in, waiting[0][1], waiting[-1][2]))
                waiting.clear()

        for i, (character, start, end) in enumerate(piece):
            text = character + settings.suffix if i == len(piece) - 1 else character
            atom = self.ids.get(text)
            if atom is not None:
                end_unknown()
                atoms.append((atom, start, end))
                continue
            bytes_ = [f"<0x{byte:02X}>" for byte in text.encode()] if settings.byte_fallback else []
            if bytes_ and all(byte in self.ids for byte in bytes_):
                # As in the library, they come before an unknown token that may go on behind them.
                atoms += [(self.ids[byte], start, end) for byte in bytes_]
                continue
            self.missing.add(text)
            if leaves_out:
                left_out.append((offset + len(atoms), (start, end), character))
                continue
            if not settings.fuse_unknown or stand_in == UNKNOWN:
                end_unknown()
            waiting.append((character, start, end))
        end_unknown()
        return atoms


def _in_one_piece(
    words: Sequence[str],
    prefix: int,
    atoms: npt.NDArray[np.int32],
    begins: npt.NDArray[np.bool_],
) -> Words:
    """Return words of one piece each, behind ``prefix`` spaces, none or one.

    ``begins``: whether each atom is the first of its character.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + prefix
    ends = np.append(0, np.cumsum(lengths))
    offsets = np.append(np.flatnonzero(begins), len(atoms))[ends]
    position = np.cumsum(begins) - np.repeat(ends[:-1] + prefix, np.diff(offsets))
    position[:-1][~begins[1:]] = INSIDE_CHARACTER
    position[offsets[1:] - 1] = NO_GAP  # as already behind the space
    return Words(tuple(words), atoms, offsets, offsets, position.astype(np.int32))


def _place_alone(span: tuple[int, int], beside: Sequence[tuple[int, int]], prefix: str) -> int:
    """Return the place in its word of a character, unless it shares it with an atom beside; -1."""
    shares = any(span[0] < end and start < span[1] for start, end in beside)
    return -1 if shares else max(span[0] - len(prefix), -1)


_CUT_TOGETHER = 1_000
"""The number of words that a pre-tokeniser cuts at once, or one by one if one of them is odd."""
_BATCH = 50_000
"""The number of words in memory as atoms at once: more of them take time for new memory."""


def batches_of(words: Sequence[str]) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the places of words in batches to encode together, those of letters first.

    Each is encoded several times as fast as among words that a pre-tokeniser has to cut.
    """
    simple = np.fromiter(map(str.isalpha, words), np.bool_, len(words))
    for part in (np.flatnonzero(simple), np.flatnonzero(~simple)):
        yield from np.split(part, range(_BATCH, len(part), _BATCH))


def gap_position(
    left: tuple[int, int], right: tuple[int, int], prefix: int, length: int, marker: bool = False
) -> int:
    """Return the position in a word of the gap between two atoms, from their spans.

    ``marker``: the left atom is a start-of-word marker, which may share the first letter's span.

    >>> gap_position((1, 2), (2, 3), 1, 6)  # behind the first letter of a word of five
    1
    """
    start = right[0]
    if prefix < start < length and start >= left[1]:
        return start - prefix
    return NO_GAP if marker or left[1] <= prefix else INSIDE_CHARACTER
