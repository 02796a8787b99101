"""What tasks bring is what the library says when it is asked directly."""

import json
import math

import pytest
from refusals import expect
from small import small_document

import morphgraph as mg
from morphgraph.batch.plan import make_plan
from morphgraph.batch.results import collected
from morphgraph.batch.store import Store, TaskReport, code_version, run_task
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import outcome_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import Flota
from morphgraph.tokeniser.merging import segment

KEPT = "kept aside 0.2 by families"
DEMO = """\
name: demo
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
references: ["demo:en"]
"""


def measured(text, folder, path=None):
    """The rows of an evaluation, its tasks run one after the other in this process."""
    plan = make_plan(text, "mine.yaml", path or folder)
    brought = {}
    reports = []
    with Store(folder / "run") as store:
        for task in plan.tasks:
            found = run_task(task, code_version(), *(brought[need] for need in task.needs))
            brought[task.key] = found
            reports.append(TaskReport(task, "failed" if found.failure else "done", found.failure))
            if found.failure is None:
                store.keep(task.key, found.data)
        rows = collected(plan.parts, reports, store)
    return rows, [found.failure for found in brought.values() if found.failure is not None]


def value(rows, metric, **where):
    """The one value of a metric in the rows that have these columns."""
    chosen = rows[rows["metric"] == metric]
    for column, wanted in where.items():
        chosen = chosen[chosen[column] == wanted]
    [found] = chosen["value"]
    return float(found)


@pytest.mark.slow
def test_every_score_of_the_tokeniser_as_it_is(tmp_path):
    text = DEMO + "metrics: [all]\nscopes: [morphemic, whole-word]\n"
    rows, failures = measured(text, tmp_path)
    assert failures == []
    reference = read_reference(demo_gold_path("en"))
    gold_set = GoldSet.of(reference)
    outcome = outcome_of(Bte(load_tokeniser("demo:en")), gold_set)
    for scope in ("morphemic", "whole-word"):
        tally = Tally(outcome, scope, "types")
        for name, metric in METRICS.items():
            expected = metric.of(tally).value
            found = value(rows, name, scope=scope)
            assert found == expected or (math.isnan(found) and math.isnan(expected)), name
    [row] = rows[(rows["metric"] == "f1") & (rows["scope"] == "morphemic")].itertuples()
    assert row.low < row.value < row.high
    assert row.entries == 939
    assert row.signature.startswith("reference:demo:en@")
    assert value(rows, "types") == 8000


@pytest.mark.slow
def test_methods_do_what_they_do_elsewhere(tmp_path):
    text = DEMO + (
        "intervals: false\nseeds: [3]\nholdout: 0.4\nmethods:\n  - dropout(p=0.2)\n"
        "  - flota(k=2)\n  - {method: knockout, threshold: 0.6}\n"
        "  - {method: knockout, select: last, percent: 10}\n  - rebpe\n"
        "  - {method: rebpe, anneal: false, reify: false}\n"
    )
    rows, failures = measured(text, tmp_path)
    assert failures == []
    rest, gold_set = GoldSet.of(read_reference(demo_gold_path("en"))).split(0.4, 3)

    def f1(segmenter):
        return METRICS["f1"].of(Tally(outcome_of(segmenter, gold_set), "morphemic", "types")).value

    tokeniser = load_tokeniser("demo:en")
    assert value(rows, "f1", parameters="p=0.2") == f1(Dropout(tokeniser, p=0.2, seed=3))
    assert value(rows, "f1", parameters="k=2") == f1(Flota(vocabulary_of(tokeniser), 2))

    for parameters, settings in (
        ("threshold=0.6", KnockoutSettings(threshold=0.6)),
        ("select=last, percent=10", KnockoutSettings(select="last", count=774)),
    ):
        edited = load_tokeniser("demo:en")
        result = knock_out(edited, Benchmark.on(rest, edited), settings)
        where = {"method": "BPE-knockout", "parameters": parameters}
        assert value(rows, "f1", **where) == f1(Bte(edited))
        assert value(rows, "removed", **where) == len(result.change.removed_types)
        assert value(rows, "dropout_rate", **where) == result.dropout_rate
        assert value(rows, "types", **where) == edited.vocabulary_size

    for parameters, run_settings in (
        ("", ReBPESettings()),
        (
            "anneal=off, reify=off",
            ReBPESettings(anneal=False, repair=False, link=False, expand=False),
        ),
    ):
        edited = load_tokeniser("demo:en")
        run = ReBPERun(edited, Benchmark.on(rest, edited), run_settings)
        run.finish()
        where = {"method": "ReBPE", "parameters": parameters}
        assert value(rows, "f1", **where) == f1(Bte(edited))
        assert value(rows, "merges", **where) == edited.graph.merge_count
    scored = rows[rows["scope"] != ""]
    assert set(scored["seed"]) == {3}
    assert set(scored["words"]) == {"kept aside 0.4 by families"}


@pytest.mark.slow
def test_training_weights_and_vocabularies(tmp_path):
    (tmp_path / "gold.tsv").write_text("lower\tlow er\nlowest\tlow est\nnewest\tnew est\n")
    (tmp_path / "counts.tsv").write_text("low\t5\nlower\t2\nnewest\t6\nwidest\t3\nlowest\t1\n")
    text = """\
name: small
languages: [en]
corpora: [counts.tsv]
tokenisers:
  - {train: bpe, pipeline: plain, vocab_size: [259, 262]}
  - {train: picky, pipeline: plain, vocab_size: 260, threshold: [0.5, 1]}
  - {train: unigram, pipeline: plain, vocab_size: 20}
references: [gold.tsv]
vocabulary: [tokens, size]
weightings: [types, tokens]
intervals: false
"""
    rows, failures = measured(text, tmp_path)
    assert failures == []
    assert set(rows["tokeniser"]) == {
        "BPE",
        "Picky BPE (threshold=0.5)",
        "Picky BPE (threshold=1)",
        "Unigram",
    }
    # es, est and lo: low er is Ġ lo w e r, one of four splits is a gold boundary; lowest is
    # Ġ lo w est and newest Ġ n e w est, of whose two and three splits one is.
    small = {"tokeniser": "BPE", "vocab_size": 259}
    assert value(rows, "precision", weighting="types", **small) == pytest.approx(3 / 8)
    # lower counts 2, newest 6, lowest 1.
    weighted = (2 * 1 + 6 * 1 + 1 * 1) / (2 * 3 + 6 * 3 + 1 * 2)
    assert value(rows, "precision", weighting="tokens", **small) == pytest.approx(weighted)
    tokens = "vocabulary.tokens"
    # low ×5 and lower ×2 as Ġ lo w (e r), newest ×6 as Ġ n e w est, widest ×3 as Ġ w i d est,
    # lowest ×1 as Ġ lo w est.
    expected = 5 * 3 + 2 * 5 + 6 * 5 + 3 * 5 + 1 * 4
    assert value(rows, tokens, **small) == expected
    assert value(rows, "vocabulary.size", **small) == 259


@pytest.mark.slow
def test_figures_against_the_first_tokeniser_of_the_same_size(tmp_path):
    """Picky BPE, and BPE trimmed to the size, against BPE, as by the library."""
    words = {"abcab": 9, "abc": 5, "bcd": 7, "dabc": 3, "abd": 2, "cab": 6, "dcb": 1}
    text = "".join(f"{word}\t{count}\n" for word, count in words.items())
    (tmp_path / "counts.tsv").write_text(text)
    asked = """name: against
languages: [en]
corpora: [{counts: counts.tsv}]
tokenisers:
  - {name: BPE, train: bpe, pipeline: plain, vocab_size: [260, 262]}
  - {name: Picky, train: picky, pipeline: plain, vocab_size: 262, threshold: 0.3}
  - {name: larger, train: bpe, pipeline: plain, vocab_size: 264}
methods:
  - {method: standard, tokenisers: [BPE, Picky]}
  - {method: trimmed, vocab_size: 262, tokenisers: [larger]}
vocabulary: [relative_tokens, dropped_types, added_types, carried_over]
"""
    rows, failures = measured(asked, tmp_path)
    assert not failures
    by_cell = rows[rows["metric"].str.startswith("vocabulary.")].set_index(["tokeniser", "metric"])
    bpe, larger = (mg.train("bpe", words, n, pipeline="plain") for n in (262, 264))
    others = {
        "Picky": mg.train("picky", words, 262, pipeline="plain", threshold=0.3),
        "larger": larger.method("trimmed", vocab_size=262, counts=words),
    }
    for name, other in others.items():
        label = f"{name} (threshold=0.3)" if name == "Picky" else name
        found = by_cell.loc[label]["value"]
        compared = mg.compare_vocabularies(bpe, other, counts=words)
        parts = compared.parts
        assert found["vocabulary.dropped_types"] == parts["dropped_types"].size > 0
        assert found["vocabulary.added_types"] == parts["added_types"].size
        assert found["vocabulary.carried_over"] == compared.carried_over
        tokens = [
            sum(len(one.segment([word])[0]) * count for word, count in words.items())
            for one in (other, bpe)
        ]
        assert found["vocabulary.relative_tokens"] == tokens[0] / tokens[1]
    assert by_cell.loc["BPE"].loc["vocabulary.dropped_types"]["value"].tolist() == [0, 0]


def test_what_a_tokeniser_cannot_do_fails_alone_and_says_why(tmp_path):
    (tmp_path / "types.txt").write_text("un\nkind\nness\nu\nn\nk\ni\nd\ne\ns\n")
    text = """\
name: odd
languages: [en]
tokenisers: [{name: list, file: types.txt}]
methods: [standard, dropout(p=0.1), flota(k=2), rebpe]
references: ["demo:en"]
metrics: [f1, flota_coverage, flota_tokens, flota_tokens_p]
intervals: false
holdout: 0
"""
    rows, failures = measured(text, tmp_path)
    assert all("needs a tokeniser" in failure.message for failure in failures)
    failed = rows[rows["metric"] == ""]
    assert list(failed["method"]) == ["BPE-dropout", "ReBPE"]
    assert failed["value"].isna().all() and len(failures) == 2
    # Others of the plan stand in its order around them.
    assert list(dict.fromkeys(rows["method"])) == ["as it is", "BPE-dropout", "FLOTA", "ReBPE"]
    # The words are of two morphs, un kind and kind ness, which the standard method spells out.
    scored = rows[rows["metric"] == "flota_tokens"].set_index("method")["value"]
    assert value(rows, "flota_coverage", method="as it is") == 1
    assert 0 < value(rows, "flota_coverage", method="FLOTA") <= 1
    assert scored["FLOTA"] <= 2 <= scored["as it is"]


@pytest.mark.slow
def test_references_joined_and_sampled_are_those_of_the_library(tmp_path):
    (tmp_path / "derivations.tsv").write_text("do\tundo\tV\tV\tun\tprefix\n")
    given = "[{source: 'demo:en', join: derivations.tsv, sample: 60, seed: 5}]"
    rows, failures = measured(DEMO.replace('["demo:en"]', given), tmp_path)
    assert failures == []
    assert set(rows["reference"]) == {"demo:en + derivations.tsv"}
    parts = [read_reference("demo:en"), read_reference(tmp_path / "derivations.tsv")]
    gold = join_references(parts).sample(60, seed=5)
    tokeniser = load_tokeniser("demo:en")
    benchmark = Benchmark.build(tokeniser, gold)
    score = benchmark.score(segment(tokeniser.graph, benchmark.words), "morphemic", "types")
    alone = {"method": "as it is", "scope": "morphemic", "weighting": "types"}
    assert value(rows, "f1", **alone) == score.f1
    signature = rows["signature"].iloc[0]
    assert f"reference:{gold.name}@{gold.checksum}|" in signature


def test_no_frequencies_no_scores_over_tokens(tmp_path):
    rows, failures = measured(DEMO + "corpora: []\nweightings: [types, tokens]\n", tmp_path)
    assert failures == []
    over_tokens = rows[rows["weighting"] == "tokens"]
    assert len(over_tokens) == 3
    assert over_tokens["value"].isna().all()
    assert set(over_tokens["signature"]) == {"n/a: there are no word frequencies"}


@pytest.mark.parametrize(("whole", "words"), [("", 3 * 4 + 3), (", whole: true", 3 + 1)])
def test_counts_of_text_train_as_text_does(whole, words, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("the lower the better\n" * 3)
    (folder / "b.txt").write_text("lower and newer\n")
    text = f"""\
name: text
languages: [en]
corpora: [{{name: mine, text: texts{whole}}}]
tokenisers: [{{train: bpe, pipeline: plain, vocab_size: 262}}]
vocabulary: [words, tokens, size]
"""
    rows, failures = measured(text, tmp_path)
    assert failures == []
    assert value(rows, "vocabulary.words") == words
    assert value(rows, "vocabulary.size") == 262


def test_a_file_that_changes_during_the_run_is_a_failure(tmp_path):
    counts = tmp_path / "c.tsv"
    counts.write_text("low\t5\n")
    text = DEMO + "corpora: [c.tsv]\nweightings: [tokens]\n"
    plan = make_plan(text, "mine.yaml", tmp_path)
    counts.write_text("low\t9\n")
    [task] = [task for task in plan.tasks if task.kind == "counts"]
    found = run_task(task, code_version())
    expect(found.failure.message)


LAYERS = "".join(
    f'undoing\tundoing\tNOUN\t{morphs}\t{{"annot_name": "{layer}"}}\n'
    for layer, morphs in (("A", "un + do + ing"), ("B", "undo + ing"))
)


@pytest.mark.parametrize(
    ("name", "text", "reading"),
    [("gold.txt", "unXdoXing\n", {"separator": "X"}), ("gold.useg", LAYERS, {"layer": "B"})],
)
def test_a_reference_is_read_as_asked(name, text, reading, tmp_path):
    (tmp_path / name).write_text(text)
    [(option, given)] = reading.items()
    asked = DEMO.replace('["demo:en"]', f"[{{source: {name}, {option}: {given}}}]")
    rows, failures = measured(f"{asked}metrics: [precision, recall]\n", tmp_path)
    assert failures == []
    gold_set = GoldSet.of(read_reference(tmp_path / name, **reading))
    tally = Tally(outcome_of(Bte(load_tokeniser("demo:en")), gold_set), "morphemic", "types")
    for metric in ("precision", "recall"):
        assert value(rows, metric) == METRICS[metric].of(tally).value


def test_distributions(tmp_path):
    """By hand, on a tokeniser of four merges of which two are to blame."""
    small = small_document([("u", "n"), ("d", "o"), ("un", "do"), ("do", "g")])
    (tmp_path / "small.json").write_text(json.dumps(small))
    (tmp_path / "gold.tsv").write_text("undo\tun do\nundog\tun do g\ndo\tdo\n")
    rows, failures = measured(
        "name: small\nlanguages: [en]\nholdout: 0\ncorpora: []\n"
        "tokenisers: [{name: small, file: small.json}]\n"
        "methods: [standard, knockout]\nreferences: [gold.tsv]\n"
        "metrics: [precision, ideal, words_changed, words_by_morphs, gold_entries,"
        " index_of_synthesis, removed_by_rank, removed_quartile, removed_leaves]\n",
        tmp_path,
    )
    assert not failures
    told = {
        (row.metric, row.parameters): pytest.approx(row.value)
        for row in rows.itertuples()
        if row.metric not in ("types", "merges", "removed", "dropout_rate", "share_of_merges")
    }
    # un + do closed un|do in both words of it; without it, undo is un do, and undog un dog, with as
    # many tokens as undo g. It is the third of four merges.
    third = 1 / 3
    expected = {
        "precision": {"": 1, "ideal": 1},
        "words_changed": {"change=0": 2 * third, "change=1": third},
        "words_by_morphs": {"morphs=1": third, "morphs=2": third, "morphs=3": third},
        "gold_entries": {"": 3},
        "index_of_synthesis": {"": 2},
        "removed_by_rank": {f"tenth={n}": n == 6 for n in range(1, 11)},
        "removed_quartile": {f"quartile={n}": 2 for n in (1, 2, 3)},
        "removed_leaves": {"": 1},
    }
    assert told == {(name, v): n for name, each in expected.items() for v, n in each.items()}
