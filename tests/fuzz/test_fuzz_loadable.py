"""Files that get past the door: what is made of them equals the slow path, or is a clear error."""

import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import oracles
import pytest
from effort import EFFORT
from fuzz import grammar
from fuzz.cases import run_cases
from model_folders import saved_files

from morphgraph.formats.export import ExportError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Entry, Reference
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.models import export_segmenter
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Words

pytestmark = pytest.mark.fuzz

SHARE = {"quick": 0.005, "usual": 0.02, "soak": 1.0}[EFFORT]
"""Of 10,000 files; they are used in full, which takes long."""

GOLD = (
    ("un", "do", "ing"),
    ("re", "do"),
    ("band", "ag", "ing"),
    ("né",),
    ("日", "日", "a"),
    ("a-b",),
)


@cache
def gold() -> Reference:
    entries = tuple(Entry("".join(morphs), morphs, None, None) for morphs in GOLD)
    return Reference("gold", "plain", entries, (), "0" * 12)


def lookup_of(tokeniser: BpeTokeniser) -> oracles.Lookup:
    types, graph = tokeniser.graph.types, tokeniser.graph
    return oracles.Lookup(
        {m.rank: tuple(types[p] for p in m.parts) for m in graph.merges().values()}
    )


def slow_tokens(tokeniser: BpeTokeniser, words: Words) -> list[tuple[list[str], list[int]]]:
    """For each word its tokens and the atoms at which they end, cut by the list of merges alone."""
    types, lookup = tokeniser.graph.types, lookup_of(tokeniser)
    pieces = {int(offset) for offset in words.piece_offsets}
    found = []
    for first, last in pairwise(words.word_offsets):
        tokens: list[str] = []
        ends: list[int] = []
        bounds = sorted({int(first), int(last), *(p for p in pieces if first < p < last)})
        for start, end in pairwise(bounds):
            atoms = [int(a) for a in words.atoms[start:end]]
            texts = [f"\0{n}" if a == UNKNOWN else types[a] for n, a in enumerate(atoms)]
            at = start - 1
            for token in lookup.segment(texts):
                length, built = 0, ""
                while built != token:
                    built += texts[at + 1 + length - start]
                    length += 1
                at += length
                tokens.append("?" if token.startswith("\0") else token)
                ends.append(at)
        found.append((tokens, ends))
    return found


def check_tokeniser(tokeniser: BpeTokeniser, exported: bool) -> None:
    """Segmented and scored as slowly, saved and loaded, and exported as another library has it."""
    types = tokeniser.graph.types
    benchmark = Benchmark.build(tokeniser, gold())
    for words in (benchmark.words, tokeniser.encode(list(grammar.WORDS), bare=True)):
        fast, slow = segment(tokeniser.graph, words), slow_tokens(tokeniser, words)
        for number, (tokens, ends) in enumerate(slow):
            found = [
                "?" if token == UNKNOWN else types[token]
                for token in map(int, fast.token_at[fast_ends(fast, number)])
            ]
            assert found == tokens, words.texts[number]
            splits = [int(words.gap_position[end]) for end in ends]
            assert fast.splits(number) == [place for place in splits if place > 0]
        if words is benchmark.words:
            check_scores(benchmark, fast, slow)
    again = load_tokeniser(
        {name: data for name, data in saved_files(tokeniser).items() if name.startswith("token")}
    )
    same = segment(again.graph, again.encode(list(grammar.WORDS), bare=True))
    for number in range(len(grammar.WORDS)):
        assert texts_of(again, same, number) == texts_of(tokeniser, fast, number)
    if exported:
        try:
            export_segmenter(standard_segmenter(tokeniser), list(grammar.WORDS))
        except ExportError as error:
            raise AssertionError("the export differs") from error


def check_scores(benchmark: Benchmark, fast: Any, slow: Any) -> None:
    positions = benchmark.words.gap_position
    cuts = [{int(positions[end]) for end in ends if positions[end] > 0} for _, ends in slow]
    wanted = [oracles.boundaries(morphs) for morphs in GOLD]
    score = benchmark.scores(fast)[0]
    assert score.true_positives == sum(len(a & b) for a, b in zip(cuts, wanted, strict=True))
    assert score.predicted == sum(map(len, cuts))
    assert score.relevant == sum(map(len, wanted))


def fast_ends(found: Any, number: int) -> Any:
    first, last = found.words.word_offsets[number : number + 2]
    return first + np.flatnonzero(found.token_at[first:last] >= 0)


def texts_of(tokeniser: BpeTokeniser, found: Any, number: int) -> list[str]:
    tokens = map(int, found.token_at[fast_ends(found, number)])
    return ["?" if token == UNKNOWN else tokeniser.graph.types[token] for token in tokens]


def use_tokenizer_json(choose: random.Random) -> None:
    data = grammar.tokenizer_json(choose)
    exported = choose.random() < 0.2
    check_tokeniser(load_tokeniser({"tokenizer.json": data}), exported)


def use_sentencepiece(choose: random.Random) -> None:
    from sentencepiece import SentencePieceProcessor

    data = grammar.sentencepiece(choose)
    tokeniser = load_tokeniser({"m.model": data})
    library = SentencePieceProcessor(model_proto=data)
    found = segment(tokeniser.graph, tokeniser.encode(list(grammar.WORDS), bare=True))
    unused = set(tokeniser.unused)
    for number, word in enumerate(grammar.WORDS):
        ours = texts_of(tokeniser, found, number)
        wanted = [
            "?" if library.IsUnknown(n) else library.IdToPiece(n) for n in library.encode(word)
        ]
        if not unused and "<unk>" not in ours:
            assert ours == wanted, word
    benchmark = Benchmark.build(tokeniser, gold())
    benchmark.scores(segment(tokeniser.graph, benchmark.words))
    saved_files(tokeniser)


USES: dict[str, tuple[Callable[[random.Random], None], int]] = {
    "tokenizer.json": (use_tokenizer_json, 5_000),
    "SentencePiece": (use_sentencepiece, 1_500),
}


@pytest.mark.timeout(7200, method="thread")
@pytest.mark.parametrize("name", USES)
def test_what_is_read_is_used_as_the_slow_path_would(name: str) -> None:
    use, of_all = USES[name]
    count = max(1, round(of_all * SHARE))
    outcome = run_cases(name, lambda seed: use(random.Random(seed)), count)
    assert outcome.read >= count / 2, outcome
