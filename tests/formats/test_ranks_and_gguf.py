"""Rank files of tiktoken and GGUF files, held against `tiktoken` and what `gguf` writes."""

import base64
import gzip
import json
import random
from itertools import chain, pairwise

import gguf
import numpy as np
import pytest
import tiktoken
import wordfreq
from effort import SHARE, examples, one_of
from gguf_models import write_merges, write_model, write_pieces
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from sentencepiece import SentencePieceProcessor
from small import trained_pieces
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE

import morphgraph as mg
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.pipeline_parts import PATTERNS
from morphgraph.formats.ranks import _recovered, to_ranks
from morphgraph.refine.knockout import listed_types
from morphgraph.refine.portable_edits import preview_keeping
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.tokeniser.merging import segment

BYTES = [bytes([byte]) for byte in range(256)]
PUBLISHED = {
    "r50k_base": {"<|endoftext|>": 50256},
    "p50k_base": {"<|endoftext|>": 50256},
    "cl100k_base": {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|endofprompt|>": 100276},
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}


def rank_file(types):
    lines = (b"%b %d\n" % (base64.b64encode(text), rank) for rank, text in enumerate(types))
    return b"".join(lines)


def ranks_in(data):
    return {base64.b64decode(t): int(n) for t, n in map(bytes.split, data.splitlines())}


def encoding(pattern, ranks):
    return tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def cut(text, ranks):
    """The lowest rank that two neighbours are together, leftmost, until none is."""
    tokens = [text[i : i + 1] for i in range(len(text))]
    while True:
        joined = [(ranks[x + y], i) for i, (x, y) in enumerate(pairwise(tokens)) if x + y in ranks]
        if not joined:
            return tokens
        _, at = min(joined)
        tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]


TYPES = st.lists(st.text("abc", min_size=2, max_size=9).map(str.encode), unique=True, max_size=25)


@examples(300)
@given(TYPES)
def test_merges_are_recovered_as_ranks_cut(types):
    listed = [b"a", b"b", b"c", *types]
    expected = []
    for rank, text in enumerate(listed):
        parts = cut(text, {lower: r for r, lower in enumerate(listed[:rank])})
        if len(parts) == 2:
            expected.append((parts[0], parts[1]))
    found = _recovered(listed, "ranks").items()
    assert [(listed[left], listed[right]) for _, (left, right) in found] == expected
    assert all(listed[at] == listed[left] + listed[right] for at, (left, right) in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranks")


@examples(30, 3)
@given(st.integers(0, 10**6))
def test_a_trained_file_is_cut_as_tiktoken_does(folder, seed):
    drawn = random.Random(seed)
    words = ["".join(drawn.choices("abé ", k=drawn.randint(1, 9))).encode() for _ in range(40)]
    types = list(BYTES)
    while len(types) < 290:
        ranks = {text: rank for rank, text in enumerate(types)}
        pairs = [x + y for word in words for x, y in pairwise(cut(word, ranks))]
        if not pairs:
            break
        types.append(max(sorted(set(pairs)), key=pairs.count))
    data = rank_file(types)
    path = folder / f"{seed}.tiktoken"
    path.write_bytes(data)
    ours = mg.load(path, pattern="cl100k_base")
    theirs = encoding(PATTERNS["cl100k_base"], ranks_in(data))
    for word in words:
        text = word.decode()
        assert ours.encode(text) == theirs.encode(text), text

    edited = load_tokeniser(path, "cl100k_base")
    assert to_ranks(edited) == data
    graph = edited.graph
    made = [graph.types[merge.result] for merge in graph.merges().values()]
    graph.knockout(drawn.sample(made[:-1], len(made) // 4))
    graph.portable()
    library = Tokenizer.from_str(to_tokenizer_json(edited)[0].decode())
    try:
        theirs = encoding(PATTERNS["cl100k_base"], ranks_in(to_ranks(edited)))
    except MorphGraphError as error:
        assert "differ" in str(error)
        return
    for word in words:
        assert library.encode(word.decode()).ids == theirs.encode(word.decode())


SIGNS = (", ", ". ", "  ", "\n", "\t", "'s ", " (", ") ", " 1234567 ", "\n\n", "/", "…", "🙂 ", "’")
ENDS = ("'LL ", "\r\n", "\u00a0", "\u3000", " Ⅷ ", "\n  ")


def some_lines(each):
    """Lines of words of many languages, with signs between some."""
    drawn = random.Random(0)
    lines = []
    for language in sorted(wordfreq.available_languages("small")):
        words = wordfreq.top_n_list(language, 3000, wordlist="small")
        for _ in range(each):
            line = ""
            for _ in range(drawn.randint(3, 15)):
                word = drawn.choice(words)
                spelled = drawn.choice([word, word, word.upper(), word.title() + word.title()])
                line += spelled + drawn.choice([" "] * 20 + [*SIGNS, *ENDS])
            lines.append(line)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(*PUBLISHED))
def test_published_files_are_cut_as_tiktoken_does(name, data_folder):
    path = data_folder / "tokenizers" / "tiktoken" / f"{name}.tiktoken"
    theirs = encoding(PATTERNS.get(name, PATTERNS["r50k_base"]), ranks_in(path.read_bytes()))
    loaded = load_tokeniser(path)
    ours = mg.Tokeniser(Bte(loaded))
    ids = {token["content"]: token["id"] for token in loaded.document["added_tokens"]}
    assert ids | PUBLISHED[name] == ids
    for line in some_lines(4):
        assert ours.encode(line) == theirs.encode(line), line


@pytest.mark.soak
def test_types_can_be_taken_out_of_a_published_file(data_folder):
    """Each line in which no type that goes took part keeps its ids; none of these is emitted."""
    path = data_folder / "tokenizers" / "tiktoken" / "o200k_base.tiktoken"
    tokeniser = load_tokeniser(path)
    graph = tokeniser.graph
    drawn = random.Random(0).sample([n for n in graph.type_ids() if graph.is_removable(n)], 200)
    listed = "".join(f"#{tokeniser.vocabulary_ids[number]}\n" for number in drawn)
    graph.knockout(listed_types(listed.encode(), "types", tokeniser))
    graph.apply(preview_keeping(graph))
    gone = [number for number in range(graph.loaded_type_count) if not graph.is_present(number)]
    assert set(drawn) < set(gone)

    lines = []
    for language in ("en", "de"):
        text = data_folder / "text" / "multi30k" / f"train.{language}.gz"
        lines += gzip.decompress(text.read_bytes()).decode().splitlines()
    lines = lines[:: round(1 / SHARE)]
    words = tokeniser.encode(lines, bare=True)
    before = segment(graph.original(), words)
    results = np.append(before.arrays.results, -1)[before.closed_by]
    took_part = np.zeros(len(lines), bool)
    took_part[words.word_of_atom[np.isin(results, gone)]] = True

    made = export_segmenter(Bte(tokeniser), lines[:3000])
    assert made.kind == "tokenizer.json"
    assert [check.name for check in made.checks if check.fine is False] == []
    library = Tokenizer.from_str(made.files["tokenizer.json"].decode())
    now = [found.ids for found in library.encode_batch(lines)]
    then = encoding(PATTERNS["o200k_base"], ranks_in(path.read_bytes()))
    both = zip(now, then.encode_ordinary_batch(lines), strict=True)
    differs = np.array([x != y for x, y in both])
    assert not (differs & ~took_part).any()
    assert 100 * SHARE < differs.sum() <= took_part.sum() < 1000 * SHARE
    own = [library.decode([tokeniser.vocabulary_ids[number]]) for number in gone]
    now += [found.ids for found in library.encode_batch(own)]
    removed = {tokeniser.vocabulary_ids[number] for number in gone}
    assert removed.isdisjoint(chain(*now)) and library.get_vocab_size() == 200_000


def test_the_patterns_are_those_of_tiktoken(monkeypatch):
    from tiktoken_ext import openai_public

    own = {**PATTERNS, "p50k_base": PATTERNS["r50k_base"]}
    ranks = {text: n for n, text in enumerate(BYTES)}
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
    for name in PUBLISHED:
        made = openai_public.ENCODING_CONSTRUCTORS[name]()
        theirs, ours = (encoding(p, made["mergeable_ranks"]) for p in (made["pat_str"], own[name]))
        for line in some_lines(3):
            assert theirs._encode_only_native_bpe(line) == ours._encode_only_native_bpe(line)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda lines: [*lines[:40], b"I?== 40", *lines[41:]], "line 41"),
        (lambda lines: [*lines[:40], lines[39], *lines[41:]], "line 41"),
        (lambda lines: [*lines[:40], lines[40].replace(b"40", b"39")], "line 41"),
        (lambda lines: lines[:-1], ""),
        (lambda lines: lines[1:], ""),
        (lambda lines: [*lines, b"= 256", b"= 257"], "line 258"),
        (lambda lines: [*lines, b"", b"  ", b"YWI= 256"], "line 258"),
    ],
)
def test_damaged_ranks(change, place):
    data = b"\n".join(change(rank_file(BYTES).splitlines()))
    with refused(FileFormatError, place):
        load_tokeniser({"own.tiktoken": data}, "cl100k_base")


@pytest.mark.parametrize("between", [b"\n", b"\n\n\n", b"\r\n", b"\r\n\r\n"])
def test_blank_lines_and_an_empty_type_are_read_as_in_tiktoken(between, tmp_path):
    """Whisper's file ends with an empty type, which has an id that no text has."""
    types = [*BYTES, b"ab", b" ab"]
    lines = [*rank_file(types).splitlines(), b"= 258", base64.b64encode(b"abab") + b" 259"]
    path = tmp_path / "own.tiktoken"
    path.write_bytes(between + between.join(lines) + between)
    ranks = ranks_in(b"\n".join(lines))
    assert ranks[b""] == 258
    theirs = encoding(PATTERNS["r50k_base"], ranks)
    ours = mg.load(path, pattern="r50k_base")
    for text in ("ab", "abab ab", " abab", "ba bé", ""):
        assert ours.encode(text) == theirs.encode(text), text
        assert ours.decode(ours.encode(text)) == text
    written = to_ranks(load_tokeniser(path, "r50k_base"))
    assert written == b"".join(line + b"\n" for line in lines if line != b"= 258")


def byte_level_file(types, merges, **model):
    """A tokenizer.json with the 256 bytes, and types of letters behind them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {text: number for number, text in enumerate([*alphabet, *types])}
    library = Tokenizer(BPE(ids, [tuple(merge.split()) for merge in merges], **model))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return {"own.json": library.to_str().encode()}


UNSAYABLE = {
    "other parts": (["ab", "bc", "abc"], ["b c", "a b", "a bc"]),
    "no merge there": (["abc", "ab"], ["a b", "ab c"]),
    "no merge here": (["ab", "abc"], ["a b"]),
    "whole only there": (["ab", "xyz"], ["a b"]),
    "another order": (["ab", "bc"], ["b c", "a b"]),
    "many": (["ab", "abc", "bc", "cd", "de"], ["a b"]),
}


@pytest.mark.parametrize("what", UNSAYABLE)
def test_what_ranks_cannot_say_is_counted(what):
    with refused():
        to_ranks(load_tokeniser(byte_level_file(*UNSAYABLE[what])))


def test_tuple_merges_added_types_and_characters_have_no_ranks():
    tokeniser = load_tokeniser(byte_level_file(["ab", "abc"], ["a b", "ab c"]))
    tokeniser.graph.knockout(["ab"])
    with refused():
        to_ranks(tokeniser)
    library = Tokenizer(BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    added = Tokenizer.from_str(byte_level_file(["ab", "abc"], ["a b", "ab c"])["own.json"].decode())
    added.add_special_tokens(["ab"])
    with refused():  # no text is merged to ab, which is found before
        to_ranks(load_tokeniser({"own.json": added.to_str().encode()}))
    with refused():
        to_ranks(load_tokeniser({"own.json": library.to_str().encode()}))


def test_whole_pieces_without_merges_have_ranks():
    file = byte_level_file(["ab", "xyz"], ["a b"], ignore_merges=True)
    ranks = ranks_in(to_ranks(load_tokeniser(file)))
    theirs = encoding(PATTERNS["r50k_base"], ranks)
    ids = Tokenizer.from_str(file["own.json"].decode()).encode("xyz xyz abxyz").ids
    assert theirs.encode("xyz xyz abxyz") == ids
    assert (ids[0], ids.count(257)) == (257, 1)


def test_splits_that_never_apply_say_nothing():
    """Converters list every split of a type as a merge; ab + c is the one that applies."""
    plain = ["a b", "b c", "ab c"]
    every = [*plain, "a bc"]
    one, other = (
        to_ranks(load_tokeniser(byte_level_file(["ab", "bc", "abc"], merges)))
        for merges in (plain, every)
    )
    assert one == other
    assert ranks_in(one)[b"abc"] == 258


@pytest.mark.parametrize(
    ("type_", "portable", "expected", "ids"),
    [
        ("ab", True, {b"bc": 257, b"abc": 258}, [258, 97, 98]),
        ("bc", False, {b"ab": 256, b"abc": 257, b" ab": 258}, [257, 256]),
    ],
)
def test_a_rank_file_is_written_by_its_name(type_, portable, expected, ids, tmp_path):
    """Ids that are kept leave gaps, which tiktoken allows; dense ones do not."""
    data = rank_file([*BYTES, b"ab", b"bc", b"abc", b" ab"])
    (tmp_path / "old.tiktoken").write_bytes(data)
    loaded = mg.load(tmp_path / "old.tiktoken", pattern="cl100k_base")
    loaded.save(tmp_path / "same.tiktoken")
    assert (tmp_path / "same.tiktoken").read_bytes() == data
    edited = loaded.knock_out_types([type_], portable=portable).tokeniser
    edited.save(tmp_path / "new.tiktoken")
    ranks = ranks_in((tmp_path / "new.tiktoken").read_bytes())
    assert {text: rank for text, rank in ranks.items() if rank > 255} == expected
    theirs = encoding(PATTERNS["cl100k_base"], ranks)
    assert theirs.encode("abcab") == edited.encode("abcab") == ids


# ------------------------------------------------------------------------------------- GGUF


def test_gguf_holds_the_demo(tmp_path):
    demo = load_tokeniser("demo:en")
    path = write_merges(tmp_path / "demo.gguf", demo)
    found = load_tokeniser(path)
    assert found.graph.state == demo.graph.state
    assert found.special == demo.special
    words = wordfreq.top_n_list("en", 2000)
    assert mg.load(path).segment(words) == mg.load("demo:en").segment(words)
    data = path.read_bytes()
    for size in (5, 30, 200, len(data) // 2):
        with refused(FileFormatError):
            load_tokeniser({"demo.gguf": data[:size]})


def test_gguf_begins_texts_as_the_model_does(tmp_path, monkeypatch):
    types, kinds = ["a", "b", "ab", "<s>"], [1, 1, 1, 3]
    more = {"token_merges": ["a b"], "tokenizer_pre": "llama-bpe", "add_bos_token": True}
    path = write_model(tmp_path / "a.gguf", "gpt2", types, kinds, bos_token_id=3, **more)
    with path.open("ab") as file:  # the model's weights, beyond what is read of a file
        file.truncate(20_000)
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "10000")
    found = mg.load(path)
    assert found.encode("ab") == [3, 2]
    assert load_tokeniser(path).document["model"]["ignore_merges"]


def test_gguf_holds_a_sentencepiece_model(tmp_path):
    settings = {"byte_fallback": True, "normalization_rule_name": "identity"}
    data = trained_pieces(wordfreq.top_n_list("nl", 3000), "bpe", 600, **settings)
    path = write_pieces(tmp_path / "b.gguf", data)
    model = SentencePieceProcessor(model_proto=data)
    found, lines = mg.load(path), wordfreq.top_n_list("nl", 3500)[2500:]
    assert [found.encode(line, special_tokens=False) for line in lines] == model.EncodeAsIds(lines)


def test_gguf_that_would_fill_memory_is_refused(monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    start = gguf.GGUF_MAGIC.to_bytes(4, "little") + (3).to_bytes(4, "little") + bytes(8)
    many = start + (10_001).to_bytes(8, "little") + bytes(200_000)
    array = (1).to_bytes(8, "little") + b"a" + (9).to_bytes(4, "little") + bytes(4)
    long = start + (1).to_bytes(8, "little") + array + (3_000_000).to_bytes(8, "little")
    for data in (many, long + bytes(3_000_000)):
        with refused(FileFormatError):
            load_tokeniser({"large.gguf": data})


@pytest.mark.parametrize(
    ("model", "pre"),
    [("t5", "default"), ("gpt2", "unheard"), ("plamo2", "default"), ("gemma4", "default")],
)
def test_gguf_that_cannot_be_read(model, pre, tmp_path):
    more = {"tokenizer_pre": pre, "token_merges": ["a b"]}
    path = write_model(tmp_path / "c.gguf", model, ["a", "b", "ab"], [1, 1, 1], **more)
    with refused(FileFormatError):
        load_tokeniser(path)
    assert model != "gpt2" or load_tokeniser(path, "qwen2").vocabulary_size == 3


@pytest.mark.parametrize("unknown", [None, 0, 2])
def test_several_types_may_be_unknown(unknown, tmp_path):
    """SentencePiece allows one, which llama.cpp names or which is the first; no text has others."""
    types = ["<unk>", "a", "<other>", "ab", "b", "▁", "<third>"]
    more = {} if unknown is None else {"unk_token_id": unknown}
    scores = [0.0, -3.0, 0.0, -1.0, -4.0, -2.0, 0.0]
    path = tmp_path / "d.gguf"
    write_model(path, "llama", types, [2, 1, 2, 1, 1, 1, 2], token_scores=scores, **more)
    found = mg.load(path)
    assert found.encode("abba", special_tokens=False) == [5, 3, 4, 1]
    assert found.encode("c", special_tokens=False) == [5, unknown or 0]
    assert len(found) == 7


GEMMA_TYPES = [
    *("<pad>", "<eos>", "<bos>", "<unk>", "<tool>"),
    *(f"<0x{byte:02X}>" for byte in range(256)),
    *("▁", "a", "b", "é", "\n", "ab", "▁ab", "▁▁", "\n\n", "\n\n\n"),
]
GEMMA_KINDS = [3, 3, 3, 2, 4, *[6] * 256, *[1] * 10]
GEMMA_MERGES = ["\n\n \n", "\n \n", "▁ ▁", "a b", "▁ ab"]


@pytest.mark.parametrize("named", [{}, {"bos_token_id": 2}])
def test_gemma_merges_characters(named, tmp_path):
    """The tokenizer.json of Gemma has the same ids, as text is cut nowhere that a merge goes."""
    more = {"token_merges": GEMMA_MERGES, **named}
    found = mg.load(write_model(tmp_path / "e.gguf", "gemma4", GEMMA_TYPES, GEMMA_KINDS, **more))
    model = {"type": "BPE", "unk_token": "<unk>", "byte_fallback": True}
    model["vocab"] = {text: number for number, text in enumerate(GEMMA_TYPES)}
    model["merges"] = [line.split(" ") for line in GEMMA_MERGES]
    normalizer = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    library = Tokenizer.from_str(json.dumps({"normalizer": normalizer, "model": model}))
    library.add_tokens(["<tool>"])
    library.add_special_tokens(GEMMA_TYPES[:3])
    id_of = model["vocab"].__getitem__
    by_hand = {
        "ab ab": ["ab", "▁ab"],
        " ab  b": ["▁ab", "▁▁", "b"],
        "\n\n\n\na": ["\n\n\n", "\n", "a"],
        "éç": ["é", "<0xC3>", "<0xA7>"],
        "a<tool>\nb<eos>": ["a", "<tool>", "\n", "b", "<eos>"],
    }
    for text, tokens in by_hand.items():
        ids = list(map(id_of, tokens))
        assert found.encode(text, special_tokens=False) == ids == library.encode(text).ids
        assert found.encode(text) == [2] * len(named) + ids
        if "<" not in text:
            assert found.decode(ids) == text


def test_gemma_with_line_ends_that_merges_do_not_make(tmp_path):
    """llama.cpp takes them whole, which no merge says."""
    types, kinds = [*GEMMA_TYPES, "\n" * 5], [*GEMMA_KINDS, 1]
    path = write_model(tmp_path / "f.gguf", "gemma4", types, kinds, token_merges=GEMMA_MERGES)
    with refused(FileFormatError):
        mg.load(path)
