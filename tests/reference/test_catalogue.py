"""The catalogue and its downloads, against a server on this machine that misbehaves on request."""

import errno
import hashlib
import io
import json
import os
import pty
import subprocess
import sys
import zipfile
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pooch
import pytest
from refusals import refused
from source_server import serving

from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import (
    SOURCES,
    expand_pattern,
    find_source,
    found_path,
    get,
    is_downloaded,
    local_path,
    sources_of,
)
from morphgraph.reference.entry import describe_reference
from morphgraph.reference.readers import read_reference

CONTENT = b"".join(b"word%06d\tword %06d\n" % (n, n) for n in range(20_000))
OTHER = CONTENT.replace(b"word", b"Wort")


@pytest.fixture
def server():
    with serving(CONTENT) as found:
        yield found


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of its own, and no waiting between tries."""
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    return tmp_path / "cache" / "references"


@pytest.fixture
def source(server, monkeypatch):
    """A source on that server, in the catalogue under the name small."""
    found = server.source
    monkeypatch.setattr(catalogue, "SOURCES", {**SOURCES, "small": found})
    return found


def left(cache):
    return {path.name for path in cache.iterdir()} - {"small.lock"}


def test_sources_of_a_language():
    names = [source.name for source in sources_of("deu")]
    assert names == ["morphynet-deu", "morphynet-deu-inflection", "celex"]
    assert sources_of("DE") == sources_of("german") == sources_of("deu")
    assert len(sources_of()) == len(SOURCES)
    names = [source.name for source in sources_of("uralic")]
    assert names[-2:] == ["morphscore1-hun", "morpho-challenge-2010"]
    names = [source.name for source in sources_of("Arabic")]
    assert names == ["morphscore1-fas", "morphscore1-urd"]
    with refused():
        sources_of("xx")


def test_an_unknown_name_gets_those_like_it():
    with refused():
        find_source("catalogue:morphynet-due")
    with refused():
        find_source("../../etc/passwd")


def test_a_pattern_takes_what_is_there(server, source, tmp_path, monkeypatch):
    with refused():
        expand_pattern("catalogue:sm*")
    with refused():
        expand_pattern("catalogue:nothing-*")
    folder = tmp_path / "references" / "small"
    folder.mkdir(parents=True)
    (folder / "small.tsv").write_bytes(CONTENT)
    monkeypatch.setenv("MORPHGRAPH_DATA", str(tmp_path))
    for pattern in ("catalogue:sm*", "catalogue:small"):
        assert expand_pattern(pattern) == ["catalogue:small"]
    assert local_path("small") == get("small", False) == folder / "small.tsv"
    assert read_reference("catalogue:small").language == "deu"
    (folder / "small.tsv").write_bytes(OTHER)
    assert not is_downloaded(source)
    assert expand_pattern("a*.tsv") == ["a*.tsv"], "a file may be named so"
    assert server.asked == []


LACKING = ("morphscore1-eng", "morphscore1-kor", "morphscore1-tur")  # not in the data folder


@pytest.mark.parametrize("name", [n for n, s in SOURCES.items() if s.can_be_fetched])
def test_checksum_size_and_entries_are_those_of_the_file(name, data_folder, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_DATA", str(data_folder))
    path = found_path(SOURCES[name])
    assert (path is None) == (name in LACKING or bool(SOURCES[name].git_blob))
    if path is not None:
        lines = path.read_bytes().split(b"\n")
        assert sum(1 for line in lines if line.strip()) == SOURCES[name].entries


def test_the_gujarati_rows_of_another_word_are_skipped(data_folder, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_DATA", str(data_folder))
    found = read_reference("catalogue:morphscore1-guj")
    assert (len(found), found.language) == (356, "guj")
    assert [(skip.reason, skip.count) for skip in found.skipped] == [
        ("parts that do not concatenate to the word", 191)
    ]


def test_a_whole_file(server, source, cache):
    shares = []
    path = get("small", True, shares.append)
    assert path == cache / "small.tsv"
    assert path.read_bytes() == CONTENT
    assert left(cache) == {"small.tsv"}
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 10
    assert server.asked[0][0] == "/folder/small.tsv"
    assert server.asked[0][1]["accept-encoding"] == "identity"
    assert "range" not in server.asked[0][1]
    assert local_path("catalogue:small") == path
    # A second time nothing is asked, and no consent is needed for what is there.
    assert get("small", False) == path
    assert len(server.asked) == 1


def test_a_checksum_of_git_and_an_unknown_size(server, source, monkeypatch):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("../folder/x.tsv", b"Haus\tHauses\tN|GEN\tHaus|es\n")
    server.content = archive.getvalue()
    blob = hashlib.sha1(b"blob %d\0" % len(server.content) + server.content).hexdigest()
    changed = {"format": "morphynet-inflection", "sha256": "", "size": 0, "git_blob": blob}
    monkeypatch.setitem(catalogue.SOURCES, "small", replace(source, **changed))
    path = get("small", True)
    assert path.read_bytes() == server.content, "kept as it came"
    assert read_reference("catalogue:small").entries[0].morphs == ("Haus", "es")
    path.write_bytes(OTHER)
    server.content = OTHER
    with refused():
        get("small", True)
    assert not path.exists()


def test_a_changed_file_is_fetched_again(server, source, cache):
    path = get("small", True)
    path.write_bytes(OTHER)
    with refused():
        local_path("small")
    assert not is_downloaded(source)
    assert get("small", True).read_bytes() == CONTENT


def test_nothing_is_fetched_without_consent(server, source, cache):
    with refused():
        get("small", False)
    with refused():
        local_path("catalogue:small")
    assert server.asked == []
    assert not cache.exists()


@pytest.mark.parametrize("content", [OTHER, CONTENT[:1000]])
def test_a_wrong_checksum(server, source, cache, content):
    server.content = content
    with refused():
        get("small", True)
    assert left(cache) == set()


@pytest.mark.parametrize("without_length", [False, True])
def test_a_file_larger_than_stated_is_not_read_to_its_end(server, source, cache, without_length):
    server.content, server.without_length = CONTENT * 200, without_length
    with refused():
        get("small", True)
    assert left(cache) == set()
    assert len(server.asked) == 1
    assert server.sent < 30_000_000  # of 92,000,000: what the system buffers


@pytest.mark.parametrize("status", [404, 403, 503, 206])
def test_a_refusal(server, source, cache, status):
    server.answers = [status] * 9
    with refused():
        get("small", True)
    assert len(server.asked) == 3
    assert left(cache) == set()


def test_a_full_disk(source, monkeypatch, cache):
    def full(self, piece):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(catalogue._Metered, "write", full)
    with refused():
        get("small", True)
    assert left(cache) == set()


@pytest.mark.parametrize("name", ["celex", "ladec", "morpholex-en", "unisegments"])
def test_what_is_to_be_fetched_by_hand(name):
    for action in (lambda: get(name, True), lambda: local_path(name)):
        with refused():
            action()


@pytest.fixture
def reference(morphgraph):
    """The commands about references."""
    return partial(morphgraph, "reference")


def test_list(reference, source, cache):
    get("small", True)
    assert "small" not in reference("list", "--language", "fra")[1]
    rows = {row["name"]: row for row in json.loads(reference("list", "--json")[1])["sources"]}
    assert list(rows) == [*SOURCES, "small"]
    assert rows["small"]["path"] == str(cache / "small.tsv")
    assert (rows["celex"]["downloaded"], rows["celex"]["path"]) == (False, None)


def test_show(reference, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("unbreakable\tun- break -able\nCosta Rica\tCosta Rica\nredo\tre- do\n", "utf-8")
    shown, gold = reference("show", path, "--json", "--limit", 1).json, read_reference(path)
    [entry] = shown["entries"]
    assert (entry["line"], entry["morphs"]) == (1, ["un", "break", "able"])
    assert (entry["kinds"], entry["underlying"]) == (["prefix", "free", "suffix"], None)
    assert (shown["format"], shown["checksum"]) == ("plain", gold.checksum)
    synthesis = describe_reference(gold).index_of_synthesis
    assert shown["description"]["index_of_synthesis"] == synthesis
    assert shown["skipped"] == [{"reason": "word with a space", "count": 1, "first_line": 2}]


def test_what_a_terminal_would_act_upon_is_shown_by_its_code(reference, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("\x1b[2Ja\u202e\t\x1b[2J a\u202e\n[red]ab\t[red] ab", "utf-8")
    shown = reference("show", path).out
    assert "\x1b" not in shown and "\u202e" not in shown
    assert r"\x1b[2J a\u202e" in shown and "[red] ab" in shown
    assert "\x1b" not in reference("show", path, "--json").out


def test_out_copies_and_replaces_nothing(reference, server, source, tmp_path):
    mine, copy = tmp_path / "mine.tsv", tmp_path / "new" / "copy.tsv"
    mine.write_text("my own work")
    code, _, err = reference("get", "small", "--accept-licence", "--out", mine)
    assert code == 2 and "not replaced" in err
    assert mine.read_text() == "my own work"
    assert reference("get", "small", "--accept-licence", "--out", tmp_path)[0] == 2
    assert server.asked == []
    for _ in range(2):  # the same file may be there
        code, out, _ = reference("get", "small", "--accept-licence", "--out", copy)
        assert (code, out.splitlines()[0]) == (0, str(copy))
        assert copy.read_bytes() == CONTENT


ASK = """
import sys, typer
from dataclasses import replace
from morphgraph.reference import catalogue
found = replace(catalogue.SOURCES["morphynet-deu"], name="small", url=sys.argv[1],
                sha256=sys.argv[2], size=int(sys.argv[3]))
catalogue.SOURCES = {"small": found}
from morphgraph.cli.data import get_source
app = typer.Typer()
app.command()(get_source)
app(["small"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code", "asked"), [("y", 0, 1), ("n", 1, 0), ("", 1, 0)])
def test_a_terminal_is_asked(server, source, answer, code, asked):
    terminal, inside = pty.openpty()
    arguments = [sys.executable, "-c", ASK, source.url, source.sha256, str(source.size)]
    with subprocess.Popen(
        arguments, stdin=inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        os.write(terminal, f"{answer}\n".encode())
        out, err = process.communicate(timeout=60)
    os.close(terminal)
    os.close(inside)
    assert "Do you accept the licence" in err and "[y/N]" in err
    assert process.returncode == code
    assert len(server.asked) == asked
    assert ("Nothing was fetched." in err) == (asked == 0)
    assert ("small.tsv" in out) == (asked == 1)
