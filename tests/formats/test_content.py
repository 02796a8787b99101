"""Files that hold no tokeniser are refused by the name of their format."""

import base64
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import struct
import threading
import zipfile

import openpyxl
import pytest
from PIL import Image
from refusals import refused

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import demo_tokeniser_path
from morphgraph.segment.models import load_segmenter


def packed(value):
    return json.dumps(value).encode()


def picture(format_):
    written = io.BytesIO()
    Image.new("RGB", (30, 20), "red").save(written, format_)
    return written.getvalue()


def archive(names):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, "<xml/>")
    return written.getvalue()


def workbook():
    written = io.BytesIO()
    openpyxl.Workbook().save(written)
    return written.getvalue()


DRAWN = random.Random(0).randbytes(3000)
HEADER = packed({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})
FILES = [
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
    (b"7z\xbc\xaf\x27\x1c" + bytes(30), "compressed"),
    (bz2.compress(b"{}"), "read as vocab.json"),
    (lzma.compress(b"{}"), "read as vocab.json"),
    (gzip.compress(b"{}", mtime=0), "read as vocab.json"),
    (gzip.compress(b"a\nb\n", mtime=0)[:-3], "cut off or damaged"),
    (b"\x1f\x8b" + bytes(30), "cut off or damaged"),
    (picture("PNG"), r"a picture \(PNG\)"),
    (picture("WebP"), r"a picture \(WebP\)"),
    (b"RIFF\x24\0\0\0WAVEfmt " + bytes(30), r"a sound \(WAV\)"),
    (b"OggS\0" + bytes(30), r"a sound \(Ogg"),
    (archive(["weights/data.pkl"]), "a zip archive, as PyTorch"),
    (workbook(), "an Excel workbook"),
    (archive(["[Content_Types].xml", "_rels/.rels", "word/document.xml"]), "a Word document"),
    (archive(["[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml"]), "of Office"),
    (DRAWN, "binary data"),
    (b"a\nb\n" + bytes(100), "binary data"),
    (base64.b64encode(DRAWN), "looks like data in base64"),
    (base64.urlsafe_b64encode(DRAWN), "looks like data in base64"),
    (base64.encodebytes(DRAWN), "looks like data in base64"),
    (DRAWN.hex().encode(), "hexadecimal digits"),
    (b"word\n", "a single line, of 4 bytes"),
    (",".join(map(str, range(900))).encode(), "a single line, of 3,489 bytes"),
    (b"a\nb\n" + b"ab," * 700 + b"\nc\n", "line 3, read as a list of types: 2,100 bytes"),
    (b"PAR1\0\0PAR1", "Parquet"),
    (b"%PDF-1.7\n", "PDF"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "Git LFS"),
    (b"\n<!DOCTYPE html>\n<html>", "web page"),
    (b"<unk>\t0\na\t-1.5\n", "SentencePiece"),
    (b"1 '\\x00' 1\n2 '\\x01' 1\n", "RWKV"),
    (b"#version: 0.2\na b\n", "list of merges"),
    (b"This is a text.\n", "read as a list of types"),
]


@pytest.mark.parametrize("data", [data for data, _ in FILES], ids=[name for _, name in FILES])
def test_the_format_is_named(data, tmp_path):
    """As a file and as an upload, in a sentence or two on one line."""
    (tmp_path / "file").write_bytes(data)
    with refused(FileFormatError):
        mg.load(tmp_path / "file")
    with refused(FileFormatError):
        load_segmenter({"file": data})


def test_long_types_are_types(tmp_path):
    """Runs of signs, as published vocabularies have, and names as long as base64."""
    types = ["a" * 76, "=" * 500, "b", "ab" * 38]
    (tmp_path / "types.txt").write_text("\n".join(types))
    assert set(mg.load(tmp_path / "types.txt").types) == {*types}


@pytest.mark.parametrize("kind", ["json", "types"])
def test_a_file_may_be_packed_by_gzip(kind, tmp_path):
    data = b"[UNK]\na\n##b\n" if kind == "types" else demo_tokeniser_path("en").read_bytes()
    (tmp_path / "plain").write_bytes(data)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(data))
    plain = mg.load(tmp_path / "plain")
    found = mg.load(tmp_path / "packed.gz")
    assert list(found.types) == list(plain.types)
    assert found.segment(["ab"]) == plain.segment(["ab"])
    uploaded = load_segmenter({"packed.gz": gzip.compress(data)})
    assert uploaded.vocabulary_size == len(plain)


def test_a_pipe_is_read_once(tmp_path):
    data, pipe = demo_tokeniser_path("en").read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_bytes, args=(data,))
    writing.start()
    assert len(mg.load(pipe)) == 8000
    writing.join()


def test_types_that_look_like_fields_are_read(tmp_path):
    path = tmp_path / "vocab.json"
    names = ("error", "model_type", "bos_token", 'tokenizer_class": "', "pat_str", "token_bytes")
    path.write_bytes(packed({name: number for number, name in enumerate(names)}))
    assert set(mg.load(path).types) == {*names}
