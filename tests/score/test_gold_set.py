"""Gold sets: weights, gold, and a signature that names just what the numbers depend on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from refusals import refused
from small import gold_of, reference_of, small_document
from small import small_entry as entry

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.reference.entry import Entry
from morphgraph.reference.families import SplitBy
from morphgraph.reference.readers import read_reference
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import COUNTS_IN_REFERENCE, GoldSet, Scope, Weighting, signature_line
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("Ġ", "un"), ("g", "o")]
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
CELEX = """undoing\t((un)[V|.V],(do)[V],(ing)[N|V.])[N]
undo\t((un)[V|.V],(do)[V])[V]
undo\t((und)[N],(o)[N])[N]
godog\t((god)[N],(og)[N])[N]
unding\t((un)[N|.N],(ding)[N])[N]
dogging\t((dog)[V],(g)[N|V.N],(ing)[N])[N]
undogo\t((undo)[F],(go)[F])[F]
"""
FREQUENCIES = {"undoing": 5.0, "undo": 7.0, "godog": 2.0, "dogging": 11.0, "undogo": 3.0}


@dataclass(frozen=True)
class Run:
    """Everything that a row of scores is made with; each field is one thing to change."""

    content: str = CELEX
    name: str = "gold.cd"
    include_foreign: bool = False
    first_analyses: bool = False
    frequencies: Mapping[str, float] | None = None
    source: str = "list.tsv"
    bare: bool = False
    holdout: float = 0.0
    holdout_seed: int = 0
    by: SplitBy = "words"
    subset: Sequence[int] | None = None
    merges: Sequence[tuple[str, ...]] = tuple(UNDO)
    removed: str = ""
    p: float = 0.3
    dropout_seed: int = 0
    k: int | None = None
    scope: Scope = "morphemic"
    weighting: Weighting = "tokens"
    resamples: int = 100
    trials: int = 60
    seed: int = 0
    against: int = 0
    baseline: int | None = 0


def table_of(run):
    """Fresh objects from strings: the row that matters is the last one."""
    reference = read_reference(
        run.content.encode(), name=run.name, format="celex", include_foreign=run.include_foreign
    )
    if run.first_analyses:
        reference = reference.first_analyses()
    document = small_document(run.merges, "Ġabcdefghijklmnopqrstuvwxyz", pre_tokenizer=BYTES)

    def tokeniser():
        return from_tokenizer_json(json.dumps(document).encode(), "small.json")

    frequencies = FREQUENCIES if run.frequencies is None else run.frequencies
    gold_set = Benchmark.build(tokeniser(), reference, frequencies, run.source, bare=run.bare)
    if run.holdout:
        gold_set = gold_set.split(run.holdout, run.holdout_seed, run.by)[1]
    if run.subset is not None:
        gold_set = gold_set.subset(np.array(run.subset, np.int64))
    last = Dropout(tokeniser(), run.p, run.dropout_seed)
    if run.removed:
        last.tokeniser.graph.knockout([run.removed])
    other = Dropout(tokeniser(), 0.6, run.against)
    return ScoreTable(
        [
            outcome_of(other, gold_set),
            outcome_of(Bte(tokeniser()), gold_set),
            outcome_of(First(last, run.k) if run.k else last, gold_set),
        ],
        run.scope,
        run.weighting,
        tuple(METRICS),
        baseline=run.baseline,
        draws=Draws(run.resamples, run.trials, run.seed),
    )


def signature(run):
    return table_of(run).signature_of(2)


def row(run):
    return table_of(run).estimates[2]


def numbers(run):
    """All values, intervals and p-values, to the last bit."""
    return repr(row(run))


# One thing at a time that changes a number, and the field of the signature that tells.
BASE = Run()
CHANGED = {
    "reference": (
        replace(BASE, content=CELEX.replace("(dog)[V],(g)", "(do)[V],(gg)")),
        {"reference", "entries"},
    ),
    "include_foreign": (replace(BASE, include_foreign=True), {"entries", "frequencies"}),
    "first analyses": (replace(BASE, first_analyses=True), {"entries", "frequencies"}),
    "frequencies": (replace(BASE, frequencies={**FREQUENCIES, "undo": 9.0}), {"frequencies"}),
    "bare": (replace(BASE, bare=True), {"words"}),
    "holdout": (replace(BASE, holdout=0.5), {"entries", "frequencies"}),
    "holdout seed": (replace(BASE, holdout=0.5, holdout_seed=1), {"entries", "frequencies"}),
    "subset": (replace(BASE, subset=[0, 2, 3]), {"entries", "frequencies"}),
    "order": (replace(BASE, subset=[5, 0, 1, 2, 3, 4]), {"entries", "frequencies"}),
    "tokeniser": (replace(BASE, merges=tuple(UNDO[:4])), {"tokeniser", "test"}),
    "edit": (replace(BASE, removed="un"), {"tokeniser"}),
    "dropout p": (replace(BASE, p=0.9), {"tokeniser"}),
    "dropout seed": (replace(BASE, dropout_seed=4), {"tokeniser"}),
    "k": (replace(BASE, k=1), {"tokeniser"}),
    "scope": (replace(BASE, scope="whole-word"), {"scores"}),
    "weighting": (replace(BASE, weighting="types"), {"scores"}),
    "resamples": (replace(BASE, resamples=70), {"interval"}),
    "no resamples": (replace(BASE, resamples=0), {"interval"}),
    "seed": (replace(BASE, seed=1), {"interval", "test"}),
    "trials": (replace(BASE, trials=33), {"test"}),
    "baseline's seed": (replace(BASE, against=5), {"test"}),
    "another baseline": (replace(BASE, baseline=1), {"test"}),
    "no baseline": (replace(BASE, baseline=None), {"test"}),
}


def fields(line):
    return dict(field.split(":", 1) for field in line.split("|"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGED)
def test_what_changes_a_number_changes_the_signature(name):
    changed, told_by = CHANGED[name]
    assert numbers(changed) != numbers(BASE)
    one, other = fields(signature(BASE)), fields(signature(changed))
    assert {key for key in one | other if one.get(key) != other.get(key)} == told_by


def test_no_two_of_them_share_a_signature():
    runs = [BASE, *(run for run, _ in CHANGED.values())]
    assert len({signature(run) for run in runs}) == len(runs)
    assert len({table_of(run).signature for run in runs}) == len(runs)


@pytest.mark.parametrize("name", CHANGED)
def test_the_same_signature_the_same_numbers(name):
    run, _ = CHANGED[name]
    assert signature(run) == signature(run)
    assert numbers(run) == numbers(run)


def test_what_changes_no_number_but_is_told():
    """Names of files, and bytes of the reference that hold no entry, are in the signature."""
    for run, told_by in (
        (replace(BASE, name="other.cd"), "reference"),
        (replace(BASE, content=CELEX + "# nothing\n"), "reference"),
        (replace(BASE, source="other.tsv"), "frequencies"),
    ):
        assert numbers(run) == numbers(BASE)
        one, other = fields(signature(BASE)), fields(signature(run))
        assert {key for key in one | other if one.get(key) != other.get(key)} == {told_by}


def test_where_files_are_is_not_told():
    run = replace(BASE, name="/home/me/gold.cd", source="C:\\me\\list.tsv")
    assert signature(run) == signature(BASE)


def test_an_outcome_keeps_the_signature_that_it_was_made_with():
    document = small_document(UNDO, "Ġabcdefghijklmnopqrstuvwxyz", pre_tokenizer=BYTES)
    gold_set = GoldSet.of(read_reference(CELEX.encode(), name="gold.cd", format="celex"))
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "small.json")
    outcome = outcome_of(Bte(tokeniser), gold_set)
    before = outcome.signature(), outcome.vocabulary_size, outcome.token_texts(1)
    tokeniser.graph.knockout(["un"])
    assert (outcome.signature(), outcome.vocabulary_size, outcome.token_texts(1)) == before


WORDS = reference_of(
    entry("Dog s / Dogs"), entry("DOG"), entry("god s /"), entry("goß / goß"), entry("dogs / dogs")
)


def test_weights_by_spelling_lower_case_and_folded_case():
    frequencies = {"dogs": 5.0, "DOG": 7.0, "dog": 2.0, "goss": 3.0, "maß": 6.0, "mass": 8.0}
    words = reference_of(*WORDS.entries, entry("Maß"))
    gold_set = GoldSet.of(words, frequencies, "own.tsv")
    # Dogs: as dogs; DOG: as it stands, before dog; gods: unknown, so 1; goß: folded, goss; Maß: in
    # lower case, before it is folded.
    assert gold_set.weights("tokens").tolist() == [5, 7, 1, 3, 5, 6]
    assert gold_set.weights("types").tolist() == [1, 1, 1, 1, 1, 1]
    assert gold_set.frequency_known.tolist() == [True, True, False, True, True, True]
    assert gold_set.weightings == ("types", "tokens")


def test_counts_in_the_reference():
    entries = [
        replace(e, count=c) for e, c in zip(WORDS.entries, [4, None, 0, 2.5, 1], strict=True)
    ]
    gold_set = gold_of(*entries)
    assert gold_set.weights("tokens").tolist() == [4, 1, 0, 2.5, 1]
    assert gold_set.frequency_known.tolist() == [True, False, True, True, True]
    assert gold_set.frequency_source == COUNTS_IN_REFERENCE
    # Frequencies that are given count instead.
    given = GoldSet.of(reference_of(*entries), {"dogs": 5.0}, "own.tsv")
    assert given.weights("tokens").tolist() == [5, 1, 1, 1, 5]


def test_without_frequencies():
    gold_set = GoldSet.of(WORDS)
    assert gold_set.weightings == ("types",)
    assert "|frequencies:none|" in gold_set.signature_of("gold")
    with refused():
        gold_set.weights("tokens")
    empty = GoldSet.of(WORDS, {}, "empty.tsv")
    assert empty.weights("tokens").tolist() == [1, 1, 1, 1, 1]


def test_has_gold():
    gold_set = GoldSet.of(WORDS)
    assert gold_set.has_gold("morphemic").tolist() == [True] * 5
    # An empty list of whole words is one, None is none.
    assert gold_set.has_gold("whole-word").tolist() == [True, False, True, True, True]
    assert gold_set.cuts("morphemic").counts.tolist() == [1, 0, 1, 0, 0]
    assert gold_set.cuts("whole-word").counts.tolist() == [0] * 5
    assert gold_set.texts == ("Dogs", "DOG", "gods", "goß", "dogs")
    assert gold_set.lengths.tolist() == [4, 3, 4, 3, 4]


@pytest.mark.parametrize(
    "changed",
    [
        entry("Do gs / Dogs"),
        entry("Dog s / Dog s"),
        entry("Dog s"),
        entry("Dog s / Dogs", underlying=("dog", "s")),
        entry("Dogs / Dogs"),
        entry("Dog s / Dogs", "fs"),
        entry("Dog s / Dogs", processes=("inflection",)),
    ],
)
def test_each_part_of_an_entry_is_in_the_signature(changed):
    other = reference_of(changed, *WORDS.entries[1:])
    one = GoldSet.of(WORDS).signature_of("gold")
    assert GoldSet.of(other).signature_of("gold") != one
    # What no score depends on is not.
    same = replace(WORDS.entries[0], line=9)
    assert gold_of(same, *WORDS.entries[1:]).signature_of("gold") == one


def test_a_signature_has_one_line_and_its_own_fields_only():
    hostile = replace(WORDS, name="a|version:9\n<b>|x")
    line = GoldSet.of(hostile, {"dogs": 2.0}, "list|tokeniser:gold\r\n").signature_of(
        "mine|entries:0", test="a|b"
    )
    assert "\n" not in line and "\r" not in line
    assert list(fields(line)) == [
        "reference", "format", "entries", "frequencies", "words", "tokeniser", "test", "version",
    ]  # fmt: skip
    assert len(line.split("|")) == 8
    assert signature_line({"a": "x\u2028 y\t|z"}) == "a:x y /z"


def test_words_with_half_of_a_surrogate_pair_differ():
    names = [
        gold_of(Entry(word, (word,))).signature_of("gold")
        for word in ("\ud800", "\\ud800", "\ud801", "?")
    ]
    assert len(set(names)) == 4
