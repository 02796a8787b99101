"""Parity-aware BPE against a version that counts everything afresh, and what it refuses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import word_counts
from training_oracles import pair_counts, replace

from morphgraph.corpus.counts import LanguageCounts, WordCounts, wordfreq_counts
from morphgraph.kernels import merge_training
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.training import train, train_bpe
from morphgraph_remedies import parity_kernel
from morphgraph_remedies.parity_training import train_parity

Counts = Mapping[str, int]
TRAINING = [{"ab": 5, "cd": 4}, {"xy": 3, "xz": 3}]
DEVELOPMENT = [{"ab": 2}, {"xy": 3}]
VARIANTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "base": st.just({}),
    "hybrid": st.fixed_dictionaries({"global_merges": st.integers(1, 12)}),
    "window": st.fixed_dictionaries(
        {
            "window": st.integers(1, 6),
            "alpha": st.sampled_from([1.0, 1.3, 2.0]),
            "global_merges": st.sampled_from([0, 0, 3]),
        }
    ),
}
TEXT = word_counts("a", 20, 4) | word_counts("ab", 14, 8) | word_counts("abcdéы", 12, 12)


def parity_aware_bpe(
    training: Sequence[Mapping[str, int]],
    development: Sequence[Mapping[str, int]],
    *,
    minimum: int = 2,
    global_merges: int = 0,
    window: int = 0,
    alpha: float = 2.0,
) -> list[tuple[str, str]]:
    """The merges of parity-aware BPE, all counted afresh before each one."""

    def text(counts: Mapping[str, int]) -> list[tuple[list[str], int]]:
        return [(list(word), count) for word, count in counts.items()]

    def size(words: Sequence[tuple[list[str], int]]) -> int:
        return sum(len(tokens) * count for tokens, count in words)

    texts, measured = [text(counts) for counts in training], [text(c) for c in development]
    at_first = [size(words) for words in texts]
    merges: list[tuple[str, str]] = []
    chosen: list[int] = []
    while True:
        pairs: Counter[tuple[str, str]] = Counter()
        if len(merges) < global_merges:
            for words in texts:
                pairs += pair_counts(words)
        else:
            languages = len(texts) + (1 if global_merges else 0)
            recent = chosen[-window:] if window else []
            allowed = [
                n
                for n in range(len(texts))
                if not window or recent.count(n) / window <= alpha / languages
            ]
            candidates = allowed or list(range(len(texts)))
            if measured:
                best = max(candidates, key=lambda n: size(measured[n]))
            else:
                best = min(candidates, key=lambda n: at_first[n] / size(texts[n]))
            pairs = pair_counts(texts[best])
            chosen.append(best)
        pair = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)
        if pair is None or pairs[pair] < minimum:
            return merges
        assert "".join(pair) not in map("".join, merges), "the same type from two pairs"
        merges.append(pair)
        for words in (*texts, *measured):
            for tokens, _ in words:
                replace(tokens, pair, ["".join(pair)])


def counts_of(texts: list[Counts], development: list[Counts]) -> LanguageCounts:
    both = (
        {str(n): WordCounts.from_mapping(each) for n, each in enumerate(some)}
        for some in (texts, development)
    )
    return LanguageCounts(*both)


def merges_of(texts: list[Counts], development: list[Counts], **more: Any) -> list[tuple[str, str]]:
    counts = counts_of(texts, development)
    return list(train_parity(counts, **{"vocab_size": 10_000} | more).merges)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[Counts], list[Counts]]:
    """Training texts of one to four languages, and as many development texts or none."""
    texts = draw(st.lists(TEXT, min_size=1, max_size=4))
    size = len(texts) * draw(st.integers(0, 1))
    return texts, draw(st.lists(TEXT, min_size=size, max_size=size))


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_same_as_counting_afresh(variant: str) -> None:
    @examples(200)
    @given(corpora(), VARIANTS[variant], st.integers(1, 3))
    def check(both: tuple[list[Counts], list[Counts]], how: dict[str, Any], minimum: int) -> None:
        expected = parity_aware_bpe(*both, minimum=minimum, **how)
        assert merges_of(*both, minimum_count=minimum, **how) == expected

    check()


def test_the_worked_example() -> None:
    """By hand: B is longer (6 against 4), so xz and xy; then A, 4 against 3; then B has nothing.

    cd, which occurs 4 times, is never learnt.
    """
    base = [("x", "z"), ("x", "y"), ("a", "b")]
    learn = partial(merges_of, TRAINING, DEVELOPMENT)
    assert learn() == learn(window=2, alpha=1.0) == base
    assert learn(global_merges=1) == [("a", "b"), ("x", "z"), ("x", "y")]
    assert learn(minimum_count=4) == []
    assert learn(vocab_size=9) == base[:2]


def test_without_development_texts_the_language_with_the_fewest_atoms_per_token_is_behind() -> None:
    """A: 18 atoms in 18 tokens, as B: 12 in 12. A's ab: 18/13; B's xz: 12/9 < 18/13, so B's xy."""
    assert merges_of(TRAINING, []) == [("a", "b"), ("x", "z"), ("x", "y"), ("c", "d")]


def test_the_window_keeps_a_language_from_all_merges() -> None:
    """The first stays the longest, but may have no more than two of the last four merges before."""
    texts: list[Counts] = [{"abcdefgh": 9}, {"stuvwxyz": 9}]
    merges = merges_of(texts, [{"i": 99}, {"j": 1}], window=4, alpha=1.0)
    owners = ["A" if left[0] < "i" else "B" for left, _ in merges]
    assert "".join(owners[:9]) == "AAABBAAAB"


@examples(100)
@given(word_counts("abcd", 12, 12))
def test_one_language_alone_is_bpe(counts: Counts) -> None:
    """Where no two pairs have the same count, as ties go the other way round there."""
    apart = {word: 7**n for n, word in enumerate(counts)}
    plain = list(train_bpe(apart, vocab_size=10_000).merges)
    words = [(list(word), count) for word, count in apart.items()]
    for number, pair in enumerate(merges_of([apart], [], minimum_count=1)):
        pairs = pair_counts(words)
        if list(pairs.values()).count(max(pairs.values())) > 1:
            break
        assert pair == plain[number]
        for tokens, _ in words:
            replace(tokens, pair, ["".join(pair)])


def test_it_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that begin too small grow, with the same result."""
    lists = ("en", "nl")
    found = [wordfreq_counts(name, wordlist="small") for name in lists]
    texts = [dict(zip(each.words[:1500], each.counts[:1500], strict=True)) for each in found]
    expected = merges_of(texts, texts, vocab_size=900)
    initial, with_room = merge_training.initial_pairs, merge_training._with_room
    grown = []

    def tight(words: Any, state: Any, removing: bool) -> Any:
        pairs = initial(words, state, removing)
        rows = {name: int(state[name]) for name in ("low", "nodes", "positions")}
        cut = {name: getattr(pairs, name)[:count].copy() for name, count in rows.items()}
        return pairs._replace(heap=pairs.heap[:1].copy(), **cut)

    def watched(array: Any, used: int, room: int, fill: int | None = None) -> Any:
        grown.append(array.shape[0] - used < room)
        return with_room(array, used, room, fill)

    monkeypatch.setattr(parity_kernel, "initial_pairs", tight)
    monkeypatch.setattr(merge_training, "_with_room", watched)
    assert merges_of(texts, texts, vocab_size=900) == expected
    assert any(grown)


def test_what_ends_early_is_what_a_smaller_vocabulary_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = counts_of(TRAINING, DEVELOPMENT)
    monkeypatch.setattr(parity_kernel, "MERGES_PER_CALL", 1)
    shares: list[float] = []
    asked = iter([False, False])
    how: Any = {"progress": shares.append, "enough": partial(next, asked, True)}
    part = train_parity(counts, vocab_size=99, **how)
    assert part == train_parity(counts, vocab_size=len(part.vocabulary))
    assert len(part.merges) == 2
    assert shares[0] == 0.0 and shares[-1] == 1.0 and shares == sorted(shares)


# ------------------------------------------------------------------------- at the door


def languages(**words: list[str]) -> LanguageCounts:
    return LanguageCounts({name: WordCounts(of, [9] * len(of)) for name, of in words.items()})


def test_a_tokeniser_of_two_languages_is_plain_bpe() -> None:
    counts = languages(en=["undoing", "undo"], tr=["evlerde", "evler"])
    made: Segmenter = train("parity", counts, 265, parameters={"window": 100})
    assert (made.method, made.vocabulary_size, made.name) == ("bpe", 265, "BPE")
    prepared = {
        "en": {"Ġundoing": 9, "Ġundo": 9},
        "tr": {"Ġevlerde": 9, "Ġevler": 9},
    }
    expected = parity_aware_bpe(list(prepared.values()), [], window=100)[: 265 - 256]
    assert list(made.types[256:]) == list(map("".join, expected))


@pytest.mark.parametrize("pipeline", ["knockout", "rebpe", "spaces", "no-spaces"])
def test_every_pipeline_prepares_each_language_for_itself(pipeline: str) -> None:
    """Of knockout and rebpe, the script of most words would leave out the other language."""
    counts = languages(en=["undoing", "undo"], ru=["дом", "дома"])
    made = train("parity", counts, 265, minimum_count=1, pipeline=pipeline)
    words = made.encode(["undo", "дом"])
    found = made.segment(words)
    assert all(len(found.tokens(n)) < 4 for n in range(2))


def test_other_methods_train_on_the_sums() -> None:
    counts = languages(en=["undo", "hand"], de=["hand"])
    summed = train("bpe", {"undo": 9, "hand": 18}, 260)
    assert train("bpe", counts, 260).types == summed.types


def test_bad_languages_are_refused() -> None:
    with refused():
        train("parity", {"undo": 3}, 300)
    with refused():
        train("parity", languages(en=["undo"]), 300)
    with refused():
        train("parity", languages(en=["undo"], de=[]), 300)
    two = languages(en=["undo"], de=["tun"])
    with refused():
        LanguageCounts(two.languages, {"en": two.languages["en"]})
    both = LanguageCounts(two.languages, two.languages)
    with refused():
        train("bpe", both, 300)
    with refused():
        train("parity", two, 300, parameters={"alpha": 0.5})
