"""Read a tokeniser's file, and name the formats that hold none."""

import os
import re
from pathlib import Path

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import read_bytes
from morphgraph.core.limits import FILE_BYTES
from morphgraph.formats.gguf import MAGIC

_START = 4096
_BESIDE = "Choose the tokenizer.json or tokenizer.model beside it."
_UNPACK = "Unpack it, and choose the tokeniser's file in it."
_MARKS = {
    rb'(?!GGUF).{5}\x00{3}\{"': ("safetensors, the weights of a model", _BESIDE),
    rb"PK\x03\x04": ("a zip archive, as PyTorch's weights are", _UNPACK),
    rb"\x80[\x02-\x05]": ("a pickle of Python's, which could run any code", _BESIDE),
    rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd": ("a compressed file", _UNPACK),
    rb"PAR1": ("a Parquet table", "Choose a tokeniser."),
    rb"%PDF-": ("a PDF", "Choose a tokeniser."),
    rb"version https://git-lfs": ("Git LFS's pointer to a file", "Fetch it with git lfs pull."),
    rb"\s*<(?i:!doctype|html)": ("a web page", "Download the raw file instead."),
    rb'\s*\{\s*"error"\s*:\s*"': ("a server's error message", "Download the file again."),
    rb'.*"(pat_str|bpe_ranks)"\s*:\s*"': (
        "a JSON file of ranks, as Claude's old tokeniser",
        "Write its ranks as a .tiktoken file; pat_str is the pattern that this needs.",
    ),
    rb'.*"token_bytes"\s*:\s*"': ("a tekken.json of Mistral's", _BESIDE),
    rb'.*"(architectures|model_type)"\s*:\s*["\[]': ("a model's config.json", _BESIDE),
    rb'.*"(tokenizer_class|added_tokens_decoder|[be]os_token|cls_token)"\s*:\s*["{]': (
        "a file of settings, as tokenizer_config.json, which lists no types",
        _BESIDE,
    ),
    rb'.*"weight_map"\s*:\s*\{': ("the index of a model's weights", _BESIDE),
    rb'\s*\{\s*"format"\s*:\s*"morphgraph recipe"': (
        "a recipe of edits",
        "Choose the tokeniser that it edits, and replay the recipe on it.",
    ),
    rb"<unk>\t[-\d]": ("the list of types of a SentencePiece model", "Choose its .model."),
    rb"\d+ '\\x00' 1\r?\n": ("the vocabulary of RWKV", "Choose a BPE tokeniser."),
    rb"(\S+ \S+ \d+\r?\n){2}": ("the merges of fastBPE", "Choose a tokenizer.json."),
}
"""By what a file starts with, within the first bytes: what it is, and what to do."""


def check_format(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file's start shows a format that holds no tokeniser."""
    for mark, (what, fix) in _MARKS.items():
        if re.match(mark, data[:_START], re.DOTALL):
            raise FileFormatError(name, "", f"this is {what}", fix)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file; of a GGUF file, which may hold a whole model, the first ones."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(_START)
            if start.startswith(MAGIC):
                return start + file.read(FILE_BYTES.value)
    except OSError:
        pass
    else:
        check_format(start, str(path))
    return read_bytes(path)
