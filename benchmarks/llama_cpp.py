"""The ids that llama.cpp gives texts by the GGUF files that we write, held against others' ids.

It needs Node and node-llama-cpp, which has llama.cpp itself: ``npm i --ignore-scripts
node-llama-cpp`` in the folder that ``--node`` names. The files to be copied are written by `gguf`,
of llama.cpp, and have a tensor.
"""

import gzip
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import wordfreq
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import Tokenizer

import morphgraph as mg
from benchmarks import ROOT, data, table
from morphgraph.core.text import shortened
from morphgraph.formats.export import words_to_check
from morphgraph.formats.framing import known_ids
from morphgraph.formats.gguf_writing import gguf_blocks
from morphgraph.formats.hugging_face import to_document, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.pipeline_parts import byte_level_parts

RANKS = "tokenizers/tiktoken"
NAMES = {
    "GPT-2": ("gpt-2", "tokenizers/gpt2"),
    "Qwen 2.5": ("qwen2", "tokenizers/qwen2.5"),
    "o200k": ("gpt-4o", f"{RANKS}/o200k_base.tiktoken"),
    "as Llama 3": ("llama-bpe", f"{RANKS}/cl100k_base.tiktoken"),
    "SentencePiece": ("default", ""),
}
"""The name of each pre-tokeniser in llama.cpp, and the file of the public data."""
_KINDS = {"IsUnknown": 2, "IsControl": 3, "IsUnused": 5, "IsByte": 6}
_PROGRAM = """
import {readFileSync, writeFileSync} from "node:fs";
import {getLlama, LlamaLogLevel} from "node-llama-cpp";
const {texts, files, out} = JSON.parse(readFileSync(process.argv[2], "utf8"));
const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.disabled});
const ids = [];
for (const modelPath of files) {
  const model = await llama.loadModel({modelPath, vocabOnly: true});
  ids.push(texts.map(text => model.tokenize(text, false)));
  await model.dispose();
}
writeFileSync(out, JSON.stringify(ids));
process.exit(0);
"""


def llama_cpp(node: str = ".", only: str = "", texts: int = 3_000, prunes: int = 500) -> None:
    """Compare ids before any edit, and after edits on the texts that are alike before."""
    if not (Path(node) / "node_modules/node-llama-cpp").is_dir():
        print("There is no node-llama-cpp: install it, and name its folder with --node.")
        return
    chosen = _texts(texts)
    rows: list[tuple[object, ...]] = []
    others: list[tuple[str, ...]] = []
    for name in NAMES if not only else [only]:
        with tempfile.TemporaryDirectory() as folder:
            _compare(name, Path(node).resolve(), Path(folder), chosen, prunes, rows, others)
    numbers = ["types {:,}", "texts {:,}", "same ids {:,}"]
    table(["tokeniser", "edit", "file", *numbers], rows)
    print(f"\n{len(others):,} texts that llama.cpp cuts otherwise before any edit\n")
    table(["tokeniser", "text", "others", "llama.cpp"], others)


def _compare(
    name: str,
    node: Path,
    folder: Path,
    texts: Sequence[str],
    prunes: int,
    rows: list[tuple[object, ...]],
    others: list[tuple[str, ...]],
) -> None:
    pre, path = NAMES[name]
    source = {"as Llama 3": _as_llama, "SentencePiece": _pieces}.get(name, lambda _: data(path))
    file = source(folder)
    first, gold = mg.load(file), mg.read_gold("demo:en")
    model = folder / "model.gguf"
    _write_model(model, pre, file)
    learned: dict[str, Any] = {"holdout": 0, "portable": True}
    edited = {
        "none": first,
        "knockout, portable": first.knock_out(gold, **learned).tokeniser,
        "pruning": first.prune(prunes, counts="wordfreq:en", ids="keep").tokeniser,
        "ReBPE, portable": first.rebpe(gold, **learned).tokeniser,
    }
    cases = [(edit, form) for form in ("copy", "alone") for edit in edited]
    cases.remove(("ReBPE, portable", "copy"))  # the model has no rows for its new types
    for number, (edit, form) in enumerate(cases):
        with model.open("rb") as copied:
            given = copied if form == "copy" else None
            merges = edited[edit]._merges("GGUF")
            blocks = gguf_blocks(merges, words_to_check([], 1_000), given, str(model))
            (folder / f"{number}.gguf").write_bytes(b"".join(blocks))
        if form == "copy":
            _check_copy(model, folder / f"{number}.gguf")
    expected = {edit: _expected(file, edit, made, texts) for edit, made in edited.items()}
    files = [str(model), *(str(folder / f"{number}.gguf") for number in range(len(cases)))]
    told = {"texts": texts, "files": files, "out": str(folder / "ids.json")}
    (folder / "told.json").write_text(json.dumps(told))
    (folder / "ids.mjs").write_text(_PROGRAM)
    (folder / "node_modules").symlink_to(node / "node_modules")
    subprocess.run(["node", folder / "ids.mjs", folder / "told.json"], check=True)
    before, *found = json.loads((folder / "ids.json").read_text())
    alike = [ours == theirs for ours, theirs in zip(expected["none"], before, strict=True)]
    rows.append((name, "none", "by gguf", len(first), len(texts), sum(alike)))
    for (edit, form), theirs in zip(cases, found, strict=True):
        triples = zip(expected[edit], theirs, alike, strict=True)
        compared = [(ours, there) for ours, there, fine in triples if fine]
        same = sum(ours == there for ours, there in compared)
        rows.append((name, edit, form, len(edited[edit]), len(compared), same))
    for text, ours, theirs, fine in zip(texts, expected["none"], before, alike, strict=True):
        if not fine:
            others.append((name, shortened(repr(text), 40), str(ours[:6]), str(theirs[:6])))


def _expected(file: Path, edit: str, made: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the ids by another program; those of edited SentencePiece are ours."""
    if file.suffix != ".model":
        library = Tokenizer.from_str(to_tokenizer_json(made._merges("GGUF"))[0].decode())
        return [one.ids for one in library.encode_batch(texts, add_special_tokens=False)]
    if edit == "none":
        return SentencePieceProcessor(model_file=str(file)).encode(list(texts))
    return [made.encode(text, special_tokens=False) for text in texts]


def _as_llama(folder: Path) -> Path:
    """Write a tokeniser that cuts text, and leaves whole what is a type, as Llama 3 does."""
    document = to_document(load_tokeniser(data(NAMES["as Llama 3"][1])))[0]
    document = {**document, **byte_level_parts("llama3")}
    document["model"]["ignore_merges"] = True
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _pieces(folder: Path) -> Path:
    """Train a SentencePiece model as Llama 2 has it."""
    SentencePieceTrainer.train(
        sentence_iterator=iter(_captions("train")[:40_000]),
        model_prefix=str(folder / "pieces"),
        model_type="bpe",
        vocab_size=8_000,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    return folder / "pieces.model"


def _write_model(path: Path, pre: str, file: Path) -> None:
    """Write a model with a tensor by the library of llama.cpp."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_pre(pre)
    if file.suffix == ".model":
        pieces = SentencePieceProcessor(model_file=str(file))
        numbers = range(pieces.vocab_size())
        writer.add_tokenizer_model("llama")
        writer.add_token_list([pieces.IdToPiece(n) for n in numbers])
        writer.add_token_scores([pieces.GetScore(n) for n in numbers])
        kinds = [
            next((kind for ask, kind in _KINDS.items() if getattr(pieces, ask)(n)), 1)
            for n in numbers
        ]
    else:
        loaded = load_tokeniser(file)
        document = to_document(loaded)[0]
        types = {number: text for text, number in known_ids(document).items()}
        rows = [types.get(n, f"[PAD{n}]") for n in range(1 + max(types))]
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(rows)
        merges = document["model"]["merges"]
        writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
        kinds = [3 if t in loaded.special else 1 if n in types else 5 for n, t in enumerate(rows)]
    writer.add_token_types(kinds)
    writer.add_tensor("weights", np.arange(1_000, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _check_copy(model: Path, copy: Path) -> None:
    """Stop unless a copy has the tensors and all fields but those of the tokeniser's types."""
    before, after = gguf.GGUFReader(model), gguf.GGUFReader(copy)
    assert before.tensors[0].data.tobytes() == after.tensors[0].data.tobytes()
    assert list(before.fields) == list(after.fields)
    for name, field in before.fields.items():
        if not name.endswith(("tokens", "token_type", "merges", "scores")):
            assert field.contents() == after.fields[name].contents(), name


def _captions(part: str) -> list[str]:
    lines: list[str] = []
    for language in ("de", "en"):
        with gzip.open(data(f"text/multi30k/{part}.{language}.gz"), "rt", encoding="utf-8") as file:
            lines += map(str.strip, file)
    return lines


def _texts(count: int) -> list[str]:
    """Return captions, code, other scripts, emoji and runs of spaces, in equal shares but code.

    None has the name of a special token, which is one to some programs and text to others.
    """
    draw, share = random.Random(1), count // 6
    captions = _captions("val")
    code = "".join(path.read_text("utf-8") for path in sorted(ROOT.glob("morphgraph/*/*.py")))
    code = re.sub("</?s>|<unk>", "", code)
    words = {
        lang: wordfreq.top_n_list(lang, 5_000) for lang in ("en", "de", "zh", "ja", "ko", "ar")
    }
    emoji = [chr(0x1F300 + n) for n in range(700)] + ["👩‍👩‍👧", "🇩🇪", "👍🏽", "❤️"]
    gaps = [" ", "  ", "   ", "\t", "\n", "\n\n", " \n", "\r\n", "\u00a0", "\u3000", " " * 16]

    def mixed(languages: Sequence[str], between: Sequence[str]) -> Iterator[str]:
        while True:
            chosen = (draw.choice(words[draw.choice(languages)]) for _ in range(8))
            yield "".join(f"{word}{draw.choice(between)}" for word in chosen)

    starts = (draw.randrange(len(code) - 300) for _ in range(share))
    texts = [*draw.sample(captions, count - 5 * share), *(code[n : n + 300] for n in starts)]
    for languages, between in (
        (("zh", "ja", "ko"), ("", " ", "，", "。")),
        (("ar",), (" ", "، ", ". ")),
        (("en", "de"), [*emoji, " "]),
        (("en", "de", "zh"), gaps),
    ):
        drawn = mixed(languages, between)
        texts += [next(drawn) for _ in range(share)]
    return texts
