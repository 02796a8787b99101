"""Longest suffix and least tokens against what their sources say, and on a real vocabulary."""

from itertools import pairwise, product

from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.kernels import DROPPED, INSIDE_TOKEN
from morphgraph.segment.segmenter import Segmenter, method_on, segmenter_of
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary
from morphgraph_remedies.kernel_calls import call_longest_from_right
from morphgraph_remedies.lookup_kernel import longest_from_right
from morphgraph_remedies.vocabulary_methods import Least, Suffix

TYPES = st.lists(st.text("▁abc", min_size=1, max_size=4), min_size=1, max_size=16, unique=True)
WORDS = st.text("▁abcd", max_size=10)
Token = tuple[str, int, int]


def looked_up(types: list[str], marker: str, word: str, start: int, end: int) -> str | None:
    """The type that spells these characters; inside a word of a ## vocabulary one with ##."""
    text = ("##" if marker == "##" and start else "") + word[start:end]
    return text if text in types else None


def from_the_right(types: list[str], marker: str, word: str) -> list[Token]:
    tokens: list[Token] = []
    end = len(word)
    while end:
        starts = [s for s in range(end) if looked_up(types, marker, word, s, end)]
        if not starts:
            break  # what is left at the front is dropped
        type_ = looked_up(types, marker, word, starts[0], end)
        tokens.insert(0, (str(type_), starts[0], end))
        end = starts[0]
    return tokens


def fewest(types: list[str], marker: str, word: str) -> list[Token]:
    """Of all ways: fewest unknown characters, then tokens, then the longest last one, and so on."""
    ways = []
    for cuts in product((False, True), repeat=max(len(word) - 1, 0)):
        bounds = [0, *(n + 1 for n, cut in enumerate(cuts) if cut), len(word)] if word else [0]
        way = [
            (looked_up(types, marker, word, start, end) or "?", start, end)
            for start, end in pairwise(bounds)
        ]
        if all(end - start == 1 for text, start, end in way if text == "?"):
            unknown = sum(text == "?" for text, *_ in way)
            ways.append((unknown, len(way), [s - e for _, s, e in reversed(way)], way))
    fused: list[Token] = []
    for text, start, end in min(ways)[-1]:
        if text == "?" and fused and fused[-1][0] == "?":
            start = fused.pop()[1]
        fused.append((text, start, end))
    return fused


def tokens_of(segmenter: Segmenter, word: str) -> list[Token]:
    """The tokens with the characters that they cover; ``closed_by`` says the same."""
    found = segmenter.segment(segmenter.encode([word]))
    tokens, start = [], 0
    inside = found.token_at == INSIDE_TOKEN
    assert ((found.closed_by >= 0) == inside).all()
    for at, token in enumerate(found.token_at.tolist()):
        if token >= 0:
            text = "?" if token == segmenter.unknown_id else segmenter.types[token]
            tokens.append((text, start, at + 1))
        if token != INSIDE_TOKEN:
            start = at + 1
    return tokens


def vocabulary(types: list[str], marker: Marker) -> SubwordVocabulary:
    listed = (*dict.fromkeys(types), "<unk>")
    return SubwordVocabulary(
        listed, marker, special=frozenset({"<unk>"}), unknown="<unk>", preprocessor=Preprocessor()
    )


@examples(800)
@given(TYPES, WORDS, st.sampled_from(("", "▁", "##")), st.data())
def test_as_oracles(types: list[str], word: str, marker: Marker, data: st.DataObject) -> None:
    if marker == "##":
        types = [("##" if data.draw(st.booleans()) else "") + text for text in types]
        if "##" in types:
            types.remove("##")
    known = vocabulary(types, marker)
    assert tokens_of(Suffix(known), word) == from_the_right(types, marker, word)
    assert tokens_of(Least(known), word) == fewest(types, marker, word)


@examples(800)
@given(TYPES, st.text("▁abc", min_size=1, max_size=20))
def test_least_as_a_library_of_equal_scores(types: list[str], word: str) -> None:
    """Where types spell the word, the `tokenizers` library's Unigram breaks ties alike."""
    from tokenizers import models

    types = list(dict.fromkeys([*types, *"▁abc"]))
    library = models.Unigram([(text, -1.0) for text in types])
    least = Least(SubwordVocabulary(tuple(types), "▁"))
    found = least.segment(least.encode([word])).tokens(0)
    assert [types[n] for n in found] == [token.value for token in library.tokenize(word)]


def test_by_hand() -> None:
    known = SubwordVocabulary(("a", "b", "c", "ab", "bc"))
    named = ("greedy", "suffix", "flota", "least")
    made = [method_on(known, name) for name in named]
    found = [[text for text, *_ in tokens_of(one, "abc")] for one in made]
    assert found == [["ab", "c"], ["a", "bc"], ["ab", "c"], ["a", "bc"]]
    assert [one.signature().partition(":")[0] for one in made[1::2]] == [
        "Longest suffix",
        "Least tokens",
    ]
    assert segmenter_of(made[3].document()).signature() == made[3].signature()


def test_a_front_without_a_type_is_left_out() -> None:
    suffix = Suffix(vocabulary(["b", "ab"], ""))
    found = suffix.segment(suffix.encode(["abxab"]))
    assert found.token_at.tolist() == [DROPPED, DROPPED, DROPPED, INSIDE_TOKEN, 1]
    assert tokens_of(Least(vocabulary(["b", "ab"], "")), "xabxxab") == [
        *(("?", 0, 1), ("ab", 1, 3), ("?", 3, 5), ("ab", 5, 7))
    ]


def test_no_unknown_character_is_worth_many_tokens() -> None:
    """Unlike Unigram, in which ten tokens cost as much."""
    types = ["a", "aaaaaaaaaaaaaaaaaaaab"]
    assert len(tokens_of(Least(vocabulary([*types, "c"], "")), "a" * 20 + "c")) == 21


def test_bytes_are_never_left_out() -> None:
    types = ("b", *(f"<0x{byte:02X}>" for byte in range(256)))
    suffix, least = (
        kind(SubwordVocabulary(types, "▁", Preprocessor(byte_fallback=True)))
        for kind in (Suffix, Least)
    )
    for made in (suffix, least):
        found = made.segment(made.encode(["bäb"])).tokens(0)
        assert [types[n] for n in found] == ["b", "<0xC3>", "<0xA4>", "b"]


def test_set_up_compiles_for_its_arrays() -> None:
    call_longest_from_right()
    compiled = len(longest_from_right.signatures)
    tokens_of(Suffix(vocabulary(["b", "ab"], "##")), "abxab")
    assert len(longest_from_right.signatures) == compiled
