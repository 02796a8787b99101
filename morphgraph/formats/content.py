"""Read a tokeniser's file, and name the formats that hold none."""

import os
import re
import zlib
from pathlib import Path

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import check_size, read_bytes
from morphgraph.core.limits import FILE_BYTES, TYPES
from morphgraph.formats.gguf import MAGIC

_START = 4096
_BESIDE = "Choose the tokenizer.json or tokenizer.model beside it."
_OTHER = "Choose the file of a tokeniser."
_UNPACK = "Unpack it, and choose the tokeniser's file in it."
_MARKS = {
    rb'(?!GGUF).{5}\x00{3}\{"': ("safetensors, the weights of a model", _BESIDE),
    # By the names of its first files.
    rb"(?=PK\x03\x04).*PK\x03\x04.{26}xl/": ("an Excel workbook", _OTHER),
    rb"(?=PK\x03\x04).*PK\x03\x04.{26}word/": ("a Word document", _OTHER),
    rb"(?=PK\x03\x04).*PK\x03\x04.{26}(\[Content_Types\]\.xml|docProps/|mimetype)": (
        "a document of Office, or another one packed as a zip archive",
        _OTHER,
    ),
    rb"PK\x03\x04": ("a zip archive, as PyTorch's weights are", _UNPACK),
    rb"\x80[\x02-\x05]": ("a pickle of Python's, which could run any code", _BESIDE),
    rb"BZh[1-9]1AY&SY|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!\x1a": (
        "a compressed file",
        _UNPACK,
    ),
    rb"PAR1": ("a Parquet table", _OTHER),
    rb"%PDF-": ("a PDF", _OTHER),
    rb"\x89PNG\r\n": ("a picture (PNG)", _OTHER),
    rb"\xff\xd8\xff": ("a picture (JPEG)", _OTHER),
    rb"GIF8[79]a": ("a picture (GIF)", _OTHER),
    rb"RIFF.{4}WEBP": ("a picture (WebP)", _OTHER),
    rb"RIFF.{4}WAVE": ("a sound (WAV)", _OTHER),
    rb"ID3[\x02-\x04]|\xff[\xfa\xfb\xf2\xf3]": ("a sound (MP3)", _OTHER),
    rb"(OggS|fLaC)\x00": ("a sound (Ogg or FLAC)", _OTHER),
    rb"\x00\x00.{2}ftyp": ("a film or sound (MP4)", _OTHER),
    rb"\x89HDF\r\n": ("HDF5, as weights of Keras", _BESIDE),
    rb"\x93NUMPY": ("an array of NumPy", _OTHER),
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
}
"""By what a file starts with, within the first bytes: what it is, and what to do."""


def check_format(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file's start shows a format that holds no tokeniser."""
    for mark, (what, fix) in _MARKS.items():
        if re.match(mark, data[:_START], re.DOTALL):
            raise FileFormatError(name, "", f"this is {what}", fix)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file, unpacked; of a GGUF file, which may hold a model, the first."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(_START)
            if start.startswith(MAGIC):
                return start + file.read(min(FILE_BYTES.value, FILE_BYTES.public))
    except OSError:
        pass
    else:
        check_format(start, str(path))
    return gunzipped(read_bytes(path), str(path))


def gunzipped(data: bytes, name: str) -> bytes:
    """Return the content of a file that may be packed by gzip, within the limit on files."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    packed = zlib.decompressobj(wbits=31)
    try:
        content = packed.decompress(data, FILE_BYTES.value + 1)
    except zlib.error as error:
        problem = "this is a compressed file, which is damaged"
        raise FileFormatError(name, "", problem, "Download the file again.") from error
    check_size(name, len(content))
    if not packed.eof:
        problem = "this is a compressed file, which is cut off"
        raise FileFormatError(name, "", problem, "Download the file again.")
    return content


_LONGEST = 2_000
"""Bytes of a type; published ones have up to some hundred, mostly spaces."""
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r"))
_BASE64 = re.compile(rb"[\w+/-]{40,}={0,2}\r?", re.A)
_LIST = "Choose a list with one type a line, or another file of a tokeniser."


def check_lines(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file of no known format cannot be a list of types either."""
    start = data[:_START]
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls > 3 and controls > len(start) / 50:
        problem = "this is binary data of an unknown kind, not text"
        raise FileFormatError(name, "", problem, _OTHER)
    TYPES.check(data.count(b"\n"), name)
    lines = data.strip(b"\r\n").split(b"\n")
    longest = max(lines, key=len)
    if all(_BASE64.fullmatch(line[:_START]) for line in lines[:-1] or lines):
        problem = "this looks like data in base64 or hexadecimal digits, not like a list of types"
        raise FileFormatError(name, "", problem, _LIST)
    if len(lines) == 1 and not re.search(rb"[ \t]", longest):
        problem = (
            f"the file has a single line, of {len(longest):,} bytes, which is no list of types"
        )
        raise FileFormatError(name, "", problem, _LIST)
    if len(longest) > _LONGEST:
        place = f"line {lines.index(longest) + 1:,}, read as a list of types"
        raise FileFormatError(name, place, f"{len(longest):,} bytes are no type", _LIST)
