"""Writing GGUF: what changes in a model's file, what does not, and what is refused.

Files are made, and read again, by the library `gguf`; `python -m benchmarks llama_cpp` has the ids
of llama.cpp itself.
"""

import io
import json
import struct
import tracemalloc

import gguf
import pytest
import wordfreq
from effort import one_of, share_of
from gguf_models import WEIGHTS, write_merges, write_model, write_pieces
from refusals import refused
from sentencepiece import SentencePieceProcessor
from small import trained_pieces

import morphgraph as mg
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.gguf_writing import gguf_blocks
from morphgraph.formats.loading import load_tokeniser

WORDS = ["undesirable", "houses", "bakeries"]
EDITED = ("tokens", "token_type", "merges", "scores")


def read(path):
    reader = gguf.GGUFReader(path)
    fields = {key: field.contents() for key, field in reader.fields.items()}
    return fields, [tensor.data.tobytes() for tensor in reader.tensors]


def without_edited(path):
    """The bytes of a file but for four fields, and for the padding before its tensors."""
    reader, data = gguf.GGUFReader(path), path.read_bytes()
    spans = [
        (field.offset, field.offset + sum(part.nbytes for part in field.parts))
        for key, field in reader.fields.items()
        if key in {f"tokenizer.ggml.{edited}" for edited in EDITED}
    ]
    end = max(
        tensor.field.offset + sum(part.nbytes for part in tensor.field.parts)
        for tensor in reader.tensors
    )
    kept, at = b"", 0
    for start, stop in sorted(spans):
        kept += data[at:start]
        at = stop
    return kept + data[at:end] + data[reader.data_offset :]


@pytest.fixture
def demo(tmp_path):
    """The file of a model that has the demo's tokeniser."""
    tokeniser = load_tokeniser("demo:en")
    return write_merges(tmp_path / "model.gguf", tokeniser, bos_token_id=0, tensors=True)


def small(path, merges, rows=(), pre="qwen2", **more):
    """A small byte-level model, its rows beginning with the 256 bytes, and its tokeniser."""
    atoms = list(load_tokeniser("demo:en").document["model"]["vocab"])[1:257]
    rows, more = [*atoms, *rows], {"token_merges": merges, "tokenizer_pre": pre, **more}
    return write_model(path, "gpt2", rows, [1] * len(rows), tensors=True, **more)


@pytest.mark.parametrize("alignment", [32, 64])
def test_only_merges_change_where_merges_alone_make_tokens(alignment, tmp_path):
    path = small(
        tmp_path / "a.gguf", ["a b", "ab c", "c a"], ["ab", "abc", "ca"], alignment=alignment
    )
    tokeniser = mg.load(path)
    tokeniser.export(tmp_path / "same.gguf", words=WORDS, into=path)
    assert (tmp_path / "same.gguf").read_bytes() == path.read_bytes()
    edited = tokeniser.knock_out_types(["ab"], cascade=True).tokeniser.portable().tokeniser
    made = edited.export(tmp_path / "new.gguf", words=WORDS, into=path)
    assert (made.kind, made.files) == ("GGUF", {})
    (before, weights), (after, kept) = read(path), read(tmp_path / "new.gguf")
    assert after.pop("tokenizer.ggml.merges") == ["c a"]
    assert before.pop("tokenizer.ggml.merges") == ["a b", "ab c", "c a"]
    assert after == before, "removed types keep their rows and texts"
    assert kept == weights == [WEIGHTS.tobytes(), WEIGHTS[:7].tobytes()]
    assert without_edited(tmp_path / "new.gguf") == without_edited(path)
    ids = {text: number for number, text in enumerate(after["tokenizer.ggml.tokens"])}
    assert mg.load(tmp_path / "new.gguf").encode("abca") == [ids["a"], ids["b"], ids["ca"]]


def test_removed_types_have_other_names_where_types_stay_whole(tmp_path):
    path = small(tmp_path / "a.gguf", ["a b", "ab c"], ["ab", "abc"], pre="llama-bpe")
    edited = mg.load(path).knock_out_types(["abc"]).tokeniser.portable().tokeniser
    edited.export(tmp_path / "new.gguf", words=WORDS, into=path)
    fields, _ = read(tmp_path / "new.gguf")
    assert fields["tokenizer.ggml.tokens"][-2:] == ["ab", "<removed 257>"]
    assert fields["tokenizer.ggml.token_type"] == [1] * 257 + [5]
    assert fields["tokenizer.ggml.merges"] == ["a b"]
    assert mg.load(tmp_path / "new.gguf").encode("abc") == [256, edited.id_of("c")]
    assert without_edited(tmp_path / "new.gguf") == without_edited(path)


@pytest.mark.parametrize("edit", one_of("pruned", "portable"))
def test_a_copy_of_the_demo_cuts_words_as_the_edited_tokeniser(edit, demo, tmp_path):
    words = wordfreq.top_n_list("en", 20_000)[:: 20_000 // share_of(2000)]
    edited = mg.load("demo:en")
    if edit == "pruned":
        edited = edited.prune(1_000, by="last", ids="keep").tokeniser
    else:
        gold = mg.read_gold("demo:en")
        edited = edited.knock_out(gold).tokeniser.portable(gold).tokeniser
    edited.export(tmp_path / "new.gguf", words=words, into=demo)
    found = mg.load(tmp_path / "new.gguf")
    assert found.segment(words) == edited.segment(words) != mg.load(demo).segment(words)
    assert [found.encode(w) for w in words] == [edited.encode(w) for w in words]
    assert without_edited(tmp_path / "new.gguf") == without_edited(demo)


def test_a_chain_of_edits_goes_into_the_first_file(tmp_path):
    path = small(tmp_path / "a.gguf", ["a b", "ab c", "c a"], ["ab", "abc", "ca"], pre="smaug-bpe")
    whole = small(tmp_path / "b.gguf", ["a b", "ab c", "c a"], ["ab", "abc", "ca"], pre="llama-bpe")
    edited = mg.load(path).knock_out_types(["abc"]).tokeniser.portable().tokeniser
    edited.save(tmp_path / "tokenizer.json")
    again = mg.load(tmp_path / "tokenizer.json").knock_out_types(["ca"]).tokeniser.portable()
    again.tokeniser.export(tmp_path / "new.gguf", words=WORDS, into=whole)
    fields, _ = read(tmp_path / "new.gguf")
    assert fields["tokenizer.ggml.tokens"][-3:] == ["ab", "<removed 257>", "<removed 258>"]
    assert fields["tokenizer.ggml.merges"] == ["a b"]


@pytest.mark.parametrize("pre", ["qwen2", "llama-bpe"])
def test_new_types_take_rows_of_removed_ones_and_free_ones(pre, tmp_path):
    path = tmp_path / "a.gguf"
    small(path, ["a b", "ab c"], ["ab", "abc"], pre)
    kept = mg.load(path)
    pruned = kept.prune(1, by="last", ids="keep").tokeniser
    extended = pruned.extend({"dede": 9}, 1, replace=True)
    extended.export(tmp_path / "new.gguf", words=WORDS, into=path)
    fields, _ = read(tmp_path / "new.gguf")
    assert fields["tokenizer.ggml.tokens"][-2:] == ["ab", "de"]
    assert fields["tokenizer.ggml.merges"] == ["a b", "d e"]
    with refused(MorphGraphError):  # no row is left
        kept.extend({"dede": 9}, 1).export(tmp_path / "b.gguf", words=WORDS, into=path)
    # A model often has more rows than types, which are marked as unused.
    rows = read(path)[0]["tokenizer.ggml.tokens"]
    padded = tmp_path / "padded.gguf"
    more = {"token_merges": ["a b", "ab c"], "tokenizer_pre": pre}
    write_model(padded, "gpt2", [*rows, "[PAD258]"], [1] * 258 + [5], tensors=True, **more)
    kept.extend({"dede": 9}, 1).export(tmp_path / "c.gguf", words=WORDS, into=padded)
    fields, _ = read(tmp_path / "c.gguf")
    assert fields["tokenizer.ggml.tokens"][-2:] == ["abc", "de"]
    assert fields["tokenizer.ggml.token_type"] == [1] * 259


@pytest.fixture(scope="module")
def pieces():
    settings = {"byte_fallback": True, "normalization_rule_name": "identity"}
    lines = wordfreq.top_n_list("nl", 3000)
    return trained_pieces(lines, "bpe", 600, remove_extra_whitespaces=False, **settings)


def test_sentencepiece_has_no_row_by_which_a_removed_type_is_merged(pieces, tmp_path):
    path = write_pieces(tmp_path / "a.gguf", pieces, tensors=True)
    (tmp_path / "m.model").write_bytes(pieces)
    first = mg.load(tmp_path / "m.model")
    words = wordfreq.top_n_list("nl", 3500)[3500 - share_of(1000) :]
    first.export(tmp_path / "same.gguf", words=words, into=path)
    assert (tmp_path / "same.gguf").read_bytes() == path.read_bytes()
    gone = [text for text in first.types[259:] if len(text) == 4][:20]
    edited = first.knock_out_types(gone, portable=True).tokeniser
    edited.export(tmp_path / "new.gguf", words=words, into=path)
    (before, _), (after, _) = read(path), read(tmp_path / "new.gguf")
    removed = {n for n, text in enumerate(first.types) if text not in edited}
    assert {first.id_of(text) for text in gone} <= removed
    rows, kinds = (after[f"tokenizer.ggml.{key}"] for key in ("tokens", "token_type"))
    was = before["tokenizer.ggml.tokens"]
    assert rows == [f"<removed {n}>" if n in removed else text for n, text in enumerate(was)]
    assert [n for n, kind in enumerate(kinds) if kind == 5] == sorted(removed)
    assert without_edited(tmp_path / "new.gguf") == without_edited(path)
    found = mg.load(tmp_path / "new.gguf")
    for word in words:
        assert found.encode(word, special_tokens=False) == edited.encode(word, special_tokens=False)
    # Chains of merges come before where they were, as others come later: scores tell the order.
    edited = first.knock_out_types(gone).tokeniser.portable().tokeniser
    edited.export(tmp_path / "chains.gguf", words=words, into=path)
    fields, _ = read(tmp_path / "chains.gguf")
    assert fields["tokenizer.ggml.scores"] != before["tokenizer.ggml.scores"]
    found = mg.load(tmp_path / "chains.gguf")
    for word in words:
        assert found.encode(word, special_tokens=False) == edited.encode(word, special_tokens=False)


def test_a_vocabulary_alone(pieces, tmp_path):
    made = mg.load("demo:en").export(tmp_path / "a.gguf", words=WORDS)
    fields, tensors = read(tmp_path / "a.gguf")
    assert made.kind == "GGUF" and not tensors
    assert fields["general.architecture"] == "llama"
    assert fields["tokenizer.ggml.pre"] == "gpt-2" and not fields["tokenizer.ggml.add_bos_token"]
    assert fields["tokenizer.ggml.tokens"] == list(mg.load("demo:en").types)
    assert fields["tokenizer.ggml.token_type"] == [3] + [1] * 7999
    assert fields["tokenizer.ggml.unknown_token_id"] == 0
    assert mg.load(tmp_path / "a.gguf").segment(WORDS) == mg.load("demo:en").segment(WORDS)
    (tmp_path / "m.model").write_bytes(pieces)
    first = mg.load(tmp_path / "m.model")
    first.export(tmp_path / "b.gguf", words=WORDS)
    fields, _ = read(tmp_path / "b.gguf")
    assert fields["tokenizer.ggml.model"] == "llama"
    assert fields["tokenizer.ggml.token_type"] == [2, 3, 3] + [6] * 256 + [1] * (len(first) - 259)
    lines = wordfreq.top_n_list("nl", 3500)[2500:]
    read_again = SentencePieceProcessor(model_proto=pieces).EncodeAsIds(lines)
    found = mg.load(tmp_path / "b.gguf")
    assert [found.encode(line, special_tokens=False) for line in lines] == read_again


def test_a_vocabulary_with_gaps_has_names_for_them(tmp_path):
    path = small(tmp_path / "a.gguf", ["a b", "ab c"], ["ab", "abc", "xyz"], pre="llama-bpe")
    edited = mg.load(path).knock_out_types(["abc"]).tokeniser.portable().tokeniser
    edited.export(tmp_path / "b.gguf", words=WORDS)
    fields, _ = read(tmp_path / "b.gguf")
    assert fields["tokenizer.ggml.tokens"][256:] == ["ab", "<removed 257>", "xyz"]
    assert fields["tokenizer.ggml.token_type"][256:] == [1, 5, 1]
    assert fields["tokenizer.ggml.pre"] == "llama-bpe", "xyz is only there as a whole"
    assert mg.load(tmp_path / "b.gguf").encode("abc xyz") == edited.encode("abc xyz")


def test_what_cannot_be_written_is_said_before_anything_is(demo, tmp_path):
    first = mg.load("demo:en")
    tuples = first.knock_out_types(["ab"]).tokeniser
    dense = first.knock_out_types(["ab"], cascade=True).tokeniser
    out = tmp_path / "out" / "new.gguf"
    other = small(tmp_path / "other.gguf", ["a b"], ["ab"])
    for tokeniser, into in (
        (tuples, demo),
        (tuples, None),
        (dense, demo),
        (first.extend({"dede": 9}, 1), demo),
        (first, other),
        (first.method("flota", k=2), demo),
        (first, tmp_path / "none.gguf"),
        (first, tmp_path),
        (cut_otherwise(tmp_path), None),
    ):
        with refused(MorphGraphError):
            tokeniser.export(out, words=WORDS, into=into)
    assert not list(out.parent.glob("*"))


def cut_otherwise(folder):
    """The demo, its text cut in a way for which llama.cpp has no name."""
    document = load_tokeniser("demo:en").document
    path = folder / "own.json"
    path.write_text(json.dumps({**document, "pre_tokenizer": {"type": "Whitespace"}}))
    return mg.load(path)


def test_a_type_that_stays_whole_in_llama_cpp_alone_is_refused(tmp_path):
    """No merge makes xyz, but where pieces that are types stay whole, text gets it."""
    path = small(tmp_path / "a.gguf", ["a b"], ["ab", "xyz"], pre="qwen2")
    whole = small(tmp_path / "b.gguf", ["a b"], ["ab", "xyz"], pre="llama-bpe")
    with refused(MorphGraphError):
        mg.load(path).export(tmp_path / "c.gguf", words=["xyz"], into=whole)
    assert not (tmp_path / "c.gguf").exists()


def test_damaged_files_get_the_errors_of_the_reader(demo):
    data, tokeniser = demo.read_bytes(), load_tokeniser("demo:en")
    end = gguf.GGUFReader(demo).data_offset
    for size in (5, 200, end // 2):
        with refused(FileFormatError):
            gguf_blocks(tokeniser, WORDS, io.BytesIO(data[:size]), "model.gguf")
    place = data.index(b"general.alignment") + len("general.alignment")
    for value in (0, 2**31):
        hostile = data[: place + 4] + struct.pack("<I", value) + data[place + 8 :]
        with refused(FileFormatError):
            gguf_blocks(tokeniser, WORDS, io.BytesIO(hostile), "model.gguf")


def test_a_large_file_takes_little_memory(tmp_path):
    path = small(tmp_path / "a.gguf", ["a b"], ["ab"])
    with path.open("r+b") as file:
        file.truncate(3 * 10**8)  # a sparse file
    tokeniser = load_tokeniser(path)
    tracemalloc.start()
    try:
        with path.open("rb") as model:
            size = sum(map(len, gguf_blocks(tokeniser, ["houses"], model, "model.gguf")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 3 * 10**8
    assert peak < 150e6
