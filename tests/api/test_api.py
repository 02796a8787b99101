"""The library in a notebook: what a reader may type, and what it shows."""

import json
import subprocess
import sys
from inspect import signature
from types import SimpleNamespace
from typing import get_type_hints
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from effort import share_of
from refusals import refused
from small import small_document
from tokenizers import Tokenizer

import morphgraph as mg
from docs.tools import notebooks
from morphgraph.core.files import demo_gold_path, demo_tokeniser_path
from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.silver import silver_reference
from morphgraph.refine import KnockoutOptions, KnockoutSettings, ReBPEOptions, ReBPESettings
from morphgraph.refine.knockout import knock_out
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_reading import Reading, ReadingOptions
from morphgraph.tokeniser.merging import segment


@pytest.fixture
def small(tmp_path):
    """u n d o: un, do, undo; and s."""
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("undo", "s")]
    (tmp_path / "tokenizer.json").write_text(json.dumps(small_document(merges, "undos")))
    return mg.load(tmp_path / "tokenizer.json")


SMALL = mg.read_gold([("undos", ["un", "do", "s"]), ("undo", ["un", "do"])])


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_give(path):
    text = path.read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert len(cells) <= 12 and len(text.encode()) < 200_000
    assert notebooks.renewed(text) == text, "python -m docs.tools.notebooks"


def test_importing_loads_nothing():
    code = "import sys, morphgraph; print('numpy' in sys.modules, 'morphgraph.api' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
    learning = {"evaluate", "load", "read_gold", "silver", "train"}
    functions = {"compare", "compare_vocabularies", "diff", *learning}
    classes = {name for name in mg.__all__ if name[0].isupper()} - {"METHODS"}
    plugged = {"corpora", "doctor", "models"}
    assert set(dir(mg)) - classes - plugged == {*functions, "METHODS", "__version__"}
    assert all(isinstance(getattr(mg, name), type) for name in classes)

    assert all(callable(getattr(mg, name)) for name in functions)
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        mg.lod  # noqa: B018


# --------------------------------------------------------------------------------- loading


@pytest.mark.slow
def test_all_that_can_be_loaded(tokeniser, tmp_path):
    file = demo_tokeniser_path("en")
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    library = Tokenizer.from_file(str(file))
    fast = SimpleNamespace(backend_tokenizer=library, name_or_path="some/model")
    for source in (file, str(file), tmp_path, library, fast):
        assert mg.load(source) == tokeniser
    assert [mg.load(each).name for each in (fast, library)] == ["some/model", "given tokeniser"]


@pytest.mark.slow
def test_all_that_can_be_read(gold):
    pairs = [(entry.word, list(entry.morphs)) for entry in gold.reference.entries]
    frame = pd.DataFrame(pairs, columns=["word", "morphs"])
    path = demo_gold_path("en")
    for source in (path, str(path), pairs, frame, gold.to_frame()):
        read = mg.read_gold(source)
        assert [(e.word, list(e.morphs)) for e in read.reference.entries] == pairs
    with refused():
        mg.read_gold("catalogue:morphynet-deu")


def test_a_dict_a_frame_and_a_separator(tmp_path):
    pairs = [("subsidised", ("subsid", "is", "ed")), ("undo", ("un", "do"))]
    (tmp_path / "gold.txt").write_text("".join(f"{w};{'/'.join(m)}\n" for w, m in pairs))
    frame = pd.DataFrame(
        {"id": [1, 2], "morphs": [m for _, m in pairs], "word": ["subsidised", "undo"]}
    )
    arrays = frame.assign(morphs=[np.array(m) for _, m in pairs])
    for source in (dict(pairs), frame, arrays, tmp_path / "gold.txt"):
        found = mg.read_gold(source)
        assert [(entry.word, entry.morphs) for entry in found] == pairs
    (tmp_path / "gold.txt").write_text("unXdo\nreXmake\n")
    assert [entry.word for entry in mg.read_gold(tmp_path / "gold.txt", separator="X")] == [
        "undo", "remake"]  # fmt: skip


def test_exempt_words_are_not_learned_from(tokeniser, tmp_path):
    undo = {"undo": ["un", "do"]}
    (tmp_path / "exempt.txt").write_text("undo\n\nunder\nover\n")
    with pytest.warns(UserWarning, match="2 of 3 exempt words: over, under"):
        exempt = mg.read_gold(undo, exempt=str(tmp_path / "exempt.txt"))
    all_words = mg.read_gold(undo)
    assert tokeniser.blame(exempt).types() == [] != tokeniser.blame(all_words).types()
    assert tokeniser.score(exempt).f1 == tokeniser.score(all_words).f1


@pytest.mark.parametrize(
    "wrong",
    [
        [("undo", "un do")],
        [("undo", ["un", "do"]), "redo"],
        [("", [])],
        [("undo", [])],
        [("undo", [1])],
        [(1, ["a"])],
        [],
        {},
        {"undo": 3},
        pd.DataFrame({"a": [1]}),
        pd.DataFrame({"word": ["undo"], "morphs": ["un do"]}),
        7,
        SMALL,
        "demo:xx",
        "nowhere.tsv",
    ],
)
def test_gold_that_is_none(wrong):
    with refused():
        mg.read_gold(wrong)


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "use",
    [
        lambda t: mg.load(7),
        lambda t: t.segment("undo"),
        lambda t: t.encode(["undo"]),
        lambda t: t.id_of("nothing"),
        lambda t: t.type_of(9),
        lambda t: t.segment(["undo", 7]),
        lambda t: t.tree(["undo"]),
        lambda t: t.tree(""),
        lambda t: t.knock_out_types("undo"),
        lambda t: t.knock_out(SMALL, treshold=0.5),
        lambda t: t.rebpe(SMALL, treshold=0.5),
        lambda t: t.method("flotta"),
        lambda t: t.method("rebpe"),
        lambda t: t.method("flota", q=1),
        lambda t: t.method("flota", k=2.5),
        lambda t: t.method("flota").blame(SMALL),
        lambda t: t.method("dropout").knock_out(SMALL),
        lambda t: t.method("flota").tree("undo"),
        lambda t: t.method("flota").method("dropout"),
        lambda t: t.score("gold.tsv"),
        lambda t: t.score(SMALL, metrics="f1"),
        lambda t: t.score(SMALL, scope="word"),
        lambda t: t.score(SMALL, scope="whole-word"),
        lambda t: t.score(SMALL, weighting="tokens"),
        lambda t: t.score(SMALL)["boundaries"],
        lambda t: t.tree("undo").save("tree.png"),
        lambda t: mg.compare({}, SMALL),
        lambda t: mg.compare({"a": 7}, SMALL),
        lambda t: mg.compare({"a": t}, SMALL, baseline="b"),
    ],
)
def test_errors_say_what_is_wrong(small, use):
    before = small.signature
    with refused():
        use(small)
    assert small.signature == before


def test_signatures_show_the_settings_of_the_models():
    for function, model in (
        (mg.Tokeniser.knock_out, KnockoutSettings),
        (mg.Tokeniser.rebpe, ReBPESettings),
        (mg.read_gold, Reading),
    ):
        shown = signature(function).parameters
        for name, field in model.model_fields.items():
            assert (shown[name].default, shown[name].kind.name) == (field.default, "KEYWORD_ONLY")


@pytest.mark.parametrize(
    ("options", "model", "own"),
    [
        (KnockoutOptions, KnockoutSettings, {"seed"}),
        (ReBPEOptions, ReBPESettings, set()),
        (ReadingOptions, Reading, set()),
    ],
)
def test_type_checkers_see_the_settings_of_the_models(options, model, own):
    """All but those that the function names itself."""
    fields = {n: each.annotation for n, each in model.model_fields.items() if n not in own}
    assert get_type_hints(options) == fields
    assert not options.__required_keys__


# --------------------------------------------------------------------------------- refinement


def test_a_knockout_by_blame_is_that_of_the_library(tokeniser, gold):
    plain = load_tokeniser("demo:en")
    expected = knock_out(plain, Benchmark.on(gold, plain), KnockoutSettings(threshold=0.7))
    result = tokeniser.knock_out(gold, threshold=0.7, holdout=0)
    assert tokeniser == mg.load("demo:en") != result.tokeniser
    assert result.before.f1 == tokeniser.score(gold).f1 < result.after.f1
    removed = [plain.graph.types[number] for number in expected.change.removed_types]
    assert list(result.removed) == removed == tokeniser.blame(gold).types(0.7)
    after = Benchmark.on(gold, plain)
    score = after.score(segment(plain.graph, after.words), "morphemic", "types")
    assert result.after.f1 == pytest.approx(score.f1)


def test_chosen_types(small):
    result = small.knock_out_types(["undo"])
    assert result.removed == ("undo",)
    assert result.tokeniser.segment(["undos", "undo"]) == [["undos"], ["un", "do"]]
    assert small.segment(["undo"]) == [["undo"]]
    both = small.knock_out_types(["undo"], cascade=True)
    assert both.removed == ("undo", "undos")
    # None of three gold boundaries, then all of them, as s is an atom.
    recall = [each.score(SMALL)["recall"] for each in (small, both.tokeniser)]
    assert recall == [0.0, 1.0]
    assert repr(both) == "<Knockout: 2 types removed>"


def test_entries_of_removed_types_are_no_types(small, tmp_path):
    kept = small.knock_out_types(["undo"], portable=True).tokeniser
    for folder in (tmp_path / "one", tmp_path / "again"):
        kept.export(folder, words=["undo"])
        rows = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
        assert (len(rows), len(mg.load(folder)), len(kept)) == (9, 7, 7)
        kept = mg.load(folder)


# --------------------------------------------------------------------------------- what is shown


def test_a_score_is_its_line_with_its_signature(small):
    score = small.knock_out_types(["undos"]).tokeniser.score(SMALL, metrics=["f1", "exact"])
    # undo s, undo: one of three boundaries is split, and no other.
    assert (score.precision, score.recall, score.f1) == (1.0, 1 / 3, 0.5)
    assert repr(score).endswith(score.signature)
    beside = mg.compare({"a": small}, SMALL).side_by_side()
    assert repr(beside) == "<SideBySide: 2 words, 1 tokeniser>"
    frame = score.to_frame()
    assert list(frame["f1"]) == [0.5] and "exact" in frame
    assert "50.00" in score._repr_html_()


def test_pictures(small, tmp_path):
    document = small_document([("<", "i"), ("<i", ">"), ("<i>", '"')], '<i>"')
    (tmp_path / "odd.json").write_text(json.dumps(document))
    odd = mg.load(tmp_path / "odd.json")
    svg = odd.tree('<i>"')._repr_svg_()
    ElementTree.fromstring(svg)
    assert "<i>" not in svg
    frame = odd.around('<i>"')._repr_html_()
    assert frame.count("<") == 2  # the frame itself; all else is text of its attribute
    assert frame.count('"') == 6
    small.around("undo", gold=SMALL).save(tmp_path / "graph.html")
    small.tree("undo", gold=SMALL).save(tmp_path / "tree.svg")
    assert r"blame 100\u00a0%" in (tmp_path / "graph.html").read_text()
    assert "Gold: un do." in (tmp_path / "tree.svg").read_text()
    unknown = small.around("undo").scene.nodes(data="tooltip")
    assert not any("blame" in tooltip for _, tooltip in unknown)


def test_equal_by_content(small):
    one, other = (small.knock_out_types(["undo"]).tokeniser for _ in range(2))
    assert one == other and len({one, other, small}) == 2
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("undo", "s")]
    same, more = (
        mg.load(Tokenizer.from_str(json.dumps(small_document(merges, alphabet))))
        for alphabet in ("undos", "undosx")
    )
    assert same == small != more, "the name does not matter"
    flota = [small.method("flota", k=k) for k in (2, 2, 3)]
    assert flota[0] == flota[1] != flota[2] and flota[0] != small


@pytest.mark.slow
def test_an_export_sets_other_files_aside(tokeniser, small, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    assert tokeniser.export(folder, words=["undo"]).kind == "tokenizer.json"
    assert mg.load(folder).segment(["capable"]) == [["Ġcapable"]]
    tuples = tokeniser.knock_out_types(["able", "Ġcapable"]).tokeniser
    assert tuples.export(folder, words=["undo"]).kind == "folder"
    # The earlier form would be loaded in place of the new one.
    assert mg.load(folder).segment(["capable"]) == [["Ġcap", "ab", "le"]]
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("thesis.tex", "README.md", "tokenizer.json"):
        (mine / name).write_text(f"all of {name}")
    with pytest.warns(UserWarning, match="was there already: it is now") as told:
        made = small.export(mine, words=["undo"])
    assert len(told) == 2
    others = {"thesis.tex", "README.md.old", "tokenizer.json.old"}
    assert {path.name for path in mine.iterdir()} == others | {*made.files}
    assert (mine / "README.md.old").read_text() == "all of README.md"
    again = small.export(mine, words=["undo"])  # what it wrote itself makes room
    assert repr(again).endswith(f" 9 types, checked on 1 word and {share_of(1000):,} sentences>")
    assert not (mine / "README.md.old1").exists()
    with refused():
        small.export(mine / "thesis.tex")
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with refused():
        small.export("")
    assert set(tmp_path.iterdir()) == before


def test_what_is_shown_is_data_too(tokeniser, gold):
    assert len(gold) == len(list(gold)) == len(gold.to_frame()) == 939
    tree = tokeniser.tree("undesirable", gold=gold)
    assert list(tree.to_frame()["merge"]) == [merge.description for merge in tree.tree.merges]
    blamed, curve = tokeniser.blame(gold), tokeniser.thresholds(gold)
    train, _ = gold.split()
    assert len(tokeniser.blame(train).types(curve.best.threshold)) == curve.best.removed
    assert tokeniser.knock_out(gold, threshold=curve.best.threshold).after.f1 == curve.best.f1
    around = tokeniser.around("able", gold=gold)
    for each in (tree.to_dict(), blamed.to_dict(), curve.to_dict(), around.to_dict()):
        assert json.loads(json.dumps(each, allow_nan=False))
    shown, whole = around.to_networkx(), tokeniser.to_networkx()
    assert set(shown.edges) <= set(whole.edges)
    assert sum(len(trace.x) for trace in curve.plot().data) == 3 * len(curve.points)
    assert blamed.plot().data and "R ≥" not in blamed.report(limit=1)


@pytest.mark.slow
def test_silver_is_the_file_that_the_command_writes(tmp_path):
    counts = wordfreq_counts("de", wordlist="small")
    counts = WordCounts(counts.words[:400], counts.counts[:400])
    whole = mg.read_gold([(word, [word]) for word in counts.words[:300]])
    made = mg.silver(counts, gold=whole, words=300, seed=2, out=tmp_path / "silver.tsv")
    analyses = {word: [(word,)] for word in counts.words[:300]}
    wanted = silver_reference(counts, "given counts", 300, 2, analyses)
    assert (tmp_path / "silver.tsv").read_text(encoding="utf-8") == wanted
    assert made == mg.read_gold(str(tmp_path / "silver.tsv"))
    assert made.reference.is_silver and len(made) == 300
    for counted in ({}, counts):
        with refused():
            mg.silver(counted, words=0 if counted else 1)
