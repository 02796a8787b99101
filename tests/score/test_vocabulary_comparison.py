"""Two vocabularies beside each other, by hand and by sets of strings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import reference_of
from small import small_entry as entry

from morphgraph.corpus.counts import WordCounts
from morphgraph.score.vocabulary_comparison import PARTS, compared
from morphgraph.score.vocabulary_figures import figures_of, list_behind
from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tables.vocabularies import ComparedVocabularies
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

CORPUS = NamedCounts(WordCounts(["un", "undo", "ö"], [5, 3, 1]), "words")
GOLD = reference_of(entry("un do", "pf"), entry("do s", "fs"))


def health(types, marker="▁"):
    listed = ("<unk>", *types.split())
    special, prepared = frozenset({"<unk>"}), Preprocessor()
    vocabulary = SubwordVocabulary(listed, marker, prepared, special, unknown="<unk>")
    kind = WordPiece if marker == "##" else Greedy
    return VocabularyHealth(kind(vocabulary), CORPUS, GOLD)


def test_every_figure_by_hand():
    """u n | u n d o | ö, of 5, 3 and 1 words; then u n | u n do | ?."""
    before, after = health("▁ u n d o s ö ▁un дом"), health("▁ u n d o s do ▁u")
    found = ComparedVocabularies(before, after)  # ▁ u n d o s, twice; ö ▁un дом; do ▁u
    assert found.to_frame().to_dict("list") == {
        "size": [6, 6, 3, 2],
        "word_initial": [1 / 6, 1 / 6, 1 / 3, 1 / 2],
        "mean_length": [1, 1, 2, 1.5],
        "tokens": [22, 16, 1, 3],
        "prefix_types": [0, 0, 1, 0],
        "suffix_types": [1, 1, 0, 0],
        "morph_types": [1 / 6, 1 / 6, 1 / 3, 1 / 2],
    }
    scripts = {row.names[0]: [cell.value for cell in row.cells] for row in found.table().rows[7:]}
    assert scripts == {
        "Script: Latin": ["5", "5", "2", "2"],
        "Script: Cyrillic": ["0", "0", "1", "0"],
    }
    assert found.carried_over == found.to_dict()["carried_over"] == 6 / 9
    figures = {key: value.number for key, value in figures_of(after, baseline=before).items()}
    assert [figures[part] for part in PARTS] == [6, 3, 2]
    assert figures["carried_over"] == 6 / 9
    assert (figures["word_initial_dropped"], figures["mean_length_added"]) == (1 / 3, 1.5)
    lists = [set(list_behind(after, part, baseline=before)["type"]) for part in PARTS]
    assert lists == [set(found.types(part)["type"]) for part in PARTS]
    assert lists == [{"␣", *"undos"}, {"ö", "␣un", "дом"}, {"do", "␣u"}]


def test_where_one_has_no_marker_it_does_not_count():
    """un and ▁un are one; un | un d o | ?, of 5, 3 and 1 words."""
    before, after = health("▁ u n d o ▁un un ▁do"), health("▁ u n d un", "")
    parts = compared(before, after)
    shown = [{part.inventory.texts[n] for n in part.inventory.spelled} for part in parts.values()]
    assert [*map(len, shown)] == [5, 5, 2, 0]  # ▁ u n d un; o do
    assert figures_of(after, baseline=before)["carried_over"].number == 5 / 7
    assert figures_of(before, baseline=after)["carried_over"].number == 1
    both = [part.compression.tokens for part in parts.values() if part.compression]
    assert both[0] + both[2] == before.compression.tokens - before.compression.unknown


BODIES = st.sets(st.tuples(st.booleans(), st.text("abcö", min_size=1, max_size=3)), max_size=9)
MARKERS = ("▁", "Ġ", "##")


@given(BODIES, BODIES, st.sampled_from(MARKERS), st.sampled_from(MARKERS))
def test_as_sets(one, other, first, second):
    """The same types spelled with any two markers: three sets, whatever these are."""

    def spelled(types, marker):
        has = {(start, text): start != (marker == "##") for start, text in types}
        return health(" ".join(marker * has[each] + each[1] for each in sorted(types)), marker)

    # One type of each kind, so that the marker is known.
    one, other = ({*types, (True, "xy"), (False, "yx")} for types in (one, other))
    found = compared(spelled(one, first), spelled(other, second))
    for part, types in zip(
        found.values(), (one & other, one & other, one - other, other - one), strict=True
    ):
        assert part.size == len(types)
        values = figures_of(part)
        for key, of in (
            ("word_initial", [start for start, _ in types]),
            ("mean_length", [len(text) for _, text in types]),
        ):
            mean = np.mean(of) if of else math.nan
            assert values[key].number == pytest.approx(mean, nan_ok=True)
