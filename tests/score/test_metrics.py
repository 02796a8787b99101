"""Every metric: on words worked by hand, against scikit-learn, and against the naive oracle."""

from fractions import Fraction as F

import numpy as np
import oracles
import pytest
import score_oracles as naive
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from sklearn.metrics import precision_recall_fscore_support
from small import gold_of, reference_of
from small import small_entry as entry
from strategies import bpe_of, well_formed

from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Entry
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet
from morphgraph.score.metrics import GROUPS, METRICS, OURS, USUAL, Tally, check_metrics
from morphgraph.score.outcome import ideal, outcome_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import First, Flota
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary

OWN = vars(OURS)


def values(outcome, scope, weighting):
    """Every metric by name."""
    tally = Tally(outcome, scope, weighting)
    return {name: metric.of(tally).value for name, metric in OWN.items()}


TEN = reference_of(
    entry("un do ing / undoing", count=3),
    entry("dog / dog", count=10),
    entry("dog s / dogs", count=4),
    entry("un do able / undoable", count=2),  # one word, two analyses
    entry("undo able / undoable", count=2),
    entry("i / i", count=7),
    entry("bär en / bären", count=5),
    entry("house boat / house boat", count=1),
    entry("subsid is ed", underlying=("subside", "ise", "ed")),  # no whole words; no count weighs 1
    entry("dog s house / dog s house", count=6, underlying=("dog", "house")),
)


def _vocabulary():
    from tokenizers import normalizers

    starts = ["▁", "▁un", "▁dog", "▁dogs", "▁i", "▁subsid"]
    inside = ["do", "ing", "a", "bl", "e", "b", "r", "en", "house", "boat", "ised"]
    spaces = Preprocessor(
        normalizer=normalizers.Replace(" ", "▁"), leading_space=True, byte_fallback=True
    )
    return SubwordVocabulary((*starts, *inside, *BYTES), "▁", spaces)


GREEDY, FLOTA = Greedy(_vocabulary()), Flota(_vocabulary(), 1)
TOKENS = {
    "Greedy": "▁un do ing, ▁dog, ▁dogs, ▁un do a bl e, ▁un do a bl e, ▁i, "
    "▁ b <0xC3> <0xA4> r en, ▁ house boat, ▁subsid ised, ▁dogs house",
    "FLOTA": "ing, ▁dog, ▁dogs, ▁un, ▁un, ▁i, en, house, ▁subsid, house",
}

# Greedy, morphemic:
#                       count  splits   gold  hits  LCS  pieces  edits  source: LCS  edits  tokens
#  1 un|do|ing              3     2 4    2 4     2    3       3      0            3      0       3
#  2 dog                   10       –      –     0    1       1      0            1      0       1
#  3 dogs                   4       –      3     0    0       1      1            0      1       1
#  4 un|do|a|bl|e           2  2 4 5 7   2 4     2    2       5      2            2      2       5
#  5 un|do|a|bl|e           2  2 4 5 7     4     1    0       5      3            0      3       5
#  6 i                      7       –      –     0    1       1      0            1      0       1
#  7 b|ä|r|en               5   1 2 3      3     1    1       4      2            1      2       6
#  8 house|boat             1       5      5     1    2       2      0            2      0       3
#  9 subsid|ised            1       6    6 8     1    1       2      1            0      3       2
# 10 dogs|house             6       4    3 4     1    1       2      1            1      1       2
#    sums                  41      16     12     9   12      26     10           11     12      29
# In 4 and 5, „undo|able“ becomes „un|do|a|bl|e“ by three separators. In 7, one split is inside ä.
# The source of 9 has subside|ise|ed, that of 10 dog|house: 21 morphemes where the gold has 22.
# FLOTA with one token, – what it leaves out:
#  1 –|ing   2 dog   3 dogs   4 un|–   5 un|–   6 i   7 –|en   8 house|–   9 subsid|–   10 –|house
#    splits  4 · · 2 2 · 3 5 6 4;  hits 1 0 0 1 0 0 1 1 1 1;  LCS 1 1 0 1 0 1 1 1 1 1
#    edits   6 0 1 8 7 0 4 5 6 6;  left out 4 0 0 6 6 0 3 4 4 4
#    source: LCS 1 1 0 1 0 1 1 1 0 1, edits 6 0 1 8 7 0 4 5 8 4
NAN = None
MORPHEME = [name for name in OWN if name.startswith("morpheme_")]
BY_HAND = {
    ("Greedy", "morphemic", "types"): {
        "precision": F(9, 16), "recall": F(9, 12), "f1": F(2 * 9, 16 + 12),
        "macro_precision": F(61, 84),  # (1 + 1/2 + 1/4 + 1/3 + 1 + 1 + 1) / 7: of 1 4 5 7 8 9 10
        "macro_recall": F(6, 8),  # (1 + 0 + 1 + 1 + 1 + 1 + 1/2 + 1/2) / 8: 3 counts, 2 and 6 not
        "macro_f1": F(49, 80),  # (1 + 0 + 2/3 + 2/5 + 1/2 + 1 + 2/3 + 2/3) / 8
        "exact": F(4, 10),  # 1 2 6 8
        "over": F(3, 10),  # 4 5 7
        "under": F(3, 10),  # 3 9 10
        "morph_precision": F(12, 26), "morph_recall": F(12, 22), "morph_f1": F(2 * 12, 26 + 22),
        "distance": F(10, 10), "morpheme_precision": F(11, 26), "morpheme_recall": F(11, 21),
        "morpheme_f1": F(2 * 11, 26 + 21), "morpheme_distance": F(12, 10), "fertility": F(29, 10),
        "characters": F(64, 29),  # 7 + 3 + 4 + 8 + 8 + 1 + 5 + 9 + 10 + 9
        "left_out": F(0), "inside": F(1, 10),
    },
    # Whole words: 9 does not count. Boundaries are in 8, at 5, and in 10, at 3 and 4.
    ("Greedy", "whole-word", "tokens"): {
        "precision": F(7, 44),  # 1 + 6; 45 but for the one split in 9
        "recall": F(7, 13),  # 1 + 6·2
        "f1": F(14, 57),
        "macro_precision": F(7, 19),  # 3 + 2 + 2 + 5 + 1 + 6
        "macro_recall": F(4, 7),  # (1 + 6/2) / (1 + 6)
        "macro_f1": F(5, 7),  # (1 + 6 · 2/3) / 7
        "exact": F(22, 40),  # 10 + 4 + 7 + 1
        "over": F(12, 40),  # 3 + 2 + 2 + 5
        "under": F(6, 40),
        "morph_precision": F(29, 84),  # 10 + 4 + 7 + 1·2 + 6; 44 splits + 40 words
        "morph_recall": F(29, 53), "morph_f1": F(58, 137),
        "distance": F(43, 40),  # 3·2 + 2·4 + 2·4 + 5·3 + 6
        **dict.fromkeys(MORPHEME, NAN),
        "fertility": F(95, 40), "characters": F(194, 95), "left_out": F(0), "inside": F(5, 40),
    },
    ("FLOTA", "morphemic", "types"): {
        "precision": F(6, 7), "recall": F(6, 12), "f1": F(12, 19),
        "macro_precision": F(6, 7),  # only 5 has 0
        "macro_recall": F(4, 8),  # 1/2 + 0 + 1/2 + 0 + 1 + 1 + 1/2 + 1/2
        "macro_f1": F(7, 12),  # (2/3 + 0 + 2/3 + 0 + 1 + 1 + 2/3 + 2/3) / 8
        "exact": F(4, 10),  # 2 6 7 8
        "over": F(1, 10),  # 5
        "under": F(6, 10),  # 1 3 4 5 9 10
        "morph_precision": F(8, 10), "morph_recall": F(8, 22), "morph_f1": F(16, 32),
        "distance": F(43, 10), "morpheme_precision": F(7, 10), "morpheme_recall": F(7, 21),
        "morpheme_f1": F(14, 31), "morpheme_distance": F(43, 10), "fertility": F(10, 10),
        "characters": F(33, 10), "left_out": F(31, 64),
        "inside": F(0),  # both bytes of ä are left out
    },
}  # fmt: skip


@pytest.mark.parametrize("segmenter", [GREEDY, FLOTA], ids=lambda segmenter: segmenter.name)
def test_ten_words_are_cut_as_the_table_says(segmenter):
    found = outcome_of(segmenter, GoldSet.of(TEN))
    shown = [" ".join(found.token_texts(number)) for number in range(10)]
    assert ", ".join(shown) == TOKENS[segmenter.name]


@pytest.mark.parametrize("name, scope, weighting", BY_HAND, ids=["-".join(key) for key in BY_HAND])
def test_ten_words_by_hand(name, scope, weighting):
    found = outcome_of({"Greedy": GREEDY, "FLOTA": FLOTA}[name], GoldSet.of(TEN))
    expected = {
        metric: float("nan") if value is None else float(value)
        for metric, value in BY_HAND[name, scope, weighting].items()
    }
    assert [*expected, *MORPHSCORE] == list(OWN), "every other metric"
    computed = values(found, scope, weighting)
    computed = {metric: computed[metric] for metric in expected}
    assert computed == pytest.approx(expected, rel=1e-12, nan_ok=True)


MORPHSCORE = GROUPS["MorphScore"]


@pytest.mark.parametrize(
    ("segmenter", "expected"),
    [
        # One boundary and two tokens: 5, 7, 8. Of words with boundaries only 3 is one token: it has
        # no precision and recall of its own, or 1.
        (GREEDY, [F(1), F(61, 84), F(6, 7), F(61 + 12, 84 + 12), F(7, 8)]),
        (FLOTA, [None, None, None, F(1), F(1)]),  # one token each
    ],
    ids=["Greedy", "FLOTA"],
)
def test_morphscore_by_hand(segmenter, expected):
    found = values(outcome_of(segmenter, GoldSet.of(TEN)), "morphemic", "types")
    wanted = [float("nan") if value is None else float(value) for value in expected]
    assert [found[name] for name in MORPHSCORE] == pytest.approx(wanted, nan_ok=True)


def test_morphscore_counts_no_marker_and_weighs_by_frequency():
    # b|ä|r|en has a token ▁ of its own; dogs is one token; house|boat is right, weight 1 of 6.
    words = (entry("dog s", count=3), entry("bä ren", count=5), entry("house boat", count=1))
    found = outcome_of(GREEDY, gold_of(*words))
    assert found.parts.tolist() == [1, 5, 2]
    assert found.tokens.tolist() == [1, 6, 3]
    weighted = values(found, "morphemic", "tokens")
    assert weighted["morphscore"] == 1
    assert weighted["morphscore_precision"] == pytest.approx((5 / 3 + 1) / 6)
    assert weighted["morphscore_precision_all"] == pytest.approx((3 + 5 / 3 + 1) / 9)


def test_nothing_in_any_token():
    """FLOTA finds none of zzz: precision of morphs is undefined, all characters are left out."""
    outcome = outcome_of(FLOTA, gold_of(entry("zz z / zzz", count=1)))
    found = values(outcome, "morphemic", "types")
    assert np.isnan([found["morph_precision"], found["characters"], found["precision"]]).all()
    assert (found["left_out"], found["fertility"], found["morph_recall"]) == (1, 0, 0)
    assert found["distance"] == 4  # z z | z
    assert found["recall"] == 0


def test_titles_groups_and_names():
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
    assert [name for names in GROUPS.values() for name in names] == list(OWN)
    assert set(USUAL) <= set(METRICS)
    assert check_metrics(["all"]) == tuple(METRICS)
    assert check_metrics(["recall", "boundaries", "recall"]) == ("recall", "precision", "f1")
    assert check_metrics([]) == ()
    with refused():
        check_metrics(["F1"])


MORPHS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=4)


@st.composite
def golds(draw):
    """Entries, some with whole words and counts, some with morphemes of their own."""
    entries = []
    for morphs in draw(st.lists(MORPHS, min_size=1, max_size=8)):
        joined = draw(st.none() | st.integers(1, len(morphs)))
        whole = None
        if joined is not None:
            whole = ("".join(morphs[:joined]), *morphs[joined:])
        count = draw(st.none() | st.integers(0, 9))
        underlying = draw(st.none() | MORPHS)
        own = None if underlying is None else tuple(underlying)
        entries.append(Entry("".join(morphs), tuple(morphs), whole, count, underlying=own))
    return entries


def judged(entries, found, scope, weighting):
    """Entries and what was found in them, for the oracle."""
    rows = []
    for one, cut in zip(entries, found, strict=True):
        weight = F(1) if weighting == "types" or one.count is None else F(one.count)
        morphemic = scope == "morphemic"
        gold = one.morphs if morphemic else one.whole_words
        source = (one.underlying or one.morphs) if morphemic else None
        rows.append(naive.Judged(one.word, cut, weight, gold, source))
    return rows


def assert_as_oracle(outcome, found):
    """Every metric, scope and weighting."""
    entries = outcome.gold_set.reference.entries
    for scope in SCOPES:
        for weighting in outcome.gold_set.weightings:
            wanted = naive.scores(judged(entries, found, scope, weighting))
            expected = {k: float("nan") if v is None else float(v) for k, v in wanted.items()}
            assert set(expected) == set(OWN)
            assert values(outcome, scope, weighting) == pytest.approx(
                expected, rel=1e-9, abs=1e-12, nan_ok=True
            )


@examples(200)
@given(golds(), well_formed(), st.none() | st.integers(1, 3))
@example([entry("a / a", count=1)], [], None)  # nothing split, nothing to find
@example([entry("a b / ab", count=1)], [("a", "b")], None)  # nothing split, something to find
@example([entry("ab", count=1)], [], None)  # something split, nothing to find
@example(
    [entry("a b / a b", count=1, underlying=("a", "b"))], [], None
)  # whole words have no source morphemes
@example([entry("a b / ab", count=0), entry("ab / ab", count=0)], [], None)  # nothing counts
def test_merges_as_oracle(entries, merges, k):
    bpe = Bte(bpe_of(merges))
    outcome = outcome_of(First(bpe, k) if k else bpe, gold_of(*entries))
    found = []
    for one in entries:
        tokens, _ = oracles.segment(oracles.listed(merges), one.word)
        places, _ = naive.spans(tokens)
        found.append(naive.outcome(one.word, places[:k]))
    assert_as_oracle(outcome, found)


@examples(100)
@given(golds())
def test_the_ideal_as_oracle(entries):
    found = [naive.outcome(one.word, naive.spans(one.morphs)[0]) for one in entries]
    assert_as_oracle(ideal(gold_of(*entries)), found)


class Real:
    """A tokeniser's own tokens of real words, as gaps, with weights that differ."""

    def __init__(self, folder, tokeniser, reference, most):
        step = max(1, len(reference) // most)
        entries = []
        for number, e in enumerate(reference.entries[::step]):
            # The sources have no whole words with boundaries: some are made up, some left out.
            whole = (None, ("".join(e.morphs[:-1]), e.morphs[-1]), e.morphs)[number % 3]
            whole = tuple(filter(None, whole)) if whole is not None else None
            count = 1.0 + number % 7
            entries.append(Entry(e.word, e.morphs, whole, count, underlying=e.underlying))
        self.entries = entries
        self.segmenter = Bte(load_tokeniser(folder / "tokenizers" / tokeniser))
        self.outcome = outcome_of(self.segmenter, gold_of(*entries))
        words = self.segmenter.encode([e.word for e in entries])
        segmentation = self.segmenter.segment(words)
        self.found = []
        for number, e in enumerate(entries):
            types = [self.segmenter.types[token] for token in segmentation.tokens(number)]
            places, alone = naive.spans(types, "Ġ")
            self.found.append(naive.outcome(e.word, places, alone, byte_level=True))

    def gaps(self, scope):
        """For each word with gold: true and predicted gaps as 0 and 1, and its count."""
        rows = []
        for e, found in zip(self.entries, self.found, strict=True):
            gold = e.morphs if scope == "morphemic" else e.whole_words
            if gold is None:
                continue
            both = oracles.boundaries(gold), found.cuts
            rows.append((*([int(p in c) for p in range(1, len(e.word))] for c in both), e.count))
        return rows


SOURCES = {
    # MorphyNet's German derivations by a byte-level tokeniser with 40k types.
    "German": ("oscar-de-40k/tokenizer.json", "morphynet/deu.derivational.v1.tsv", 4000),
    # SIGMORPHON's Hungarian by GPT-2, which splits inside many letters.
    "Hungarian": ("gpt2", "sigmorphon2022/hun.word.dev.tsv", 3000),
}


@pytest.fixture(scope="module", params=SOURCES)
def real(request, data_folder):
    tokeniser, reference, most = SOURCES[request.param]
    gold = read_reference(data_folder / "references" / reference)
    return Real(data_folder, tokeniser, gold, most)


@pytest.mark.slow
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_boundaries_as_scikit_learn(real, scope, weighting):
    rows = real.gaps(scope)
    found = values(real.outcome, scope, weighting)
    true = np.concatenate([t for t, *_ in rows])
    predicted = np.concatenate([p for _, p, _ in rows])
    weights = np.concatenate(
        [np.full(len(t), 1.0 if weighting == "types" else count) for t, _, count in rows]
    )
    assert true.sum() > 0
    assert len(real.found) > 2000
    *expected, _ = precision_recall_fscore_support(
        true, predicted, average="binary", pos_label=1, sample_weight=weights, zero_division=np.nan
    )
    assert [found[n] for n in ("precision", "recall", "f1")] == pytest.approx(expected, rel=1e-9)


def test_real_words_as_oracle(real):
    assert_as_oracle(outcome_of(real.segmenter, gold_of(*real.entries[::20])), real.found[::20])
