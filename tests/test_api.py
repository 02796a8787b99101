"""The library in a notebook: what a reader may type, and what it shows."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from strategies import SEVERAL_MERGES
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.api import LoadedTokeniser
from morphgraph.core.demos import demo_gold_path, demo_tokeniser_path
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.segment.exporting import export_to
from morphgraph.tokeniser.loading import load_tokeniser

DOCS = Path(__file__).parent.parent / "docs"

PROMISE = """
import morphgraph as mg

tokeniser = mg.load("demo:en")         # a file, a folder, demo:…, a tokenizers.Tokenizer, a transformers tokeniser
gold = mg.read_gold("demo:en")         # a file, demo:…, catalogue:…, a list of (word, morphs)
tokeniser.tokenize("undesirable")      # ['Ġund', 'es', 'ir', 'able']
tokeniser.score(gold)                  # its repr is the printed line with its signature; .to_frame()
better = tokeniser.knock_out(gold, threshold=0.5)       # a result; .tokeniser is new, the old one is as it was
best = tokeniser.rebpe(gold).tokeniser
mg.compare({"BPE": tokeniser, "ReBPE": best, "FLOTA": tokeniser.method("flota", k=2)}, gold)
tokeniser.tree("undesirable", gold=gold)                # draws itself in a notebook (SVG)
tokeniser.around("able")                                # the merge graph there, draws itself
best.export("folder")                                   # AutoTokenizer loads it
"""  # noqa: E501


@pytest.fixture(scope="module")
def tokeniser() -> LoadedTokeniser:
    """Only for tests that leave it as it is."""
    return mg.load("demo:en")


@pytest.fixture(scope="module")
def gold() -> GoldSet:
    return mg.read_gold("demo:en")


@pytest.fixture
def small(small_document: Callable[..., dict[str, Any]], tmp_path: Path) -> LoadedTokeniser:
    """u n d o: un, do, undo; and s."""
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("undo", "s")]
    (tmp_path / "tokenizer.json").write_text(json.dumps(small_document(merges, "undos")))
    return mg.load(tmp_path / "tokenizer.json")


SMALL = [("undos", ["un", "do", "s"]), ("undo", ["un", "do"])]


def test_what_is_promised_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(PROMISE, names)
    first, better, best = names["tokeniser"], names["better"], names["best"]
    assert first.tokenize("undesirable") == ["Ġund", "es", "ir", "able"]
    assert (first.graph.history, better.tokeniser is first) == ((), False)
    assert better.before.f1 == first.score(names["gold"]).f1 < better.after.f1
    transformers = pytest.importorskip("transformers")
    loaded = transformers.AutoTokenizer.from_pretrained("folder", trust_remote_code=True)
    assert loaded.tokenize(" undesirable") == best.tokenize("undesirable")


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


def test_the_page_of_the_api_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "api.md").read_text(encoding="utf-8") == module.page()


def test_importing_loads_nothing() -> None:
    code = "import sys, morphgraph; print('numpy' in sys.modules, 'morphgraph.api' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
    assert {"load", "read_gold", "compare", "MorphGraphError"} <= set(dir(mg))
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        mg.lod  # type: ignore[attr-defined]  # noqa: B018


# --------------------------------------------------------------------------------- loading


def test_all_that_can_be_loaded(tokeniser: LoadedTokeniser, tmp_path: Path) -> None:
    file = demo_tokeniser_path("en")
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    library = Tokenizer.from_file(str(file))
    fast = SimpleNamespace(backend_tokenizer=library, name_or_path="some/model")
    for source in (file, str(file), tmp_path, library, fast, load_tokeniser("demo:en")):
        assert mg.load(source).segment(["undesirable", "houses"]) == tokeniser.segment(
            ["undesirable", "houses"]
        )
    assert mg.load(fast).name == "some/model"


def test_a_tokeniser_of_transformers(tokeniser: LoadedTokeniser) -> None:
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(demo_tokeniser_path("en")))
    assert mg.load(fast).tokenize("undesirable") == tokeniser.tokenize("undesirable")


@pytest.mark.slow
def test_all_that_can_be_read(gold: GoldSet) -> None:
    pairs = [(entry.word, list(entry.morphs)) for entry in gold.reference.entries]
    for source in (demo_gold_path("en"), str(demo_gold_path("en")), pairs, gold, gold.reference):
        read = mg.read_gold(source)
        assert [(e.word, list(e.morphs)) for e in read.reference.entries] == pairs
    with pytest.raises(mg.MorphGraphError, match="reference get"):
        mg.read_gold("catalogue:morphynet-deu")


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
        ([(1, ["a"])], ["Pair 1", "Give a string"]),
        ([], ["no pairs"]),
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
        (lambda t: t.encode("undo"), "not a list of words"),
        (lambda t: t.segment(["undo", 7]), "not a string"),
        (lambda t: t.tokenize(["undo"]), "not a word"),
        (lambda t: t.tokenize(""), "not a word"),
        (lambda t: t.knock_out(types="undo"), "not a list of types"),
        (lambda t: t.graph.knockout("undo"), "not a list of types"),
        (lambda t: t.graph.cascade("undo"), "not a list of types"),
        (lambda t: t.graph.preview_knockout("undo"), "not a list of types"),
        (lambda t: t.graph.anneal([], "xy"), "not a list of atoms"),
        (lambda t: t.graph.replay([{"edit": "knockout", "types": "undo"}]), "Step 1"),
        (lambda t: t.knock_out(types=["nothing"]), "not a type"),
        (lambda t: t.knock_out(types=["undo"], holdout=0.5), "holdout"),
        (lambda t: t.knock_out(), "Give gold"),
        (lambda t: t.knock_out(SMALL, treshold=1), "treshold"),
        (lambda t: t.knock_out(SMALL, threshold=2), "from 0 to 1"),
        (lambda t: t.rebpe(SMALL, cycles=1), "cycles"),
        (lambda t: t.method("flotta"), "flota"),
        (lambda t: t.method("rebpe"), "Use knock_out or rebpe"),
        (lambda t: t.method("flota", q=1), "no parameter"),
        (lambda t: t.score(SMALL, metrics="f1"), "not a list of scores"),
        (lambda t: t.score(SMALL, scope="word"), "morphemic"),
        (lambda t: t.score(SMALL, scope="whole-word"), "Choose another scope"),
        (lambda t: t.score(SMALL, weighting="tokens"), "frequencies"),
        (lambda t: t.score(SMALL)["f2"], "is not a score"),
        (lambda t: t.score(SMALL)["boundaries"], "several scores"),
        (lambda t: t.around("nothing"), "not a type"),
        (lambda t: t.tree("undo").save("tree.png"), "does not end in .svg"),
        (lambda t: mg.compare({}, SMALL), "nothing to compare"),
        (lambda t: mg.compare([t], SMALL), "nothing to compare"),
        (lambda t: mg.compare({"a": 7}, SMALL), "not a tokeniser"),
        (lambda t: mg.compare({"a": t}, SMALL, baseline="b"), "not one of those compared"),
    ],
)
def test_errors_say_what_is_wrong(
    small: LoadedTokeniser, use: Callable[[Any], Any], says: str
) -> None:
    with pytest.raises(mg.MorphGraphError, match=re.escape(says)):
        use(small)
    assert small.graph.history == ()


# --------------------------------------------------------------------------------- refinement


def test_a_knockout_by_blame_is_that_of_the_library(
    tokeniser: LoadedTokeniser, gold: GoldSet
) -> None:
    plain = load_tokeniser("demo:en")
    expected = knock_out(plain, Benchmark.on(gold, plain), KnockoutSettings(threshold=0.7))
    result = tokeniser.knock_out(gold, threshold=0.7)
    assert result.before is not None
    assert result.after is not None
    assert list(result.removed) == expected.removed
    assert result.before.f1 == pytest.approx(expected.before[0].f1)
    assert result.after.f1 == pytest.approx(expected.after[0].f1)
    assert tokeniser.blame(gold).types(0.7) == expected.removed


def test_chosen_types(small: LoadedTokeniser) -> None:
    result = small.knock_out(types=["undo"])
    assert (result.removed, result.before, result.after) == (("undo",), None, None)
    assert result.tokeniser.tokenize("undos") == ["undos"]
    assert result.tokeniser.tokenize("undo") == ["un", "do"]
    assert small.tokenize("undo") == ["undo"]
    scored = small.knock_out(SMALL, types=["undo"], cascade=True)
    assert scored.removed == ("undo", "undos")
    # None of three gold boundaries, then all of them, as s is an atom.
    assert (scored.before["recall"], scored.after["recall"]) == (0.0, 1.0)  # type: ignore[index]
    assert "2 types removed" in repr(scored)


def test_types_that_nothing_forms(small_document: Any) -> None:
    document = small_document(SEVERAL_MERGES, "abcde")
    tokeniser = mg.load(Tokenizer.from_str(json.dumps(document)))
    found = tokeniser.knock_out(types=["abcd"])
    assert found.never_formed == ("abcde",)
    assert "1 type removed, 1 type never formed" in repr(found)
    assert tokeniser.knock_out(types=["abcde"]).never_formed == ()
    gone = found.tokeniser.knock_out(types=found.never_formed, cascade=True)
    assert gone.removed == ("abcde",)
    assert gone.never_formed == ()
    assert found.tokeniser.knock_out(types=["bcd"]).never_formed == (), "it was so before"


def test_in_place(small: LoadedTokeniser) -> None:
    result = small.knock_out(SMALL, in_place=True)
    assert result.tokeniser is small
    assert small.tokenize("undo") == ["un", "do"]
    assert result.before is not None
    assert result.before["recall"] == 0.0
    again = small.copy()
    run = again.rebpe(SMALL, in_place=True)
    assert run.tokeniser is again
    assert len(run.to_frame()) == len(run.phases)


def test_edits_go_on_from_edits(small: LoadedTokeniser) -> None:
    one = small.knock_out(types=["undos"]).tokeniser
    two = one.knock_out(types=["undo"]).tokeniser
    assert [len(each.graph.history) for each in (small, one, two)] == [0, 1, 2]
    assert two.tokenize("undos") == ["un", "do", "s"]


def test_what_was_learned_from_these_words_is_held_in(
    tokeniser: LoadedTokeniser, gold: GoldSet
) -> None:
    learned = tokeniser.knock_out(gold).tokeniser
    both = {"BPE": tokeniser, "better": learned, "FLOTA": learned.method("flota")}
    shown = mg.compare(both, gold)._repr_html_()
    assert [f"{name} (held in)" in shown for name in both] == [False, True, True]


# --------------------------------------------------------------------------------- what is shown


def test_one_line_and_no_vocabulary(small: LoadedTokeniser, gold: GoldSet) -> None:
    pairs = mg.read_gold(SMALL)
    tree = small.tree("undos", gold=SMALL)
    shown = [
        small,
        load_tokeniser("demo:en"),
        gold,
        gold.reference,
        Benchmark.on(gold, small),
        small.score(pairs),
        small.blame(pairs),
        small.knock_out(pairs),
        small.rebpe(pairs),
        mg.compare({"a": small, "b": small.method("greedy")}, pairs),
        tree,
        small.around("undo"),
    ]
    for each in shown:
        assert "\n" not in repr(each)
        assert len(repr(each)) < 600
    assert repr(gold) == "<GoldSet demo:en: plain, 939 entries>"
    assert repr(tree) == "<TreePicture undos: undos>"
    assert "9 types, 4 merges" in repr(small)


def test_a_score_is_its_line_with_its_signature(small: LoadedTokeniser) -> None:
    score = small.knock_out(types=["undos"]).tokeniser.score(SMALL, metrics=["f1", "exact"])
    # undo s, undo: one of three boundaries is split, and no other.
    assert (score.precision, score.recall, score.f1) == (1.0, 1 / 3, 0.5)
    assert repr(score).startswith("precision 100.00 %, recall 33.33 %, F1 50.00 % | reference:")
    assert repr(score).endswith(score.signature)
    frame = score.to_frame()
    assert list(frame["f1"]) == [0.5]
    assert "exact" in frame
    assert "50.00" in score._repr_html_()


def test_labels_are_plain_text(small: LoadedTokeniser) -> None:
    compared = mg.compare({"<b>&": small, "x\n": small.method("flota", k=1)}, SMALL, baseline="x\n")
    shown = compared._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>" not in shown
    assert len(compared.to_frame()) == 2
    assert "&" in compared.to_markdown()
    assert "toprule" in compared.to_latex()


def test_pictures(
    small_document: Callable[..., dict[str, Any]], small: LoadedTokeniser, tmp_path: Path
) -> None:
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
    unknown = small.around("undo").scene.vertices
    assert not any("blame" in vertex.tooltip for vertex in unknown)


def test_an_export_sets_other_files_aside(
    tokeniser: LoadedTokeniser,
    small: LoadedTokeniser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "out"
    assert tokeniser.export(folder, words=["undo"]).kind == "tokenizer.json"
    assert mg.load(folder).tokenize("capable") == ["Ġcapable"]
    tuples = tokeniser.knock_out(types=["able", "Ġcapable"]).tokeniser
    assert tuples.export(folder, words=["undo"]).kind == "folder"
    # The earlier form would be loaded in place of the new one.
    assert mg.load(folder).tokenize("capable") == ["Ġcap", "ab", "le"]
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("thesis.tex", "README.md", "tokenizer.json"):
        (mine / name).write_text(f"all of {name}")
    with pytest.warns(UserWarning, match="was there already: it is now") as told:
        made = small.export(mine, words=["undo"])
    assert len(told) == 2
    assert {path.name for path in mine.iterdir()} == {
        *("thesis.tex", "README.md.old", "tokenizer.json.old"),
        *made.files,
    }
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


def test_a_method_is_exported(tokeniser: LoadedTokeniser, tmp_path: Path) -> None:
    made = export_to(tokeniser.method("flota", k=2), tmp_path, ["undesirable"])
    assert (made.kind, made.method, made.checked_words) == ("folder", "FLOTA(k=2)", 1)
    assert (tmp_path / "flota.py").is_file()
    export_to(tokeniser.method("first"), tmp_path, ["undesirable"])  # it makes room
    assert not [*tmp_path.glob("*.old")]
    transformers = pytest.importorskip("transformers")
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path, trust_remote_code=True)
    assert loaded.tokenize(" undesirable") == ["Ġund", "es"]


def test_a_graph_takes_any_iterable_of_types() -> None:
    graph = MergeGraph.from_merges([("u", "n"), ("d", "o")], alphabet="undo")
    assert graph.knockout(text for text in ("un", "do")).removed_types


def test_a_corpus_is_measured(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("The dogs run home.\nHouses stand there.\n", "utf-8")
    (tmp_path / "de.txt").write_text("Die Hunde rennen heim.\nHäuser stehen dort.\n", "utf-8")
    found = mg.load("demo:en").measure(tmp_path, parallel=True, base="en")
    frame = found.to_frame()
    assert list(frame.index) == ["de", "en", "all"]
    assert frame.loc["de", "relative_tokens"] == frame.loc["de", "tokens"] / 12
    assert found.gini == pytest.approx(5 / 34)  # 11 and 6 tokens a line
    assert found.lorenz["costs"].tolist() == pytest.approx([0, 6 / 17, 1])
    assert repr(found).startswith("34 tokens of 14 words, 2.429 per word | corpus:")
    assert "Relative to en" in found._repr_html_()
    [words] = mg.load("demo:en").measure(tmp_path / "en.txt").to_frame().loc[["all"], "tokens"]
    assert words == 14
