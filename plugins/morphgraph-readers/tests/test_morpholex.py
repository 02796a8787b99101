"""MorphoLex workbooks, built here with openpyxl, and workbooks that are broken or hostile."""

import datetime
import io
import zipfile

import openpyxl
import pytest
from plain_writing import write_plain
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.reference.readers import read_reference
from morphgraph.reference.source import Unusable
from morphgraph_readers.morpholex import parse_segmentation

HEADER = ("ELP_ItemID", "Word", "POS", "Nmorph", "PRS_signature", "MorphoLexSegm", "ROOT1_FamSize")


def row(word, segmentation, morphs=None):
    return (1, word, "NN", morphs, "0,1,0", segmentation, 3.5)


def book(sheets):
    """The bytes of a workbook: name of each sheet → its rows."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for cells in rows:
            sheet.append(cells)
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


SHEETS = {
    "Presentation": [("MorphoLex",), ("{(not)}{(read)}",)],
    "0-1-0": [
        HEADER,
        row("dog", "{(dog)}", 1),
        row(True, "{(true)}", 1),  # what a spreadsheet makes of the word “true”
        row("DALY", "{(daly)}", 1),
        (),
        row("mats", "{(_mat)}", "1"),
        row(12, "{(twelve)}", 1),
        row("{(abc)}", "{(abc)}", 1),
        row("Costa Rica", "{(costa)}", 1),
        row("d'etat", "{d'etat}", 1),
        row(None, "{(x)}", 1),
        row("x", None, 1),
        row("cats", "{(cat)}", 2),
        row(datetime.date(2020, 3, 1), "{(march)}", 1),
    ],
    "1-1-1": [HEADER, row("obliterate", "{<ob<(litera)>ate>}", 3),
              row("alliterate", "{<a<(litera)>ate>}", 3)],
    "0-2-1": [
        HEADER,
        row("surefootedness", "{(sure)}{(foot)}>ness>", 3),
        row("typesetters", "{(typo)}{(set)}>er>", 3),
        row("backboards", "({back)}{(board)}", 2),
        row("backyard", "{(back)}{(yard)", 2),
        row("flagstaff", "{(flag)}}{(staff)}", 2),
        row("FLOCCULATED", "{{(flocc)>ule>}>ate>}", 3),
        row("photography", "{(photo)(graph)>y>}", 3),
        row("antidumping", "<anti<{(dump)>ing>}", 3),
        row("half-truth", "{(half)}{(truth)}", 2),
    ],
    "All prefixes": [("morpheme",), ("<a<",)],
}  # fmt: skip


def test_morpholex():
    reference = read_reference(book(SHEETS), name="MorphoLEX_en.xlsx")
    assert reference.format == "morpholex"
    found = [
        (
            entry.line,
            " ".join(entry.morphs),
            " ".join(kind.value for kind in entry.kinds),
            " ".join(entry.whole_words),
            entry.underlying and " ".join(entry.underlying),
            " ".join(entry.processes),
        )
        for entry in reference.entries
    ]
    both = "derivation compound"
    assert found == [
        (2, "dog", "free", "dog", None, ""),
        (3, "true", "free", "true", None, ""),
        (4, "DALY", "free", "DALY", "daly", ""),
        (6, "mats", "free", "mats", "mat", ""),
        (2, "ob liter ate", "prefix free suffix", "obliterate", "ob litera ate", "derivation"),
        (3, "al liter ate", "prefix free suffix", "alliterate", "a litera ate", "derivation"),
        (2, "sure footed ness", "free free suffix", "sure footedness", "sure foot ness", both),
        (3, "type sett ers", "free free suffix", "type setters", "typo set er", both),
        (7, "FLOCC UL ATED", "free suffix suffix", "FLOCCULATED", "flocc ule ate", "derivation"),
        (8, "photo graph y", "free free suffix", "photography", None, both),
        (9, "anti dump ing", "prefix free suffix", "antidumping", None, "derivation"),
        (10, "half - truth", "free hyphen free", "half- truth", "half truth", "compound"),
    ]
    assert [(s.reason, s.count, s.first_line) for s in reference.skipped] == [
        ("the cell of the word holds something else (sheet 0-1-0)", 4, 7),
        ("segmentation not well-formed (sheet 0-2-1)", 3, 4),
        ("word with a space (sheet 0-1-0)", 1, 9),
        ("segmentation not well-formed (sheet 0-1-0)", 1, 10),
        ("no segmentation (sheet 0-1-0)", 1, 12),
        ("Nmorph is not the number of morphemes (sheet 0-1-0)", 1, 13),
    ]
    again = read_reference(write_plain(reference).encode())
    assert again.entries == reference.entries
    assert [e.kinds for e in again.entries] == [e.kinds for e in reference.entries]


def test_columns_are_found_by_name_in_any_place():
    data = book({"0-1-0": [("MorphoLexSegm", " word "), ("{(dog)}", "dogs"), ("{(cat)}",)]})
    reference = read_reference(data, format="morpholex")
    assert [(e.word, e.underlying) for e in reference.entries] == [("dogs", ("dog",))]
    assert reference.skipped[0].first_line == 3


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("{(a)}{(b)}", [0, 1]),
        ("{<p<(a)}{(b)>s>}", [0, 0, 1, 1]),
        ("<p<{(a)}{(b)}>s>", [0, 0, 1, 1]),
        ("{(a)}{(b)}>s>>t>", [0, 1, 1, 1]),
        ("{{(a)}{(b)}}", [0, 0]),
        ("(a)(b)", [0, 1]),
    ],
)
def test_whole_words_are_the_outermost_units(text, pieces):
    assert parse_segmentation(text)[-1] == pieces


@pytest.mark.parametrize(
    "text",
    ["", "{}", "{(a)", "(a)}", "{()}", "{(_)}", "a", "{a}", "{(a)}b", "<a(b)", "{(a(b))}", ">a>>",
     "{(a)} {(b)}", "({a)}"],
)  # fmt: skip
def test_malformed_segmentations(text):
    with refused(Unusable):
        parse_segmentation(text)


def test_a_workbook_without_its_sheets_or_columns():
    with refused(FileFormatError):
        read_reference(book({"Sheet1": [("a", "b")], "0-1-1 old": []}), name="x.xlsx")
    for rows in ([], [("Word", "Segmentation"), ("a", "b")]):
        with refused(FileFormatError, "sheet 0-1-1, row 1"):
            read_reference(book({"0-1-1": rows}))
    with refused(FileFormatError, "row 2"):
        read_reference(book({"0-1-0": [HEADER, row("a", "x")]}))
    with refused(FileFormatError):
        read_reference(book({"0-1-0": [HEADER]}))


def test_the_format_must_fit_the_file():
    with refused(FileFormatError):
        read_reference(b"unfit\tun fit", format="morpholex")
    with refused(FileFormatError):
        read_reference(book(SHEETS), format="plain")


# Workbooks that are broken or hostile


def rebuilt(change, data=None):
    """A workbook with its files changed: `change(name, content)` gives the new content."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data or book(SHEETS))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


def fails(data):
    with refused(FileFormatError):
        read_reference(data, name="bad.xlsx")


def test_a_sheet_that_is_cut_off_is_named():
    # sheet2 is 0-1-0
    def cut(name, content):
        return content[:-200] if name.endswith("sheet2.xml") else content

    with refused(FileFormatError, "sheet 0-1-0"):
        read_reference(rebuilt(cut))


def test_a_directory_that_lies_about_sizes():
    data = bytearray(book(SHEETS))
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 24 : at + 28] = (5).to_bytes(4, "little")
        at += 4
    fails(bytes(data))


def test_encrypted_archives():
    data = bytearray(book(SHEETS))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        data[at + offset] |= 1
    fails(bytes(data))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "file", ["xl/worksheets/sheet2.xml", "xl/workbook.xml", "docProps/app.xml"]
)
def test_entities_give_nothing_of_this_machine(file, encoding, tmp_path):
    (tmp_path / "secret").write_text("dog")
    entities = f'<!DOCTYPE x [<!ENTITY a SYSTEM "{(tmp_path / "secret").as_uri()}">]>'

    def attack(name, content):
        if name != file:
            return content
        text = content.decode()
        start = text.index("?>") + 2 if text.startswith("<?xml") else 0
        changed = text[start:].replace(">dog<", ">&a;<")
        return f'<?xml version="1.0" encoding="{encoding}"?>{entities}{changed}'.encode(encoding)

    try:
        reference = read_reference(rebuilt(attack), name="bad.xlsx")
    except FileFormatError as error:
        assert "cannot be read" in error.problem
        return
    assert file.endswith("sheet2.xml") <= ("dog" not in {entry.word for entry in reference.entries})


def test_a_wrong_size_of_a_sheet_loses_no_rows():
    def shrunk(name, content):
        return content.replace(b'ref="A1:G14"', b'ref="A1:A2"') if "sheet2" in name else content

    data = rebuilt(shrunk)
    assert data != rebuilt(lambda name, content: content)
    assert read_reference(data).entries == read_reference(book(SHEETS)).entries
