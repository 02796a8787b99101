"""Tokens of texts by two tokenisers: against each text encoded by the `tokenizers` library."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_document
from tokenizers import Tokenizer

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.pipeline_parts import PATTERNS, byte_level, metaspace, sequence, split
from morphgraph.score.text_comparison import compare_tokens, words_stand_alone
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR

LETTERS = "ab1.é"
PIPELINES = {
    "GPT-2": byte_level(),
    "Llama 3": sequence("pre_tokenizer", split(PATTERNS["llama3"]), byte_level(regex=False)),
    "Metaspace": metaspace("always"),
    "white space": {"type": "WhitespaceSplit"},
    "whole texts": byte_level(regex=False),
}
TEXTS = st.lists(st.text(f"{LETTERS} \n", max_size=12), min_size=1, max_size=6)


def document(pipeline, merges):
    part = PIPELINES[pipeline]
    in_bytes = "ByteLevel" in json.dumps(part)
    alphabet = "".join(BYTE_TO_CHAR) if in_bytes else f"▁\n {LETTERS}"
    return small_document(merges, alphabet, pre_tokenizer=part)


@st.composite
def merge_lists(draw, atoms):
    """Merges of pairs of atoms and of what earlier ones make."""
    made = list(atoms)
    merges = []
    for _ in range(draw(st.integers(0, 6))):
        pair = draw(st.sampled_from(made)), draw(st.sampled_from(made))
        if "".join(pair) not in made:
            merges.append(pair)
            made.append("".join(pair))
    return merges


@st.composite
def pairs(draw):
    """A pipeline, and the documents of two tokenisers with it, one of them perhaps an edit."""
    pipeline = draw(st.sampled_from([*PIPELINES]))
    spelled = ["é", "▁"] if pipeline in ("Metaspace", "white space") else ["Ã", "©", "Ġ"]
    atoms = ["a", "b", "1", *spelled]
    merges = draw(merge_lists(atoms))
    others = draw(st.permutations(merges) | merge_lists(atoms))
    made = {*atoms}
    kept = []
    for pair in others:  # a part must be there before what it is in
        if made.issuperset(pair):
            kept.append(pair)
            made.add("".join(pair))
    return document(pipeline, merges), document(pipeline, kept)


def by_the_library(made, text):
    """The tokens' ids, where each ends, and whether a character ends there."""
    encoded = Tokenizer.from_str(json.dumps(made)).encode(text)
    both = zip(encoded.tokens, encoded.offsets, strict=True)
    # A marker that stands for no space takes no room.
    spans = [(at, at if token == "▁" and text[at:end] != " " else end) for token, (at, end) in both]
    starts = [*(start for start, _ in spans), len(text)][1:]
    whole = [following >= end for (_, end), following in zip(spans, starts, strict=True)]
    return encoded.ids, [end for _, end in spans], whole


def naive(both, texts):
    """Whether each text changes, and how often which tokens become which others."""
    is_changed, changes = [], Counter()
    for text in texts:
        sides = [by_the_library(made, text) for made in both]
        is_changed.append(sides[0][0] != sides[1][0])
        ends = [{end for end, whole in zip(e, w, strict=True) if whole} for _, e, w in sides]
        shared = sorted((ends[0] & ends[1]) | {len(text)})
        for start, end in zip([-1, *shared], shared, strict=False):
            inside = tuple(
                tuple(i for i, e in zip(ids, ends, strict=True) if start < e <= end)
                for ids, ends, _ in sides
            )
            changes[inside] += inside[0] != inside[1]
    return is_changed, +changes


def segmenter_of(made):
    return Bte(from_tokenizer_json(json.dumps(made).encode(), "small.json"))


@given(pairs(), TEXTS)
def test_as_each_text_by_itself(both, texts):
    segmenters = [segmenter_of(made) for made in both]
    ids = [np.arange(len(each.types)) for each in segmenters]
    found = compare_tokens(segmenters, ids, texts)
    is_changed, changes = naive(both, texts)
    assert found.is_changed.tolist() == is_changed
    assert found.changes == changes
    for side, made in enumerate(both):
        emitted = Counter(n for text in texts for n in by_the_library(made, text)[0])
        assert dict(emitted) == {
            n: found.emitted[side][n] for n in np.flatnonzero(found.emitted[side])
        }
    for change, (number, part) in found.examples.items():
        first = next(n for n, text in enumerate(texts) if change in naive(both, [text])[1])
        assert (number, part in texts[number]) == (first, True)


@pytest.mark.parametrize(
    ("pipeline", "added", "alone"),
    [
        *((name, {}, name != "whole texts") for name in PIPELINES),
        ("GPT-2", {"content": "a b"}, False),
        ("GPT-2", {"content": "a", "rstrip": True}, False),
        ("GPT-2", {"content": "  "}, True),
        ("Llama 3", {"content": "a", "lstrip": True}, True),
    ],
)
def test_where_words_stand_alone(pipeline, added, alone):
    made = document(pipeline, [])
    if added:
        made["added_tokens"] = [{"id": len(made["model"]["vocab"]), "special": True, **added}]
    assert words_stand_alone(segmenter_of(made)) == alone
