"""ReBPE, phase by phase, is what the naive oracle says, on random tokenisers and references."""

import random
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import oracles
import pytest
import rebpe_oracle
from effort import examples
from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st
from rebpe_oracle import Entry, Settings, State
from small import small_reference, small_tokeniser
from strategies import MERGES, check_graph, observed, well_formed

from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.segment.training import train_bpe
from morphgraph.tokeniser.merging import segment

HYPHENS = {"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": False}
SIZES = {"medium": (200, 600), "large": (1900, 2000)}
"""Numbers of types."""


@dataclass(frozen=True)
class Case:
    """A tokeniser, a reference, as lines of morphs, with counts, and the settings of a run."""

    merges: tuple[tuple[str, ...], ...]
    alphabet: str
    document: dict[str, Any]
    lines: tuple[str, ...]
    counts: tuple[int, ...]
    settings: dict[str, Any]
    aside: frozenset[int] = frozenset()
    """Lines that are scored only; all are learned from, and scored, if there are none."""

    def run(self, tokeniser):
        """The library's run of it."""
        gold = GoldSet.of(small_reference(*self.lines, counts=self.counts))
        sides = (
            gold.subset(np.array([n for n in range(len(gold)) if (n in self.aside) is aside]))
            for aside in (False, True)
        )
        learned, scored = sides if self.aside else (gold, gold)
        benchmark = Benchmark.on(learned, tokeniser)
        on = Benchmark.on(scored, tokeniser) if self.aside else None
        return ReBPERun(tokeniser, benchmark, ReBPESettings(**self.settings), on)


def language(source, size):
    """Distinct words as lists of morphemes: a few of these are frequent, most are not."""
    letters = "abcdefghij"[: source.randint(3, 10)]
    many, words = {"tiny": (6, 15), "medium": (40, 250), "large": (150, 1500)}[size]
    morphemes = ["".join(source.choices(letters, k=source.randint(1, 5))) for _ in range(many)]
    weights = [1 / (rank + 1) for rank in range(many)]
    found = [source.choices(morphemes, weights, k=source.randint(1, 5)) for _ in range(words)]
    if source.random() < 0.3:
        found = [[*word, *source.choice([["-"], [], []])] for word in found]
        found = [[*word, *source.choice(found)] if word[-1] == "-" else word for word in found]
    return [list(word) for word in dict.fromkeys(tuple(word) for word in found)]


def gold_line(source, word, strange):
    """A word as a line of a reference: mostly its morphemes, and sometimes whole words."""
    morphs = [source.choice(strange) + morph if source.random() < 0.03 else morph for morph in word]
    for at in range(len(morphs) - 1, 0, -1):
        if source.random() < 0.2:  # the reference does not see this boundary
            morphs[at - 1 : at + 1] = ["".join(morphs[at - 1 : at + 1])]
    line = " ".join(morphs)
    if source.random() < 0.6:
        whole = re.sub(" ", lambda gap: source.choice([" ", ""]), line)
        line += f" / {whole}"
    return line


def draw_settings(data, types):
    """Every switch, most of them mostly as they are by default."""
    mostly = st.sampled_from([True, True, True, False])
    often = st.sampled_from([True, True, False])
    rarely = st.sampled_from([False, False, False, True])
    small = st.sampled_from([0, 0, 0, max(0, types - 3), types // 2, types * 9 // 10, types + 5])
    large = st.sampled_from([None, None, None, 0, types, types + 1, types + 4, types + 20])
    return {
        "anneal": data.draw(mostly),
        "repair": data.draw(st.booleans()),
        "link": data.draw(often),
        "expand": data.draw(often),
        "cascade": data.draw(rarely),
        "iterations": data.draw(st.sampled_from([10, 10, 10, 1, 2, 0])),
        "threshold": data.draw(st.sampled_from([0.5, 0.5, 0.5, 0.3, 0.9, 1.0, 0.0])),
        "minimum_vocabulary": data.draw(small),
        "maximum_vocabulary": data.draw(large),
        "scope": data.draw(st.sampled_from(["morphemic", "morphemic", "whole-word"])),
        "weighting": data.draw(st.sampled_from(["types", "tokens"])),
        "tuples_once": data.draw(rarely),
        "minimum_good": data.draw(st.sampled_from([3, 2, 1])),
        "minimum_ratio": data.draw(st.sampled_from([0.8, 0.8, 0.5])),
    }


def trained_case(data, size):
    """A tokeniser trained on words made of morphemes, and a reference of more such words."""
    source = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    words = language(source, size)
    counts = {"".join(word): int(1 / source.uniform(0.002, 1)) for word in words}
    types = source.randint(*SIZES[size])
    trained = train_bpe(counts, vocab_size=types)
    return finished_case(data, source, size, list(trained.merges), trained.alphabet, words)


def finished_case(data, source, size, merges, alphabet, words):
    shown = {"tiny": 12, "medium": 100, "large": 150}[size]
    strange = data.draw(st.sampled_from(["z", "zyx", "xyzé", "".join(alphabet)]))
    chosen = source.sample(words, min(shown, len(words)))
    lines = [gold_line(source, word, strange) for word in chosen]
    unknown = data.draw(st.sampled_from(["", "", "?"]))
    document = {}
    if unknown:
        document = {"unk_token": unknown, "fuse_unk": data.draw(st.booleans())}
    if any("-" in line for line in lines) and data.draw(st.booleans()):
        document["pre_tokenizer"] = HYPHENS
    kept = "".join(alphabet)
    counted = tuple(source.randint(0, 9) for _ in lines)
    switches = draw_settings(data, len(alphabet) + len(merges))
    share = data.draw(st.sampled_from([0.0, 0.0, 0.0, 0.3]))
    aside = frozenset(source.sample(range(len(lines)), round(share * len(lines))))
    return Case(tuple(merges), kept + unknown, document, tuple(lines), counted, switches, aside)


def entries_of(case):
    """The reference as the oracle reads it."""
    whole_words = case.settings["scope"] == "whole-word"
    morphs = [line.partition("/")[2 if whole_words else 0].split() for line in case.lines]
    words = ["".join(line.partition("/")[0].split()) for line in case.lines]
    splits = "pre_tokenizer" in case.document
    return [
        Entry(
            tuple(filter(None, re.split("(-)", word))) if splits else (word,),
            tuple(morphs[i]) or None,
            case.counts[i],
            i not in case.aside,
            i in case.aside or not case.aside,
        )
        for i, word in enumerate(words)
    ]


def expected_phases(case, entries=None):
    merges = oracles.listed(case.merges)
    types = {*case.alphabet}
    for parts in case.merges:
        types.update(parts, ["".join(parts)])
    has_unknown = case.document.get("unk_token") is not None
    fuses = bool(case.document.get("fuse_unk")) if has_unknown else None
    state = State(merges, types, dict.fromkeys(merges, "original"), fuses)
    known = {name: case.settings[name] for name in Settings.__dataclass_fields__}
    return rebpe_oracle.rebpe(state, entries or entries_of(case), Settings(**known))


def strings_of(graph):
    """The merges by rank; no rank is held by two."""
    merges = graph.merges().values()
    found = {m.rank: tuple(graph.types[part] for part in m.parts) for m in merges}
    assert len(found) == len(merges)
    assert list(found) == sorted(found)
    return found


def check_phase(graph, vocabulary_size, phase, expected):
    check_graph(graph)
    assert (phase.kind, phase.iteration) == (expected.kind, expected.iteration)
    assert strings_of(graph) == expected.merges
    assert {graph.types[number] for number in graph.type_ids()} == expected.types
    origins = {merge.rank: graph.origin(number) for number, merge in graph.merges().items()}
    assert origins == expected.origins
    assert {what: n for what, n in phase.counts.items() if n} == expected.counts
    assert {what: n for what, n in phase.removed_by_origin.items() if n} == (
        expected.removed_by_origin
    )
    found = (phase.score.true_positives, phase.score.predicted, phase.score.relevant)
    assert found == pytest.approx(expected.score, rel=1e-12, nan_ok=True)
    assert phase.vocabulary_size == vocabulary_size == len(expected.types)
    assert phase.merges == len(expected.merges)
    misplaced = {graph.types[number] for number in graph.misplaced()}
    assert misplaced == oracles.misplaced(expected.merges)


def check_case(case):
    """Run the case phase by phase beside the oracle, then backwards and forwards."""
    tokeniser = small_tokeniser(case.merges, case.alphabet, **case.document)
    graph = tokeniser.graph
    before = observed(graph)
    run = case.run(tokeniser)
    expected, converged = expected_phases(case)
    # What has a type as a part may precede all its merges if cascade leaves it a later one only, or
    # if it is longer than a character and had no merge until annealing added one.
    plain = all(len(graph.types[n]) == 1 for n in graph.type_ids() if graph.is_atom(n))
    well_placed = plain and not case.settings["cascade"] and not graph.misplaced()
    assert [phase.kind for phase in run.phases] == ["start"]
    for phase_expected in expected:
        phase = run.phases[0] if phase_expected.kind == "start" else run.step()
        check_phase(graph, tokeniser.vocabulary_size, phase, phase_expected)
        assert not (well_placed and graph.misplaced())
    assert run.step() is None
    assert run.finish() == []
    assert [phase.kind for phase in run.phases] == [phase.kind for phase in expected]
    assert run.converged == converged

    after, recipe, edits = observed(graph), graph.recipe(), len(graph.history)
    assert len(recipe) == edits == sum(bool(phase.counts) for phase in expected)
    while graph.history:
        graph.undo()
        check_graph(graph)
    assert observed(graph) == before
    for _ in range(edits):
        graph.redo()
    check_graph(graph)
    assert observed(graph) == after
    assert graph.recipe() == recipe
    fresh = small_tokeniser(case.merges, case.alphabet, **case.document)
    fresh.graph.replay(recipe)
    check_graph(fresh.graph)
    assert strings_of(fresh.graph) == expected[-1].merges
    assert observed(fresh.graph)["origins"].keys() == after["origins"].keys()
    return expected


ANNEALING = ["gh"] * 3 + ["ab"] * 3 + ["cd"] * 4 + ["c d"] + ["ef"] * 4
BLOCKED = "b+c a+b+c d+b+c"
OUT_OF_REACH = "b+c a+b ab+c"
TWO_PAIRS = "e+f a+b+c+d"
UNDO = "u+n d+o un+do i+n in+g undo+ing"
SEEN = ["un do ing", "undo", "un do", "in", "i n", "un in", "do ing", "inz", "un inz", "ing"]
ONLY_KNOCKOUT = {"repair": False, "link": False, "expand": False}

# Merges, lines of the reference, and settings; without annealing unless it is asked for.
SINGLE = [
    # Linking and creating: each of them off, or both; what repair leaves to them.
    (BLOCKED, ["abc", "dbc"], {}),
    (BLOCKED, ["abc"], {"link": False, "expand": False}),
    (BLOCKED, ["abc"], {"repair": False, "link": False}),
    (BLOCKED, ["abc"], ONLY_KNOCKOUT),
    ("a+b+c", ["a"], {"expand": False}),
    # abc has a + bc and, higher, ab + c: only the lowest merge of a type is linked to.
    ("b+c a+bc a+b ab+c ab+c+d", ["a"], {"repair": False, "expand": False}),
    # A pair that overlaps itself; one that is in most merges; one that its merges lost meanwhile.
    ("a+a+a+a+b", ["a"], {}),
    ("b+a+a+a+a+a a+a+c", ["a"], {}),
    ("a+b+c b+c+d x+y+x+y+a", ["a"], {}),
    ("a+b a+b+c+e ab+c+d", ["a"], {"repair": False}),
    # Repair: the parts that stand side by side; one token; merges above do not count.
    ("b+c a+b+c+d a+b+c+d+e e+d+a", ["a"], {"link": False, "expand": False}),
    ("b+c a+bc a+b+c", ["a"], {"link": False, "expand": False}),
    ("a+b+c b+c", ["a"], {"link": False, "expand": False}),
    # Annealing: three good ones and four in five, each by one too few; its order; its room.
    *(
        ("", ["ab"] * good + ["a b"] * bad, {"anneal": True})
        for good, bad in [(2, 0), (3, 0), (3, 1), (4, 1), (7, 2), (15, 4), (16, 4)]
    ),
    *(("a+c", ANNEALING, {"anneal": True, "maximum_vocabulary": n}) for n in (None, 11, 5)),
    (OUT_OF_REACH, ["abc"] * 3, {"anneal": True, "maximum_vocabulary": 6}),
    *(
        (OUT_OF_REACH, ["de"] * 4 + ["abc"] * n, {"anneal": True, "maximum_vocabulary": 8})
        for n in (3, 5)
    ),
    *(("", ["a-bc"] * 3, {"anneal": True, "pre_tokenizer": split}) for split in (HYPHENS, None)),
    *(
        ("", ["ab", "ab", "ab", "z é"], {"anneal": True, "maximum_vocabulary": n, "alphabet": "a"})
        for n in (None, 1)
    ),
    ("", ["ab"] + ["cd"] * 3, {"anneal": True, "weighting": "tokens"}),
    ("", ["a b / ab"] * 3 + ["c d"] * 3, {"anneal": True, "scope": "whole-word"}),
    # The loop: ends by itself, at a limit, just there, and without anything to reify.
    *((TWO_PAIRS, ["ab", "c d"], {"iterations": n}) for n in (1, 2, 3, 10)),
    *(("a+b ab+c", ["a bc"], {**ONLY_KNOCKOUT, "iterations": n}) for n in (2, 10)),
    (UNDO, ["un do"], {"cascade": True}),
    *((UNDO, ["un do"], {"cascade": True, "minimum_vocabulary": n}) for n in (10, 11)),
    *(
        (UNDO, ["u n do", "i n g", "d o"], {"cascade": True, "minimum_vocabulary": n})
        for n in range(6, 12)
    ),
    ("a+b c+d", ["a b", "c d", "c d"], {"minimum_vocabulary": 5}),
    (UNDO, SEEN, {"anneal": True, "minimum_good": 1, "aside": {0, 3, 5, 8}}),
    ("", ["ab", "cd", "ef"], {"anneal": True, "minimum_good": 1, "aside": {1}}),
    ("", list("abcde"), {"anneal": True, "aside": {1, 3}, "alphabet": "x"}),
    # No merges; no boundaries; no gold of the scope.
    ("", ["a b", "ab"], {"anneal": True}),
    ("a+b", ["abc", "abc", "cab"], {"anneal": True, "minimum_good": 2}),
    ("a+b", ["a b"], {"scope": "whole-word"}),
]


@pytest.mark.parametrize(("merges", "lines", "given"), SINGLE)
def test_single_cases(merges, lines, given):
    """What each of them is for is said beside it; what becomes of it, the oracle says."""
    settings = {**ReBPESettings(anneal=False).__dict__, **given}
    split, alphabet = settings.pop("pre_tokenizer", None), settings.pop("alphabet", None)
    aside = frozenset(settings.pop("aside", ()))
    letters = alphabet or "".join(sorted(set(merges + "".join(lines)) - set("+ /z")))
    case = Case(
        tuple(tuple(merge.split("+")) for merge in merges.split()),
        letters,
        {"pre_tokenizer": split} if split else {},
        tuple(lines),
        (100, *[1] * (len(lines) - 1)),
        settings,
        aside,
    )
    check_case(case)


def behind_a_space(entry):
    """A word in running text, where merges may join it with its neighbours."""
    morphs = entry.morphs and (f" {entry.morphs[0]}", *entry.morphs[1:])
    return replace(entry, pieces=(" " + "".join(entry.pieces),), morphs=morphs)


@pytest.mark.slow
@examples(60)
@given(data=st.data())
def test_merges_across_words_are_rewired_and_nothing_else(data):
    """Trained on whole texts: edits are the oracle's, whose words stand alone, behind a space."""
    source = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    words = language(source, "tiny")
    texts = [" ".join(map("".join, source.choices(words, k=4))) for _ in range(12)]
    trained = train_bpe(dict.fromkeys(texts, 1), vocab_size=source.randint(40, 120))
    alphabet = tuple(dict.fromkeys([*trained.alphabet, " "]))
    case = finished_case(data, source, "tiny", list(trained.merges), alphabet, words)
    case = replace(case, document={**case.document, "pre_tokenizer": None})
    tokeniser = small_tokeniser(case.merges, case.alphabet, **case.document)
    graph, several = tokeniser.graph, {tokeniser.types[n] for n in tokeniser.several_words}
    event(f"types of several words: {bool(several)}")
    run = case.run(tokeniser)
    expected, converged = expected_phases(case, list(map(behind_a_space, entries_of(case))))
    for phase in expected:
        found = run.phases[0] if phase.kind == "start" else run.step()
        assert (found.kind, found.iteration) == (phase.kind, phase.iteration)
        assert strings_of(graph) == phase.merges
        assert {graph.types[number] for number in graph.type_ids()} == phase.types
        of_text = segment(graph, tokeniser.encode(texts, bare=True))
        for number, text in enumerate(texts):
            tokens = [graph.types[token] for token in of_text.tokens(number)]
            assert tokens == oracles.segment(phase.merges, text)[0]
    assert run.step() is None
    assert run.converged == converged
    if not case.settings["cascade"]:
        assert several <= expected[-1].types


@examples(300)
@given(merges=well_formed(size=14) | MERGES, data=st.data())
def test_tokenisers_with_tuples_and_types_made_twice_in_any_order(merges, data):
    source = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    merges = list(dict.fromkeys(merges))
    pieces = ["".join(parts) for parts in merges] + list("abc")
    words = [source.choices(pieces, k=source.randint(1, 4)) for _ in range(source.randint(1, 14))]
    case = finished_case(data, source, "tiny", merges, ("a", "b", "c"), words)
    check_case(case)


@pytest.mark.slow
@examples(160, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_trained_tokenisers(data):
    case = trained_case(data, "medium")
    check_case(case)


@pytest.mark.slow
@examples(20, least=1, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_trained_tokenisers_of_two_thousand_types(data):
    case = trained_case(data, "large")
    check_case(case)
