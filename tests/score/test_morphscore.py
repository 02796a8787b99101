"""MorphScore as released: its own rule, with pandas and the `tokenizers` library, is the oracle."""

import csv
import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import MergeList, well_formed
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

import morphgraph as mg
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference
from morphgraph.score.morphscore import morphscore_of

HEAD = ",full_word,pt1,rest\n"
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"]
MISSING += ["1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]


def released(data: bytes, tokenizer: Any) -> float:
    """Each row as the program released with version 1 takes it (Arnett & Bergen 2025)."""
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    frame = pd.read_csv(io.BytesIO(data))
    points = []
    for word, first, rest in zip(frame["full_word"], frame["pt1"], frame["rest"], strict=True):
        ids = tokenizer.encode(word).ids
        for special in (size, size + 1):
            if special in ids:
                ids.remove(special)
        tokens = [tokenizer.decode([each], skip_special_tokens=False) for each in ids]
        hits = 0
        for i in range(1, len(tokens)):
            hits += ["".join(tokens[:i]), "".join(tokens[i:])] == [first, rest]
        if len(tokens) != 1:
            points.append(int(hits == 1))
    return sum(points) / len(points) if points else math.nan


def tokenizer_of(merges: MergeList, kind: str, first: str) -> Tokenizer:
    """A small tokeniser of a kind; ``first``: where the id of the token before texts comes from."""
    types = ["".join(parts) for parts in merges]
    letters = [*"abc", *(["▁"] if kind == "metaspace" else [])]
    if kind == "bytes":
        letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    if kind == "wordpiece":
        letters = [*"abc", "##a", "##b", "##c"]
        types += [f"##{each}" for each in types]
    listed = dict.fromkeys(["[UNK]", *letters, *types, *(["<s>"] if first == "model" else [])])
    vocab = {text: number for number, text in enumerate(listed)}
    if kind == "wordpiece":
        made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
        made.pre_tokenizer, made.decoder = pre_tokenizers.Whitespace(), decoders.WordPiece()
    else:
        made = Tokenizer(models.BPE(vocab, list(dict.fromkeys(merges)), unk_token="[UNK]"))
    if kind == "bytes":
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
    if kind == "metaspace":
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    if first != "none":
        made.add_special_tokens(["<x>"] * (first == "later") + ["<y>"] * (first == "last"))
        made.add_special_tokens(["<z>"] * (first == "last") + ["<s>"])
        made.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", made.token_to_id("<s>"))]
        )
    return made


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, str, str]:
    word = draw(st.text("abcé", min_size=1, max_size=7))
    cut = draw(st.integers(0, len(word)))
    parts = [word[:cut], word[cut:]]
    if draw(st.integers(0, 4)) == 0:
        parts[draw(st.integers(0, 1))] = draw(st.sampled_from(MISSING) | st.text("abc", max_size=3))
    return word, parts[0], parts[1]


@given(
    well_formed(widest=2),
    st.sampled_from(["bytes", "metaspace", "wordpiece", "letters"]),
    st.sampled_from(["none", "model", "added", "later", "last"]),
    st.lists(rows(), max_size=8),
)
def test_equals_the_released_rule(
    merges: MergeList, kind: str, first: str, listed: list[tuple[str, str, str]]
) -> None:
    merges = [parts for parts in merges if len(parts) == 2]
    if kind == "wordpiece" and first != "none":
        first = "model"  # a list of types does not say which ones the file had added
    made = tokenizer_of(merges, kind, first)
    told = io.StringIO()
    usable = ("ba", "b", "a")  # without any, there is no reference
    csv.writer(told).writerows([n, *row] for n, row in enumerate([usable, *listed]))
    data = (HEAD + told.getvalue()).encode()
    found = mg.load(made).morphscore_strict(mg.read_gold(data))
    assert found == pytest.approx(released(data, made), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("text", MISSING)
def test_what_pandas_takes_for_nothing_counts_and_scores_nothing(text: str) -> None:
    data = f"{HEAD}0,abc,ab,c\n1,{text}c,{text},c\n2,abc,ab\n".encode()
    parts = [(row[1], row[2]) for row in read_reference(data).morphscore_rows]
    assert parts == [("ab", "c"), (None, "c"), ("ab", None)]


def test_only_a_whole_file_has_rows() -> None:
    reference = read_reference(f"{HEAD}0,abc,ab,c\n1,abd,ab,d\n".encode())
    assert len(reference.morphscore_rows) == 2
    for part in (
        reference.sample(1),
        reference.first_analyses(),
        join_references([reference, reference]),
        mg.read_gold(reference).split(0.5, by="words")[0].reference,
    ):
        assert part.morphscore_rows == ()
    with refused():
        mg.load("demo:en").morphscore_strict("demo:en")


def test_a_place_has_to_be_the_only_one_and_a_word_without_tokens_counts() -> None:
    row = ("undo", "un", "do")
    assert morphscore_of([row, row], [["un", "", "do"], ["un", "do"]]) == 0.5
    assert morphscore_of([row], [["", "un", "do"]]) == 1
    assert morphscore_of([("undo", "", "undo")], [["", "undo"]]) == 1
    assert morphscore_of([row], [[]]) == 0


def test_of_rows_without_two_tokens_there_is_no_score() -> None:
    made = tokenizer_of([("a", "b")], "letters", "none")
    assert math.isnan(mg.load(made).morphscore_strict(f"{HEAD}0,ab,a,b\n".encode()))


@pytest.mark.data
def test_equals_the_released_rule_on_all_public_files(data_folder: Path) -> None:
    folder = data_folder / "tokenizers" / "qwen2.5"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ours = mg.load(folder)
    files = sorted((data_folder / "references" / "morphscore1").glob("*.csv"))
    found = {file.name: ours.morphscore_strict(mg.read_gold(file)) for file in files}
    wanted = {file.name: released(file.read_bytes(), tokenizer) for file in files}
    assert len(files) == 19
    assert found == pytest.approx(wanted, abs=1e-12)
    assert len({*found.values()}) == 19
