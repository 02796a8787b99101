"""Health of vocabularies: every figure of a tiny one by hand, and naive oracles."""

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from small import reference_of, small_reference, small_tokeniser
from small import small_entry as entry
from strategies import WORDS, well_formed

from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WHOLE_TEXTS, WordCounts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import reference_fields
from morphgraph.score.vocabulary_figures import FIGURES, figures_of, list_behind
from morphgraph.score.vocabulary_health import (
    NamedCounts,
    VocabularyHealth,
    compress,
    corpus_of,
    renyi_efficiency,
)
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.flota import First, Flota
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.segment.trimmed import Trimmed
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tables.figures import figure_table, signature, values_json, why_undefined
from morphgraph.tokeniser.merging import unreachable_types
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

TYPES = ["<unk>", "▁", "u", "n", "d", "o", "s", "é", "un", "▁un", "do", "und", "▁do", "undo"]
MERGES = [("u", "n"), ("▁", "un"), ("d", "o"), ("un", "d"), ("▁", "do"), ("un", "do")]
WORD_COUNTS = WordCounts(["un", "do", "dos", "nés"], [6, 4, 2, 1])
GOLD = reference_of(entry("un do", "pf"), entry("do s", "fs"), entry("nob"))


@pytest.fixture
def tiny():
    """▁un | ▁do | ▁do s | ▁ n é s, by merges that never make und: u n, then d o, is before it."""
    bpe = Bte(tokeniser_of_types("tiny", TYPES, MERGES))
    return VocabularyHealth(bpe, NamedCounts(WORD_COUNTS, "words.tsv"), GOLD, label="tiny")


def numbers(health, **settings):
    return {key: value.number for key, value in figures_of(health, **settings).items()}


def strings(health, key):
    return list(list_behind(health, key)["type"])


@given(st.dictionaries(st.text("undos", min_size=1, max_size=6), st.integers(1, 50), min_size=2))
def test_the_interval_of_tokens_per_word(counts):
    """That of a ratio over a sample of words, by its textbook formula; exactly 1 token: none."""
    bpe = Bte(tokeniser_of_types("undos", [*"undos", "un", "do"], ["un", "do"]))
    found = compress(bpe, WordCounts.from_mapping(counts))
    total = sum(counts.values())
    lengths = {w: len(w) - w.count("un") - w.count("do") for w in counts}
    ratio = sum(counts[w] * lengths[w] for w in counts) / total
    residues = [counts[w] * (lengths[w] - ratio) for w in counts]
    half = 1.959964 * math.sqrt(sum(r * r for r in residues)) / total
    interval = found.fertility_interval
    assert (interval.low, interval.high) == pytest.approx((ratio - half, ratio + half), abs=1e-6)


def test_every_figure_by_hand(tiny):
    """Tokens: 6 of ▁un, 6 of ▁do, 3 of s, and one each of ▁, n and é: 18 tokens of 13 words."""
    entropy = -sum(n / 18 * math.log(n / 18) for n in (6, 6, 3, 1, 1, 1))
    assert numbers(tiny, alpha=1.0) == pytest.approx(
        {
            "size": 14,
            "special": 1,
            "word_initial": 3 / 13,  # ▁, ▁un and ▁do
            "mean_length": (6 * 1 + 4 * 2 + 3 + 4) / 12,  # ▁ alone has no characters
            "partial": 0,
            "several_words": 0,
            "duplicates": 2,  # un, do
            "distinct": 11,
            "unreachable": 0,
            "never_formed": 0,
            "never_used": 7,  # u, d, o, un, do, und, undo
            "single_use_chains": 2,  # u → un, o → do: these two are parts of several merges
            "words": 13,
            "tokens": 18,
            "fertility": 18 / 13,
            "sequence_length": 17 / 13,
            "characters_per_token": 29 / 18,
            "bytes_per_token": 30 / 18,  # é has two
            "relative_tokens": 1,
            "dropped": 0,
            "marker_tokens": 1,
            "unknown": 0,
            "renyi": entropy / math.log(14),
            "morph_types": 5 / 13,  # un, ▁un, do, ▁do, s
            "affix_types": 3 / 13,  # un, ▁un, s
            "prefix_types": 1,
            "suffix_types": 1,
            "word_types": 1 / 13,  # undo
            "morphs_covered": 3 / 4,  # not nob
        }
    )


def test_the_lists_behind_the_figures(tiny):
    pairs = list_behind(tiny, "duplicates")[["type", "the other", "tokens in the corpus"]]
    assert pairs.to_numpy(dtype=object).tolist() == [["␣un", "un", 6], ["␣do", "do", 6]]
    assert strings(tiny, "never_used") == ["undo", "und", "un", "do", "u", "d", "o"]
    assert strings(tiny, "tokens")[:3] == ["␣un", "␣do", "s"]
    assert strings(tiny, "mean_length")[0] == "undo"
    sets = {"special": "<unk>", "word_initial": "␣ ␣un ␣do", "morph_types": "un ␣un do ␣do s"}
    sets |= {"affix_types": "un ␣un s", "suffix_types": "s", "word_types": "undo"}
    assert {key: {*strings(tiny, key)} for key in sets} == {
        k: {*v.split()} for k, v in sets.items()
    }
    assert len(strings(tiny, "prefix_types")) == 1, "un and ␣un count once"
    morphs = list_behind(tiny, "morphs_covered")
    is_type = dict(zip(morphs["morph"], morphs["is a type"], strict=True))
    assert is_type == {"un": True, "do": True, "s": True, "nob": False}
    assert (len(list_behind(tiny, "size")), len(list_behind(tiny, "fertility"))) == (14, 0)


def naive_chains(graph, unused):
    """Grow each chain from every link, and keep those that are the end of no longer one."""
    chains = set()
    for start in unused:
        chain = [start]
        while chain[-1] in unused and len(graph.outgoing(chain[-1])) == 1:
            [merge] = graph.outgoing(chain[-1])
            chain.append(graph.merge(merge).result)
        if len(chain) > 1:
            chains.add(tuple(chain))
    return {
        chain
        for chain in chains
        if not any(o != chain and o[-len(chain) :] == chain for o in chains)
    }


@given(well_formed(widest=2, size=14), st.lists(WORDS, max_size=6, unique=True))
def test_what_is_of_no_use_against_the_definitions(merges, words):
    types = list(dict.fromkeys(["a", "b", "c", *("".join(parts) for parts in merges)]))
    bpe = Bte(tokeniser_of_types("small", types, merges))
    health = VocabularyHealth(bpe, NamedCounts(WordCounts(words, [1] * len(words)), "w"))
    used = []
    for word in words:
        segmentation = bpe.segment(bpe.encode([word]))
        used += [bpe.types[token] for token in segmentation.tokens(0) if token < len(types)]
    made = {
        text: [bpe.types[t] for t in bpe.segment(bpe.encode([text])).tokens(0)] for text in types
    }
    assert {types[n] for n in health.unreachable or ()} == {t for t in types if made[t] != [t]}
    if not used:  # no words, or only characters that are no types
        assert health.never_used is None
        return
    assert {types[n] for n in health.never_used or ()} == set(types) - set(used)
    graph = bpe.tokeniser.graph
    unused = {n for n, text in enumerate(types) if text not in used}
    assert set(health.chains or ()) == naive_chains(graph, unused)


# --------------------------------------------------------------------------------- kinds of types


def test_bytes_that_are_no_characters_are_counted_apart():
    alphabet = "Ġna" + "Ã©"
    tokeniser = small_tokeniser(
        [("Ã", "©"), ("Ġ", "n"), ("n", "a"), ("na", "Ã")],
        alphabet,
        pre_tokenizer={"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    )
    health = VocabularyHealth(Bte(tokeniser))
    # Whole: n, a, é, Ġn, na. Bytes: ⟨C3⟩, ⟨A9⟩, na⟨C3⟩. Ġ alone has no characters.
    assert figures_of(health)["partial"].number == 3
    assert figures_of(health)["mean_length"].number == pytest.approx((1 + 1 + 1 + 1 + 2) / 5)
    assert set(strings(health, "partial")) == {"⟨C3⟩", "⟨A9⟩", "na⟨C3⟩"}
    assert strings(health, "duplicates") == ["␣n"]


def test_wordpiece_marks_what_is_inside_a_word():
    types = ("[UNK]", "un", "##un", "##do", "do", "dog", "##")
    health = VocabularyHealth(
        WordPiece(SubwordVocabulary(types, "##", special=frozenset(["[UNK]"])))
    )
    found = figures_of(health)
    assert found["word_initial"].number == 4 / 6  # un, do, dog, and ## itself
    assert found["duplicates"].number == 2
    assert found["mean_length"].number == pytest.approx((2 + 2 + 2 + 2 + 3 + 2) / 6)
    assert found["special"].number == 1
    assert found["unreachable"].number == 0


def test_a_suffix_is_a_marker_that_does_not_tell_where_words_start():
    merges = [("a", "b</w>"), ("a", "b")]
    tokeniser = small_tokeniser(merges, ["a", "b", "b</w>"], end_of_word_suffix="</w>")
    found = figures_of(VocabularyHealth(Bte(tokeniser)))
    assert found["duplicates"].number == 2  # b, ab
    assert math.isnan(found["word_initial"].number)
    assert found["word_initial"].why
    bare = figures_of(VocabularyHealth(Bte(tokeniser_of_types("t", ["a", "b", "##"], []))))
    assert math.isnan(bare["duplicates"].number) and bare["duplicates"].why


# --------------------------------------------------------------------------------- reachability


@pytest.mark.parametrize("demo", ["en", "nl"])
def test_merges_as_the_reachability_of_a_graph_says(demo):
    tokeniser = load_tokeniser(f"demo:{demo}")
    tokeniser.graph.knockout(["ion", "er", "Ġth"])
    bpe = Bte(tokeniser)
    expected = unreachable_types(tokeniser.graph)
    assert VocabularyHealth(bpe).unreachable == expected
    for method in ("dropout", "first"):
        assert VocabularyHealth(method_on(tokeniser, method)).unreachable == expected


def test_what_was_taken_apart_is_no_type_and_other_types_stay_in_reach():
    types = ["a", "b", "c", "ab", "abc", "bc", "abcc"]
    merges = [("a", "b"), ("ab", "c"), ("b", "c"), ("abc", "c")]
    tokeniser = tokeniser_of_types("t", types, merges)
    health = VocabularyHealth(Trimmed(tokeniser, [text != "ab" for text in types], 0))
    assert figures_of(health)["size"].number == 6
    assert "ab" not in strings(health, "size")
    assert health.unreachable == []


def test_unigram_types_that_their_parts_beat():
    vocabulary = SubwordVocabulary(("a", "b", "ab", "ba", "▁a"), "▁")
    unigram = Unigram(vocabulary, [-1.0, -1.0, -1.5, -3.0, -1.0])
    assert VocabularyHealth(unigram).unreachable == [3]


PIECES = st.text("ab", min_size=1, max_size=4)


@given(
    st.lists(PIECES, min_size=1, max_size=8, unique=True),
    st.sampled_from(["##", "▁", ""]),
    st.data(),
)
def test_looked_up_types_are_reached_in_their_position(bodies, marker, data):
    """The longest match of a string is the string itself, at the start or inside a word."""
    marked = data.draw(st.lists(st.sampled_from(bodies), max_size=6, unique=True))
    types = (*bodies, *(marker + body for body in marked if marker), "[UNK]")
    vocabulary = SubwordVocabulary(types, marker, special=frozenset(["[UNK]"]))
    for segmenter in (WordPiece(vocabulary), Greedy(vocabulary), Flota(vocabulary)):
        assert VocabularyHealth(segmenter).unreachable == []
    # With ##, only marked types stand behind something; with ▁, all do, be it the marker.
    found = VocabularyHealth(WordPiece(vocabulary, longest_word=2)).unreachable or ()
    longer = {
        text
        for text in types[:-1]
        if len(text.removeprefix(marker)) + (marker == "▁" or text.startswith("##")) > 2
    }
    assert {types[number] for number in found} == longer


def test_a_method_of_an_unknown_kind_has_what_can_be_told():
    class Mine(Segmenter):
        name, parameters, types, vocabulary_size = "mine", {}, ("a", "b"), 2
        segment = document = _read = None

        def signature(self):
            return "mine@0"

    mine = Mine(None)
    values = figures_of(VocabularyHealth(mine))
    assert values["size"].number == 2
    assert math.isnan(values["unreachable"].number)
    assert values["unreachable"].why


# --------------------------------------------------------------------------------- undefined


def test_without_corpus_and_reference():
    health = VocabularyHealth(Bte(tokeniser_of_types("t", ["a", "b", "ab"], ["ab"])), label="t")
    values = figures_of(health)
    alone = [figure for figure in FIGURES if figure.needs != "baseline"]
    for figure in alone:
        assert math.isnan(values[figure.key].number) >= bool(figure.needs), figure.key
        assert bool(values[figure.key].why) == math.isnan(values[figure.key].number), figure.key
    assert why_undefined([health], 2.5)
    for figure in alone:
        list_behind(health, figure.key)
    assert len(list_behind(health, "never_used")) == 0
    assert [row.cells[0].value for row in figure_table([health], 2.5).rows].count("n/a") == 21
    assert json.dumps(values_json(values), allow_nan=False)


def test_a_reference_that_does_not_tell_affixes(tiny):
    plain = reference_of(entry("un do"))
    found = figures_of(VocabularyHealth(tiny.segmenter, None, plain))
    assert all(math.isnan(found[f"{key}_types"].number) for key in ("affix", "prefix", "suffix"))
    assert found["morph_types"].number == 4 / 13


def test_a_baseline_on_another_corpus_is_refused(tiny):
    other = VocabularyHealth(tiny.segmenter, NamedCounts(WordCounts(["un"], [1]), "other"))
    with refused():
        figures_of(tiny, 2.5, other)
    fewer = VocabularyHealth(First(tiny.segmenter, 1), tiny.corpus)
    assert figures_of(fewer, 2.5, tiny)["relative_tokens"].number == 13 / 18


# --------------------------------------------------------------------------------- to take away


def test_the_signature_names_what_the_figures_depend_on(tiny):
    line, corpus = signature([tiny], 2.5), tiny.corpus
    entries = reference_fields(tiny.reference)["entries"]
    assert line == (
        f"corpus:words.tsv@{corpus.checksum}|alpha:2.5|reference:gold.tsv@{'0' * 12}|format:plain"
        f"|entries:{entries}|tokenisers:{tiny.segmenter.signature()}|version:{__version__}"
    )
    odd = VocabularyHealth(tiny.segmenter, NamedCounts(WORD_COUNTS, "a|b"))
    assert signature([odd], 1).startswith(f"corpus:a/b@{corpus.checksum}|alpha:1|reference:none|")


# --------------------------------------------------------------------------------- Rényi efficiency

ORDERS = st.just(1.0) | st.floats(0.05, 8).filter(lambda order: abs(order - 1) > 1e-3)


@given(st.lists(st.integers(0, 10**6), max_size=30), st.integers(0, 50), ORDERS)
@example([6, 3, 1], 7, 50_000.0)  # nearly that of the most frequent type alone
@example([6, 3, 1], 7, 1 + 1e-9)  # no jump at Shannon's
@example([2, 1], 0, 1.0)  # as few types as can be
def test_renyi_efficiency_by_its_definition(counts, unused, order):
    size = len(counts) + unused
    found = renyi_efficiency(counts, size, order)
    if not sum(counts) or size < 2:
        assert math.isnan(found)
        return
    shares = [count / sum(counts) for count in counts if count]
    if abs(order - 1) < 1e-6:
        bits = -sum(share * math.log(share) for share in shares)
    elif order > 1000:
        bits = -math.log(max(shares)) * order / (order - 1)
    else:
        bits = math.log(sum(share**order for share in shares)) / (1 - order)
    assert found == pytest.approx(bits / math.log(size), abs=1e-6)
    with pytest.raises(MorphGraphError):
        renyi_efficiency(counts, size, -order)


# --------------------------------------------------------------------------------- counting tokens


def naive(segmenter, words):
    """Count tokens word by word, each segmented on its own."""
    found = Counter()
    for word, count in words.items():
        for token in segmenter.segment(segmenter.encode([word])).tokens(0):
            found[token] += count
    return found, sum(found.values())


@given(well_formed(widest=2), st.dictionaries(WORDS, st.integers(0, 50), max_size=8))
def test_same_as_word_by_word(merges, given_counts):
    types = list(dict.fromkeys(["a", "b", "c", *("".join(parts) for parts in merges)]))
    bpe = Bte(tokeniser_of_types("small", types, merges))
    counts = WordCounts.from_mapping(given_counts)
    found = compress(bpe, counts)
    expected, tokens = naive(bpe, counts)
    assert found.tokens == tokens
    assert found.unknown == expected.pop(UNKNOWN, 0)
    assert dict(enumerate(found.counts)) == {n: expected[n] for n in range(len(types))}
    assert found.words == sum(given_counts.values())
    assert found.characters == sum(len(word) * n for word, n in given_counts.items())
    assert found.dropped == sum(word.count("d") * n for word, n in given_counts.items())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bpe", "flota", "first", "greedy"])
def test_same_as_word_by_word_with_markers_and_bytes(method):
    segmenter = method_on(load_tokeniser("demo:de"), method)
    words = ["häuser", "it's", "über-all", "🧩", "x", "Straße", "don’t", "Gehweg"]
    counts = WordCounts(words, [3, 1, 4, 1, 5, 9, 2, 6])
    found = compress(segmenter, counts)
    expected, tokens = naive(segmenter, counts)
    assert found.tokens == tokens
    assert {n: int(c) for n, c in enumerate(found.counts) if c} == dict(expected)


@pytest.mark.parametrize("start", ["un", "\u07ff\u0800"])
def test_dropped_characters_are_in_no_token_and_lengthen_none(start):
    """undesirable: the one token kept is desirable; u and n are dropped, however long in bytes."""
    flota = Flota(SubwordVocabulary(("un", "desirable", "##desirable", "[UNK]"), "##"), k=1)
    found = compress(flota, WordCounts([f"{start}desirable"], [10]))
    assert (found.tokens, found.characters, found.dropped) == (10, 110, 20)
    assert found.characters_per_token == found.bytes_per_token == 9
    assert found.fertility == 1


@pytest.mark.parametrize(("k", "dropped"), [(1, 2), (2, 1), (3, 1), (4, 0), (5, 0)])
def test_a_character_is_dropped_if_all_its_bytes_are(k, dropped):
    """üü is a marker and four bytes, each a token where no merge is applied."""
    bytes_ = method_on(load_tokeniser("demo:en"), "dropout", {"p": 1.0})
    found = compress(First(bytes_, k), WordCounts(["üü"], [3]))
    assert (found.characters, found.bytes) == (6, 12)
    assert (found.dropped, found.dropped_bytes) == (3 * dropped, 6 * dropped)


def test_markers_that_stand_alone_are_tokens():
    letters = method_on(load_tokeniser("demo:en"), "dropout", {"p": 1.0})
    found = compress(letters, WordCounts(["the", "a"], [2, 5]))
    assert (found.marker_tokens, found.tokens, found.characters) == (7, 4 * 2 + 2 * 5, 11)
    whole = method_on(load_tokeniser("demo:en"), "bpe")
    assert compress(whole, WordCounts(["the"], [2])).marker_tokens == 0


def test_a_word_that_wordpiece_gives_up_is_one_unknown_token():
    wordpiece = WordPiece(SubwordVocabulary(("un", "##do", "[UNK]"), "##"))
    assert wordpiece.unknown_id == 2
    found = compress(wordpiece, WordCounts(["undo", "undone"], [3, 4]))
    assert (found.unknown, found.tokens) == (4, 10)


def test_nothing_to_count_is_undefined():
    bpe = Bte(tokeniser_of_types("abc", ["a", "b"], []))
    for counts in (WordCounts([], []), WordCounts(["a"], [0])):
        found = compress(bpe, counts)
        for number in (found.fertility, found.characters_per_token, found.renyi_efficiency()):
            assert math.isnan(number)
        assert math.isnan(found.relative_to(found))


# --------------------------------------------------------------------------------- the corpus


def test_corpus_of_frequencies():
    tokeniser = tokeniser_of_types("abc", ["a", "b"], [])
    plain = Benchmark.build(tokeniser, small_reference("a b", "b"))
    assert corpus_of(plain) is None
    given_ = Benchmark.build(tokeniser, plain.reference, {"ab": 2.4, "b": 0.2, "a": 0}, "x")
    corpus = corpus_of(given_)
    assert dict(corpus.counts.items()) == {"ab": 2, "b": 0, "a": 0}
    assert corpus.signature() == f"x@{corpus.checksum}"
    # Several analyses of a word are one word; the counts come with the reference.
    counted = small_reference("a b", "ab", "b", counts=[7, 7, 3])
    found = corpus_of(Benchmark.build(tokeniser, counted))
    assert dict(found.counts.items()) == {"b": 3, "ab": 7}
    assert found.name == "small.tsv"


def test_the_checksum_is_of_the_words_and_counts():
    first = NamedCounts(WordCounts(["a", "b"], [1, 2]), "x")
    assert first.checksum == NamedCounts(WordCounts(["a", "b"], np.array([1, 2])), "y").checksum
    assert first.checksum != NamedCounts(WordCounts(["a", "b"], [1, 3]), "x").checksum
    assert len(NamedCounts(WordCounts(["\ud800"], [1]), "x").checksum) == 12


def test_a_whole_text_counts_as_one_word(tiny):
    texts = WordCounts(["undo un", "s"], [2, 3], WHOLE_TEXTS)
    found, by_words = (compress(tiny.segmenter, texts, whole=whole) for whole in (False, True))
    assert found.tokens == by_words.tokens
    assert (found.words, by_words.words) == (5, 7)
    assert found.fertility == found.tokens / 5
