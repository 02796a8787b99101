"""Bad input on the command line: one message that helps, exit code 2, no traceback."""

import json
import re
import resource

import pytest
from refusals import refused
from small import small_document

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import parse_json
from morphgraph.core.limits import FILE_BYTES

GOOD = {
    "version": "1.0",
    "added_tokens": [],
    "model": {
        "type": "BPE",
        "unk_token": None,
        "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4},
        "merges": [["a", "b"], ["ab", "c"]],
    },
}
COMPLETE = json.dumps(GOOD, indent=1).encode()


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("abc\tab c\n", encoding="utf-8")
    return path


BAD_JSON = {
    "truncated": (COMPLETE[:200], "line 17, column 5"),
    "cut in a string": (b'{"model": {"type": "BPE", "vocab": {"a', "line 1, column 37"),
    "not JSON": (b"a b\nab c\n", "line 1, column 1"),
    "NUL inside": (COMPLETE.replace(b"ab", b"a\0", 1), "line 7, column 8"),
    "latin-1": ('{"ä": 1}'.encode("latin-1"), "line 1"),
    "UTF-16": (COMPLETE.decode().encode("utf-16"), "line 1"),
    "deep": (b"[" * 100_000, ""),
    "deep and closed": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, ""),
    "huge number": (b'{"a": ' + b"9" * 5000 + b"}", ""),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json(name):
    data, place = BAD_JSON[name]
    with refused(FileFormatError, place):
        parse_json(data, "bad.json")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["TOKENISER", "GOLD", "--frequencies", "--recipe"])
def test_a_file_of_200_megabytes(morphgraph, monkeypatch, tmp_path, gold, option):
    """Beyond the limit it is refused before it is read: memory does not grow by its size."""
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", str(FILE_BYTES.public))
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    places = {"TOKENISER": "demo:en", "GOLD": gold, option: path}
    pairs = [(name, value) if name.startswith("--") else (value,) for name, value in places.items()]
    given = [item for pair in pairs for item in pair]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = morphgraph("knockout" if option == "--recipe" else "score", *given)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (ended.code, ended.out, "Traceback" in ended.err) == (2, "", False)
    [message] = [line for line in ended.err.splitlines() if line.startswith("morphgraph: ")]
    assert path.name in message and re.search(r"\. [A-Z]\w+ .+", message), "it says what to do"
    if option != "--frequencies":  # word counts may be as large as this; these hold no words
        assert "200 MB" in message or "200,000,000 bytes" in message
        assert grown < 100_000  # kilobytes


def test_a_type_named_like_an_attack_works(morphgraph, tmp_path):
    """`<img/src=''onerror=alert(1)>` is a type like any other, and stays text."""
    evil = "<img/src=''onerror=alert(1)>"
    merges = [(evil[:i], evil[i]) for i in range(1, len(evil))]
    path, gold = tmp_path / "evil.json", tmp_path / "gold.tsv"
    merges += [("a", "b"), ("b", "]"), ("[", "b]")]  # of which the last is markup of the console
    path.write_text(json.dumps(small_document(merges)), encoding="utf-8")
    out = tmp_path / "out"
    ended = morphgraph("segment", path, "--sentences", evil, "--json")
    assert (ended.code, ended.json["words"][0]["tokens"]) == (0, [evil])
    gold.write_text("ab\ta b\n<img\t<i mg\n[b]\t[b ]\n", encoding="utf-8")
    ended = morphgraph("knockout", path, gold, "--out", out, "--json")
    assert ended.code == 0
    assert set(ended.json["removed"]) == {"<im", "ab", "b]"}
    again = morphgraph("segment", out, "--sentences", evil, "<im", "--json").json
    assert [row["tokens"] for row in again["words"]] == [[evil], ["<i", "m"]]
    ended = morphgraph("blame", path, gold)
    assert ended.code == 0
    assert "<i + m" in ended.out and "[ + b]" in ended.out


@pytest.mark.parametrize("depth, code", [(50, 0), (150, 2), (900, 2)])
def test_nesting_that_json_can_still_read(morphgraph, tmp_path, gold, depth, code):
    """It is read and saved, or refused; in no case a traceback."""
    path = tmp_path / "deep.json"
    extra = b'{"extra": ' + b"[" * depth + b"]" * depth + b", "
    path.write_bytes(extra + COMPLETE.lstrip()[1:])
    ended = morphgraph("knockout", path, gold, "--out", tmp_path / "out")
    assert ended.code == code, ended
    assert "Traceback" not in ended.err
