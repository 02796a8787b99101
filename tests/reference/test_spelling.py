"""Headers in any language, and files that were misread, told by whether morphs spell words."""

import pytest
from plain_writing import read, skipped
from refusals import expect

import morphgraph as mg
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference

SPELT = ("Häuser;Häus er", "Hunde;Hund e", "Tische;Tisch e")
REASON = "a header, as it looks: in the other lines the morphs spell the word"


def words(reference):
    return [entry.word for entry in reference.entries]


@pytest.mark.parametrize(
    "header",
    [
        "Wort;Segmentierung",
        "Wort;Segmente mit Leerzeichen",
        "sana;morfit",
        "слово;морфемы",
        "単語;形態素",
        "λέξη;τμήματα",
        "كلمة;مورفيمات",
        "Wort;Segmentierung;Anzahl",
    ],
)
@pytest.mark.parametrize("between", [";", ",", "\t"])
def test_a_header_in_any_language(header, between):
    for lines in (SPELT, SPELT[:2], [f"{line};3" for line in SPELT], SPELT * 400):
        reference = read(*(line.replace(";", between) for line in (header, *lines)))
        expected = [line.partition(";")[0] for line in lines]
        assert words(reference) == expected and reference.entries[0].line == 2
        if header.endswith("Anzahl"):
            assert skipped(reference) == [("count that is not a number", 1, 1)]
        else:
            assert [(s.reason, s.count, s.first_line) for s in reference.left_out] == [
                (REASON, 1, 1)]  # fmt: skip
        assert not reference.notice


def test_a_header_is_in_no_way_of_what_is_read():
    reference = read("Wort\tMorphe\tAnzahl", "Häuser\tHäus er\t2", "undo\tun- do\t3", "x\tx\t1")
    assert reference.has_counts and words(reference) == ["Häuser", "undo", "x"]
    slips = [f"w{n}x;w{n} x" for n in range(98)]
    assert read("Wort;Morphe", *slips, "went;go ed", "was;be").header
    assert read("word\tsegmentation\tcategory", "dogs\tdog @@s\t100", "cats\tcat @@s\t100").header
    joined = join_references([read("Wort;Morphe", *SPELT), read(*SPELT)])
    assert [skip.reason for skip in joined.skipped] == [f"reference: {REASON}"]


@pytest.mark.parametrize(
    "lines",
    [
        # the first entry is not spelt, but comes close
        ("subsidised;subside y ise ed", *SPELT),
        ("running;run ing", *SPELT),
        ("HÄUSER;häus er", *SPELT),
        ("hand-hole;hand hole", *SPELT),
        # it shares a morph with another entry
        ("mice;mouse s", "dogs;dog s", "cats;cat s"),
        ("went;go ed", "walked;walk ed", "talked;talk ed"),
        ("best;good est", *["finest;fin est"] * 50),
        # it has a count
        ("went;go d;3", "undo;un do;2", "redo;re do;1"),
        # others are not spelt either
        ("went;go ed", "men;man s", "undo;un do", "redo;re do"),
        ("Wort;Morphe", "went;go", "men;man s", *SPELT),
        # too few others
        ("was;be ed", "undo;un do"),
        # not in front
        ("undo;un do", "was;be ed", "redo;re do"),
        ("x y;x y", "was;be ed", "redo;re do", "undo;un do"),
    ],
)
def test_a_first_entry_is_no_header(lines):
    reference = read(*lines, format="plain")
    assert reference.header is None
    assert len(reference) + sum(skip.count for skip in reference.skipped) == len(lines)


def test_canonical_formats_keep_their_first_entry():
    lines = ["went\tgo @@ed", "dogs\tdog @@s", *[f"w{n}s\tw{n} @@s" for n in range(60)]]
    assert len(read(*lines)) == len(lines), "its shape"
    assert len(read("was\tbe\t100", *lines[1:])) == len(lines), "its flags"
    assert len(read("was\tbe", *lines[1:])) == len(lines) - 1
    lines = ["bad\tworse\tADJ|CMPR\tbad|er", *["eat\teating\tV|V.PTCP\teat|ing"] * 3]
    assert words(read(*lines))[0] == "worse"


NOTICES = [
    # read as what it is not: an index, a translation, features, another format's marks
    ("0,Häus er", "1,Hund e", "2,Tisch e"),
    ("houses\tHaus PL", "dogs\tHund PL", "cats\tcat s"),
    ("walked\twalk past", "dogs\tdog plural", "cats\tcat plural", "undo\tun do"),
    ("dogs\tdog @@s", "undo\tun @@do"),
    ("house", "dog", "cat"),
    ("houses\thouse", "dogs\tdog", "cats\tcat", "houses\thouse"),
]


@pytest.mark.parametrize("lines", NOTICES)
def test_what_may_be_misread_is_said(lines):
    expect(read(*lines, format="plain", separator="" if len(lines) < 3 else None).notice)


def test_what_may_be_misread_is_a_python_warning(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("houses\thouse\ndogs\tdog\n")
    with pytest.warns(UserWarning) as caught:
        mg.read_gold(path, format="plain")
    [warning] = caught
    assert "gold.tsv: Every word" in str(warning.message) and warning.filename == __file__


def test_no_alarm_on_any_list_of_words(data_folder):
    """Nor on the tables of lines, of which `test_readers` reads all."""
    paths = [*(data_folder / "references").rglob("*.csv")]
    assert len(paths) > 5
    for source in (*paths, "demo:en", "demo:de", "demo:nl"):
        reference = read_reference(source)
        assert not reference.notice and reference.header is None, source
