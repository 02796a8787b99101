"""What is read of any file is cut, scored and saved as by the list of its merges, slowly."""

import json
from itertools import pairwise

import oracles
import pytest
from effort import examples
from hypothesis import assume, given
from model_folders import saved_files
from small import small_reference

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.words import UNKNOWN
from tests.tokeniser.test_library_ids import TEXTS, bpe, with_added

pytestmark = pytest.mark.slow

GOLD = (("ab", "c"), ("a", "bc", "a"), ("é", "e"), ("ß",), ("語", "b"), ("a-b",), ("<s>", "ab"))


def slow_tokens(tokeniser, words):
    """For each word its tokens and the atoms at which they end, cut by the list of merges alone."""
    types, merges = tokeniser.graph.types, tokeniser.graph.merges().values()
    lookup = oracles.Lookup({m.rank: tuple(types[part] for part in m.parts) for m in merges})
    pieces = {int(offset) for offset in words.piece_offsets}
    found = []
    for first, last in pairwise(words.word_offsets):
        tokens = []
        ends = []
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


@examples(200)
@given(document=with_added(bpe()), texts=TEXTS)
@pytest.mark.parametrize("kind", ["BPE", "BTE"])
def test_any_file_is_used_as_the_slow_path_would(kind, document, texts):
    data = json.dumps({**document, "model": {**document["model"], "type": kind}}).encode()
    try:
        tokeniser = load_tokeniser({"tokenizer.json": data})
    except FileFormatError:  # ids that contradict each other
        assume(False)
    benchmark = Benchmark.build(tokeniser, small_reference(*map(" ".join, GOLD)))
    for words in (benchmark.words, tokeniser.encode(texts, bare=True)):
        fast, slow = segment(tokeniser.graph, words), slow_tokens(tokeniser, words)
        for number, (tokens, ends) in enumerate(slow):
            assert texts_of(tokeniser, fast, number) == tokens, words.texts[number]
            splits = [int(words.gap_position[end]) for end in ends]
            assert fast.splits(number) == [place for place in splits if place > 0]
        if words is benchmark.words:
            check_scores(benchmark, fast, slow)
    files = saved_files(tokeniser).items()
    again = load_tokeniser({name: file for name, file in files if name.startswith("token")})
    same = segment(again.graph, again.encode(texts, bare=True))
    for number in range(len(texts)):
        assert texts_of(again, same, number) == texts_of(tokeniser, fast, number)


def check_scores(benchmark, fast, slow):
    positions = benchmark.words.gap_position
    cuts = [{int(positions[end]) for end in ends if positions[end] > 0} for _, ends in slow]
    wanted = [oracles.boundaries(morphs) for morphs in GOLD]
    score = benchmark.scores(fast)[0]
    assert score.true_positives == sum(len(a & b) for a, b in zip(cuts, wanted, strict=True))
    assert score.predicted == sum(map(len, cuts))
    assert score.relevant == sum(map(len, wanted))


def texts_of(tokeniser, found, number):
    tokens = found.tokens(number)
    return ["?" if token == UNKNOWN else tokeniser.graph.types[token] for token in tokens]
