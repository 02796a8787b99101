"""The programs that read tokenisers beside ours: what each makes of texts, in another process.

Whatever a program does with a file, it ends with its process, after some time at the latest. No
code of a folder is run, and nothing is fetched.
"""

import importlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from tokenizers import ByteLevelBPETokenizer, Tokenizer

from morphgraph.core.isolated import ProcessEndedError, run_isolated
from morphgraph.core.limits import READING_MEMORY, READING_SECONDS
from morphgraph.core.text import shortened
from morphgraph.formats.opening import RANKS, SENTENCEPIECE, WHOLE

PAIR, TEKKEN, GGUF = "vocabulary and merges", "Tekken", "GGUF"
"""More names of formats, as in `FILE_FORMATS`."""

IdLists = list[list[int]]


class ProgramError(Exception):
    """A program that does not read a file; it says why."""


class ReadFile(NamedTuple):
    """A file that a program has read.

    ``encode``: ids of texts, with what is put around them if the last argument is true; ``parts``:
    the program's own document, where it has one like ``tokenizer.json``.
    """

    encode: Callable[[Sequence[str], bool], IdLists]
    decode: Callable[[IdLists], list[str]]
    parts: Mapping[str, Any] | None = None


class Program(NamedTuple):
    """A program: the formats of files that it reads, and what it does with one.

    ``frames``: whether it puts special tokens around a text by itself; ``sees_special``: whether it
    finds special tokens in a text.
    """

    kinds: tuple[str, ...]
    read: Callable[[str, Mapping[str, Any]], ReadFile] | None = None
    frames: bool = False
    sees_special: bool = True


def _of_library(library: Any, parts: Mapping[str, Any] | None = None) -> ReadFile:
    return ReadFile(
        lambda texts, framed: _ids_of_library(library, texts, framed),
        lambda ids: list(library.decode_batch(ids, skip_special_tokens=False)),
        parts,
    )


def _ids_of_library(library: Any, texts: Sequence[str], framed: bool) -> IdLists:
    library.no_truncation()
    library.no_padding()
    encodings = library.encode_batch_fast(list(texts), add_special_tokens=framed)
    return [one.ids for one in encodings]


def _tokenizers(path: str, told: Mapping[str, Any]) -> ReadFile:
    if not told.get("merges"):
        return _of_library(Tokenizer.from_file(path))
    library = ByteLevelBPETokenizer(path, told["merges"])
    library.add_special_tokens([*told["special"]])
    return _of_library(library._tokenizer)


def _transformers(path: str, told: Mapping[str, Any]) -> ReadFile:
    os.environ |= {"HF_HUB_OFFLINE": "1", "USE_TORCH": "0"}
    transformers: Any = importlib.import_module("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(
        path, local_files_only=True, trust_remote_code=False
    )
    backend = getattr(theirs, "backend_tokenizer", None)
    document = json.loads(backend.to_str()) if backend is not None else None
    if document is not None:
        document["model"] |= {"vocab": {}, "merges": []}
    given: dict[str, Any] = {"padding": False, "truncation": False, "verbose": False}

    def encode(texts: Sequence[str], framed: bool) -> IdLists:
        if backend is not None and len(texts) > _FEW:  # many texts take it long by itself
            return _ids_of_library(backend, texts, framed)
        found = theirs(list(texts), add_special_tokens=framed, **given)
        return [list(ids) for ids in found["input_ids"]]

    def decode(ids: IdLists) -> list[str]:
        plain = {"skip_special_tokens": False, "clean_up_tokenization_spaces": False}
        return [theirs.decode(each, **plain) for each in ids]

    return ReadFile(encode, decode, document)


def _tiktoken(path: str, told: Mapping[str, Any]) -> ReadFile:
    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # which would keep files of one's own by their paths
    tiktoken: Any = importlib.import_module("tiktoken")
    listed = importlib.import_module("tiktoken.load").load_tiktoken_bpe(path)
    ranks = {text: id_ for text, id_ in listed.items() if text}
    special = {t: n for t, n in told["special"].items() if t.encode() not in ranks}
    encoding = tiktoken.Encoding(
        "given", pat_str=told["pattern"], mergeable_ranks=ranks, special_tokens=special
    )
    return ReadFile(
        lambda texts, _: encoding.encode_batch(list(texts), allowed_special="all"),
        lambda ids: [encoding.decode(each) for each in ids],
    )


def _sentencepiece(path: str, told: Mapping[str, Any]) -> ReadFile:
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=path)
    return ReadFile(lambda texts, _: model.encode(list(texts)), lambda ids: model.decode(ids))


def _mistral(path: str, told: Mapping[str, Any]) -> ReadFile:
    tekken: Any = importlib.import_module("mistral_common.tokens.tokenizers.tekken")
    model = tekken.Tekkenizer.from_file(path)
    keep = importlib.import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy.KEEP
    return ReadFile(
        lambda texts, _: [list(model.encode(text, bos=False, eos=False)) for text in texts],
        lambda ids: [model.decode(each, special_token_policy=keep) for each in ids],
    )


_FEW = 1_000
NODE = "node-llama-cpp"
PROGRAMS: Mapping[str, Program] = {
    "tokenizers": Program((WHOLE, PAIR), _tokenizers, frames=True),
    "transformers": Program((), _transformers, frames=True),
    "tiktoken": Program((RANKS,), _tiktoken),
    "sentencepiece": Program((SENTENCEPIECE,), _sentencepiece, sees_special=False),
    "mistral-common": Program((TEKKEN,), _mistral, sees_special=False),
    NODE: Program((GGUF,)),
}
"""The programs by the names of their packages; `transformers` reads folders, llama.cpp in Node."""


def version_of(program: str) -> str:
    """Return the version of a program that is installed; empty for others.

    That of Node is looked for in ``NODE_PATH`` and where npm installs with ``--global``.
    """
    if program == NODE:
        package = _node_package()
        return json.loads((package / "package.json").read_text())["version"] if package else ""
    try:
        return version(program)
    except PackageNotFoundError:
        return ""


def _node_package() -> Path | None:
    """Return the folder of node-llama-cpp; never one below the present folder."""
    node = which("node")
    if node is None:
        return None
    folders = [*filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))]
    folders.append(str(Path(node).resolve().parents[1] / "lib" / "node_modules"))
    found = (Path(each) / NODE for each in folders if Path(each).is_absolute())
    return next((each for each in found if (each / "package.json").is_file()), None)


def ids_by(
    program: str,
    path: Path,
    told: Mapping[str, Any],
    texts: Sequence[str],
    more: Iterable[str] = (),
) -> dict[str, Any]:
    """Return what a program makes of texts: ``plain`` ids, of ``more`` texts, too.

    ``framed``: with special tokens around them; ``decoded``: their plain ids as text; ``parts``:
    see `ReadFile`. ``told``: what a file does not say, and its program has to be told. Raises
    `ProgramError`, also if it takes too long, or ends its process.
    """
    asked = (path, dict(told), list(texts), list(more))
    try:
        if program == NODE:
            return _ids_by_node(*asked)
        found: dict[str, Any] = run_isolated(
            f"{__name__}:_ids_here", program, *asked, seconds=READING_SECONDS, memory=READING_MEMORY
        )
        return found
    except ProcessEndedError as error:
        raise ProgramError(f"its process {error.problem}") from error
    except (RuntimeError, OSError, ValueError) as error:
        raise ProgramError(" ".join(shortened(str(error), 120).split()) or "it fails") from error


def _ids_here(
    program: str, path: str, told: Mapping[str, Any], texts: list[str], more: list[str]
) -> dict[str, Any]:
    known = PROGRAMS[program]
    assert known.read is not None
    read = known.read(path, told)
    plain = read.encode(texts, False)
    return {
        "plain": plain + (read.encode(more, False) if more else []),
        "framed": read.encode(texts, True) if known.frames else [],
        "decoded": read.decode(plain),
        "parts": read.parts,
    }


_SCRIPT = """
import {readFileSync, writeFileSync} from "node:fs";
const {module, path, texts, more, out} = JSON.parse(readFileSync(process.argv[2], "utf8"));
const {getLlama, LlamaLogLevel} = await import(module);
const quiet = {gpu: false, build: "never", logLevel: LlamaLogLevel.disabled, progressLogs: false};
const model = await (await getLlama(quiet)).loadModel({modelPath: path, vocabOnly: true});
const ids = text => Array.from(model.tokenize(text, true));
const first = model.tokens.shouldPrependBosToken ? [model.tokens.bos] : [];
const last = model.tokens.shouldAppendEosToken ? [model.tokens.eos] : [];
const plain = texts.map(ids);
const framed = plain.map(each => [...first, ...each, ...last]);
writeFileSync(out, JSON.stringify({plain: [...plain, ...more.map(ids)], framed}));
process.exit(0);
"""


def _ids_by_node(
    path: Path, told: Mapping[str, Any], texts: list[str], more: list[str]
) -> dict[str, Any]:
    package = _node_package()
    assert package is not None
    module = (package / "dist" / "index.js").as_uri()
    with tempfile.TemporaryDirectory() as folder:
        script, asked, out = (Path(folder, name) for name in ("a.mjs", "asked.json", "out.json"))
        question = {"module": module, "path": str(path.resolve()), "out": str(out)}
        asked.write_text(json.dumps({**question, "texts": texts, "more": more}))
        script.write_text(_SCRIPT)
        try:
            done = subprocess.run(
                ["node", script, asked],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=3 * READING_SECONDS.value,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ProgramError(f"it takes more than {error.timeout:.0f} seconds") from error
        if done.returncode or not out.is_file():
            said = [line for line in done.stderr.splitlines() if "rror" in line] or [""]
            raise ProgramError(f"its process ended with {done.returncode}. {said[0][:120]}".strip())
        return {"decoded": [], "parts": None, **json.loads(out.read_text())}
