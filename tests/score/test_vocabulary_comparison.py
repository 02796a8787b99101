"""Two vocabularies beside each other, by hand and by sets of strings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.score.vocabulary_comparison import PARTS, VocabularyComparison, VocabularyPart
from morphgraph.score.vocabulary_figures import figures_of, list_behind
from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary

CORPUS = NamedCounts(WordCounts(["un", "undo", "ö"], [5, 3, 1]), "words")
GOLD = Reference(
    "gold.tsv",
    "plain",
    (
        Entry("undo", ("un", "do"), kinds=(MorphemeKind.PREFIX, MorphemeKind.FREE)),
        Entry("dos", ("do", "s"), kinds=(MorphemeKind.FREE, MorphemeKind.SUFFIX)),
    ),
    (),
    "0123456789ab",
)


def health(types: str, marker: Marker = "▁") -> VocabularyHealth:
    listed = ("<unk>", *types.split())
    special, prepared = frozenset({"<unk>"}), Preprocessor()
    vocabulary = SubwordVocabulary(listed, marker, prepared, special, unknown="<unk>")
    kind = WordPiece if marker == "##" else Greedy
    return VocabularyHealth(kind(vocabulary), CORPUS, GOLD)


def test_every_figure_by_hand() -> None:
    """u n | u n d o | ö, of 5, 3 and 1 words; then u n | u n do | ?."""
    before, after = health("▁ u n d o s ö ▁un дом"), health("▁ u n d o s do ▁u")
    found = VocabularyComparison(before, after)
    shared, dropped, added = found.parts.values()  # ▁ u n d o s; ö ▁un дом; do ▁u
    assert shared == VocabularyPart(6, 1 / 6, 1, 22, 16, 0, 1, 1, {"LATIN": 5})
    assert dropped.scripts == {"LATIN": 2, "CYRILLIC": 1}
    assert (dropped.types, dropped.word_initial, dropped.mean_length) == (3, 1 / 3, 2)
    assert (dropped.prefixes, dropped.suffixes, dropped.morphs) == (1, 0, 1)
    assert (added.types, added.word_initial, added.mean_length) == (2, 1 / 2, 1.5)
    assert (added.prefixes, added.suffixes, added.morphs) == (0, 0, 1)
    assert (dropped.tokens_before, added.tokens_after) == (1, 3)
    assert math.isnan(dropped.tokens_after) and math.isnan(added.tokens_before)
    assert found.carried_over == 6 / 9
    figures = {key: value.number for key, value in figures_of(after, baseline=before).items()}
    assert [figures[part] for part in PARTS] == [6, 3, 2]
    assert figures["carried_over"] == 6 / 9
    assert (figures["word_initial_dropped"], figures["mean_length_added"]) == (1 / 3, 1.5)
    lists = [set(list_behind(after, part, baseline=before)["type"]) for part in PARTS]
    assert lists == [{"␣", *"undos"}, {"ö", "␣un", "дом"}, {"do", "␣u"}]
    with pytest.raises(MorphGraphError, match="needs another tokeniser"):
        list_behind(after, "added_types")


BODIES = st.sets(st.tuples(st.booleans(), st.text("abcö", min_size=1, max_size=3)), max_size=9)
MARKERS: tuple[Marker, ...] = ("▁", "Ġ", "##")


@given(BODIES, BODIES, st.sampled_from(MARKERS), st.sampled_from(MARKERS))
def test_as_sets(
    one: set[tuple[bool, str]], other: set[tuple[bool, str]], first: Marker, second: Marker
) -> None:
    """The same types spelled with any two markers: three sets, whatever these are."""

    def spelled(types: set[tuple[bool, str]], marker: Marker) -> VocabularyHealth:
        has = {(start, text): start != (marker == "##") for start, text in types}
        return health(" ".join(marker * has[each] + each[1] for each in sorted(types)), marker)

    # One type of each kind, so that the marker is known.
    one, other = ({*types, (True, "xy"), (False, "yx")} for types in (one, other))
    found = VocabularyComparison(spelled(one, first), spelled(other, second))
    wanted = (one & other, one - other, other - one)
    assert [part.types for part in found.parts.values()] == [len(types) for types in wanted]
    for part, types in zip(found.parts.values(), wanted, strict=True):
        shares = [start for start, _ in types], [len(text) for _, text in types]
        means = [np.mean(values) if values else math.nan for values in shares]
        assert [part.word_initial, part.mean_length] == pytest.approx(means, nan_ok=True)
    assert found.carried_over == len(one & other) / len(one)
