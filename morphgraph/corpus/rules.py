"""The rules of pipelines: which words a text consists of, and how a word is cut.

Sources: Bauwens & Delobelle 2024, §B.1; Bauwens & de Lhoneux 2026, §B.1. Choices marked "ours" are
those that these leave open.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from morphgraph.corpus.counts import WordCounts
from morphgraph.tokeniser.known_parts import CAPITAL

COVERAGE = 0.9999
KEPT_ASCII = frozenset(map(chr, range(33, 123)))

_APOSTROPHES = "'’"
_CONTRACTION = re.compile(r"(n['’]t|['’](?:s|re|ve|m|ll|d))(?=$|[-'’])", re.IGNORECASE)
_DIGITS = re.compile(r"(\d{1,3}(?=(?:\d{3})*(?!\d)))")
_HYPHENS = re.compile(r"(-+)")
_EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}


# ------------------------------------------------------------------------- choosing the words


def split_at_white_space(counts: Mapping[str, int] | WordCounts) -> dict[str, int]:
    """Split only at white space, which no word contains."""
    found: Counter[str] = Counter()
    for word, count in counts.items():
        for part in word.split():
            found[part] += count
    return found


def isolate_punctuation(counts: Mapping[str, int] | WordCounts) -> dict[str, int]:
    """Isolate each punctuation mark except hyphens, and split at white space.

    Punctuation is Unicode's (categories P…). Source: Bauwens & Delobelle 2024, §B.1.

    >>> isolate_punctuation({"don't": 3, "co-op": 2, "t": 1})
    {'don': 3, "'": 3, 't': 4, 'co-op': 2}
    """
    spaced: dict[int, str] = {}
    pieces: Counter[str] = Counter()
    for word, count in split_at_white_space(counts).items():
        if not word.isalnum():
            spaced |= {ord(char): f" {char} " for char in word if is_punctuation(char)}
            word = word.translate(spaced)
        for piece in word.split():
            pieces[piece] += count
    return dict(pieces)


def isolate_outer_punctuation(counts: Mapping[str, int] | WordCounts) -> dict[str, int]:
    """Apply NFKC and isolate runs of a mark, except hyphens and inner apostrophes.

    Source: Bauwens & de Lhoneux 2026, §B.1. Punctuation is Unicode's (categories P…); hyphens are
    no marks here, as they are isolated later; an apostrophe (' or ’), or a run of one, is inner if
    it touches neither the word's start nor its end.

    >>> isolate_outer_punctuation({"(don't)...": 1, "'rock’n’roll'": 1, "ﬁne": 1})
    {'(': 1, "don't": 1, ')': 1, '...': 1, "'": 2, 'rock’n’roll': 1, 'fine': 1}
    """
    found: Counter[str] = Counter()
    for word, count in counts.items():
        for part in unicodedata.normalize("NFKC", word).split():
            for piece in (part,) if part.isalnum() else split_outer_punctuation(part):
                found[piece] += count
    return dict(found)


def split_outer_punctuation(word: str) -> list[str]:
    """Split a word at its punctuation (see `isolate_outer_punctuation`).

    >>> split_outer_punctuation("what?!!"), split_outer_punctuation("''tis-'")
    (['what', '?', '!!'], ["''", 'tis-', "'"])
    """
    pieces: list[str] = []
    start = at = 0
    while at < len(word):
        end = at + 1
        if is_punctuation(word[at]):
            while end < len(word) and word[end] == word[at]:
                end += 1
            inner = at > 0 and end < len(word) and word[at] in _APOSTROPHES
            if not inner:
                pieces += [word[start:at], word[at:end]]
                start = end
        at = end
    return [piece for piece in (*pieces, word[start:]) if piece]


def is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation other than a hyphen.

    >>> is_punctuation("("), is_punctuation("-"), is_punctuation("+")
    (True, False, False)
    """
    return character != "-" and unicodedata.category(character).startswith("P")


def scripts(word: str) -> set[str]:
    """Return the scripts of a word's letters by their Unicode names; East Asian ones count as one.

    >>> sorted(scripts("naïve")), sorted(scripts("αβ-vitamin")), scripts("42")
    (['LATIN'], ['GREEK', 'LATIN'], set())
    """
    found = set()
    for character in word if not word.isascii() else word[:0]:
        if character.isalpha() and not character.isascii():
            plain = unicodedata.normalize("NFKC", character)[0]
            name = unicodedata.name(plain, "UNKNOWN").split(" ")[0]
            if name not in ("MODIFIER", "COMBINING"):
                found.add("EAST ASIAN" if name in _EAST_ASIAN else name)
    if any(character.isascii() and character.isalpha() for character in word):
        found.add("LATIN")
    return found


def usual_script(words: Iterable[tuple[str, int]]) -> str:
    """Return the script of most running words; any other is foreign (ours).

    >>> usual_script([("слово", 3), ("word", 2)])
    'CYRILLIC'
    """
    found: Counter[str] = Counter()
    for word, count in words:
        for script in scripts(word):
            found[script] += count
    return max(found, key=lambda script: (found[script], script), default="LATIN")


def covered_characters(
    words: Iterable[tuple[str, int]], coverage: float = COVERAGE
) -> frozenset[str]:
    """Return the most frequent characters with this share of the text, and ASCII 33 to 122.

    Ties go to the smaller code point. Source: Kudo & Richardson 2018 (character coverage); Bauwens
    & de Lhoneux 2026, §B.1 (the range).

    >>> sorted(covered_characters([("é", 9), ("ñ", 1)], 0.9) - KEPT_ASCII)
    ['é']
    """
    found: Counter[str] = Counter()
    for word, count in words:
        for character in word:
            found[character] += count
    wanted, reached = coverage * sum(found.values()), 0
    kept = set(KEPT_ASCII)
    for character in sorted(found, key=lambda c: (-found[c], c)):
        if reached >= wanted:
            break
        kept.add(character)
        reached += found[character]
    return frozenset(kept)


# ------------------------------------------------------------------------- cutting one word


def keep_whole(word: str, marker: str) -> list[str]:
    """Return the word with its marker, uncut."""
    return [_marked(word, marker)]


def split_by_gpt2_pattern(word: str, marker: str) -> list[str]:
    """Split the marked word by the pattern of GPT-2's byte-level pre-tokeniser.

    Source: Radford et al. 2019 (letters, digits, other signs and English contractions apart).

    >>> split_by_gpt2_pattern("children's", " "), split_by_gpt2_pattern("4th", " ")
    ([' children', "'s"], [' 4', 'th'])
    """
    text = _marked(word, marker)
    if word.isalpha():
        return [text]
    return [text[start:end] for _, (start, end) in _gpt2().pre_tokenize_str(text)]


@lru_cache(maxsize=1)
def _gpt2() -> Any:
    from tokenizers.pre_tokenizers import ByteLevel

    return ByteLevel(add_prefix_space=False, use_regex=True)


def split_at_hyphens(word: str, marker: str) -> list[str]:
    """Split the marked word before and after each hyphen.

    >>> split_at_hyphens("co-op", "▁")
    ['▁co', '-', 'op']
    """
    return [piece for piece in re.split("(-)", _marked(word, marker)) if piece]


def modern(word: str, marker: str) -> list[str]:
    """Split contractions, apostrophes, digits and hyphens, in this order, and mark capitals.

    Each piece left by the first two steps gets a marker, from which digits and hyphens are split.
    Source: Bauwens & de Lhoneux 2026, §B.1.

    >>> modern("L'Oréal's", "▁")
    ['▁⇧l', "▁'⇧oréal", "▁'s"]
    >>> modern("Covid-19", "▁")
    ['▁⇧covid', '-', '19']
    """
    pieces = [word]
    if not word.isalpha():
        pieces = [part for piece in pieces for part in split_contractions(piece)]
        pieces = [part for piece in pieces for part in split_apostrophes(piece)]
    pieces = [_marked(piece, marker) for piece in pieces]
    if not word.isalpha():
        pieces = [part for piece in pieces for part in split_digits(piece)]
        pieces = [part for piece in pieces for part in split_hyphens(piece)]
    return [mark_capitals(piece) for piece in pieces]


def _marked(word: str, marker: str) -> str:
    # Like Hugging Face's Metaspace, this adds no second marker.
    return word if marker == "▁" and word.startswith("▁") else marker + word


def split_contractions(word: str) -> list[str]:
    """Split off English contractions before the word's end, a hyphen or an apostrophe.

    >>> split_contractions("don't"), split_contractions("she’ll"), split_contractions("o'clock")
    (['do', "n't"], ['she', '’ll'], ["o'clock"])
    """
    return [piece for piece in _CONTRACTION.split(word) if piece]


def split_apostrophes(word: str) -> list[str]:
    """Split at apostrophes, which join the longer side, or the left one in a tie (ours).

    A side extends to the next apostrophe or the word's end; a run of apostrophes between empty
    sides stands alone; n't stays whole (ours).

    >>> split_apostrophes("l'eau"), split_apostrophes("aujourd'hui")
    (['l', "'eau"], ["aujourd'", 'hui'])
    >>> split_apostrophes("rock'n'roll")
    ["rock'", 'n', "'roll"]
    """
    if not any(mark in word for mark in _APOSTROPHES) or word.lower() in ("n't", "n’t"):
        return [word]
    sides = re.split("(['’])", word)
    pieces: list[str] = []
    taken = alone = ""
    for at in range(0, len(sides), 2):
        side, mark = sides[at], "".join(sides[at + 1 : at + 2])
        following = len(sides[at + 2]) if mark else 0
        if side:
            own, taken = taken, "" if len(side) >= following else mark
            pieces += [alone, own + side + (mark if not taken else "")]
            alone = ""
        elif following:
            taken = mark
        else:
            alone += mark
    return [piece for piece in (*pieces, alone) if piece]


def split_digits(word: str) -> list[str]:
    """Split off runs of digits, in threes from the right; a marker before them is a piece.

    >>> split_digits("▁1234567"), split_digits("ab12c")
    (['▁', '1', '234', '567'], ['ab', '12', 'c'])
    """
    return [piece for piece in _DIGITS.split(word) if piece]


def split_hyphens(word: str) -> list[str]:
    """Make each run of hyphens a piece of its own.

    >>> split_hyphens("a--b-c")
    ['a', '--', 'b', '-', 'c']
    """
    return [piece for piece in _HYPHENS.split(word) if piece]


# ------------------------------------------------------------------------- capitals


@lru_cache(maxsize=1)
def _capitals() -> dict[str, str]:
    """Return each lower-case form and its capital, for characters that NFKC keeps."""
    found = {}
    for code in range(0x110000):
        character = chr(code)
        lower = character.lower()
        if lower != character and unicodedata.normalize("NFKC", character) == character:
            found[lower] = character
    return found


def mark_capitals(text: str) -> str:
    """Lower-case a text reversibly, with ⇧ before each former capital.

    ⇧ itself is doubled. Letters are lower-cased one by one, so a final Σ becomes σ.

    >>> mark_capitals("McDonald"), mark_capitals("⇧")
    ('⇧mc⇧donald', '⇧⇧')
    """
    if text.islower() and CAPITAL not in text:
        return text
    return "".join(
        CAPITAL + lower
        if (lower := character.lower()) != character or character == CAPITAL
        else character
        for character in text
    )


def restore_capitals(text: str) -> str:
    """The inverse of `mark_capitals`, for text in NFKC.

    >>> restore_capitals("⇧mc⇧donald"), restore_capitals("⇧⇧")
    ('McDonald', '⇧')
    """
    characters = iter(text)
    restored = []
    for character in characters:
        if character == CAPITAL:
            character = next(characters, CAPITAL)
            character = _capitals().get(character, character.upper())
        restored.append(character)
    return unicodedata.normalize("NFKC", "".join(restored))
