"""What a tokeniser shows to people: readable types, search, signatures."""

from collections.abc import Callable

import pytest

from morphgraph.formats.loading import load_tokeniser
from morphgraph.tokeniser.preprocess import readable_bytes
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MakeTokeniser = Callable[..., BpeTokeniser]


@pytest.mark.parametrize(
    "type_, shown",
    [
        ("Ġthe", "Ġthe"),
        ("ĠGrÃ¶ÃŁe", "ĠGröße"),
        ("Ã", "⟨C3⟩"),
        ("Ġa¼b", "Ġa⟨BC⟩b"),
        ("Ċ", "⟨0A⟩"),
        ("ĠĠ", "Ġ "),
        ("æĹ¥æľ¬", "日本"),
        ("Â", "⟨C2⟩"),
        ("日", "日"),
        ("<b>", "<b>"),
    ],
)
def test_readable_bytes(type_: str, shown: str) -> None:
    assert readable_bytes(type_) == shown


def test_readable_leaves_other_tokenisers_alone(small_tokeniser: MakeTokeniser) -> None:
    tokeniser = small_tokeniser([("Ã", "¤")])
    assert tokeniser.readable("Ã¤") == "Ã¤"


def test_search() -> None:
    tokeniser = load_tokeniser("demo:de")
    found = [tokeniser.readable(tokeniser.graph.types[n]) for n in tokeniser.search("über")]
    assert set(found[:2]) == {"␣über", "über"}
    assert all("über" in text for text in found)
    starting = [text.lstrip("␣").startswith("über") for text in found[1:]]
    assert starting == sorted(starting, reverse=True), "those that start with it come first"
    assert len(tokeniser.search("e", limit=7)) == 7
    tokeniser.graph.knockout(["ĠÃ¼ber"])
    again = [tokeniser.graph.types[n] for n in tokeniser.search("über")]
    assert "ĠÃ¼ber" not in again, "a removed type is not found"
    assert tokeniser.search("no such thing") == []


def test_a_space_in_front_finds_the_start_of_a_word() -> None:
    tokeniser = load_tokeniser("demo:en")
    assert {"un", "Ġun"} <= set(tokeniser.graph.types)
    found = [tokeniser.graph.types[n] for n in tokeniser.search(" un")]
    assert found[0] == "Ġun"
    assert len(found) > 10
    assert all(text.startswith("Ġun") for text in found)
    assert tokeniser.graph.types[tokeniser.search("un")[0]] == "un"
    assert tokeniser.search(" un") == tokeniser.search("␣un") == tokeniser.search("Ġun")
    assert tokeniser.type_from(" un") == tokeniser.type_from("␣un") == "Ġun"
    assert tokeniser.type_from("un") == "un"
    assert tokeniser.type_from(" ") == "Ġ"
    german = load_tokeniser("demo:de")
    assert german.type_from(" über") == "ĠÃ¼ber"
    assert german.graph.types[german.search(" über")[0]] == "ĠÃ¼ber"
    tokeniser.graph.knockout(["Ġun"])
    assert tokeniser.type_from(" un") is None, "un inside a word is another type"


@pytest.mark.parametrize(
    ("text", "found"), [(" un", ["▁un", "▁und"]), ("un", ["un", "▁un", "und", "▁und"])]
)
def test_the_marker_of_sentencepiece_is_a_space_too(
    small_tokeniser: MakeTokeniser, text: str, found: list[str]
) -> None:
    merges = [("u", "n"), ("▁", "un"), ("un", "d"), ("▁un", "d")]
    tokeniser = small_tokeniser(merges)
    assert [tokeniser.graph.types[n] for n in tokeniser.search(text)] == found


def test_where_nothing_marks_a_start_a_space_in_front_is_nothing(
    small_tokeniser: MakeTokeniser,
) -> None:
    tokeniser = small_tokeniser([("u", "n"), ("un", "d")])
    assert tokeniser.type_from(" un") == "un"
    assert tokeniser.search(" un") == tokeniser.search("un") != []


def test_type_from() -> None:
    tokeniser = load_tokeniser("demo:de")
    assert tokeniser.type_from("über") in ("ĠÃ¼ber", "Ã¼ber")
    assert tokeniser.type_from("Ġüber") == "ĠÃ¼ber"
    assert tokeniser.type_from("ĠÃ¼ber") == "ĠÃ¼ber"
    assert tokeniser.type_from("nope nope") is None


def test_signature_changes_with_every_edit(small_tokeniser: MakeTokeniser) -> None:
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c")])
    bare = tokeniser.signature()
    assert bare == f"small.json@{tokeniser.checksum}"
    tokeniser.graph.knockout(["ab"])
    once = tokeniser.signature()
    assert once.startswith(bare + "+")
    tokeniser.graph.knockout(["abc"])
    assert tokeniser.signature() not in (bare, once)
