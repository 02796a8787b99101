"""SentencePiece models, as ``tokenizer.json``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import numpy as np

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import MERGES
from morphgraph.formats.hugging_face import tokenizer_document
from morphgraph.formats.pipeline_parts import (
    precompiled,
    replacing,
    sequence,
    special_token,
    to_text,
)
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Merge
from morphgraph.tokeniser.merging import segment, words_of_atoms
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN, check_charsmap
from morphgraph.tokeniser.preprocess import SENTENCEPIECE_FLAGS, SentencePieceText
from morphgraph.tokeniser.words import UNKNOWN

_MODEL_START = re.compile(rb"\n[\x02-\xff]{1,2}\n", re.S)
"""The start of a SentencePiece model: the field of its types, a length, a string's field."""
_OTHER = "Choose a BPE or Unigram model."

PiecePair = tuple[str, str]


def is_sentencepiece(data: bytes, name: str) -> bool:
    """Whether a file is a SentencePiece model, by its content, or by its name and no JSON."""
    named_so = name.endswith(".model") and not data.lstrip().startswith(b"{")
    return named_so or _MODEL_START.match(data) is not None


def parse_sentencepiece(data: bytes, name: str) -> Any:
    """The message in a SentencePiece model; anything else is a `FileFormatError`.

    So is a model of whole words or single characters, one that marks the end of words, and one with
    a type that is not text.
    """
    from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

    messages: Any = sentencepiece_model_pb2
    wrong = FileFormatError(
        name, "", "this is not a SentencePiece model, or it is cut off", DOWNLOAD_AGAIN
    )
    try:
        model = messages.ModelProto.FromString(data)
    except Exception as error:
        raise wrong from error
    for number, piece in enumerate(model.pieces):
        if not isinstance(piece.piece, str):  # the library returns bytes then
            raise FileFormatError(name, f"type {number:,}", "it is not valid UTF-8", DOWNLOAD_AGAIN)
    check_charsmap(model.normalizer_spec.precompiled_charsmap, name, "field normalizer_spec")
    model.ClearField("denormalizer_spec")  # another map of characters, not used here
    model.DiscardUnknownFields()  # such as texts that the library would try it on
    try:
        # It checks more than that the fields can be read.
        SentencePieceProcessor(model_proto=model.SerializeToString())
    except Exception as error:
        raise wrong from error
    trainer = model.trainer_spec
    place = "field trainer_spec"
    if trainer.model_type not in (trainer.UNIGRAM, trainer.BPE):
        kind = "words" if trainer.model_type == trainer.WORD else "characters"
        raise FileFormatError(name, place, f"it is a model of {kind}, which has no merges", _OTHER)
    if trainer.treat_whitespace_as_suffix:
        problem = "it marks the end of words, which is not supported"
        raise FileFormatError(name, place, problem, "Choose another model.")
    return model


def text_preparation(model: Any, symbols: Sequence[str] = ()) -> SentencePieceText:
    """Return a model's preparation of texts, in which these symbols stay whole."""
    settings = model.normalizer_spec
    flags = {flag: getattr(settings, flag) for flag in SENTENCEPIECE_FLAGS}
    return SentencePieceText(settings.precompiled_charsmap, symbols=tuple(symbols), **flags)


def is_bpe(model: Any) -> bool:
    """Return whether a model uses merges; otherwise it is a Unigram model."""
    return bool(model.trainer_spec.model_type == model.trainer_spec.BPE)


def bpe_document(model: Any, name: str) -> dict[str, Any]:
    """Return a BPE model laid out as ``tokenizer.json``.

    The file lists pieces with scores and no merges. Any two neighbours whose concatenation is a
    piece may be merged, and the best score goes first, leftmost among equals: so each pair of
    pieces that makes a third one is a merge here, ranked by the score of what it makes. Merges
    whose results have the same score tie; all merges that make one piece do.
    """
    kind = model.SentencePiece
    symbols = [piece.piece for piece in model.pieces if piece.type == kind.USER_DEFINED]
    vocabulary = {piece.piece: number for number, piece in enumerate(model.pieces)}
    merges, levels = _ranked(
        {p.piece: p.score for p in model.pieces if p.type in (kind.NORMAL, kind.UNUSED)},
        {text for text in vocabulary if len(text) == 1} - set(symbols),
        name,
    )
    text = text_preparation(model, symbols)
    unused = [piece.piece for piece in model.pieces if piece.type == kind.UNUSED]
    parts = text_parts(model)
    return tokenizer_document(
        vocabulary,
        merges,
        parts.pop("added_tokens"),
        parts,
        unk_token=next((p.piece for p in model.pieces if p.type == kind.UNKNOWN), None),
        fuse_unk=True,
        byte_fallback=bool(model.trainer_spec.byte_fallback),
        levels=levels,
        sentencepiece={**text.settings(), "unused": unused},
    )


def text_parts(model: Any) -> dict[str, Any]:
    """Return the ``tokenizer.json`` parts that prepare and decode a model's text."""
    kind, text = model.SentencePiece, text_preparation(model)
    added = []
    for number, piece in enumerate(model.pieces):
        if piece.type in (kind.CONTROL, kind.UNKNOWN, kind.USER_DEFINED):
            token = special_token(piece.piece, number)
            added.append({**token, "special": piece.type != kind.USER_DEFINED})
    cleaned = [
        precompiled(text.charsmap),
        replacing(r"\A +| +\z", "", "Regex") if text.remove_extra_whitespaces else None,
        replacing(" {2,}", " ", "Regex") if text.remove_extra_whitespaces else None,
        {"type": "Prepend", "prepend": "▁" if text.escape_whitespaces else " "}
        if text.add_dummy_prefix
        else None,
        replacing(" ", "▁") if text.escape_whitespaces else None,
    ]
    return {
        "added_tokens": added,
        "normalizer": sequence("normalizer", *cleaned),  # the nearest that the library has
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": to_text(spaced=text.add_dummy_prefix),
    }


def _ranked(
    scores: Mapping[str, float], atoms: set[str], name: str
) -> tuple[list[PiecePair], list[int]]:
    """Return every merge between pieces, best result first, and the level of each.

    Merges of one level are equally good. Of those that make a piece, the first is the one that
    makes it where its own string is segmented, so that it counts as the merge of that type.
    """
    pairs = list(islice(_pairs(scores, atoms), MERGES.value + 1))
    MERGES.check(len(pairs), name)
    pairs.sort(key=lambda parts: -scores["".join(parts)])
    levels: list[int] = []
    for level, (_, tied) in enumerate(groupby(pairs, key=lambda parts: scores["".join(parts)])):
        levels += [level] * len(list(tied))
    own = _used(pairs, levels)
    order = sorted(range(len(pairs)), key=lambda n: (levels[n], n not in own))
    return [pairs[n] for n in order], levels


def _pairs(scores: Mapping[str, float], atoms: set[str]) -> Iterator[PiecePair]:
    known = {text: text for text in (*scores, *atoms)}  # one string for all its uses
    for text in scores:
        for cut in range(1, len(text)):
            left, right = known.get(text[:cut]), known.get(text[cut:])
            if left is not None and right is not None:
                yield left, right


def _used(merges: Sequence[PiecePair], levels: Sequence[int]) -> set[int]:
    """Return the positions of merges that make a type where its own string is segmented."""
    types: dict[str, int] = {}
    listed = []
    for rank, parts in enumerate(merges):
        left, right, whole = (
            types.setdefault(text, len(types)) for text in (*parts, "".join(parts))
        )
        listed.append(Merge(rank, (left, right), whole))
    graph = MergeGraph(list(types), listed, ties=dict(enumerate(levels)))
    texts = list({"".join(parts): None for parts in merges})
    atoms = [[types.get(character, UNKNOWN) for character in text] for text in texts]
    segmentation = segment(graph, words_of_atoms(texts, atoms))
    closed = np.flatnonzero(segmentation.closed_by >= 0)
    by = segmentation.closed_by[closed]
    wanted = np.array([types[text] for text in texts], np.int32)[
        segmentation.words.word_of_atom[closed]
    ]
    return set(
        segmentation.arrays.merge_ids[by[segmentation.arrays.results[by] == wanted]].tolist()
    )
