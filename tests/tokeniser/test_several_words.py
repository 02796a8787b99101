"""Tokenisers whose merges join words (SuperBPE): cut as `tokenizers` cuts, and what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_tokeniser
from superbpe import WORDS, superbpe_json
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.vocabulary import VocabularyHealth
from morphgraph.score.vocabulary_figures import figures_of, list_behind
from morphgraph.segment.bte import Bte

REASON = r"super.json, field model.merges: {} looks at each word alone, and \d+ types .* Knock "
GOLD = [("undo", ["un", "do"]), ("doing", ["do", "ing"]), ("houses", ["house", "s"])]
OTHERS = [" ", "  ", "1", "1234", "..", "!", "\n", "/"]
GOLD_FILE = "undo\tun do\ndoing\tdo ing\nhouses\thouse s\n"


@pytest.fixture(scope="module")
def super_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("super") / "super.json"
    file.write_bytes(superbpe_json())
    return file


def naive(file: bytes) -> set[str]:
    """Types that are decoded to a letter, later a space, and later another letter."""
    theirs = Tokenizer.from_str(file.decode())
    between = re.compile(r"[^\W\d_].* .*[^\W\d_]")
    return {text for text, n in theirs.get_vocab().items() if between.search(theirs.decode([n]))}


@given(st.lists(st.sampled_from([*WORDS, *OTHERS]), max_size=20))
def test_text_is_cut_as_the_library_cuts_it(parts: list[str]) -> None:
    theirs = Tokenizer.from_str(superbpe_json().decode())
    ours = mg.load(theirs)
    for text in ("".join(parts), " ".join(parts)):
        assert list(ours.encode(text)) == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


def test_types_of_several_words_are_known_and_listed() -> None:
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
def test_a_space_counts_between_letters(types: list[str], several: list[str]) -> None:
    merges = {(text[:end], text[end]): None for text in types for end in range(1, len(text))}
    tokeniser = small_tokeniser(list(merges))
    assert [t for n in tokeniser.several_words if (t := tokeniser.types[n]) in types] == several


@pytest.mark.parametrize("name", ["gpt2", "qwen2.5", "deepseek-v3", "oscar-de-40k"])
def test_patterns_that_divide_words_leave_no_such_type(data_folder: Path, name: str) -> None:
    """Not even where control characters between spaces are shown by letters."""
    tokeniser = load_tokeniser(data_folder / "tokenizers" / name)
    assert tokeniser.several_words == []


def test_what_looks_at_single_words_is_refused_until_these_types_are_gone(super_file: Path) -> None:
    tokeniser = mg.load(super_file)
    gold: Any = mg.read_gold(GOLD)
    for what, ask in {
        "Blame": tokeniser.blame,
        "BPE-knockout": tokeniser.knock_out,
        "ReBPE": tokeniser.rebpe,
        "MorphScore": lambda gold: tokeniser.score(gold, metrics=["f1", "morphscore"]),
    }.items():
        with pytest.raises(mg.MorphGraphError, match=REASON.format(what)):
            ask(gold)
    with pytest.raises(mg.MorphGraphError, match=REASON.format("Blame")):
        tokeniser.thresholds(gold)
    rows: Any = b",full_word,pt1,rest\n0,undo,un,do\n1,doing,do,ing\n"
    with pytest.raises(mg.MorphGraphError, match=REASON.format("MorphScore")):
        tokeniser.morphscore_strict(mg.read_gold(rows))
    assert tokeniser.score(gold).f1 >= 0
    plain = mg.load("demo:en")
    both = mg.compare({"super": tokeniser, "plain": plain}, gold, metrics=["morphscore"])
    assert "MorphScore looks at each word alone" in both.table.signature_of(0)
    loaded = from_tokenizer_json(superbpe_json(), "super.json")
    gone = tokeniser.knock_out_types([loaded.types[n] for n in loaded.several_words]).tokeniser
    assert gone.segment(["of"]) == tokeniser.segment(["of"])
    gone.blame(gold)
    gone.score(gold, metrics=["morphscore"])


def test_commands_refuse_with_the_reason(morphgraph: Any, super_file: Path) -> None:
    gold = super_file.with_name("gold.tsv")
    gold.write_text(GOLD_FILE)
    out = super_file.with_name("out")
    for command, what in {
        "blame": "Blame",
        f"knockout --out {out}": "BPE-knockout",
        f"rebpe --out {out}": "ReBPE",
        "score --scores morphscore": "MorphScore",
    }.items():
        run = morphgraph(*command.split(), "--tokenizer", super_file, "--reference", gold)
        assert run.code == 2
        assert re.search(REASON.format(what), " ".join(run.err.split()))
        assert not list(out.glob("*"))
    listed = morphgraph("vocabulary", "--tokenizer", super_file, "--list", "several_words")
    assert "␣of␣the" in listed.out
    cut = morphgraph("segment", "--tokenizer", super_file, "--sentences", "of the undo in a lot")
    assert cut.out == "of Ġthe␣undo Ġin Ġa Ġlot\n"
