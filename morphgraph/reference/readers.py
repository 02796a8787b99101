"""The registry of reference formats: readers and format detection.

A new format is a function of a line and a test of one (`reference.lines` has several), and one
entry point in the group ``morphgraph.readers``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from morphgraph.core.errors import (
    FileFormatError,
    TokeniserGivenError,
    check_choice,
    check_list,
)
from morphgraph.core.files import checksum as sum_of
from morphgraph.core.files import demo_gold_path, read_bytes
from morphgraph.core.limits import TREE_NODES
from morphgraph.core.packed import ZIP_START, only_member
from morphgraph.core.plugins import Registry
from morphgraph.core.system import without_collection
from morphgraph.core.text import SILVER
from morphgraph.corpus.text_files import PARQUET_START
from morphgraph.formats.opening import is_tokeniser
from morphgraph.reference import lines
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.celex import celex, looks_like_celex
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.morfessor_lines import looks_like_morfessor, read_morfessor
from morphgraph.reference.parquet import as_csv
from morphgraph.reference.plain import ALIASES, cells_of, find_layout, looks_like_plain, read_plain
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    NumberedLine,
    Skips,
    Unusable,
    decode_text,
    drop_long_lines,
    has_mark,
    named_columns,
    nothing_read,
    quoted_cells,
    split_lines,
)
from morphgraph.reference.spelling import notice_on, without_header

DEMO, CATALOGUE = "demo:", "catalogue:"

_SAMPLE = 1000  # lines that detection looks at, evenly spread over the file
_EVIDENCE = 0.1  # share of them that must look like a format with a shape of its own
ONE_AFFIX = "one affix a word"


class FormatNotDetectedError(FileFormatError):
    """A reference in none of the formats, as it looks."""


class Reader(NamedTuple):
    """A format: its label, and how it is read and recognised.

    `row` makes of a line's number and text its row or rows, or of its cells if the format is a
    table whose header names `columns`; other formats `read` all lines, or the bytes of a file, in a
    format that `begins` with these. `looks_like` tests a line; plain, the fallback, has no test
    here. `partial` names
    what a format gives of a word if it does not give all boundaries; `options` are those of
    `read_reference` that it takes. `sign` is what always stands between its morphs. Morphs should
    be those that spell the word if `spells`, which only a format needs that also takes others.
    Text that is not UTF-8 may be in an `encoding` of its own. `faults` of a file's name and layers
    are how that file is partial, and what is known to be wrong with it.
    """

    label: str
    row: Callable[..., SourceRow | list[SourceRow]] | None = None
    looks_like: Callable[[str], bool] | None = None
    columns: tuple[str, ...] = ()
    read: Callable[..., list[Entry]] | None = None
    partial: str = ""
    options: tuple[str, ...] = ()
    begins: bytes = b""
    sign: str = ""
    spells: bool = False
    encoding: str = ""
    faults: Callable[[str, Iterable[str]], tuple[str, str]] | None = None

    def begins_like(self, data: bytes) -> bool:
        """Return whether a file begins as all of this format do."""
        return bool(self.begins) and data.startswith(self.begins)


PLAIN = Reader("Plain: word and morphs", read=read_plain, options=("separator",), spells=True)
CELEX = Reader(
    "CELEX StrucLab",
    celex,
    looks_like_celex,
    options=("include_foreign",),
)
MORPHYNET_DERIVATION = Reader(
    "MorphyNet derivation",
    lines.morphynet_derivation,
    lines.looks_like_morphynet_derivation,
    partial=ONE_AFFIX,
)
SIGMORPHON2022 = Reader(
    "SIGMORPHON 2022 words", lines.sigmorphon2022, lines.looks_like_sigmorphon2022
)
MORPHYNET_INFLECTION = Reader("MorphyNet inflection", lines.inflection, lines.looks_like_inflection)
UNIMORPH = Reader("UniMorph segmentation", lines.inflection)
UNIMORPH_DERIVATION = Reader(
    "UniMorph derivation",
    lines.unimorph_derivation,
    lines.looks_like_unimorph_derivation,
    partial=ONE_AFFIX,
)
MORFESSOR_LISTS = Reader(
    "Morfessor segmentations",
    looks_like=looks_like_morfessor,
    read=read_morfessor,
    sign="+",
)
MORPHSCORE = Reader(
    "MorphScore",
    lines.morphscore,
    columns=lines.MORPHSCORE_COLUMNS,
    partial="one boundary a word",
)
MORPHSCORE2 = Reader(
    "MorphScore 2",
    lines.morphscore2,
    columns=lines.MORPHSCORE_2,
    partial="a stem and what is beside it",
    options=("data_split", "keep_rows"),
)

_ORDER = (
    "plain",
    "celex",
    "morphynet-derivation",
    "sigmorphon2022",
    "morphynet-inflection",
    "unimorph",
    "unimorph-derivation",
    "morfessor",
    "morphscore",
    "morphscore2",
)

READERS = Registry("morphgraph.readers", Reader, first=_ORDER)
"""The formats by name, in the order in which they are tried."""


# ------------------------------------------------------------------------------ detection


def detect_format(listed: Sequence[str], name: str = "reference", separator: str = "") -> str:
    """Detect the format of lines of text; `FormatNotDetectedError` if it is none of `READERS`.

    A header of its own identifies a format at once. Formats with a shape of their own come next:
    one is taken if a tenth of the lines have it. A header that names morphs, or a shape that at
    least half of the lines have, means plain. MorphyNet's and UniMorph's inflections share their
    columns: it is UniMorph's if all segments in the sample concatenate to the form. (Both are read
    alike, so a mistake does no harm.) If a `separator` of morphs is given, the format is one that
    always has it, or plain.
    """
    filled = [line for line in listed if line.strip() and len(line) <= MAX_LINE_CHARACTERS]
    name_of_format = _format_of(filled, separator) if filled else None
    if name_of_format is None:
        problem = "the format cannot be detected from the content"
        fix = f"Use one of: {', '.join(READERS)}; or name the sign between morphs (separator)"
        raise FormatNotDetectedError(name, "", problem, fix, quotes=False)
    return name_of_format


def _format_of(filled: list[str], separator: str) -> str | None:
    sign = separator.strip()
    readers = {name: each for name, each in READERS.items() if not separator or each.sign == sign}
    for candidate, reader in readers.items():
        if reader.columns and named_columns(filled[0], reader.columns):
            return candidate
    sample = _sample_of(filled)
    layout = find_layout(list(enumerate(filled[:_SAMPLE], 1)))
    for candidate, reader in readers.items():
        is_inflection = candidate == "morphynet-inflection"
        if reader.looks_like is None or (is_inflection and layout.has_header):
            continue
        fitting = [line for line in sample if reader.looks_like(line)]
        if fitting and len(fitting) >= _EVIDENCE * len(sample):
            is_surface = is_inflection and not any(map(lines.is_canonical, fitting))
            return "unimorph" if is_surface else candidate
    if separator:
        return "plain"
    if layout.has_header:
        is_plain = len(cells_of(filled[0], layout.separator)) > 1 or len(filled) > 1
    else:
        is_plain = 2 * sum(looks_like_plain(line, layout) for line in sample) >= len(sample)
    return "plain" if is_plain else None


def _sample_of(filled: list[str]) -> list[str]:
    return filled[:: max(1, -(-len(filled) // _SAMPLE))]


# ------------------------------------------------------------------------------ reading


def _lines_of(
    data: bytes, name: str, format: str | None, encoding: str | None
) -> tuple[list[NumberedLine], str]:
    """Return the numbered lines of a file, or "rows" of a table in Parquet.

    Text is read in the encoding of a format only if at least half of it is then of that format.
    """
    is_table = data.startswith(PARQUET_START)
    if is_table:
        named = {*ALIASES, *(text.lower() for r in READERS.values() for text in r.columns)}
        data = as_csv(data, name, named)
    try:
        numbered = split_lines(decode_text(data, name, encoding))
    except FileFormatError as error:
        is_other = isinstance(error.__cause__, UnicodeDecodeError) and not has_mark(data)
        for known, reader in READERS.items() if is_other and encoding is None else ():
            if not reader.encoding or reader.looks_like is None or format not in (None, known):
                continue
            with suppress(FileFormatError):
                numbered = split_lines(decode_text(data, name, reader.encoding))
                sample = _sample_of([line for _, line in numbered])
                if 2 * sum(map(reader.looks_like, sample)) >= max(1, len(sample)):
                    return numbered, "line"
        raise
    if not numbered:
        fix = "Choose a file with one word per line."
        raise FileFormatError(name, "", "the file has only blank lines", fix)
    if not is_table:
        return numbered, "line"
    return [(number - 1, line) for number, line in numbered], "row"  # under the header


def _read_rows(
    reader: Reader, numbered: list[NumberedLine], skips: Skips, **options: Any
) -> list[Entry]:
    """Return the entries of lines of a format of rows."""
    row: Any = partial(reader.row, **options) if reader.row and options else reader.row
    if reader.columns:
        (_, header), *others = numbered
        named = named_columns(header, reader.columns)
        if named is None:
            *first, last = reader.columns
            for number, _ in numbered:
                skips.add(f"no header with {', '.join(first)} and {last}", number)
            return []
        separator, places = named

        def read(number: int, line: str) -> Any:
            cells = quoted_cells(line, separator)
            if len(cells) <= max(places):
                raise Unusable("fewer columns than in the header")
            return row(number, [cells[place] for place in places])

        rows = skips.usable(others, read)
    else:
        rows = skips.usable(numbered, row)
    listed = list(chain.from_iterable(r if type(r) is list else [r] for r in rows))
    if reader.looks_like and not reader.looks_like(numbered[0][1]):
        listed = without_header(listed, numbered, skips)
    return entries_from(listed)


def read_reference(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    format: str | None = None,
    include_foreign: bool = False,
    layer: str | None = None,
    data_split: str | None = None,
    keep_rows: Sequence[str] = (),
    separator: str | None = None,
    encoding: str | None = None,
) -> Reference:
    """Read a gold segmentation from a path, from bytes, or from ``demo:en`` or ``catalogue:NAME``.

    The format is detected from the content unless `format` names one of `READERS`.
    `include_foreign` keeps CELEX entries tagged [F]; `layer` is the UniSegments layer to read,
    by default the first one with types of each word. Of MorphScore 2, `data_split` chooses train,
    dev or test, and `keep_rows` what its filter leaves out: "repeated", "stems" (other than the
    lemma) and "digits". `separator` is what stands between the morphs of a plain file, as + in
    un+break+able, detected where it is clear. Text is UTF-8, or as its byte order mark says, or in
    `encoding`; Morpho Challenge's gold lists may be in windows-1252. A table may be in Parquet.

    Raises `FileFormatError` for a file that is missing, empty, over the limit, binary, not in its
    encoding, of no known format, or without a single entry; lines that cannot be used are counted
    by reason in `skipped`; `notice` says what may have been misread. A missing demo or source is a
    `MorphGraphError`.

    >>> reference = read_reference("unbreakable\\tun break able\\n".encode())
    >>> reference.format, reference.entries[0].morphs
    ('plain', ('un', 'break', 'able'))
    """
    if name is None:
        if isinstance(source, bytes):
            name = "reference"
        else:
            name = str(source) if is_named(source) else Path(source).name
    if data_split is not None:
        check_choice("data_split", data_split, lines.MORPHSCORE_SPLITS)
    for kept in check_list(keep_rows, "rows to keep"):
        check_choice("keep_rows", kept, lines.MORPHSCORE_KEPT)
    language = ""
    if isinstance(source, str) and is_named(source):
        source, known, language = named_reference_file(source)
        format = format or known
    if format is not None and format not in READERS:
        problem, fix = f"the format {format!r} is unknown", f"Use one of: {', '.join(READERS)}"
        more = "others may be in a plug-in: pip install 'morphgraph[readers]'"
        raise FileFormatError(name, "", problem, f"{fix}; {more}")
    data = read_bytes(source, name)
    format = format or next((f for f, r in READERS.items() if r.begins_like(data)), None)
    if format is not None and data.startswith(ZIP_START) and not READERS[format].begins:
        data = only_member(data, name)
    skips, numbered = Skips(), list[NumberedLine]()
    line_count, notice, is_silver, unit = 0, "", False, "row"
    with without_collection(), _tokeniser_named(data, name):
        if format is not None and (read := READERS[format].read) and READERS[format].begins:
            entries = read(data, name, skips)
        else:
            numbered, unit = _lines_of(data, name, format, encoding)
            line_count = numbered[-1][0]
            if numbered[0][1].startswith(SILVER) and len(numbered) > 1:
                name, format, is_silver = f"{name} (silver)", "plain", True
                del numbered[0]
            numbered = drop_long_lines(numbered, skips)
            if format is None:
                listed = [line for _, line in numbered]
                format = detect_format(listed, name, separator or "") if listed else "plain"
            if format == "celex":
                TREE_NODES.check(sum(line.count("(") for _, line in numbered), name)
            reader = READERS[format]
            given = {
                "include_foreign": include_foreign,
                "layer": layer,
                "data_split": data_split,
                "keep_rows": keep_rows,
                "separator": separator,
            }
            options = {option: given[option] for option in reader.options}
            read = reader.read or partial(_read_rows, reader)
            entries = read(numbered, skips, **options) if numbered else []
            if entries and not is_silver:
                notice = notice_on(entries, numbered, reader.spells, unit)
        skipped = skips.sorted()
        if not entries:
            raise nothing_read(name, READERS[format].label, READERS, skipped, unit)
    reader = READERS[format]
    faulty = reader.faults(name, skips.layers) if reader.faults else ("", "")
    return Reference(
        name,
        format,
        tuple(entries),
        skipped,
        sum_of(data),
        reader.partial or faulty[0],
        line_count,
        tuple(skips.unaligned),
        language=language,
        is_silver=is_silver,
        layers=tuple(skips.layers.items()),
        faults=faulty[1],
        notice=notice,
        header=skips.header,
    )


@contextmanager
def _tokeniser_named(data: bytes, name: str) -> Iterator[None]:
    """Where a file cannot be read because it is a tokeniser, say so."""
    try:
        yield
    except FileFormatError as error:
        if not is_tokeniser(data, name):
            raise
        problem = "this is the file of a tokeniser, not words with morphs"
        fix = "Open it as the tokeniser: mg.load, or TOKENISER on the command line."
        raise TokeniserGivenError(name, "", problem, fix, quotes=False) from error


def is_named(source: object) -> bool:
    """Return whether a source is a name such as ``demo:…`` or ``catalogue:…``."""
    return isinstance(source, str) and source.startswith((DEMO, CATALOGUE))


def named_reference_file(source: str) -> tuple[Path, str | None, str]:
    """Return the file of a named reference, its format, and the code of its language, if known.

    `MorphGraphError` for an unknown name, or a source that has not been fetched.
    """
    from morphgraph.reference.catalogue import find_source, local_path

    if source.startswith(DEMO):
        return demo_gold_path(source.removeprefix(DEMO)), None, ""
    entry = find_source(source)
    language = entry.languages[0] if len(entry.languages) == 1 else ""
    return local_path(source), entry.format, language
