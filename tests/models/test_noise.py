"""Noise in texts: what happens to a word, to how many of them, and that a seed repeats it."""

from __future__ import annotations

from collections import Counter

import pytest

from morphgraph.models.downstream.tasks import damaged, noisy, without_spaces


@pytest.mark.parametrize(
    ("damage", "place", "expected"),
    [
        ("swap", 0, "owrd"),
        ("swap", 2, "wodr"),
        ("drop", 0, "ord"),
        ("drop", 3, "wor"),
        ("double", 0, "wword"),
        ("double", 3, "wordd"),
    ],
)
def test_a_word_is_damaged_in_one_place(damage: str, place: int, expected: str) -> None:
    assert damaged("word", damage, place) == expected


def test_every_damage_at_every_place_happens_and_nothing_else() -> None:
    possible = {damaged("abc", "swap", place) for place in range(2)}
    possible |= {damaged("abc", kind, place) for kind in ("drop", "double") for place in range(3)}
    found = Counter(noisy(["abc"] * 2000, 1.0, seed=0))
    assert set(found) == possible == {"bac", "acb", "bc", "ac", "ab", "aabc", "abbc", "abcc"}


def test_a_share_of_the_words_is_damaged_and_spaces_stay() -> None:
    text = "alpha  beta\tgamma delta"
    words = [word for damaged_text in noisy([text] * 500, 0.3, 7) for word in damaged_text.split()]
    changed = sum(word not in text.split() for word in words) / len(words)
    assert 0.26 < changed < 0.34
    # Swapped letters that are alike leave a word as it is; there are none here.
    assert noisy(["a b"], 1.0, 3) == ["a b"]
    assert all("  " in found and "\t" in found for found in noisy([text] * 20, 1.0, 1))


def test_a_seed_repeats_it_whatever_comes_before() -> None:
    texts = ["one two three four", "five six seven"]
    assert noisy(texts, 0.5, 4) == noisy(texts, 0.5, 4) != noisy(texts, 0.5, 5)
    assert noisy(["another text here", texts[1]], 0.5, 4)[1] == noisy(texts, 0.5, 4)[1]


def test_a_share_of_the_spaces_is_dropped_and_nothing_else() -> None:
    text = " one two  three four five "
    found = without_spaces([text] * 500, 0.3, 1)
    assert {each.replace(" ", "") for each in found} == {"onetwothreefourfive"}
    assert all(each.startswith(" one") and each.endswith("five ") for each in found)
    gone = sum(4 - len(each.split()) + 1 for each in found) / (4 * 500)
    assert 0.25 < gone < 0.35
    assert found == without_spaces([text] * 500, 0.3, 1) != without_spaces([text] * 500, 0.3, 2)
