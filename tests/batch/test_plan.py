"""Plans: which tasks a configuration makes, and how missing files are told."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import expect, refused

from morphgraph.batch.plan import make_plan
from morphgraph.core.errors import FileFormatError
from morphgraph.segment.method import METHODS
from morphgraph.segment.training import training_of


def planned(text, folder, languages=None):
    return make_plan(text, "mine.yaml", folder, languages)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en.tsv").write_text("unbreakable\tun break able\nkindness\tkind ness\n")
    (tmp_path / "de.tsv").write_text("Kindheit\tKind heit\n")
    return tmp_path


GRID = """\
name: grid
languages: [en, de]
corpora: [wordfreq]
tokenisers:
  - train: bpe
    vocab_size: [300, 400]
  - name: demo
    file: demo:{code}
methods:
  - standard
  - method: dropout
    p: [0, 0.1]
  - method: knockout
    threshold: 0.4
    tokenisers: [demo]
references: ["{language}.tsv"]
vocabulary: [word_initial]
seeds: [1, 2, 3]
"""


def test_the_grid(folder):
    plan = planned(GRID, folder)
    kinds = [task.kind for task in plan.tasks]
    # For each of two languages: counts, three tokenisers, and for each of these: as it is and
    # dropout 0, each by the words that three seeds keep aside, since knockout learns from the
    # reference, and its vocabulary (2 × 4), and dropout 0.1, with three seeds for both (6); for the
    # demo also knockout with three seeds, whose vocabulary stands beside its scores.
    assert kinds.count("counts") == 2
    assert kinds.count("tokeniser") == 2 * 3
    assert kinds.count("cell") == 2 * (3 * (2 * 4 + 6) + 3) == len(plan.cells)
    ready = set()
    for task in plan.tasks:
        assert set(task.needs) <= ready
        ready.add(task.key)
    columns = [task.columns for task in plan.cells]
    assert {c["method"] for c in columns} == {"BPE", "as it is", "BPE-dropout", "BPE-knockout"}
    assert {c["parameters"] for c in columns} == {"", "p=0", "p=0.1", "threshold=0.4"}
    assert {c["vocab_size"] for c in columns} == {300, 400, None}
    assert {c["reference"] for c in columns} == {"en.tsv", "de.tsv", ""}


def test_only_some_languages(folder):
    (folder / "de.tsv").unlink()
    plan = planned(GRID, folder, ["en"])
    assert {task.columns["language"] for task in plan.cells} == {"en"}
    with refused():
        planned(GRID, folder, ["en", "nl"])


def test_keys_follow_what_is_in_the_files(folder):
    first = {task.label: task.key for task in planned(GRID, folder).tasks}
    again = {task.label: task.key for task in planned(GRID, folder).tasks}
    assert first == again
    (folder / "de.tsv").write_text("Kindheit\tKind heit\nFreiheit\tFrei heit\n")
    changed = {task.label: task.key for task in planned(GRID, folder).tasks}
    different = {label for label in first if first[label] != changed[label]}
    assert different
    assert all(label.startswith("de · ") and "de.tsv" in label for label in different)


@pytest.mark.parametrize("named", ["merges.txt", "vocab.json", ""])
def test_a_key_follows_the_files_that_are_read_and_no_others(folder, named):
    """``merges.txt`` is read with the ``vocab.json`` beside it; a folder holds a tokeniser."""
    place = folder / "model"
    place.mkdir()
    files = {"vocab.json": '{"a": 0, "b": 1, "ab": 2}', "merges.txt": "a b\n"}
    for name, text in files.items():
        (place / name).write_text(text)
    text = GRID.replace("demo:{code}", f"model/{named}")

    def key():
        return next(t.key for t in planned(text, folder).tasks if t.label.startswith("demo,"))

    first = key()
    (place / "README.md").write_text("Nothing that a tokeniser is read from.")
    (place / "checkpoint").mkdir()
    (place / "checkpoint" / "model.bin").write_bytes(b"0" * 100)
    assert key() == first
    for name, content in files.items():
        (place / name).write_text(content + " ")
        assert key() != first
        (place / name).write_text(content)
        assert key() == first


def test_a_new_value_adds_cells_and_leaves_the_others(folder):
    first = {task.key for task in planned(GRID, folder).tasks}
    more = {task.key for task in planned(GRID.replace("[0, 0.1]", "[0, 0.1, 0.2]"), folder).tasks}
    assert first < more
    # Languages, tokenisers, seeds; with and without gold.
    assert len(more - first) == 2 * 3 * 3 * 2


GOLD = '["{language}.tsv"]'
MISSING = [
    (GOLD, '["none/{language}.tsv"]'),
    (GOLD, '["catalogue:celestial"]'),
    (GOLD, '["{lang}.tsv"]'),
    (GOLD, '["${MORPHGRAPH_NOWHERE}/a"]'),
    (GOLD, '[{source: ["${MORPHGRAPH_NOWHERE}/a", "no.tsv"]}]'),
    (GOLD, '["/dev/zero"]'),
    (GOLD, "[{source: '{language}.tsv', exempt: there.txt}]"),
    (GOLD, "[{source: '{language}.tsv', sample: 0}]"),
    (GRID[GRID.index("  - standard") :], "  - {method: standard, tokenisers: []}\n"),
    ("tokenisers:\n", "tokenisers:\n  - {train: bpe, vocab_size: 300, pipeline: plain}\n"),
    ("demo:{code}", "a/{code}.json"),
    ("demo:{code}", "demo:xx"),
    ("[wordfreq]", "[{name: w, wordfreq: tlh}]"),
    ("[wordfreq]", "['counts/{language}.tsv']"),
]


@pytest.mark.parametrize("change", MISSING)
def test_what_is_missing_or_told_twice_is_told_with_its_line(folder, change):
    assert change[0] in GRID
    text = GRID.replace(*change)
    if change[0] == "demo:{code}":  # the other tokeniser is there
        expect(planned(text, folder).left_out[0])
        text = text.replace("  - train: bpe\n    vocab_size: [300, 400]\n", "")
    with refused(FileFormatError):
        planned(text, folder)


def test_of_several_sources_the_first_that_is_there(folder):
    text = GRID.replace(GOLD, '[{source: ["${MORPHGRAPH_X}/a", "{language}.tsv"]}]')
    assert {t.columns["reference"] for t in planned(text, folder).cells} == {"en.tsv", "de.tsv", ""}


def test_a_sample_and_its_seed_are_part_of_a_cell_s_key(folder):
    text = GRID.replace(GOLD, "[{source: '{language}.tsv', sample: 1}]")
    keys = [
        {task.key for task in planned(each, folder).cells if task.columns["reference"]}
        for each in (GRID, text, text.replace("sample: 1", "sample: 1, seed: 1"))
    ]
    assert not keys[0] & keys[1] and not keys[1] & keys[2]
    (folder / "exempt.txt").write_text("undo\n")
    exempt = text.replace("sample: 1", "exempt: exempt.txt")
    spec = next(task for task in planned(exempt, folder).cells if task.spec["reference"]).spec
    assert spec["reference"]["reading"] == {"exempt": ["undo"]}


TEXTS = """\
name: texts
languages: [en]
corpora: [{name: A, text: %s}]
tokenisers: [{name: T, file: "demo:en"}]
vocabulary: [tokens]
"""


def counts_key(folder, text):
    [task] = [t for t in planned(TEXTS % text, folder).tasks if t.kind == "counts"]
    return task.key


def test_how_a_text_is_read_is_part_of_its_key(folder):
    for name in ("a.txt", "b.txt", "a.csv"):
        (folder / name).write_text("text,n\nlow lower,1\n")
    alone = counts_key(folder, "a.txt")
    assert counts_key(folder, "b.txt") == alone  # where it lies, and its name, change nothing
    assert counts_key(folder, "a.csv") != alone  # a table is read by columns
    assert counts_key(folder, "[a.txt, a.txt]") == alone  # one file is counted once
    assert counts_key(folder, "[a.txt, b.txt]") != alone  # two alike are counted twice


def test_two_cells_of_one_name_are_refused(folder):
    for name in ("ga", "gb"):
        (folder / name).mkdir()
        (folder / name / "en.tsv").write_text(f"{name}er\t{name} er\n")
    text = GRID.replace(GOLD, "['ga/{language}.tsv', 'gb/{language}.tsv']")
    with refused(FileFormatError):
        planned(text, folder, ["en"])


@pytest.mark.slow
def test_a_grid_without_end_is_refused_at_once(folder):
    many = ", ".join(f"{number / 1000:g}" for number in range(1000))
    percents = f"select: last\n    percent: [{many}]"
    text = GRID.replace("threshold: 0.4", f"threshold: [{many}]\n    {percents}")
    with refused(FileFormatError):
        planned(text, folder)


def test_what_is_no_file_is_refused(folder):
    os.mkfifo(folder / "pipe")
    with refused(FileFormatError):
        planned(GRID.replace(GOLD, '["pipe"]'), folder)


def test_paths_do_not_depend_on_where_a_worker_is(folder, monkeypatch):
    monkeypatch.chdir(folder)
    plan = planned(GRID, Path())
    references = [task.spec["reference"] for task in plan.cells if task.spec["reference"]]
    assert {part["path"] for reference in references for part in reference["parts"]} == {
        str(folder / "en.tsv"),
        str(folder / "de.tsv"),
    }


def test_cells_need_counts_only_where_these_change_something(folder):
    text = GRID.replace("vocabulary: [word_initial]\n", "")
    plan = planned(text, folder, ["en"])
    counts = {task.key for task in plan.tasks if task.kind == "counts"}
    assert len(counts) == 1  # the trained tokenisers need them
    assert not any(counts & set(task.needs) for task in plan.cells)
    weighted = planned(text + "weightings: [types, tokens]\n", folder, ["en"])
    assert all(counts & set(task.needs) for task in weighted.cells)
    loaded = text.replace("  - train: bpe\n    vocab_size: [300, 400]\n", "")
    assert not [task for task in planned(loaded, folder, ["en"]).tasks if task.kind == "counts"]
    blamed = text.replace("threshold: 0.4", "weighting: tokens")
    needing = [task for task in planned(blamed, folder, ["en"]).cells if counts & set(task.needs)]
    assert {task.columns["method"] for task in needing} == {"BPE-knockout"}


LANGUAGES = """\
name: languages
languages: [en, de]
tokenisers:
  - name: mine
    file: demo:en
    languages: en
  - name: mine
    file: demo:de
    languages: [de]
  - name: everywhere
    file: demo:nl
references:
  - source: "{language}.tsv"
"""


def test_a_tokeniser_for_some_languages(folder):
    plan = planned(LANGUAGES, folder)
    found = {(t.columns["language"], t.columns["tokeniser"]) for t in plan.cells}
    assert found == {(lg, name) for lg in ("en", "de") for name in ("mine", "everywhere")}
    sources = {t.label: t.spec["path"] for t in plan.tasks if t.kind == "tokeniser"}
    assert sources["mine, en"] == "demo:en"
    assert sources["mine, de"] == "demo:de"


@pytest.mark.parametrize(
    "change",
    [
        ("languages: en\n", "languages: [en, de]\n"),
        ("languages: [de]", "languages: [deu]"),
        ("[en, de]", "[en, de, nl]"),
    ],
)
def test_languages_of_tokenisers_that_do_not_fit(folder, change):
    (folder / "nl.tsv").write_text("vrijheid\tvrij heid\n")
    everywhere = "  - name: everywhere\n    file: demo:nl\n"
    with refused(FileFormatError):
        planned(LANGUAGES.replace(everywhere, "").replace(*change), folder)


def test_costs_come_from_the_entries_of_methods(folder, monkeypatch):
    """A method that takes long, or its training, says so in its entry, and nowhere else."""
    known = METHODS["dropout"], METHODS["bpe"]
    monkeypatch.setitem(METHODS, "dropout", replace(known[0], seconds=1_000.0))
    training = replace(training_of("bpe")[1], seconds=77.0)
    monkeypatch.setitem(METHODS, "bpe", replace(known[1], training=training))
    tasks = planned(GRID, folder).tasks
    assert min(t.cost for t in tasks if t.spec.get("method") == "dropout") >= 1_000
    assert {t.cost for t in tasks if t.label.startswith("BPE,")} == {77.0}


def test_a_corpus_may_be_for_some_languages_only():
    text = """
name: some
languages: [en, de]
corpora: [{wordfreq: "{code}", languages: [en]}]
tokenisers: [{name: demo, file: "demo:{code}"}]
references: ["demo:{code}"]
vocabulary: [fertility]
"""
    plan = make_plan(text, "some.yaml")
    cells = [task.columns for task in plan.tasks if task.kind == "cell"]
    corpora = {(cell["language"], cell["corpus"]) for cell in cells}
    assert corpora == {("en", "wordfreq"), ("de", "")}
