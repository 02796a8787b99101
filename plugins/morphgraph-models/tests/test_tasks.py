"""Each task learns what is easy to learn, the same again by its seed, and after a kill."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from refusals import refused

torch = pytest.importorskip("torch")

from morphgraph.batch.downstream import TASKS, Measured, TaskRun, steps_in  # noqa: E402
from morphgraph.batch.plan import make_plan  # noqa: E402
from morphgraph.batch.store import Store, code_version, run_task  # noqa: E402
from morphgraph.core.files import demo_gold_path  # noqa: E402
from morphgraph.reference.readers import read_reference  # noqa: E402
from morphgraph.score.gold_set import GoldSet  # noqa: E402
from morphgraph.segment.method import METHODS  # noqa: E402
from morphgraph.segment.models import load_segmenter  # noqa: E402
from morphgraph_models.downstream import fitting  # noqa: E402
from morphgraph_models.downstream.examples import TrainingSettings  # noqa: E402
from morphgraph_models.downstream.model_task import ModelRun  # noqa: E402
from morphgraph_models.downstream.token_ids import dense_ids  # noqa: E402

pytestmark = pytest.mark.models


WORDS = ("house", "garden", "river", "winter", "letter", "summer", "table", "water")
COLOURS = {"red": "warm", "orange": "warm", "blue": "cold", "green": "cold"}


def labelled(path: Path, count: int, seed: int) -> str:
    """Texts of which one word tells the label."""
    draw = random.Random(seed)
    lines = ["text,label"]
    for _ in range(count):
        words = [*draw.choices(WORDS, k=3), draw.choice(list(COLOURS))]
        lines.append(f"{' '.join(draw.sample(words, 4))},{COLOURS[words[3]]}")
    path.write_text("\n".join(lines))
    return str(path)


def sentences(path: Path, count: int, seed: int) -> str:
    """Texts in which each word says what the next one is."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        at = draw.randrange(len(WORDS))
        lines.append(" ".join(WORDS[(at + step) % len(WORDS)] for step in range(5)))
    path.write_text("\n".join(lines))
    return str(path)


def measured(
    task: str, folder: Path, method: str | None = None, seed: int = 0, **given: Any
) -> dict[str, Measured]:
    """What a task measures on the English demo, by metric."""
    entry = TASKS[task]
    settings = entry.parameters(**given)
    parameters = {"p": 0.3} if method == "dropout" else {}
    segmenter = load_segmenter("demo:en", method, **parameters)
    folder.mkdir(exist_ok=True)
    found = entry.run(TaskRun(segmenter, entry.read(settings), settings, seed, folder))
    assert {each.metric for each in found} <= {*entry.metrics}
    return {each.metric: each for each in found}


def scores(found: dict[str, Measured]) -> dict[str, float]:
    """All values but the speed, which is another one each time."""
    return {name: each.value for name, each in found.items() if name != "tokens_per_second"}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the workers of an evaluation do."""
    monkeypatch.setenv("MORPHGRAPH_THREADS", "1")
    torch.set_num_threads(1)


@pytest.fixture
def moods(tmp_path: Path) -> dict[str, object]:
    train = labelled(tmp_path / "train.csv", 400, 1)
    test = labelled(tmp_path / "test.csv", 100, 2)
    return {"train": [train], "test": [test], "learning_rate": 2e-3, "steps": 60}


@pytest.fixture
def chains(tmp_path: Path) -> dict[str, object]:
    train = sentences(tmp_path / "train.txt", 300, 1)
    test = sentences(tmp_path / "test.txt", 50, 2)
    return {"train": [train], "test": [test], "learning_rate": 3e-3, "steps": 60}


@pytest.mark.parametrize("method", [None, "flota", "dropout"])
def test_classes_are_learned(tmp_path: Path, moods: dict[str, object], method: str | None) -> None:
    found = measured("classification", tmp_path / "run", method, **moods, noise=1.0)
    assert found["accuracy"].value > 0.9
    assert found["accuracy"].low <= found["accuracy"].value <= found["accuracy"].high
    assert found["noisy_accuracy"].value < found["accuracy"].value
    assert found["training_steps"].value == 60
    assert found["tokens_per_second"].value > 0


def test_scores_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    from morphgraph_models.downstream.scores import macro_f1

    by_library = partial(metrics.f1_score, average="macro")
    random = np.random.default_rng(0)
    for _ in range(20):
        gold, guess = random.integers(0, 5, 30), random.integers(0, 6, 30)
        assert macro_f1(gold, guess) == pytest.approx(by_library(gold, guess))


@pytest.mark.parametrize("task", ["causal-lm", "masked-lm"])
def test_what_comes_next_is_learned(tmp_path: Path, chains: dict[str, object], task: str) -> None:
    found = measured(task, tmp_path / "run", **chains, curve=[0, 1, 60, 1000])
    before = measured(task, tmp_path / "new", **{**chains, "steps": 1, "learning_rate": 1e-9})
    # To know the first word of eight is to know all: 3 bits in about 33 characters.
    assert found["bits_per_character"].value < 0.4 * before["bits_per_character"].value
    assert found["bits_per_byte"].value == found["bits_per_character"].value  # all of it is ASCII
    assert found["validation_loss"].step == 60  # the last one that was reached
    if task == "causal-lm":
        assert found["validation_bits"].value == pytest.approx(found["bits_per_character"].value)
    else:
        assert found["pseudo_perplexity"].value < 0.1 * before["pseudo_perplexity"].value


TEXTS = ["house garden", "unbelievable rivers and winters and letters and summers", "a"]


@pytest.mark.parametrize("task", ["causal-lm", "masked-lm"])
def test_losses_are_those_of_the_model(tmp_path: Path, task: str) -> None:
    """By the model's own loss, text by text, a masked token at a time."""
    from morphgraph_models.downstream.fitting import make_model
    from morphgraph_models.downstream.language_models import texts_measured
    from morphgraph_models.downstream.windows import MaskedWindows, Windows, text_losses

    segmenter = load_segmenter("demo:en")
    ids = dense_ids(segmenter)
    settings = TrainingSettings(train=["a"], test=["b"], max_tokens=8)
    run = ModelRun(segmenter, None, settings, 1, tmp_path, ids=ids)
    windows = (MaskedWindows if task == "masked-lm" else Windows).of(TEXTS, ids, 8)
    model = make_model(windows.kind, run).eval()
    assert len(windows.draws[0]) > len(TEXTS)
    expected, predicted = np.zeros(3), np.zeros(3)
    for row, text in zip(windows.draws[0], windows.texts, strict=True):
        inputs = torch.from_numpy(row)[None]
        if task == "causal-lm":
            loss = model(input_ids=inputs, labels=inputs).loss.item()
            expected[text] += loss * (len(row) - 1)
            predicted[text] += len(row) - 1
            continue
        for place in range(1, len(row) - (row[-1] == ids.special["eos"])):
            shown = inputs.clone()
            shown[0, place] = ids.special["mask"]
            logs = model(input_ids=shown).logits[0, place].log_softmax(0)
            expected[text] -= logs[row[place]].item()
            predicted[text] += 1
    found = text_losses(model, windows, 2, each_once=True)
    assert found.nats == pytest.approx(expected, rel=1e-5)
    assert found.predicted.tolist() == predicted.tolist()
    told = {each.metric: each.value for each in texts_measured(model, windows, TEXTS, 2)}
    if task == "masked-lm":
        perplexity = np.exp(expected.sum() / predicted.sum())
        assert told["pseudo_perplexity"] == pytest.approx(perplexity, rel=1e-5)
        losses = text_losses(model, windows, 2, each_once=False)
        assert (losses.predicted > 0).all() and (losses.predicted <= predicted).all()


def test_masks_spare_the_ends_and_differ_by_epoch() -> None:
    from morphgraph_models.downstream.windows import MaskedWindows

    ids = dense_ids(load_segmenter("demo:en"))
    windows = MaskedWindows.of(["house garden river " * 20], ids, 512, masked=0.3)
    (row,) = windows.draws[0]
    masked = []
    for epoch in (0, 1, 0):
        batch = windows.batch([(0, epoch)])
        labels, shown = batch["labels"][0].numpy(), batch["input_ids"][0].numpy()
        at = labels != fitting.IGNORED
        assert not at[0] and not at[-1] and 0.15 < at.mean() < 0.45
        assert (labels[at] == row[at]).all() and (shown[~at] == row[~at]).all()
        assert (shown[at] == ids.special["mask"]).mean() > 0.6
        masked.append(at.tolist())
    assert masked[0] == masked[2] != masked[1]
    # A window of the end alone still has something to predict.
    assert (MaskedWindows.of([""], ids, 8).batch([(0, 0)])["labels"] != fitting.IGNORED).any()


def test_the_same_seed_gives_the_same_and_another_does_not(
    tmp_path: Path, chains: dict[str, object]
) -> None:
    short = {**chains, "steps": 15}
    first, again, other = (
        scores(measured("causal-lm", tmp_path / name, seed=seed, **short))
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    assert first == again != other


def test_a_killed_training_goes_on_from_its_checkpoint(
    tmp_path: Path, chains: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = "causal-lm"
    given = {**chains, "steps": 30}
    whole = scores(measured(task, tmp_path / "whole", **given))
    monkeypatch.setattr(fitting, "CHECKPOINT_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "padded", killed_after(50))
        with pytest.raises(KeyboardInterrupt):
            measured(task, tmp_path / "run", **given)
    last = fitting.last_checkpoint(tmp_path / "run")
    assert last is not None and 10 < int(last.name.rpartition("-")[2]) < 30
    assert scores(measured(task, tmp_path / "run", **given)) == whole


def killed_after(batches: int) -> Callable[[Any, int], Any]:
    """What makes tensors, and is interrupted at one of them."""
    seen: list[int] = []

    def padded(rows: Any, filler: int) -> Any:
        seen.append(filler)
        if len(seen) == batches:
            raise KeyboardInterrupt
        return original(rows, filler)

    original = fitting.padded
    return padded


def test_it_ends_in_time(tmp_path: Path, moods: dict[str, object]) -> None:
    given = {**moods, "steps": 100_000, "learning_rate": 1e-9, "time_budget": 1.0}
    found = measured("classification", tmp_path / "run", **given)
    assert 1 <= found["training_steps"].value < 10_000


@pytest.mark.parametrize("method", [None, "flota"])
def test_a_checkpoint_is_fine_tuned(
    tmp_path: Path, moods: dict[str, object], method: str | None
) -> None:
    from transformers import BertConfig, BertForMaskedLM

    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(vocab_size=8000, intermediate_size=64, **shape)
    BertForMaskedLM(config).save_pretrained(tmp_path / "model")
    found = measured(
        "classification", tmp_path / "run", method, **moods, model=str(tmp_path / "model")
    )
    assert found["accuracy"].value > 0.8


def test_a_checkpoint_without_padding_is_fine_tuned(
    tmp_path: Path, moods: dict[str, object]
) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    shape = {"n_embd": 32, "n_layer": 1, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    GPT2LMHeadModel(GPT2Config(vocab_size=8000, **shape)).save_pretrained(tmp_path / "model")
    given = {**moods, "steps": 2, "model": str(tmp_path / "model")}
    found = measured("classification", tmp_path / "run", **given)
    assert found["training_steps"].value == 2


def test_a_folder_of_another_kind_is_refused(tmp_path: Path, chains: dict[str, object]) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text('{"vocab_size": 8000, "model_type": "x"}')
    with refused():
        measured("causal-lm", tmp_path / "run", **chains, model=str(tmp_path / "model"))


def test_tags_are_learned(tmp_path: Path) -> None:
    """A word of an odd place in the list is a noun, one of an even place a verb."""
    paths = []
    for name, seed in (("train", 1), ("test", 2)):
        draw = random.Random(seed)
        blocks = []
        for _ in range(150):
            words = draw.choices(WORDS, k=4)
            tags = ["NOUN" if WORDS.index(word) % 2 else "VERB" for word in words]
            rows = [
                f"{n}\t{w}\t_\t{t}\t_\t_\t_\t_\t_\t_"
                for n, (w, t) in enumerate(zip(words, tags, strict=True), 1)
            ]
            blocks.append("\n".join(rows) + "\n")
        (tmp_path / f"{name}.conllu").write_text("\n".join(blocks))
        paths.append([str(tmp_path / f"{name}.conllu")])
    train, test = paths
    given = {"train": train, "test": test, "learning_rate": 3e-3, "steps": 40}
    found = measured("tagging", tmp_path / "run", **given)
    assert found["tagging_accuracy"].value > 0.9
    assert found["tagging_accuracy"].entries == 600


def test_a_cut_off_word_counts_as_wrong(tmp_path: Path) -> None:
    block = "".join(
        f"{n}\thouse\t_\t{'NOUN' if n % 2 else 'VERB'}\t_\t_\t_\t_\t_\t_\n" for n in range(1, 41)
    )
    (tmp_path / "a.conllu").write_text(block)
    files = [str(tmp_path / "a.conllu")]
    found = measured("tagging", tmp_path / "run", train=files, test=files, steps=1, max_tokens=12)
    assert found["tagging_accuracy"].value <= 10 / 40
    assert found["tagging_accuracy"].entries == 40


@pytest.mark.parametrize("masked", [None, 0.15])
def test_a_model_is_carried_over_and_trained_further(
    tmp_path: Path, chains: dict[str, object], masked: float | None
) -> None:
    base = load_segmenter("demo:en")
    gold = GoldSet.of(read_reference(demo_gold_path("en")))
    method = METHODS["rebpe"]
    assert method.learn is not None
    portable = method.settings({"portable": True})
    learned = method.learn(base.tokeniser, gold, portable).segmenter
    entry = TASKS["transplant"]
    starts = ["mean", "mean+median", "hewitt", "scratch"]
    given = {**chains, "steps": 30, "then": 10, "curve": [0, 10], "starts": starts}
    given |= {"masked": masked}
    with refused():
        entry.parameters(**given)
    settings = entry.parameters(**given, tied=False)
    folder = tmp_path / "run"
    folder.mkdir()
    run = TaskRun(learned, entry.read(settings), settings, 3, folder, base)
    found = {(each.metric, each.variant, each.step): each.value for each in entry.run(run)}
    bits = {key[1:]: value for key, value in found.items() if key[0] == "bits_per_character"}
    assert len(bits) == 4 * 2
    for start in starts[:-1]:
        assert bits[f"start={start}", 0] < bits["start=scratch", 0]
        assert bits[f"start={start}", 10] < bits["start=scratch", 10]
    assert bits["start=scratch", 10] < bits["start=scratch", 0]
    # What is kept in the folder is measured once; the rest goes on from there.
    again = {(each.metric, each.variant, each.step): each.value for each in entry.run(run)}
    assert again == found
    same = TaskRun(base, run.examples, settings, 3, tmp_path / "same", base)
    same.folder.mkdir()
    # Nothing is carried over where nothing has changed.
    assert {each.variant for each in entry.run(same)} == {"start=as it was"}


def test_a_cell_whose_worker_was_killed_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checkpoints lie in the run's folder until its result is kept."""
    sentences(tmp_path / "train.txt", 200, 1)
    sentences(tmp_path / "test.txt", 20, 2)
    plan = make_plan(CELL, "mine.yaml", tmp_path)
    (cell,) = plan.cells
    need = run_task(plan.tasks[0], code_version())
    monkeypatch.setattr(fitting, "CHECKPOINT_SECONDS", 0.0)
    whole = run_task(cell, code_version(), need, folder=str(tmp_path / "undisturbed"))
    assert whole.failure is None and not (tmp_path / "undisturbed").exists()
    with Store(tmp_path / "run") as store:
        place = store.checkpoints(cell.key)
        with monkeypatch.context() as patch:
            patch.setattr(fitting, "padded", killed_after(40))
            with pytest.raises(KeyboardInterrupt):
                run_task(cell, code_version(), need, folder=str(place))
        assert fitting.last_checkpoint(place) is not None
        done, total = steps_in(place) or (0, 0)
        assert (0 < done < 25, total) == (True, 25)
        found = run_task(cell, code_version(), need, folder=str(place))
        assert rows(found.data) == rows(whole.data)
        place.mkdir(parents=True)
        store.keep(cell.key, found.data)
        assert not (tmp_path / "run" / "checkpoints").exists()


CELL = """\
name: mine
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
downstream:
  - {task: causal-lm, train: train.txt, test: test.txt, steps: 25, learning_rate: 0.003}
"""


def rows(data: bytes) -> list[str]:
    """The rows of a cell as text, but for its speed."""
    table = parquet.read_table(pyarrow.BufferReader(data)).to_pylist()
    return [str(row) for row in table if row["metric"] != "tokens_per_second"]
