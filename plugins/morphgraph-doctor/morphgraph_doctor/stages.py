"""At which stage two programs part that read one tokeniser, and what mends it."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from morphgraph.formats.framing import framing
from morphgraph.formats.gguf_writing import pre_name
from morphgraph.formats.opening import WHOLE
from morphgraph.tokeniser.pipeline import preprocessor_of
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph_doctor.programs import GGUF

NORMALISER, SPLIT, MODEL = "normaliser", "split", "model"
ADDED, FRAME, DECODER = "added tokens", "frame", "decoder"


class ProgramSide(NamedTuple):
    """One of two that are compared: its ids of texts, without special tokens around them.

    ``document``: how it prepares texts, laid out as ``tokenizer.json``; None if that is not known.
    """

    ids: Callable[[Sequence[str]], list[list[int]]]
    document: Mapping[str, Any] | None

    @property
    def added(self) -> list[str]:
        """Its added tokens."""
        return [token["content"] for token in (self.document or {}).get("added_tokens") or []]

    @property
    def preparing(self) -> Preprocessor | None:
        """What normalises texts and cuts them into pieces."""
        if self.document is None:
            return None
        lists = ("vocab", "merges", "levels")
        model = {k: held for k, held in self.document["model"].items() if k not in lists}
        return preprocessor_of({**self.document, "model": model}, "the file", {})


def stage_of(text: str, one: ProgramSide, other: ProgramSide) -> str:
    """Return the stage at which two give a text other ids.

    By experiments: the parts between added tokens, the text as either normalises it, its pieces
    alone. It is the model if nothing before it explains the ids.
    """
    names = sorted({*one.added, *other.added}, key=len, reverse=True)
    parts = [part for part in re.split("|".join(map(re.escape, names)) or "$^", text) if part]
    ways = [side.preparing for side in (one, other)]
    normal = [{part: way and normal_text(way, part) for part in parts} for way in ways]
    pieces = [{part: _pieces(way, part) for part in parts} for way in ways]
    tried = {*parts, *(f" {part}" for part in parts)}
    tried |= {each for known in normal for each in known.values() if each is not None}
    tried |= {each for known in pieces for each in chain(*known.values())}
    asked = sorted(tried)
    ours, theirs = (dict(zip(asked, side.ids(asked), strict=True)) for side in (one, other))

    part = next((part for part in parts if ours[part] != theirs[part]), None)
    if part is None:
        return ADDED if names else MODEL
    expected, found, spaced = ours[part], theirs[part], f" {part}"
    as_one, as_other = (known[part] for known in normal)
    is_other = as_one != as_other
    if (
        (is_other and as_one is not None and theirs[as_one] == expected)
        or (is_other and as_other is not None and ours[as_other] == found)
        or theirs[spaced] == expected
        or ours[spaced] == found
    ):
        return NORMALISER
    cut, cut_there = (known[part] for known in pieces)
    if cut_there != cut and [*chain(*map(ours.__getitem__, cut_there))] == found:
        return SPLIT
    if len(cut) > 1 and all(ours[piece] == theirs[piece] for piece in cut):
        return SPLIT
    if None not in (as_one, as_other) and is_other:
        return NORMALISER
    return SPLIT if cut and cut_there and cut != cut_there else MODEL


def normal_text(way: Preprocessor, text: str) -> str:
    """Return a text as it is before it is cut, with spaces as spaces."""
    part = way.sentencepiece or way.normalizer
    normal = text if part is None else str(part.normalize_str(text)).replace("▁", " ")
    return normal if text.startswith(" ") else normal.removeprefix(" ")


def _pieces(way: Preprocessor | None, text: str) -> list[str]:
    pieces = way.pieces(text) if way is not None else []
    return [text[piece[0][1] : piece[-1][2]] for piece in pieces if piece]


_FIELD = {NORMALISER: "normalizer", SPLIT: "pre_tokenizer", DECODER: "decoder"}


def mend_of(stage: str, program: str, kind: str, document: Mapping[str, Any], whole: str) -> str:
    """Return what mends a stage, as one line.

    ``kind``: the format of the file that ``program`` reads otherwise than the reference, whose
    ``document`` is in the file ``whole``.
    """
    frame = framing(document.get("post_processor"))
    around = " ".join("text" if each is None else each[1] for each in frame)
    if program.startswith("transformers") and stage not in (ADDED, FRAME):
        if not whole.endswith(".json"):
            return f"Give it a tokenizer.json: morphgraph export {whole} --out folder"
        return (
            'In tokenizer_config.json, write "tokenizer_class": "PreTrainedTokenizerFast", which '
            f"reads {whole} as it is."
        )
    if kind == GGUF and stage == NORMALISER:
        return f"llama.cpp normalises nothing: do it before, as the normalizer of {whole} does."
    if kind == GGUF and stage == SPLIT:
        name = pre_name(document)
        if not name:
            return f"No known name for tokenizer.ggml.pre cuts texts as {whole} does."
        mend = f"gguf-new-metadata --pre-tokenizer {name} old.gguf new.gguf"
        return f"Set tokenizer.ggml.pre to {name}: {mend}"
    if kind == GGUF and stage == FRAME:
        return f"Set tokenizer.ggml.add_bos_token and add_eos_token, so that it is “{around}”."
    if stage == FRAME:
        return f"Make post_processor, add_bos_token and add_eos_token agree: “{around}”."
    if stage == SPLIT and kind != WHOLE:
        return f"Give it the pattern of {whole}, in its own file or where it is loaded."
    if stage == ADDED:
        return f"List the added tokens of {whole} there, with the same ids and flags."
    if stage == MODEL:
        return f"Types, ids or merges differ: write both files from {whole}."
    return f"Copy the field {_FIELD[stage]} of {whole}."
