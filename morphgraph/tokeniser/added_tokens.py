"""Added tokens, matched in texts exactly as in the ``tokenizers`` library."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple


class AddedToken(NamedTuple):
    """A token that texts are searched for before anything else.

    ``single_word``: only if not adjacent to a word character; ``lstrip`` and ``rstrip``: it
    includes white space on that side; ``normalized``: it is matched after normalisation, with its
    content normalised too.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


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
