"""Edits learned again without the words scored, held against learning so at once."""

from typing import Any

import pytest

import morphgraph as mg
from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.recipe import read_recipe, replay, write_recipe
from morphgraph.refine import KnockoutSettings, ReBPESettings
from morphgraph.refine.held_out import held_out
from morphgraph.refine.knockout import knock_out
from morphgraph.refine.learning import remember
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import BpeTokeniser

DRAWN = {"holdout": 0.2, "seed": 1}
LOADED = load_tokeniser("demo:de")
GOLD = mg.read_gold("demo:de")


def learned(hand: bool, phases: int | None, **settings: Any) -> BpeTokeniser:
    """A type knocked out by hand, and so many phases of ReBPE, or all; with another by hand."""
    edited = LOADED.fork()
    if hand:
        edited.graph.knockout(["ung"])
    run = ReBPERun(edited, Benchmark.on(GOLD, edited), ReBPESettings(**settings))
    if phases is None:
        run.finish()
    for number in range(phases or 0):
        run.step()
        if hand and number == 2:
            edited.graph.knockout(["en"])
    return edited


@pytest.mark.parametrize("hand", [False, True])
@pytest.mark.parametrize("phases", [2, 5, None])
def test_a_run_is_learned_again_as_far_as_it_went(hand: bool, phases: int | None) -> None:
    found = held_out(learned(hand, phases, seed=1), GOLD)
    wanted = learned(hand, phases, **DRAWN)
    assert found.tokeniser.graph.state == wanted.graph.state
    assert found.scored.drawn == "holdout 0.2 seed 1"
    seen = set(GOLD.texts) - set(found.scored.texts)
    assert len(found.scored) == round(0.2 * (len(seen) + len(found.scored)))


def test_a_knockout_and_then_a_run_from_a_recipe() -> None:
    """How edits were learned is in their recipe; what an edit left is judged without the words."""

    def edited(**drawn: Any) -> BpeTokeniser:
        made = LOADED.fork()
        knock_out(made, Benchmark.on(GOLD, made), KnockoutSettings(threshold=0.7, **drawn))
        ReBPERun(made, Benchmark.on(GOLD, made), ReBPESettings(anneal=False, **drawn)).finish()
        return made

    made, again = edited(), LOADED.fork()
    recipe = write_recipe(made)
    replay(again, read_recipe(recipe, "recipe.json"), "recipe.json")
    assert again.graph.recipe() == made.graph.recipe()
    found = held_out(again, GOLD, 0.2, 1)
    assert found.tokeniser.graph.state == edited(**DRAWN).graph.state
    before, after = found.scores("morphemic", "types")
    assert before.f1 < after.f1


def test_what_cannot_be_learned_again() -> None:
    made = LOADED.fork()
    made.graph.knockout(["ung"])
    with pytest.raises(MorphGraphError, match="do not say how they were learned"):
        held_out(made, GOLD)
    remember(made, GOLD, ReBPESettings(**DRAWN))
    assert held_out(made, GOLD).scored.drawn == "holdout 0.2 seed 1", "it has not seen these"
