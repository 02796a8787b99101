"""A list of types, one a line: the format of any text that is in no other."""

import re

from morphgraph.core.errors import FileFormatError, NotTypesError
from morphgraph.core.files import decode_utf8
from morphgraph.core.signatures import START
from morphgraph.core.text import shortened

_LONGEST = 2_000
"""Bytes of a type; published ones have up to some hundred, mostly spaces."""
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\r"))
_BASE64 = re.compile(rb"[\w+/-]{40,}={0,2}\r?", re.A)
_LIST = "Choose a list with one type per line, or another file of a tokeniser."


def check_lines(data: bytes, name: str) -> None:
    """Raise `FileFormatError` if a file of no known format cannot be a list of types either."""
    start = data[:START]
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls > 3 and controls > len(start) / 50:
        problem = "this is binary data of an unknown kind, not text"
        raise FileFormatError(name, "", problem, "Choose the file of a tokeniser.")
    lines = data.strip(b"\r\n").split(b"\n")
    longest = max(lines, key=len)
    if all(_BASE64.fullmatch(line[:START]) for line in lines[:-1] or lines):
        problem = "this looks like data in base64 or hexadecimal digits, not like a list of types"
        raise FileFormatError(name, "", problem, _LIST)
    if len(lines) == 1 and not re.search(rb"[ \t]", longest):
        problem = f"it is a single line of {len(longest):,} bytes, not a list of types"
        raise FileFormatError(name, "", problem, _LIST)
    if len(longest) > _LONGEST:
        place = f"line {lines.index(longest) + 1:,}, read as a list of types"
        raise FileFormatError(name, place, f"{len(longest):,} bytes are too long for a type", _LIST)


def read_types(data: bytes, name: str) -> dict[str, int]:
    """Return the types of a list with one per line, and their ids; else `FileFormatError`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(name, "line 1", "this is UTF-16", "Save the file as UTF-8.")
    check_lines(data, name)
    whole = decode_utf8(data, name).removesuffix("\n")
    lines, seen = whole.split("\n"), dict[str, int]()
    fix = "Write one type per line."
    if 2 * sum("|" in line[1:-1] for line in lines) > len(lines) > 1:
        problem = "most of its lines have | between others, as segmented words do"
        raise NotTypesError(name, "", problem, fix, data=data)
    is_spaced = re.search(r"[ \t]", whole)
    for number, line in enumerate(lines, start=1):
        text = line.removesuffix("\r")
        if text and text not in seen and not re.search(r"[ \t\0]", text):
            seen[text] = number
            continue
        problem = "the line is empty"
        if text in seen:
            problem = f"“{shortened(text)}” is already in line {seen[text]:,}"
        elif text:
            sign = "space or tab" if re.search(r"[ \t]", text) else "zero byte"
            problem = f"a type cannot contain a {sign}, as “{shortened(text)}” does"
        place = f"line {number:,}, read as a list of types"
        if is_spaced:
            raise NotTypesError(name, place, problem, fix, data=data)
        raise FileFormatError(name, place, problem, fix)
    return {text: number for number, text in enumerate(seen)}
