"""Bad input on the command line: one message that helps, exit code 2, no traceback."""

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models

Command = Callable[..., Any]

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
def refused(morphgraph: Command) -> Callable[..., str]:
    """Run a command that must fail as it should; gives the message."""

    def run(*arguments: str | Path) -> str:
        ended = morphgraph(*arguments)
        assert ended.code == 2, ended
        assert ended.out == ""
        assert "Traceback" not in ended.err
        assert "panicked" not in ended.err, "the tokenizers library, which is written in Rust"
        lines = [line for line in ended.err.splitlines() if line.startswith("morphgraph: ")]
        assert len(lines) == 1, ended.err
        message: str = lines[0].removeprefix("morphgraph: ")
        assert re.search(r"\. [A-Z]\w+ .+", message), "it says what to do"
        return message

    return run


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text("abc\tab c\n", encoding="utf-8")
    return path


def wordpiece() -> bytes:
    return Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]")).to_str().encode()


def unigram() -> bytes:
    return Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0)], 0, False)).to_str().encode()


def changed(**model: Any) -> bytes:
    return json.dumps({**GOOD, "model": {**GOOD["model"], **model}}).encode()  # type: ignore[dict-item]


BAD_TOKENISERS = {
    "truncated": (
        COMPLETE[:200],
        [f"line {COMPLETE[:200].count(10) + 1}", "the JSON is cut off", "download the file again"],
    ),
    "cut in a string": (
        b'{"model": {"type": "BPE", "vocab": {"a',
        ["line 1, column 37", "cut off", "download the file again"],
    ),
    "not JSON": (b"a b\nab c\n", ["line 1, column 1", "not JSON", "Correct it there"]),
    "empty": (b"", ["the file is empty", "Choose a file with content"]),
    "only NUL": (b"\0" * 100, ["line 1, column 1", "not JSON"]),
    "NUL inside": (COMPLETE.replace(b"ab", b"a\0", 1), ["line 7, column 8", "not JSON"]),
    "latin-1": (
        json.dumps({"ä": 1}, ensure_ascii=False).encode("latin-1"),
        ["line 1", "byte 0xE4 is not valid UTF-8", "Save the file as UTF-8"],
    ),
    "UTF-16": (COMPLETE.decode().encode("utf-16"), ["not valid UTF-8", "Save the file as UTF-8"]),
    "deep": (b"[" * 100_000, ["nested too deeply"]),
    "deep and closed": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, ["nested too deeply"]),
    "huge number": (b'{"a": ' + b"9" * 5000 + b"}", ["huge number"]),
    "a list": (b"[1, 2]", ["no field “model”", "Choose the tokenizer.json of a BPE tokeniser"]),
    "null": (b"null", ["no field “model”"]),
    "WordPiece": (wordpiece(), ["field model.type", "a WordPiece model", "Choose a BPE tokeniser"]),
    "Unigram": (unigram(), ["field model.type", "a Unigram model", "Choose a BPE tokeniser"]),
    "repeated id": (
        changed(vocab={"a": 0, "b": 1, "c": 1, "ab": 3, "abc": 4}),
        ["field model.vocab", "“b” and “c” share the id 1", "give each type an id of its own"],
    ),
    "unknown part": (
        changed(merges=[["a", "b"], ["ab", "x"]]),
        ["merge 2 (“ab x”)", "its part “x” is not in the vocabulary", "of the same tokeniser"],
    ),
    "unknown result": (
        changed(merges=[["b", "c"]]),
        ["merge 1 (“b c”)", "its result “bc” is not in the vocabulary"],
    ),
    "infinite id": (changed(vocab={"a": float("inf")}), ["the id of “a” is not a valid id"]),
}


@pytest.mark.parametrize("name", BAD_TOKENISERS)
@pytest.mark.parametrize("command", ["score", "segment"])
def test_tokenisers(
    refused: Callable[..., str], tmp_path: Path, gold: Path, name: str, command: str
) -> None:
    data, expected = BAD_TOKENISERS[name]
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    if command == "segment" and name in ("WordPiece", "Unigram", "a list", "null"):
        command = "export"  # a vocabulary is segmented by a method of its own
    rest = {"score": ["--reference", gold], "export": ["--out", tmp_path]}.get(command, ["abc"])
    message = refused(command, "--tokenizer", path, *rest)
    assert message.startswith(str(path)), "it names the file"
    for part in expected:
        assert part.lower() in message.lower()


def test_the_good_one_is_good(morphgraph: Command, tmp_path: Path, gold: Path) -> None:
    path = tmp_path / "good.json"
    path.write_bytes(COMPLETE)
    assert morphgraph("score", "--tokenizer", path, "--reference", gold).code == 0


def test_merges_with_a_part_that_is_not_in_the_vocabulary(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}', encoding="utf-8")
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\na b\nab c\n", encoding="utf-8")
    message = refused("segment", "--tokenizer", tmp_path, "abc")
    assert message.startswith(f"{merges}, merge 2 (“ab c”): its part “c” is not in the vocabulary.")
    assert message.endswith("Use the merges and the vocabulary of the same tokeniser.")
    merges.write_text("a b\na b c\n", encoding="utf-8")
    message = refused("segment", "--tokenizer", merges, "abc")
    assert message.startswith(f"{merges}, line 2: a merge of two parts is expected here")
    merges.write_text("", encoding="utf-8")
    assert refused("segment", "--tokenizer", merges, "abc").startswith(
        f"{merges}: the file is empty"
    )
    merges.unlink()
    message = refused("export", "--tokenizer", tmp_path / "vocab.json", "--out", tmp_path)
    assert "no field “model”" in message
    (tmp_path / "vocab.json").unlink()
    merges.write_text("a b\n", encoding="utf-8")
    message = refused("segment", "--tokenizer", merges, "abc")
    assert message.startswith(f"{tmp_path / 'vocab.json'}: no such file")


def test_places_without_a_tokeniser(refused: Callable[..., str], tmp_path: Path) -> None:
    message = refused("segment", "--tokenizer", tmp_path, "abc")
    assert message == (
        f"{tmp_path}: the folder holds no tokeniser. "
        "Give a tokenizer.json, or vocab.json and merges.txt together, by names that fit."
    )
    missing = tmp_path / "missing.json"
    message = refused("segment", "--tokenizer", missing, "abc")
    assert message == f"{missing}: no such file or directory. Check the path and its permissions."
    assert "file name too long" in refused("segment", "--tokenizer", "a" * 300, "abc")
    assert "There is no demo “xx”" in refused("segment", "--tokenizer", "demo:xx", "abc")
    inside = tmp_path / "file"
    inside.write_text("x", encoding="utf-8")
    assert "not a directory" in refused("segment", "--tokenizer", inside / "x.json", "abc")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--tokenizer", "--reference", "--frequencies", "--recipe"])
def test_a_file_of_200_megabytes(
    refused: Callable[..., str], tmp_path: Path, gold: Path, option: str
) -> None:
    """It is refused before it is read: memory does not grow by its size."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    arguments: dict[str, str | Path] = {"--tokenizer": "demo:en", "--reference": gold}
    arguments[option] = path
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flat = [item for pair in arguments.items() for item in pair]
    message = refused("knockout" if option == "--recipe" else "score", *flat)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert Path(path).name in message
    if option != "--frequencies":  # word counts may be as large as this; these hold no words
        assert "200 MB" in message or "200,000,000 bytes" in message
        assert grown < 100_000  # kilobytes


BAD_REFERENCES = {
    "words with spaces": (
        b"word\tmorphs\nCosta Rica\tCosta Rica\nNew York\tNew York\n",
        ["line 2", "2 × word with a space", "Check the file"],
    ),
    "latin-1": ("Ärger\tÄrger\n".encode("latin-1"), ["line 1", "0xC4 is not UTF-8", "Save the"]),
    "prose": (
        b"Once upon a time\nthere was a king\n",
        ["cannot be detected", "Choose one of: plain"],
    ),
    "binary": (b"PK\x03\x04abc", ["zip archive", "Export it"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD_REFERENCES)
@pytest.mark.parametrize("command", ["score", "blame", "knockout"])
def test_references(refused: Callable[..., str], tmp_path: Path, name: str, command: str) -> None:
    data, expected = BAD_REFERENCES[name]
    path = tmp_path / "bad.tsv"
    path.write_bytes(data)
    message = refused(command, "--tokenizer", "demo:en", "--reference", path)
    assert message.startswith(str(path)), "it names the file"
    for part in expected:
        assert part in message


def test_other_faults_of_a_reference(
    refused: Callable[..., str], tmp_path: Path, gold: Path
) -> None:
    missing = tmp_path / "missing.tsv"
    start = ("score", "--tokenizer", "demo:en", "--reference")
    assert refused(*start, missing).startswith(f"{missing}: no such file or directory")
    assert refused(*start, tmp_path).startswith(f"{tmp_path}: it is a folder")
    assert "There is no demo “fr”" in refused(*start, "demo:fr")
    message = refused(*start, gold, "--format", "nope")
    assert "the format 'nope' is unknown" in message
    assert "morphynet-derivation" in message
    message = refused(*start, gold, "--format", "celex")
    assert "line 1" in message
    assert "Check the file, or choose another format" in message


def test_words(refused: Callable[..., str]) -> None:
    assert refused("segment", "a word").startswith("Word 1, “a word”, has a space in it.")
    assert "Word 2" in refused("segment", "word", "a word")
    assert "There are no words to segment" in refused("segment", "", " ")
    message = refused("segment", "\ud800x")
    assert message.startswith("The word '\\ud800x' has half of a surrogate pair")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["--weighting", "tokens"], "Scores over word tokens need word frequencies"),
        (["--frequencies", "wordfreq:xx"], "wordfreq has no best word list for 'xx'. Choose one"),
        (["--frequencies", "wordfreq:"], "wordfreq has no best word list for ''"),
        (["--frequencies", "missing.tsv"], "missing.tsv: cannot be read"),
    ],
)
@pytest.mark.parametrize("command", ["blame", "knockout"])
def test_options(
    refused: Callable[..., str], gold: Path, command: str, arguments: list[str], expected: str
) -> None:
    start = (command, "--tokenizer", "demo:en", "--reference", gold)
    assert expected in refused(*start, *arguments)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["--select", "last", "--count", "99999"], "99,999 types cannot be chosen"),
        (["--recipe", "missing.json"], "missing.json: no such file"),
    ],
)
def test_options_of_knockout(
    refused: Callable[..., str], gold: Path, arguments: list[str], expected: str
) -> None:
    start = ("knockout", "--tokenizer", "demo:en", "--reference", gold)
    assert expected in refused(*start, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["score"],
        ["score", "--tokenizer", "demo:en"],
        ["nope"],
        ["blame", "--tokenizer", "demo:en", "--reference", "demo:en", "--threshold", "x"],
        ["blame", "--tokenizer", "demo:en", "--reference", "demo:en", "--limit", "-1"],
        ["knockout", "--tokenizer", "demo:en", "--reference", "demo:en", "--seed", "-1"],
        ["knockout", "--tokenizer", "demo:en", "--reference", "demo:en", "--count", "-1"],
        ["train", "--counts", "wordfreq:en", "--vocab-size", "many", "--out", "x.json"],
    ],
)
def test_usage(morphgraph: Command, arguments: list[str]) -> None:
    ended = morphgraph(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Usage:" in ended.err
    assert "Traceback" not in ended.err


def test_recipes(refused: Callable[..., str], tmp_path: Path, gold: Path) -> None:
    path = tmp_path / "recipe.json"
    start = ("knockout", "--tokenizer", "demo:en", "--reference", gold, "--recipe", path)
    path.write_text("{}", encoding="utf-8")
    assert refused(*start).startswith(f"{path}: this is not a recipe.")
    step = {"edit": "knockout", "types": ["no such type"]}
    recipe = {"format": "morphgraph recipe", "version": 1, "steps": [step]}
    path.write_text(json.dumps(recipe), encoding="utf-8")
    assert "Step 1 of the recipe: “no such type” is not a type" in refused(*start)


@pytest.mark.slow
def test_places_that_cannot_be_written(
    refused: Callable[..., str], tmp_path: Path, gold: Path
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file", encoding="utf-8")
    start = ("knockout", "--tokenizer", "demo:en", "--reference", gold, "--out")
    for folder in (taken, taken / "below"):
        message = refused(*start, folder)
        assert str(taken) in message
        assert message.endswith("Choose another place with --out.")
    counts = tmp_path / "counts.tsv"
    counts.write_text("ab\t3\n", encoding="utf-8")
    train = ("train", "--counts", counts, "--vocab-size", "257", "--out")
    assert refused(*train, tmp_path).startswith(f"{tmp_path}: is a directory.")
    assert refused(*train, taken / "x.json").endswith("Choose another place with --out.")


@pytest.mark.parametrize(
    "counts, size, special, expected",
    [
        ("ab\t3\n", "10", [], "no room for the 256 bytes"),
        ("ab\t3\n", "-5", [], "no room for the 256 bytes"),
        ("", "300", [], "counts.tsv: the file has no words"),
        ("ab\n", "300", [], "counts.tsv: no line is a word and a count"),
        ("ab\t3\ncd\tx\n", "300", [], "counts.tsv, line 2: the count 'x' is not a whole number"),
        ("ab\t-3\ncd\t1\n", "300", [], "counts.tsv, line 1: the count -3 is negative"),
        ("ab\t3\n", "300", [""], "The special token “” is empty or repeated"),
        ("ab\t3\n", "300", ["<s>", "<s>"], "The special token “<s>” is empty or repeated"),
        ("ab\t3\n", "300", ["a"], "The special token “a” is also a trained type"),
        ("ab\t3\n", "300", ["ab"], "The special token “ab” is also a trained type"),
    ],
)
def test_training(
    refused: Callable[..., str],
    tmp_path: Path,
    counts: str,
    size: str,
    special: list[str],
    expected: str,
) -> None:
    path, out = tmp_path / "counts.tsv", tmp_path / "out.json"
    path.write_text(counts, encoding="utf-8")
    named = [item for text in special for item in ("--special", text)]
    message = refused("train", "--counts", path, "--vocab-size", size, "--out", out, *named)
    assert expected in message
    assert not out.exists()


def test_training_on_a_language_that_is_not_there(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    message = refused("train", "--counts", "wordfreq:tlh", "--vocab-size", "300", "--out", out)
    assert message.startswith("wordfreq has no best word list for 'tlh'. Choose one of ")


def test_a_type_named_like_an_attack_works(
    morphgraph: Command, tmp_path: Path, small_document: Callable[..., dict[str, Any]]
) -> None:
    """`<img/src=''onerror=alert(1)>` is a type like any other, and stays text."""
    evil = "<img/src=''onerror=alert(1)>"
    merges = [(evil[:i], evil[i]) for i in range(1, len(evil))]
    path, gold = tmp_path / "evil.json", tmp_path / "gold.tsv"
    path.write_text(json.dumps(small_document([*merges, ("a", "b")])), encoding="utf-8")
    out = tmp_path / "out"
    ended = morphgraph("segment", "--tokenizer", path, "--sentences", evil, "--json")
    assert (ended.code, ended.json["words"][0]["tokens"]) == (0, [evil])
    gold.write_text("ab\ta b\n<img\t<i mg\n", encoding="utf-8")
    ended = morphgraph("knockout", "--tokenizer", path, "--reference", gold, "--out", out, "--json")
    assert ended.code == 0
    assert ended.json["removed"] == ["<im", "ab"]
    again = morphgraph("segment", "--tokenizer", out, "--sentences", evil, "<im", "--json").json
    assert [row["tokens"] for row in again["words"]] == [[evil], ["<i", "m"]]
    ended = morphgraph("blame", "--tokenizer", path, "--reference", gold)
    assert ended.code == 0
    assert "<i + m" in ended.out


@pytest.mark.parametrize("depth, code", [(50, 0), (150, 2), (900, 2)])
def test_nesting_that_json_can_still_read(
    morphgraph: Command, tmp_path: Path, gold: Path, depth: int, code: int
) -> None:
    """It is read and saved, or refused; in no case a traceback."""
    path = tmp_path / "deep.json"
    extra = b'{"extra": ' + b"[" * depth + b"]" * depth + b", "
    path.write_bytes(extra + COMPLETE.lstrip()[1:])
    ended = morphgraph(
        "knockout", "--tokenizer", path, "--reference", gold, "--out", tmp_path / "out"
    )
    assert ended.code == code, ended
    assert "Traceback" not in ended.err
