"""The registry of reference formats: readers and format detection.

A new format is one file with a reader `(lines, skips) -> entries` and a test of a line or header,
and one row in `READERS`. A format that is not text has a reader `(bytes, name, skips) -> entries`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum as sum_of
from morphgraph.core.limits import TREE_NODES
from morphgraph.reference.celex import looks_like_celex, read_celex
from morphgraph.reference.derivation import (
    looks_like_morphynet_derivation,
    looks_like_unimorph_derivation,
    read_morphynet_derivation,
    read_unimorph_derivation,
)
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.inflection import (
    is_canonical,
    looks_like_inflection,
    read_morphynet_inflection,
    read_unimorph,
)
from morphgraph.reference.ladec import LADEC, read_ladec
from morphgraph.reference.morpho_challenge import (
    looks_like_morpho_challenge,
    read_morpho_challenge,
)
from morphgraph.reference.morpholex import read_morpholex
from morphgraph.reference.morphscore import MORPHSCORE_LIST, read_morphscore
from morphgraph.reference.plain import cells_of, find_layout, looks_like_plain, read_plain
from morphgraph.reference.sigmorphon import looks_like_sigmorphon2022, read_sigmorphon2022
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    NumberedLine,
    Skips,
    decode_text,
    decode_windows_1252,
    drop_long_lines,
    load_bytes,
    split_lines,
)
from morphgraph.reference.unisegments import looks_like_unisegments, read_unisegments
from morphgraph.reference.workbook import is_zip

DEMO, CATALOGUE = "demo:", "catalogue:"

_SAMPLE = 1000  # lines that detection looks at, evenly spread over the file
_EVIDENCE = 0.1  # share of them that must look like a format with a shape of its own
_ONE_AFFIX = "one affix a word"


class Reader(NamedTuple):
    """A format: its label, its reader, and what distinguishes it from the others.

    `looks_like` tests a line, `is_header` the first line, `is_binary` the first bytes. A text
    format has `read`, a binary one `read_bytes`. Plain, the fallback, has no test here. `partial`
    names what a format gives of a word if it does not give all boundaries.
    """

    label: str
    read: Callable[[list[NumberedLine], Skips], list[Entry]] | None = None
    looks_like: Callable[[str], bool] | None = None
    is_header: Callable[[str], bool] | None = None
    read_bytes: Callable[[bytes, str, Skips], list[Entry]] | None = None
    is_binary: Callable[[bytes], bool] | None = None
    partial: str = ""


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "plain": Reader("Plain: word and morphs", read_plain),
        "celex": Reader("CELEX StrucLab", read_celex, looks_like_celex),
        "morphynet-derivation": Reader(
            "MorphyNet derivation",
            read_morphynet_derivation,
            looks_like_morphynet_derivation,
            partial=_ONE_AFFIX,
        ),
        "sigmorphon2022": Reader(
            "SIGMORPHON 2022 words", read_sigmorphon2022, looks_like_sigmorphon2022
        ),
        "morphynet-inflection": Reader(
            "MorphyNet inflection", read_morphynet_inflection, looks_like_inflection
        ),
        "unimorph": Reader("UniMorph segmentation", read_unimorph, looks_like_inflection),
        "unimorph-derivation": Reader(
            "UniMorph derivation",
            read_unimorph_derivation,
            looks_like_unimorph_derivation,
            partial=_ONE_AFFIX,
        ),
        "unisegments": Reader("UniSegments", read_unisegments, looks_like_unisegments),
        "morpho-challenge": Reader(
            "Morpho Challenge", read_morpho_challenge, looks_like_morpho_challenge
        ),
        "ladec": Reader("LADEC compounds", read_ladec, is_header=LADEC.is_header),
        "morphscore": Reader(
            "MorphScore",
            read_morphscore,
            is_header=MORPHSCORE_LIST.is_header,
            partial="one boundary a word",
        ),
        "morpholex": Reader("MorphoLex workbook", read_bytes=read_morpholex, is_binary=is_zip),
    }
)

FORMATS: Mapping[str, str] = MappingProxyType({name: r.label for name, r in READERS.items()})
"""The formats by name, with their labels."""


def detect_format(lines: Sequence[str], name: str = "reference") -> str:
    """Detect the format of lines of text; raises `FileFormatError` if it is none of the `FORMATS`.

    A header of its own identifies a format at once. Formats with a shape of their own come next:
    one is taken if a tenth of the lines have it. A header that names morphs, or a shape that at
    least half of the lines have, means plain. MorphyNet's and UniMorph's inflections share their
    columns: it is UniMorph's if all segments in the sample concatenate to the form. (Both are read
    alike, so a mistake does no harm.)

    >>> detect_format(["enthrallments\\ten @@thrall @@ment @@s\\t110"])
    'sigmorphon2022'
    """
    filled = [line for line in lines if line.strip() and len(line) <= MAX_LINE_CHARACTERS]
    found = _format_of(filled) if filled else None
    if found is None:
        raise FileFormatError(
            name,
            "",
            "the format cannot be detected from the content",
            f"Choose one of: {', '.join(FORMATS)}",
            quotes=False,
        )
    return found


def _format_of(filled: list[str]) -> str | None:
    for candidate, reader in READERS.items():
        if reader.is_header is not None and reader.is_header(filled[0]):
            return candidate
    sample = _sample_of(filled)
    layout = find_layout(list(enumerate(filled[:_SAMPLE], 1)))
    for candidate, reader in READERS.items():
        if reader.looks_like is None or candidate == "unimorph":
            continue
        fitting = [line for line in sample if reader.looks_like(line)]
        if not fitting or len(fitting) < _EVIDENCE * len(sample):
            continue
        if reader.looks_like is looks_like_inflection and layout.has_header:
            continue
        if candidate == "morphynet-inflection" and not any(map(is_canonical, fitting)):
            return "unimorph"
        return candidate
    if layout.has_header:
        is_plain = len(cells_of(filled[0], layout.separator)) > 1 or len(filled) > 1
    else:
        is_plain = 2 * sum(looks_like_plain(line, layout) for line in sample) >= len(sample)
    return "plain" if is_plain else None


def _sample_of(filled: list[str]) -> list[str]:
    return filled[:: max(1, -(-len(filled) // _SAMPLE))]


@contextmanager
def _paused_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector: entries form no cycles, and scanning them is slow."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _text_of(data: bytes, name: str, format: str | None, encoding: str | None) -> str:
    """Return a file's text; windows-1252 only if at least half of it is Morpho Challenge's."""
    try:
        return decode_text(data, name, encoding)
    except FileFormatError as error:
        is_other = isinstance(error.__cause__, UnicodeDecodeError)
        if not is_other or encoding is not None or format not in (None, "morpho-challenge"):
            raise
        text = decode_windows_1252(data)
        if text is None:
            raise
        sample = _sample_of([line for _, line in split_lines(text)])
        if 2 * sum(map(looks_like_morpho_challenge, sample)) < max(1, len(sample)):
            raise
        return text


def _read_lines(
    lines: list[NumberedLine],
    name: str,
    format: str | None,
    include_foreign: bool,
    layer: str | None,
    skips: Skips,
) -> tuple[str, list[Entry]]:
    """Return the format, detected unless given, and the entries of the lines."""
    if not lines:
        raise FileFormatError(
            name, "", "the file holds blank lines only", "Choose a file with one word a line."
        )
    lines = drop_long_lines(lines, skips)
    if not lines:
        return format or "plain", []
    if format is None:
        format = detect_format([line for _, line in lines], name)
    if format == "celex":
        TREE_NODES.check(sum(line.count("(") for _, line in lines), name)
        return format, read_celex(lines, skips, include_foreign)
    if format == "unisegments":
        return format, read_unisegments(lines, skips, layer)
    read = READERS[format].read
    return format, read(lines, skips) if read is not None else []


def read_reference(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    format: str | None = None,
    include_foreign: bool = False,
    layer: str | None = None,
    encoding: str | None = None,
) -> Reference:
    """Read a gold segmentation from a path, from bytes, or from ``demo:en`` or ``catalogue:NAME``.

    The format is detected from the content unless `format` names one of `FORMATS`.
    `include_foreign` keeps CELEX entries tagged [F]; `layer` is the UniSegments layer to read,
    by default the first one of each word. Text is UTF-8, or as its byte order mark says,
    or in `encoding`; Morpho Challenge's gold lists may be in windows-1252.

    Raises `FileFormatError` for a file that is missing, empty, over 100 MB, binary, not in its
    encoding, of no known format, or without a single entry; lines that cannot be used are counted
    by reason in `skipped`. A missing demo or source is a `MorphGraphError`.

    >>> reference = read_reference("unbreakable\\tun break able\\n".encode())
    >>> reference.format, reference.entries[0].morphs
    ('plain', ('un', 'break', 'able'))
    """
    if name is None:
        if isinstance(source, bytes):
            name = "reference"
        else:
            name = str(source) if is_named(source) else Path(source).name
    if format is not None and format not in READERS:
        problem, fix = f"the format {format!r} is unknown", f"Choose one of: {', '.join(FORMATS)}"
        raise FileFormatError(name, "", problem, fix)
    if isinstance(source, str) and is_named(source):
        source, known = named_reference_file(source)
        format = format or known
    data = load_bytes(source, name)
    if format is None:
        tests = ((each, reader.is_binary) for each, reader in READERS.items())
        format = next((each for each, test in tests if test is not None and test(data)), None)
    skips, line_count = Skips(), 0
    with _paused_garbage_collector():
        if format is not None and (read_bytes := READERS[format].read_bytes) is not None:
            entries = read_bytes(data, name, skips)
        else:
            lines = split_lines(_text_of(data, name, format, encoding))
            line_count = lines[-1][0] if lines else 0
            format, entries = _read_lines(lines, name, format, include_foreign, layer, skips)
    unaligned = tuple(entry for entry in entries if not entry.morphs)
    entries = [entry for entry in entries if entry.morphs] if unaligned else entries
    skipped = skips.sorted()
    if not entries:
        unit = "line" if READERS[format].read is not None else "row"
        reasons = "; ".join(
            f"{s.count:,} × {s.reason} (first: {unit} {s.first_line})" for s in skipped
        )
        raise FileFormatError(
            name,
            f"{unit} {skipped[0].first_line}" if skipped else "",
            f"no {unit} can be read as {FORMATS[format]}: " + (reasons or "there is only a header"),
            f"Check the file, or choose another format: {', '.join(FORMATS)}",
            quotes=unit != "line",  # rows are named with their sheet
        )
    checksum = sum_of(data)
    return Reference(
        name,
        format,
        tuple(entries),
        skipped,
        checksum,
        READERS[format].partial,
        line_count,
        unaligned,
    )


def is_named(source: object) -> bool:
    """Return whether a source is a name such as ``demo:…`` or ``catalogue:…``."""
    return isinstance(source, str) and source.startswith((DEMO, CATALOGUE))


def named_reference_file(source: str) -> tuple[Path, str | None]:
    """Return the file of a named reference, and its format if the catalogue knows it.

    `MorphGraphError` for an unknown name, or a source that has not been fetched.

    >>> named_reference_file("demo:en")[0].name
    'en.tsv'
    """
    from morphgraph.core.demos import demo_gold_path
    from morphgraph.reference.catalogue import find_source
    from morphgraph.reference.downloads import local_path

    if source.startswith(DEMO):
        return demo_gold_path(source.removeprefix(DEMO)), None
    return local_path(source), find_source(source).format
