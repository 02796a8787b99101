"""A model with an edited tokeniser whose types keep their ids says what it said before."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
os.environ["HF_HUB_OFFLINE"] = "1"
torch.set_num_threads(1)

import transformers  # noqa: E402

import morphgraph as mg  # noqa: E402
from morphgraph.formats.loading import load_tokeniser  # noqa: E402

pytestmark = pytest.mark.models

PROMPTS = ["the undoing of", "they read and undo what", " readers"]
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 24,
    "max_position_embeddings": 64,
}
ROWS = 8_064
"""The demo's 8,000 types, padded to a multiple of 64."""


@dataclass(frozen=True)
class Kind:
    """A kind of model: its configuration, and how it is saved."""

    config: dict[str, Any] = field(default_factory=lambda: SIZES)
    saving: dict[str, Any] = field(default_factory=dict)


KINDS = {
    "llama": Kind({**SIZES, "tie_word_embeddings": False}),
    "gpt2": Kind(
        {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64},
        {"max_shard_size": "100KB"},
    ),
    "gemma": Kind({**SIZES, "head_dim": 8}),
    "qwen2": Kind({**SIZES, "tie_word_embeddings": True}),
    "phi": Kind(),  # whose head has a bias
}


def answers(folder: Path) -> tuple[list[str], set[int]]:
    """What a model says to each prompt, at most probable tokens, and the ids of all of that."""
    tokeniser = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    texts, used = [], set[int]()
    for prompt in PROMPTS:
        given = torch.tensor([tokeniser(prompt)["input_ids"]])
        with torch.no_grad():
            [ids] = model.generate(
                given, max_new_tokens=20, do_sample=False, suppress_tokens=[*range(8_000, ROWS)]
            ).tolist()
        texts.append(tokeniser.decode(ids))
        used.update(ids)
    return texts, used


def tensors(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return {name: t for path in folder.glob("*.safetensors") for name, t in load_file(path).items()}


@pytest.mark.parametrize("name", KINDS)
def test_what_it_generates_stays(name: str, tmp_path: Path) -> None:
    kind, tokeniser = KINDS[name], mg.load("demo:en")
    model, edited, out = (tmp_path / each for each in ("model", "edited", "out"))
    tokeniser.export(model, words=["undo"])
    torch.manual_seed(1)
    ids = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    config = transformers.AutoConfig.for_model(name, vocab_size=ROWS, **kind.config, **ids)
    made = transformers.AutoModelForCausalLM.from_config(config)
    if name == "phi":
        torch.nn.init.normal_(made.lm_head.bias)
    made.save_pretrained(model, **kind.saving)
    if kind.saving:
        assert len([*model.glob("*.safetensors")]) > 1
    said, used = answers(model)

    numbers = {text: tokeniser.id_of(text) for text in tokeniser.types}
    merges = load_tokeniser("demo:en").graph
    parts = {part for merge in merges.merges().values() for part in merge.parts}
    last = [merges.types[m.result] for m in merges.merges().values() if m.result not in parts]
    unused = [text for text in last if numbers[text] not in used]
    result = tokeniser.knock_out_types(unused[::9], portable=True)
    assert len(result.removed) > 300
    kept = {*numbers.values()} - {numbers[text] for text in result.removed}
    assert used <= kept, "what it said can still be said"
    result.tokeniser.export(edited, words=["undo"])
    mg.models.transplant(model, edited, out)

    assert answers(out)[0] == said
    before, after = tensors(model), tensors(out)
    assert {*before} == {*after}
    rows = torch.tensor(sorted(kept))
    for key, tensor in before.items():
        other = after[key]
        assert tensor.shape == other.shape, "the padding stays"
        if tensor.shape[0] == ROWS:
            tensor, other = tensor[rows], other[rows]
        assert torch.equal(
            tensor.contiguous().view(torch.uint8), other.contiguous().view(torch.uint8)
        ), key
    for file in ("config.json", "generation_config.json"):
        old, new = (json.loads((folder / file).read_text("utf-8")) for folder in (model, out))
        changed = {"transformers_version", "_name_or_path"}
        assert {k: v for k, v in old.items() if k not in changed} == {
            k: v for k, v in new.items() if k not in changed
        }
