"""A model carried over to another tokeniser: what becomes of its rows, ids and files."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from model_folders import (
    matrix,
    saved_files,
    shard,
    special_token,
    vocabulary,
    weights,
    write_model,
    write_tokeniser,
)
from refusals import refused
from small import small_document
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import morphgraph as mg
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.method import parse_method
from morphgraph.segment.models import export_to
from morphgraph.segment.training import train
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, BYTES
from morphgraph_models.model_vocabulary import ModelVocabulary, read_model_vocabulary
from morphgraph_models.settings import RowOptions, RowSettings
from morphgraph_models.transplanting import Transplant

MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]
OTHER = [("d", "o"), ("i", "n"), ("in", "g"), ("do", "ing"), ("u", "n"), ("un", "doing")]


def read(folder: Path, name: str = "config.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def tokens_of(vocabulary: ModelVocabulary, spelled: str) -> list[str]:
    texts = {number: text for text, number in vocabulary.ids.items()}
    return [texts[number] for number in vocabulary.tokens_of([spelled])[0]]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Types un…undoing with ids 0 to 11, <pad> 12, </s> 13; input, output and its bias."""
    document = small_document(
        MERGES, added_tokens=[special_token("<pad>", 12), special_token("</s>", 13)]
    )
    tensors = {
        "transformer.wte.weight": matrix(14),
        "transformer.h.0.mlp.weight": matrix(3, 7),
        "lm_head.weight": matrix(14, 1),
        "lm_head.bias": matrix(14, 2)[:, 0].copy(),
    }
    ids = {"pad_token_id": 12, "eos_token_id": [13], "bos_token_id": None, "some_token_id": 5}
    return write_model(tmp_path / "model", document, tensors, **ids, tie_word_embeddings=False)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Its types are fewer by undo and more by doing, its special tokens come first."""
    document = small_document(OTHER, "undoig")
    ids = {text: number + 2 for text, number in document["model"]["vocab"].items()}
    document["model"]["vocab"] = ids
    document["added_tokens"] = [special_token("</s>", 0), special_token("<pad>", 1)]
    return write_tokeniser(tmp_path / "other", document)


def test_rows_of_kept_types_are_copied_and_new_ones_are_means(
    model: Path, other: Path, tmp_path: Path
) -> None:
    made = mg.models.transplant(model, other, tmp_path / "out")
    old, new = vocabulary(model), vocabulary(other)
    assert made.made == {"doing": ("do", "ing")}
    assert made.dropped == ("undo",)
    assert set(made.kept) == old.keys() - {"undo"}
    before, after = weights(model), weights(tmp_path / "out")
    assert after.keys() == before.keys()
    for name in ("transformer.wte.weight", "lm_head.weight", "lm_head.bias"):
        assert len(after[name]) == len(new)
        for type_ in made.kept:
            np.testing.assert_array_equal(after[name][new[type_]], before[name][old[type_]])
        mean = (before[name][old["do"]] + before[name][old["ing"]]) / np.float32(2)
        np.testing.assert_array_equal(after[name][new["doing"]], mean)
    rest = "transformer.h.0.mlp.weight"
    np.testing.assert_array_equal(after[rest], before[rest])
    assert repr(made) == (
        f"<Transplant: 13 rows copied, 1 made (mean), 1 dropped; {tmp_path / 'out'}>"
    )


def test_ids_in_the_configurations_are_those_of_the_new_tokeniser(
    model: Path, other: Path, tmp_path: Path
) -> None:
    given = {"eos_token_id": 13, "pad_token_id": -1, "suppress_tokens": [0, 6, 99], "top_k": 12}
    (model / "generation_config.json").write_text(json.dumps(given))
    mg.models.transplant(model, other, tmp_path / "out")
    new, config = vocabulary(other), read(tmp_path / "out")
    assert config["vocab_size"] == len(new) == 14
    assert (config["pad_token_id"], config["eos_token_id"]) == (1, [0])
    assert config["bos_token_id"] is None
    assert (config["model_type"], config["n_embd"]) == ("gpt2", 5)
    old = {number: text for text, number in vocabulary(model).items()}
    found = read(tmp_path / "out", "generation_config.json")
    suppressed = [new[old[number]] for number in (0, 6)]
    assert found == given | {"eos_token_id": 0, "suppress_tokens": suppressed}


@pytest.mark.parametrize("both", [False, True])
def test_a_special_token_of_another_name_takes_its_role(
    model: Path, other: Path, tmp_path: Path, both: bool
) -> None:
    """The new tokeniser's own configuration says which token is its end of a text.

    Where that of the old one does too, its row is that of its role.
    """
    text = (other / "tokenizer.json").read_text().replace("</s>", "<end>")
    (other / "tokenizer.json").write_text(text)
    for folder, end in ((model, "</s>"), (other, "<end>"))[not both :]:
        roles = {"eos_token": {"content": end}, "pad_token": "<pad>"}
        (folder / "tokenizer_config.json").write_text(json.dumps(roles))
    made = mg.models.transplant(model, other, tmp_path / "out")
    assert read(tmp_path / "out")["eos_token_id"] == [0]
    assert (("<end>" in made.kept), ("</s>" in made.dropped)) == (both, not both)
    if both:
        before, after = (weights(each)["lm_head.weight"] for each in (model, tmp_path / "out"))
        np.testing.assert_array_equal(after[0], before[13])


def test_an_id_without_its_token_is_null(model: Path, other: Path, tmp_path: Path) -> None:
    path = model / "config.json"
    path.write_text(path.read_text().replace('"pad_token_id": 12', '"pad_token_id": 7000'))
    (other / "tokenizer_config.json").write_text("{}")
    made = mg.models.transplant(model, other, tmp_path / "out")
    assert [(c.before, c.after) for c in made.config if c.field == "pad_token_id"] == [(7000, None)]
    assert read(tmp_path / "out")["pad_token_id"] is None


def test_the_folder_has_the_new_tokeniser_and_all_other_files(
    model: Path, other: Path, tmp_path: Path
) -> None:
    (model / "README.md").write_text("the model's card")
    (other / "README.md").write_text("of the tokeniser")
    (other / "tokenization_own.py").write_text("code")
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text("{}")
    (model / "checkpoint-500").mkdir()
    (model / "checkpoint-500" / "config.json").write_text("{}")
    left_out = ("vocab.json", "pytorch_model.bin", "onnx.onnx", ".hidden")
    for name in (*left_out, "special_tokens_map.json"):
        (model / name).write_text("{}")
    made = mg.models.transplant(model, other, tmp_path / "out")
    out = tmp_path / "out"
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    tokeniser = {"tokenizer.json", "tokenizer_config.json", "tokenization_own.py"}
    beside = {"README.md", "1_Pooling/config.json"}
    assert found == {"config.json", "model.safetensors", *tokeniser, *beside}
    assert set(made.files) == tokeniser | beside
    assert {"pytorch_model.bin", "vocab.json", "onnx.onnx"} < set(made.left_out)
    assert (out / "README.md").read_text() == "the model's card"
    assert (out / "tokenizer.json").read_bytes() == (other / "tokenizer.json").read_bytes()


@pytest.mark.parametrize(
    ("before", "own", "expected"),
    [
        (
            {"model_max_length": 512, "padding_side": "left", "pad_token": "[OLD]"},
            {"padding_side": "right", "pad_token": "<pad>"},
            {"model_max_length": 512, "padding_side": "right", "pad_token": "<pad>"},
        ),
        (
            {"pad_token": "<pad>", "cls_token": "[OLD]"},
            {"padding_side": "right"},
            {"padding_side": "right", "pad_token": "<pad>"},
        ),
    ],
)
def test_settings_that_go_with_the_model_are_kept(
    model: Path, other: Path, tmp_path: Path, before: Any, own: Any, expected: Any
) -> None:
    """Padding too, where the new tokeniser has the type."""
    for folder, settings in ((model, before), (other, own)):
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    mg.models.transplant(model, other, tmp_path / "out")
    assert read(tmp_path / "out", "tokenizer_config.json") == expected


def test_where_a_size_is_the_number_of_ids_names_tell_tensors_apart(
    tmp_path: Path, other: Path
) -> None:
    square = np.zeros((12, 12), np.float32)
    tensors = {"wte.weight": square, "h.0.output.weight": square + 1, "decoder.weight": square}
    folder = write_model(tmp_path / "square", small_document(MERGES), tensors, n_embd=12)
    made = mg.models.transplant(folder, other)
    roles = {each.name: each.role for each in made.tensors}
    assert roles == {"wte.weight": "input", "decoder.weight": "output"}


def test_a_tensor_of_a_layer_may_have_as_many_rows_as_there_are_ids(
    tmp_path: Path, other: Path
) -> None:
    """GPT-2 of width 3 with 12 types: 4 × 3 columns, which no field of its configuration says."""
    layer = {"h.0.mlp.c_fc.bias": matrix(12)[:, 0].copy(), "h.0.mlp.c_fc.weight": matrix(12).T}
    tensors = {"wte.weight": matrix(12), **{name: each.copy() for name, each in layer.items()}}
    folder = write_model(tmp_path / "gpt2", small_document(MERGES), tensors, n_embd=3)
    made = mg.models.transplant(folder, other, tmp_path / "out")
    assert [each.name for each in made.tensors] == ["wte.weight"]
    for name, array in layer.items():
        np.testing.assert_array_equal(weights(tmp_path / "out")[name], array)


@pytest.mark.parametrize("whole_words", [False, True])
@pytest.mark.parametrize("ids", ["keep", "reuse", "dense"])
def test_rows_move_only_where_ids_do(tmp_path: Path, ids: Any, whole_words: bool) -> None:
    """Removed entries keep their rows, also where they are called <removed 8> and <removed 9>.

    They are, where whole words need no merges, and abc is a type that none forms.
    """
    merges = [("b", "c"), ("a", "b"), ("ab", "c"), ("c", "d"), ("ab", "cd"), ("d", "d")]
    document = small_document(merges, "abcd", ignore_merges=whole_words)
    tensors = {"wte.weight": matrix(16), "lm_head.weight": matrix(16, 1)}
    model = write_model(tmp_path / "model", document, tensors)
    tokeniser = load_tokeniser(model)
    tokeniser.graph.cascade(["abcd", "dd"])
    tokeniser.graph.anneal([("d", "a")])
    tokeniser.id_choice = ids
    edited = write_tokeniser(tmp_path / "new", json.loads(to_tokenizer_json(tokeniser)[0]))
    made = mg.models.transplant(model, edited, tmp_path / "out")
    assert made.made == {"da": ("d", "a")}
    old, new = vocabulary(model), vocabulary(edited)
    assert ("<removed 9>" in new) == (whole_words and ids != "dense")
    assert (new["da"], made.reused, made.dropped, made.tensors[0].after[0]) == {
        "keep": (10, {}, (), 16),
        "reuse": (8, {"da": "abcd"}, ("abcd",), 16),
        "dense": (8, {"da": "abcd"}, ("abcd", "dd"), 9),
    }[ids]
    for name, before in tensors.items():
        after = weights(tmp_path / "out")[name]
        expected = before[: len(after)].copy()
        expected[new["da"]] = (before[old["d"]] + before[old["a"]]) / 2
        np.testing.assert_array_equal(after, expected)
    again = mg.models.transplant(tmp_path / "out", edited)
    assert (again.made, again.dropped) == ({}, ())


def test_rows_are_added_up_to_a_multiple(model: Path, other: Path, tmp_path: Path) -> None:
    """They are the mean of all, so that what has no type is never the likeliest."""
    made = mg.models.transplant(model, other, tmp_path / "out", pad_to_multiple_of=8, init="zeros")
    found = weights(tmp_path / "out")["lm_head.weight"]
    assert len(found) == 16
    assert read(tmp_path / "out")["vocab_size"] == 16
    mean = weights(model)["lm_head.weight"].mean(axis=0)
    np.testing.assert_allclose(found[14:], [mean, mean], rtol=1e-5)
    assert made.padding == (0, 2)


def test_a_matrix_that_is_padded_beyond_the_tokeniser(tmp_path: Path, other: Path) -> None:
    """12 ids rounded up to 16 rows are padded; 12 of 20 are so only where one says it."""
    for rows, allowed in ((16, True), (20, False)):
        folder = tmp_path / str(rows)
        write_model(folder, small_document(MERGES), {"wte.weight": matrix(rows)})
        if not allowed:
            with refused():
                mg.models.transplant(folder, other, tmp_path / "no")
        made = mg.models.transplant(folder, other, tmp_path / f"{rows}-out", padded=not allowed)
        assert made.padding == (rows - 12, 0)
        assert len(weights(tmp_path / f"{rows}-out")["wte.weight"]) == 14


def test_several_files_of_weights(model: Path, other: Path, tmp_path: Path) -> None:
    mg.models.transplant(model, other, tmp_path / "one")
    shard(model)
    mg.models.transplant(model, other, tmp_path / "several")
    several = tmp_path / "several"
    index = read(several, "model.safetensors.index.json")
    found = {}
    for name, file in index["weight_map"].items():
        shutil.copy(several / file, several / "model.safetensors")
        found |= {name: weights(several)[name]}
    for name, array in weights(tmp_path / "one").items():
        np.testing.assert_array_equal(found[name], array)
    assert index["metadata"] == {"total_size": sum(array.nbytes for array in found.values())}


@pytest.mark.slow
def test_a_tokeniser_that_was_knocked_out(model: Path, tmp_path: Path) -> None:
    """As the library saves it, merges of three parts and their code included."""
    edited = load_tokeniser(model)
    edited.graph.knockout(["in"])
    with refused():
        (tmp_path / "saved").mkdir()
        for name, data in saved_files(edited).items():
            (tmp_path / "saved" / name).write_bytes(data)
        mg.models.transplant(model, tmp_path / "saved", tmp_path / "out")
    mg.load(model).knock_out_types(["in"]).tokeniser.export(tmp_path / "exported")
    made = mg.models.transplant(model, tmp_path / "exported", tmp_path / "out")
    assert made.dropped == ("in",)
    assert not made.made
    before, after = (weights(each)["lm_head.weight"] for each in (model, tmp_path / "out"))
    for old, new in read(tmp_path / "exported", "ids.json").items():
        np.testing.assert_array_equal(after[new], before[int(old)])
    assert (tmp_path / "out" / "tokenization_morphgraph.py").is_file()
    # The carried model is the next one's start, whose rows are its own.
    assert mg.models.transplant(tmp_path / "out", tmp_path / "exported").dropped == ()


@pytest.mark.slow
def test_a_method_with_fewer_types(model: Path, tmp_path: Path) -> None:
    """What is there for merging only has no row; `FLOTA` has all of them."""
    tokeniser = mg.load(model)
    counts = dict.fromkeys(["undo"], 200)
    tokeniser.method("trimmed", counts=counts).export(tmp_path / "trimmed", words=["undo"])
    ids = read(tmp_path / "trimmed", "ids.json")
    made = mg.models.transplant(model, tmp_path / "trimmed", tmp_path / "out")
    assert made.dropped and not made.made
    before, after = (weights(each)["lm_head.weight"] for each in (model, tmp_path / "out"))
    assert len(after) == len(ids) < len(before)
    for old, new in ids.items():
        np.testing.assert_array_equal(after[new], before[int(old)])
    tokeniser.method("flota").export(tmp_path / "flota", words=["undo"])
    assert mg.models.transplant(model, tmp_path / "flota", tmp_path / "same").dropped == ()


# --------------------------------------------------------------------------- tokens of strings


@examples(60)
@given(st.data())
def test_new_types_are_means_of_the_librarys_tokens(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Against a naive version with the `tokenizers` library, one type after the other."""
    folder = tmp_path_factory.mktemp("model")
    strings = st.text("abc", min_size=2, max_size=5)

    def drawn() -> dict[str, Any]:
        merges: dict[tuple[str, str], None] = {}
        known = ["a", "b", "c"]
        for text in data.draw(st.lists(strings, min_size=1, max_size=6)):
            for end in range(2, len(text) + 1):
                if text[:end] not in known:
                    merges[text[: end - 1], text[end - 1]] = None
                    known.append(text[:end])
        return small_document(list(merges), "abc")

    old, new = drawn(), drawn()
    rows = len(old["model"]["vocab"])
    write_model(folder / "old", old, {"wte.weight": matrix(rows)}, n_embd=-1)
    write_tokeniser(folder / "new", new)
    mg.models.transplant(folder / "old", folder / "new", folder / "out")
    before, after = (weights(folder / name)["wte.weight"] for name in ("old", "out"))
    library = Tokenizer.from_str(json.dumps(old))
    for type_, number in new["model"]["vocab"].items():
        ids = [old["model"]["vocab"].get(type_)]
        if ids == [None]:
            ids = library.encode(type_).ids
        np.testing.assert_allclose(after[number], before[ids].mean(axis=0), rtol=1e-5)


def document_of(tokenizer: Any, before: Any, normal: Any = None) -> dict[str, Any]:
    """A ``tokenizer.json``, as data, as the library itself writes it."""
    tokenizer.pre_tokenizer, tokenizer.normalizer = before, normal
    found: dict[str, Any] = json.loads(tokenizer.to_str())
    return found


BYTES_AND_MORE = {text: n for n, text in enumerate([*BYTE_TO_CHAR, "Ġu", "Ã¤", "Ġun"])}
BYTE_LEVEL = document_of(
    Tokenizer(models.BPE(BYTES_AND_MORE, [("Ġ", "u"), ("Ã", "¤"), ("Ġu", "n")])),
    pre_tokenizers.ByteLevel(add_prefix_space=False),
)
WORDS = ["[UNK]", "un", "##do", "##n", "u", "##ä", ",", "##d"]
WORDPIECE = document_of(
    Tokenizer(models.WordPiece({text: n for n, text in enumerate(WORDS)}, unk_token="[UNK]")),
    pre_tokenizers.BertPreTokenizer(),
    normalizers.BertNormalizer(),
)
WORDPIECE["added_tokens"] = [special_token("[UNK]", 0)]
PIECES = ["<unk>", "▁un", "do", "▁", "u", "n", "ä", "d"]
UNIGRAM = document_of(
    Tokenizer(models.Unigram([(text, -float(n)) for n, text in enumerate(PIECES)], 0, False)),
    pre_tokenizers.Metaspace(),
)
UNIGRAM["added_tokens"] = [special_token("<unk>", 0)]
ACROSS = [
    (BYTE_LEVEL, WORDPIECE, "un", ["Ġun"]),
    (BYTE_LEVEL, WORDPIECE, "##ä", ["Ã¤"]),
    (BYTE_LEVEL, WORDPIECE, "##do", ["d", "o"]),
    (BYTE_LEVEL, WORDPIECE, "[UNK]", ["[", "U", "N", "K", "]"]),
    (BYTE_LEVEL, UNIGRAM, "▁un", ["Ġun"]),
    (BYTE_LEVEL, UNIGRAM, "▁", ["Ġ"]),
    (WORDPIECE, BYTE_LEVEL, "Ġun", ["un"]),
    (WORDPIECE, BYTE_LEVEL, "Ã¤", ["##ä"]),
    (WORDPIECE, BYTE_LEVEL, "n", ["##n"]),
    (WORDPIECE, BYTE_LEVEL, ",", [","]),
    (WORDPIECE, BYTE_LEVEL, "Ã", []),
    (WORDPIECE, UNIGRAM, "▁un", ["un"]),
    (WORDPIECE, UNIGRAM, "do", ["##do"]),
    (UNIGRAM, WORDPIECE, "un", ["▁un"]),
    (UNIGRAM, WORDPIECE, "##do", ["do"]),
    (UNIGRAM, BYTE_LEVEL, "Ġu", ["▁", "u"]),
    (UNIGRAM, BYTE_LEVEL, "Ġ", ["▁"]),
    (UNIGRAM, BYTE_LEVEL, "Ã¤", ["ä"]),
    (UNIGRAM, BYTE_LEVEL, "x", []),
]


def test_a_type_is_normalised_where_its_characters_are_unknown(tmp_path: Path) -> None:
    """As the old tokeniser does with every text: BERT's writes it in lower case here."""
    write_tokeniser(tmp_path / "bert", WORDPIECE)
    bert = read_model_vocabulary(tmp_path / "bert")
    for spelled, tokens in {"UN": ["un"], "##DÖ": ["##do"], "##Ŷ": []}.items():
        assert tokens_of(bert, spelled) == tokens


def test_a_type_is_cut_at_marks_and_spaces_as_bert_cuts_texts(tmp_path: Path) -> None:
    """A mark is a piece of its own, and what follows it begins a word."""
    listed = ["[UNK]", ",", "'", "##,", "1", "##1", "s", "##s", "a", "##b", "b"]
    pieces = models.WordPiece({text: n for n, text in enumerate(listed)}, unk_token="[UNK]")
    document = document_of(Tokenizer(pieces), pre_tokenizers.BertPreTokenizer())
    bert = read_model_vocabulary(write_tokeniser(tmp_path / "bert", document))
    expected = {",1": ",|1", "##,1": ",|1", "1,1s": "1|,|1|##s", "##1,s": "##1|,|s", "a b": "a|b"}
    for spelled, tokens in expected.items():
        found = bert.tokens_of(["a", spelled, "b"])
        assert [[listed[n] for n in each] for each in found] == [["a"], tokens.split("|"), ["b"]]


def test_types_of_bytes_and_characters_are_cut_at_each_byte(tmp_path: Path) -> None:
    """As merges learned behind a fallback to bytes write them, whatever the old tokeniser is."""
    alphabet = dict.fromkeys(["▁", *"norS0x53<>", *BYTES])
    merges = small_document([("o", "r"), ("▁", "n")], "".join(c for c in alphabet if len(c) == 1))
    listed = merges["model"]["vocab"]
    listed |= {text: len(listed) + n for n, text in enumerate(BYTES)}
    merges["model"]["byte_fallback"] = True
    merges["pre_tokenizer"] = UNIGRAM["pre_tokenizer"]
    pieces = [("<unk>", 0.0), *((text, -1.0) for text in (*alphabet, "or", "▁n"))]
    unigram = document_of(
        Tokenizer(models.Unigram(pieces, 0, byte_fallback=True)), pre_tokenizers.Metaspace()
    )
    for name, document in {"merges": merges, "unigram": unigram}.items():
        found = read_model_vocabulary(write_tokeniser(tmp_path / name, document))
        for tokens in ("▁ <0x53>", "<0x4D> or", "n <0xC3>", "<0xC3> <0xA4>"):
            assert tokens_of(found, tokens.replace(" ", "")) == tokens.split()
        assert found.text_of("▁<0xC3><0xA4>n") == " än".encode()
        assert found.written(b" n\xc3") == "▁n<0xC3>"


@pytest.mark.parametrize(
    ("document", "sizes"),
    [
        (BYTE_LEVEL, {"Ġun": 3, "Ã¤": 1, "Ã": 1, "do": 2}),
        (WORDPIECE, {"un": 3, "##do": 2}),
        (UNIGRAM, {"▁<0xC3><0xA4>n": 3, "do": 2}),
    ],
)
def test_characters_of_a_type(tmp_path: Path, document: Any, sizes: dict[str, int]) -> None:
    """A sign for a space before or behind it is one, and so is part of a character."""
    found = read_model_vocabulary(write_tokeniser(tmp_path / "it", document))
    assert {text: found.size_of(text) for text in sizes} == sizes


@pytest.mark.parametrize(("old", "new", "type_", "tokens"), ACROSS)
def test_a_type_is_compared_by_the_text_it_stands_for(
    tmp_path: Path, old: Any, new: Any, type_: str, tokens: list[str]
) -> None:
    write_tokeniser(tmp_path / "old", old)
    write_tokeniser(tmp_path / "new", new)
    before, after = (read_model_vocabulary(tmp_path / name) for name in ("old", "new"))
    assert type_ in after.ids
    assert tokens_of(before, before.spelled(after, type_)) == tokens


def test_types_of_one_writing_are_compared_as_they_are(tmp_path: Path) -> None:
    """Whichever the kind of tokeniser: the same string is the same type."""
    for kind in (BYTE_LEVEL, WORDPIECE, UNIGRAM):
        folder = write_tokeniser(tmp_path / "same", kind)
        rows = len(vocabulary(folder))
        write_model(folder, None, {"wte.weight": matrix(rows)}, n_embd=-1)
        made = mg.models.transplant(folder, folder)
        assert isinstance(made, Transplant)
        assert (len(made.kept), dict(made.made), made.dropped) == (rows, {}, ())


def test_one_tokeniser_that_marks_the_end_of_words_is_refused(tmp_path: Path, model: Path) -> None:
    document = small_document([("a", "b</w>")], end_of_word_suffix="</w>")
    write_tokeniser(tmp_path / "clip", document)
    with refused():
        mg.models.transplant(model, tmp_path / "clip")


def test_files_of_old_tokenisers(tmp_path: Path) -> None:
    """A list of types, or types and merges with added tokens beside them."""
    bert, gpt = tmp_path / "bert", tmp_path / "gpt"
    bert.mkdir()
    (bert / "vocab.txt").write_text("[PAD]\n[UNK]\nun\n##do\n")
    found = read_model_vocabulary(bert)
    assert (found.ids["##do"], found.writing) == (3, "##")
    assert found.tokens_of(["undo", "##undo"]) == [[2, 3], [3]]
    gpt.mkdir()
    (gpt / "vocab.json").write_text(json.dumps(BYTE_LEVEL["model"]["vocab"]))
    (gpt / "merges.txt").write_text("#version: 0.2\nĠ u\nÃ ¤\nĠu n\n")
    (gpt / "added_tokens.json").write_text('{"<mask>": 259}')
    found = read_model_vocabulary(gpt)
    assert (found.ids["<mask>"], found.id_count, "<mask>" in found.special) == (259, 260, True)
    assert found.tokens_of(["Ġunu"]) == [[found.ids["Ġun"], found.ids["u"]]]
    (gpt / "added_tokens.json").write_text('{"<mask>": 7}')
    with refused():
        read_model_vocabulary(gpt)


def test_types_that_end_a_word_are_cut_as_such(tmp_path: Path) -> None:
    document = small_document([("a", "b</w>"), ("a", "b")], "abc", end_of_word_suffix="</w>")
    old = read_model_vocabulary(write_tokeniser(tmp_path / "old", document))
    assert [old.size_of(type_) for type_ in ("ab</w>", "ab", "a</w>")] == [3, 2, 2]
    for tokens in (["c", "ab</w>"], ["c", "ab"], ["b", "c"]):
        assert tokens_of(old, "".join(tokens)) == tokens


COUNTS = {"undoing": 9, "doing": 7, "undo": 5, "redo": 4, "going": 3, "in": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("method", "size"), [("picky(threshold=0.5)", 270), ("unigram", 24)])
def test_methods_of_other_kinds(tmp_path: Path, model: Path, method: str, size: int) -> None:
    """What is exported with a method of its own is a new tokeniser as any other, and an old one."""
    name, parameters = parse_method(method)
    words = list(COUNTS)
    trained = train(name, COUNTS, size, parameters=parameters, minimum_count=1)
    export_to(trained, tmp_path / "new", words)
    made = mg.models.transplant(model, tmp_path / "new", tmp_path / "out")
    new = read_model_vocabulary(tmp_path / "new")
    assert len(made.kept) + len(made.made) == len(new.ids) == len(set(new.ids.values()))
    before, after = (weights(folder)["lm_head.weight"] for folder in (model, tmp_path / "out"))
    old = vocabulary(model)
    assert len(after) == new.id_count
    for type_, tokens in made.made.items():
        if tokens:
            mean = before[[old[text] for text in tokens]].mean(axis=0)
            np.testing.assert_allclose(after[new.ids[type_]], mean, rtol=1e-5)
    back = mg.models.transplant(tmp_path / "out", model)
    assert set(back.kept) >= {"i", "n", "d"}
    for type_, tokens in back.made.items():
        assert not tokens or "".join(tokens) in type_


@pytest.mark.slow
def test_an_old_tokeniser_that_cuts_otherwise_is_refused(tmp_path: Path, other: Path) -> None:
    """FLOTA's tokens of a type would not be those of the model's own training."""
    tokeniser = mg.load(other)
    tokeniser.method("flota", k=2).export(tmp_path / "flota", words=["undo"])
    old = read_model_vocabulary(tmp_path / "flota")
    assert old.ids == vocabulary(other)
    with refused():
        old.tokens_of(["undone"])


def test_options_are_the_settings() -> None:
    assert RowOptions.__annotations__.keys() == RowSettings.model_fields.keys()
