"""Models carried over run in `transformers` as before: BERT, RoBERTa, XLM-R, GPT-2, Llama, T5."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
os.environ["HF_HUB_OFFLINE"] = "1"
torch.set_num_threads(1)

import transformers  # noqa: E402
from model_folders import write_tokeniser  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402

import morphgraph as mg  # noqa: E402
from morphgraph.formats.loading import load_tokeniser  # noqa: E402

pytestmark = pytest.mark.models

TEXTS = [
    "the undoing of a desirable thing is undesirable",
    "they do and undo what is done and undone in the end",
    "readers reread unreadable readings, and read on",
    "a rereading reader is read to, unread and doing things",
]
SPECIAL = {
    "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    "xlm-roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    "gpt2": ["<|endoftext|>"],
    "llama": ["<unk>", "<s>", "</s>"],
    "t5": ["<pad>", "</s>", "<unk>"],
}
ROLES = {
    "pad_token": ("<pad>", "[PAD]"),
    "unk_token": ("<unk>", "[UNK]"),
    "bos_token": ("<s>", "<|endoftext|>"),
    "eos_token": ("</s>", "<|endoftext|>"),
    "cls_token": ("[CLS]",),
    "sep_token": ("[SEP]",),
    "mask_token": ("<mask>", "[MASK]"),
}
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
}


@dataclass(frozen=True)
class Kind:
    """A kind of model: its tokeniser's, its class and its configuration, and how it is saved."""

    tokeniser: str
    model: str
    config: dict[str, Any]
    dtype: str = "float32"
    saving: dict[str, Any] | None = None
    rows: int = 0


KINDS = {
    "bert": Kind("WordPiece", "AutoModelForMaskedLM", SMALL),
    "roberta": Kind("ByteLevel", "AutoModelForMaskedLM", SMALL, "float16"),
    "xlm-roberta": Kind("Unigram", "AutoModelForMaskedLM", SMALL),
    "gpt2": Kind(
        "ByteLevel",
        "AutoModelForCausalLM",
        {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 40},
        saving={"max_shard_size": "10KB"},
    ),
    "llama": Kind(
        "Metaspace",
        "AutoModelForCausalLM",
        {**SMALL, "tie_word_embeddings": False, "num_key_value_heads": 1},
        "bfloat16",
    ),
    "t5": Kind(
        "Unigram",
        "AutoModelForSeq2SeqLM",
        {"d_model": 16, "d_ff": 24, "d_kv": 8, "num_layers": 2, "num_heads": 2}
        | {"decoder_start_token_id": 0},
        rows=128,
    ),
}


def trained(kind: str, special: list[str]) -> Tokenizer:
    unknown = next((text for text in special if "unk" in text.lower()), None)
    shared: dict[str, Any] = {"vocab_size": 100, "special_tokens": special, "show_progress": False}
    made, trainer = {
        "WordPiece": lambda: (
            models.WordPiece(unk_token=unknown),
            trainers.WordPieceTrainer(**shared),
        ),
        "Unigram": lambda: (models.Unigram(), trainers.UnigramTrainer(unk_token=unknown, **shared)),
        "ByteLevel": lambda: (
            models.BPE(),
            trainers.BpeTrainer(
                initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **shared | {"vocab_size": 330}
            ),
        ),
        "Metaspace": lambda: (models.BPE(unk_token=unknown), trainers.BpeTrainer(**shared)),
    }[kind]()
    library = Tokenizer(made)
    before = {
        "WordPiece": pre_tokenizers.BertPreTokenizer(),
        "ByteLevel": pre_tokenizers.ByteLevel(add_prefix_space=False),
    }.get(kind, pre_tokenizers.Metaspace())
    library.pre_tokenizer = before
    if kind == "ByteLevel":
        library.decoder = decoders.ByteLevel()
    library.train_from_iterator(TEXTS, trainer)
    return library


def other_tokeniser(model: Path, out: Path) -> Path:
    """Without some types, with some new ones, and with other ids: edited here, or knocked out."""
    document = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    listed, special = document["model"]["vocab"], len(document["added_tokens"])
    if document["model"]["type"] == "BPE":
        graph = load_tokeniser(model).graph
        types = [graph.types[merge.result] for merge in graph.merges().values()]
        mg.load(model).knock_out_types(types[3::7]).tokeniser.export(out, words=["undo", "reading"])
        return out
    if document["model"]["type"] == "WordPiece":
        texts = sorted(listed, key=listed.__getitem__)
        kept = [*texts[:special], *texts[: special - 1 : -1][3:], "undone", "##doing", "##read"]
        document["model"]["vocab"] = {
            text: number for number, text in enumerate(dict.fromkeys(kept))
        }
    else:
        pieces = [
            *listed[:special],
            *listed[: special - 1 : -1],
            ["reading", -4.0],
            ["▁undon", -4.5],
        ]
        dropped = [text for text, _ in pieces[special:-2] if len(text) > 3][:4]
        kept = {text: score for text, score in pieces if text not in dropped}
        document["model"]["vocab"] = list(map(list, kept.items()))
    write_tokeniser(out, document)
    return out


@pytest.fixture(scope="module", params=KINDS)
def carried(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, Path, Any]:
    """A model, what it became on another tokeniser, and the report."""
    name = request.param
    kind, special = KINDS[name], SPECIAL[name]
    folder = tmp_path_factory.mktemp(name)
    model, out = folder / "model", folder / "out"
    library = trained(kind.tokeniser, special)
    roles = {
        role: next((text for text in texts if text in special), None)
        for role, texts in ROLES.items()
    }
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=library, **{role: text for role, text in roles.items() if text}
    )
    ids = {f"{role}_id": special.index(text) for role, text in roles.items() if text}
    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        name, vocab_size=kind.rows or len(fast), **kind.config, **ids
    )
    made = getattr(transformers, kind.model).from_config(config)
    made.to(getattr(torch, kind.dtype)).save_pretrained(model, **kind.saving or {})
    fast.save_pretrained(model)
    report = mg.models.transplant(model, other_tokeniser(model, folder / "new"), out)
    return name, model, out, report


def loaded(name: str, folder: Path, dtype: str = "float32") -> Any:
    made = getattr(transformers, KINDS[name].model).from_pretrained(
        folder, dtype=getattr(torch, dtype)
    )
    return made.eval()


def ids_in(folder: Path) -> dict[str, int]:
    found: dict[str, int] = transformers.AutoTokenizer.from_pretrained(
        folder, trust_remote_code=True
    ).get_vocab()
    return found


def both_ids(model: Path, out: Path, report: Any) -> tuple[Any, Any]:
    old, new = ids_in(model), ids_in(out)
    kept = sorted(report.kept)
    return torch.tensor([old[text] for text in kept]), torch.tensor([new[text] for text in kept])


def test_kept_rows_are_the_same_bits(carried: Any) -> None:
    name, model, out, report = carried
    assert report.dropped
    assert len(report.kept) > 30
    assert bool(report.made) == (KINDS[name].tokeniser in ("WordPiece", "Unigram"))
    old, new = both_ids(model, out, report)
    before, after = (loaded(name, folder, KINDS[name].dtype) for folder in (model, out))
    for get in ("get_input_embeddings", "get_output_embeddings"):
        rows, others = (getattr(each, get)().weight for each in (before, after))
        assert len(others) == len(ids_in(out))
        assert torch.equal(rows[old].view(torch.uint8), others[new].view(torch.uint8))


def test_logits_are_the_same_up_to_the_order_of_rows(carried: Any) -> None:
    name, model, out, report = carried
    old, new = both_ids(model, out, report)
    chosen = torch.randint(len(old), (3, 20), generator=torch.Generator().manual_seed(2))
    found = []
    for folder, ids in ((model, old), (out, new)):
        given = {"input_ids": ids[chosen]}
        if name == "t5":
            given["decoder_input_ids"] = ids[chosen[:, :7]]
        with torch.no_grad():
            found.append(loaded(name, folder)(**given).logits[..., ids])
    assert torch.allclose(*found, atol=1e-5, rtol=0)
    assert found[0].std().item() > 1e-3


def test_it_loads_with_its_tokeniser_and_trains_a_step(carried: Any) -> None:
    name, _, out, _ = carried
    tokeniser = transformers.AutoTokenizer.from_pretrained(out, trust_remote_code=True)
    model = loaded(name, out).train()
    assert model.config.vocab_size == len(tokeniser)
    for role in ("pad", "eos", "bos"):
        if (token := getattr(tokeniser, f"{role}_token_id")) is not None:
            assert getattr(model.config, f"{role}_token_id") == token
    ids = torch.tensor([tokeniser(TEXTS[0])["input_ids"]])
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.get_input_embeddings().weight.detach().clone()
    losses: list[float] = []
    step: Callable[[], Any] = lambda: model(input_ids=ids, labels=ids).loss  # noqa: E731
    for _ in range(2):
        loss = step()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    assert losses[1] < losses[0]
    assert not torch.equal(model.get_input_embeddings().weight, before)
