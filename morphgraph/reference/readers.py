"""The registry of reference formats: readers and format detection.

A new format is a function of a line and a test of one (`reference.lines` has several), and one
entry in `READERS`.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum as sum_of
from morphgraph.core.files import demo_gold_path
from morphgraph.core.limits import TREE_NODES
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.annotated import (
    celex,
    looks_like_celex,
    looks_like_unisegments,
    read_unisegments,
)
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.lines import (
    is_canonical,
    ladec,
    looks_like_inflection,
    looks_like_morpho_challenge,
    looks_like_morphynet_derivation,
    looks_like_sigmorphon2022,
    looks_like_unimorph_derivation,
    morpho_challenge,
    morphscore,
    morphynet_derivation,
    morphynet_inflection,
    sigmorphon2022,
    unimorph_derivation,
    unimorph_inflection,
)
from morphgraph.reference.morpholex import is_zip, read_morpholex
from morphgraph.reference.plain import cells_of, find_layout, looks_like_plain, read_plain
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    NumberedLine,
    Skips,
    Unusable,
    decode_text,
    decode_windows_1252,
    drop_long_lines,
    load_bytes,
    named_columns,
    quoted_cells,
    split_lines,
    usable_rows,
)

DEMO, CATALOGUE = "demo:", "catalogue:"

_SAMPLE = 1000  # lines that detection looks at, evenly spread over the file
_EVIDENCE = 0.1  # share of them that must look like a format with a shape of its own
_ONE_AFFIX = "one affix a word"


class Reader(NamedTuple):
    """A format: its label, and how it is read and recognised.

    `row` makes of a line's number and text its row or rows, or of its cells if the format is a
    table whose header names `columns`; other formats `read` all lines, or the bytes of a file if
    `is_workbook`. `looks_like` tests a line; plain, the fallback, has no test here. `partial` names
    what a format gives of a word if it does not give all boundaries.
    """

    label: str
    row: Callable[[int, Any], SourceRow | list[SourceRow]] | None = None
    looks_like: Callable[[str], bool] | None = None
    columns: tuple[str, ...] = ()
    read: Callable[..., list[Entry]] | None = None
    partial: str = ""
    is_workbook: bool = False


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "plain": Reader("Plain: word and morphs", read=read_plain),
        "celex": Reader("CELEX StrucLab", celex, looks_like_celex),
        "morphynet-derivation": Reader(
            "MorphyNet derivation",
            morphynet_derivation,
            looks_like_morphynet_derivation,
            partial=_ONE_AFFIX,
        ),
        "sigmorphon2022": Reader(
            "SIGMORPHON 2022 words", sigmorphon2022, looks_like_sigmorphon2022
        ),
        "morphynet-inflection": Reader(
            "MorphyNet inflection", morphynet_inflection, looks_like_inflection
        ),
        "unimorph": Reader("UniMorph segmentation", unimorph_inflection, looks_like_inflection),
        "unimorph-derivation": Reader(
            "UniMorph derivation",
            unimorph_derivation,
            looks_like_unimorph_derivation,
            partial=_ONE_AFFIX,
        ),
        "unisegments": Reader("UniSegments", None, looks_like_unisegments, read=read_unisegments),
        "morpho-challenge": Reader(
            "Morpho Challenge", morpho_challenge, looks_like_morpho_challenge
        ),
        "ladec": Reader(
            "LADEC compounds", ladec, columns=("stim", "c1", "c2", "nparses", "correctParse")
        ),
        "morphscore": Reader(
            "MorphScore",
            morphscore,
            columns=("full_word", "pt1", "rest"),
            partial="one boundary a word",
        ),
        "morpholex": Reader("MorphoLex workbook", read=read_morpholex, is_workbook=True),
    }
)

FORMATS: Mapping[str, str] = MappingProxyType({name: r.label for name, r in READERS.items()})
"""The formats by name, with their labels."""


# ------------------------------------------------------------------------------ detection


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
        problem = "the format cannot be detected from the content"
        fix = f"Choose one of: {', '.join(FORMATS)}"
        raise FileFormatError(name, "", problem, fix, quotes=False)
    return found


def _format_of(filled: list[str]) -> str | None:
    for candidate, reader in READERS.items():
        if reader.columns and named_columns(filled[0], reader.columns):
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


# ------------------------------------------------------------------------------ reading


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
        sample = _sample_of([line for _, line in split_lines(text or "")])
        if not sample or 2 * sum(map(looks_like_morpho_challenge, sample)) < len(sample):
            raise
        return text or ""


def _read_rows(
    reader: Reader, lines: list[NumberedLine], skips: Skips, include_foreign: bool
) -> list[Entry]:
    """Return the entries of lines of a format of rows."""
    row: Any = reader.row
    if row is celex:
        row = partial(celex, include_foreign=include_foreign)
    if reader.columns:
        (_, header), *others = lines
        found = named_columns(header, reader.columns)
        if found is None:
            *first, last = reader.columns
            for number, _ in lines:
                skips.add(f"no header with {', '.join(first)} and {last}", number)
            return []
        lines, row = others, partial(_of_cells, *found, row)
    rows = usable_rows(lines, skips, row)
    return entries_from(list(chain.from_iterable(r if type(r) is list else [r] for r in rows)))


def _of_cells(
    separator: str, places: list[int], row: Callable[..., Any], number: int, line: str
) -> Any:
    cells = quoted_cells(line, separator)
    if len(cells) <= max(places):
        raise Unusable("fewer columns than in the header")
    return row(number, [cells[place] for place in places])


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
    skips, line_count = Skips(), 0
    if format is None and is_zip(data):
        format = "morpholex"
    with _paused_garbage_collector():
        if format is not None and READERS[format].is_workbook:
            entries = read_morpholex(data, name, skips)
        else:
            lines = split_lines(_text_of(data, name, format, encoding))
            if not lines:
                fix = "Choose a file with one word a line."
                raise FileFormatError(name, "", "the file holds blank lines only", fix)
            line_count = lines[-1][0]
            lines = drop_long_lines(lines, skips)
            if format is None:
                format = detect_format([line for _, line in lines], name) if lines else "plain"
            if format == "celex":
                TREE_NODES.check(sum(line.count("(") for _, line in lines), name)
            read = READERS[format].read
            if read is read_unisegments:
                read = partial(read_unisegments, layer=layer)
            elif read is None:
                read = partial(_read_rows, READERS[format], include_foreign=include_foreign)
            entries = read(lines, skips) if lines else []
    skipped, unaligned = skips.sorted(), tuple(skips.unaligned)
    if not entries:
        raise _nothing_read(name, format, skips)
    about = sum_of(data), READERS[format].partial, line_count, unaligned
    return Reference(name, format, tuple(entries), skipped, *about)


def _nothing_read(name: str, format: str, skips: Skips) -> FileFormatError:
    skipped, unit = skips.sorted(), "row" if READERS[format].is_workbook else "line"
    reasons = "; ".join(f"{s.count:,} × {s.reason} (first: {unit} {s.first_line})" for s in skipped)
    return FileFormatError(
        name,
        f"{unit} {skipped[0].first_line}" if skipped else "",
        f"no {unit} can be read as {FORMATS[format]}: " + (reasons or "there is only a header"),
        f"Check the file, or choose another format: {', '.join(FORMATS)}",
        quotes=unit != "line",  # rows are named with their sheet
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
    from morphgraph.reference.catalogue import find_source, local_path

    if source.startswith(DEMO):
        return demo_gold_path(source.removeprefix(DEMO)), None
    return local_path(source), find_source(source).format
