"""Pruning: the orders are those of a plain search in strings, and nothing gets unreachable."""

import json
from collections import Counter
from dataclasses import replace

from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from oracles import Lookup, listed
from refusals import refused
from small import small_document
from strategies import MERGES, bpe_of, seen, word_counts

from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.refine.pruning import preview_prune, pruning_order, splits
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.training import train

Counts = dict[str, int]


@st.composite
def cases(draw):
    """Merges, a tokeniser of them with ids in any order, and words made of its types."""
    merges = draw(MERGES)
    tokeniser = bpe_of(merges)
    ids = draw(st.permutations(range(len(tokeniser.types))))
    counts = draw(word_counts("abcd", 12, 8))
    return merges, replace(tokeniser, vocabulary_ids=list(ids)), counts


def plain_splits(merges):
    found = {}
    for type_ in map("".join, merges):
        tokens, applied = Lookup(listed(merges)).applied(type_)
        if tokens == [type_]:
            found[type_] = tuple(merges[applied[-1][0]])
    return found


def leaves_first(merges, ids, uses):
    split, left, order = plain_splits(merges), set(map("".join, merges)), list[str]()
    uses = Counter(uses)
    while left:
        needed = {part for type_ in left for part in split.get(type_, ())}
        leaf = min(left - needed, key=lambda type_: (uses[type_], -ids[type_]))
        for part in split.get(leaf, ()):
            uses[part] += uses[leaf]
        left.remove(leaf)
        order.append(leaf)
    return order


def used(merges, counts):
    """How often each type is a token; and that, or a part of an applied merge."""
    tokens, uses = Counter[str](), Counter[str]()
    for word, count in counts.items():
        found, applied = Lookup(listed(merges)).applied(seen(word))
        for type_ in found:
            tokens[type_] += count
            uses[type_] += count
        for rank, _ in applied:
            for part in merges[rank]:
                uses[part] += count
    return tokens, uses


@given(cases())
@examples(1500)
def test_orders_are_those_of_a_plain_search(case):
    merges, tokeniser, counts = case
    given_counts = WordCounts.from_mapping(counts)
    ids = dict(zip(tokeniser.types, tokeniser.vocabulary_ids, strict=True))
    tokens, uses = used(merges, counts)
    by_use = sorted(set(map("".join, merges)), key=lambda t: (uses[t], -len(t), -ids[t]))
    assert pruning_order(tokeniser, "last") == leaves_first(merges, ids, {})
    found = pruning_order(tokeniser, "leaf-frequency", given_counts)
    assert found == leaves_first(merges, ids, tokens)
    assert pruning_order(tokeniser, "merge-based", given_counts) == by_use


@given(cases(), st.sampled_from(["leaf-frequency", "merge-based", "last"]), st.data())
@examples(1500)
def test_nothing_else_gets_unreachable(case, by, data):
    _, tokeniser, counts = case
    graph = tokeniser.graph
    given_counts = WordCounts.from_mapping(counts)
    order = pruning_order(tokeniser, by, given_counts)
    assert set(order) == {text for text in graph.types if graph.is_removable(graph.ids[text])}
    reached, count = set(splits(graph)), data.draw(st.integers(0, len(order)))
    change = preview_prune(tokeniser, count, by, given_counts)
    taken = {graph.ids[text] for text in order[:count]}
    # What nothing formed even before may go with its parts.
    assert taken <= set(change.removed_types)
    assert reached.isdisjoint(set(change.removed_types) - taken)
    graph.apply(change)
    assert reached - taken <= set(splits(graph))  # and what was unreachable may be reached now
    assert not any(merge.result in taken for merge in graph.merges().values())


def test_the_example_of_the_source():
    types, merges = ["a", "b", "c", "ab", "abc", "bc"], ["ab", ("ab", "c"), "bc"]
    tokeniser = tokeniser_of_types("example", types, merges)
    counts = WordCounts(["abc", "ab", "bc"], [3, 1, 2])
    assert pruning_order(tokeniser, "leaf-frequency", counts) == ["bc", "abc", "ab"]
    assert pruning_order(tokeniser, "merge-based", counts) == ["bc", "abc", "ab"]
    rare_leaf = WordCounts(["abc", "ab", "bc"], [1, 3, 2])
    assert pruning_order(tokeniser, "leaf-frequency", rare_leaf) == ["abc", "bc", "ab"]
    # The count of abab, of which ab is both parts, passes on twice.
    types, merges = ["a", "b", "c", "ab", "abab", "ac"], ["ab", ("ab", "ab"), "ac"]
    doubled = tokeniser_of_types("doubled", types, merges)
    counts = WordCounts(["abab", "ac"], [2, 3])
    assert pruning_order(doubled, "leaf-frequency", counts) == ["abab", "ac", "ab"]
    # All are equal: the highest id goes first, and the longest.
    assert pruning_order(tokeniser, "last") == ["bc", "abc", "ab"]
    none = WordCounts(["a"], [1])
    assert pruning_order(tokeniser, "merge-based", none) == ["abc", "bc", "ab"]
    with refused():
        preview_prune(tokeniser, 4, "last")


def test_scripts():
    """A type goes by its text, not by how its bytes are spelled; incomplete bytes stay."""
    words = {"дом": 9, "né": 9, "漢字": 9, "e\u0301": 9}
    tokeniser = train("bpe", words, 290).editable

    def removed(**scripts):
        found = pruning_order(tokeniser, "script", **scripts)
        ids = [tokeniser.graph.ids[text] for text in found]
        assert ids == sorted(ids, reverse=True)
        return {tokeniser.readable(text) for text in found}

    texts = {tokeniser.readable(text) for text in tokeniser.types[256:]}
    assert {"␣дом", "␣né", "␣漢字", "\u0301"} < texts
    cyrillic, han = ({t for t in texts if set(t) & set(of)} for of in ("дом", "漢字"))
    assert removed(drop_scripts=["Han"]) == han and removed(drop_scripts=["Cyrillic"]) == cyrillic
    assert removed(keep_scripts=["Latin"]) == cyrillic | han
    assert removed(keep_scripts=["Latin", "Cyrillic"], drop_scripts=["Cyrillic"]) == cyrillic | han
    assert preview_prune(tokeniser, by="script", drop_scripts=["Han"]).removed_types


def test_words_that_stay_whole_without_a_merge():
    """cab is one token that no merge makes, so no merge was used in it."""
    document = small_document([("a", "b")], alphabet="abc", ignore_merges=True)
    document["model"]["vocab"]["cab"] = len(document["model"]["vocab"])
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "whole.json")
    counts = WordCounts(["cab", "ab"], [5, 2])
    assert pruning_order(tokeniser, "merge-based", counts) == ["ab"]
