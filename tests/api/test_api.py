"""The library in a notebook: what a reader may type, and what it shows."""

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from small import small_document
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.core.files import demo_gold_path, demo_tokeniser_path
from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.silver import silver_reference
from morphgraph.refine import KnockoutOptions, KnockoutSettings, ReBPEOptions, ReBPESettings
from morphgraph.refine.knockout import knock_out
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_reading import Reading, ReadingOptions
from morphgraph.segment.flota import FlotaParameters, KeptParameters
from morphgraph.tokeniser.merging import segment

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def tokeniser() -> mg.Tokeniser:
    """Only for tests that leave it as it is."""
    return mg.load("demo:en")


@pytest.fixture(scope="module")
def gold() -> mg.GoldSet:
    return mg.read_gold("demo:en")


@pytest.fixture
def small(tmp_path: Path) -> mg.Tokeniser:
    """u n d o: un, do, undo; and s."""
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("undo", "s")]
    (tmp_path / "tokenizer.json").write_text(json.dumps(small_document(merges, "undos")))
    return mg.load(tmp_path / "tokenizer.json")


SMALL = [("undos", ["un", "do", "s"]), ("undo", ["un", "do"])]


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((DOCS / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            assert cell["outputs"] == []
    assert (tmp_path / "rebpe-en" / "tokeniser.bte.json").is_file()


def test_importing_loads_nothing() -> None:
    code = "import sys, morphgraph; print('numpy' in sys.modules, 'morphgraph.api' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
    learning = {"evaluate", "load", "read_gold", "silver", "train"}
    functions = {"compare", "compare_vocabularies", *learning}
    classes = {name for name in mg.__all__ if name[0].isupper()} - {"METHODS"}
    assert set(dir(mg)) - classes - {"corpora", "models"} == {*functions, "METHODS", "__version__"}
    assert all(isinstance(getattr(mg, name), type) for name in classes)

    assert all(callable(getattr(mg, name)) for name in functions)
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        mg.lod  # type: ignore[attr-defined]  # noqa: B018


# --------------------------------------------------------------------------------- loading


@pytest.mark.slow
def test_all_that_can_be_loaded(tokeniser: mg.Tokeniser, tmp_path: Path) -> None:
    file = demo_tokeniser_path("en")
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    library = Tokenizer.from_file(str(file))
    fast = SimpleNamespace(backend_tokenizer=library, name_or_path="some/model")
    for source in (file, str(file), tmp_path, library, fast):
        assert mg.load(source) == tokeniser
    assert mg.load(fast).name == "some/model"


@pytest.mark.slow
def test_all_that_can_be_read(gold: mg.GoldSet) -> None:
    pairs = [(entry.word, list(entry.morphs)) for entry in gold.reference.entries]
    frame = pd.DataFrame(pairs, columns=["word", "morphs"])
    path = demo_gold_path("en")
    for source in (path, str(path), pairs, frame, gold.to_frame(), gold, gold.reference):
        read = mg.read_gold(source)
        assert [(e.word, list(e.morphs)) for e in read.reference.entries] == pairs
    with pytest.raises(mg.MorphGraphError, match=r"demo:en is read\. Give sample where it is"):
        mg.read_gold(gold, sample=5)
    with pytest.raises(mg.MorphGraphError, match="reference get"):
        mg.read_gold("catalogue:morphynet-deu")


def test_a_dict_a_frame_and_a_separator(tmp_path: Path) -> None:
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


def test_exempt_words_are_not_learned_from(tokeniser: mg.Tokeniser, tmp_path: Path) -> None:
    undo = [("undo", ["un", "do"])]
    (tmp_path / "exempt.txt").write_text("undo\n\nunder\nover\n")
    with pytest.warns(UserWarning, match="2 of 3 exempt words: over, under"):
        exempt = mg.read_gold(undo, exempt=str(tmp_path / "exempt.txt"))
    assert tokeniser.blame(exempt).types() == [] != tokeniser.blame(undo).types()
    assert tokeniser.score(exempt).f1 == tokeniser.score(undo).f1


def test_morphs_that_do_not_concatenate_are_aligned() -> None:
    [entry] = mg.read_gold([("subsidised", ["subside", "y", "ise", "ed"])]).reference.entries
    assert entry.morphs == ("subsid", "is", "ed")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([("undo", "un do")], ["Pair 1", "one string", "not a list of morphs"]),
        ([("undo", ["un", "do"]), "redo"], ["Pair 2", "redo", "a word with its morphs"]),
        ([("", [])], ["Pair 1", "no word"]),
        ([("undo", [])], ["no morphs"]),
        ([("undo", [1])], ["Pair 1", "not a string"]),
        ([(1, ["a"])], ["Pair 1", "not a word with its morphs"]),
        ([], ["no pairs"]),
        ({}, ["no pairs"]),
        ({"undo": 3}, ["Pair 1", "not a list of morphs"]),
        (pd.DataFrame({"a": [1]}), ["columns a.", "Call them word and morphs"]),
        (pd.DataFrame({"word": ["undo"], "morphs": ["un do"]}), ["Pair 1", "one string"]),
        (7, ["not a gold segmentation"]),
        ("demo:xx", ["no demo"]),
        ("nowhere.tsv", ["no such file"]),
    ],
)
def test_gold_that_is_none(wrong: Any, says: list[str]) -> None:
    with pytest.raises(mg.MorphGraphError) as error:
        mg.read_gold(wrong)
    assert all(text in str(error.value) for text in says)


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda t: mg.load(7), "not a tokeniser"),
        (lambda t: t.segment("undo"), "not a list of words"),
        (lambda t: t.encode(["undo"]), "not a text"),
        (lambda t: t.id_of("nothing"), "not a type"),
        (lambda t: t.type_of(9), "ids go from 0 to 8"),
        (lambda t: t.segment(["undo", 7]), "not a string"),
        (lambda t: t.tree(["undo"]), "not a word"),
        (lambda t: t.tree(""), "not a word"),
        (lambda t: t.knock_out_types("undo"), "not a list of types"),
        (lambda t: t.method("flotta"), "Did you mean “flota”?"),
        (lambda t: t.method("rebpe"), "Use learn"),
        (lambda t: t.method("flota", q=1), "no parameter “q”. It takes k, strict."),
        (lambda t: t.method("flota", k=2.5), "k=2.5 does not fit"),
        (lambda t: t.method(FlotaParameters(k=2), k=2), "given twice"),
        (lambda t: t.method(KeptParameters(k=2)), "of several: first, longest"),
        (lambda t: t.method("flota").blame(SMALL), "blame needs a tokeniser that segments by"),
        (lambda t: t.method("dropout").knock_out(SMALL), "segments by BPE-dropout"),
        (lambda t: t.method("flota").tree("undo"), "tree needs"),
        (lambda t: t.method("flota").method("dropout"), "needs a tokeniser of merges"),
        (lambda t: t.score(SMALL, metrics="f1"), "not a list of scores"),
        (lambda t: t.score(SMALL, scope="word"), "morphemic"),
        (lambda t: t.score(SMALL, scope="whole-word"), "Choose another scope"),
        (lambda t: t.score(SMALL, weighting="tokens"), "frequencies"),
        (lambda t: t.score(SMALL)["boundaries"], "several scores"),
        (lambda t: t.tree("undo").save("tree.png"), "does not end in .svg"),
        (lambda t: mg.compare({}, SMALL), "nothing to compare"),
        (lambda t: mg.compare({"a": 7}, SMALL), "not a tokeniser"),
        (lambda t: mg.compare({"a": t}, SMALL, baseline="b"), "not one of those compared"),
    ],
)
def test_errors_say_what_is_wrong(
    small: mg.Tokeniser, use: Callable[[Any], Any], says: str
) -> None:
    before = small.signature
    with pytest.raises(mg.MorphGraphError, match=re.escape(says)):
        use(small)
    assert small.signature == before


def test_an_unknown_setting_is_an_error(small: mg.Tokeniser) -> None:
    unknown: Any = {"treshold": 0.5}
    for use in (small.knock_out, small.rebpe):
        with pytest.raises(mg.MorphGraphError, match="Did you mean “threshold”"):
            use(SMALL, **unknown)
    with pytest.raises(TypeError, match="treshold"):
        small.thresholds(SMALL, **unknown)


def test_signatures_show_the_settings_of_the_models() -> None:
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
def test_type_checkers_see_the_settings_of_the_models(
    options: Any, model: Any, own: set[str]
) -> None:
    """All but those that the function names itself."""
    fields = {n: each.annotation for n, each in model.model_fields.items() if n not in own}
    assert get_type_hints(options) == fields
    assert not options.__required_keys__


# --------------------------------------------------------------------------------- refinement


def test_a_knockout_by_blame_is_that_of_the_library(
    tokeniser: mg.Tokeniser, gold: mg.GoldSet
) -> None:
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


def test_chosen_types(small: mg.Tokeniser) -> None:
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


def test_edits_go_on_from_edits(small: mg.Tokeniser) -> None:
    one = small.knock_out_types(["undos"]).tokeniser
    two = one.knock_out_types(["undo"]).tokeniser
    assert [len(each) for each in (small, one, two)] == [9, 8, 7]
    assert two.segment(["undos"]) == [["un", "do", "s"]]


def test_what_was_learned_from_these_words_is_held_in(
    tokeniser: mg.Tokeniser, gold: mg.GoldSet
) -> None:
    learned = tokeniser.knock_out(gold, holdout=0).tokeniser
    both = {"BPE": tokeniser, "better": learned, "FLOTA": learned.method("flota")}
    shown = mg.compare(both, gold)._repr_html_()
    assert [f"{name} (scored on the words it learned from)" in shown for name in both] == [
        False,
        True,
        True,
    ]


# --------------------------------------------------------------------------------- what is shown


def test_a_score_is_its_line_with_its_signature(small: mg.Tokeniser) -> None:
    score = small.knock_out_types(["undos"]).tokeniser.score(SMALL, metrics=["f1", "exact"])
    # undo s, undo: one of three boundaries is split, and no other.
    assert (score.precision, score.recall, score.f1) == (1.0, 1 / 3, 0.5)
    assert repr(score).startswith("precision 100.00 %, recall 33.33 %, F1 50.00 % | reference:")
    assert repr(score).endswith(score.signature)
    frame = score.to_frame()
    assert list(frame["f1"]) == [0.5]
    assert "exact" in frame
    assert "50.00" in score._repr_html_()


def test_pictures(small: mg.Tokeniser, tmp_path: Path) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        {"method": "bpe"},
        {"method": "flota", "k": 2},
        {"method": "first"},
        {"method": "dropout", "p": 0.5, "queue": True},
        {"method": "trimmed", "threshold": 5, "counts": {"undone": 9}},
        {"method": "greedy"},
    ],
)
def test_a_tokeniser_is_a_value(
    tokeniser: mg.Tokeniser, method: dict[str, Any], tmp_path: Path
) -> None:
    """Copied, pickled or saved, it is the same; the same edits or parameters give the same."""
    made = tokeniser.method(**method)
    copies = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    copies.append(tokeniser.method(**method))
    made.save(tmp_path / "saved.json")
    copies.append(mg.load(tmp_path / "saved.json"))
    for each in copies:
        assert each == made and hash(each) == hash(made)
        assert (each.types, len(each)) == (made.types, len(made.types))
        assert each.encode("Undesirable houses, 😀") == made.encode("Undesirable houses, 😀")
        assert each.segment(["undone"]) == made.segment(["undone"])
    assert (made == tokeniser) is (method["method"] == "bpe")
    others = [tokeniser.method("flota", k=3), tokeniser.knock_out_types(["able"]).tokeniser]
    assert made not in [*others, "demo:en"]


def test_equal_by_content(small: mg.Tokeniser) -> None:
    one, other = (small.knock_out_types(["undo"]).tokeniser for _ in range(2))
    assert one == other and len({one, other, small}) == 2
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("undo", "s")]
    same, more = (
        mg.load(Tokenizer.from_str(json.dumps(small_document(merges, alphabet))))
        for alphabet in ("undos", "undosx")
    )
    assert same == small != more, "the name does not matter"


@pytest.mark.slow
def test_an_export_sets_other_files_aside(
    tokeniser: mg.Tokeniser, small: mg.Tokeniser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    small.export(mine, words=["undo"])  # what it wrote itself makes room
    assert not (mine / "README.md.old1").exists()
    with pytest.raises(mg.MorphGraphError, match=r"thesis\.tex"):
        small.export(mine / "thesis.tex")
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(mg.MorphGraphError, match="An export needs a folder"):
        small.export("")
    assert set(tmp_path.iterdir()) == before


def test_what_is_shown_is_data_too(tokeniser: mg.Tokeniser, gold: mg.GoldSet) -> None:
    assert len(gold) == len(list(gold)) == len(gold.to_frame()) == 939
    tree = tokeniser.tree("undesirable", gold=gold)
    assert list(tree.to_frame()["merge"]) == [merge.description for merge in tree.tree.merges]
    blamed, curve = tokeniser.blame(gold), tokeniser.thresholds(gold)
    assert curve.best is not None
    train, _ = gold.split()
    assert len(tokeniser.blame(train).types(curve.best.threshold)) == curve.best.removed
    assert tokeniser.knock_out(gold, threshold=curve.best.threshold).after.f1 == curve.best.f1
    around = tokeniser.around("able", gold=gold)
    for each in (tree.to_dict(), blamed.to_dict(), curve.to_dict(), around.to_dict()):
        assert json.loads(json.dumps(each, allow_nan=False))
    shown, whole = around.to_networkx(), tokeniser.to_networkx()
    assert set(shown.edges) <= set(whole.edges)
    assert sum(len(trace.x) for trace in curve.plot().data) == 3 * len(curve.points)
    assert blamed.plot().data


def test_silver_is_the_file_that_the_command_writes(tmp_path: Path) -> None:
    counts = wordfreq_counts("de", wordlist="small")
    counts = WordCounts(counts.words[:400], counts.counts[:400])
    whole = [(word, [word]) for word in counts.words[:300]]
    made = mg.silver(counts, gold=whole, words=300, seed=2, out=tmp_path / "silver.tsv")
    analyses = {word: [(word,)] for word in counts.words[:300]}
    wanted = silver_reference(counts, "given counts", 300, 2, analyses)
    assert (tmp_path / "silver.tsv").read_text(encoding="utf-8") == wanted
    assert made == mg.read_gold(str(tmp_path / "silver.tsv"))
    assert made.reference.is_silver and len(made) == 300
    for counted, message in (({}, "given counts: there are no words"), (counts, "0 words are too")):
        with pytest.raises(mg.MorphGraphError, match=message):
            mg.silver(counted, words=0 if counted else 1)


def test_a_method_is_exported(tokeniser: mg.Tokeniser, tmp_path: Path) -> None:
    made = tokeniser.method("flota", k=2).export(tmp_path, words=["undesirable"])
    assert (made.kind, made.method, made.checked_words) == ("folder", "FLOTA(k=2)", 1)
    assert (tmp_path / "lookup.py").is_file()
    tokeniser.method("first").export(tmp_path, words=["undesirable"])  # it makes room
    assert not [*tmp_path.glob("*.old")]
    transformers = pytest.importorskip("transformers")
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path, trust_remote_code=True)
    assert loaded.tokenize(" undesirable") == ["Ġund", "es"]
