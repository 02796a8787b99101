"""Files of segmentations that other programs write, each in its own form."""

import pytest
from refusals import expect, refused

from morphgraph.core.errors import FileFormatError
from morphgraph.reference.predictions import read_predictions
from morphgraph.reference.readers import read_reference

GIVEN = {"unbreakable": ("un", "break", "able"), "dogs": ("dog", "s"), "cat": ("cat",)}
PLAIN = "unbreakable\tun break able\ndogs\tdog s\ncat\tcat\n"
PIPED = "un|break|able\ndog|s\ncat\n"
SIGMORPHON = "unbreakable\tun @@break @@able\t010\ndogs\tdog @@s\t100\ncat\tcat\t000\n"
SAVED = "# Output from Morfessor Baseline 2.0.6, 2024\n2 un + break + able\n11 dog + s\n1 cat\n"
PRINTED = "un break able\ndog s\ncat\n"
FLATCAT = "1 un/PRE + break/STM + able/SUF\n1 dog/STM + s/SUF\n1 cat/STM\n"


def entries_of(found):
    return {word: line.entry for word, line in found.by_word.items() if line.entry is not None}


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (PLAIN, "plain"),
        ("word,morphs\nunbreakable,un break able\ndogs,dog s\ncat,cat\n", "plain"),
        ("morphs;word\nun break able;unbreakable\ndog s;dogs\ncat;cat\n", "plain"),
        ("unbreakable\tun|break|able\ndogs\tdog|s\ncat\tcat\n", "plain"),
        ("unbreakable\tun- break -able\ndogs\tdog -s\ncat\tcat\n", "plain"),
        (PIPED, "plain"),
        (SIGMORPHON, "sigmorphon2022"),
        (SAVED, "morfessor"),
        (SAVED.replace("2 un", "un").replace("11 ", "").replace("1 cat", "cat"), "morfessor"),
        (PRINTED, "morfessor"),
        (FLATCAT, "morfessor"),
        (FLATCAT.replace("1 ", "").replace(" + ", " "), "morfessor"),
    ],
)
def test_every_form(text, format_):
    found = read_predictions(text.encode())
    assert found.format == format_
    assert {word: entry.morphs for word, entry in entries_of(found).items()} == GIVEN
    assert all(entry.underlying is None for entry in entries_of(found).values())
    assert not found.skipped


def test_one_split_among_many_words_tells_the_form_of_sigmorphon():
    """A gold list of which so little is split would be taken for plain."""
    lines = [f"w{'a' * n}\tw{'a' * n}" for n in range(1, 60)]
    found = read_predictions("\n".join([*lines, "dogs\tdog @@s"]).encode())
    assert entries_of(found)["dogs"].morphs == ("dog", "s")


@pytest.mark.parametrize(
    "text", ["Anti-Antifa\tAnti- Antifa\n", "Anti-|Antifa\n", "Anti-Antifa\tAnti- @@Antifa\n"]
)
def test_a_hyphen_is_cut_off_only_where_the_program_does_so(text):
    assert entries_of(read_predictions(text.encode()))["Anti-Antifa"].morphs == ("Anti-", "Antifa")


def test_morphemes_are_aligned_as_in_a_gold_list():
    """Who predicts just what a gold list says is cut just as the gold is."""
    text = b"user-friendly\tuser @@friendly\ncornemuserais\tcornemuse @@-er @@erais\n"
    gold, found = read_reference(text), read_predictions(text)
    assert gold.format == found.format
    for entry in gold.entries:
        mine = entries_of(found)[entry.word]
        assert (mine.morphs, mine.underlying) == (entry.morphs, entry.underlying)
    assert entries_of(found)["user-friendly"].morphs == ("user", "-", "friendly")


def test_a_word_twice():
    found = read_predictions(b"dogs\tdog s\ncat\tcat\ndogs\tdog s\n")
    assert len(found) == 2
    gold = read_reference(b"cat\tcat\ndogs\tdog s\n")
    assert [entry.morphs for entry in found.paired(gold)[0]] == [("cat",), ("dog", "s")]
    found = read_predictions(b"dogs\tdog s\ncat\tcat\ndogs\tdogs\n", name="mine.tsv")
    with refused(FileFormatError):
        found.paired(gold)


def test_lines_are_paired_where_there_are_as_many():
    """Segments are those of the line. Morphs are those of the same word, wherever it stands, and
    the segments, aligned, where it stands nowhere.
    """
    gold = read_reference(b"dogs\tdog s\ncats\tcat s\ndogs\tdogs\nunits\tunit s\n", name="g.tsv")
    found = read_predictions(b"dogs\tdog s\nx\tc @@at @@s\ndogs\td @@ogs\ncats\tca @@ts\n\n\n")
    entries, notes = found.paired(gold)
    assert [entry.underlying for entry in entries] == [
        ("dog", "s"), ("c", "at", "s"), ("d", "ogs"), ("ca", "ts")]  # fmt: skip
    assert [entry.morphs for entry in entries] == [
        ("dog", "s"), ("ca", "ts"), ("d", "ogs"), ("uni", "ts")]  # fmt: skip
    [note] = notes
    expect(note)
    sample = gold.sample(2, seed=1)
    own = {entry.line: entry.underlying for entry in entries}
    assert [e.underlying for e in found.paired(sample)[0]] == [own[e.line] for e in sample.entries]


def test_a_word_without_a_segmentation_is_one_empty_segment_and_uncut():
    gold = read_reference(b"a\ta\nbc\tb c\nde-f\td e f\ngh\tg h\nij\ti j\n", name="g.tsv")
    found = read_predictions(b"bc\tb c\ngh\t\nk\tk\n", name="p.tsv")
    entries, notes = found.paired(gold)
    assert [entry.morphs for entry in entries] == [
        ("a",), ("b", "c"), ("de-f",), ("gh",), ("ij",)]  # fmt: skip
    assert [entry.underlying for entry in entries] == [("",), ("b", "c"), *[("",)] * 3]
    [note] = notes
    expect(note)
    with refused():
        found.paired(read_reference(b"a\ta\n"))


def test_lines_that_cannot_be_used_are_counted():
    found = read_predictions(b"dogs\tdog s\nhot dog\thot dog\nx\t\n")
    assert list(entries_of(found)) == ["dogs"]
    assert found.by_word["hot dog"].segments == ("hot", "dog")
    reasons = {(skip.reason, skip.count) for skip in found.skipped}
    assert reasons == {("word with a space", 1), ("no morphs", 1)}


def test_silver_is_plain_and_says_so():
    found = read_predictions(b"# silver: Morfessor 2.0.6\nundo\tun do\nit\tit\n", name="a.tsv")
    assert (found.name, found.format, found.skipped) == ("a.tsv (silver)", "plain", ())
    segments = {word: line.segments for word, line in found.by_word.items()}
    assert segments == {"undo": ("un", "do"), "it": ("it",)}
