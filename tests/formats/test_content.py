"""Files that hold no tokeniser are refused by the name of their format."""

import gzip
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.segment.models import uploaded_segmenter


def packed(value: Any) -> bytes:
    return json.dumps(value).encode()


HEADER = packed({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})
FILES: list[tuple[bytes, str]] = [
    (packed({"explicit_n_vocab": 65000, "pat_str": "x", "bpe_ranks": "! 5 IQ=="}), "Claude"),
    (packed({"config": {"pattern": "x"}, "vocab": [{"token_bytes": "AA=="}]}), "tekken"),
    (packed({"auto_map": {}, "model_type": "llama", "vocab_size": 9}), "config.json"),
    (packed({"add_bos_token": True, "tokenizer_class": "X"}), "tokenizer_config.json"),
    (packed({"bos_token": {"content": "<s>"}}), "tokenizer_config.json"),
    (packed({"metadata": {}, "weight_map": {"a": "b"}}), "index of a model's weights"),
    (packed({"format": "morphgraph recipe", "version": 1, "steps": []}), "recipe"),
    (packed({"error": "Invalid username or password."}), "error message"),
    (packed({"model": {"type": "WordLevel", "vocab": {"a": 0}}}), "WordLevel"),
    (packed({"a": 0, "b": "1"}), "read as vocab.json"),
    (struct.pack("<Q", len(HEADER)) + HEADER + bytes(4), "safetensors"),
    (b"PK\x03\x04\x14\0", "zip"),
    (pickle.dumps({"a": 1}), "pickle"),
    (gzip.compress(b"{}", mtime=0), "compressed"),
    (b"PAR1\0\0PAR1", "Parquet"),
    (b"%PDF-1.7\n", "PDF"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "Git LFS"),
    (b"\n<!DOCTYPE html>\n<html>", "web page"),
    (b"<unk>\t0\na\t-1.5\n", "SentencePiece"),
    (b"1 '\\x00' 1\n2 '\\x01' 1\n", "RWKV"),
    (b"a b 12\nab c</w> 5\n", "fastBPE"),
    (b"#version: 0.2\na b\n", "list of merges"),
    (b"This is a text.\n", "read as a list of types"),
]


@pytest.mark.parametrize(("data", "format_"), FILES, ids=[format_ for _, format_ in FILES])
def test_the_format_is_named(data: bytes, format_: str, tmp_path: Path) -> None:
    """As a file and as an upload."""
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileFormatError, match=format_):
        mg.load(tmp_path / "file")
    with pytest.raises(FileFormatError, match=format_):
        uploaded_segmenter({"file": data})


def test_types_that_look_like_fields_are_read(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    names = ("error", "model_type", "bos_token", 'tokenizer_class": "', "pat_str", "token_bytes")
    path.write_bytes(packed({name: number for number, name in enumerate(names)}))
    assert set(mg.load(path).types) == {*names}
