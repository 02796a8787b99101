"""``results.json``: what a run writes, others add to, and a second run is compared with."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import wordfreq
from sixty_cells import evaluate

from morphgraph.batch.leaderboard import Leaderboard, differences, merged, read_leaderboard
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import demo_tokeniser_path

Document = dict[str, Any]

RECIPE = """\
name: small
languages: [en]
corpora: [wordfreq]
tokenisers:
  - {name: demo, file: "demo:en"}
  - {name: copied, file: "copy.json"}
methods: [standard, dropout(p=0.1), knockout]
references: [{name: mine, source: gold.tsv}]
vocabulary: [renyi]
seeds: [0, 1]
"""
GOLD = "undo\tun do\nundoing\tun do ing\ndoing\tdo ing\nunbreakable\tun break able\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of `RECIPE`, which lies in the folder of its files."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.yaml").write_text(RECIPE)
    (folder / "gold.tsv").write_text(GOLD)
    demo = demo_tokeniser_path("en")
    (folder / "copy.json").write_bytes(demo.read_bytes())
    done = evaluate(folder / "small.yaml", "--out", folder / "run", "--workers", 1)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ------------------------------------------------------------------------------ a run


@pytest.mark.slow
def test_it_holds_every_result_of_a_run(run: Path) -> None:
    board = read_leaderboard(run / "results.json")
    results = pd.read_parquet(run / "results.parquet")
    found = [
        (row.tokeniser, row.method, row.seed, each.metric, each.value, each.low, each.signature)
        for row in board.rows
        for each in row.scores
    ]
    names = ["tokeniser", "method", "seed", "metric", "value", "low", "signature"]
    asked = results[names].astype(object).where(results[names].notna(), None)
    assert found == [tuple(row) for row in asked.itertuples(index=False)]
    [made] = board.runs.values()
    assert made.recipe == RECIPE
    assert made.command[:2] == ["morphgraph", "evaluate"]
    assert {"morphgraph", "numpy", "python"} <= made.versions.keys()


@pytest.mark.slow
def test_sums_are_those_of_sha256sum(run: Path) -> None:
    rows = read_leaderboard(run / "results.json").rows
    gold = sha256(GOLD.encode())
    copied = sha256((run.parent / "copy.json").read_bytes())
    counts = sha256(Path(wordfreq.available_languages("best")["en"]).read_bytes())
    scored = [row for row in rows if row.tokeniser == "copied" and row.reference]
    assert {row.inputs["reference"] for row in scored} == {gold}
    assert {row.inputs["tokeniser"] for row in scored} == {copied}
    figures = [row for row in rows if any("renyi" in each.metric for each in row.scores)]
    assert {row.inputs["counts"] for row in figures} == {counts}


@pytest.mark.slow
def test_the_same_again_is_the_same(run: Path, tmp_path: Path) -> None:
    file, folder = run / "results.json", run.parent
    again = evaluate("--reproduce", file, "--folder", folder, "--out", tmp_path, "--workers", 1)
    [key] = read_leaderboard(file).runs
    count = len(pd.read_parquet(run / "results.parquet"))
    assert again.stdout.splitlines()[1:] == [f"{key}: {count} of {count} values are the same"]
    assert again.returncode == 0
    assert (tmp_path / key / "report.html").exists()


@pytest.mark.slow
def test_a_changed_file_and_value_are_told(run: Path, tmp_path: Path) -> None:
    for name in ("gold.tsv", "copy.json"):
        (tmp_path / name).write_bytes((run.parent / name).read_bytes())
    (tmp_path / "gold.tsv").write_text(GOLD + "redo\tre do\n")
    (tmp_path / "results.json").write_bytes((run / "results.json").read_bytes())
    again = evaluate("--reproduce", tmp_path / "results.json", "--workers", 1)
    assert again.returncode == 1
    sums = f"{sha256(GOLD.encode())} there, {sha256((tmp_path / 'gold.tsv').read_bytes())} here"
    assert re.search(f"^file of the reference of .* more rows: {sums}$", again.stdout, re.M)
    assert "entries 4 there, value" in again.stdout
    assert re.search(r"^and \d+ more values differ$", again.stdout, re.M)
    assert (tmp_path / "reproduced").is_dir()


# ------------------------------------------------------------------------------ comparing


def score(metric: str, value: float | None, **more: Any) -> Document:
    empty = dict.fromkeys(("step", "low", "high", "p", "entries"))
    told = {"scope": "morphemic", "weighting": "types", "signature": "s", **more}
    return {"metric": metric, **empty, "value": value, **told}


def row(**more: Any) -> Document:
    texts = dict.fromkeys(("corpus", "parameters", "task"), "")
    named = {"language": "en", "tokeniser": "mine", "method": "BPE", "reference": "gold"}
    known = {"words": "all words", "seed": None, "vocab_size": None, "held_in": False}
    inputs = {"inputs": {"reference": 64 * "a"}, "scores": [score("f1", 0.5), score("exact", None)]}
    return {"run": 12 * "1", **texts, **named, **known, **inputs, **more}


def document(*rows: Document, key: str = 12 * "1", **more: Any) -> Document:
    made = {"name": "small", "recipe": RECIPE, "languages": ["en"], "command": ["morphgraph"]}
    made |= {"code": "c", "versions": {"numpy": "2.0"}, **more}
    return {"format": "morphgraph results", "version": 1, "runs": {key: made}, "rows": [*rows]}


def board(*rows: Document, **more: Any) -> Leaderboard:
    return Leaderboard.model_validate(document(*rows, **more))


def told(before: Leaderboard, now: Leaderboard) -> tuple[list[str], list[str], int]:
    return differences(before, 12 * "1", now)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    made = board(row(), row(language="de", method="“ü”"))
    made.write(tmp_path / "a.json")
    assert read_leaderboard(tmp_path / "a.json") == made
    text = (tmp_path / "a.json").read_text()
    assert text.count("\n{") == 2, "a row a line"


def test_noise_is_no_difference() -> None:
    before, now = (board(row(scores=[score("f1", value)])) for value in (0.1 + 0.2, 0.3))
    assert told(before, now) == ([], [], 1)


def test_speed_is_no_difference() -> None:
    before, now = (board(row(scores=[score("tokens_per_second", v)])) for v in (1000.0, 900.0))
    assert told(before, now) == ([], [], 1)


def test_differences_in_words() -> None:
    scores = [score("f1", 0.25, low=0.125, high=0.375), score("exact", 0.5)]
    now = board(
        row(scores=scores, inputs={"tokeniser": 64 * "b"}), code="d", versions={"python": "3.13"}
    )
    about, lost, count = told(board(row(), row(seed=3)), now)
    label = "en · mine · BPE · gold"
    assert about == [
        "code of the library: c there, d here",
        "numpy: 2.0 there, none here",
        "python: none there, 3.13 here",
        f"file of the reference of {label}: {64 * 'a'} there, none here",
        f"file of the tokeniser of {label}: none there, {64 * 'b'} here",
    ]
    assert lost == [
        f"{label} · f1 · morphemic · types: value 0.5 there, value 0.25 low 0.125 high 0.375 here",
        f"{label} · exact · morphemic · types: n/a there, value 0.5 here",
        f"{label} · seed 3 · f1 · morphemic · types: value 0.5 there, missing here",
        f"{label} · seed 3 · exact · morphemic · types: n/a there, missing here",
    ]
    assert count == 4


def test_only_some_languages() -> None:
    before = board(row(), row(language="de"))
    assert differences(before, 12 * "1", board(row()), ["en"]) == ([], [], 2)


# ------------------------------------------------------------------------------ merging


def test_files_together_have_the_rows_of_both() -> None:
    one = board(row(), row(language="de"))
    other = board(row(run=12 * "2"), row(run=12 * "2", method="mine"), key=12 * "2")
    whole = merged({"a": one, "b": other})
    assert [(each.run[0], each.language, each.method) for each in whole.rows] == [
        ("1", "en", "BPE"),
        ("1", "de", "BPE"),
        ("2", "en", "mine"),
    ], "what both measured is there once"
    assert merged({"a": one, "b": one}) == one
    assert [*merged({"b": board(row()), "a": one}).runs] == [12 * "1"]


def test_another_file_or_signature_is_another_row() -> None:
    other = {"inputs": {"reference": 64 * "b"}}, {"scores": [score("f1", 0.7, signature="t")]}
    for change in other:
        both = {"a": board(row()), "b": board(row(run=12 * "2", **change), key=12 * "2")}
        assert len(merged(both).rows) == 2


def test_the_same_with_another_value_is_refused() -> None:
    other = board(row(run=12 * "2", scores=[score("f1", 0.6), score("exact", None)]), key=12 * "2")
    with pytest.raises(
        FileFormatError, match=r"^b, field rows\[0\]: en · mine · BPE · gold: .*--re"
    ):
        merged({"a": board(row()), "b": other})


@pytest.mark.slow
def test_the_command_merges(tmp_path: Path) -> None:
    board(row()).write(tmp_path / "a.json")
    board(row(language="de")).write(tmp_path / "b.json")
    into = ("--merge", tmp_path / "a.json", "--merge", tmp_path / "b.json", "--out", tmp_path)
    assert evaluate(*into).stdout == f"{tmp_path / 'results.json'}: 2 rows\n"
    assert len(read_leaderboard(tmp_path / "results.json").rows) == 2
    both = evaluate("demo", *into)
    assert both.returncode == 2
    assert "more than one thing" in both.stderr


# ------------------------------------------------------------------------------ broken files


def changed(change: Callable[[Document], object]) -> Document:
    made = deepcopy(document(row(), row(seed=1)))
    change(made)
    return made


BROKEN: dict[str, tuple[Callable[[Document], object], str]] = {
    "a recipe of edits": (lambda d: d.update(format="morphgraph recipe"), "its format is not"),
    "newer": (lambda d: d.update(version=2), "field version: it is not 1. Update"),
    "no rows": (lambda d: d.pop("rows"), "field rows: the field is missing. Add it"),
    "a row of no run": (lambda d: d["rows"][1].update(run=12 * "2"), r"rows\[1\] is of a run"),
    "a row twice": (lambda d: d["rows"][1].update(seed=None), r"rows\[1\], en · .* is there alr"),
    "no number": (
        lambda d: d["rows"][0]["scores"][0].update(value=float("nan")),
        r"field rows\[0\].scores\[0\].value: nan does not fit",
    ),
    "no sum": (
        lambda d: d["rows"][0]["inputs"].update(reference="abc"),
        r"field rows\[0\].inputs.reference: 'abc' does not fit. Give a SHA-256",
    ),
    "an unknown field": (
        lambda d: d["rows"][0].update(sede=1),
        r"field rows\[0\].sede: there is no such field. Did you mean “seed”",
    ),
    "a run elsewhere": (
        lambda d: d["runs"].update({"../../x": d["runs"][12 * "1"]}),
        r"field runs\.\.\./\.\./x.*: '../../x' does not fit. Give 12 digits",
    ),
    "a field that draws": (
        lambda d: d["rows"][0]["inputs"].update({"\x1b[31m": 64 * "a"}),
        r"\\x1b",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_told_with_its_field(case: str, tmp_path: Path) -> None:
    change, message = BROKEN[case]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(changed(change)))
    with pytest.raises(FileFormatError, match=message) as raised:
        read_leaderboard(path)
    assert str(raised.value).startswith(str(path))
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 500, "\x00", '{"format": 1}'])
def test_what_is_no_such_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(MorphGraphError, match=r"results\.json"):
        read_leaderboard(tmp_path / "results.json")


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    board = Leaderboard.model_validate(changed(lambda document: None))
    board.write(tmp_path / "results.json")
    packed = tmp_path / "results.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "results.json").read_bytes()))
    assert read_leaderboard(packed) == board


BAD_PACKED = {
    "it is cut off or damaged": gzip.compress(b"{}" * 1000)[:-9],
    "this is not JSON": gzip.compress(b"no"),
    "the file is empty": gzip.compress(b""),
    "MORPHGRAPH_MAX_FILE_BYTES": gzip.compress(b" " * 20_001),
}


@pytest.mark.parametrize("message", BAD_PACKED)
def test_a_bad_packed_file_is_refused(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "20000")
    path = tmp_path / "results.json.gz"
    path.write_bytes(BAD_PACKED[message])
    with pytest.raises(FileFormatError, match=message) as raised:
        read_leaderboard(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.slow
def test_a_broken_recipe_is_told_with_its_run(tmp_path: Path) -> None:
    made = document(row(), recipe="name: x\nlanguages: [en]\nmethods: [nothing]\n")
    (tmp_path / "results.json").write_text(json.dumps(made))
    failed = evaluate("--reproduce", tmp_path / "results.json")
    assert failed.returncode == 2
    assert f"results.json, recipe of {12 * '1'}, line" in failed.stderr
