"""AdaptBPE against the plainest reading of its authors' program, and by hand."""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import MergeList, any_order, bpe_of, seen, token_texts, well_formed, with_holes

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.models import exported_model, read_model, write_model
from morphgraph.segment.segmenter import method_on
from morphgraph_remedies.adaptbpe import AdaptBPE

Pairs = list[tuple[str, str]]
CORPUS = st.dictionaries(st.text("abcd", max_size=12), st.integers(1, 5), min_size=1, max_size=8)
MERGES = (
    well_formed(widest=2)
    | any_order(widest=2)
    | with_holes().map(lambda merges: [parts for parts in merges if len(parts) == 2])
)


def merged(words: list[list[str]], pair: tuple[str, str]) -> tuple[list[list[str]], list[int]]:
    """The words after one merge, everywhere from the left, and how often it applied in each."""
    found, times = [], []
    for word in words:
        new, at = [], 0
        while at < len(word):
            is_pair = tuple(word[at : at + 2]) == pair
            new.append("".join(word[at : at + 1 + is_pair]))
            at += 1 + is_pair
        found.append(new)
        times.append(len(word) - len(new))
    return found, times


def adapted(merges: Pairs, corpus: dict[str, int], count: int, leaves: bool) -> Pairs:
    known, chosen = {*"abc"}, []
    for pair in merges:
        if len(chosen) < count and known >= {*pair}:
            chosen.append(pair)
            known.add("".join(pair))
    words, numbers = [[*seen(word)] for word in corpus], [*corpus.values()]
    applied = {}
    for pair in chosen:
        words, times = merged(words, pair)
        applied[pair] = sum(n * time for n, time in zip(numbers, times, strict=True))
    pairs: Counter[tuple[str, str]] = Counter()
    for word, number in zip(words, numbers, strict=True):
        for pair in pairwise(word):
            pairs[pair] += number
    left = [pair for pair, _ in pairs.most_common() if pair in merges and pair not in chosen]
    result = list(chosen)
    for pair in sorted(chosen, key=applied.__getitem__):
        if not left or pairs[left[0]] <= applied[pair]:
            break
        made = "".join(pair)
        others = [one for one in result if one != pair]
        is_needed = any(made in one for one in result)
        if leaves and is_needed and all("".join(one) != made for one in others):
            continue
        best = left.pop(0)
        undone = [
            [part for token in word for part in (pair if token == made else (token,))]
            for word in words
        ]
        new, times = merged(undone, best)
        if any(times):
            words, result = new, [*others, best]
    return result


def unique(merges: MergeList) -> Pairs:
    return list(dict.fromkeys((one, other) for one, other in merges))


@examples(1200)
@given(MERGES, CORPUS, st.integers(0, 8), st.booleans())
def test_same_as_naive(merges: MergeList, corpus: dict[str, int], count: int, leaves: bool) -> None:
    listed = unique(merges)
    tokeniser = bpe_of(listed)
    counts = WordCounts.from_mapping(corpus)
    made = AdaptBPE.by_counts(tokeniser, counts, merges=count, leaves=leaves)
    assert made.merges == adapted(listed, corpus, count, leaves)
    ranked = oracles.listed(made.merges)
    texts = [*corpus]
    assert token_texts(made, texts) == [oracles.segment(ranked, seen(text))[0] for text in texts]
    results = {"".join(pair) for pair in made.merges}
    assert {*made.dead} == {t for t in results if oracles.segment(ranked, t)[0] != [t]}
    assert bool(made.warning()) == bool(made.dead)
    assert [*made.types] == [*tokeniser.types] and made.vocabulary_size == tokeniser.vocabulary_size
    gone = {"".join(pair) for pair in listed} - results | {*made.dead}
    inventory = made.inventory()
    assert {made.types[n] for n in made.unreachable(inventory) or ()} == gone


@examples(800)
@given(well_formed(widest=2), CORPUS, st.integers(0, 8))
def test_the_guard_keeps_the_parts_of_merges(
    merges: MergeList, corpus: dict[str, int], count: int
) -> None:
    made = AdaptBPE.by_counts(bpe_of(unique(merges)), WordCounts.from_mapping(corpus), merges=count)
    there = {*"abc"} | {"".join(pair) for pair in made.merges}
    assert all(part in there for pair in made.merges for part in pair)


def on_cities(**settings: Any) -> Any:
    types = [*"abcdxy", "ab", "xy", "cd"]
    tokeniser = tokeniser_of_types("t", types, ["ab", "xy", "cd"])
    counts = WordCounts(["ab", "xy", "cd"], [2, 1, 5])
    return tokeniser, counts, method_on(tokeniser, "adaptbpe", settings, counts)


def test_by_hand() -> None:
    """xy, applied once, goes for cd, five times side by side: 13 tokens become 9."""
    _, counts, two = on_cities(merges=2)
    assert two.merges == [("a", "b"), ("c", "d")]
    tokens = token_texts(two, list(counts.words))
    assert sum(n * len(one) for n, one in zip(counts.counts, tokens, strict=True)) == 9
    assert two.signature().startswith("AdaptBPE(merges=2,leaves=true,chosen=")
    _, _, all_ = on_cities()
    assert len(all_.merges) == 3
    assert on_cities(merges=0)[2].merges == []


def test_without_the_guard_a_part_may_go() -> None:
    """ab is hardly applied by itself in the sum, but abc is made of it: abc is then dead."""
    types, merges = [*"abcde", "ab", "abc", "de"], ["ab", ("ab", "c"), "de"]
    tokeniser = tokeniser_of_types("t", types, merges)
    counts = WordCounts(["abc", "de"], [1, 9])
    bare, guarded = (
        AdaptBPE.by_counts(tokeniser, counts, merges=2, leaves=on) for on in (False, True)
    )
    assert (bare.merges, bare.dead) == ([("ab", "c"), ("d", "e")], ["abc"])
    assert "1 type of the chosen merges cannot be formed (abc)" in bare.warning()
    assert (guarded.merges, guarded.dead) == ([("a", "b"), ("d", "e")], [])


def test_what_cannot_be() -> None:
    tokeniser, counts, _ = on_cities()
    with refused():
        AdaptBPE(tokeniser, [("a", "y")])
    tokeniser.graph.anneal([("ab", "c"), ("abc", "d")])
    tokeniser.graph.knockout(["abc"])
    with refused():
        AdaptBPE.by_counts(tokeniser, counts)


def test_a_real_tokeniser_saved_and_exported() -> None:
    """Ids stay, and the file is a plain one; another language's words exchange many merges."""
    tokeniser, counts = load_tokeniser("demo:en"), wordfreq_counts("nl", wordlist="small")
    made: Any = method_on(tokeniser, "adaptbpe", {"merges": 3_000}, counts)
    first = [
        tuple(tokeniser.types[part] for part in merge.parts)
        for merge in tokeniser.graph.merges().values()
    ][:3_000]
    assert 500 < len({*made.merges} - {*first}) < 2_500
    texts = ["onafhankelijk", "kinderen", "undoing"]
    plain = method_on(tokeniser, "adaptbpe", {"merges": 3_000, "leaves": False}, counts)
    assert plain.signature() != made.signature()
    model = exported_model(made).document["model"]
    assert len(model["merges"]) == 3_000
    before = json.loads(json.dumps(exported_model(method_on(tokeniser, "bpe")).document))
    assert (model["type"], model["vocab"]) == (before["model"]["type"], before["model"]["vocab"])
    copy = read_model(write_model(made), "m")
    assert token_texts(copy, texts) == token_texts(made, texts)
    assert copy.signature() == made.signature()
