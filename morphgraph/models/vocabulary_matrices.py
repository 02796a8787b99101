"""Find the tensors of a checkpoint with a row for each id, by name, shape and configuration."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from morphgraph.core.errors import FileFormatError
from morphgraph.core.text import counted
from morphgraph.models.checkpoint import CONFIG, Checkpoint
from morphgraph.models.safetensors_files import StoredTensor

MatrixRole: TypeAlias = Literal["input", "output", "bias"]

_SUFFIXES: Mapping[MatrixRole, tuple[str, ...]] = {
    "input": (
        "embed_tokens.weight",
        "word_embeddings.weight",
        "word_embedding.weight",
        "shared.weight",
        "wte.weight",
        "embed_in.weight",
        "tok_embeddings.weight",
        "tokens_embed.weight",
        "token_embedding.weight",
        "backbone.embeddings.weight",
        "transformer.embeddings.weight",
    ),
    "output": (
        "lm_head.weight",
        "lm_head.decoder.weight",
        "predictions.decoder.weight",
        "embed_out.weight",
        "vocab_projector.weight",
        "generator_lm_head.weight",
        "lm_loss.weight",
        "pred_layer.proj.weight",
        "proj_out.weight",
    ),
    "bias": (
        "lm_head.bias",
        "lm_head.decoder.bias",
        "predictions.bias",
        "predictions.decoder.bias",
        "final_logits_bias",
        "embed_out.bias",
        "vocab_projector.bias",
        "generator_lm_head.bias",
        "lm_loss.bias",
        "pred_layer.proj.bias",
    ),
}
"""The suffixes of their names in `transformers` models."""
_WHOLE_NAMES: Mapping[str, MatrixRole] = {
    "decoder.weight": "output",
    "decoder.bias": "bias",
    "output.weight": "output",
}
"""Full names, where other tensors may share the suffix."""

_IN_LAYER = re.compile(r"(?:^|[._])(?:h|layers?|blocks?|groups|attentions|ffns)\.\d+\.")
"""Tensors inside a layer have no row for each id, even if a size happens to match."""

_WITH_HEAD = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")


@dataclass(frozen=True)
class VocabularyMatrix:
    """A tensor with a row for each id, or a number in the case of a bias."""

    tensor: StoredTensor
    role: MatrixRole

    def resized(self, rows: int) -> tuple[int, ...]:
        """Return its shape for another number of ids."""
        shape = self.tensor.shape
        return (*shape[:-1], rows) if self.role == "bias" else (rows, *shape[1:])


@dataclass(frozen=True)
class VocabularyMatrices:
    """All tensors of a checkpoint that are indexed by id.

    ``rows``: the number of ids of the model. ``tied``: the output projection is the input
    embedding.
    """

    rows: int
    tied: bool
    matrices: tuple[VocabularyMatrix, ...]

    def of(self, role: MatrixRole) -> StoredTensor | None:
        """Return the first tensor of a role."""
        return next((each.tensor for each in self.matrices if each.role == role), None)


def vocabulary_matrices(checkpoint: Checkpoint) -> VocabularyMatrices:
    """Find the input embedding, and the output projection and its bias if stored.

    `FileFormatError` names the tensor or field where the layout is unknown or ambiguous.
    """
    place = str(checkpoint.folder / CONFIG)
    settings = text_settings(checkpoint.config)
    rows = settings.get("vocab_size")
    if type(rows) is not int or rows < 1:
        fix = "Give the folder of a model of transformers."
        raise FileFormatError(place, "field vocab_size", "a number of ids is expected here", fix)
    tied = settings.get("tie_word_embeddings", checkpoint.config.get("tie_word_embeddings", True))
    # If another size of the model is the same number, only names distinguish tensors.
    shape_tells = rows not in (value for key, value in _sizes(checkpoint.config))
    found = []
    for tensor in checkpoint.tensors():
        role = _role(tensor.name)
        if role is None:
            if shape_tells and rows in tensor.shape and not _IN_LAYER.search(tensor.name):
                raise _unknown(tensor, f"it has {rows:,} rows or columns, one for each id")
            continue
        shape = tensor.shape
        along = shape[-1:] if role == "bias" else shape[:1]
        flat = all(size == 1 for size in shape[:-1]) if role == "bias" else len(shape) == 2
        if along != (rows,) or not flat or not all(shape):
            shown = " × ".join(map(str, shape))
            if role == "input" or tensor.name.endswith(("lm_head.weight", "lm_head.bias")):
                raise _unknown(tensor, f"it is {shown}, where vocab_size is {rows:,}")
            if shape_tells and rows in shape:
                raise _unknown(tensor, f"it is {shown}, where vocab_size is {rows:,}")
            continue
        found.append(VocabularyMatrix(tensor, role))
    made = VocabularyMatrices(rows, bool(tied), tuple(found))
    _check_complete(made, checkpoint, place)
    return made


def text_settings(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a configuration with the number of ids, such as that for text."""
    inner = config.get("text_config")
    return inner if "vocab_size" not in config and isinstance(inner, dict) else config


def _role(name: str) -> MatrixRole | None:
    if name in _WHOLE_NAMES:
        return _WHOLE_NAMES[name]
    for role, suffixes in _SUFFIXES.items():
        if any(name == suffix or name.endswith(f".{suffix}") for suffix in suffixes):
            return role
    return None


def _sizes(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the numbers of a configuration that may be a dimension, nested ones too."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _sizes(value)
        elif type(value) is int and key != "vocab_size" and not key.endswith("_id"):
            yield key, value


def _unknown(tensor: StoredTensor, problem: str) -> FileFormatError:
    return FileFormatError(
        str(tensor.path),
        f"tensor “{tensor.name}”",
        f"this layout is not known: {problem}",
        "Models of transformers with one vocabulary are understood.",
    )


def _check_complete(made: VocabularyMatrices, checkpoint: Checkpoint, place: str) -> None:
    fix = "Save the whole model again."
    if made.of("input") is None:
        problem = f"no tensor of {counted(made.rows, 'row')} has the name of an input embedding"
        raise FileFormatError(str(checkpoint.folder), "", problem, fix)
    names = checkpoint.config.get("architectures")
    with_head = isinstance(names, list) and any(str(name).endswith(_WITH_HEAD) for name in names)
    if not made.tied and with_head and made.of("output") is None:
        problem = "it is false, but no tensor has the name of an output projection"
        raise FileFormatError(place, "field tie_word_embeddings", problem, fix)
