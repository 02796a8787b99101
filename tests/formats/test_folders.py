"""Folders as `transformers` saves and reads them: the same ids, before and after edits."""

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from effort import all_but, share_of
from small import trained_pieces
from tokenizers import BertWordPieceTokenizer, Tokenizer, models, pre_tokenizers, trainers

import morphgraph as mg
from morphgraph.formats.export import sentences_to_check, words_to_check
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.original import TEXTS
from morphgraph.refine.portable_edits import preview_portable
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_to

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

Files = dict[str, Any]

WORDS = words_to_check((), 2_000, name="demo:de") + words_to_check((), 2_000)
CORPUS = sentences_to_check(WORDS, 400)
MARKED = (
    "a<s>b</s> <mask> x<unk>y <pad>",
    "[CLS] a [SEP] [MASK]b [UNK]",
    "<|endoftext|> x<|startoftranscript|><|im_start|>user",
    "＜s＞ ＜mask＞ <new> <NEW>  <extra_id_3>",
    "de_DE fra_Latn a",
)
SAMPLES = [*sentences_to_check(WORDS, share_of(240, 40)), *TEXTS, *MARKED]
S = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
CLS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@cache
def byte_level(*special):
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    library.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=600, special_tokens=list(special), initial_alphabet=alphabet
        ),
    )
    return model_of(library)


@cache
def clip():
    library = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=alphabet, end_of_word_suffix="</w>"
    )
    library.train_from_iterator(CORPUS, trainer)
    vocabulary, merges = model_of(library)
    for text in (*(f"{c}</w>" for c in alphabet), "<|startoftext|>", "<|endoftext|>"):
        vocabulary.setdefault(text, len(vocabulary))
    return vocabulary, merges


def model_of(library):
    model = json.loads(library.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


@cache
def wordpiece(*special):
    library = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    library.train_from_iterator(CORPUS, vocab_size=700, special_tokens=list(special or CLS))
    return dict(library.get_vocab())


@cache
def sentencepiece(kind, **settings):
    return trained_pieces(CORPUS, kind, 700, hard_vocab_limit=False, **settings)


def scored(data):
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_proto=data)
    return [(model.id_to_piece(n), model.get_score(n)) for n in range(len(model))]


def named(class_, model_type, **settings):
    """Return the files that name a class."""
    config = {"tokenizer_class": f"{class_}Tokenizer", **settings}
    return {"tokenizer_config.json": config, "config.json": {"model_type": model_type}}


def pair(found):
    vocabulary, merges = found
    lines = ["#version: 0.2", *map(" ".join, merges)]
    return {"vocab.json": vocabulary, "merges.txt": "".join(f"{line}\n" for line in lines)}


def listed(vocabulary):
    types = sorted(vocabulary, key=vocabulary.__getitem__)
    return {"vocab.txt": "".join(f"{text}\n" for text in types)}


END = "<|endoftext|>"
SPEECH = ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>")
MASK = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "normalized": False}
LLAMA = {"byte_fallback": True}
GEMMA = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "add_dummy_prefix": False}
GEMMA |= {"bos_piece": "<bos>", "eos_piece": "<eos>", **LLAMA}
ALBERT = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1}
ALBERT |= {"control_symbols": "[CLS],[SEP],[MASK]"}
T5 = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
NLLB = {"src_lang": "fra_Latn", "additional_special_tokens": ["fra_Latn", "deu_Latn"]}


BASES = {
    "gpt2": lambda: pair(byte_level(END)),
    "roberta": lambda: pair(byte_level(*S)),
    "deberta": lambda: pair(byte_level(*CLS)),
    "whisper": lambda: pair(byte_level(END, *SPEECH)),
    "clip": lambda: pair(clip()),
    "bert": lambda: listed(wordpiece()),
    "bert, no mask": lambda: listed(wordpiece(*CLS[:4])),
    "mpnet": lambda: listed(wordpiece("[UNK]", *S)),
    "llama": lambda: {"tokenizer.model": sentencepiece("bpe", **LLAMA)},
    "gemma": lambda: {"tokenizer.model": sentencepiece("bpe", **GEMMA)},
    "xlm_r": lambda: {"sentencepiece.bpe.model": sentencepiece("unigram")},
    "nllb": lambda: {"sentencepiece.bpe.model": sentencepiece("bpe")},
    "albert": lambda: {"spiece.model": sentencepiece("unigram", **ALBERT)},
    "t5": lambda: {"spiece.model": sentencepiece("unigram", **T5)},
}
MORE = {
    "special_tokens_map.json": {"pad_token": "<pad>", "unk_token": MASK},
    "added_tokens.json": {"<pad>": 600, "<new>": 601, "<mask>": 602},
}
UMLAUTS = {"strip_accents": False, "tokenize_chinese_chars": False}
CASED = {"do_lower_case": False, "keep_accents": True}
QWEN = {"additional_special_tokens": ["<|im_start|>"], "pad_token": END}

FOLDERS = {
    "GPT-2": ("gpt2", named("GPT2", "gpt2", add_bos_token=True)),
    "GPT-2 with spaces": ("gpt2", named("GPT2", "gpt2", add_prefix_space=True)),
    "GPT-2, no class": ("gpt2", {"config.json": {"model_type": "gpt2"}}),
    "GPT-2, more tokens": ("gpt2", named("GPT2", "gpt2") | MORE),
    "GPT-NeoX": ("gpt2", named("GPTNeoX", "gpt_neox")),
    "RoBERTa": ("roberta", named("Roberta", "roberta", mask_token=MASK)),
    "BART, no class": ("roberta", {"config.json": {"model_type": "bart"}}),
    "Blenderbot": ("roberta", named("Blenderbot", "blenderbot")),
    "DeBERTa": ("deberta", named("Deberta", "deberta")),
    "Qwen": ("gpt2", named("Qwen2", "other", **QWEN)),
    "Whisper": ("whisper", named("Whisper", "whisper")),
    "Whisper, a language": (
        "whisper",
        named("Whisper", "whisper", language="en", task="transcribe"),
    ),
    "CLIP": ("clip", named("CLIP", "clip")),
    "BERT": ("bert", named("Bert", "bert")),
    "BERT, cased": ("bert", named("Bert", "bert", do_lower_case=False)),
    "BERT, umlauts": ("bert", named("Bert", "bert", **UMLAUTS)),
    "BERT, no class": ("bert", {"config.json": {"model_type": "bert"}}),
    "BERT without a mask": ("bert, no mask", named("Bert", "bert")),
    "ELECTRA": ("bert", named("Electra", "electra", do_lower_case=False)),
    "MPNet": ("mpnet", named("MPNet", "mpnet")),
    "Llama": ("llama", named("Llama", "llama", add_bos_token=True, add_eos_token=True)),
    "Llama, legacy": ("llama", named("Llama", "llama", legacy=True)),
    "Llama, no space": ("llama", named("Llama", "llama", add_prefix_space=False)),
    "Gemma": ("gemma", named("Gemma", "gemma", add_bos_token=True)),
    "XLM-R": ("xlm_r", named("XLMRoberta", "xlm-roberta")),
    "CamemBERT": ("xlm_r", named("Camembert", "camembert")),
    "ALBERT": ("albert", named("Albert", "albert")),
    "ALBERT, cased": ("albert", named("Albert", "albert", **CASED)),
    "T5": ("t5", named("T5", "t5")),
    "mBART": ("xlm_r", named("MBart", "mbart", src_lang="de_DE")),
    "NLLB": ("nllb", named("Nllb", "nllb", **NLLB)),
    "NLLB, legacy": ("nllb", named("Nllb", "nllb", legacy_behaviour=True, **NLLB)),
}
# As XLM-R numbers pieces.
*FIRST, MASKED = ((text, 0.0) for text in S)
SAVED = {
    "GPT-2": lambda: ("GPT2", {**both(byte_level(END)), "add_bos_token": True}),
    "RoBERTa": lambda: ("Roberta", both(byte_level(*S))),
    "BERT": lambda: ("Bert", {"vocab": wordpiece(), "do_lower_case": False}),
    "ELECTRA": lambda: ("Electra", {"vocab": wordpiece()}),
    "Qwen": lambda: (
        "Qwen2",
        {**both(byte_level(END)), "extra_special_tokens": ["<|im_start|>", "<|im_end|>"]},
    ),
    "Whisper": lambda: ("Whisper", {**both(byte_level(END, *SPEECH)), "language": "en"}),
    "CLIP": lambda: ("CLIP", both(clip())),
    "Llama": lambda: ("Llama", {**pieces(), "add_bos_token": True}),
    "Gemma": lambda: ("Gemma", pieces()),
    "NLLB": lambda: ("Nllb", {**pieces(), "src_lang": "deu_Latn"}),
    "XLM-R": lambda: (
        "XLMRoberta",
        {"vocab": [*FIRST, *scored(sentencepiece("unigram"))[3:], MASKED]},
    ),
    "ALBERT": lambda: ("Albert", {"vocab": scored(sentencepiece("unigram", **ALBERT))}),
}


def both(found):
    return {"vocab": dict(found[0]), "merges": found[1]}


def pieces():
    """Return a vocabulary with ``▁`` and bytes, and its merges."""
    tokeniser = mg.load(sentencepiece_file())
    types = {text: tokeniser.id_of(text) for text in tokeniser.types}
    cuts = ((text[:n], text[n:]) for text in types for n in range(1, len(text)))
    return {"vocab": types, "merges": [cut for cut in cuts if types.keys() >= {*cut}]}


@cache
def sentencepiece_file():
    import tempfile

    path = Path(tempfile.mkdtemp()) / "m.model"
    path.write_bytes(sentencepiece("bpe", **LLAMA))
    return path


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else None
        text = content if isinstance(content, str) else None
        if data is None:
            data = (json.dumps(content) if text is None else text).encode()
        (folder / name).write_bytes(data)
    return folder


def otherwise(theirs, ours):
    """Return the texts that have other ids, with special tokens or without."""
    found = []
    for special in (True, False):
        ids = theirs(SAMPLES, add_special_tokens=special, verbose=False)["input_ids"]
        for text, each in zip(SAMPLES, ids, strict=True):
            if each != ours.encode(text, special_tokens=special):
                found.append(text)
    return found


def read_by_transformers(folder):
    return transformers.AutoTokenizer.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False
    )


@pytest.mark.parametrize("name", FOLDERS)
def test_without_a_tokenizer_json_the_class_decides(name, tmp_path):
    base, settings = FOLDERS[name]
    folder = write(tmp_path / "folder", BASES[base]() | settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = mg.load(folder)
    assert otherwise(read_by_transformers(folder), ours) == []


@pytest.mark.parametrize("name", all_but(SAVED, "RoBERTa", "ELECTRA", "NLLB", "ALBERT"))
def test_a_saved_folder_before_and_after_edits(name, tmp_path):
    class_, given = SAVED[name]()
    made = getattr(transformers, f"{class_}Tokenizer")(**given)
    folder = tmp_path / "folder"
    made.save_pretrained(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = mg.load(folder)
    assert otherwise(read_by_transformers(folder), ours) == []
    if given.get("merges"):
        longest = sorted((text for text in ours.types if text.isalpha()), key=len)[-40::4]
        ours = ours.knock_out_types(longest, portable=True).tokeniser
    exported = ours.export(tmp_path / "out", words=WORDS[:300])
    assert exported.kind == "tokenizer.json"
    assert (exported.checks[-1].number, exported.checks[-1].fine) == (0, True)
    assert otherwise(read_by_transformers(tmp_path / "out"), ours) == []
    assert mg.load(tmp_path / "out").encode(SAMPLES[0]) == ours.encode(SAMPLES[0])


CHAT = [
    {"role": "user", "content": "Der Hund, 2 Häuser  und <image>?"},
    {"role": "assistant", "content": "Ja.\n"},
]
TEMPLATES = {
    "default": "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}<mask>",
    "tool_use": "<image>{{ messages[0]['content'] }}",
}
ROLES = ("bos_token", "eos_token", "pad_token", "mask_token", "unk_token", "image_token")
KEPT = (*ROLES, *(f"{role}_id" for role in ROLES), "chat_template", "response_template")
KEPT += ("all_special_tokens", "model_max_length", "padding_side", "added_tokens_decoder")


def test_a_chat_before_and_after_an_edit(tmp_path):
    """All templates, special tokens and settings stay, and ids where no removed type was."""
    vocabulary, merges = byte_level(*S)
    library = Tokenizer(models.BPE(dict(vocabulary), merges))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=library,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        mask_token="<mask>",
        extra_special_tokens={"image_token": "<image>"},
        model_max_length=77,
        padding_side="left",
    )
    made.chat_template = TEMPLATES
    made.response_template = {"defaults": {"role": "assistant"}}
    made.save_pretrained(tmp_path / "before")

    tokeniser = load_tokeniser(tmp_path / "before")
    before = read_by_transformers(tmp_path / "before")
    chats = [before.apply_chat_template(CHAT, chat_template=name) for name in (None, "tool_use")]
    used = {id_ for chat in chats for id_ in chat["input_ids"]}
    graph = tokeniser.graph
    unused = [n for n in graph.type_ids() if graph.is_removable(n) and n not in used]
    graph.knockout([graph.types[n] for n in unused[-9:]])
    graph.apply(preview_portable(graph))
    tokeniser.id_choice = "keep"
    export_to(Bte(tokeniser), tmp_path / "after", WORDS[:300])

    after = read_by_transformers(tmp_path / "after")
    assert [name for name in KEPT if getattr(after, name) != getattr(before, name)] == []
    for name, chat in zip((None, "tool_use"), chats, strict=True):
        there = after.apply_chat_template(CHAT, chat_template=name)
        assert there["input_ids"] == chat["input_ids"]
    assert after.image_token_id in chats[1]["input_ids"][:1]
    lost = [text for text in vocabulary if after.tokenize(text) != before.tokenize(text)]
    assert len(lost) >= 9
