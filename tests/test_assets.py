"""What ships: gold lists and demo tokenisers."""

import json
import re
from collections import Counter
from functools import cache

import pytest
import wordfreq
from effort import one_of
from strategies import check_graph, file_ids
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.core.files import DEMOS, demo_gold_path, demo_tokeniser_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.score.boundaries import boundary_positions
from morphgraph.tokeniser.preprocess import CHAR_TO_BYTE

AT_LEAST = {"en": 800, "de": 500, "nl": 500}
LANGUAGES = pytest.mark.parametrize("language", list(DEMOS))


def rows(path):
    """The cells of a gold list, without its header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "word\tmorphs\twhole_words"
    return [line.split("\t") for line in lines[1:]]


@cache
def gold(language):
    return read_reference(demo_gold_path(language))


@LANGUAGES
def test_gold_list_as_written(language):
    listed = rows(demo_gold_path(language))
    assert len(listed) >= AT_LEAST[language]
    words = [word for word, *_ in listed]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    frequent = wordfreq.get_frequency_dict(language, "best")
    assert [word for word in words if word not in frequent] == []
    for word, morphs, whole_words in listed:
        bare = [re.sub(r"^-|-$", "", morph) for morph in morphs.split(" ")]
        assert "".join(bare) == word
        assert all(bare), f"an empty morph in {word}"
        whole = whole_words.split(" ")
        assert "".join(whole) == word
        inner, outer = set(boundary_positions(bare)), set(boundary_positions(whole))
        assert outer <= inner, f"a whole word of {word} ends inside a morph"
        # A bound morph, apart from one between two words, joins a word: no boundary there.
        for left, right, at in zip(
            morphs.split(" "), morphs.split(" ")[1:], boundary_positions(bare), strict=False
        ):
            prefix, suffix = left.endswith("-"), right.startswith("-")
            linking = [m.startswith("-") and m.endswith("-") for m in (left, right)]
            if (prefix or suffix) and not any(linking):
                assert at not in outer, f"a bound morph stands alone in {word}"


@pytest.mark.slow
@LANGUAGES
def test_demo_tokeniser(language):
    path = demo_tokeniser_path(language)
    tokeniser = load_tokeniser(f"demo:{language}")
    assert tokeniser.vocabulary_size == 8000
    assert tokeniser.special == {"<unk>"}
    assert tokeniser.warnings == ()
    assert tokeniser.preprocessor.byte_level
    check_graph(tokeniser.graph)
    library = Tokenizer.from_file(str(path))
    assert library.get_vocab_size() == 8000
    words = [entry.word for entry in gold(language).entries]
    words += wordfreq.top_n_list(language, 10_000)
    words += ["Ærøskøbing", "日本語", "don't", "e-mail", "😀"]
    for bare in (False, True):
        ids = file_ids(tokeniser, words, bare=bare)
        texts = words if bare else [" " + word for word in words]
        encodings = library.encode_batch_fast(texts, add_special_tokens=False)
        assert ids == [encoding.ids for encoding in encodings]


@pytest.mark.slow
@pytest.mark.parametrize("language", one_of(*DEMOS))
def test_demo_tokeniser_is_made_by_the_stated_command(language, tmp_path):
    """`morphgraph train bpe wordfreq:… --vocab-size 8000 --special "<unk>"`."""
    made = mg.train("bpe", f"wordfreq:{language}", 8000, special=["<unk>"])
    made.save(tmp_path / "made.json")
    shipped = json.loads(demo_tokeniser_path(language).read_text(encoding="utf-8"))
    assert json.loads((tmp_path / "made.json").read_bytes()) == shipped


@LANGUAGES
def test_every_type_of_a_demo_can_be_used(language):
    """The library gives back each type from its own text, unless that is not a whole character."""
    library = Tokenizer.from_file(str(demo_tokeniser_path(language)))
    decoded = {}
    for text, number in library.get_vocab().items():
        if text != "<unk>":
            bytes_ = bytes(CHAR_TO_BYTE[character] for character in text)
            decoded[number] = bytes_.decode("utf-8", "replace")
    whole = {
        number: text for number, text in decoded.items() if "\N{REPLACEMENT CHARACTER}" not in text
    }
    assert len(whole) > 7_800
    cut = {number: text for number, text in whole.items() if library.encode(text).ids != [number]}
    assert cut == {}
