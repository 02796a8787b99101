"""Read a tokeniser's file, and name the formats that hold none."""

import os
import re
from pathlib import Path

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import read_bytes
from morphgraph.core.limits import FILE_BYTES, TYPES
from morphgraph.core.packed import unpacked
from morphgraph.core.signatures import START, recognised
from morphgraph.formats.gguf import MAGIC


def check_format(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file's start shows a format that holds no tokeniser."""
    what, fix = recognised(data, "tokeniser")
    if what:
        raise FileFormatError(name, "", f"this is {what}", fix)


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file, unpacked; of a GGUF file, which may hold a model, the first."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(START)
            if start.startswith(MAGIC):
                return start + file.read(min(FILE_BYTES.value, FILE_BYTES.public))
    except OSError:
        pass
    else:
        check_format(start, str(path))
    return gunzipped(read_bytes(path), str(path))


def gunzipped(data: bytes, name: str) -> bytes:
    """Return the content of a file that may be packed by gzip, within the limit on files."""
    return unpacked(data, name) if data.startswith(b"\x1f\x8b") else data


_LONGEST = 2_000
"""Bytes of a type; published ones have up to some hundred, mostly spaces."""
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r"))
_BASE64 = re.compile(rb"[\w+/-]{40,}={0,2}\r?", re.A)
_LIST = "Choose a list with one type a line, or another file of a tokeniser."


def check_lines(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file of no known format cannot be a list of types either."""
    start = data[:START]
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls > 3 and controls > len(start) / 50:
        problem = "this is binary data of an unknown kind, not text"
        raise FileFormatError(name, "", problem, "Choose the file of a tokeniser.")
    TYPES.check(data.count(b"\n"), name)
    lines = data.strip(b"\r\n").split(b"\n")
    longest = max(lines, key=len)
    if all(_BASE64.fullmatch(line[:START]) for line in lines[:-1] or lines):
        problem = "this looks like data in base64 or hexadecimal digits, not like a list of types"
        raise FileFormatError(name, "", problem, _LIST)
    if len(lines) == 1 and not re.search(rb"[ \t]", longest):
        problem = f"it has a single line, of {len(longest):,} bytes, which is no list of types"
        raise FileFormatError(name, "", problem, _LIST)
    if len(longest) > _LONGEST:
        place = f"line {lines.index(longest) + 1:,}, read as a list of types"
        raise FileFormatError(name, place, f"{len(longest):,} bytes are no type", _LIST)
