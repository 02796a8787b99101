"""The files of a tokeniser: which one holds it, what those beside it add, what is said of it."""

import base64
import json
import warnings

import pytest
from refusals import refused
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import morphgraph as mg
from morphgraph.segment.models import load_segmenter
from tests.formats.test_folders import (
    END,
    LLAMA,
    S,
    byte_level,
    listed,
    named,
    pair,
    sentencepiece,
    wordpiece,
    write,
)

RANKS = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))


def bpe_json(**parts):
    """Return a small tokenizer.json."""
    library = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "<s>": 3, "</s>": 4}, [("a", "b")]))
    return json.loads(library.to_str()) | parts


def wordpiece_json():
    library = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    return json.loads(library.to_str())


UNIGRAM = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("ab", -1.5)], 0, False))
FILES = {
    "BPE": ("tokenizer.json", bpe_json()),
    "WordPiece": ("tokenizer.json", wordpiece_json()),
    "Unigram": ("tokenizer.json", json.loads(UNIGRAM.to_str())),
    "T5's name": ("spiece.model", sentencepiece("unigram")),
    "XLM-R's name": ("sentencepiece.bpe.model", sentencepiece("unigram")),
    "Llama's name": ("tokenizer.model", sentencepiece("bpe", **LLAMA)),
    "Mistral's name": ("tokenizer.model.v3", sentencepiece("bpe", **LLAMA)),
    "any name": ("de-32k.model", sentencepiece("bpe", **LLAMA)),
    "JSON by any name": ("my-tokeniser.json", bpe_json()),
    "vocab.txt": ("vocab.txt", listed(wordpiece())["vocab.txt"]),
    "vocab.json alone": ("vocab.json", wordpiece()),
}


@pytest.mark.parametrize("what", FILES)
def test_whatever_loads_as_a_file_loads_as_a_folder(what, tmp_path):
    name, content = FILES[what]
    folder = write(tmp_path / "folder", {name: content, "README.md": "# a b", "notes.txt": "x"})
    (folder / "model.safetensors").write_bytes(b"\0" * 64)
    texts = ["ab ba", "a b ab", "Der Hund, und 2 Häuser"]
    there, file = mg.load(folder), mg.load(folder / name)
    assert there == file
    assert [there.encode(text) for text in texts] == [file.encode(text) for text in texts]


def test_ranks_and_a_folder_of_them(tmp_path):
    folder = write(tmp_path, {"x.tiktoken": RANKS})
    assert len(mg.load(folder, pattern="r50k_base")) == 256
    with refused():
        mg.load(folder)


def test_several_files_say_which_was_taken(tmp_path):
    files = {"tokenizer.json": bpe_json(), "spiece.model": sentencepiece("unigram")}
    folder = write(tmp_path, files)
    with pytest.warns(UserWarning, match=r"tokenizer\.json and spiece\.model.* was opened"):
        assert mg.load(folder).encode("ab") == [2]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "a b"},
        {"config.json": {"model_type": "gpt2"}},
        {"config.json": {"model_type": "gpt2"}, "generation_config.json": {"eos_token_id": 3}},
        {"requirements.txt": "numpy\npandas\n"},
    ],
)
def test_a_folder_without_a_tokeniser(files, tmp_path):
    with refused():
        mg.load(write(tmp_path, files))


# Settings, and whether <s> is put before "ab" that a tokenizer.json without a frame cuts.
LACKING = {
    "nothing": ({}, [2]),
    "RoBERTa": ({"tokenizer_class": "RobertaTokenizer"}, [3, 2, 4]),
    "RoBERTa's fast class": ({"tokenizer_class": "RobertaTokenizerFast"}, [3, 2, 4]),
    "XLM-R": ({"tokenizer_class": "XLMRobertaTokenizer"}, [3, 2, 4]),
    "T5": ({"tokenizer_class": "T5Tokenizer"}, [2, 4]),
    "GPT-2": ({"tokenizer_class": "GPT2Tokenizer"}, [2]),
    "any class": ({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"}, [2]),
}


@pytest.mark.parametrize("what", LACKING)
@pytest.mark.parametrize("around", [None, {"type": "ByteLevel", "add_prefix_space": True}])
def test_what_a_tokenizer_json_lacks_around_a_text(what, around, tmp_path):
    settings, ids = LACKING[what]
    plain = {"trim_offsets": True, "use_regex": True}
    document = bpe_json(post_processor=None if around is None else around | plain)
    files = {"tokenizer.json": document, "tokenizer_config.json": settings}
    folder = write(tmp_path, files)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mg.load(folder).encode("ab") == ids
        assert mg.load(folder / "tokenizer.json").encode("ab") == [2]


CONFIG = "tokenizer_config.json"
# A file beside a tokenizer.json of five types, what it holds, and the id of "<x>".
ADDED = {
    "added_tokens_decoder": (CONFIG, {"added_tokens_decoder": {"5": {"content": "<x>"}}}, 5),
    "added_tokens.json": ("added_tokens.json", {"<x>": 5}, 5),
    "a role": (CONFIG, {"pad_token": "<x>"}, 5),
    "a role with flags": (CONFIG, {"pad_token": {"content": "<x>", "lstrip": True}}, 5),
    "special_tokens_map.json": ("special_tokens_map.json", {"mask_token": "<x>"}, 5),
    "more special tokens": (CONFIG, {"additional_special_tokens": ["<y>", "<x>"]}, 6),
    "more by name": (CONFIG, {"extra_special_tokens": {"image_token": "<x>"}}, 5),
}


@pytest.mark.parametrize("what", ADDED)
def test_added_tokens_come_from_the_files_beside(what, tmp_path):
    name, content, number = ADDED[what]
    loaded = mg.load(write(tmp_path, {"tokenizer.json": bpe_json(), name: content}))
    assert loaded.encode("ab<x>") == [2, number]
    loaded.export(tmp_path / "out", words=["ab"])
    assert mg.load(tmp_path / "out").encode("ab<x>") == [2, number]


# Settings that do not count, and what is said of them.
IGNORED = {
    "spaces": ({"add_prefix_space": True}, "add_prefix_space, true"),
    "begin": ({"add_bos_token": True, "bos_token": "<s>"}, "add_bos_token"),
    "end": ({"add_eos_token": True, "eos_token": "</s>"}, "add_eos_token"),
    "case": ({"do_lower_case": False}, "do_lower_case, false"),
    "split": ({"split_special_tokens": True}, "split_special_tokens"),
}


@pytest.mark.parametrize("what", IGNORED)
def test_a_setting_that_does_not_count_is_named(what, tmp_path):
    settings, said = IGNORED[what]
    library = Tokenizer.from_str(json.dumps(bpe_json()))
    library.normalizer = normalizers.BertNormalizer(lowercase=True)
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    files = {"tokenizer.json": json.loads(library.to_str()), "tokenizer_config.json": settings}
    with pytest.warns(UserWarning, match=said):
        mg.load(write(tmp_path, files))


def test_uploads_that_belong_together():
    files = pair(byte_level(END)) | {"added_tokens.json": {"<new>": 600}}
    uploads = {
        name: (value if isinstance(value, str) else json.dumps(value)).encode()
        for name, value in files.items()
    }
    found = mg.Tokeniser(load_segmenter(uploads))
    assert found.encode("the<new>")[-1] == 600
    config = {"tokenizer_config.json": json.dumps({"tokenizer_class": "RobertaTokenizer"}).encode()}
    more = {name: value.encode() for name, value in pair(byte_level(*S)).items() if name[0] == "m"}
    more["vocab.json"] = json.dumps(byte_level(*S)[0]).encode()
    assert mg.Tokeniser(load_segmenter(more | config)).encode("") == [0, 2]


def test_a_program_that_reads_a_folder_otherwise(tmp_path):
    pytest.importorskip("transformers")
    vocabulary, merges = byte_level(END)
    library = Tokenizer(models.BPE(vocabulary, merges))
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    files = {"tokenizer.json": json.loads(library.to_str()), **named("GPT2", "gpt2")}
    folder = write(tmp_path / "folder", files)
    said = r"transformers .* parts of its own: “.*” is \[.*\] there"
    with pytest.warns(UserWarning, match=said):
        loaded = mg.load(folder)
    made = loaded.export(tmp_path / "out", words=["Hunde"])
    assert not made.is_as_original
