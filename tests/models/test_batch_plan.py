"""Batches of a training: every example once a pass, texts of a length together, by the seed."""

from __future__ import annotations

from collections import Counter

import numpy as np

from morphgraph.models.downstream.task import TrainingSettings
from morphgraph.models.downstream.training import batch_plan, in_batches, last_checkpoint

LENGTHS = np.array([3, 9, 4, 8, 5, 7, 6])


def settings(**given: object) -> TrainingSettings:
    return TrainingSettings(**{"train": ["a"], "test": ["b"], "batch_size": 2, **given})


def test_each_pass_has_every_example_once() -> None:
    plan = batch_plan(LENGTHS, settings(epochs=2.0), seed=1)
    assert len(plan) == 8
    for number, part in enumerate((plan[:4], plan[4:])):
        assert Counter(key for batch in part for key in batch) == Counter(
            (index, number) for index in range(7)
        )
    # All fit into one pool, so neighbours in length are in one batch.
    pairs = [sorted(LENGTHS[[index for index, _ in batch]]) for batch in plan]
    assert all(pair[-1] - pair[0] <= 1 for pair in pairs)


def test_steps_count_batches_over_as_many_passes_as_it_takes() -> None:
    plan = batch_plan(LENGTHS, settings(steps=10), seed=1)
    assert len(plan) == 10
    assert max(number for batch in plan for _, number in batch) == 2
    assert plan == batch_plan(LENGTHS, settings(steps=10), seed=1)
    assert plan != batch_plan(LENGTHS, settings(steps=10), seed=2)
    assert len(batch_plan(LENGTHS, settings(epochs=0.5), seed=1)) == 2


def test_measuring_goes_through_all_of_them() -> None:
    assert [index for keys in in_batches(LENGTHS, 3) for index, _ in keys] == [0, 2, 4, 6, 5, 3, 1]


def test_only_whole_checkpoints_count(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for step, state in ((5, "{}"), (20, "{}"), (30, '{"cut'), (40, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    found = last_checkpoint(tmp_path)
    assert found is not None and found.name == "checkpoint-20"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-20", "checkpoint-5"]
