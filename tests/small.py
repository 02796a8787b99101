"""Small tokenisers and references made by hand."""

import io
import json

import numpy as np
import pandas as pd
from sentencepiece import SentencePieceTrainer, sentencepiece_model_pb2

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.refine.blame import blame_columns
from morphgraph.score.gold_set import GoldSet

KINDS = {kind.value[0]: kind for kind in MorphemeKind if kind is not MorphemeKind.INFIX}


def small_document(merges, alphabet="", **settings):
    """A ``tokenizer.json``, as data, whose atoms are characters."""
    types = dict.fromkeys(alphabet)
    for parts in merges:
        types.update(dict.fromkeys(parts))
    for parts in merges:
        types["".join(parts)] = None
    model = {
        "type": "BTE" if any(len(parts) > 2 for parts in merges) else "BPE",
        **dict.fromkeys(
            ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        ),
        **dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), False),
        "vocab": {text: number for number, text in enumerate(types)},
        "merges": [list(parts) for parts in merges],
    }
    outer = {
        "version": "1.0",
        "added_tokens": [],
        **dict.fromkeys(
            ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
        ),
    }
    for key, value in settings.items():
        (outer if key in outer else model)[key] = value
    return {**outer, "model": model}


def small_tokeniser(merges, alphabet="", **settings):
    """A tokeniser of merges; the arguments are those of `small_document`."""
    document = small_document(merges, alphabet, **settings)
    return from_tokenizer_json(json.dumps(document).encode(), "small.json")


def small_entry(line, kinds=None, count=None, **told):
    """An entry of morphs separated by spaces; whole words after a slash.

    ``"un do ing / undoing"``; ``kinds`` has the first letter of the kind of each morph, ``"pfs"``.
    """
    morphs, slash, whole = line.partition("/")
    parts, words = tuple(morphs.split()), tuple(whole.split()) if slash else None
    known = None if kinds is None else tuple(map(KINDS.get, kinds))
    return Entry("".join(parts), parts, words, count, kinds=known, **told)


def reference_of(*entries, name="gold.tsv"):
    return Reference(name, "plain", entries, (), "0" * 12)


def gold_of(*entries):
    return GoldSet.of(reference_of(*entries))


def small_reference(*lines, counts=None):
    """A reference of `small_entry`; ``counts`` has one corpus count for each."""
    both = zip(lines, counts or [None] * len(lines), strict=True)
    return reference_of(*(small_entry(line, count=n) for line, n in both), name="small.tsv")


def trained_pieces(lines, kind, size, **settings):
    """A model that SentencePiece trains on lines."""
    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        minloglevel=2,
        **settings,
    )
    return written.getvalue()


def model_of_pieces(*pieces, kind="BPE", **settings):
    """A SentencePiece model of pieces, each with its score and type; ``<unk>`` comes first."""
    model = sentencepiece_model_pb2.ModelProto()
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = getattr(trainer, kind)
    for text, score, type_ in (("<unk>", 0.0, "UNKNOWN"), *pieces):
        model.pieces.add(piece=text, score=score, type=getattr(model.SentencePiece, type_))
    for name, value in settings.items():
        setattr(trainer if hasattr(trainer, name) else normalizer, name, value)
    return bytes(model.SerializeToString())


def blame_table(tokeniser, blamed):
    """N, B and R of all merges, by rank."""
    return pd.DataFrame(blame_columns(tokeniser, blamed, np.arange(len(blamed.arrays))))
