"""What every table to take away is written with: CSV that is no formula, LaTeX that compiles."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # \textquotedbl would need another font encoding than the usual one.
    '"': r"\char34{}",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&!@])")

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What starts a formula in spreadsheets, some of which take the full-width forms too."""

_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns around the text behind it, whoever wrote that."""


def csv_bytes(rows: Iterable[Iterable[object]]) -> bytes:
    """Rows as CSV in UTF-8; text that came from outside first goes through `harmless`."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode("utf-8", "replace")


def harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula, in full-width signs either.

    A bare carriage return, which `csv` would leave unquoted, becomes a line feed.

    >>> harmless("=1"), harmless("\\ra"), harmless("a-b")
    ("'=1", "'\\na", 'a-b')
    """
    is_formula = text.startswith(("\t", "\r")) or text.lstrip().startswith(_FORMULA)
    guarded = f"'{text}" if is_formula else text
    return guarded.replace("\r", "\n")


def latex(text: str) -> str:
    r"""Text with LaTeX's own characters escaped.

    >>> print(latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_LATEX.get(character, character) for character in text)


def latex_breakable(text: str) -> str:
    r"""A signature, escaped, that may be broken between its fields.

    >>> print(latex_breakable("a:1"))
    a:\allowbreak{}1
    """
    return "".join(
        latex(character) + (r"\allowbreak{}" if character in "|:" else "") for character in text
    )


def one_line(text: str) -> str:
    """Text in one line, without control characters, halves of characters and changes of direction.

    >>> one_line("a\\nb" + chr(0x202E))
    'a b?'
    """
    return "".join(
        "?"
        if unicodedata.category(character) in ("Cc", "Cs") or character in _DIRECTIONS
        else character
        for character in " ".join(text.split())
    )


def markdown(text: str) -> str:
    """Text in which Markdown finds nothing, and its tables no end of a cell."""
    return _MARKDOWN.sub(r"\\\1", text)


def markdown_code(text: str) -> str:
    """A line as code, whatever is in it."""
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    return f"{fence} {text} {fence}" if runs else f"{fence}{text}{fence}"
