"""Sequences of strings: the kernel against rapidfuzz, and both against the plain recursion."""

from collections.abc import Sequence

from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq, Levenshtein

from morphgraph.score.metrics import edit_distances, longest_common
from morphgraph.score.outcome import Strings

Lists = list[list[str]]
SEPARATOR = "\N{NULL}"

FEW = st.lists(st.lists(st.text("ab", max_size=3), max_size=5), min_size=1, max_size=5)
# Astral and composed characters, and half of a surrogate pair; no separator.
ANY = st.lists(
    st.lists(st.text(st.sampled_from("aäß\u0301字😀\U0010ffff\ud83d\x01"), max_size=8), max_size=8),
    min_size=1,
    max_size=4,
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Lists, Lists]:
    """Two lists of strings for each of some words; often some are the same in both."""
    one = draw(FEW | ANY)
    other = draw(FEW | ANY)
    count = min(len(one), len(other))
    for number in range(count):
        if one[number] and draw(st.booleans()):
            other[number] = draw(st.lists(st.sampled_from(one[number]), max_size=8))
    return one[:count], other[:count]


def lcs(one: Lists, other: Lists) -> list[int]:
    found: list[int] = longest_common(Strings.of(one), Strings.of(other)).tolist()
    return found


def distances(one: Lists, other: Lists) -> list[int]:
    found: list[int] = edit_distances(Strings.of(one), Strings.of(other)).tolist()
    return found


@examples(400)
@given(pairs())
@example(([[]], [[]]))
@example(([[""]], [[]]))
@example(([["", ""]], [[""]]))
@example(([["a"], []], [[], ["b", "b"]]))
def test_as_rapidfuzz(drawn: tuple[Lists, Lists]) -> None:
    one, other = drawn
    assert lcs(one, other) == [LCSseq.similarity(a, b) for a, b in zip(one, other, strict=True)]
    assert distances(one, other) == [
        Levenshtein.distance([*SEPARATOR.join(a)], [*SEPARATOR.join(b)])
        for a, b in zip(one, other, strict=True)
    ]
    assert lcs(other, one) == lcs(one, other)
    assert distances(other, one) == distances(one, other)


BY_HAND: list[tuple[list[str], list[str], int, int]] = [
    (["un", "do", "able"], ["un", "do", "able"], 3, 0),
    (["un", "do", "able"], ["undo", "able"], 1, 1),  # one separator goes
    (["dog", "s"], ["dogs"], 0, 1),
    (["dog", "s"], [], 0, 5),  # d o g | s
    ([], [], 0, 0),
    ([], [""], 0, 0),  # a separator stands between two strings only
    (["", ""], [""], 1, 1),
    (["a", "b", "c"], ["c", "a", "b"], 2, 3),  # a|b|c to c|a|b: three letters change
    (["ab", "ab"], ["ab"], 1, 3),
    (["subside", "ise", "ed"], ["subsid", "is", "ed"], 1, 2),
    (["a"], ["b"], 0, 1),
]


def test_words_do_not_see_each_other() -> None:
    one = [row[0] for row in BY_HAND]
    other = [row[1] for row in BY_HAND]
    assert lcs(one, other) == [row[2] for row in BY_HAND]
    assert distances(one, other) == [row[3] for row in BY_HAND]
    assert lcs([], []) == distances([], []) == []


def test_long_words() -> None:
    one, other = ["ab" * 500, "c" * 300], ["ba" * 500, "c" * 299, "c"]
    assert lcs([one], [other]) == [0]
    expected = Levenshtein.distance(SEPARATOR.join(one), SEPARATOR.join(other))
    assert distances([one], [other]) == [expected]


def test_a_separator_equals_no_character() -> None:
    every: Sequence[str] = [chr(point) for point in (0, 1, 0x2C, 0xFFFF, 0x10FFFF)]
    assert distances([["a", "b"]] * 5, [["a" + c + "b"] for c in every]) == [1] * 5
