"""Gold given as a tokeniser, and a tokeniser as gold: each is named, with how to open it."""

import json
from base64 import b64encode

import pytest
from refusals import refused
from small import trained_pieces

import morphgraph as mg
from morphgraph.core.errors import FileFormatError, GoldGivenError, TokeniserGivenError
from morphgraph.core.files import demo_gold_path, demo_tokeniser_path, read_bytes
from morphgraph.segment.models import load_segmenter

GOLD = {
    "demo.tsv": demo_gold_path("en").read_bytes(),
    "plain.txt": b"unbreakable\tun break able\nundo\tun do\n",
    "sigmorphon.tsv": b"undoing\tun @@do @@ing\t110\ndoing\tdo @@ing\t100\n",
    "morphynet.tsv": b"do\tundo\tV\tV\tun\tprefix\nread\treader\tV\tN\ter\tsuffix\n",
    "bars.txt": b"un|break|able\nun|do\ngo\n",
}
OTHERS = {
    "counts.txt": b"the\t120\nof\t80\nand\t75\n",
    "text.txt": b"It was a dark night.\nThe rain fell in torrents, except at intervals.\n",
    "none.tsv": b"word\tmorphs\n",
}


@pytest.mark.parametrize("name", GOLD)
def test_gold_given_as_a_tokeniser(name, tmp_path):
    (tmp_path / name).write_bytes(GOLD[name])
    for read in (lambda: mg.load(tmp_path / name), lambda: load_segmenter({name: GOLD[name]})):
        with refused(GoldGivenError):
            read()
    assert mg.read_gold(tmp_path / name).size


@pytest.mark.parametrize("name", OTHERS)
def test_other_lines_are_not_taken_for_gold(name, tmp_path):
    (tmp_path / name).write_bytes(OTHERS[name])
    with pytest.raises(FileFormatError) as caught:
        mg.load(tmp_path / name)
    assert not isinstance(caught.value, GoldGivenError)


TOKENISER = read_bytes(demo_tokeniser_path("en"))
FILES = {
    "tokenizer.json": lambda: TOKENISER,
    "vocab.json": lambda: json.dumps(json.loads(TOKENISER)["model"]["vocab"]).encode(),
    "merges.txt": lambda: b"#version: 0.2\nu n\nd o\nun do\n",
    "x.tiktoken": lambda: b"".join(b"%s %d\n" % (b64encode(bytes([n])), n) for n in range(256)),
    "m.model": lambda: trained_pieces(["undo redo undoing doing"] * 20, "bpe", 20),
}


@pytest.mark.parametrize("name", FILES)
def test_a_tokeniser_given_as_gold(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name]())
    with refused(TokeniserGivenError):
        mg.read_gold(tmp_path / name)


@pytest.mark.parametrize(
    "content", [b"un\ndo\nhouse\n", b'{"error": "none"}', b"\x89PNG\r\n\x1a\n"]
)
def test_what_is_neither_is_not_taken_for_a_tokeniser(content, tmp_path):
    (tmp_path / "file.txt").write_bytes(content)
    with pytest.raises(FileFormatError) as caught:
        mg.read_gold(tmp_path / "file.txt")
    assert not isinstance(caught.value, TokeniserGivenError)
