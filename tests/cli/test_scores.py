"""``morphgraph score``: what it prints, writes and refuses; that its neighbours can be reached."""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.formats.recipe import write_recipe
from morphgraph.reference.readers import read_reference
from morphgraph.score.flota import flota_scores
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import GROUPS, METRICS, USUAL
from morphgraph.score.outcome import ideal, outcome_of
from morphgraph.score.table import ScoreTable, group_scores, word_groups
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on, standard_segmenter
from morphgraph.tables.scores import scores_csv, scores_latex, scores_markdown

Command = Callable[..., Any]

MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]
FIRST = "undoing\tun do -ing\tundoing\nundo\tun do\tundo\ndoing\tdo -ing\tdoing\n"
SECOND = "doing\tdo ing\ndo\tdo\n"
"""Without whole words."""


class Small(NamedTuple):
    """A small tokeniser, and gold lists with and without whole words."""

    tokeniser: Path
    first: Path
    second: Path

    @property
    def on_first(self) -> tuple[str | Path, ...]:
        return "score", "--tokenizer", self.tokeniser, "--reference", self.first

    @property
    def on_both(self) -> tuple[str | Path, ...]:
        return *self.on_first, "--reference", self.second


@pytest.fixture
def small(tmp_path: Path, small_document: Callable[..., dict[str, Any]]) -> Small:
    files = Small(*(tmp_path / name for name in ("tokenizer.json", "first.tsv", "second.tsv")))
    files.tokeniser.write_text(json.dumps(small_document(MERGES)), encoding="utf-8")
    files.first.write_text("word\tmorphs\twhole_words\n" + FIRST, encoding="utf-8")
    files.second.write_text("word\tmorphs\n" + SECOND, encoding="utf-8")
    return files


def values(table: dict[str, Any], row: int = 0) -> dict[str, float | None]:
    return {name: found["value"] for name, found in table["rows"][row]["scores"].items()}


def printed(out: str) -> list[list[str]]:
    """The rows of printed tables: cells are apart by two spaces at least."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.split("\n")]


# --- what is scored -------------------------------------------------------------------------------


def test_scores_by_hand(morphgraph: Command, small: Small) -> None:
    """BPE: undoing, undo, do|ing. Of 4 gold boundaries, the one in doing is a split."""
    run = morphgraph(*small.on_both, "--resamples", "0", "--json")
    assert (run.code, run.err) == (0, "")
    tables = run.json["tables"]
    assert [(t["reference"], t["scope"], t["weighting"]) for t in tables] == [
        (str(small.first), "morphemic", "types"),
        (str(small.first), "whole-word", "types"),
        (str(small.second), "morphemic", "types"),
    ]
    first = values(tables[0])
    assert list(first) == list(USUAL)
    assert first["precision"] == 1
    assert first["recall"] == 1 / 4
    assert first["f1"] == pytest.approx(2 / 5)
    assert first["exact"] == pytest.approx(1 / 3)
    assert first["over"] == 0
    assert first["under"] == pytest.approx(2 / 3)
    assert first["fertility"] == pytest.approx(4 / 3)
    # No whole-word boundaries: recall and F1 are undefined; the one split is wrong.
    whole = values(tables[1])
    assert (whole["precision"], whole["recall"], whole["f1"]) == (0, None, None)
    assert whole["exact"] == pytest.approx(2 / 3)
    assert values(tables[2])["f1"] == 1


def test_the_shape_of_json(morphgraph: Command, small: Small) -> None:
    report = morphgraph(
        *small.on_both, "--methods", "bpe,flota", "--ideal", "--scores", "f1,fertility", "--json"
    ).json
    assert list(report) == ["tokeniser", "scores", "entries", "skipped", "signature", "tables"]
    assert report["tokeniser"] == "BPE"
    assert report["entries"] == 3
    for table, morphs in zip(report["tables"], (3, 3, 2), strict=True):
        assert list(table) == [
            "reference", "partial", "scope", "weighting", "words", "rows", "signature"]  # fmt: skip
        assert table["words"] == "all words"
        assert [row["tokeniser"] for row in table["rows"]] == ["BPE", "FLOTA", "Ideal"]
        for row in table["rows"]:
            assert list(row) == [
                "tokeniser", "error", "vocab_size", "held_in", "scores", "signature"]  # fmt: skip
            assert row["held_in"] is False
            assert row["error"] is None
            assert list(row["scores"]) == ["f1", "fertility"]
            for score in row["scores"].values():
                assert list(score) == ["value", "interval", "p"]
                assert len(score["interval"]) == 2
        assert table["rows"][0]["scores"]["f1"]["p"] is None, "the baseline itself"
        assert table["rows"][1]["scores"]["fertility"]["p"] == 1, "FLOTA cuts just as BPE does"
        assert table["rows"][2]["scores"]["f1"]["p"] is None, "the gold is not tested"
        # un, do, undo, in, ing, undoing and u n d o i g; the morphs are three
        assert [row["vocab_size"] for row in table["rows"]] == [12, 12, morphs]


@pytest.mark.slow
def test_json_is_the_library_s(morphgraph: Command) -> None:
    report = morphgraph(
        "score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--reference", "demo:de",
        "--methods", "bpe,dropout(p=0.3, seed=2),flota", "--scores", "all", "--baseline", "3",
        "--seed", "5", "--resamples", "200", "--frequencies", "wordfreq:nl", "--ideal", "--json",
    ).json  # fmt: skip
    tokeniser = load_tokeniser("demo:nl")
    methods = [
        method_on(tokeniser, "bpe"),
        method_on(tokeniser, "dropout", {"p": 0.3, "seed": 2}),
        method_on(tokeniser, "flota"),
    ]
    known = dict(wordfreq_counts("nl").items())
    tables = iter(report["tables"])
    for language in ("nl", "de"):
        gold = read_reference(demo_gold_path(language), name=f"demo:{language}")
        gold_set = GoldSet.of(gold, known, "wordfreq:nl")
        outcomes = [*(outcome_of(method, gold_set) for method in methods), ideal(gold_set)]
        for scope in ("morphemic", "whole-word"):
            for weighting in ("types", "tokens"):
                made = ScoreTable(
                    outcomes,
                    scope,
                    weighting,
                    tuple(METRICS),
                    baseline=2,
                    draws=Draws(resamples=200, seed=5),
                )
                table = next(tables)
                assert table["signature"] == made.signature
                for number, (row, found) in enumerate(
                    zip(table["rows"], made.estimates, strict=True)
                ):
                    assert row["signature"] == made.signature_of(number)
                    assert found is not None
                    for name, estimate in found.items():
                        score = row["scores"][name]
                        for got, wanted in (
                            (score["value"], estimate.value),
                            (score["interval"][0], estimate.interval.low),
                            (score["interval"][1], estimate.interval.high),
                            (score["p"], estimate.p),
                        ):
                            assert got == (None if math.isnan(wanted) else pytest.approx(wanted))
    assert next(tables, None) is None


def test_models_and_a_recipe(morphgraph: Command, small: Small, tmp_path: Path) -> None:
    """Without “undoing” and “undo”, BPE makes un|do|ing, as the gold has it."""
    tokeniser = load_tokeniser(str(small.tokeniser))
    model, recipe = tmp_path / "before.json", tmp_path / "recipe.json"
    model.write_bytes(write_model(method_on(tokeniser, "bpe")))
    tokeniser.graph.knockout(["undoing", "undo"])
    recipe.write_bytes(write_recipe(tokeniser))
    report = morphgraph(
        *small.on_first, "--recipe", recipe, "--model", model, "--scope", "morphemic", "--json"
    ).json
    [table] = report["tables"]
    assert [row["tokeniser"] for row in table["rows"]] == ["BPE", "before"]
    assert [values(table, row)["recall"] for row in (0, 1)] == [1, 1 / 4]
    assert table["rows"][0]["signature"] != table["rows"][1]["signature"]


def test_a_reference_without_whole_words_is_na(morphgraph: Command, small: Small) -> None:
    arguments = ("score", "--tokenizer", small.tokeniser, "--reference", small.second,
                 "--scope", "whole-word", "--scores", "f1,exact")  # fmt: skip
    run = morphgraph(*arguments)
    assert (run.code, run.err) == (0, "")
    assert ["BPE", "12", "n/a", "n/a"] in printed(run.out)
    [table] = morphgraph(*arguments, "--json").json["tables"]
    assert values(table) == {"f1": None, "exact": None}
    assert table["rows"][0]["scores"]["f1"] == {"value": None, "interval": [None, None], "p": None}


# --- which scores ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("f1", ("f1",)),
        ("f1, exact", ("f1", "exact")),
        ("mean of words", GROUPS["mean of words"]),
        ("exact,f1", ("exact", "f1")),
        ("words", ("exact", "over", "under")),
        ("boundaries,exact,f1", ("precision", "recall", "f1", "exact")),
        ("morphemes of the source", GROUPS["morphemes of the source"]),
        ("all", tuple(METRICS)),
    ],
)
def test_names_and_groups(
    morphgraph: Command, small: Small, asked: str, expected: tuple[str, ...]
) -> None:
    arguments = (*small.on_first, "--scope", "morphemic", "--resamples", "0", "--scores", asked)
    [table] = morphgraph(*arguments, "--json").json["tables"]
    assert tuple(values(table)) == expected


def test_help_lists_every_score(morphgraph: Command, small: Small) -> None:
    run = morphgraph(*small.on_first, "--scores", "help")
    assert (run.code, run.err) == (0, "")
    rows = {row[1]: (row[0], row[2]) for row in printed(run.out) if len(row) == 3}
    del rows["score"]
    assert list(rows) == list(METRICS)
    for name, metric in METRICS.items():
        assert name in GROUPS[rows[name][0]]
        assert metric.meaning.startswith(rows[name][1][:40])


# --- baseline and intervals -----------------------------------------------------------------------

NL = ("score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--scope", "morphemic",
      "--methods", "bpe,flota", "--scores", "precision")  # fmt: skip


@pytest.mark.slow
def test_the_baseline(morphgraph: Command) -> None:
    first = morphgraph(*NL, "--json").json["tables"][0]
    assert first["rows"][0]["scores"]["precision"]["p"] is None
    assert first["rows"][1]["scores"]["precision"]["p"] == pytest.approx(1 / 1001)
    assert "|test:approximate randomisation 1000 seed 0 against BPE:" in first["signature"]
    second = morphgraph(*NL, "--baseline", "2", "--json").json["tables"][0]
    assert second["rows"][1]["scores"]["precision"]["p"] is None
    assert second["rows"][0]["scores"]["precision"]["p"] == pytest.approx(1 / 1001)
    assert "against FLOTA" in second["signature"]
    none = morphgraph(*NL, "--baseline", "0", "--json").json["tables"][0]
    assert [row["scores"]["precision"]["p"] for row in none["rows"]] == [None, None]
    assert "|test:" not in none["signature"]
    assert "*" not in morphgraph(*NL, "--baseline", "0").out
    assert "***" in morphgraph(*NL).out


def test_a_printed_table(morphgraph: Command, small: Small) -> None:
    run = morphgraph(*small.on_both, "--resamples", "0", "--scores", "precision,recall,fertility")
    lines = run.out.splitlines()
    assert lines[1] == "first.tsv, morphemic boundaries over word types"
    assert printed(lines[2])[0] == [
        "Tokeniser", "|V|", "Precision % ↑", "Recall % ↑", "Tokens per word"]  # fmt: skip
    assert printed(lines[3])[0] == ["BPE", "12", "100.00", "25.00", "1.33"]
    assert printed(lines[8])[0] == ["BPE", "12", "0.00", "n/a", "1.33"]
    assert [line for line in lines if line.startswith("reference:first.tsv@")] == [
        lines[4], lines[9]]  # fmt: skip
    assert lines[-2].startswith("reference:second.tsv@")
    assert lines[-1] == "n/a: undefined, or not measured.", "no other marks to explain"


def test_partial_gold_is_told_beside_its_table(
    morphgraph: Command, small: Small, tmp_path: Path
) -> None:
    partial = tmp_path / "derivations.tsv"
    partial.write_text("do\tundo\tV\tV\tun\tprefix\n", encoding="utf-8")
    shown = morphgraph(*small.on_first, "--reference", partial, "--resamples", "0").out
    whole, _, of_partial = shown.partition("derivations.tsv, ")
    note = "The gold is partial (one affix a word)"
    assert note not in whole and note in of_partial
    found = morphgraph(*small.on_first, "--reference", partial, "--json").json
    assert {table["partial"] for table in found["tables"]} == {"", "one affix a word"}


# --- signatures -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_signatures_only(morphgraph: Command) -> None:
    arguments = (*NL, "--ideal", "--reference", "demo:de")
    run = morphgraph(*arguments, "--signature-only")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert len(lines) == 6
    assert [line.split("@")[0] for line in lines] == [
        *["reference:demo:nl"] * 3, *["reference:demo:de"] * 3]  # fmt: skip
    assert morphgraph(*arguments, "--signature-only").out == run.out
    report = morphgraph(*arguments, "--json").json
    assert lines == [row["signature"] for table in report["tables"] for row in table["rows"]]


# --- files ----------------------------------------------------------------------------------------


def test_files(morphgraph: Command, small: Small, tmp_path: Path) -> None:
    tokeniser = load_tokeniser(str(small.tokeniser))
    tables = []
    for path, scopes in (
        (small.first, ("morphemic", "whole-word")),
        (small.second, ("morphemic",)),
    ):
        gold_set = GoldSet.of(read_reference(path, name=str(path)))
        outcomes = [outcome_of(method_on(tokeniser, name), gold_set) for name in ("bpe", "greedy")]
        tables += [ScoreTable(outcomes, scope, baseline=0) for scope in scopes]  # type: ignore[arg-type]
    expected = {
        "scores.csv": scores_csv(tables),
        "scores.tex": scores_latex(tables).encode(),
        "scores.md": scores_markdown(tables).encode(),
    }
    for name, content in expected.items():
        path = tmp_path / "new" / name
        run = morphgraph(*small.on_both, "--methods", "bpe,greedy", "--out", path)
        assert run.code == 0
        assert run.out.splitlines()[-1] == f"saved {path}"
        assert path.read_bytes() == content
    rows = list(csv.DictReader(io.StringIO(expected["scores.csv"].decode())))
    assert [(row["reference"], row["scope"], row["tokeniser"]) for row in rows] == [
        ("first.tsv", "morphemic", "BPE"),
        ("first.tsv", "morphemic", "Greedy"),
        ("first.tsv", "whole-word", "BPE"),
        ("first.tsv", "whole-word", "Greedy"),
        ("second.tsv", "morphemic", "BPE"),
        ("second.tsv", "morphemic", "Greedy"),
    ]
    assert float(rows[0]["recall"]) == 1 / 4
    assert rows[2]["recall"] == "n/a"


# --- FLOTA ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_flota(morphgraph: Command) -> None:
    arguments = ("score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--scores", "f1",
                 "--resamples", "0", "--flota")  # fmt: skip
    [report] = morphgraph(*arguments, "--json").json["flota"]
    tokeniser = load_tokeniser("demo:nl")
    found = flota_scores(
        vocabulary_of(tokeniser),
        read_reference(demo_gold_path("nl"), name="demo:nl"),
        standard_segmenter(tokeniser),
    )
    assert report["signature"] == found.signature
    assert len(report["rows"]) == len(found.scores) == 15
    # By the table above it: at most two of two morphs.
    out = morphgraph(*arguments).out
    rows = [row for row in printed(out) if row and row[0] in ("FLOTA", "FIRST", "LONGEST")]
    assert [(row[0], row[1]) for row in rows] == [
        (score.method, "∞" if score.k is None else str(score.k)) for score in found.scores
    ]
    assert [row[2] for row in rows] == [f"{100 * s.coverage:.2f}" for s in found.scores]
    assert out.rstrip().endswith(found.signature)
    assert "flota" not in morphgraph(*arguments[:-1], "--json").json


# --- breakdowns -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_breakdown(morphgraph: Command) -> None:
    arguments = ("score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--methods",
                 "bpe,flota", "--scope", "morphemic", "--scores", "exact", "--ideal",
                 "--by", "length")  # fmt: skip
    [report] = morphgraph(*arguments, "--json").json["breakdowns"]
    assert (report["by"], report["score"]) == ("length", "exact")
    tokeniser = load_tokeniser("demo:nl")
    gold = read_reference(demo_gold_path("nl"), name="demo:nl")
    gold_set = GoldSet.of(gold)
    found = [outcome_of(method_on(tokeniser, name), gold_set) for name in ("bpe", "flota")]
    scored = group_scores(found, word_groups(gold_set, "length"), metrics=["exact"])
    assert [(row["tokeniser"], row["group"], row["words"], row["value"]) for row in
            report["rows"]] == [
        (label, group.name, group.size, group.scores["exact"].value)
        for label, groups in zip(("BPE", "FLOTA"), scored, strict=True)
        for group in groups
    ]  # fmt: skip
    run = morphgraph(*arguments)
    assert run.out.rstrip().endswith(report["signature"])
    assert "by characters of a word" in run.out
    [row] = [row for row in printed(run.out) if row and row[0] == "8–10"]
    assert row[1] == str(next(g.size for g in scored[0] if g.name == "8–10"))


def test_boundaries_are_broken_down_once(morphgraph: Command) -> None:
    out = morphgraph(
        "score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--by", "boundaries"
    ).out
    assert out.count("Recall % by what meets at a boundary") == 1


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (["--scores", "nope"], ["“nope” is not a score", "precision, recall, f1"]),
        (["--scores", "f1,,exact"], ["“” is not a score"]),
        (["--scope", "words"], ["--scope words", "morphemic, whole-word, both"]),
        (["--weighting", "both of them"], ["--weighting", "types, tokens, both"]),
        (["--weighting", "tokens"], ["need word frequencies"]),
        (["--baseline", "2"], ["--baseline 2"]),
        (["--methods", "bpe,flota", "--baseline", "3", "--ideal"], ["--baseline 3"]),
        (["--baseline", "-1"], ["--baseline"]),
        (["--resamples", "-1"], ["--resamples"]),
        (["--resamples", "100001"], ["--resamples"]),
        (["--out", "scores.pdf"], ["scores.pdf", ".csv, .tex or .md"]),
        (["--out", "scores"], [".csv, .tex or .md"]),
        (["--by", "nope"], ["“nope” is not a breakdown", "boundaries, affixes, formation"]),
        (["--by", "frequency"], ["--by frequency needs --frequencies"]),
        (["--methods", "nope"], ["There is no method “nope”", "bpe, dropout"]),
        (["--methods", ","], ["There is nothing to score", "--tokenizer"]),
        (["--methods", "trimmed"], ["Trimmed BPE", "needs the word counts"]),
        (["--reference", "nowhere.tsv"], ["nowhere.tsv"]),
        (["--reference", "catalogue:nope"], ["no source 'nope'", "morphgraph reference list"]),
        (["--reference", "catalogue:sigmorphon2022-eng"],
         ["is not downloaded yet", "morphgraph reference get sigmorphon2022-eng"]),
        (["--reference", "catalogue:celex"], ["fetched by yourself", "--format celex"]),
        (["--model", "nowhere.json"], ["nowhere.json"]),
        (["--recipe", "nowhere.json"], ["nowhere.json"]),
    ],
)  # fmt: skip
def test_refusals(
    morphgraph: Command, small: Small, options: list[str], messages: list[str]
) -> None:
    run = morphgraph(*small.on_first, *options)
    assert run.code == 2
    assert run.out == ""
    assert "Traceback" not in run.err
    for message in messages:
        assert message in run.err


def test_a_method_that_fails_leaves_the_others(morphgraph: Command, small: Small) -> None:
    arguments = (*small.on_first, "--methods", "bpe,trimmed,greedy", "--scope", "morphemic")
    [table] = morphgraph(*arguments, "--json").json["tables"]
    bpe, trimmed, greedy = table["rows"]
    assert trimmed["tokeniser"] == "Trimmed BPE"
    assert "needs the word counts" in trimmed["error"]
    assert "scores" not in trimmed
    assert (bpe["error"], greedy["error"]) == (None, None)
    out = morphgraph(*arguments).out
    assert ["Trimmed BPE", "failed"] in printed(out)
    assert "Trimmed BPE: Trimmed BPE needs the word counts" in out


# --- neighbours -----------------------------------------------------------------------------------


# --- other programs -------------------------------------------------------------------------------


def test_predictions_beside_a_tokeniser(morphgraph: Command, small: Small, tmp_path: Path) -> None:
    """Of the 4 gold boundaries un|do|ing, un|do and do|ing, one is missed; one split is wrong."""
    theirs, saved = tmp_path / "theirs.tsv", tmp_path / "morfessor.txt"
    theirs.write_text("undoing\tun @@doing\nundo\tun @@do\ndoing\tdo @@i @@ng\n")
    saved.write_text("# by hand\n1 un + do + ing\n1 un + do\n3 do + ing\n")
    arguments = (*small.on_first, "--predictions", theirs, "--predictions", saved,
                 "--scope", "morphemic", "--scores", "precision,recall")  # fmt: skip
    run = morphgraph(*arguments, "--json")
    assert (run.code, run.err) == (0, "")
    [table] = run.json["tables"]
    rows = table["rows"]
    assert [row["tokeniser"] for row in rows] == ["BPE", "theirs", "morfessor"]
    assert [row["vocab_size"] for row in rows] == [12, None, None]
    assert values(table, 1) == {"precision": 3 / 4, "recall": 3 / 4}
    assert values(table, 2) == {"precision": 1, "recall": 1}
    assert 0 < rows[1]["scores"]["recall"]["p"] <= 1, "tested like any other"
    assert rows[1]["scores"]["recall"]["interval"][0] < 3 / 4
    assert "|tokeniser:predictions:theirs.tsv@" in rows[1]["signature"]
    alone = morphgraph("score", "--predictions", theirs, "--reference", small.first)
    assert (alone.code, alone.err) == (0, "")
    assert "75.00" in alone.out


def test_predictions_that_cannot_be_read_do_not_stop_others(
    morphgraph: Command, small: Small, tmp_path: Path
) -> None:
    broken, theirs = tmp_path / "broken.txt", tmp_path / "theirs.txt"
    broken.write_bytes(b"\xff")
    theirs.write_text("un do ing\nun do\ndo ing\n")
    arguments = ("score", "--reference", small.first, "--reference", small.second, "--predictions")
    run = morphgraph(*arguments, broken, "--predictions", theirs, "--scope", "morphemic")
    assert run.code == 0
    assert "broken: broken.txt, line 1: the byte 0xFF is not UTF-8" in run.out
    assert ["broken", "failed"] in [row[:2] for row in printed(run.out)]
    assert any(row[:1] == ["theirs"] and row[2].startswith("100.00") for row in printed(run.out))
    alone = morphgraph(*arguments, broken)
    assert (alone.code, alone.out) == (2, "")
    assert "the byte 0xFF is not UTF-8" in alone.err


def test_the_form_of_predictions_can_be_named(
    morphgraph: Command, small: Small, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs.txt"
    theirs.write_text("un|doing\nun|do\ndo|ing\n")
    arguments = ("score", "--reference", small.first, "--predictions", theirs)
    assert morphgraph(*arguments).code == 0
    run = morphgraph(*arguments, "--predictions-format", "morfessor")
    assert "segments none of the 3 words" in run.err
    run = morphgraph(*arguments, "--predictions-format", "celex")
    assert "Choose one of: plain, sigmorphon2022, morfessor" in run.err


def test_no_resamples(morphgraph: Command) -> None:
    with_intervals, without = morphgraph(*NL), morphgraph(*NL, "--resamples", "0")
    interval = re.compile(r"\d\d\.\d\d(?:\*\*\*)? \[\d\d\.\d\d, \d\d\.\d\d\]")
    assert len(interval.findall(with_intervals.out)) == 2
    assert not interval.findall(without.out)
    assert "interval:" not in without.out
    assert "***" in without.out, "the test needs no intervals"


@pytest.mark.slow
def test_the_same_signature_is_the_same_numbers(morphgraph: Command) -> None:
    assert morphgraph(*NL, "--json").out == morphgraph(*NL, "--json").out
    first, other = (morphgraph(*NL, "--seed", seed, "--json").json for seed in ("1", "2"))
    for one, two in zip(first["tables"][0]["rows"], other["tables"][0]["rows"], strict=True):
        assert one["signature"] != two["signature"]
        assert "seed 1" in one["signature"]
        assert one["scores"]["precision"]["value"] == two["scores"]["precision"]["value"]
        assert one["scores"]["precision"]["interval"] != two["scores"]["precision"]["interval"]


def test_a_breakdown_has_the_resamples_that_were_asked_for(morphgraph: Command) -> None:
    report = morphgraph(
        "score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--by", "length",
        "--scope", "morphemic", "--resamples", "200", "--seed", "3", "--json",
    ).json  # fmt: skip
    assert "|interval:bootstrap 200 seed 3|" in report["tables"][0]["signature"]
    assert "|interval:bootstrap 200 seed 3|" in report["breakdowns"][0]["signature"]


def test_predictions_that_lack_words(morphgraph: Command, small: Small, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.txt"
    theirs.write_text("un do ing\nhot\n")
    run = morphgraph(*small.on_first, "--predictions", theirs, "--scope", "morphemic")
    assert run.code == 0
    note = "theirs.txt lacks 2 of the 3 words of first.tsv, or segments them as nothing: “undo”, "
    assert run.out.count(note) == 1
    [row] = [row for row in printed(run.out) if row[:1] == ["theirs"]]
    assert row[1:4] == ["n/a", "100.00 [100.00, 100.00]", "50.00 [0.00, 100.00]"]


@pytest.mark.slow
def test_runs_give_means_and_deviations(morphgraph: Command, small: Small) -> None:
    arguments = (*small.on_first, "--methods", "bpe,dropout(p=0.5, queue=true)", "--runs", "4")
    run = morphgraph(*arguments, "--scores", "fertility", "--resamples", "0", "--json")
    plain, dropout = run.json["tables"][0]["rows"]
    assert "deviation" not in plain["scores"]["fertility"]
    assert dropout["scores"]["fertility"]["deviation"] > 0
    assert "|runs:mean of 4 seeds in a row|" in dropout["signature"]
    assert "BPE-dropout(p=0.5,seed=0,queue=true):" in dropout["signature"]
    shown = morphgraph(*arguments, "--scores", "fertility", "--resamples", "0").out
    assert "BPE-dropout (p=0.5, queue=true)" in shown
    assert "Means over seeds, ± their standard deviation." in shown
