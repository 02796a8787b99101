"""Under-trained types of a model: figures of rows by hand, and what the types are."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from model_folders import matrix, special_token, write_model
from refusals import refused
from small import small_document

import morphgraph as mg

# ab is a step on the way to abc alone; x is in no word, nor in any merge.
MERGES = [("a", "b"), ("ab", "c"), ("d", "e"), ("c", "de"), ("b", "a")]
WORDS = "abc\t5\nde\t3\ncde\t2\nba\t1\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Eleven types, two added ones, three rows of padding."""
    document = small_document(MERGES, "abcdex")
    ids = len(document["model"]["vocab"])
    document["added_tokens"] = [special_token("<unused1>", ids), special_token("</s>", ids + 1)]
    rows = matrix(16)
    rows[ids + 2 :] = [[1, 1, 0, 0], [1, -1, 0, 0], [1, 0, 0, 0]]
    rows[ids : ids + 2] = [[1, 0, 0, 0], [1, 0, 0.1, 0]]
    rows[:2] = [[0, 0, 0, 0], [3, 4, 0, 0]]
    output = matrix(16, 1)
    output[ids:] = [1, 1, 1, 1]
    tensors = {"wte.weight": rows, "lm_head.weight": output}
    return write_model(tmp_path / "model", document, tensors, n_embd=-1)


@pytest.fixture
def words(tmp_path: Path) -> str:
    path = tmp_path / "words.tsv"
    path.write_text(WORDS)
    return str(path)


def kinds(found: Any) -> dict[str, str]:
    return dict(zip(found.frame["type"], found.frame["kind"], strict=True))


def test_what_the_types_are(model: Path, words: str) -> None:
    found = mg.models.undertrained(model, words)
    assert kinds(found) == {
        **dict.fromkeys(("abc", "de", "cde", "ba"), "ordinary"),
        **dict.fromkeys(("a", "b", "c", "ab", "d", "e"), "step"),
        "x": "never_used",
        "<unused1>": "reserved",
        "</s>": "special",
        "": "padding",
    }
    counts = dict(zip(found.frame["type"], found.frame["count"], strict=True))
    known = {"abc": 5, "de": 3, "cde": 2, "ba": 1, "ab": 0, "x": 0}
    assert {text: counts[text] for text in known} == known
    alone = kinds(mg.models.undertrained(model))
    assert (alone["ab"], alone["a"], alone["x"]) == ("step", "ordinary", "ordinary")
    assert mg.models.undertrained(model).frame["count"].isna().all()


def test_types_that_another_tokeniser_lacks(model: Path, words: str, tmp_path: Path) -> None:
    """Marked in the table, and by rings in each panel of the chart."""
    other = tmp_path / "other.json"
    other.write_text(json.dumps(small_document([("a", "b"), ("d", "e")], "abcdex")))
    found = mg.models.undertrained(model, words, against=other)
    marked = found.frame[found.frame["only_here"] == "yes"]
    assert set(marked["type"]) == {"abc", "cde", "ba"}
    rings = [trace for trace in found.chart().data if trace.marker.symbol == "circle-open"]
    assert [(trace.name, len(trace.y)) for trace in rings] == [("not in other.json", 3)] * 2
    assert "only_here" not in mg.models.undertrained(model, words).frame


def test_figures_by_hand(model: Path) -> None:
    """The unused rows, reserved and padding, have the mean (1, 0, 0, 0) and (1, 1, 1, 1)."""
    found = mg.models.undertrained(model)
    assert (found.unused, found.tied) == (4, False)
    first, second = found.frame.iloc[0], found.frame.iloc[1]
    assert (first["input_norm"], first["input_euclidean"]) == (0, 1)
    assert math.isnan(first["input_cosine"]), "no direction"
    assert (second["input_norm"], second["input_cosine"]) == (5, pytest.approx(1 - 3 / 5))
    assert second["input_euclidean"] == pytest.approx(math.sqrt(4 + 16))
    special = found.frame[found.frame["type"] == "</s>"].iloc[0]
    assert special["output_cosine"] == pytest.approx(0)
    found = mg.models.undertrained(model, by="euclidean")
    # Of 13 types, a fifth are three: the two that are nearest to (1, 0, 0, 0) come first.
    assert list(found.standing_out(0.2)["type"][:2]) == ["<unused1>", "</s>"]
    assert len(found.standing_out(0.2)) == 3
    table = found.by_kind(0.2).set_index("kind")
    assert table.loc["padding", "rows"] == 3
    assert table.loc["special", "stand_out"] == table.loc["reserved", "stand_out"] == 1


def test_ranked_as_by_land_and_bartolos_program(model: Path, tmp_path: Path) -> None:
    """Untied: the norm of the input row, though unused rows are known; tied: the cosine."""
    untied = mg.models.undertrained(model)
    assert (untied.unused, untied.tied, untied.ranked_by) == (4, False, "input_norm")
    # The first row is (0, 0, 0, 0), the shortest, and as far from unused rows as a unit vector.
    listed = untied.standing_out(1)
    assert (listed["id"].iloc[0], listed["input_norm"].iloc[0]) == (0, 0)
    norms = untied.frame[untied.frame["kind"] != "padding"]["input_norm"]
    assert list(listed["input_norm"]) == sorted(norms)
    folder = tmp_path / "tied"
    write_model(folder, small_document(MERGES, "abcdex"), {"wte.weight": matrix(16)}, n_embd=-1)
    tied = mg.models.undertrained(folder)
    assert (tied.tied, tied.ranked_by) == (True, "input_cosine")
    for by in ("norm", "cosine", "euclidean"):
        for found in (mg.models.undertrained(model, by=by), mg.models.undertrained(folder, by=by)):
            assert found.ranked_by == f"input_{by}"
            values = found.standing_out(1)[f"input_{by}"].dropna()
            assert list(values) == sorted(values)
    with refused():
        mg.models.undertrained(model, by="length")


@examples(40)
@given(st.integers(0, 1000), st.sampled_from([np.float32, np.float16]), st.integers(1, 40))
def test_figures_of_any_rows(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    dtype: Any,
    buffer: int,
) -> None:
    """Against a naive version, a row at a time."""
    folder = tmp_path_factory.mktemp("m")
    rows = matrix(16, seed, dtype)
    write_model(folder, small_document(MERGES, "abcdex"), {"wte.weight": rows}, n_embd=-1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("morphgraph_models.undertrained_types.BUFFER", buffer)
        frame = mg.models.undertrained(folder).frame
    mean = rows[(frame["kind"] == "padding").to_numpy()].astype(float).mean(axis=0)
    for row, found in zip(rows.astype(float), frame.to_dict("records"), strict=True):
        norm = math.sqrt(sum(row * row))
        assert found["input_norm"] == pytest.approx(norm)
        cosine = 1 - sum(row * mean) / norm / math.sqrt(sum(mean * mean))
        assert found["input_cosine"] == pytest.approx(cosine, abs=1e-9)
        assert found["input_euclidean"] == pytest.approx(math.sqrt(sum((row - mean) ** 2)))


def test_which_rows_are_taken_for_unused(tmp_path: Path, words: str) -> None:
    """Without padding or types that are never produced, those of no token; without words, none."""
    document = small_document(MERGES, "abcdex")
    rows = len(document["model"]["vocab"])
    folder = write_model(tmp_path / "m", document, {"wte.weight": matrix(rows)}, n_embd=-1)
    alone, counted = mg.models.undertrained(folder), mg.models.undertrained(folder, words)
    assert (alone.unused, alone.ranked_by) == (0, "input_norm")
    assert alone.frame["input_cosine"].isna().all()
    assert list(alone.standing_out(1)["input_norm"]) == sorted(alone.frame["input_norm"])
    with refused():
        mg.models.undertrained(folder, by="cosine")
    assert (counted.unused, counted.unused_are) == (7, "no token of the corpus")
    assert repr(counted) == (
        "<UndertrainedTypes: 11 rows, 7 unused (no token of the corpus), ranked by input_cosine>"
    )


def test_types_that_are_never_produced_or_part_of_a_character(tmp_path: Path) -> None:
    merges = [("b", "c"), ("a", "b"), ("ab", "c")]
    document = small_document(merges, "Ãabc", pre_tokenizer={"type": "ByteLevel"})
    document["pre_tokenizer"] |= dict.fromkeys(("add_prefix_space", "trim_offsets"), False)
    rows = len(document["model"]["vocab"])
    folder = write_model(tmp_path / "m", document, {"wte.weight": matrix(rows)}, n_embd=-1)
    found = mg.models.undertrained(folder)
    assert kinds(found)["Ã" if "Ã" in kinds(found) else "⟨C3⟩"] == "partial"
    assert kinds(found)["abc"] == "unreachable"
    assert found.unused == 1


# --------------------------------------------------------------------------- chart and command


def test_the_chart_has_every_row(model: Path, words: str) -> None:
    found = mg.models.undertrained(model, words, by="euclidean")
    figure = found.chart()
    below = {trace.yaxis for trace in figure.data}
    assert len(below) == 3, "two norms and the distance"
    for axis in below:
        drawn = [trace for trace in figure.data if trace.yaxis == axis]
        assert sum(len(trace.x) for trace in drawn) == len(found.frame)
    step = next(trace for trace in figure.data if trace.name.startswith("a step"))
    assert set(step.x) == {0.5}, "never a token"
    assert figure.layout.xaxis3.type == "log"
    by_id = mg.models.undertrained(model).chart()
    assert {trace.yaxis for trace in by_id.data} == {"y", "y2"}, "two norms"
    assert by_id.layout.xaxis2.type != "log"


def test_a_page_needs_nothing_from_outside(model: Path, tmp_path: Path) -> None:
    path = model / "tokenizer.json"
    path.write_text(path.read_text().replace("<unused1>", "<script>alert(1)</script>"))
    page = mg.models.undertrained(model).page()
    assert "Plotly.newPlot" in page
    assert "src=" not in page.split("Plotly.newPlot")[1]
    assert "<script>alert" not in page


def test_the_command(morphgraph: Command, model: Path, words: str, tmp_path: Path) -> None:
    given = ("undertrained", model, "--frequencies", words, "--share", "0.2", "--by", "euclidean")
    run = morphgraph(*given, "--out", tmp_path / "out", "--limit", "2")
    assert run.code == 0
    assert "4 rows taken for unused: without a type, reserved or never produced" in run.out
    assert "2 of 3 types, lowest input_euclidean first:" in run.out
    lines = run.out.splitlines()
    assert any("<unused1>" in line and "reserved" in line for line in lines)
    table = (tmp_path / "out" / "undertrained.csv").read_text().splitlines()
    assert table[0].startswith("id,type,kind,count,input_norm,input_cosine,input_euclidean,output")
    assert len(table) == 1 + 16
    assert (tmp_path / "out" / "undertrained.html").is_file()
    report = morphgraph(*given, "--json").json
    assert (report["rows"], report["unused"], report["tied"]) == (16, 4, False)
    assert [each["type"] for each in report["types"][:2]] == ["<unused1>", "</s>"]
    usual = morphgraph("undertrained", model, "--json").json
    assert (usual["ranked_by"], usual["types"][0]["count"]) == ("input_norm", None)


def test_what_it_refuses(morphgraph: Command, model: Path, tmp_path: Path) -> None:
    def refused(*arguments: str | Path) -> str:
        run = morphgraph("undertrained", *arguments)
        assert (run.code, run.out) == (2, "")
        return str(run.err)

    assert "less than or equal to 1" in refused(model, "--share", "2")
    (model / "tokenizer.json").unlink()
    assert "the folder holds no tokeniser" in refused(model)
    message = refused(model, "demo:en")
    assert "8,000 ids, but the model has 16 rows" in message
