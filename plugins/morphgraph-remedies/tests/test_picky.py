"""Segmenting by events against a naive one, and the released layout of a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import merge_method_oracles as naive
import oracles
import pytest
import training_oracles as plain
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import token_texts

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.vocabulary_figures import list_behind
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.models import export_segmenter, load_segmenter, read_model, write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph_remedies.kernel_calls import call_segment_by_events
from morphgraph_remedies.picky import Picky, PickyEvent, TrainedPicky, train_picky
from morphgraph_remedies.picky_kernel import segment_by_events


@st.composite
def models(draw: st.DrawFn) -> tuple[list[str], list[plain.Event]]:
    """Types, and events in an order that training need not come to."""
    types = list("abc")
    parts: dict[str, list[tuple[str, ...]]] = {}
    events: list[plain.Event] = []
    for _ in range(draw(st.integers(0, 14))):
        if parts and draw(st.booleans()):
            whole = draw(st.sampled_from(sorted(parts)))
            found = list(draw(st.sampled_from(parts[whole])))
            for place in range(len(found) - 1, -1, -1):
                if found[place] in parts and draw(st.booleans()):
                    found[place : place + 1] = parts[found[place]][0]
            events.append(("split", tuple(found), whole))
            continue
        pair = (draw(st.sampled_from(types)), draw(st.sampled_from(types)))
        whole = "".join(pair)
        if len(whole) <= 8:
            events.append(("merge", pair, whole))
            parts.setdefault(whole, []).append(pair)
            if whole not in types:
                types.append(whole)
    return types, events


def picky_of(types: list[str], events: list[plain.Event], filler: int = 0) -> Picky:
    listed = [*(chr(0xE000 + i) for i in range(filler)), *types]
    first = {whole: parts for kind, parts, whole in reversed(events) if kind == "merge"}
    tokeniser = tokeniser_of_types("small", listed, first.values())
    ids = {text: number for number, text in enumerate(listed)}
    return Picky(
        tokeniser,
        [PickyEvent(kind, tuple(ids[p] for p in parts), ids[w]) for kind, parts, w in events],
    )


def of_training(trained: TrainedPicky, name: str = "trained") -> Picky:
    return Picky.of_training(tokeniser_of_types(name, trained.types, trained.merges), trained)


def check(picky: Picky, events: list[plain.Event], listed: list[str]) -> None:
    words = picky.encode(listed)
    found = picky.segment(words)
    assert ((found.closed_by < 0) == (found.token_at >= 0)).all()
    for number, word in enumerate(listed):
        # Without an unknown token, other characters are left out.
        known = "".join(letter for letter in word if letter in picky.types)
        tokens, performed = plain.segment_picky(events, known)
        ends = found.token_ends(number)
        assert [picky.token_text(words, atom, token) for atom, token in ends] == tokens
        start, end = words.word_offsets[number : number + 2]
        closed = {int(n) for n in found.closed_by[start:end] if n >= 0}
        assert closed <= set(performed)
        assert all(events[n][0] == "merge" for n in closed)


@examples(400)
@given(models(), st.lists(st.text("abcd", max_size=12), max_size=6), st.sampled_from([0, 400]))
def test_same_as_naive(
    model: tuple[list[str], list[plain.Event]], listed: list[str], filler: int
) -> None:
    types, events = model
    picky = picky_of(types, events, filler)
    check(picky, events, listed)
    absent = set()
    for kind, _, whole in events:
        absent = absent - {whole} if kind == "merge" else absent | {whole}
    assert picky.vocabulary_size == len(types) + filler - len(absent)


@examples(200)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 9), min_size=1),
    st.lists(st.text("abcd", max_size=12), max_size=6),
    st.integers(3, 30),
    st.sampled_from([0.2, 0.5, 0.7, 0.9]),
)
def test_same_as_naive_after_training(
    counts: dict[str, int], listed: list[str], size: int, threshold: float
) -> None:
    picky = of_training(train_picky(counts, vocab_size=size, threshold=threshold))
    _, events, present, segmented = plain.train_picky(counts, size, threshold)
    check(picky, events, [*listed, *counts])
    assert picky.vocabulary_size == len(present)
    found = picky.segment(picky.encode(list(counts)))
    for number, tokens in enumerate(segmented):  # words of training end up as training left them
        assert [picky.types[token] for token in found.tokens(number)] == tokens


@examples(200)
@given(models(), st.lists(st.text("abc", max_size=12), max_size=6))
def test_other_methods_see_the_final_types(
    model: tuple[list[str], list[plain.Event]], listed: list[str]
) -> None:
    """As on a plain list of the types that are left; by post-removal as by `naive.demolish`."""
    picky = picky_of(*model)
    present = [text for number, text in enumerate(picky.types) if number not in picky.absent]
    plain = SubwordVocabulary(tuple(present))
    for name in ("greedy", "suffix", "flota", "least"):
        made = method_on(picky, name)
        assert token_texts(made, listed) == token_texts(method_on(plain, name), listed), name
        assert made.vocabulary_size == picky.vocabulary_size
        ids = [made.vocabulary_id(number) for number in range(len(present))]
        assert ids == [picky.vocabulary_id(picky.types.index(text)) for text in present]
    first = {whole: parts for kind, parts, whole in reversed(model[1]) if kind == "merge"}
    ranked, gone = oracles.listed(first.values()), set(picky.types) - set(present)
    assert token_texts(method_on(picky, "scaffold"), listed) == [
        naive.demolish(ranked, oracles.segment(ranked, word)[0], gone) for word in listed
    ]


def test_a_signature_is_of_all_events() -> None:
    counts = {"▁abc": 9, "▁ab": 1, "▁bcd": 4, "▁abcd": 12}
    picky = of_training(train_picky(counts, vocab_size=8, threshold=0.6), "folder/mine")
    assert picky.signature().startswith("Picky BPE(threshold=0.6):mine@")
    fewer = Picky(picky.tokeniser, picky.events[:-1], 0.6)
    assert fewer.signature() != picky.signature()


def test_released_layout() -> None:
    texts = ["<PAD>", "<UNK>", "<BOS>", "<EOS>", "▁", "a", "b", "c", "▁a", "ab", "▁ab"]
    halves = {"▁a": ("▁", "a"), "ab": ("a", "b"), "▁ab": ("▁a", "b")}
    model = naive.released(texts, halves, ["▁a", "▁ab", "-▁a", "ab"], 9)
    picky = Picky.from_released(model, "model.json")
    assert picky.vocabulary_size == 10
    assert [event.kind for event in picky.events] == ["merge", "merge", "split", "merge"]
    words = picky.encode(["ab", "acab", "xa"])
    found = picky.segment(words)
    assert [[picky.types[t] for t in found.tokens(n)] for n in range(3)] == [
        ["▁ab"],
        ["▁", "a", "c", "ab"],
        ["▁", "<UNK>", "a"],
    ]
    for broken in ({**model, "splits": [{}]}, {"tokens": 3}, [1]):
        with refused(FileFormatError):
            Picky.from_released(broken, "model.json")


@pytest.mark.parametrize(
    "events",
    [
        [("split", (0, 1, 2), 5)],
        [("merge", (0, 1, 2), 5)],
        [("merge", (4, 2), 5), ("merge", (0, 1), 4)],
        [("merge", (0, 2), 4)],
        [("merge", (1, 0), 4)],
        [("merge", (4,), 4)],
    ],
)
def test_events_that_would_need_more_room_are_refused(
    events: list[tuple[str, tuple[int, ...], int]],
) -> None:
    """Types a b c d ab abc: a split of what was never merged would make one atom several."""
    tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "d", "ab", "abc"], [])
    with refused():
        Picky(tokeniser, [PickyEvent(*event) for event in events])  # type: ignore[arg-type]


def test_added_tokens_are_never_split() -> None:
    """A word may have such a token as one atom, so a split would need more room than it has."""
    tokeniser = tokeniser_of_types("low", ["<", "u", ">", "<u", "<u>"], [])
    tokeniser.graph.fixed = frozenset({4})
    events = [PickyEvent("merge", (0, 1), 3), PickyEvent("merge", (3, 2), 4)]
    with refused():
        Picky(tokeniser, events)


def test_released_models_load_everywhere(tmp_path: Path) -> None:
    data = json.dumps(naive.released_model()).encode()
    path = tmp_path / "picky.json"
    path.write_bytes(data)
    picky = load_segmenter(path)
    found = picky.segment(picky.encode(["ab", "a", "bx"]))
    ids = [[picky.vocabulary_id(token) for token in found.tokens(n)] for n in range(3)]
    assert ids == [[4, 7], [4, 5], [4, 6, 1]]
    # A model that was trained with it has a row for each number, so these stay.
    made = export_segmenter(picky, ["ab", "a", "bx"])
    held = json.loads(made.files["tokeniser.method.json"])["model"]
    assert (held["vocab"]["ab"], made.vocab_size, made.new_types) == (7, 8, 0)
    assert json.loads(made.files["ids.json"]) == {str(n): n for n in range(8)}
    saved = read_model(write_model(load_segmenter({"picky.json": data})), "saved.json")
    assert [saved.vocabulary_id(token) for token in (7, 8)] == [None, 7]
    with refused(FileFormatError):
        load_tokeniser(path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda model: model["tokens"][8].update(id=7), "field tokens: the id 7 is given more"),
        (lambda model: model["merges"][1].update(id=1), "merges and splits: the id 1 is given"),
        (lambda model: model["id2int"].update({"8": 3}), "field id2int: the id 3 is given more"),
        (lambda model: model["merges"].pop(0), "no earlier event merged"),
        (lambda model: model["tokens"].pop(6), "does not have the fields of a Picky BPE model"),
        (
            lambda model: model["tokens"][5].update(str=""),
            "picky.json: it does not have the",
        ),
        (lambda model: model["tokens"][5].update(str=None), "does not have the fields"),
        (lambda model: model["tokens"][5].update(str="b"), "tokens: a type is listed more than"),
    ],
)
def test_a_damaged_released_model(change: Callable[[Any], Any], problem: str) -> None:
    model = naive.released_model()
    change(model)
    with pytest.raises(FileFormatError, match=problem):
        load_segmenter({"picky.json": json.dumps(model).encode()})


def test_types_that_a_later_event_splits() -> None:
    """ab is split at the end, and never merged again: it is gone, abc is not."""
    tokeniser = tokeniser_of_types("t", ["a", "b", "c", "ab", "abc"], [("a", "b"), ("ab", "c")])
    events = [("merge", (0, 1), 3), ("merge", (3, 2), 4), ("split", (0, 1), 3)]
    health = VocabularyHealth(Picky(tokeniser, [PickyEvent(*event) for event in events], 0.9))  # type: ignore[arg-type]
    assert {*list_behind(health, "size")["type"]} == {"a", "b", "c", "abc"}
    assert health.unreachable == []


def test_set_up_compiles_for_its_arrays() -> None:
    call_segment_by_events()
    compiled = len(segment_by_events.signatures)
    picky = of_training(train_picky({"hugs": 3, "bugs": 2, "hug": 9}, vocab_size=9, threshold=0.5))
    picky.segment(picky.encode(["hugs", "bugs"]))
    assert len(segment_by_events.signatures) == compiled
