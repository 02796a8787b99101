"""FLOTA's scores: a table worked by hand, and a naive oracle."""

import math

import pytest
import substring_oracles as oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from small import reference_of
from small import small_entry as entry

from morphgraph.formats.loading import load_vocabulary
from morphgraph.reference.entry import Entry, MorphemeKind
from morphgraph.score.flota_scores import FLOTA_METHODS, flota_score
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

FREE, SUFFIX = MorphemeKind.FREE, MorphemeKind.SUFFIX


TYPES = (
    *("[UNK]", "un", "unk", "##ind", "##kind", "##true", "house", "boat", "##boat", "boats", "s"),
    *("bar", "##bar", "a", "ly", "kind", "##red", "##indre"),
)
VOCABULARY = SubwordVocabulary(TYPES, "##", special=frozenset({"[UNK]"}), unknown="[UNK]")
GOLD = reference_of(
    entry("boat s", "fs"),  # the word is a type
    entry("kind", "f"),
    entry("un kind ly", "pfs"),
    entry("un zip", "pf"),  # zip is no type
    entry("a", "f"),
    entry("un kind", "pf"),  # FLOTA: un ##kind; WordPiece: unk ##ind
    entry("un true", "pf"),  # both: un ##true
    entry("house boat", "ff"),  # both: house ##boat
    entry("un ly", "ps"),  # FLOTA: un ly; WordPiece: [UNK]
    entry("bar bar", "ff"),  # both: bar ##bar
    entry("kind red", "fs"),  # FLOTA: ##indre, k and d dropped; WordPiece: kind ##red
    entry("boat ly"),  # FLOTA: boat ly; WordPiece: [UNK]
)
BY_HAND = {
    # the seven words below "un zip", of which the five with a stem are in stem recall
    # ##kind ##true house un bar ##indre boat: both morphs are bar
    ("FLOTA", 1): (7 / 14, 4 / 5, 0),
    **{("FLOTA", k): (12 / 14, 4 / 5, 6 / 7) for k in (2, 3, None)},
    ("FIRST", 1): (6 / 14, 3 / 5, 0),  # unk un house – bar kind –: un is in unk
    **{("FIRST", k): (10 / 14, 4 / 5, 4 / 7) for k in (2, 3, None)},
    ("LONGEST", 1): (6 / 14, 4 / 5, 0),  # unk ##true house – bar kind –
    **{("LONGEST", k): (10 / 14, 4 / 5, 4 / 7) for k in (2, 3, None)},
}


@pytest.mark.parametrize(("method", "k"), BY_HAND)
def test_by_hand(method, k):
    found = flota_score(method, k, VOCABULARY, GOLD, WordPiece(VOCABULARY))
    told = found.coverage, found.stem_recall, found.full_match
    assert told == pytest.approx(BY_HAND[method, k])
    assert (found.entries, found.entries_with_stem) == (7, 5)
    if k is None:
        # of seven: unkind, untrue, houseboat, unly, barbar, kindred, boatly
        usual, flota = [2, 2, 2, 1, 2, 2, 1], [2, 2, 2, 2, 2, 1, 2]
        own = flota if method == "FLOTA" else usual
        p = stats.ttest_rel(own, usual).pvalue
        assert (found.tokens, found.tokens_p) == pytest.approx((sum(own) / 7, p), nan_ok=True)


def test_strict_is_flotas_and_in_the_signature():
    # At the start of kindun, ##kind is longer than k, which alone may stand there.
    vocabulary = SubwordVocabulary(("##kind", "k", "##ind", "un"), "##")
    given = vocabulary, reference_of(entry("kind un", "fs")), WordPiece(vocabulary)
    assert flota_score("FLOTA", 2, *given).full_match == 1
    strict = flota_score("FLOTA", 2, *given, strict=True)
    assert strict.full_match == 0
    assert "|flota:strict|" in strict.signature


def test_a_morph_of_no_kind_is_no_stem():
    odd = entry("un kind", "?f")
    short = entry("un kind", "f")  # cannot be laid over the morphs
    found = flota_score("FLOTA", 1, VOCABULARY, reference_of(odd, short), WordPiece(VOCABULARY))
    assert (found.entries_with_stem, found.stem_recall) == (1, 1.0)


def both(vocabulary, *entries):
    """How many entries are scored, and FLOTA's and the standard's coverage."""
    given = vocabulary, reference_of(*entries), standard_segmenter(vocabulary)
    flota, first = (flota_score(method, None, *given) for method in FLOTA_METHODS[:2])
    return flota.entries, flota.coverage, first.coverage


def test_words_are_compared_as_the_tokeniser_normalises_them():
    bert = load_vocabulary({"types.txt": b"[UNK]\nun\n##kind\nkind\n##s\nhouse\nhouses"})
    # Capitals, an accent of its own, and one that is a character: the morphs count all of them.
    accented = entry("Un KI\u0301nd")
    assert both(bert, accented, entry("un kìnd")) == (2, 1.0, 1.0)
    # The accent behind un is the first morph's, though nothing is left of it.
    assert both(bert, entry("un\u0301 kind")) == (1, 1.0, 1.0)
    assert both(bert, entry("House s"))[0] == 0  # in V, once it is in lower case


def test_bytes_and_markers():
    gpt2 = load_vocabulary({"types.txt": "Ġun\nkind\nĠnÃ©\nÃ©\nn\nĠ".encode()})
    assert gpt2.marker == "Ġ"
    assert both(gpt2, entry("un kind"), entry("né kind")) == (2, 1.0, 1.0)
    # un has its word-initial form only; it is a token inside a word by FLOTA's fallback.
    assert both(gpt2, entry("kind un")) == (1, 1.0, 0.5)


def test_a_marker_of_its_own_moves_no_boundary():
    vocabulary = SubwordVocabulary(("▁", "un", "kind"), "▁", metaspace())
    assert both(vocabulary, entry("un kind")) == (1, 1.0, 1.0)


def test_a_type_with_an_end_of_word_is_in_the_vocabulary():
    suffixed = Preprocessor(suffix="</w>")
    vocabulary = SubwordVocabulary(("un", "kind</w>", "kind", "n"), preprocessor=suffixed)
    assert both(vocabulary, entry("un kind")) == (1, 1.0, 1.0)


def metaspace():
    from tokenizers import pre_tokenizers

    return Preprocessor(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"))


MARKERS = st.sampled_from(("##", "▁", ""))
BODIES = st.text("abc", min_size=1, max_size=3)


@examples(400)
@given(st.data())
def test_as_oracle(data):
    """Over random types and entries, of which many are made of types."""
    marker = data.draw(MARKERS)
    bodies = data.draw(st.lists(st.tuples(BODIES, st.booleans()), min_size=1, max_size=15))
    types = [*dict.fromkeys((marker if marked else "") + body for body, marked in bodies)]
    morphs = st.sampled_from([body for body, _ in bodies]) | BODIES
    kinds = st.sampled_from((FREE, SUFFIX, None))
    entries = []
    for parts in data.draw(st.lists(st.lists(morphs, min_size=1, max_size=3), max_size=8)):
        told = data.draw(st.none() | st.tuples(*[kinds] * len(parts)))
        entries.append(Entry("".join(parts), tuple(parts), kinds=told))
    preprocessor = metaspace() if marker == "▁" else Preprocessor()
    vocabulary = SubwordVocabulary(tuple(types), marker, preprocessor)
    for method, k in BY_HAND:
        one = flota_score(method, k, vocabulary, reference_of(*entries), Greedy(vocabulary))
        expected = naive(method, k or 99, types, marker, entries)
        told = [one.coverage, one.stem_recall, one.full_match]
        assert told == pytest.approx(expected[:3], nan_ok=True)
        assert (one.entries, one.entries_with_stem) == expected[3:]


def naive(method, k, types, marker, entries):
    covered = matched = stemmed = scored = stems = 0
    for one in entries:
        known = [text in types or marker + text in types for text in (*one.morphs, one.word)]
        if known != [True, True, False]:
            continue
        cut, length = len(one.morphs[0]), len(one.word)
        kept = tokens(method, k, one.word, types, marker)
        spans = {(start, end) for _, start, end in kept}
        text = "".join(one.word[start:end] for _, start, end in kept)
        hits = [(0, cut) in spans, (cut, length) in spans]
        scored += 1
        covered += sum(morph in text for morph in one.morphs)
        matched += all(hits)
        free = [kind is FREE for kind in one.kinds or ()]
        if any(free):
            stems += 1
            stemmed += any(hit and stem for hit, stem in zip(hits, free, strict=True))
    return (
        covered / (2 * scored) if scored else math.nan,
        stemmed / stems if stems else math.nan,
        matched / scored if scored else math.nan,
        scored,
        stems,
    )


def tokens(method, k, word, types, marker):
    if method == "FLOTA":
        return oracles.flota([word], types, marker, k)
    found = []
    spelled = "▁" + word if marker == "▁" else word
    at = -1 if marker == "▁" else 0
    for text in oracles.greedy(spelled, types, marker):
        unknown = text not in types
        body = text[1:-1] if unknown else text.removeprefix(marker if marker == "##" else "")
        start, at = at, at + len(body)
        found.append(("<unknown>" if unknown else text, max(start, 0), at))
    kept = oracles.first(found, k) if method == "FIRST" else oracles.longest(found, k)
    return [token for token in kept if token[0] != "<unknown>"]
