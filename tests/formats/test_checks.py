"""The checks of an export: numbers by hand, and that each finds what is wrong."""

import json

import pytest
from small import small_document
from tokenizers import Tokenizer

from morphgraph.formats.checks import export_checks
from morphgraph.formats.export import bpe_model, sentences_to_check
from morphgraph.formats.hugging_face import (
    from_document,
    from_tokenizer_json,
    special_token,
    to_document,
    to_tokenizer_json,
)
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter

WORDS = ["abc", "ab", "bc"]
MERGES = [("a", "b"), ("b", "c"), ("ab", "c")]  # ids: a 0, b 1, c 2, ab 3, bc 4, abc 5


@pytest.fixture
def tokeniser():
    document = small_document(MERGES, "abc", decoder={"type": "Fuse"})
    document["added_tokens"] = [special_token("<s>", 90)]
    a, b = ({"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB"))
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, a],
        "pair": [a, b],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [90], "tokens": ["<s>"]}},
    }
    # As of a rank file: a tokenizer.json would have the id that the library gives <s>.
    return from_document(document, "small.json", "")


def test_numbers_by_hand(tokeniser):
    """Without ab, abc is a + b + c, and b + c comes first: abc is a|bc, and ab is a|b."""
    tokeniser.graph.knockout(["ab"])
    made = export_segmenter(Bte(tokeniser), WORDS, {"chat_template": "{{ messages }}"})
    found = {check.name: (check.number, check.fine) for check in made.checks}
    assert found == {
        "merges that need our class": (1, False),
        "removed types emitted": (0, True),
        "types newly unreachable": (1, False),
        "types with another id": (3, True),  # bc, abc and <s>
        "texts decoded differently": (0, True),
        "words segmented differently": (2, None),
        "special tokens encoded differently": (0, True),
        "old ids that decode differently": (4, False),  # those and that of ab
        "texts that the original cuts differently": (None, None),  # it is no file
    }
    assert made.checks[5].explanation == "33.33 % of 3 are unchanged; tokens +66.67 %"


def test_kept_ids_are_fine(tokeniser):
    tokeniser.graph.knockout(["ab"])
    tokeniser.graph.portable()  # abc is a + bc
    made = export_segmenter(Bte(tokeniser), WORDS)
    # The library itself would give <s> the next id, 6.
    library = Tokenizer.from_str(to_tokenizer_json(tokeniser)[0].decode())
    assert (library.token_to_id("<s>"), library.encode("ab<s>").ids) == (90, [90, 0, 1, 90])
    assert [check.number for check in made.checks] == [0, 0, 0, 0, 0, 1, 0, 0, None]
    again = from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "again.json")
    for each in (made, export_segmenter(Bte(again), WORDS)):
        assert each.checks[1].explanation.startswith("of 1, ")
    fine = [True, True, True, True, None, True, True, None]
    assert [check.fine for check in made.checks[1:]] == fine


def damaged(document, **model):
    """The library with another model, decoder or special token."""
    own = {key: model.pop(key) for key in ("decoder", "post_processor") if key in model}
    return Tokenizer.from_str(
        json.dumps({**document, **own, "model": {**document["model"], **model}})
    )


def test_each_finds_what_is_wrong(tokeniser):
    before = to_document(tokeniser)[0]
    tokeniser.graph.knockout(["ab"])
    tokeniser.graph.portable()
    document, _ = to_document(tokeniser)
    sentences = sentences_to_check(WORDS, 2)

    def wrong(library, templates=("", "")):
        texts = library.encode_batch([*WORDS, *sentences], add_special_tokens=False)
        ids = [text.ids for text in texts]
        given = (bpe_model(tokeniser), library, WORDS, sentences, ids)
        checks = export_checks(*given, needs_code="", templates=templates)
        return {check.name for check in checks if check.fine is False}

    assert not wrong(damaged(document))
    assert wrong(damaged(document), ("a", "b")) == {"special tokens encoded differently"}
    old = before["model"]["merges"]
    assert wrong(damaged(document, merges=old)) == {"removed types emitted"}
    assert wrong(damaged(document, ignore_merges=True)) == {"removed types emitted"}
    strip = {"type": "Strip", "content": "b", "start": 1, "stop": 0}
    decoder = {"type": "Sequence", "decoders": [strip, {"type": "Fuse"}]}
    assert "texts decoded differently" in wrong(damaged(document, decoder=decoder))
    assert wrong(damaged(document, post_processor=None)) == {"special tokens encoded differently"}
    swapped = document["model"]["vocab"] | {"bc": 5, "abc": 4}
    assert "old ids that decode differently" in wrong(damaged(document, vocab=swapped))
