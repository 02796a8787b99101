"""The error browser: kinds of errors, what is found and in which order, marked words."""

import csv
import io
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.reference.entry import Entry, Reference
from morphgraph.score.comparison import (
    ERROR_KINDS,
    MISSED,
    RIGHT_SPLIT,
    WRONG_SPLIT,
    ErrorBrowser,
    ErrorKind,
    WordErrors,
    marked_word,
)
from morphgraph.score.gold_set import SCOPES, GoldSet, Scope
from morphgraph.score.outcome import Outcome, ideal, outcome_of
from morphgraph.score.table import GoldBoundaries
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tables.scores import errors_csv
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


def entry(morphs: str, whole: str | None, count: float | None = None) -> Entry:
    parts = tuple(morphs.split())
    return Entry("".join(parts), parts, None if whole is None else tuple(whole.split()), count)


def outcome(entries: Sequence[Entry], segmenter: Segmenter) -> Outcome:
    on = GoldSet.of(Reference("gold.tsv", "plain", tuple(entries), (), "0" * 12))
    return outcome_of(segmenter, on)


def vocabulary(*types: str, letters: str = "abcdefghijklmnopqrstuvwxyzßS") -> SubwordVocabulary:
    return SubwordVocabulary((*types, *letters))


# Longest type from the left: undo|ing, dogs, hous|eb|oat, d|o|able, d|o|g, cat, able.
WORDS = vocabulary("undo", "ing", "dogs", "hous", "eb", "oat", "able", "cat")
SOME = [
    entry("un do ing", "undoing", 5),
    entry("dog s", "dogs", 10),
    entry("house boat", "house boat", 1),
    entry("do able", None, 5),
    entry("dog", "dog", 2),
    entry("cat", None, 100),
    entry("able", "able", 1),
]
UNDOING, DOGS, HOUSEBOAT, DOABLE, DOG, CAT, ABLE = range(7)


@pytest.fixture
def browser() -> ErrorBrowser:
    return ErrorBrowser(outcome(SOME, Greedy(WORDS)))


@pytest.fixture
def whole_words() -> ErrorBrowser:
    return ErrorBrowser(outcome(SOME, Greedy(WORDS)), "whole-word")


def kinds(browser: ErrorBrowser) -> list[str | None]:
    return [None if place < 0 else ERROR_KINDS[place] for place in browser.kinds.tolist()]


def test_the_most_wrong_gaps_come_first_then_the_most_frequent(browser: ErrorBrowser) -> None:
    # 3 gaps; 2; then one each, with counts of 10, 5 and 5, in the order of the reference.
    assert browser.find().tolist() == [HOUSEBOAT, DOG, DOGS, UNDOING, DOABLE]
    assert browser.find(ERROR_KINDS).tolist()[5:] == [CAT, ABLE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("do", [DOG, DOGS, UNDOING, DOABLE]),
        ("DO", [DOG, DOGS, UNDOING, DOABLE]),
        ("dog", [DOG, DOGS]),
        ("undoing", [UNDOING]),
        ("o.", []),
        ("un do", []),
        ("", [HOUSEBOAT, DOG, DOGS, UNDOING, DOABLE]),
    ],
)
def test_found_by_text(browser: ErrorBrowser, text: str, expected: list[int]) -> None:
    assert browser.find(text=text).tolist() == expected


@pytest.mark.parametrize("text", ["strasse", "STRASSE", "straße", "Straße"])
def test_the_case_does_not_matter(text: str) -> None:
    words = [entry("Straß e", None), entry("strass e", None)]
    found = ErrorBrowser(outcome(words, Greedy(vocabulary()))).find(text=text)
    assert sorted(found.tolist()) == [0, 1]


def test_found_by_affix(browser: ErrorBrowser) -> None:
    boundaries = GoldBoundaries(browser.outcome.gold_set)
    among = np.zeros(len(SOME), bool)
    among[boundaries.owners[boundaries.affixes["do"]]] = True
    assert browser.find(among=among).tolist() == [UNDOING, DOABLE]
    assert browser.find(["over-segmented"], among=among).tolist() == [DOABLE]
    assert browser.find(text="ing", among=among).tolist() == [UNDOING]
    assert browser.find(text="dogs", among=among).tolist() == []


def test_rows_by_hand(browser: ErrorBrowser, whole_words: ErrorBrowser) -> None:
    assert browser.row(HOUSEBOAT) == WordErrors(
        2, "houseboat", "house|boat", "hous eb oat", "hous·e‿b·oat", "both", 2, 1, 1.0
    )
    assert browser.row(UNDOING) == WordErrors(
        0, "undoing", "un|do|ing", "undo ing", "un‿do|ing", "under-segmented", 0, 1, 5.0
    )
    assert browser.row(CAT) == WordErrors(5, "cat", "cat", "cat", "cat", "exact", 0, 0, 100.0)
    assert whole_words.row(UNDOING) == WordErrors(
        0, "undoing", "undoing", "undo ing", "undo·ing", "over-segmented", 1, 0, 5.0
    )
    assert whole_words.row(HOUSEBOAT) == browser.row(HOUSEBOAT)


def test_the_gold_has_no_errors() -> None:
    gold_set = outcome(SOME, Greedy(WORDS)).gold_set
    found = ErrorBrowser(ideal(gold_set))
    assert found.find().tolist() == []
    assert found.row(UNDOING).tokens == "un do ing"
    assert found.row(UNDOING).marked == "un|do|ing"
    # Against whole words it splits affixes off.
    assert ErrorBrowser(ideal(gold_set), "whole-word").find().tolist() == [UNDOING, DOGS]


def test_csv_of_errors(browser: ErrorBrowser) -> None:
    content = errors_csv(browser, browser.find(["both", "under-segmented"]))
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    signature = browser.outcome.signature(scores="morphemic errors")
    assert rows == [
        ["word", "gold", "tokens", "marked", "kind", "wrong splits", "missed boundaries",
         "frequency", "signature"],
        ["houseboat", "house|boat", "hous eb oat", "hous·e‿b·oat", "both", "2", "1", "1",
         signature],
        ["dogs", "dog|s", "dogs", "dog‿s", "under-segmented", "0", "1", "10", signature],
        ["undoing", "un|do|ing", "undo ing", "un‿do|ing", "under-segmented", "0", "1", "5",
         signature],
    ]  # fmt: skip


# --- marks ----------------------------------------------------------------------------------------

SIGNS = {RIGHT_SPLIT, WRONG_SPLIT, MISSED}
TEXTS = st.text(st.characters(exclude_characters="".join(SIGNS)), min_size=1, max_size=12)


@given(text=TEXTS, data=st.data())
def test_a_marked_word_without_marks_is_the_word(text: str, data: st.DataObject) -> None:
    gaps = st.sets(st.integers(1, len(text) - 1)) if len(text) > 1 else st.just(set())
    splits, gold = data.draw(gaps), data.draw(gaps)
    marked = marked_word(text, sorted(splits), sorted(gold))
    assert "".join(c for c in marked if c not in SIGNS) == text
    # And each mark is at its gap.
    found: dict[int, str] = {}
    at = 0
    for character in marked:
        if character in SIGNS:
            assert at not in found
            found[at] = character
        else:
            at += 1
    both = dict.fromkeys(splits & gold, RIGHT_SPLIT)
    assert found == {
        **both,
        **dict.fromkeys(splits - gold, WRONG_SPLIT),
        **dict.fromkeys(gold - splits, MISSED),
    }


MORPHS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4)


@pytest.mark.parametrize("scope", SCOPES)
@given(
    words=st.lists(st.tuples(MORPHS, st.booleans()), min_size=1, max_size=8),
    types=st.sets(st.text("ab", min_size=2, max_size=4), max_size=5),
)
def test_kinds_and_rows_word_by_word(
    scope: Scope, words: list[tuple[list[str], bool]], types: set[str]
) -> None:
    entries = [
        Entry("".join(morphs), tuple(morphs), ("".join(morphs),) if known else None)
        for morphs, known in words
    ]
    browser = ErrorBrowser(
        outcome(entries, Greedy(vocabulary(*sorted(types), letters="ab"))), scope
    )
    expected: list[ErrorKind | None] = []
    numbers = []
    for number, found in enumerate(entries):
        segments = found.morphs if scope == "morphemic" else found.whole_words
        if segments is None:
            expected.append(None)
            continue
        gold = {len("".join(segments[:at])) for at in range(1, len(segments))}
        tokens = browser.outcome.token_texts(number)
        splits = {len("".join(tokens[:at])) for at in range(1, len(tokens))}
        over, under = splits - gold, gold - splits
        expected.append(
            "both" if over and under else "over-segmented" if over
            else "under-segmented" if under else "exact"
        )  # fmt: skip
        row = browser.row(number)
        assert (row.wrong, row.missed, row.kind) == (len(over), len(under), expected[-1])
        assert row.marked.translate({ord(MISSED): None}) == marked_word(
            found.word, splits, gold & splits
        )
        assert row.gold.split("|") == list(segments)
        numbers.append((-len(over) - len(under), number))
    assert kinds(browser) == expected
    assert browser.counts() == {
        **dict.fromkeys(ERROR_KINDS, 0),
        **Counter(kind for kind in expected if kind),
    }
    assert browser.find(ERROR_KINDS).tolist() == [number for _, number in sorted(numbers)]


def test_a_word_without_gold_of_the_scope_has_no_row(whole_words: ErrorBrowser) -> None:
    with pytest.raises(ValueError, match="has no whole-word segmentation"):
        whole_words.row(DOABLE)
