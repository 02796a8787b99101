"""Unpacking UniSegments: data sets and licences only, into one folder, up to a limit."""

import io
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from morphgraph.core.errors import FileFormatError
from morphgraph.reference import archive
from morphgraph.reference.archive import unpack_unisegments
from morphgraph.reference.catalogue import LANGUAGES, SOURCES
from morphgraph.reference.readers import read_reference

LINE = b'undo\tdo\tVERB\tun + do\t{"annot_name": "A"}\n'
DATA = "UniSegments-1.0-public/data"
FILES = {
    f"{DATA}/deu-DerivBaseDE/UniSegments-1.0-deu-DerivBaseDE.useg": LINE,
    f"{DATA}/deu-DerivBaseDE/LICENSE.TXT": b"as it says",
    f"{DATA}/ben-KCIS/UniSegments-1.0-ben-KCIS.useg": LINE * 2,
    "UniSegments-1.0-public/doc/README.md": b"Read me.",
}
UNPACKED = {
    "ben-KCIS/UniSegments-1.0-ben-KCIS.useg": LINE * 2,
    "deu-DerivBaseDE/LICENSE.TXT": b"as it says",
    "deu-DerivBaseDE/UniSegments-1.0-deu-DerivBaseDE.useg": LINE,
}


def packed(path: Path, files: dict[str, bytes], *others: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for member in others:
            tar.addfile(member)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_data_sets_and_licences_are_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path / "u.tar.gz", FILES)
    found = unpack_unisegments(path, tmp_path / "out")
    assert contents(tmp_path / "out") == UNPACKED
    assert list(found) == ["ben-KCIS", "deu-DerivBaseDE"]
    assert read_reference(found["ben-KCIS"]).layers == (("A", 2),)
    unpack_unisegments(path, tmp_path / "out")
    assert contents(tmp_path / "out") == UNPACKED, "an earlier folder is replaced"


def test_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    link = tarfile.TarInfo(f"{DATA}/ces-DeriNet/UniSegments-1.0-ces-DeriNet.useg")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    holes = tarfile.TarInfo(f"{DATA}/fin-MorphyNet/UniSegments-1.0-fin-MorphyNet.useg")
    holes.type, holes.size = tarfile.GNUTYPE_SPARSE, 0
    outside = {
        "../../deu-X/UniSegments-1.0-deu-X.useg": b"a",
        "/deu-Y/UniSegments-1.0-deu-Y.useg": b"b",
        "deu-Z/../UniSegments-1.0-deu-Z.useg": b"c",
        "../evil.useg": b"d",
    }
    path = packed(tmp_path / "u.tar.gz", outside, link, holes)
    out = tmp_path / "a" / "out"
    unpack_unisegments(path, out)
    assert contents(out) == {
        "deu-X/UniSegments-1.0-deu-X.useg": b"a",
        "deu-Y/UniSegments-1.0-deu-Y.useg": b"b",
    }
    assert {each.name for each in tmp_path.iterdir()} == {"a", "u.tar.gz"}
    assert [each.name for each in out.parent.iterdir()] == ["out"]


def test_what_is_no_such_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = packed(tmp_path / "u.tar.gz", {**FILES, "x": bytes(range(256)) * 2000}).read_bytes()
    bad = tmp_path / "bad.tar.gz"
    other = packed(tmp_path / "other.tar.gz", {"a.txt": b"a"}).read_bytes()
    for data, said in (
        (whole[: len(whole) // 2], "cut off"),
        (b"undo\tun do\n", "no tar archive"),
        (other, r"no data set of UniSegments.*UniSegments-1\.0-public"),
    ):
        bad.write_bytes(data)
        with pytest.raises(FileFormatError, match=said):
            unpack_unisegments(bad, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    with pytest.raises(FileFormatError, match="not there"):
        unpack_unisegments(tmp_path / "none.tar.gz", tmp_path / "out")
    bomb = packed(tmp_path / "bomb.tar.gz", {**FILES, "x": bytes(3_000_000)})
    monkeypatch.setattr(archive, "_ALLOWANCE", 1_000_000)
    with pytest.raises(FileFormatError, match=r"more than 50 times its.*MORPHGRAPH_MAX_UNPACKING"):
        unpack_unisegments(bomb, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_lists_languages_and_licences(
    morphgraph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    more = {f"{DATA}/xyz-New/UniSegments-1.0-xyz-New.useg": LINE}
    path = packed(tmp_path / "u.tar.gz", FILES | more)

    run = partial(morphgraph, "reference", "get")
    shown = " ".join(run("unisegments", "--from", path).out.split())
    for row in (
        "ben-KCIS Bengali CC BY-NC 4.0",
        "deu-DerivBaseDE German CC BY-SA 3.0",
        "xyz-New n/a see LICENSE.TXT",
        "@misc{zabokrtsky",
    ):
        assert row in shown
    kept = tmp_path / "cache" / "references" / "unisegments"
    assert f"morphgraph score TOKENISER {kept}/ben-KCIS/UniSegments-1.0-ben-KCIS.useg" in shown
    out = tmp_path / "out"
    out.mkdir()
    run("unisegments", "--from", path, "--out", out)
    assert contents(out).keys() > UNPACKED.keys()
    assert "there already" in run("unisegments", "--from", path, "--out", out).err
    assert "no archive" in run("celex", "--from", path).err


def test_the_data_sets_of_the_catalogue() -> None:
    parts = dict(SOURCES["unisegments"].parts)
    assert len(parts) == len(SOURCES["unisegments"].parts) == 38
    assert sum("NC" in licence for licence in parts.values()) == 11
    languages = {name.partition("-")[0] for name in parts}
    assert len(languages) == 30 and languages <= LANGUAGES.keys()
