"""Continued training: as a plain search in strings, and every new type is reached."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import Lookup, listed
from oracles import segment as segment_plainly
from refusals import refused
from small import small_tokeniser
from strategies import MERGES, bpe_of, graph_of, seen, word_counts
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.core.files import demo_tokeniser_path
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.hugging_face import new_ids, removed_ids, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.extending import extend, preview_append, preview_extend
from morphgraph.refine.pruning import preview_prune, splits
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.tokeniser.merging import unreachable_types
from morphgraph.tokeniser.preprocess import Preprocessor


def continued(merges, counts, add):
    """Merges until there are so many new strings; the letter d is outside the alphabet."""
    known, new, found = set(graph_of(merges).types), set[str](), list[tuple[str, str]]()
    while len(new) < add:
        lookup, pairs = Lookup(listed([*merges, *found])), Counter[tuple[str, str]]()
        for word, count in counts.items():
            for pair in pairwise(lookup.segment(seen(word))):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        found.append(best)
        if "".join(best) not in known:
            new.add("".join(best))
    return found


@given(MERGES, word_counts("abcd", 12, 8), st.integers(1, 12))
@example([("bca", "c")], {"bcac": 5, "bcacbca": 3}, 5)  # an old merge applies to a new bca
@examples(1500)
def test_merges_are_those_of_a_plain_search(merges, counts, add):
    tokeniser = bpe_of(merges)
    graph, before, expected = tokeniser.graph, bpe_of(merges), continued(merges, counts, add)
    change = preview_extend(tokeniser, counts, add)
    assert list(map(tuple, change.step["merges"])) == expected
    dead = set(graph.types) - {graph.types[n] for n in splits(graph)}
    graph.apply(change)
    tokeniser.id_choice = "keep"
    ids = {graph.types[number]: new for number, new in new_ids(tokeniser).items()}
    strings = list(dict.fromkeys(map("".join, expected)))
    new = [text for text in strings if text not in before.graph]
    assert [ids[text] for text in new] == list(range(len(before.types), len(ids)))
    reached = splits(graph)
    assert set(new) <= {graph.types[n] for n in reached}
    assert set(graph.types) - {graph.types[n] for n in reached} <= dead


def test_the_example_of_the_source():
    tokeniser = tokeniser_of_types("example", ["a", "b", "c", "d", "ab"], ["ab"])
    change = preview_extend(tokeniser, {"abcab": 2, "abd": 1}, 9)
    assert change.step["merges"] == [["ab", "c"], ["abc", "ab"], ["ab", "d"]]
    with refused():
        preview_extend(tokeniser, {"abcab": 2}, 0)


def test_a_word_that_is_a_type_has_no_pairs():
    """As for the library, if the file says so; no merges make abc, as b + c comes first."""
    merges, counts = [["b", "c"], ["a", "b"], ["ab", "c"]], {"abc": 5, "bca": 2, "xbc": 9}
    for ignored, expected in ((True, [["bc", "a"]]), (False, [["a", "bc"], ["bc", "a"]])):
        tokeniser = small_tokeniser(merges, alphabet="abc", ignore_merges=ignored)
        assert preview_extend(tokeniser, counts, 1).step["merges"] == expected


@pytest.mark.slow
def test_new_types_get_the_ids_of_pruned_ones():
    counts, tokeniser = wordfreq_counts("nl"), load_tokeniser("demo:en")
    with refused():
        extend(tokeniser, counts, 100, replace=True)
    dead, size = unreachable_types(tokeniser.graph), len(tokeniser.types)
    tokeniser.graph.apply(preview_prune(tokeniser, 100, "last"))
    free = set(removed_ids(tokeniser))
    change = extend(tokeniser, counts, 150, replace=True)
    assert len(change.added_types) == 150 and unreachable_types(tokeniser.graph) == dead
    added = set(map(tokeniser.types.__getitem__, change.added_types))
    vocabulary = json.loads(to_tokenizer_json(tokeniser)[0])["model"]["vocab"]
    ids = sorted(vocabulary[text] for text in added)
    assert ids == sorted([*free, *range(size, size + 50)])
    # Continued twice, it is continued once: the counts do not change.
    again = load_tokeniser("demo:en")
    again.graph.apply(preview_prune(again, 100, "last"))
    extend(again, counts, 60)
    extend(again, counts, 90)
    assert list(again.graph.merges().values()) == list(tokeniser.graph.merges().values())


def appended(own, other):
    """Pair merges that make each type of the other from the tokens that it has until then."""
    found = []
    wanted = list(dict.fromkeys("".join(parts) for parts in other))
    for text in wanted:
        while len(tokens := Lookup(listed([*own, *found])).segment(text)) > 1:
            pairs = [*pairwise(tokens)]
            found.append(next((p for p in pairs if "".join(p) in wanted), pairs[0]))
    return found


@given(MERGES, MERGES)
@example([("bca", "c")], [("b", "c"), ("bc", "a"), ("bca", "c", "b")])  # an old merge applies
@example([("b", "bc", "a", "cb")], [("b", "bc", "a", "cb"), ("bc", "a")])  # not the old merge
@examples(1500)
def test_types_of_another_one_are_reached(own, other):
    tokeniser, before = bpe_of(own), bpe_of(own)
    expected = appended(own, other)
    change = preview_append(tokeniser, bpe_of(other))
    assert [*map(tuple, change.step.get("merges", ()))] == expected
    tokeniser.graph.apply(change)
    strings = {"".join(pair) for pair in expected} | {"".join(parts) for parts in other}
    assert strings <= {*tokeniser.graph.types}
    assert strings.isdisjoint(map(tokeniser.types.__getitem__, unreachable_types(tokeniser.graph)))
    assert tokeniser.types[: len(before.types)] == before.types
    for text in ("abcab", "cabbac", "bcacb"):
        tokens, closed_by = segment_plainly(listed([*own, *expected]), text)
        if all(rank is None or rank < len(own) for rank in closed_by):
            assert tokens == Lookup(listed(own)).segment(text)


def test_atoms_come_too_and_other_spellings_are_refused():
    one, other = (small_tokeniser([["a", "b"]], alphabet=letters) for letters in ("abc", "abd"))
    extend(one, other)
    assert one.types[-1] == "d" and len(one.graph.types) == len(other.graph.types) + 1
    for unlike in (
        load_tokeniser("demo:en"),
        replace(other, preprocessor=Preprocessor(suffix="</w>")),
    ):
        with refused():
            extend(one, unlike)
    with refused():
        extend(one, {"ab": 1})


@pytest.mark.slow
def test_dutch_types_in_the_english_demo(tmp_path):
    """Stock tokenizers loads the export, with equal ids; old types keep theirs."""
    english, dutch = mg.load("demo:en"), mg.load("demo:nl")
    both = english.extend(dutch)
    assert set(english.types) | set(dutch.types) <= set(both.types)
    both.export(tmp_path / "both")
    stock = Tokenizer.from_file(str(tmp_path / "both/tokenizer.json"))
    own = Tokenizer.from_file(str(demo_tokeniser_path("en"))).get_vocab()
    assert own.items() <= stock.get_vocab().items()
    text = "Een huishouden van het land, and the undesirable households of 2026 – ijsvrij"
    assert stock.encode(text).ids == both.encode(text)
    assert "Ġhuishouden" in stock.encode(text).tokens
