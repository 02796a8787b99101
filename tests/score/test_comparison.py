"""Comparisons: every cell, score and share against the plainest way to compute it."""

from collections import Counter

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import gold_of, small_reference, small_tokeniser
from strategies import well_formed

from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Entry
from morphgraph.score.comparison import (
    MISSED,
    RIGHT_SPLIT,
    WRONG_SPLIT,
    Comparison,
    SegmentedWord,
    WordPart,
    marked_word,
    worst_words,
)
from morphgraph.score.gold_set import SCOPES, GoldSet
from morphgraph.score.outcome import ideal, outcome_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import METHODS, parse_method, split_methods
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

GOLD = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=4)


@given(
    lists=st.lists(well_formed(), min_size=1, max_size=3),
    gold=st.lists(st.none() | GOLD, min_size=1, max_size=6),
)
def test_cells_and_summaries(lists, gold):
    merges = [list(dict.fromkeys(found)) for found in lists]
    segmenters = [Bte(small_tokeniser(found, "abc")) for found in merges]
    texts = ["".join(morphs) if morphs else "abcabc" for morphs in gold]
    made = Comparison(segmenters, texts, gold)
    tokens = [
        [oracles.Lookup(oracles.listed(found)).segment(text) for text in texts] for found in merges
    ]
    for number, row in enumerate(made.rows):
        assert row.text == texts[number]
        for column, cell in enumerate(row.cells):
            found = tokens[column][number]
            assert list(cell.tokens) == found
            cut = oracles.boundaries(found)
            assert "".join(piece.text for piece in cell.pieces) == texts[number]
            morphs = gold[number]
            if morphs is None:
                assert cell.exact is None
                continue
            wanted = oracles.boundaries(morphs)
            edges = Counter(piece.boundary for piece in cell.pieces)
            counted = (len(cut & wanted), len(cut - wanted), len(wanted - cut))
            assert (edges["right"], edges["wrong"], edges["missed"]) == counted
            assert cell.exact == (cut == wanted)
    known = [number for number, morphs in enumerate(gold) if morphs is not None]
    for column, scores in enumerate(made.scores.estimates):
        both, predicted, relevant = oracles.score(
            [tokens[column][n] for n in known], [gold[n] or [] for n in known], [1.0] * len(known)
        )
        expected = [
            both / predicted if predicted else np.nan,
            both / relevant if relevant else np.nan,
            2 * both / (predicted + relevant) if relevant else np.nan,
            sum(map(len, tokens[column])) / len(texts),
        ]
        assert scores
        found_scores = [scores[name].value for name in ("precision", "recall", "f1")]
        assert [*found_scores, made.tokens_per_word[column]] == pytest.approx(expected, nan_ok=True)
    for one in range(len(merges)):
        for other in range(len(merges)):
            alike = [a == b for a, b in zip(tokens[one], tokens[other], strict=True)]
            assert made.agreement[one, other] == pytest.approx(sum(alike) / len(alike))
    differing = [len({tuple(t[n]) for t in tokens}) > 1 for n in range(len(texts))]
    assert sorted(made.disputed()) == [n for n, differs in enumerate(differing) if differs]


def test_most_disputed_by_hand():
    """ab is cut by none, by none and by one: disputed by 1; abc at a|b by one, at b|c by two: 2."""
    made = [
        Bte(small_tokeniser(merges, "abc"))
        for merges in ([("a", "b")], [("a", "b"), ("ab", "c")], [("b", "c")])
    ]
    texts = ["aa", "ab", "abc"]
    for some, disputed in ((made, [2, 1]), (made[:1], []), ([], [])):
        assert Comparison(some, texts, [None] * 3).disputed() == disputed


def test_pieces_by_hand():
    """abcd is cut ab|c|d; the gold is a|bc|d: a‿b missed, b|c wrong, c|d right."""
    segmenter = Bte(small_tokeniser([("a", "b")], "abcd"))
    [row] = Comparison([segmenter], ["abcd"], [("a", "bc", "d")]).rows
    [cell] = row.cells
    signs = {"a": "start", "b": "missed", "c": "wrong", "d": "right"}
    parts = tuple(WordPart(text, sign) for text, sign in signs.items())
    assert cell == SegmentedWord(("ab", "c", "d"), parts, False)
    [row] = Comparison([segmenter], ["abcd"], [None]).rows
    assert [piece.boundary for piece in row.cells[0].pieces] == ["start", "split", "split"]


def test_a_character_in_several_tokens_is_its_bytes():
    """U+044F is D1 8F, which the English demo never merges; the marker is merged with a only."""
    segmenter = method_on(load_tokeniser("demo:en"), "bpe")
    rows = Comparison([segmenter], ["a\u044f", "\u044fa"], [("a", "\u044f"), None]).rows
    assert [row.cells[0].tokens for row in rows] == [
        ("Ġa", "⟨D1⟩", "⟨8F⟩"),
        ("Ġ", "⟨D1⟩", "⟨8F⟩", "a"),
    ]
    first, second = (
        [(piece.text, piece.boundary) for piece in row.cells[0].pieces] for row in rows
    )
    assert first == [("a", "start"), ("⟨D1⟩", "right"), ("⟨8F⟩", "inside")]
    assert rows[0].cells[0].exact  # a score counts gaps between characters only
    assert second == [("␣", "marker"), ("⟨D1⟩", "start"), ("⟨8F⟩", "inside"), ("a", "split")]


@pytest.mark.parametrize("method", ["bpe", "dropout(p=0.5)", "flota", "first(k=2)", "greedy"])
def test_there_is_a_piece_for_each_token(method):
    name, settings = parse_method(method)
    segmenter = method_on(load_tokeniser("demo:en"), name, settings)
    texts = ["undesirable", "\u0443\u0447\u0435\u043d\u044b\u0439", "€uro", "caf\u00e9s", "日本"]
    for row in Comparison([segmenter], texts, [None] * len(texts)).rows:
        [cell] = row.cells
        assert len([piece for piece in cell.pieces if not piece.dropped]) == len(cell.tokens)


def test_what_is_left_out_is_dropped():
    first = method_on(small_tokeniser([("a", "b")], "abcd"), "first", {"k": 1})
    [row] = Comparison([first], ["abcd"], [None]).rows
    assert row.cells[0].tokens == ("ab",)
    assert [(piece.text, piece.dropped) for piece in row.cells[0].pieces] == [
        ("ab", False),
        ("cd", True),
    ]


def test_the_signature_names_all_that_the_scores_depend_on():
    segmenter = Bte(small_tokeniser([("a", "b")], "ab"))
    first = Comparison([segmenter], ["ab"], [("a", "b")])
    assert segmenter.signature() in first.signature
    others = [
        Comparison([segmenter], ["ba"], [("b", "a")]),
        Comparison([segmenter], ["ab"], [None]),
        Comparison([segmenter], ["ab"], [("a", "b")], bare=True),
        Comparison([Bte(small_tokeniser([], "ab"))], ["ab"], [("a", "b")]),
    ]
    assert len({first.signature, *(other.signature for other in others)}) == 5
    assert first.signature == Comparison([segmenter], ["ab"], [("a", "b")]).signature


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bpe", ("bpe", {})),
        (" dropout( p = 0.25 , seed=3 ) ", ("dropout", {"p": 0.25, "seed": 3})),
        ("flota()", ("flota", {})),
        ("x(y=whole-word)", ("x", {"y": "whole-word"})),
    ],
)
def test_methods_as_they_are_written(text, expected):
    assert parse_method(text) == expected


@pytest.mark.parametrize(
    "text", ["", "a b", "x(y", "x(y)", "x(y=Z)", "x(y=inf)", "x(y=)", "x(=1)", "x(=1)" * 2]
)
def test_faulty_methods(text):
    with pytest.raises(MorphGraphError):
        parse_method(text)


def test_parameters_may_be_true_or_false():
    assert split_methods("a, b(c=1, d=2),e ,") == ["a", "b(c=1, d=2)", "e"]
    name, given = parse_method("dropout(p=0.2, queue=true)")
    assert dict(METHODS[name].settings(given)) == {"p": 0.2, "seed": 0, "queue": True}
    assert method_on(load_tokeniser("demo:en"), name, given).parameters["queue"] is True
    assert dict(METHODS["flota"].settings({}))["strict"] is False
    for wrong in ("dropout(queue=1)", "dropout(p=true)", "flota(k=false)"):
        name, given = parse_method(wrong)
        with refused():
            METHODS[name].settings(given)


def vocabulary(*types, letters="abcdefghijklmnopqrstuvwxyzßS"):
    return SubwordVocabulary((*types, *letters))


# Longest type from the left: undo|ing, dogs, hous|eb|oat, d|o|able, d|o|g, cat, able.
WORDS = vocabulary("undo", "ing", "dogs", "hous", "eb", "oat", "able", "cat")
SOME = small_reference(
    "un do ing / undoing",
    *("dog s / dogs", "house boat / house boat", "do able", "dog / dog", "cat", "able / able"),
    counts=[5, 10, 1, 5, 2, 100, 1],
)
UNDOING, DOGS, HOUSEBOAT, DOABLE, DOG = range(5)


def test_the_worst_words_come_first():
    """3 gaps; 2; then one each, with counts of 10, 5 and 5, in the order of the reference."""
    found = outcome_of(Greedy(WORDS), GoldSet.of(SOME))
    assert worst_words(found).tolist() == [HOUSEBOAT, DOG, DOGS, UNDOING, DOABLE]
    gold = ideal(found.gold_set)
    assert worst_words(gold).tolist() == []
    # Against whole words it splits affixes off.
    assert worst_words(gold, "whole-word").tolist() == [UNDOING, DOGS]


SIGNS = {RIGHT_SPLIT, WRONG_SPLIT, MISSED}
TEXTS = st.text(st.characters(exclude_characters="".join(SIGNS)), min_size=1, max_size=12)


@given(text=TEXTS, data=st.data())
def test_a_marked_word_without_marks_is_the_word(text, data):
    gaps = st.sets(st.integers(1, len(text) - 1)) if len(text) > 1 else st.just(set())
    splits, gold = data.draw(gaps), data.draw(gaps)
    marked = marked_word(text, sorted(splits), sorted(gold))
    assert "".join(c for c in marked if c not in SIGNS) == text
    # And each mark is at its gap.
    found = {}
    at = 0
    for character in marked:
        if character in SIGNS:
            assert at not in found
            found[at] = character
        else:
            at += 1
    expected = dict.fromkeys(splits & gold, RIGHT_SPLIT)
    expected |= dict.fromkeys(splits - gold, WRONG_SPLIT) | dict.fromkeys(gold - splits, MISSED)
    assert found == expected


MORPHS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4)


@pytest.mark.parametrize("scope", SCOPES)
@given(
    words=st.lists(st.tuples(MORPHS, st.booleans()), min_size=1, max_size=8),
    types=st.sets(st.text("ab", min_size=2, max_size=4), max_size=5),
)
def test_the_worst_words_one_by_one(scope, words, types):
    entries = [
        Entry("".join(morphs), tuple(morphs), ("".join(morphs),) if known else None)
        for morphs, known in words
    ]
    greedy = Greedy(vocabulary(*sorted(types), letters="ab"))
    found = outcome_of(greedy, gold_of(*entries))
    expected = []
    for number, one in enumerate(entries):
        segments = one.morphs if scope == "morphemic" else one.whole_words
        if segments is None:
            continue
        gold = {len("".join(segments[:at])) for at in range(1, len(segments))}
        tokens = found.token_texts(number)
        splits = {len("".join(tokens[:at])) for at in range(1, len(tokens))}
        if splits != gold:
            expected.append((-len(splits ^ gold), number))
    assert worst_words(found, scope).tolist() == [number for _, number in sorted(expected)]
