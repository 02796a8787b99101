"""Exported tokenisers in `transformers`: the same ids as here, and all that its users expect."""

import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from effort import share_of

# Set before transformers is imported: no network, and a place of our own for copied code.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_MODULES_CACHE"] = tempfile.mkdtemp(prefix="morphgraph-modules-")

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from morphgraph.core.files import demo_gold_path, demo_tokeniser_path
from morphgraph.formats.export import our_ids, sentences_to_check, words_to_check
from morphgraph.formats.hugging_face import from_tokenizer_json, new_ids
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import knock_out
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter, exported_model, load_segmenter
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.tokeniser import BpeTokeniser

pytestmark = pytest.mark.slow


class Exported(NamedTuple):
    """A tokeniser, its folder, and what transformers makes of it."""

    tokeniser: BpeTokeniser
    folder: Path
    loaded: Any

    def ours(self, texts):
        return our_ids(self.tokeniser, texts, new_ids(self.tokeniser), bare=True)

    def theirs(self, texts):
        return self.loaded(texts, add_special_tokens=False)["input_ids"]


def auto_tokenizer(folder, trusts):
    from transformers import AutoTokenizer  # a second, for those who run these tests only

    return AutoTokenizer.from_pretrained(folder, trust_remote_code=trusts)


def exported_to(tokeniser, folder, words):
    made = export_segmenter(Bte(tokeniser), words)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    own = made.kind == "folder"
    loaded = auto_tokenizer(folder, own)
    assert type(loaded).__name__ == ("MorphGraphTokenizer" if own else "TokenizersBackend")
    return Exported(tokeniser, folder, loaded)


def blamed(tokeniser, language):
    """Without the types whose merges have a blame of 0.5 or more."""
    reference = read_reference(demo_gold_path(language), name=f"demo:{language}")
    result = knock_out(tokeniser, Benchmark.build(tokeniser, reference, None, ""))
    assert len(result.change.removed_types) > 200
    return tokeniser


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    """The English demo, edited."""
    tokeniser = blamed(load_tokeniser("demo:en").fork(), "en")
    return exported_to(tokeniser, tmp_path_factory.mktemp("en") / "english", ["unbelievable"])


# ------------------------------------------------------------------------------------ ids


def test_ids_of_words_and_sentences_in_german(data_folder, tmp_path):
    """By a tokeniser of 40,000 types, edited."""
    tokeniser = blamed(load_tokeniser(data_folder / "tokenizers" / "oscar-de-40k"), "de")
    german = exported_to(tokeniser, tmp_path / "oscar de", ["unglaublich"])
    words = words_to_check([], name="demo:de")
    assert len(words) == share_of(10_000)
    texts = [" " + word for word in words]
    ours = our_ids(german.tokeniser, words, new_ids(german.tokeniser))
    assert german.theirs(texts) == ours
    whole = sentences_to_check(words, 300)
    assert len(whole) == 300
    assert german.theirs(whole) == german.ours(whole)
    # They are another tokeniser's ids, renumbered, only where the edits change nothing.
    start = load_tokeniser("demo:de")
    assert german.ours(whole) != our_ids(start, whole, new_ids(start), bare=True)


def test_offsets_and_round_trip(english):
    texts = sentences_to_check(words_to_check([], 2000), 100)
    found = english.loaded(texts, return_offsets_mapping=True, add_special_tokens=False)
    for number, text in enumerate(texts):
        rows = zip(found["input_ids"][number], found["offset_mapping"][number], strict=True)
        spans = []
        for token, (start, end) in rows:
            surface = english.loaded.decode([token])
            if "�" not in surface:  # more than a part of a character
                assert surface == text[start:end]
            spans += range(start, end)
        assert sorted(set(spans)) == list(range(len(text))), "every character is in a token"
        assert english.loaded.decode(found["input_ids"][number]) == text


def test_every_kind_of_tokeniser(variant, tmp_path):
    """Metaspace, </w>, bytes for unknown characters, fused ones, normalisers, added tokens."""
    tokeniser = variant.tokeniser.fork()
    graph = tokeniser.graph
    used = [n for n in graph.type_ids() if graph.is_removable(n) and graph.fan_out(n)]
    graph.knockout([graph.types[n] for n in used[::4]])
    exported = exported_to(tokeniser, tmp_path / "kind", ["newest"])
    texts = [
        *sentences_to_check(words_to_check([], 1000), 60),
        "x語語y日",
        "un<ent>do <ent>s ab <unk>",
        "",
    ]
    assert exported.theirs(texts) == exported.ours(texts)
    named = exported.loaded.get_vocab()
    assert named == {graph.types[number]: new for number, new in new_ids(tokeniser).items()}
    copies = [
        exported.loaded,
        copy.deepcopy(exported.loaded),
        pickle.loads(pickle.dumps(exported.loaded)),
    ]
    assert len({str(one(texts)) for one in copies}) == 1


# ------------------------------------------------------------------------------------ transformers


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """Byte-level with RoBERTa's special tokens, and a tuple merge."""
    alphabet = [*pre_tokenizers.ByteLevel.alphabet()]
    merges = [("u", "n"), ("un", "d"), ("und", "o"), ("Ġ", "undo"), ("i", "ng")]
    merges.insert(4, ("n", "g"))
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    types = [*names, *sorted(alphabet), *("".join(parts) for parts in merges)]
    library = Tokenizer(models.BPE({t: n for n, t in enumerate(types)}, merges))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    library.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), add_prefix_space=False
    )
    library.add_special_tokens(
        [AddedToken(t, lstrip=t == "<mask>", normalized=False) for t in names]
    )
    tokeniser = from_tokenizer_json(library.to_str().encode(), "roberta.json")
    tokeniser.graph.knockout(["un", "und"])
    return exported_to(tokeniser, tmp_path_factory.mktemp("roberta") / "r", ["undoing"])


def test_pairs_get_the_special_tokens_of_the_file(roberta):
    tokenizer = roberta.loaded
    found = tokenizer("undoing", "undo", return_special_tokens_mask=True)
    assert tokenizer.convert_ids_to_tokens(found["input_ids"]) == [
        *("<s>", "undo", "ing", "</s>", "</s>", "undo", "</s>")
    ]
    assert found["special_tokens_mask"] == [1, 0, 0, 1, 1, 0, 1]
    assert found.sequence_ids() == [None, 0, 0, None, None, 1, None]
    assert "token_type_ids" not in found
    text = "un undo"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == "<s>un undo</s>"
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text
    assert tokenizer.num_special_tokens_to_add(pair=True) == 4


def test_text_that_only_looks_special(roberta):
    found = roberta.loaded("undo<s>", split_special_tokens=True, add_special_tokens=False)
    assert found.tokens() == ["undo", "<", "s", ">"]
    assert roberta.loaded._encode_without_added_tokens("undo<s>") == found["input_ids"]
    assert roberta.loaded("undo<s>", split_special_tokens=False).tokens()[2] == "<s>"


# ------------------------------------------------------------------------------------ methods


def bert():
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = list("abcdefghijklmnopqrstuvwxyz.,!?-'")
    types = [*names, *letters, *("##" + c for c in letters), "un", "##ing", "##able", "##desir"]
    types += ["the", "##er", "##est", "break", "##break", "low", "##low", "##land"]
    library = Tokenizer(models.WordPiece({t: n for n, t in enumerate(types)}, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    library.add_special_tokens([AddedToken(name) for name in names])
    library.enable_padding(pad_id=0, pad_token="[PAD]")
    return library


def gpt2():
    library = Tokenizer.from_file(str(demo_tokeniser_path("en")))
    library.add_special_tokens(["<|endoftext|>"])
    return library


def xlnet():
    library = Tokenizer(models.Unigram())
    library.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Metaspace()
    names = ["<unk>", "<sep>", "<cls>", "<pad>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=names, unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator([" ".join(words_to_check([], 2000))], trainer)
    library.post_processor = processors.TemplateProcessing(
        "$A:0 <sep>:0 <cls>:2",
        "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        [("<sep>", 1), ("<cls>", 2)],
    )
    library.enable_padding(direction="left", pad_id=3, pad_token="<pad>", pad_type_id=3)
    return library


KINDS = {"BERT": bert, "GPT-2": gpt2, "XLNet": xlnet}


class Leaving(NamedTuple):
    """A model's own tokeniser, a method on its vocabulary, and that as transformers loads it."""

    original: Tokenizer
    segmenter: Segmenter
    folder: Path
    loaded: Any

    def ours(self, texts):
        return exported_model(self.segmenter).ids(texts, True)


def exported_method(library, folder, method, **parameters):
    folder.mkdir(parents=True)
    path = folder / "original.json"
    path.write_text(library.to_str())
    segmenter = load_segmenter(path, method, **parameters)
    for name, data in export_segmenter(segmenter, ["undesirable", "lowlands"]).files.items():
        (folder / name).write_bytes(data)
    return Leaving(library, segmenter, folder, auto_tokenizer(folder, True))


@pytest.fixture(scope="module", params=[*KINDS])
def kept(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "folder"
    return exported_method(KINDS[request.param](), folder, "flota", k=2)


def test_all_else_is_the_originals(kept):
    """Special tokens, types of texts, padding, truncation, offsets and decoding."""
    one, original = kept.loaded, kept.original
    short, long = "the lowlands", "undesirable breaking of the lowlands"
    for texts in ((short,), (short, long)):
        bare = [one(text, add_special_tokens=False)["input_ids"] for text in texts]
        found = one(*texts)
        wanted = original.num_special_tokens_to_add(len(texts) == 2)
        assert len(found["input_ids"]) == sum(map(len, bare)) + wanted
        assert sorted(i for row in bare for i in row) == sorted(
            i
            for i, own in zip(found["input_ids"], found.sequence_ids(), strict=True)
            if own is not None
        )
        assert [own for own in found.sequence_ids() if own is None] == [None] * wanted
    ids = one(long)["input_ids"]
    assert one.decode(ids) == original.decode(ids, skip_special_tokens=False)
    assert one.decode(ids, skip_special_tokens=True) == original.decode(ids)
    found = one(long, return_offsets_mapping=True, add_special_tokens=False)
    covered = [long[start:end].strip() for start, end in found["offset_mapping"]]
    assert all(text and text in long for text in covered)
    cut = one([long, long], truncation=True, max_length=4)["input_ids"]
    assert {len(row) for row in cut} == {4}
    if original.padding:
        rows = one([short, long], padding=True)["input_ids"]
        side = 0 if original.padding["direction"] == "left" else -1
        assert rows[0][side] == original.padding["pad_id"] == one.pad_token_id
        assert one.padding_side == original.padding["direction"]


def test_a_method_is_saved_and_copied(kept, tmp_path):
    one = copy.deepcopy(kept.loaded)
    assert one.add_tokens(["<new>"]) == 1
    one.save_pretrained(tmp_path / "again")
    assert not (tmp_path / "again" / "tokenizer.json").exists()
    texts = ["undesirable <new> lowlands", "breaking", "un-break-able é"]
    again = [one, auto_tokenizer(tmp_path / "again", True), pickle.loads(pickle.dumps(one))]
    assert len({str(each(texts)) for each in again}) == 1
    assert again[1].get_vocab() == one.get_vocab()
    assert again[1].special_tokens_map == one.special_tokens_map
    assert "<new>" in again[1].tokenize(texts[0]) and "<new>" not in kept.loaded.get_vocab()


def test_dropout_draws_until_it_is_told_not_to(tmp_path):
    one = exported_method(gpt2(), tmp_path / "f", "dropout", p=0.4, seed=7)
    texts = sentences_to_check(words_to_check([], 500), 40)
    first, second = one.loaded(texts)["input_ids"], one.loaded(texts)["input_ids"]
    assert first != second, "each batch is drawn anew"
    same = auto_tokenizer(one.folder, True)
    assert [same(texts)["input_ids"] for _ in range(2)] == [first, second], "by its seed"
    assert pickle.loads(pickle.dumps(same))(texts)["input_ids"] == one.loaded(texts)["input_ids"]
    assert one.loaded.eval() is one.loaded
    standard = [e.ids for e in one.original.encode_batch(texts, add_special_tokens=False)]
    assert [one.loaded(texts)["input_ids"] for _ in range(2)] == [standard] * 2
    assert copy.deepcopy(one.loaded)(texts)["input_ids"] == standard
    assert one.loaded.train()(texts)["input_ids"] != standard
    decoded = [one.loaded.decode(row) for row in first]
    assert decoded == texts


# ------------------------------------------------------------------------------------ elsewhere

WITHOUT = """
import json, os, sys
sys.modules["morphgraph"] = None  # it cannot be imported
from transformers import AutoTokenizer
texts = json.load(sys.stdin)
found = {}
for folder in sys.argv[1:]:
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True).eval()
    found[os.path.basename(folder)] = tokenizer(texts)["input_ids"]
    assert not tokenizer._drawing._kernel
print(json.dumps(found))
"""


def test_the_same_ids_with_morphgraph_and_without(english, tmp_path):
    """In large batches the kernels are used, where there are any."""
    made = [
        exported_method(KINDS[kind](), tmp_path / f"{kind} {name}", name, **given)
        for kind, name, given in (
            ("BERT", "flota", {"k": 2}),
            ("XLNet", "longest", {"k": 1}),
            ("GPT-2", "first", {"k": 1}),
            ("GPT-2", "dropout", {"p": 0.1}),
        )
    ]
    words = words_to_check([], 6000)
    texts = [*words, *sentences_to_check(words, 200)]  # so many that kernels are used
    last = texts[-200:]
    for one in made[:3]:
        assert one.loaded(last, add_special_tokens=False)["input_ids"] == one.ours(last)
    found = {one.folder.name: one.loaded.eval()(texts)["input_ids"] for one in (*made, english)}
    assert all(one.loaded._drawing._kernel for one in made), "they are in use"
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, *(str(one.folder) for one in (*made, english))],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "HF_MODULES_CACHE": str(tmp_path / "modules")},
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == found


@pytest.mark.parametrize("split", [False, True], ids=["pairs", "tuples"])
def test_types_of_bytes_and_characters_are_decoded(split, tmp_path):
    """The library knows bytes that are types of their own, so even pairs need the class."""
    alphabet = ["▁", *"new", *BYTES]
    merges = [("<0xC3>", "<0xA9>"), ("<0xC3><0xA9>", "n"), ("▁", "<0x57>"), ("e", "w")]
    types = ["<unk>", *alphabet, *("".join(parts) for parts in merges)]
    model = models.BPE(
        {t: n for n, t in enumerate(types)}, merges, unk_token="<unk>", byte_fallback=True
    )
    library = Tokenizer(model)
    library.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    fallback = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    library.decoder = decoders.Sequence([*fallback, decoders.Strip(" ", 1, 0)])
    tokeniser = from_tokenizer_json(library.to_str().encode(), "bytes.json")
    if split:
        tokeniser.graph.knockout(["<0xC3><0xA9>"])
    loaded = exported_to(tokeniser, tmp_path / "bytes", ["new"]).loaded
    found = loaded("Wén new", add_special_tokens=False)["input_ids"]
    assert loaded.convert_ids_to_tokens(found) == [*("▁<0x57>", "<0xC3><0xA9>n", "▁", "n", "ew")]
    for each in (loaded, copy.deepcopy(loaded)):
        assert each.decode(found) == "Wén new"
        assert each.convert_tokens_to_string(["<0xC3><0xA9>n", "▁<0x57>"]) == "én W"
    loaded.save_pretrained(tmp_path / "again")
    assert auto_tokenizer(tmp_path / "again", True).decode(found) == "Wén new"
