"""Every kind of Hugging Face BPE tokeniser against the `tokenizers` library."""

from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import file_ids
from tokenizers import Tokenizer

from morphgraph.formats.hugging_face import from_tokenizer_json, to_tokenizer_json
from morphgraph.refine.knockout import baseline_types
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP

LATIN = st.characters(max_codepoint=0x17F, exclude_categories=["Z", "C"])
TRICKY = st.sampled_from("éßﬁﬀŒİǆ½①ﷺ가각한́̈‑-'’.▁Ġ_語日ابحنЖ😀👨\u200dẞªº")
COMMON = st.sampled_from("abeinorstuABäöü")
WORDS = st.lists(
    st.text(
        COMMON | TRICKY | LATIN | st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1
    )
    | st.text(COMMON, min_size=1)
    | st.lists(
        st.sampled_from(["<ent>", "<ent>s", "ab", "ing", "<unk>", "un", "é", "<", "aaaa", "the"]),
        min_size=1,
    ).map("".join),
    min_size=1,
    max_size=5,
)


def library_ids(library, text):
    return library.encode(text, add_special_tokens=False).ids


@examples(120)
@given(words=WORDS)
@example(
    words=["unbreakable", "Straße", "naïve", "ﬁnden", "don't", "aaaaaaa", "日本語", "e\u0301a"]
)
@example(words=["un<ent>do", "<ent>s<ent>", "sing<ent>", "ab", "xabing", "<unk>", "▁x", "Ġx"])
def test_words(variant, words):
    expected = [library_ids(variant.library, variant.text(word)) for word in words]
    assert file_ids(variant.tokeniser, words) == expected
    bare = [library_ids(variant.library, word) for word in words]
    assert file_ids(variant.tokeniser, words, bare=True) == bare


@examples(120)
@given(words=WORDS)
@example(
    words=["née", "ﬁn", "Straße", "e\u0301a", "İstanbul", "가각", "<ent>a", "½", "a\u0301\u0308b"]
)
def test_splits(variant, words):
    """Splits are where the library says that one token ends and the next one starts."""
    found = segment(variant.tokeniser.graph, variant.tokeniser.encode(words))
    prefix = len(variant.text(""))
    for number, word in enumerate(words):
        spans = variant.library.encode(variant.text(word), add_special_tokens=False).offsets
        expected = {
            right - prefix
            for (_, left), (right, _) in pairwise(spans)
            if left <= right and 0 < right - prefix < len(word)
        }
        assert set(found.splits(number)) == expected


POSITIONS = {
    # Variant, word: the gaps behind its atoms after the marker. A number is how many characters of
    # the word are on the left; "." is between the bytes or the parts of one character.
    ("byte-level", "né"): "1 . end",
    ("byte-level, adds a space", "né"): "1 . end",
    ("NFD", "née"): "1 . . 2 end",  # n, e, two bytes of the accent, e
    ("NFC", "e\u0301a"): ". 2 end",  # two characters become one of two bytes
    ("NFKC", "ﬁn"): ". 1 end",  # one character becomes f and i
    ("ß as ss", "aßb"): "1 . 2 end",
    ("plain, uncased", "Äß"): "1 end",
    ("metaspace always", "né"): "1 end",
    ("Llama 2", "aé"): "1 end",
    ("Llama 2", "a語b"): "1 . . 2 end",  # three bytes for a character outside the alphabet
    ("suffix", "né"): "1 end",
}


@pytest.mark.parametrize("name, word", POSITIONS)
def test_gap_positions(variant_named, name, word):
    words = variant_named(name).tokeniser.encode([word])
    signs = {NO_GAP: "end", INSIDE_CHARACTER: "."}
    shown = [signs.get(position, str(position)) for position in words.gap_position.tolist()]
    if words.atoms[0] in {variant_named(name).tokeniser.graph.ids.get(marker) for marker in "Ġ▁"}:
        assert shown.pop(0) == "end", "the gap after the marker is no gap"
    assert " ".join(shown) == POSITIONS[name, word]


def test_unknown_characters_are_kept_as_text(variant_named):
    tokeniser = variant_named("metaspace always").tokeniser
    words = tokeniser.encode(["a語日"])
    found = segment(tokeniser.graph, words)
    texts = [tokeniser.token_text(words, atom, token) for atom, token in found.token_ends(0)]
    assert texts == ["▁a", "語", "日"] or texts == ["▁", "a", "語", "日"]
    fused = variant_named("fused unknown").tokeniser
    words = fused.encode(["a語日"])
    found = segment(fused.graph, words)
    texts = [fused.token_text(words, atom, token) for atom, token in found.token_ends(0)]
    assert texts[-1] == "語日"
    # The gap between the two fused characters is no more; the one before them is.
    assert 1 in words.gap_position
    assert 2 not in words.gap_position
    assert len(words.gaps_at(np.array([0, 0]), np.array([1, 2]))) == 1


def contents(tokeniser):
    """What must survive saving: types with their ids, merges, and all settings."""
    graph = tokeniser.graph
    names = graph.types
    document = {key: value for key, value in tokeniser.document.items() if key != "model"}
    model = tokeniser.document["model"]
    return {
        "ids": {names[n]: tokeniser.vocabulary_id(n) for n in graph.type_ids()},
        "merges": [
            ([names[part] for part in merge.parts], names[merge.result])
            for merge in map(graph.merge, graph.merge_ids())
        ],
        "special": tokeniser.special,
        "document": document,
        "model": {k: v for k, v in model.items() if k not in ("vocab", "merges", "type")},
    }


def test_load_save_load(variant):
    data, id_map = to_tokenizer_json(variant.tokeniser)
    again = from_tokenizer_json(data, "again.json")
    assert contents(again) == contents(variant.tokeniser)
    assert id_map == {number: number for number in variant.tokeniser.vocabulary_ids}
    library = Tokenizer.from_str(data.decode())
    assert library.get_vocab() == variant.library.get_vocab()
    text = "un<ent>do the Straßen, naïve 語"
    assert library_ids(library, text) == library_ids(variant.library, text)


@examples(40)
@given(words=WORDS)
@example(words=["unbreakable", "newest", "aaaa", "lowlands", "Maßstäbe", "sing<ent>"])
def test_edited_with_pairs_only_loads_in_the_library(variant, words):
    """Without some leaf types: the library segments as we do, under dense ids."""
    edited = variant.tokeniser.fork()
    edited.graph.knockout(baseline_types(edited.graph, "leaves", 12))
    data, id_map = to_tokenizer_json(edited)
    library = Tokenizer.from_str(data.decode())
    vocabulary = library.get_vocab()
    assert sorted(vocabulary.values()) == list(range(edited.vocabulary_size))
    old = variant.library.get_vocab()
    assert {text: id_map[old[text]] for text in vocabulary} == vocabulary
    expected = [library_ids(library, variant.text(word)) for word in words]
    ids = file_ids(edited, words)
    assert [[id_map[number] for number in row] for row in ids] == expected
    again = from_tokenizer_json(data, "again.json")
    assert file_ids(again, words) == expected
