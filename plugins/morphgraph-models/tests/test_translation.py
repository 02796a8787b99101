"""Translation: it is learned, with vocabularies of one or two, and tested against a baseline."""

import random
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from refusals import refused

torch = pytest.importorskip("torch")

from morphgraph.batch.downstream import KEPT, TASKS, Measured, TaskRun  # noqa: E402
from morphgraph.batch.plan import make_plan  # noqa: E402
from morphgraph.batch.store import Task, TaskResult, code_version, run_task  # noqa: E402
from morphgraph.segment.models import load_segmenter  # noqa: E402
from morphgraph.segment.training import train  # noqa: E402
from morphgraph_models.downstream.token_ids import ROLES, dense_ids  # noqa: E402

pytestmark = pytest.mark.models

WORDS = ("house", "garden", "river", "winter", "letter", "summer", "table", "water")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the workers of an evaluation do."""
    monkeypatch.setenv("MORPHGRAPH_THREADS", "1")
    torch.set_num_threads(1)


@pytest.fixture
def pairs(tmp_path: Path) -> dict[str, list[str]]:
    """Each word has one translation: the next one in the list, in capitals."""
    paths = {}
    for name, count, seed in (("train", 600, 1), ("test", 30, 2)):
        draw = random.Random(seed)
        texts = [draw.choices(WORDS, k=2) for _ in range(count)]
        moved = [[WORDS[(WORDS.index(word) + 1) % len(WORDS)] for word in text] for text in texts]
        for side, lines in (("x", texts), ("y", moved)):
            (tmp_path / f"{name}.{side}").write_text("\n".join(map(" ".join, lines)))
        paths[name] = [str(tmp_path / f"{name}.{side}") for side in "xy"]
    return paths


def translated(folder: Path, base: Any, retrain: Any = None, **given: Any) -> list[Measured]:
    """What the task measures of a tokeniser."""
    entry = TASKS["translation"]
    settings = entry.parameters(max_tokens=16, **given)
    folder.mkdir()
    data = entry.read(settings)
    run = TaskRun(base, data, settings, 0, folder, base, retrain=retrain)
    return list(entry.run(run))


@pytest.mark.parametrize("vocabularies", ["joint", "separate"])
def test_translation_is_learned(
    tmp_path: Path, pairs: dict[str, list[str]], vocabularies: str
) -> None:
    base = train("bpe", dict.fromkeys(WORDS, 10), 270)
    asked: list[list[str]] = []

    def retrain(files: list[str]) -> Any:
        asked.append(files)
        return train("bpe", dict.fromkeys(WORDS, 10), 280)

    given = {**pairs, "learning_rate": 2e-3, "steps": 200, "vocabularies": vocabularies, "beams": 2}
    found = {each.metric: each for each in translated(tmp_path / "run", base, retrain, **given)}
    assert found["chrf"].value > 80 and isnan(found["chrf"].p)
    assert found["chrf"].low <= found["chrf"].value <= found["chrf"].high
    assert found["uncovered"].value == 0
    assert asked == [pairs["train"][1:]] * (vocabularies == "separate")
    assert (tmp_path / "run" / KEPT).is_file()


def test_what_was_not_trained_here_has_no_second_vocabulary(
    tmp_path: Path, pairs: dict[str, list[str]]
) -> None:
    with refused():
        translated(tmp_path / "run", load_segmenter("demo:en"), **pairs, vocabularies="separate")


def test_two_vocabularies_share_special_ids_alone() -> None:
    from morphgraph_models.downstream.translation import in_one_matrix

    first = dense_ids(train("bpe", {"low": 5, "lower": 2}, 259))
    second = dense_ids(train("bpe", {"widest": 3}, 260))
    source, target = in_one_matrix(first, second)
    assert source.size == target.size == 259 + 260 + len(ROLES)
    assert source.special == target.special
    numbers = np.concatenate([source.numbers, target.numbers])
    assert sorted(numbers.tolist()) == list(range(len(ROLES), source.size))
    assert [*target.by_id.values()] == [*second.by_id.values()]
    (row,), (same,) = target.encode(["widest"])[0], second.encode(["widest"])[0]
    assert [target.by_id[number] for number in row] == [second.by_id[number] for number in same]


def test_translations_are_scored_as_by_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    from morphgraph_models.downstream.translation import translation_scores

    written = ["the cat sat on the mat", "a small house", "nothing"] * 5
    targets = ["the cat sat on a mat", "one small house", "nothing at all"] * 5
    worse = ["the cat", "a house here", "nothing"] * 5
    found = {each.metric: each for each in translation_scores(written, targets, worse)}
    assert found["chrf"].value == pytest.approx(sacrebleu.corpus_chrf(written, [targets]).score)
    assert found["bleu"].value == pytest.approx(sacrebleu.corpus_bleu(written, [targets]).score)
    systems = [("worse", worse), ("written", written)]
    _, scores = PairedTest(systems, {"bleu": BLEU()}, [targets], test_type="bs")()
    assert found["bleu"].p == scores["BLEU"][1].p_value < 0.05
    alone = translation_scores(targets, targets)
    assert alone[0].value == pytest.approx(100) and isnan(alone[0].p)


CELLS = """\
name: mine
languages: [en]
corpora: [{name: both, text: [train.x, train.y]}]
tokenisers:
  - {name: Picky BPE, train: picky, pipeline: plain, vocab_size: [270, 290], threshold: [1.0, 0.9]}
seeds: [0, 1]
downstream:
  - {task: translation, name: words, train: [train.x, train.y], test: [test.x, test.y], steps: 2,
     vocabularies: separate}
"""


def test_each_cell_is_tested_against_the_first_of_its_size_and_seed(
    tmp_path: Path, pairs: dict[str, list[str]]
) -> None:
    tasks = make_plan(CELLS, "mine.yaml", tmp_path).tasks
    cells = [task for task in tasks if task.kind == "cell"]
    by_key = {task.key: task for task in tasks}

    def needed(cell: Task) -> list[Any]:
        return [by_key[key].columns for key in cell.needs if by_key[key].kind == "cell"]

    for cell in cells:
        same = [
            each.columns
            for each in cells
            if all(each.columns[name] == cell.columns[name] for name in ("vocab_size", "seed"))
        ]
        assert needed(cell) == same[:1] * (cell.columns != same[0])
    done: dict[str, TaskResult] = {}

    def run(key: str) -> None:
        if key not in done:
            for need in by_key[key].needs:
                run(need)
            needs = [done[need] for need in by_key[key].needs]
            done[key] = run_task(by_key[key], code_version(), *needs, folder=str(tmp_path / key))
            assert done[key].failure is None

    run(cells[2].key)
    first, second = (parquet.read_table(BytesIO(done[cells[n].key].data)) for n in (0, 2))
    assert isnan(p_value(first)) and 0 < p_value(second) <= 1
    alone = make_plan(CELLS + "tests: false\n", "mine.yaml", tmp_path)
    assert len({len(cell.needs) for cell in alone.cells}) == 1


def p_value(table: pyarrow.Table) -> float:
    """That of chrF, among the rows of a cell."""
    return float(next(row["p"] for row in table.to_pylist() if row["metric"] == "chrf"))
