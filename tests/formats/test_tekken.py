"""Tekken files, held against ids by hand and against tiktoken, which mistral-common cuts with.

``python -m benchmarks ranks`` compares published ones with mistral-common itself.
"""

import base64
import json

import pytest
import tiktoken
from refusals import refused

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.formats.loading import load_tokeniser
from tests.formats.test_ranks_and_gguf import some_lines

PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TYPES = [*(bytes([byte]) for byte in range(256)), b"ab", b"bc", b"abc", b" ab", b"the last"]
SPECIAL = [{"rank": 0, "token_str": "<unk>", "is_control": True}]
SPECIAL += [{"rank": 1, "token_str": "<s>", "is_control": True}]
CONFIG = {
    "pattern": PATTERN,
    "num_vocab_tokens": len(TYPES),
    "default_vocab_size": 5 + 260,  # without the last type
    "default_num_special_tokens": 5,
    "version": "v11",
}
TEXTS = ["abcab ab", "abc  ab\n\nab, 42 é日", "", " the last"]


def entry(rank, type_):
    try:
        text = type_.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": base64.b64encode(type_).decode(), "token_str": text}


def tekken(**parts):
    vocabulary = [entry(rank, type_) for rank, type_ in enumerate(TYPES)]
    document = {"config": CONFIG, "image": {"image_patch_size": 16}, "vocab": vocabulary}
    return {**document, "version": 1, "special_tokens": SPECIAL} | parts


def save(folder, document):
    path = folder / "tekken.json"
    path.write_text(json.dumps(document))
    return path


def ids_of(document, text):
    """What mistral-common gives: tiktoken's ids by the ranks, behind the special tokens."""
    config = document["config"]
    first = config["default_num_special_tokens"]
    listed = document["vocab"][: config["default_vocab_size"] - first]
    assert [each["rank"] for each in listed] == list(range(len(listed)))
    ranks = {base64.b64decode(each["token_bytes"]): each["rank"] for each in listed}
    assert len(ranks) == len(listed)
    assert list(ranks)[:256] == TYPES[:256]
    theirs = tiktoken.Encoding(
        "own", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    return [first + rank for rank in theirs.encode_ordinary(text)]


def test_ids_by_hand(tmp_path):
    """ab is 5 + 256; <s> is a special token in a text, as in the tokenizer.json of Mistral."""
    found = mg.load(save(tmp_path, tekken()))
    assert found.encode("abcab ab") == [263, 261, 264]
    assert found.encode("c<s>ab") == [5 + ord("c"), 1, 261]
    assert found.decode([263, 1, 264]) == "abc ab"
    assert found.types[:6] == ("<unk>", "<s>", "<SPECIAL_2>", "<SPECIAL_3>", "<SPECIAL_4>", "Ā")
    assert len(found) == 265
    for text in [*TEXTS, *some_lines(1)]:
        assert found.encode(text) == ids_of(tekken(), text), text


def test_the_first_files_list_no_special_tokens(tmp_path):
    config = {**CONFIG, "default_num_special_tokens": 22, "default_vocab_size": 22 + 259}
    document = tekken(config=config)
    del document["special_tokens"]
    found = mg.load(save(tmp_path, document))
    assert found.types[19:22] == ("[TOOL_CONTENT]", "<SPECIAL_20>", "<SPECIAL_21>")
    assert found.encode("[INST]abc ab") == [3, 22 + 258, 22 + ord(" "), 22 + 256]


def test_a_file_is_written_as_it_was_read(tmp_path):
    """But for the types that it does not use; a tokenizer.json on the way keeps all of it."""
    mg.load(save(tmp_path, tekken())).save(tmp_path / "tokenizer.json")
    mg.load(tmp_path / "tokenizer.json").save(tmp_path / "new-tekken.json")
    written = json.loads((tmp_path / "new-tekken.json").read_text())
    config = {**CONFIG, "num_vocab_tokens": 260}
    assert written == tekken(config=config, vocab=tekken()["vocab"][:260])


EDITED = {
    "kept": ("ab", True, {b"\xff256": 256, b"bc": 257, b"abc": 258, b"\xff259": 259}, "abc a b"),
    "dense": ("bc", False, {b"ab": 256, b"abc": 257, b" ab": 258}, "abc ab"),
}


@pytest.mark.parametrize("ids", EDITED)
def test_types_that_are_knocked_out(ids, tmp_path):
    """They leave entries that no text has where ids are kept; else other types take their ids."""
    type_, portable, expected, cut = EDITED[ids]
    loaded = mg.load(save(tmp_path, tekken()))
    edited = loaded.knock_out_types([type_], portable=portable).tokeniser
    edited.save(tmp_path / "tekken.json")
    written = json.loads((tmp_path / "tekken.json").read_text())
    places = {base64.b64decode(each["token_bytes"]): each["rank"] for each in written["vocab"]}
    assert {text: rank for text, rank in places.items() if rank > 255} == expected
    assert written["config"]["default_vocab_size"] == 5 + 256 + len(expected)
    assert written["image"] == tekken()["image"]
    assert ids_of(written, "abcab") == [5 + places[text.encode()] for text in cut.split()]
    again = mg.load(tmp_path / "tekken.json")
    for text in TEXTS:
        assert ids_of(written, text) == edited.encode(text) == again.encode(text)


def changed(**parts):
    return lambda: tekken(**parts)


def with_config(**parts):
    return changed(config={**CONFIG, **parts})


def with_entry(number, **parts):
    vocabulary = tekken()["vocab"]
    vocabulary[number] = {**vocabulary[number], **parts}
    return changed(vocab=vocabulary)


DAMAGED = {
    "no pattern": (with_config(pattern=None), "field config"),
    "size as text": (with_config(default_vocab_size="264"), "field config"),
    "huge": (with_config(default_num_special_tokens=10**9), "field config"),
    "cut off": (changed(vocab=tekken()["vocab"][:200]), "field vocab"),
    "few types": (with_config(default_vocab_size=100), "field vocab"),
    "negative": (with_config(default_num_special_tokens=-1), "field config"),
    "entry": (changed(vocab=[*tekken()["vocab"][:258], 5, 5]), "field vocab, entry 259"),
    "base64": (with_entry(256, token_bytes="YW!="), "field vocab, entry 257"),
    "not ASCII": (with_entry(256, token_bytes="é"), "field vocab, entry 257"),
    "empty": (with_entry(256, token_bytes=""), "field vocab, entry 257"),
    "no rank": (with_entry(256, rank=None), "field vocab, entry 257"),
    "another rank": (with_entry(258, rank=300), "field vocab, entry 259"),
    "repeated": (with_entry(257, token_bytes="YWI="), "field vocab, entry 258"),
    "no byte": (with_entry(7, token_bytes="enp6"), ""),
    "more special": (changed(special_tokens=SPECIAL * 3), "field special_tokens, entry 3"),
    "number": (changed(special_tokens=[5]), "field special_tokens, entry 1"),
    "alike": (
        changed(special_tokens=[{"rank": 0, "token_str": "<SPECIAL_1>"}]),
        "field special_tokens",
    ),
    "a type": (changed(special_tokens=[{"rank": 0, "token_str": "ab"}]), "field special_tokens"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_files(what):
    change, place = DAMAGED[what]
    with refused(FileFormatError, place):
        load_tokeniser({"tekken.json": json.dumps(change()).encode()})


def test_what_came_from_no_tekken_file_is_refused(tmp_path):
    with refused():
        mg.load("demo:en").save(tmp_path / "tekken.json")
    with refused():
        mg.load("demo:en").method("flota", k=2).save(tmp_path / "tekken.json")
    mg.load(save(tmp_path, tekken())).save(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    document["model"]["tekken"]["config"]["default_num_special_tokens"] = 7
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with refused():
        mg.load(tmp_path / "tokenizer.json").save(tmp_path / "tekken.json")
    document["model"]["tekken"] = {"config": []}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with refused(FileFormatError, "field config"):
        mg.load(tmp_path / "tokenizer.json").save(tmp_path / "tekken.json")
