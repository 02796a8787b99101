"""Learning from some families of words, and scoring on the others: one meaning everywhere."""

import json

import pytest

import morphgraph as mg
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.families import Part
from morphgraph.refine.learning import (
    Entrant,
    LearnedSource,
    has_seen,
    kept_from,
    learned_sources,
    unseen_part,
)

REST, KEPT = (Part(side, 0.2, 0, "families") for side in ("rest", "kept"))
LEARN = {
    "knockout": lambda t, gold, **how: t.knock_out(gold, **how).tokeniser,
    "rebpe": lambda t, gold, **how: t.rebpe(gold, iterations=2, **how).tokeniser,
}


def saved(made, folder, name="saved.json"):
    """What the file says that it has learned from, not the object."""
    made.save(folder / name)
    return load_tokeniser(folder / name)


@pytest.mark.parametrize("how", LEARN)
def test_all_learn_from_the_rest_as_if_there_were_no_other_words(tokeniser, gold, how):
    train, test = gold.split()
    made = LEARN[how](tokeniser, gold)
    assert (
        made
        == LEARN[how](tokeniser, train, holdout=0)
        == LEARN[how](tokeniser, train.subset(range(len(train))), holdout=0)
    )
    assert made != LEARN[how](tokeniser, gold, holdout=0)
    assert made != LEARN[how](tokeniser, gold, seed=1)
    assert LEARN[how](tokeniser, gold, seed=1) == LEARN[how](
        tokeniser, gold.split(seed=1)[0], holdout=0
    )
    assert made.score(gold).f1 == made.score(test).f1, "on the words that it has not seen"


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_types_removed_at_each_holdout_are_those_that_the_rest_blames(language):
    tokeniser, gold = mg.load(f"demo:{language}"), mg.read_gold(f"demo:{language}")
    removed = {}
    for holdout in (0, 0.2, 0.5):
        train = gold.split(holdout)[0] if holdout else gold
        removed[holdout] = tokeniser.knock_out(gold, holdout=holdout).removed
        assert list(removed[holdout]) == tokeniser.blame(train).types(0.5)
    assert len(removed[0]) > len(removed[0.2]) > len(removed[0.5]) > 50
    if language == "en":
        assert [len(each) for each in removed.values()] == [274, 231, 159]


def test_scores_are_those_of_the_words_kept_aside(tokeniser, gold):
    train, test = gold.split()
    for made in (tokeniser.knock_out(gold), tokeniser.rebpe(gold, iterations=2)):
        assert (made.scored.gold.texts, made.learned.gold.texts) == (test.texts, train.texts)
        for effect, on in ((made.scored, test), (made.learned, train)):
            assert effect.before.f1 == tokeniser.score(on).f1
            assert effect.after.f1 == made.tokeniser.score(on).f1
        assert (made.before.f1, made.after.f1) == (made.scored.before.f1, made.scored.after.f1)
        counts = [sum(map(len, each.segment(test.texts))) for each in (tokeniser, made.tokeniser)]
        assert made.tokens_added == pytest.approx(counts[1] / counts[0] - 1)
        assert not made.is_held_in
    run = tokeniser.rebpe(gold, iterations=2)
    assert run.phases[0].score.f1 == pytest.approx(run.before.f1)
    assert run.phases[-1].score.f1 == pytest.approx(run.after.f1)


def test_whole_words_and_tokens_are_kept_aside_alike(tokeniser):
    gold = mg.read_gold("demo:en", frequencies="wordfreq:en")
    train, test = gold.split()
    how = {"scope": "whole-word", "weighting": "tokens"}
    made = tokeniser.knock_out(gold, **how)
    assert list(made.removed) == tokeniser.blame(train, **how).types()
    assert made.after.f1 == made.tokeniser.score(test, **how).f1
    curve = tokeniser.thresholds(gold, thresholds=[0.5], **how)
    assert curve.points[0].removed == len(made.removed)
    assert curve.points[0].f1 == pytest.approx(made.after.f1)
    assert curve.learned[0].f1 == pytest.approx(made.learned.after.f1)


@pytest.mark.parametrize("how", LEARN)
def test_a_saved_file_says_what_it_has_learned_from(tokeniser, gold, how, tmp_path):
    train, test = gold.split()
    found = saved(LEARN[how](tokeniser, gold), tmp_path)
    assert learned_sources(found) == [LearnedSource("demo:en", gold.reference.checksum, (REST,))]
    assert [has_seen(found, each) for each in (gold, train, test)] == [True, True, False]
    assert kept_from(found, gold) == KEPT
    other = mg.read_gold("demo:de")
    assert not has_seen(found, other) and kept_from(found, other) is None


def test_nested_splits(tokeniser, gold, tmp_path):
    train, test = gold.split()
    inner, deciding = train.split(0.25)
    found = saved(tokeniser.knock_out(train, holdout=0.25).tokeniser, tmp_path)
    assert found.graph.types == load_tokeniser(tmp_path / "saved.json").graph.types
    seen = [has_seen(found, each) for each in (gold, train, test, inner, deciding)]
    assert seen == [True, True, False, True, False]
    assert kept_from(found, gold) is None, "no one split of it all"
    assert not has_seen(found, test.split()[0]), "a part of what was kept aside first"
    assert has_seen(found, gold.split(seed=3)[1]), "other words"


def test_by_words_and_all(tokeniser, gold, tmp_path):
    train, test = gold.split(0.3, 2, "words")
    found = saved(tokeniser.knock_out(train, holdout=0).tokeniser, tmp_path)
    assert kept_from(found, gold) == Part("kept", 0.3, 2, "words")
    assert unseen_part([Entrant("a", None, found)], gold).texts == test.texts
    assert not has_seen(found, test) and has_seen(found, gold.split(0.3, 2)[1])
    everything = saved(tokeniser.knock_out(gold, holdout=0).tokeniser, tmp_path)
    assert has_seen(everything, test) and kept_from(everything, gold) is None
    chance = tokeniser.knock_out(gold, holdout=0, select="random").tokeniser
    assert learned_sources(saved(chance, tmp_path)) == [], "it does not look at boundaries"


def test_what_is_undone_has_not_been_learned(gold):
    from morphgraph.refine.knockout import knock_out
    from morphgraph.score.boundaries import Benchmark

    plain = load_tokeniser("demo:en")
    knock_out(plain, Benchmark.on(gold, plain))
    assert has_seen(plain, gold)
    plain.graph.undo()
    assert learned_sources(plain) == [] and not has_seen(plain, gold)
    plain.graph.redo()
    assert has_seen(plain, gold)


def test_two_splits_and_what_all_are_scored_on(tokeniser, gold, tmp_path):
    one = tokeniser.knock_out(gold)
    again, other = one.tokeniser.rebpe(gold, iterations=1), one.tokeniser.knock_out(gold, seed=1)
    assert kept_from(saved(again.tokeniser, tmp_path), gold) == KEPT, "the same words both times"
    assert kept_from(saved(other.tokeniser, tmp_path), gold) is None, "each has seen the other's"
    assert other.is_held_in and other.on == "188 words it learned from"
    test, elsewhere = gold.split()[1], tokeniser.knock_out(gold, seed=1).tokeniser

    def scored_on(**tokenisers):
        html = mg.compare({"plain": tokeniser, **tokenisers}, gold)._repr_html_()
        said = "(scored on the words it learned from)"
        return html, [f"{name} {said}" in html for name in tokenisers]

    html, held_in = scored_on(a=one.tokeniser, b=again.tokeniser)
    assert f"entries:{len(test)}@" in html and held_in == [False, False]
    html, held_in = scored_on(a=one.tokeniser, b=elsewhere)
    assert f"entries:{len(gold)}@" in html and held_in == [True, True]
    html, held_in = scored_on(a=one.tokeniser, b=tokeniser.knock_out(gold, holdout=0).tokeniser)
    assert f"entries:{len(gold)}@" in html and held_in == [True, True]
    html, held_in = scored_on(a=tokeniser.knock_out_types(["able"]).tokeniser)
    assert f"entries:{len(gold)}@" in html and held_in == [False]


def test_comparing_puts_all_columns_on_the_words_kept_aside(tokeniser, gold):
    test = gold.split()[1]
    learned = tokeniser.knock_out(gold).tokeniser
    compared = {
        "BPE": tokeniser,
        "learned": learned,
        "FLOTA": tokeniser.method("flota"),
        "FLOTA of it": learned.method("flota"),
    }
    f1 = mg.compare(compared, gold).to_frame()["f1"].tolist()
    assert f1 == mg.compare(compared, test).to_frame()["f1"].tolist()
    assert f1 == [each.score(test).f1 for each in compared.values()]


@pytest.mark.parametrize("kind", ["knockout", "rebpe", "chosen"])
def test_a_result_prints_and_saves_itself(tokeniser, gold, kind, tmp_path):
    made = {
        "knockout": lambda: tokeniser.knock_out(gold, portable=True),
        "rebpe": lambda: tokeniser.rebpe(gold, iterations=1),
        "chosen": lambda: tokeniser.knock_out_types(["able"]),
    }[kind]()
    told = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert told["vocab_size"] == len(made.tokeniser)
    done = made.save(tmp_path / "out", words=["undesirable"])
    assert done.checked_words == 1
    assert json.loads((tmp_path / "out" / "log.json").read_text("utf-8")) == told
    assert mg.load(tmp_path / "out").segment(["capable"]) == made.tokeniser.segment(["capable"])
    if kind == "chosen":
        assert told["removed"] == ["able"] and made.table().rows[0].names == ("able",)
        return
    assert told["words"] == gold.split()[1].drawn == "kept aside 0.2 by families, seed 0"
    assert told["before"]["entries"] == told["after"]["entries"] == len(made.scored.gold)
    assert told["learned"]["words"] == "without 0.2 by families, seed 0"
    scores = [row for row in told["after"]["scores"] if row["scope"] == "morphemic"]
    assert scores[0]["f1"] == pytest.approx(made.after.f1)
    assert str(made).splitlines()[-1] == told["after"]["signature"]
    if kind == "knockout":
        assert told["removed"] == list(made.removed)
    else:
        assert [row.names[1] for row in made.table().rows] == [p.kind for p in made.phases]
        assert len(told["phases"]) == len(made.to_frame()) == len(made.phases)


def test_a_report_has_no_rows_of_what_the_gold_cannot_say(tokeniser):
    lines = [f"{chr(97 + n)}un\t{chr(97 + n)}undo\tV\tV\tdo\tsuffix\n" for n in range(26)]
    gold = mg.read_gold("".join(lines).encode())
    assert gold.reference.format == "morphynet-derivation"
    for made in (tokeniser.knock_out(gold), tokeniser.rebpe(gold, holdout=0, iterations=1)):
        assert made.scores().rows and "n/a" not in str(made)
        assert {row.names[0] for row in made.scores().rows} == {"morphemic"}
        told = [row["scope"] for row in made.to_dict()["after"]["scores"]]
        assert told == ["morphemic"]
    counted = mg.read_gold("demo:en", frequencies={"able": 3.0})
    found = [row.names for row in tokeniser.knock_out(counted).scores().rows][:4]
    assert found == [(s, w) for s in ("morphemic", "whole-word") for w in ("types", "tokens")]
