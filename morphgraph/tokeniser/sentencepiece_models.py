"""SentencePiece models in: a BPE model becomes a tokeniser with merges, as any other.

The file lists pieces with scores and no merges. Any two neighbours whose concatenation is a piece
may be merged, and the best score goes first, leftmost among equals: so each pair of pieces that
makes a third one is a merge here, ranked by the score of what it makes. Merges whose results have
the same score tie; all merges that make one piece do.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.files import check_size, checksum
from morphgraph.graph.change import Merge
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.hugging_face import from_document, special_token
from morphgraph.tokeniser.merging import segment_plain
from morphgraph.tokeniser.sentencepiece_text import SENTENCEPIECE_FLAGS, SentencePieceText
from morphgraph.tokeniser.tokeniser import Tokeniser

_MODEL_START = re.compile(rb"\n[\x02-\xff]{1,2}\n", re.S)
"""How a SentencePiece model starts: the field of its types, a length, the field of a string."""
_AGAIN = "Download the file again."
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
    check_size(name, len(data))
    try:
        SentencePieceProcessor(model_proto=data)  # checks more than that the fields can be read
        model = messages.ModelProto.FromString(data)
    except Exception as error:
        problem = "this is not a SentencePiece model, or it is cut off"
        raise FileFormatError(name, "", problem, _AGAIN) from error
    trainer = model.trainer_spec
    place = "field trainer_spec"
    if trainer.model_type not in (trainer.UNIGRAM, trainer.BPE):
        kind = "words" if trainer.model_type == trainer.WORD else "characters"
        raise FileFormatError(name, place, f"it is a model of {kind}, which has no merges", _OTHER)
    if trainer.treat_whitespace_as_suffix:
        problem = "it marks the end of words, which is not supported"
        raise FileFormatError(name, place, problem, "Choose another model.")
    for number, piece in enumerate(model.pieces):
        if not isinstance(piece.piece, str):  # the library gives bytes then
            raise FileFormatError(name, f"type {number:,}", "it is not valid UTF-8", _AGAIN)
    return model


def text_preparation(model: Any, symbols: Sequence[str] = ()) -> SentencePieceText:
    """How a model prepares a text, where these symbols stay whole."""
    settings = model.normalizer_spec
    flags = {flag: getattr(settings, flag) for flag in SENTENCEPIECE_FLAGS}
    return SentencePieceText(settings.precompiled_charsmap, symbols=tuple(symbols), **flags)


def is_bpe(model: Any) -> bool:
    """Whether a model is cut by merges; else it is a Unigram model."""
    return bool(model.trainer_spec.model_type == model.trainer_spec.BPE)


def from_sentencepiece(data: bytes, name: str) -> Tokeniser:
    """The tokeniser of a SentencePiece BPE model, which segments as the `sentencepiece` library.

    Errors: `FileFormatError`, also for a Unigram model, which has no merges.
    """
    model = parse_sentencepiece(data, name)
    if not is_bpe(model):
        problem = "this is a Unigram model, which has no merges"
        raise NoMergesError(name, "field trainer_spec", problem, "Choose a BPE tokeniser.")
    tokeniser = from_document(_document(model), name, checksum(data))
    if unused := unused_types(tokeniser):
        tokeniser.warnings += (
            f"{len(unused):,} types are marked as unused: sentencepiece takes them apart after all "
            "merges; in the merge graph they are types as any other.",
        )
    return tokeniser


def unused_types(tokeniser: Tokeniser) -> frozenset[str]:
    """The types that a SentencePiece model has for merging only; other tokenisers have none."""
    settings = tokeniser.document["model"].get("sentencepiece")
    listed = settings.get("unused") if isinstance(settings, dict) else None
    return frozenset(text for text in listed or [] if isinstance(text, str))


def _document(model: Any) -> dict[str, Any]:
    """A model laid out as ``tokenizer.json``."""
    kind = model.SentencePiece
    symbols = [piece.piece for piece in model.pieces if piece.type == kind.USER_DEFINED]
    special = (kind.CONTROL, kind.UNKNOWN, kind.USER_DEFINED)
    added = []
    for number, piece in enumerate(model.pieces):
        if piece.type in special:
            token = special_token(piece.piece, number)
            added.append({**token, "special": piece.type != kind.USER_DEFINED})
    vocabulary = {piece.piece: number for number, piece in enumerate(model.pieces)}
    merges, levels = _ranked(
        {p.piece: p.score for p in model.pieces if p.type in (kind.NORMAL, kind.UNUSED)},
        {text for text in vocabulary if len(text) == 1} - set(symbols),
    )
    text = text_preparation(model, symbols)
    unused = [piece.piece for piece in model.pieces if piece.type == kind.UNUSED]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": _normalizer(text),
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": _decoder(text),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": next((p.piece for p in model.pieces if p.type == kind.UNKNOWN), None),
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": bool(model.trainer_spec.byte_fallback),
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [list(parts) for parts in merges],
            "levels": levels,
            "sentencepiece": {**text.settings(), "unused": unused},
        },
    }


def _normalizer(text: SentencePieceText) -> dict[str, Any] | None:
    """The same normalisation, as near as parts of the `tokenizers` library come to it."""
    parts: list[dict[str, Any]] = []

    def replace(pattern: dict[str, str], content: str) -> None:
        parts.append({"type": "Replace", "pattern": pattern, "content": content})

    if text.charsmap:
        charsmap = base64.b64encode(text.charsmap).decode()
        parts.append({"type": "Precompiled", "precompiled_charsmap": charsmap})
    if text.remove_extra_whitespaces:
        replace({"Regex": "^ +| +$"}, "")
        replace({"Regex": " {2,}"}, " ")
    space = "▁" if text.escape_whitespaces else " "
    if text.add_dummy_prefix:
        parts.append({"type": "Prepend", "prepend": space})
    if text.escape_whitespaces:
        replace({"String": " "}, "▁")
    return {"type": "Sequence", "normalizers": parts} if parts else None


def _decoder(text: SentencePieceText) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if text.add_dummy_prefix:
        parts.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": parts}


def _ranked(scores: Mapping[str, float], atoms: set[str]) -> tuple[list[PiecePair], list[int]]:
    """Every merge that there is between pieces, best result first, and the level of each.

    Merges of one level are equally good. Of those that make a piece, the first is the one that
    makes it where its own string is segmented, so that it counts as the merge of that type.
    """
    found = list(_pairs(scores, atoms))
    found.sort(key=lambda parts: -scores["".join(parts)])
    levels: list[int] = []
    for level, (_, tied) in enumerate(groupby(found, key=lambda parts: scores["".join(parts)])):
        levels += [level] * len(list(tied))
    own = _used(found, levels)
    order = sorted(range(len(found)), key=lambda n: (levels[n], n not in own))
    return [found[n] for n in order], levels


def _pairs(scores: Mapping[str, float], atoms: set[str]) -> Iterator[PiecePair]:
    for text in scores:
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if (left in scores or left in atoms) and (right in scores or right in atoms):
                yield left, right


def _used(merges: Sequence[PiecePair], levels: Sequence[int]) -> set[int]:
    """The merges, by position, that make a type where its own string is segmented."""
    types: dict[str, int] = {}
    listed = []
    for rank, parts in enumerate(merges):
        left, right, whole = (
            types.setdefault(text, len(types)) for text in (*parts, "".join(parts))
        )
        listed.append(Merge(rank, (left, right), whole))
    graph = MergeGraph(list(types), listed, ties=dict(enumerate(levels)))
    texts = list({"".join(parts): None for parts in merges})
    found = segment_plain(graph, texts)
    closed = np.flatnonzero(found.closed_by >= 0)
    by = found.closed_by[closed]
    wanted = np.array([types[text] for text in texts], np.int32)[found.words.word_of_atom[closed]]
    return set(found.arrays.merge_ids[by[found.arrays.results[by] == wanted]].tolist())
