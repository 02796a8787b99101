"""Merges that join words: cut as `tokenizers` cuts; what blame and scores leave out is said."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import expect
from small import small_document, small_tokeniser
from superbpe import WORDS, superbpe_json
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import morphgraph as mg
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.vocabulary_figures import figures_of, list_behind
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.preprocess import spans_words

GOLD = [("undo", ["un", "do"]), ("doing", ["do", "ing"]), ("houses", ["house", "s"])]
OTHERS = [" ", "  ", "1", "1234", "..", "!", "\n", "/"]


@pytest.fixture(scope="module")
def super_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("super") / "super.json"
    file.write_bytes(superbpe_json())
    return file


def naive(file):
    """Types that are decoded to a letter, later a space, and later another letter."""
    theirs = Tokenizer.from_str(file.decode())
    between = re.compile(r"[^\W\d_].* .*[^\W\d_]")
    return {text for text, n in theirs.get_vocab().items() if between.search(theirs.decode([n]))}


@pytest.mark.filterwarnings("ignore:.*several words")
@given(st.lists(st.sampled_from([*WORDS, *OTHERS]), max_size=20))
def test_text_is_cut_as_the_library_cuts_it(parts):
    theirs = Tokenizer.from_str(superbpe_json().decode())
    ours = mg.load(theirs)
    for text in ("".join(parts), " ".join(parts)):
        assert list(ours.encode(text)) == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


def test_types_of_several_words_are_known_and_listed():
    tokeniser = from_tokenizer_json(superbpe_json(), "super.json")
    found = {tokeniser.types[number] for number in tokeniser.several_words}
    assert found == naive(superbpe_json())
    assert len(found) > 20
    health = VocabularyHealth(Bte(tokeniser))
    assert figures_of(health)["several_words"].number == len(found)
    assert set(list_behind(health, "several_words")["type_id"]) == set(tokeniser.several_words)


@pytest.mark.parametrize(
    ("types", "several"),
    [
        (["▁of", "▁of▁the"], ["▁of▁the"]),
        (["a b"], ["a b"]),
        (["a▁.", ".▁a", "▁▁a", "a▁"], []),
        (["of▁1", "1▁of"], []),
    ],
)
def test_a_space_counts_between_letters(types, several):
    merges = {(text[:end], text[end]): None for text in types for end in range(1, len(text))}
    tokeniser = small_tokeniser(list(merges))
    assert [t for n in tokeniser.several_words if (t := tokeniser.types[n]) in types] == several


@pytest.mark.parametrize("name", ["gpt2", "qwen2.5", "deepseek-v3", "oscar-de-40k"])
def test_patterns_that_divide_words_leave_no_such_type(data_folder, name):
    """Not even where control characters between spaces are shown by letters."""
    tokeniser = load_tokeniser(data_folder / "tokenizers" / name)
    assert tokeniser.several_words == []


def of_words_alone(file):
    """The tokeniser without merges that no word alone has: those with a space behind a letter."""
    document = json.loads(file)
    document["model"]["merges"] = [
        [left, right]
        for left, right in map(tuple, document["model"]["merges"])
        if "Ġ" not in (left + right)[1:]
    ]
    return mg.load(Tokenizer.from_str(json.dumps(document)))


@pytest.mark.filterwarnings("ignore:.*several words")
def test_words_are_judged_as_if_no_merge_joined_them(super_file):
    """As ever with the space before them; by `tokenizers`, and by a file without such merges."""
    tokeniser, alone = mg.load(super_file), of_words_alone(superbpe_json())
    longer = [("inhouse", ["in", "house"]), ("houselot", ["house", "lot"]), ("unof", ["un", "of"])]
    gold = mg.read_gold([*GOLD, *longer])
    theirs = Tokenizer.from_str(superbpe_json().decode())
    words = [word for word, _ in (*GOLD, *longer)]
    assert tokeniser.segment(words) == [theirs.encode(f" {word}").tokens for word in words]
    assert tokeniser.segment(words) == alone.segment(words)
    frame, expected = (
        each.blame(gold).to_frame().drop(columns="rank") for each in (tokeniser, alone)
    )
    assert frame.to_dict() == expected.to_dict()
    assert frame["B"].sum() > 0
    assert tokeniser.blame(gold).types() == alone.blame(gold).types() != []
    for metric in ("precision", "recall", "f1", "morphscore"):
        assert tokeniser.score(gold)[metric] == alone.score(gold)[metric]
    points, as_expected = (each.thresholds(gold).points for each in (tokeniser, alone))
    assert points == as_expected
    by_ours, by_theirs = (each.knock_out(gold) for each in (tokeniser, alone))
    assert by_ours.removed == by_theirs.removed
    assert by_ours.after.f1 == by_theirs.after.f1 > by_ours.before.f1


def test_what_is_left_out_is_said_until_these_types_are_gone(super_file):
    gold = mg.read_gold(GOLD)
    loaded = from_tokenizer_json(superbpe_json(), "super.json")
    with pytest.warns(UserWarning) as told:
        tokeniser = mg.load(super_file)
    several = [loaded.types[n] for n in loaded.several_words]
    all_but_one = tokeniser.knock_out_types(several[:-1]).tokeniser
    notes = [one.score(gold).scores.notes for one in (tokeniser, all_but_one)]
    for said in (str(told[0].message), *notes[0], *notes[1]):
        expect(said)
    assert list(map(len, notes)) == [1, 1]
    gone = tokeniser.knock_out_types(several).tokeniser
    assert gone.segment(["of"]) == tokeniser.segment(["of"])
    assert gone.score(gold).scores.notes == ()


def test_a_merge_across_words_has_the_parts_of_what_is_knocked_out():
    """By hand: u + n, un + d, o + ␣, o␣ + und, o␣und + o, whole texts as they are.

    In ␣undo, und closes the boundary un|do, and no other merge is wrong. The text do␣undo has
    d and o␣undo before and after: o␣ + und becomes o␣ + un + d.
    """
    merges = [("u", "n"), ("un", "d"), ("o", "Ġ"), ("oĠ", "und"), ("oĠund", "o")]
    whole = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    whole["use_regex"] = False
    document = small_document(merges, pre_tokenizer=whole, decoder=whole)
    with pytest.warns(UserWarning, match=r"2 types span several words: o␣und, o␣undo\. Blame"):
        tokeniser = mg.load(Tokenizer.from_str(json.dumps(document)))
    gold = mg.read_gold([("undo", ["un", "do"])])
    assert tokeniser.segment(["undo"]) == [["Ġ", "und", "o"]]
    assert tokeniser.tokenize("do undo") == ["d", "oĠundo"]
    frame = tokeniser.blame(gold).to_frame()
    listed = frame[["type", "N", "B", "R"]].to_numpy().tolist()
    assert listed == [["und", 1, 1, 1], ["un", 1, 0, 0]]
    found = tokeniser.knock_out(gold)
    assert found.removed == ("und",)
    assert (found.before.f1, found.after.f1) == (0, pytest.approx(2 / 3))  # un|d|o
    assert found.tokeniser.segment(["undo"]) == [["Ġ", "un", "d", "o"]]
    assert found.tokeniser.tokenize("do undo") == ["d", "oĠundo"]
    [rewired] = found.change.rewired
    graph = from_tokenizer_json(json.dumps(document).encode(), "small.json").graph
    assert [graph.types[part] for part in rewired.new_parts] == ["oĠ", "un", "d"]
    # With pairs alone, nothing leads to o␣und any more.
    pairs = tokeniser.knock_out(gold, portable=True).tokeniser
    assert pairs.tokenize("do undo") == ["d", "oĠ", "un", "d", "o"]
    assert not {"oĠund", "oĠundo"} & set(pairs.types)


def trained(kind):
    """A tokeniser of whole texts: none is divided before it is trained."""
    draw = random.Random(2)
    texts = [" ".join(draw.choices(WORDS, k=8)) for _ in range(300)]
    made = Tokenizer(models.BPE(unk_token=None if kind == "ByteLevel" else "<unk>"))
    alphabet = ["<unk>"]
    how = {"initial_alphabet": [], "special_tokens": alphabet}
    if kind == "Metaspace":
        made.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
        made.decoder = decoders.Metaspace(split=False)
    else:
        made.pre_tokenizer = pre_tokenizers.ByteLevel(use_regex=False)
        made.decoder = decoders.ByteLevel()
        how = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    size = 120 if kind == "Metaspace" else 350
    made.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=size, show_progress=False, **how)
    )
    return made


@pytest.mark.filterwarnings("ignore:.*several words")
@pytest.mark.parametrize("kind", ["SuperBPE", "ByteLevel", "Metaspace"])
@pytest.mark.parametrize("edit", ["knock_out", "rebpe"])
def test_running_text_is_cut_by_the_export_as_by_the_edited(kind, edit, tmp_path):
    """Words of several lines, too, by the stock library."""
    made = Tokenizer.from_str(superbpe_json().decode()) if kind == "SuperBPE" else trained(kind)
    gold = mg.read_gold(GOLD)
    tokeniser = mg.load(made)
    draw = random.Random(3)
    texts = ["".join(draw.choices([*WORDS, *" " * 12, "\n"], k=40)) for _ in range(300)]
    assert [list(tokeniser.encode(text)) for text in texts] == [made.encode(t).ids for t in texts]
    before = tokeniser.score(gold)
    edited = getattr(tokeniser, edit)(gold, threshold=0.3, portable=True).tokeniser
    assert edited != tokeniser
    assert edited.score(gold).f1 > before.f1
    exported = edited.export(tmp_path / "folder", words=WORDS)
    assert exported.kind == "tokenizer.json"
    stock = Tokenizer.from_file(str(tmp_path / "folder" / "tokenizer.json"))
    cut = [stock.encode(text, add_special_tokens=False) for text in texts]
    assert [list(edited.encode(text)) for text in texts] == [each.ids for each in cut]
    several = {
        text for text in edited.types if spans_words(text.replace("Ġ", "␣").replace("▁", "␣"))
    }
    assert several & {token for each in cut for token in each.tokens}
