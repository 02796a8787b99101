"""Pairs, numbers and entities are trained on; the best of a grid is measured, also after a kill."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphgraph.batch.downstream import TASKS, Measured, TaskRun
from morphgraph.batch.plan import make_plan
from morphgraph.core.errors import MorphGraphError
from morphgraph.segment.models import load_segmenter
from morphgraph_models.downstream import choosing
from morphgraph_models.downstream.choosing import choice_text, fitted_on_best
from morphgraph_models.downstream.classification import ClassificationSettings
from morphgraph_models.downstream.examples import TaskParts
from morphgraph_models.downstream.fitting import Fitted
from morphgraph_models.downstream.model_task import ModelRun
from morphgraph_models.downstream.token_ids import dense_ids

WORDS = ("house", "garden", "river", "winter", "letter", "summer")
FILES: dict[str, Any] = {"train": ["a"], "test": ["b"]}
GRID: dict[str, Any] = {"learning_rate": [0.1, 0.2, 0.3], "batch_size": [4, 8]}


def test_choices_are_the_grid_or_drawn_from_it() -> None:
    settings = ClassificationSettings(**FILES, development=["c"], search=GRID)
    every = settings.choices(seed=1)
    assert [choice_text(each) for each in every[:2]] == [
        "learning_rate=0.1, batch_size=4",
        "learning_rate=0.1, batch_size=8",
    ]
    assert (len(every), settings.trainings) == (6, 6)
    some = settings.changed(draws=4)
    assert len(some.choices(1)) == some.trainings == 4
    assert some.choices(1) == some.choices(1) != some.choices(2)
    assert settings.changed(draws=99).choices(3) == every
    assert settings.chosen(every[1]).batch_size == 8


@pytest.mark.parametrize(
    ("task", "given", "message"),
    [
        ("classification", {"search": GRID}, "a search needs development data"),
        ("tagging", {"draws": 3}, "draws are of a search"),
        ("regression", {"development": ["c"], "development_share": 0.1}, "Leave one out"),
        (
            "tagging",
            {"development": ["c"], "search": {"epochs": [0]}},
            "epochs=0 does not fit. Give a number above 0, up to 10000",
        ),
        ("tagging", {"development": ["c"], "search": {"steps": [1]}}, "search"),
        ("tagging", {"choose_by": "entity_f1"}, "universal tags mark no entities"),
        ("regression", {"label": "text"}, "stand in one column"),
        ("classification", {"text": ["a", "b", "c"]}, "text"),
    ],
)
def test_settings_that_do_not_fit(task: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(MorphGraphError, match=message):
        TASKS[task].parameters(**FILES, **given)


def test_the_best_is_chosen_and_a_killed_run_trains_no_more_than_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a training that is only told its rate, which is also its score; 0.3 has none."""
    trained: list[float] = []

    def fitted(run: ModelRun, kind: str, made: Any, folder: Path | None = None) -> Fitted:
        trained.append(run.settings.learning_rate)
        if len(trained) == 2:
            raise KeyboardInterrupt
        return Fitted(run.settings.learning_rate, 1, 1, 1.0)

    def measure(model: float, examples: Any, prefix: str) -> Sequence[Measured]:
        value = np.nan if model == 0.3 else model
        return [Measured(f"{prefix}macro_f1", value, len(examples))]

    monkeypatch.setattr(choosing, "fitted_on", fitted)
    search = {"learning_rate": [0.2, 0.1, 0.3]}
    settings = ClassificationSettings(**FILES, development=["c"], search=search)
    segmenter = load_segmenter("demo:en")
    parts = TaskParts((), (), development=("x", "y"))
    run = ModelRun(segmenter, parts, settings, 0, tmp_path, ids=dense_ids(segmenter))
    with pytest.raises(KeyboardInterrupt):
        fitted_on_best(run, "classification", lambda *_: None, measure)  # type: ignore[arg-type,return-value]
    best, told = fitted_on_best(run, "classification", lambda *_: None, measure)  # type: ignore[arg-type,return-value]
    assert best.model == 0.2
    assert trained == [0.2, 0.1, 0.1, 0.3, 0.2]  # the best one's model was lost, its score was not
    assert told[0][:3] == ("development_macro_f1", 0.2, 2)
    chosen = {each.variant: each.value for each in told if each.metric == "chosen"}
    assert chosen == {"learning_rate=0.2": 1, "learning_rate=0.1": 0, "learning_rate=0.3": 0}


# ------------------------------------------------------------------------------ trained


def measured(task: str, folder: Path, **given: Any) -> dict[tuple[str, str], float]:
    entry = TASKS[task]
    settings = entry.parameters(**given)
    folder.mkdir(exist_ok=True)
    run = TaskRun(load_segmenter("demo:en"), entry.read(settings), settings, 0, folder)
    found = list(entry.run(run))
    assert {each.metric for each in found} <= {*entry.metrics}
    return {(each.metric, each.variant): each.value for each in found}


def table(path: Path, rows: Sequence[Sequence[object]], header: str) -> list[str]:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    return [str(path)]


@pytest.mark.models
def test_whether_two_texts_are_alike_is_learned(tmp_path: Path) -> None:
    pytest.importorskip("torch")

    def rows(count: int, seed: int) -> list[tuple[object, ...]]:
        draw = random.Random(seed)
        pairs = [(draw.choice(WORDS[:3]), draw.choice(WORDS[:3])) for _ in range(count)]
        return [(a, b, int(a == b)) for a, b in pairs]

    given: dict[str, Any] = {
        "train": table(tmp_path / "train.csv", rows(600, 1), "one,two,same"),
        "test": table(tmp_path / "test.csv", rows(60, 2), "one,two,same"),
        "text": ["one", "two"],
        "label": "same",
        "learning_rate": 2e-3,
        "batch_size": 16,
    }
    found = measured("regression", tmp_path / "run", **given, epochs=4)
    assert found["pearson", ""] > 0.8
    assert set(found) >= {("spearman", ""), ("training_steps", "")}
    two = {**given, "steps": 2, "development_share": 0.1, "noise": 0.3}
    found = measured("classification", tmp_path / "two", **two, noise_in=["words", "spaces"])
    assert set(found) >= {
        (f"{prefix}{metric}", "")
        for prefix in ("", "development_", "noisy_", "unspaced_")
        for metric in ("accuracy", "macro_f1", "mcc")
    }


@pytest.mark.models
def test_only_a_model_that_has_segments_is_told_of_them(tmp_path: Path) -> None:
    """Otherwise a RoBERTa would fail on the second one."""
    transformers = pytest.importorskip("transformers")
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.RobertaConfig(
        vocab_size=8000, intermediate_size=16, type_vocab_size=1, **shape
    )
    transformers.RobertaForMaskedLM(config).save_pretrained(tmp_path / "model")
    rows = [("house", "river", 1), ("river", "house", 2), ("garden", "garden", 3)]
    files = table(tmp_path / "pairs.csv", rows, "one,two,label")
    given: dict[str, Any] = {"train": files, "test": files, "text": ["one", "two"], "steps": 2}
    found = measured("regression", tmp_path / "run", **given, model=str(tmp_path / "model"))
    assert found["training_steps", ""] == 2


@pytest.mark.models
def test_entities_are_learned_with_the_best_of_a_grid(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    paths = {}
    for name, count, seed in (("train", 200, 1), ("development", 40, 2), ("test", 40, 3)):
        draw, lines = random.Random(seed), []
        for _ in range(count):
            picked = draw.choices(WORDS, k=4)
            lines += [f"{word} X {'I-PER' if word == 'river' else 'O'}" for word in picked] + [""]
        (tmp_path / name).write_text("\n".join(lines))
        paths[name] = [str(tmp_path / name)]
    search = {"learning_rate": [1e-9, 3e-3]}
    found = measured(
        "tagging",
        tmp_path / "run",
        **paths,
        tags="entities",
        search=search,
        steps=30,
        batch_size=16,
    )
    assert found["entity_f1", ""] > 0.8
    assert found["chosen", "learning_rate=0.003"] == 1
    assert found["development_entity_f1", ""] == found["tried", "learning_rate=0.003"]
    assert found["tried", "learning_rate=1e-09"] < found["tried", "learning_rate=0.003"]


@pytest.mark.models
def test_words_are_classified_by_their_gold(tmp_path: Path) -> None:
    """As Superbizarre's files are: single words, a score and a label."""
    pytest.importorskip("torch")
    prefixes, stems = ("un", "re", "over"), ("desirable", "building", "reading", "writing")
    rows = [(p + s, 0.5, int(p == "un")) for p in prefixes for s in stems]
    given: dict[str, Any] = dict.fromkeys(
        ("train", "test"), table(tmp_path / "arxiv.csv", rows, "derivative,score,label")
    )
    gold = "".join(f"{p}{s}\t{p} {s}\n" for p in prefixes for s in stems)
    (tmp_path / "gold.tsv").write_text(gold)
    given |= {"text": ["derivative"], "steps": 40, "learning_rate": 2e-3}
    found = measured("classification", tmp_path / "run", **given, gold=str(tmp_path / "gold.tsv"))
    assert found["accuracy", ""] > 0.9


YAML = """\
name: mine
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
downstream:
  - task: classification
    train: pairs.csv
    test: pairs.csv
    text: [one, two]
    development_share: 0.5
    search: {learning_rate: [0.001, 0.002], epochs: 2}
    choose_by: mcc
"""


def test_a_grid_is_planned_and_makes_a_cell_dearer(tmp_path: Path) -> None:
    rows = [("house", "river", label) for label in "abababab"]
    table(tmp_path / "pairs.csv", rows, "one,two,label")
    (cell,) = make_plan(YAML, "mine.yaml", tmp_path).cells
    half = YAML.replace("[0.001, 0.002]", "0.001")
    (cheaper,) = make_plan(half, "mine.yaml", tmp_path).cells
    assert cell.cost == pytest.approx(2 * cheaper.cost)
    assert cell.key != cheaper.key
