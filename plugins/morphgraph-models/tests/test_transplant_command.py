"""`morphgraph transplant`: what it prints, and what it refuses before it writes anything."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from model_folders import matrix, shard, weights, write_model, write_tokeniser
from safetensors.numpy import save_file
from small import small_document

MERGES = [("u", "n"), ("d", "o"), ("un", "do")]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    tensors = {"wte.weight": matrix(7), "lm_head.weight": matrix(7, 1)}
    return write_model(tmp_path / "model", small_document(MERGES), tensors)


@pytest.fixture
def tokeniser(tmp_path: Path) -> Path:
    return write_tokeniser(tmp_path / "new", small_document([("u", "n"), ("n", "d")], "undo"))


def test_what_it_prints(morphgraph: Command, model: Path, tokeniser: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = morphgraph("transplant", model, tokeniser, "--out", out)
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == [
        "tensor          is      before  after",
        "lm_head.weight  output   7 × 4  6 × 4",
        "wte.weight      input    7 × 4  6 × 4",
        "5 rows copied",
        "1 row made (mean)",
        "  nd: n + d",
        "1 id of dropped types reused",
        "  nd, was do",
        "2 rows dropped",
        "  do undo",
        "config.json: vocab_size 7 → 6",
        f"saved {out}",
    ]
    assert len(weights(out)["wte.weight"]) == 6


def test_nothing_is_written_without_out(
    morphgraph: Command, model: Path, tokeniser: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    given = ("transplant", model, tokeniser)
    assert morphgraph(*given).out.endswith("nothing written\n")
    report = morphgraph(*given, "--json").json
    assert report["made"] == {"nd": ["n", "d"]}
    assert (report["kept"], report["dropped"], report["folder"]) == (5, ["do", "undo"], None)
    assert sorted(tmp_path.rglob("*")) == before


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def config(**fields: Any) -> Callable[[Path], None]:
    return lambda model: changed(model / "config.json", lambda found: found.update(fields))


def tensors(**named: np.ndarray[Any, Any]) -> Callable[[Path], None]:
    found = {name.replace("__", "."): array for name, array in named.items()}
    return lambda model: save_file({**weights(model), **found}, model / "model.safetensors")


def only(name: str) -> Callable[[Path], None]:
    return lambda model: save_file({name: matrix(7)}, model / "model.safetensors")


def index(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def damage(model: Path) -> None:
        shard(model)
        path = model / "model.safetensors.index.json"
        changed(path, lambda found: change(found["weight_map"]))

    return damage


def tokeniser_model(**fields: Any) -> Callable[[Path], None]:
    """``vocab`` is added to, other fields are replaced."""

    def change(model: dict[str, Any]) -> None:
        vocab = model["vocab"] | fields.get("vocab", {})
        model.update({**fields, "vocab": vocab})

    return lambda model: changed(model / "tokenizer.json", lambda found: change(found["model"]))


REFUSED = {
    "its merges and types do not fit together": tokeniser_model(merges=[["u", "x"]]),
    "its merges and types do not fit together (T": tokeniser_model(merges=[7]),
    "Pickled weights, such as pytorch_model.bin, can run code": lambda model: (
        model / "model.safetensors"
    ).rename(model / "pytorch_model.bin"),
    "neither model.safetensors nor": lambda model: (model / "model.safetensors").unlink(),
    "has 8 ids, but the model has 7 rows": tokeniser_model(vocab={"more": 7}),
    "vocab_size: a number of ids is expected": config(vocab_size=None),
    "“lm_head.weight”: this layout is not known: it is 7 × 4, where vocab_size is 9": config(
        vocab_size=9
    ),
    "“lm_head.weight”: this layout is not known: it is 3 × 4": tensors(lm_head__weight=matrix(3)),
    "“codes.weight”: this layout is not known: it has 7 rows": tensors(codes__weight=matrix(7)),
    "“crit.proj”: this layout is not known": tensors(crit__proj=matrix(7).T.copy()),
    "name of an input embedding": only("lm_head.weight"),
    "tie_word_embeddings: it is false, but no tensor": lambda model: (
        only("wte.weight")(model),
        config(tie_word_embeddings=False)(model),
    ),
    "“lm_head.weight”: it is of I32, not of F32": tensors(
        lm_head__weight=np.zeros((7, 4), np.int32)
    ),
    "eos_token_id of the model is 4, which is an ordinary type, “un”": config(eos_token_id=4),
    "eos_token_id of the model is 1, which is the padding token, “n”": lambda model: (
        config(eos_token_id=1)(model),
        (model / "tokenizer_config.json").write_text('{"pad_token": "n"}'),
    ),
    "field decoder_start_token_id": config(is_encoder_decoder=True, decoder_start_token_id=7000),
    "both there": lambda model: (
        shard(model),
        save_file({"a": matrix(1)}, model / "model.safetensors"),
    ),
    "is not the name of a file beside it": index(
        lambda names: names.update(other="../model.safetensors")
    ),
    "-of-00002.safetensors has it, or the index says so, but not both": index(
        lambda names: names.update(zip(names, [*names.values()][::-1], strict=True))
    ),
    "tensor “other”: model-00002-of-00002.safetensors has it, or": index(
        lambda names: names.update(other=names["wte.weight"])
    ),
    "no such file or directory": index(lambda names: names.update(other="none.safetensors")),
    "the folder holds no tokeniser": lambda model: (model / "tokenizer.json").unlink(),
}


@pytest.mark.parametrize("problem", REFUSED)
def test_bad_models_are_refused_by_name(
    morphgraph: Command, model: Path, tokeniser: Path, tmp_path: Path, problem: str
) -> None:
    REFUSED[problem](model)
    before = sorted(tmp_path.rglob("*"))
    run = morphgraph("transplant", model, tokeniser, "--out", tmp_path / "a" / "b")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("morphgraph: ")
    assert run.err.count("\n") == 1
    assert problem in run.err
    assert sorted(tmp_path.rglob("*")) == before


def test_bad_arguments_are_refused(
    morphgraph: Command, model: Path, tokeniser: Path, tmp_path: Path
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("")
    out = tmp_path / "out"
    to_out = (tokeniser, "--out", out)
    for problem, arguments in {
        "full: the folder is not empty. Choose another place with --out": (
            *(model, *to_out[:2], full),
        ),
        "'median' is not one of": (model, *to_out, "--init", "median"),
        "'mean' is not one of 'median'": (model, *to_out, "--norm", "mean"),
        "this is not a folder": (model, tokeniser / "tokenizer.json", *to_out[1:]),
        "from 1 to 65536": (model, *to_out, "--set", f"pad_to_multiple_of={10**14}"),
        'AutoModel.from_pretrained("nope")': ("nope", *to_out),
        'AutoModel.from_pretrained("gpt2")': ("gpt2", *to_out),
        "there is no such folder": (model / "model.safetensors", *to_out),
    }.items():
        run = morphgraph("transplant", *arguments)
        assert (run.code, run.out) == (2, "")
        assert problem in run.err, run.err
    assert not out.exists()


def test_rows_of_a_tied_matrix_are_not_scaled(
    morphgraph: Command, model: Path, tokeniser: Path, tmp_path: Path
) -> None:
    """The configuration says whether it is, or else whether an output projection is stored."""
    given = ("transplant", model, tokeniser, "--norm", "median")
    for change, fails in (
        (config(), False),
        (config(tie_word_embeddings=True), True),
        (config(tie_word_embeddings=False), False),
        (lambda model: (only("wte.weight")(model), config(architectures=[])(model)), False),
        (lambda model: changed(model / "config.json", lambda found: found.popitem()), True),
    ):
        change(model)
        run = morphgraph(*given)
        assert (run.code, "is its output projection, too" in run.err) == (2 * fails, fails)
        assert fails or "made (mean; input rows scaled to the" in run.out


def test_a_model_that_counts_positions_from_its_padding(
    morphgraph: Command, model: Path, tmp_path: Path
) -> None:
    config(model_type="roberta", pad_token_id=1)(model)
    (model / "tokenizer_config.json").write_text('{"pad_token": "n"}')
    moved = write_tokeniser(tmp_path / "moved", small_document([("u", "n")], "nodu"))
    run = morphgraph("transplant", model, moved, "--out", tmp_path / "out")
    assert run.code == 2
    assert "the padding token has the id 0, but this model counts positions from it" in run.err
