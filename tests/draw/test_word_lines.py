"""Words as chips, and the merge to blame for the boundaries that they cover."""

from effort import share_of
from small import small_reference, small_tokeniser

from morphgraph.core.files import demo_gold_path
from morphgraph.draw.merge_tree import describe_in_study
from morphgraph.draw.word_lines import illustrative_word, lines_of, rows_changed, rows_left
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g")]


def study_of(*entries):
    tokeniser = small_tokeniser(UNDO)
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference(*entries)))


def test_golden():
    # undoing is undo ing here: un + do closes the boundary un|do, and is right in no other word.
    study = study_of("un do ing", "d ing")
    lines, worst = lines_of(study, "undoing ding\n\n  undo")
    assert worst is not None
    (undoing, ding), empty, (undo,) = lines
    assert not empty
    assert undoing.morphs == ("un", "do", "ing")
    assert [chip.segments for chip in undoing.tokens] == [("un", "do"), ("ing",)]
    assert [chip.is_culprit for chip in undoing.tokens] == [True, False]
    assert [chip.segments for chip in ding.tokens] == [("d",), ("ing",)]
    assert undo.morphs == (), "the reference does not have it"
    assert [chip.segments for chip in undo.tokens] == [("undo",)]
    assert study.graph.describe(worst) == "un + do → undo"


def test_a_changed_word_tells_what_it_was_and_which_boundaries_it_won():
    study = study_of("un do ing", "d ing")
    study.graph.knockout(["undo"])
    (row,), total = rows_changed(study)
    assert (total, row.word, row.was, row.gain, row.won) == (1, "undoing", "undo·ing", 1, (2,))
    assert [(text, sign) for text, sign, _ in row.pieces] == [("un", ""), ("do", "|"), ("ing", "|")]
    assert study.better_worse_same(study.before_last) == (1, 0, 0)


def test_a_word_that_stays_wrong_names_what_covers_its_boundary_now():
    study = study_of("i n g", "d ing")
    study.graph.knockout(["in"])
    rows, total = rows_left(study, study.graph.ids["in"])
    ing = study.graph.ids["ing"]
    assert (total, [(row.word, row.closer) for row in rows]) == (1, [("ing", (ing, "ing"))])
    assert rows[0].pieces == (("i", "", True), ("n", "‿", True), ("g", "‿", True))


def test_telling_words():
    """The worst merge first; a word that its knockout mends goes before one that it does not."""
    study = study_of("u n do", "un do ing", "i ng")
    assert illustrative_word(study, 0) == "undoing", "in undo, u|n stays closed"
    assert illustrative_word(study, 1) in ("undo", "ing")
    nothing = study_of("ding")
    assert illustrative_word(nothing, 3) == "ding"


def test_a_character_of_several_bytes_is_shown_as_itself():
    tokeniser = load_tokeniser("demo:de")
    study = Study(tokeniser, Benchmark.build(tokeniser, small_reference("täg lich")))
    [[line]], _ = lines_of(study, "täglich")
    assert "".join("".join(chip.segments) for chip in line.tokens) == "␣täglich"


def test_a_text_is_cut_as_its_words_are():
    """By merge trees, word by word: tokens, boundaries that they cover, and morphs."""
    tokeniser = load_tokeniser("demo:en")
    reference = read_reference(demo_gold_path("en"))
    study = Study(tokeniser, Benchmark.build(tokeniser, reference))
    words = [entry.word for entry in reference.entries[:: 300 // share_of(100)]] + [
        "naïve",
        "zürich",
        "😀",
        "…",
    ]
    study.graph.knockout(["ies", "ing"])
    lines, worst = lines_of(study, " ".join(words))
    assert worst is not None
    blamed = study.blame()
    wrong = {}
    for word, line in zip(words, lines[0], strict=True):
        tree = describe_in_study(study, word, blamed)
        roots = [tree.label(root) for root in tree.roots]
        if word.isascii():
            assert ["".join(chip.segments) for chip in line.tokens] == roots
        missed = [gap for gap in tree.gaps if gap.kind == "missed"]
        assert sum(len(chip.segments) - 1 for chip in line.tokens) == len(missed)
        assert line.morphs == tuple(span.label for span in tree.morphs)
        for gap in missed:
            merge = tree.merge_at(gap.merge)
            wrong[merge.merge] = merge
        was = describe_in_study(study, word, None, graph=study.graph.original())
        before = [was.label(root) for root in was.roots]
        if word.isascii():
            assert list(line.was or roots) == before
    assert worst in wrong


def test_marks_around_a_word_are_no_part_of_it():
    study = study_of("un do ing", "d ing")
    [[quoted]], _ = lines_of(study, "“undoing”,")
    assert quoted.morphs == ("un", "do", "ing")
    assert [chip.segments for chip in quoted.tokens if len(chip.segments) > 1] == [("un", "do")]
    assert [chip.is_morph for chip in quoted.tokens if chip.segments == ("ing",)] == [True]
