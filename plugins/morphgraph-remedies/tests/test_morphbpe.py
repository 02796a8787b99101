"""MorphBPE: training by morphs against the plainest trainer on a dictionary of morphs."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import training_oracles as plain
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import bpe_of, seen, token_texts

import morphgraph as mg
from morphgraph.batch.plan import make_plan
from morphgraph.batch.results import collected
from morphgraph.batch.store import Store, TaskReport, TaskResult, code_version, run_task
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import outcome_of
from morphgraph.segment.method import METHODS
from morphgraph.segment.training import train_bpe
from morphgraph_remedies.morphbpe import (
    MorphBPESettings,
    learn_morphbpe,
    train_barred,
    training_words,
)

DEMO = """\
name: demo
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
references: ["demo:en"]
"""
MORPHS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=4)
GOLD = st.lists(st.tuples(MORPHS, st.integers(1, 5)), min_size=1, max_size=10)


def gold_of(words: list[tuple[list[str], int]]) -> GoldSet:
    entries = [Entry("".join(morphs), tuple(morphs), None, count) for morphs, count in words]
    return GoldSet.of(Reference("r", "plain", tuple(entries), (), ""))


def plainly_trained(words: list[tuple[list[str], int]], most: int) -> list[tuple[str, str]]:
    """Merge the most frequent pair inside morphs; ties go to the earlier left, then right type."""
    morphs: Counter[str] = Counter()
    seen: set[str] = set()
    for each, count in words:
        if "".join(each) not in seen:
            for morph in each:
                morphs[morph] += count
        seen.add("".join(each))
    pieces = [([*morph], count) for morph, count in morphs.items()]
    order, merges = sorted({*"".join(morphs)}), []
    while len(merges) < most and (pairs := plain.pair_counts(pieces)):
        pair = min(pairs, key=lambda p: (-pairs[p], order.index(p[0]), order.index(p[1])))
        for tokens, _ in pieces:
            naive_merge(tokens, pair)
        merges.append(pair)
        order.append("".join(pair))
    return merges


def naive_merge(tokens: list[str], pair: tuple[str, str]) -> None:
    at = 0
    while at < len(tokens) - 1:
        if (tokens[at], tokens[at + 1]) == pair:
            tokens[at : at + 2] = ["".join(pair)]
        at += 1


@examples(800)
@given(GOLD, st.integers(0, 8), st.lists(st.text("abcd", max_size=8), max_size=4))
def test_as_the_plainest_trainer_of_morphs(
    words: list[tuple[list[str], int]], most: int, texts: list[str]
) -> None:
    tokeniser, gold_set = bpe_of([("a", "b"), ("ab", "c")]), gold_of(words)
    expected = plainly_trained(words, most)
    assert train_barred(tokeniser, training_words(gold_set), most) == expected
    made = learn_morphbpe(tokeniser, gold_set, MorphBPESettings(types=3 + most)).segmenter
    ranked = oracles.listed(expected)
    assert token_texts(made, texts) == [oracles.segment(ranked, seen(text))[0] for text in texts]
    assert tokeniser.graph.merge_count == 2, "the one that it is made from stays as it is"


@examples(800)
@given(GOLD)
def test_as_our_trainer_on_the_dictionary_of_morphs(words: list[tuple[list[str], int]]) -> None:
    morphs: Counter[str] = Counter()
    for _, (count, each) in training_words(gold_of(words)).items():
        for morph in each:
            morphs[morph] += count
    trained = train_bpe(morphs, vocab_size=20)
    most = 20 - len(trained.alphabet)
    found = train_barred(bpe_of([]), training_words(gold_of(words)), most)
    assert tuple(found) == trained.merges


def test_the_marker_stays_with_the_first_morph() -> None:
    words = {"undo": (3, ("un", "do")), "do": (2, ())}
    found = train_barred(load_tokeniser("demo:en"), words, 9)
    assert found == [("d", "o"), ("u", "n"), ("Ġ", "un"), ("Ġ", "do")]
    # Without gold, nothing is in the way.
    assert ("Ġ", "undo") in train_barred(load_tokeniser("demo:en"), {"undo": (3, ())}, 9)


def test_the_words_and_their_counts() -> None:
    entries = (
        Entry("Dogs", ("Dog", "s")),
        Entry("cats", ("cat", "s")),
        Entry("Dogs", ("D", "ogs")),
    )
    gold_set = GoldSet.of(Reference("r", "plain", entries, (), ""), {"dogs": 2.5, "cow": 1, "x": 0})
    assert training_words(gold_set) == {
        "dogs": (3, ("dog", "s")),
        "cats": (1, ("cat", "s")),
        "cow": (1, ()),
    }
    # What is kept aside is trained on if the corpus has it, but whole.
    assert training_words(gold_set.subset(np.array([1]))) == {
        "dogs": (3, ()),
        "cats": (1, ("cat", "s")),
        "cow": (1, ()),
    }


def test_on_a_demo() -> None:
    tokeniser, gold_set = load_tokeniser("demo:nl"), mg.read_gold("demo:nl")
    method = METHODS["morphbpe"]
    learned: Any = method.learn(tokeniser, gold_set, method.settings({}))  # type: ignore[misc]
    assert learned.facts["merges"] == learned.segmenter.tokeniser.graph.merge_count > 500
    kept = learned.segmenter.tokeniser
    same = {text for text in kept.types if kept.graph.is_present(kept.graph.ids[text])}
    assert all(kept.graph.ids[t] == tokeniser.graph.ids[t] for t in same & {*tokeniser.types})
    with refused():
        learn_morphbpe(tokeniser, gold_set, MorphBPESettings(types=7))


def test_in_a_notebook_and_exported(tmp_path: Any) -> None:
    tokeniser, gold = mg.load("demo:nl"), mg.read_gold("demo:nl")
    made = tokeniser.learn("morphbpe", gold, holdout=0)
    found = mg.compare(
        {"BPE": tokeniser, "made": made}, gold, metrics=["f1", "morph_edits", "morph_consistency"]
    )
    bpe, morph = found.to_frame().to_dict("index").values()
    assert morph["f1"] > bpe["f1"]
    assert morph["morph_edits"] < bpe["morph_edits"]
    assert morph["morph_consistency"] > bpe["morph_consistency"]
    assert "made (scored on the words it learned from)" in found._repr_html_()
    made.save(tmp_path / "m.json")
    again = mg.load(tmp_path / "m.json")
    assert again.segment(["ontbreken"]) == made.segment(["ontbreken"])
    with refused():
        made.learn("flota", gold)


def test_it_learns_from_what_is_not_kept_aside() -> None:
    tokeniser, gold = mg.load("demo:nl"), mg.read_gold("demo:nl")
    train, test = gold.split()
    made = tokeniser.learn("morphbpe", gold)
    assert made == tokeniser.learn("morphbpe", train, holdout=0)
    assert made != tokeniser.learn("morphbpe", gold, holdout=0)
    shown = mg.compare({"BPE": tokeniser, "made": made}, gold)
    assert "training words" not in shown._repr_html_()
    assert shown.to_frame()["f1"].tolist() == [each.score(test).f1 for each in (tokeniser, made)]


def test_morphbpe_trains_on_the_corpus_without_the_gold_of_words_kept_aside(tmp_path: Path) -> None:
    counts = tmp_path / "counts.tsv"
    counts.write_text("unhappily\t40\nflowers\t30\nflowering\t20\n")
    text = f"{DEMO}corpora: [{counts}]\nmethods: [morphbpe]\nseeds: [1]\nmetrics: [f1]\n"
    brought: dict[str, TaskResult] = {}
    reports, plan = [], make_plan(text, "mine.yaml", tmp_path)
    with Store(tmp_path / "run") as store:
        for task in plan.tasks:
            result = run_task(task, code_version(), *(brought[need] for need in task.needs))
            assert result.failure is None
            brought[task.key] = result
            reports.append(TaskReport(task, "done", None))
            store.keep(task.key, result.data)
        rows = collected(plan.parts, reports, store)
    gold_set = GoldSet.of(
        read_reference(demo_gold_path("en")),
        {"unhappily": 40, "flowers": 30, "flowering": 20},
    )
    rest, kept = gold_set.split(seed=1)
    made = learn_morphbpe(load_tokeniser("demo:en"), rest, MorphBPESettings())
    tally = Tally(outcome_of(made.segmenter, kept), "morphemic", "types")
    [f1] = rows[rows["words"] == "kept aside 0.2 by families"]["value"]
    assert f1 == METRICS["f1"].of(tally).value
