"""Files: detection, encodings, errors, and the way out again."""

import hashlib
import os
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from effort import EFFORT, examples
from hypothesis import given
from hypothesis import strategies as st
from plain_writing import write_plain
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import FILE_BYTES
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.reference.readers import READERS, detect_format, read_reference
from tests.fuzz.test_fuzz_references import SEEDS_BY_FORMAT


def test_detection():
    assert set(SEEDS_BY_FORMAT) == set(READERS)
    for name, makers in SEEDS_BY_FORMAT.items():
        assert {read_reference(make()).format for make in makers} == {name}
    assert detect_format(["word\tmorphs", "x\ty"]) == "plain"
    assert detect_format(["word\tcount\tgold", "unfit\t3\tun|fit", "refit\t4\tre|fit"]) == "plain"
    assert detect_format(["cat\tcat\t000"] * 5 + ["cats\tcat @@s\t100"]) == "sigmorphon2022"


@pytest.mark.parametrize(
    "lines",
    [
        ["The cat sat on the mat.", "Then it left."],
        ["the\t1234", "cat\t17"],
        ["A title of a paper,cs", "Another title,math"],
        ["ing", "able"],
        ['{"model": {"type": "BPE"}}'],
        [],
        ["gold"],
    ],
)
def test_what_is_no_reference_is_not_detected(lines):
    with refused(FileFormatError):
        detect_format(lines, "x.txt")


def test_the_format_can_be_chosen():
    assert read_reference(b"cats\tcat @@s", format="plain").entries[0].morphs == ("cats",)
    with refused(FileFormatError):
        read_reference(b"cats\tcat @@s", format="excel")


def test_name_checksum_and_lines(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_bytes(b"\r\nunfit\tun fit\r\n\r\nrefit\tre fit\rmisfit\tmis fit")
    reference = read_reference(path)
    assert reference == read_reference(str(path))
    assert reference.name == "gold.tsv"
    assert read_reference(path, name="mine").name == "mine"
    assert reference.checksum == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    lines = [(e.word, e.line) for e in reference.entries]
    assert lines == [("unfit", 2), ("refit", 4), ("misfit", 5)]


def test_unusual_line_ends_stay_in_the_line():
    reference = read_reference("ab\ta b\nc\u2028d\tc d\ne\x85f\te f".encode(), format="plain")
    assert len(reference) == 1 and reference.skipped[0].count == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_unicode_encodings(encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    data = mark + "häuser\thäus er\nhaus\thaus".encode(encoding)
    assert read_reference(data).entries[0].morphs == ("häus", "er")


def test_other_encodings_must_be_named():
    data = "haus\thaus\r\nhäuser\thäus er".encode("windows-1252")
    with refused(FileFormatError, "line 2"):
        read_reference(data, name="old.txt")
    assert read_reference(data, encoding="windows-1252").entries[1].word == "häuser"
    with refused(FileFormatError):
        read_reference(data, encoding="klingon")
    with refused(FileFormatError):
        read_reference(data, encoding="hex")
    with refused(FileFormatError):
        read_reference(b"\xff\xfea")


def zipped(*others):
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name in ("gold.tsv", *others):
            archive.writestr(name, "undo\tun do")
    return made.getvalue()


def test_the_only_file_of_a_zip_archive_is_read_if_the_format_is_given(monkeypatch):
    for data in (zipped(), zipped("folder/", "__MACOSX/._gold.tsv")):
        assert read_reference(data, format="plain").entries[0].morphs == ("un", "do")
    encrypted = bytearray(zipped())
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(sign) + place] |= 1
    for data in (zipped("other.tsv"), zipped()[:-30], bytes(encrypted)):
        with refused(FileFormatError):
            read_reference(data, format="plain")
    large = BytesIO()
    with ZipFile(large, "w", ZIP_DEFLATED) as archive:
        archive.writestr("gold.tsv", "a" * 3000)
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "2000")
    with refused(FileFormatError):
        read_reference(large.getvalue(), format="plain")


@pytest.mark.parametrize(
    "data",
    [
        *(b"", zipped(), b" \n\t\n", b"\xef\xbb\xbf", b"ab\ta b\nc\0d\tc d"),
        *("ab\ta b".encode("utf-16-le"), b"PK\x03\x04rest", b"\xd0\xcf\x11\xe0rest"),
        *(b"\x1f\x8brest", b"%PDF-1.5", b"\x89PNG\r\n\x1a\n"),
    ],
)
def test_files_that_cannot_be_read(data):
    with refused(FileFormatError):
        read_reference(data, name="gold.tsv")


LIKE_EXCEL = "word;morphs\r\nhäuser;häus er\r\nwords;word s\r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("hint", ["sep=;", '"sep=;"', "SEP=;", "sep=;\r\n"])
def test_the_line_that_tells_excel_the_separator(encoding, hint):
    data = f"{hint}\r\n{LIKE_EXCEL}".encode(encoding)
    reference = read_reference(data)
    assert [(e.word, e.morphs) for e in reference.entries] == [
        ("häuser", ("häus", "er")), ("words", ("word", "s"))]  # fmt: skip
    assert not reference.skipped and reference.header is None
    assert reference.entries[1].line == reference.entries[0].line + 1 == 4 + (hint[-1] == "\n")


def test_a_word_that_begins_like_what_tells_excel():
    reference = read_reference(b"sep=sep\nundo=un do\nredo=re do")
    assert [entry.word for entry in reference.entries] == ["sep", "undo", "redo"]


def test_the_size_is_checked_before_reading(tmp_path, monkeypatch):
    path = tmp_path / "large.tsv"
    with path.open("wb") as file:
        file.truncate(FILE_BYTES.usual + 1)
    usual = Path.open

    def opened(self, *how, **more):
        return pytest.fail("it was read") if self == path else usual(self, *how, **more)

    monkeypatch.setattr(Path, "open", opened)
    with refused(FileFormatError):
        read_reference(path)
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "4")
    with refused(FileFormatError):
        read_reference(b"a\ta b")


def test_a_missing_file(tmp_path):
    with refused(FileFormatError):
        read_reference(tmp_path / "gone.tsv")
    with refused(FileFormatError):
        read_reference(tmp_path)


def test_a_pipe_is_read():
    read_end, write_end = os.pipe()
    os.write(write_end, b"undo\tun do\n")
    os.close(write_end)
    assert read_reference(f"/dev/fd/{read_end}").entries == (Entry("undo", ("un", "do")),)
    os.close(read_end)


def test_nothing_parses():
    with refused(FileFormatError, "line 1"):
        read_reference(b"a b\ta b\nx\nc d\tc d", format="plain", name="bad.tsv")
    with refused(FileFormatError):
        read_reference(b"a" * 20_000)


OTHER_KINDS = [None, *(kind for kind in MorphemeKind if kind.value not in ("hyphen", "infix"))]
letters = st.sampled_from("abcé'|\"#,;0")
morph = st.text(letters, min_size=1, max_size=4)


@st.composite
def entries(draw, whole, count):
    morphs = draw(st.lists(morph, min_size=1, max_size=4))
    for at in range(len(morphs) - 1, 0, -1):
        if draw(st.booleans()):
            morphs.insert(at, "-")
    words = None
    if whole:
        cuts = draw(st.lists(st.booleans(), min_size=len(morphs) - 1, max_size=len(morphs) - 1))
        words = morphs[:1]
        for cut, part in zip(cuts, morphs[1:], strict=True):
            words = [*words, part] if cut else [*words[:-1], words[-1] + part]
        words = tuple(words)
    number = draw(st.floats(0, 1e12) | st.integers(0, 10**9).map(float)) if count else None
    kinds = None
    if draw(st.booleans()):
        kinds = tuple(
            MorphemeKind.HYPHEN if m == "-" else draw(st.sampled_from(OTHER_KINDS)) for m in morphs
        )
    return Entry("".join(morphs), tuple(morphs), words, number, kinds=kinds)


@examples(300)
@given(st.data(), st.booleans(), st.booleans())
def test_written_references_read_back_equal(data, whole, count):
    found = data.draw(st.lists(entries(whole, count), min_size=1, max_size=5))
    written = write_plain(Reference("x", "plain", tuple(found), (), ""))
    again = read_reference(written.encode())
    assert again.format == "plain" and again.entries == tuple(found) and not again.skipped
    assert [entry.kinds for entry in again.entries] == [entry.kinds for entry in found]


def test_every_line_of_all_real_files_is_used_or_skipped_with_a_reason(data_folder):
    paths = sorted(
        (data_folder / "references").rglob("*.tsv"), key=lambda path: path.stat().st_size
    )
    assert len(paths) > 15
    for path in paths[: None if EFFORT == "soak" else 5]:
        reference = read_reference(path)
        shape = "sigmorphon2022" if "sigmorphon" in str(path) else "morphynet-derivation"
        assert reference.format == shape or "inflectional" in path.name
        assert not reference.notice and reference.header is None, path
        lines = sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))
        used = {entry.line for entry in reference.entries}
        assert len(used) + sum(skip.count for skip in reference.skipped) == lines, path
        assert all(skip.reason and skip.first_line not in used for skip in reference.skipped)
        assert all("".join(e.morphs) == e.word and all(e.morphs) for e in reference.entries)
        assert reference.has_whole_words == (reference.format == "morphynet-derivation")
        if path.stem in ("deu.derivational.v1", "ces.word.dev"):
            again = read_reference(write_plain(reference).encode())
            assert again.entries == reference.entries
            assert [e.kinds for e in again.entries] == [e.kinds for e in reference.entries]
