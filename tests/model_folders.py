"""Models' folders made by hand, with no torch: a configuration, weights, and a tokeniser."""

import json

import numpy as np
from safetensors.numpy import load_file, save_file

from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.formats.recipe import write_recipe

WIDTH = 4
CONFIG = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 5}


def matrix(rows, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(rows, WIDTH)).astype(dtype)


def write_model(folder, document, tensors, **config):
    """A model's folder; ``document`` is its ``tokenizer.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {**CONFIG, "vocab_size": len(next(iter(tensors.values()))), **config}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    save_file(dict(tensors), folder / "model.safetensors", {"format": "pt"})
    return folder if document is None else write_tokeniser(folder, document)


def write_tokeniser(folder, document):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def weights(folder):
    return load_file(folder / "model.safetensors")


def vocabulary(folder):
    document = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    listed = document["model"]["vocab"]
    if isinstance(listed, list):
        listed = {text: number for number, (text, _) in enumerate(listed)}
    return listed | {token["content"]: token["id"] for token in document["added_tokens"]}


def shard(folder):
    """The weights of a folder, each tensor in a file of its own."""
    tensors = weights(folder)
    (folder / "model.safetensors").unlink()
    names = {}
    for number, (name, array) in enumerate(tensors.items(), start=1):
        names[name] = f"model-{number:05}-of-{len(tensors):05}.safetensors"
        save_file({name: array}, folder / names[name], {"format": "pt"})
    index = {"metadata": {"total_size": 1, "total_parameters": 1}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def special_token(text, number):
    """An entry of ``added_tokens``."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"content": text, "id": number, "special": True, **flags}


def saved_files(tokeniser):
    """An exported folder without what only `transformers` needs, and without any check."""
    data, id_map = to_tokenizer_json(tokeniser)
    return {
        "tokeniser.bte.json" if tokeniser.graph.has_tuples else "tokenizer.json": data,
        "recipe.json": write_recipe(tokeniser, whole=True),
        "ids.json": json.dumps(id_map).encode(),
    }
