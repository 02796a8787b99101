"""The plain format: a word and its morphs, and this project's extension of it.

`word⇥morphs separated by spaces`, also with counts, with whole words or kinds in columns that a
header names, and as `un|break|able` or with other signs in between. Hyphens may mark bound morphs,
`un- break -able`: they are marks where the morphs do not concatenate to the word with them
(docs/reference/formats.md).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.files import checksum
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import LARGEST_COUNT
from morphgraph.reference.align import HYPHENS, SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry, MorphemeKind, Reference, pieces
from morphgraph.reference.lists import LIST_SIGNS, begins_list, strings_in
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    is_number,
    is_word,
    quoted_cells,
    tab_cells,
)
from morphgraph.reference.spelling import without_header

ALIASES = {
    "word": "word", "form": "word", "surface": "word", "wordform": "word", "word_form": "word",
    "morphs": "morphs", "morph": "morphs", "morphemes": "morphs", "segmentation": "morphs",
    "segments": "morphs", "segmented": "morphs", "analysis": "morphs", "gold": "morphs",
    "whole_words": "whole_words", "whole_word": "whole_words", "wholewords": "whole_words",
    "count": "count", "counts": "count", "freq": "count", "frequency": "count",
    "kinds": "kinds", "kind": "kinds",
}  # fmt: skip
_KINDS: dict[str, MorphemeKind | None] = {**{k.value: k for k in MorphemeKind}, "none": None}


_SIGNS = "+-=~.·•:/_#*&^%$!"
"""What may stand between morphs, apart from spaces and |."""
_TABLE = "\t;,"
_QUOTED_LIST = re.compile(r"""(?:^|\t)"[\[(](?:'|"")""")


class Layout(NamedTuple):
    """The layout of a plain file: its separator ("" for one column) and each column's index.

    ``between``: the sign between morphs, if it is neither a space nor |.
    """

    separator: str
    columns: dict[str, int]
    has_header: bool
    between: str = ""

    def cell(self, cells: Sequence[str], role: str) -> str:
        """Return the cell of a column, "" where the line has none."""
        at = self.columns.get(role, len(cells))
        return cells[at] if at < len(cells) else ""

    def morphs_of(self, cells: Sequence[str]) -> tuple[str, list[str]]:
        """Return a word and its morphs: those of a list, or divided by spaces, or else by |.

        A bar is a letter if the morphs concatenate to the word with it. Without a column of words,
        the morphs spell the word.
        """
        word, cell = self.cell(cells, "word"), self.cell(cells, "morphs")
        parts = cell.split()
        may_list = cell.startswith(LIST_SIGNS) and "".join(parts) != word
        listed = strings_in(cell) if may_list else None
        if listed is not None:
            parts = listed
        elif self.between and cell != word:
            parts = cell.replace(self.between, " ").split()
        elif len(parts) == 1 and parts[0] != word:
            parts = [part for part in parts[0].split("|") if part] if "|" in parts[0] else parts
        return word if "word" in self.columns else "".join(parts), parts

    def rows(self, lines: list[NumberedLine]) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and cells of each line after the header."""
        for number, line in lines[self.has_header :]:
            yield number, cells_of(line, self.separator)


def cells_of(line: str, separator: str) -> list[str]:
    """Return a line's stripped cells; quotes count in `,` and `;` files, and around a list.

    A separator that is none of tables' divides a line once.
    """
    if separator and separator not in _TABLE:
        return [cell.strip() for cell in line.split(separator, 1)]
    if not separator:
        return [line.strip()]
    if separator == "\t" and not ('"' in line and _QUOTED_LIST.search(line)):
        return tab_cells(line)
    return quoted_cells(line, separator)


def header_columns(cells: list[str]) -> dict[str, int] | None:
    """Return the columns that a header names, or None if the cells are not a header."""
    columns: dict[str, int] = {}
    for i, cell in enumerate(cells):
        role = ALIASES.get(re.sub(r"[ -]", "_", cell.lower()))
        if role is not None:
            columns.setdefault(role, i)
    named = "morphs" in columns and ("word" in columns or len(cells) == 1)
    return columns if named else None


def find_layout(lines: list[NumberedLine], between: str | None = None) -> Layout:
    """Detect the layout from the first line and the majority of the first 1,000.

    Without a header, a third column holds counts, or whole words if it mostly concatenates to the
    first. Morphs have a sign ``between`` if one is given, or if most of them spell the word without
    it.
    """
    sample = [line for _, line in lines[:1000]]
    layout = _columns_of(sample)
    if between is None and "word" in layout.columns:
        rows = [cells_of(line, layout.separator) for line in sample[layout.has_header :]]
        pairs = [(layout.cell(row, "word"), layout.cell(row, "morphs")) for row in rows]
        divided = [(word, cell) for word, cell in pairs if cell and cell != word]
        signs = Counter(filter(None, (_sign_between(*pair) for pair in divided)))
        between = next((sign for sign, n in signs.most_common(1) if 2 * n > len(divided)), None)
    return layout._replace(between=between or "")


def _sign_between(word: str, cell: str) -> str:
    """Return the sign without which a cell spells the word, "" if there is none.

    Beside spaces a hyphen has to stand alone, as it may be a mark there.
    """
    parts = cell.split()
    joined = "".join(parts)
    for sign in _SIGNS:
        if sign in joined and joined.replace(sign, "") == word:
            return "" if is_hyphen(sign) and len(parts) > 1 and sign not in parts else sign
    return ""


def has_word_in_front(line: str, separator: str) -> bool:
    """Return whether a line has a word, a separator, and morphs that spell the word."""
    word, _, rest = (part.strip() for part in line.partition(separator))
    return "".join(rest.replace("|", " ").split()) == word or _sign_between(word, rest) != ""


def _columns_of(sample: list[str]) -> Layout:
    separator = ""
    for candidate in (*_TABLE, *" :=|"):
        is_clear = candidate in _TABLE
        fitting = (
            candidate in line if is_clear else has_word_in_front(line, candidate) for line in sample
        )
        if 2 * sum(fitting) > len(sample):
            separator = candidate
            break
    columns = header_columns(cells_of(sample[0], separator)) if sample else None
    if columns is not None:
        return Layout(separator, columns, True)
    rows = [cells_of(line, separator) for line in sample]
    piped = sum("|" in row[0] and (len(row) < 2 or is_number(row[1])) for row in rows)
    if not separator or 2 * piped > len(rows):
        return Layout(separator, {"morphs": 0, "count": 1}, False)
    votes = Counter(_role(row[0], row[2]) for row in rows if len(row) > 2 and row[2])
    third = votes.most_common(1)[0][0] if votes else "count"
    return Layout(separator, {"word": 0, "morphs": 1, third: 2}, False)


def _role(word: str, cell: str) -> str:
    return "whole_words" if "".join(_parts(cell)) == word and not is_number(cell) else "count"


def _parts(cell: str) -> list[str]:
    """Return what a cell lists, as a list or divided by spaces."""
    listed = strings_in(cell) if cell else []
    return cell.split() if listed is None else listed


def corpus_count_in(cell: str) -> float | None:
    """Return a count, None for an empty cell; `Unusable` for anything else."""
    if not cell:
        return None
    if not is_number(cell):
        raise Unusable("count that is not a number")
    if float(cell) > LARGEST_COUNT:
        raise Unusable("count above 10¹⁵")
    return float(cell)


def looks_like_plain(line: str, layout: Layout) -> bool:
    """Return whether a line has a word and either several morphs or itself as the only one."""
    cells = cells_of(line, layout.separator)
    if len(cells) > 4:
        return False
    word, morphs = layout.morphs_of(cells)
    if "word" not in layout.columns:
        return len(morphs) > 1 and "|" in layout.cell(cells, "morphs") and is_word(word)
    if not is_word(word) or not morphs or any(is_number(morph) for morph in morphs):
        return morphs == [word]
    return len(morphs) > 1 or word in (morphs[0], _without_marks(morphs[0]))


def _without_marks(morph: str) -> str:
    return morph.strip(HYPHENS) or morph


def _kind(morph: str) -> MorphemeKind:
    if is_hyphen(morph):
        return MorphemeKind.HYPHEN
    before, after = morph[0] in HYPHENS, morph[-1] in HYPHENS
    if before and after:
        return MorphemeKind.INTERFIX
    return MorphemeKind.SUFFIX if before else MorphemeKind.PREFIX if after else MorphemeKind.FREE


def read_plain(
    lines: list[NumberedLine], skips: Skips, separator: str | None = None
) -> list[Entry]:
    """Read the plain form; morphs that do not concatenate to the word are aligned.

    ``separator``: what stands between morphs; detected if not given.
    """
    layout = find_layout(lines, separator)
    rows = skips.usable(layout.rows(lines), partial(_row, layout))
    if not layout.has_header and "word" in layout.columns:
        rows = without_header(rows, lines, skips)
    bound = {MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX}
    if any(bound & set(map(_kind, row.morphemes)) for row in rows if not row.is_explicit):
        for place, row in enumerate(rows):  # what no column says, marks do
            marks = [_kind(morph) for morph in row.morphemes]
            if "whole_words" not in layout.columns:
                row = row._replace(pieces=pieces(marks))
            rows[place] = row if "kinds" in layout.columns else row._replace(kinds=marks)
    for place, row in enumerate(rows):
        if not row.is_explicit:
            rows[place] = row._replace(morphemes=[*map(_without_marks, row.morphemes)])
    return entries_from(rows)


def _row(layout: Layout, number: int, cells: list[str]) -> SourceRow:
    """Return the row of a line, with hyphens still on its morphs."""
    if layout.columns["morphs"] >= len(cells):
        raise Unusable("no column of morphs")
    word, morphs = layout.morphs_of(cells)
    check_word(word)
    check_morphemes(morphs)
    cell = layout.cell(cells, "morphs")
    is_explicit = "".join(morphs) == word
    if not is_explicit and begins_list(cell) and strings_in(cell) is None:
        raise Unusable("a list of morphs that is cut off, or not one of strings")
    joined = tuple(_parts(layout.cell(cells, "whole_words"))) or None
    if joined and "".join(joined) != word:
        raise Unusable("whole words that do not concatenate to the word")
    count = corpus_count_in(layout.cell(cells, "count"))
    names = _parts(layout.cell(cells, "kinds").lower())
    if names and len(names) != len(morphs):
        raise Unusable("not one kind for each morph")
    if any(name not in _KINDS for name in names):
        raise Unusable(f"a kind that is not one of {', '.join(_KINDS)}")
    return SourceRow(
        number,
        word,
        morphs,
        corpus_count=count,
        kinds=tuple(_KINDS[name] for name in names) or None,
        is_explicit=is_explicit,
        whole_words=joined,
    )


def reference_of_pairs(
    pairs: Iterable[tuple[str, Sequence[str]]], name: str = "pairs"
) -> Reference:
    """Build a reference from (word, morphs) pairs, aligned unless they concatenate.

    `MorphGraphError` names the first wrong pair. The checksum is that of all pairs.

    >>> reference_of_pairs([("unbreakable", ["un", "break", "able"])]).entries[0].morphs
    ('un', 'break', 'able')
    """
    rows = [_row_of_pair(number, pair) for number, pair in enumerate(pairs, start=1)]
    if not rows:
        raise MorphGraphError("There are no pairs. Give at least one word with its morphs.")
    content = json.dumps([(row.word, row.morphemes) for row in rows]).encode()
    return Reference(name, "pairs", tuple(entries_from(rows)), (), checksum(content))


def reference_of_words(words: Iterable[str], name: str) -> Reference:
    """Build a reference without gold, on which edits show what they change, but nothing is scored.

    >>> reference_of_words(["undo", "it"], "two words").has_gold
    False
    """
    entries = tuple(Entry(word, ()) for word in words)
    content = json.dumps([entry.word for entry in entries]).encode()
    return Reference(name, "words", entries, (), checksum(content))


def _row_of_pair(number: int, pair: Any) -> SourceRow:
    is_pair = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
    word, given = pair if is_pair else (None, ())
    if not isinstance(word, str):
        raise MorphGraphError(
            f"Pair {number:,}, {shortened(repr(pair))}, is not a word with its morphs. Write "
            '("undo", ["un", "do"]).'
        )
    try:
        check_word(word)
        listed = strings_in(given) if isinstance(given, str) else None
        morphs = check_list(given if listed is None else listed, "morphs")
        check_morphemes(morphs)
    except (MorphGraphError, Unusable) as error:
        fix = ". Correct it." if isinstance(error, Unusable) else ""
        raise MorphGraphError(f"Pair {number:,}, “{shortened(word)}”: {error}{fix}") from error
    return SourceRow(number, word, morphs, is_explicit="".join(morphs) == word)
