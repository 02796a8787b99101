"""Added tokens: found in a text exactly as the ``tokenizers`` library finds them."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple


class AddedToken(NamedTuple):
    """A token that a text is searched for before anything else.

    ``single_word``: not next to a word character; ``lstrip`` and ``rstrip``: it takes the white
    space on that side along; ``normalized``: it is looked for after normalisation, its content
    normalised too.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class Found(NamedTuple):
    """A stretch of a text: an added token, or what is between two (``token`` is None then).

    ``start`` and ``end`` are those of the token's content, without white space that it takes along.
    """

    token: AddedToken | None
    start: int
    end: int


class Search:
    """One pass over a text: the leftmost match, the longest of those there, whatever their flags.

    Only then a token's ``single_word`` is looked at, and it is widened by ``lstrip`` and
    ``rstrip``; a match that begins inside the widened one before it still counts.

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
        """The leftmost longest matches, none of which overlap, before flags are looked at."""
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
        """The whole text, cut at the added tokens that it has."""
        at = 0
        for token, start, end in self.matches(text):
            if token is None or (token.single_word and not _stands_alone(text, start, end)):
                continue
            left = max(at, _without_space_before(text, start)) if token.lstrip else start
            right = _without_space_behind(text, end) if token.rstrip else end
            if at < left:
                yield Found(None, at, left)
            if left < right:  # else it is white space that the token before it took along
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
        """What is looked for in the text as it is."""
        return Search((token.content, token) for token in self._tokens if not token.normalized)

    @cached_property
    def normalised(self) -> Search:
        """What is looked for in the normalised text."""
        return Search(
            (self.normal(token.content), token) for token in self._tokens if token.normalized
        )

    def normal(self, text: str) -> str:
        """The normalised text."""
        normal: str = text if self.normalizer is None else self.normalizer.normalize_str(text)
        return normal

    def match(self, text: str) -> bool:
        """Whether an added token occurs in a text, its flags apart."""
        return any(True for _ in self.raw.matches(text)) or (
            any(token.normalized for token in self._tokens)
            and any(True for _ in self.normalised.matches(self.normal(text)))
        )


_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's white space; Python's is more."""
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
    r"""Whether ``\w`` of Rust's regular expressions matches: marks do, ½ and ² do not.

    The library is asked itself: its `Whitespace` cuts by that very class.

    >>> [is_word_character(character) for character in ("é", "\u0301", "_", "½", "²", "-")]
    [True, True, True, False, False, False]
    """
    return _whitespace().pre_tokenize_str("a" + character)[0][0] == "a" + character  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _whitespace() -> Any:
    from tokenizers.pre_tokenizers import Whitespace

    return Whitespace()
