"""Which tokenisers a page can cut words by, and what it is sent for it."""

import json

import pytest
from small import small_tokeniser
from superbpe import superbpe_json

from morphgraph.core.files import demo_tokeniser_path
from morphgraph.draw import cutting
from morphgraph.draw.cutting import cutting_tables
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser


def demo_with(**changes):
    """The English demo with other settings of its model or of its file."""
    document = json.loads(demo_tokeniser_path("en").read_bytes())
    for key, value in changes.items():
        (document["model"] if key in document["model"] else document)[key] = value
    return from_tokenizer_json(json.dumps(document).encode(), "en.json")


def test_tables_are_small_and_name_their_state():
    tokeniser = load_tokeniser("demo:en")
    before = cutting_tables(tokeniser)
    assert len(before.packed) < 6 * tokeniser.graph.merge_count + 1_000
    tokeniser.graph.knockout(["ing"])  # what uses it becomes merges of more parts
    after = cutting_tables(tokeniser)
    length = int.from_bytes(after.packed[:4], "little")
    header = json.loads(after.packed[4 : 4 + length])
    assert header["state"] == after.state != before.state
    assert len(header["wide"][0]) == len(tokeniser.graph.tuple_merges()) > 0
    tokeniser.graph.undo()
    assert cutting_tables(tokeniser) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"ignore_merges": True},
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"added_tokens": [{"id": 8000 + n, "content": f"<{n}>"} for n in range(101)]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_unusual_is_left_to_the_library(changes):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    added = [{**flags, **each} for each in changes.get("added_tokens", ())]
    if added:
        changes = {"added_tokens": added}
    assert cutting_tables(demo_with(**changes)) is None


def test_other_kinds_of_tokenisers_are_left_to_the_library(monkeypatch):
    assert cutting_tables(small_tokeniser([("u", "n")])) is None, "its atoms are characters"
    assert cutting_tables(from_tokenizer_json(superbpe_json(), "super.json")) is None
    monkeypatch.setattr(cutting, "_MOST_TYPES", 7_999)
    assert cutting_tables(load_tokeniser("demo:en")) is None
