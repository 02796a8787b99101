"""The command that exports: methods on a tokeniser, a vocabulary or a saved model."""

import json
from pathlib import Path

import pytest
from command import Command

from morphgraph.core.files import demo_tokeniser_path

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "un", "##desirable", "desir", "##able", "a", "b"]


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCABULARY))
    return path


@pytest.mark.slow
def test_a_method_on_a_tokeniser(morphgraph: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = morphgraph("export", "demo:en", "--method", "flota(k=2)", "--out", out)
    assert run.code == 0, run.err
    assert "10,000 words and 1,000 sentences: the same ids" in run.out
    assert "form: folder (FLOTA is not a model of the tokenizers library)\n8,000 types\n" in run.out
    assert run.out.splitlines()[-1].startswith("FLOTA(k=2):demo:en@")
    held = json.loads((out / "tokeniser.method.json").read_text("utf-8"))["model"]
    assert (held["type"], held["method"]["parameters"]) == ("flota", {"k": 2})
    original = json.loads(demo_tokeniser_path("en").read_text("utf-8"))
    assert held["vocab"] == original["model"]["vocab"], "the model needs no change"
    readme = (out / "README.md").read_text("utf-8")
    assert readme.startswith("# A tokeniser from morphgraph\n\nFLOTA(k=2), made from ` demo:en `")
    # What an earlier run wrote makes room; the other form is set aside.
    again = morphgraph("export", "demo:en", "--out", out, "--json")
    assert again.json["kind"] == "tokenizer.json" and again.json["method"] == "BPE"
    assert [path.name for path in out.glob("*.old*")] == ["tokeniser.method.json.old"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json"])
def test_a_folder_with_a_vocabulary(morphgraph: Command, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "bert"
    folder.mkdir()
    model = {"type": "WordPiece", "vocab": {text: n for n, text in enumerate(VOCABULARY)}}
    text = "\n".join(VOCABULARY) if name == "vocab.txt" else json.dumps({"model": model})
    (folder / name).write_text(text)
    settings = {"model_max_length": 64, "padding_side": "left", "unk_token": "[UNK]"}
    more = {"pad_token": "[UNK]", "mask_token": "[MASK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, **more}))
    out = tmp_path / "out"
    run = morphgraph("export", folder, "--method", "flota(k=3)", "--out", out)
    assert run.code == 0, run.err
    config = json.loads((out / "tokenizer_config.json").read_text())
    assert (config["model_max_length"], config["padding_side"]) == (64, "left")
    roles = {key: value for key, value in config.items() if key.endswith("_token")}
    contents = {k: v if isinstance(v, str) else v["content"] for k, v in roles.items()}
    # As in transformers, a special token that the vocabulary lacks is added to it.
    assert contents == {"unk_token": "[UNK]", "pad_token": "[UNK]", "mask_token": "[MASK]"}


@pytest.mark.slow
def test_a_recipe_first(morphgraph: Command, tmp_path: Path) -> None:
    edited, out = tmp_path / "edited", tmp_path / "out"
    given = ("demo:nl", "demo:nl", "--out", edited)
    assert morphgraph("knockout", *given).code == 0
    given = ("demo:nl", "--recipe", edited / "recipe.json", "--out", out)
    run = morphgraph("export", *given, "--method", "longest(k=2)", "--json")
    assert run.code == 0, run.err
    held = json.loads((out / "tokeniser.method.json").read_text("utf-8"))["model"]
    assert any(merge.count(" ") > 1 for merge in held["of"]["merges"])
    assert json.loads((out / "ids.json").read_text()) == json.loads(
        (edited / "ids.json").read_text()
    )
