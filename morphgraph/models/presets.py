"""Models made from scratch with transformers' own classes, or opened from a folder."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.models.libraries import require_libraries
from morphgraph.models.task import TaskRun

ModelKind = Literal["classification", "tagging", "causal-lm", "masked-lm", "translation"]


class Shape(NamedTuple):
    """The depth and width of a model; of each half of it for a translator."""

    width: int
    layers: int
    heads: int


SHAPES = {"tiny": Shape(128, 2, 2), "small": Shape(256, 4, 4)}
_CLASSES: dict[str, str] = {
    "classification": "AutoModelForSequenceClassification",
    "tagging": "AutoModelForTokenClassification",
    "causal-lm": "AutoModelForCausalLM",
    "masked-lm": "AutoModelForMaskedLM",
    "translation": "AutoModelForSeq2SeqLM",
}


def make_model(kind: ModelKind, run: TaskRun, classes: int = 0) -> Any:
    """Return the model of a run, initialised from its seed.

    A model made from scratch is a BERT, GPT-2 or BART with one row for each id. A folder that
    transformers cannot open as such a model raises `MorphGraphError`.
    """
    require_libraries()
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    transformers.set_seed(run.seed)
    kind_of = getattr(transformers, _CLASSES[kind])
    labels = {"num_labels": classes} if classes else {}
    folder = run.settings.model
    if folder is None:
        return kind_of.from_config(_config(kind, run, **labels))
    try:
        # A head for other classes is initialised afresh.
        own = {**labels, "ignore_mismatched_sizes": True} if classes else {}
        model = kind_of.from_pretrained(folder, local_files_only=True, **own)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        problem = str(error).strip().splitlines()[0][:200]
        raise MorphGraphError(
            f"{folder}: transformers cannot open it for {kind} ({problem}). Choose a checkpoint "
            "of a model that is made for this."
        ) from error
    if model.config.pad_token_id is None:
        model.config.pad_token_id = run.ids.special["pad"]
    return model


def _config(kind: ModelKind, run: TaskRun, **labels: int) -> Any:
    from transformers import BartConfig, BertConfig, GPT2Config

    shape, ids = SHAPES[run.settings.scale], run.ids
    positions = run.settings.max_tokens + 2
    tokens = {f"{role}_token_id": ids.special[role] for role in ("pad", "bos", "eos")}
    if kind == "causal-lm":
        return GPT2Config(
            vocab_size=ids.size,
            n_positions=positions,
            n_embd=shape.width,
            n_layer=shape.layers,
            n_head=shape.heads,
            **tokens,
        )
    if kind == "translation":
        halves = {
            f"{half}_{name}": value
            for half in ("encoder", "decoder")
            for name, value in (
                ("layers", shape.layers),
                ("attention_heads", shape.heads),
                ("ffn_dim", 4 * shape.width),
            )
        }
        return BartConfig(
            vocab_size=ids.size,
            d_model=shape.width,
            max_position_embeddings=positions,
            decoder_start_token_id=ids.special["bos"],
            forced_eos_token_id=None,
            scale_embedding=True,
            **halves,
            **tokens,
        )
    return BertConfig(
        vocab_size=ids.size,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=4 * shape.width,
        max_position_embeddings=positions,
        pad_token_id=ids.special["pad"],
        **labels,
    )
