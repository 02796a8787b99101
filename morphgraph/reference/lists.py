"""Lists of strings in a cell of a table, as pandas, JSON and numpy write them."""

from __future__ import annotations

import re

_STRING = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_ITEM = rf"(?:np\.str_\({_STRING}\)|{_STRING})"
_LISTED = rf"\s*+(?:{_ITEM}(?:\s*+,\s*+{_ITEM})*+\s*+,?+\s*+)?"
_LIST = re.compile(rf"\[{_LISTED}\]|\({_LISTED}\)|\[\s*+{_ITEM}(?:\s++{_ITEM})*+\s*+\]", re.DOTALL)
"""A list or tuple; numpy's arrays have spaces between items."""
_STRINGS = re.compile(_STRING, re.DOTALL)
_BEGINS = re.compile(r"""[\[(]\s*+(?:np\.str_\()?['"]""")
LIST_SIGNS = ("[", "(", '"[', '"(')

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def strings_in(cell: str) -> list[str] | None:
    r"""Return the strings of the list in a cell; None without a list, or for a malformed one.

    The cell may be in the quotes of a table.

    >>> strings_in("('un', 'do')"), strings_in('["un", "do"]'), strings_in("['un' 'do']")
    (['un', 'do'], ['un', 'do'], ['un', 'do'])
    >>> strings_in("(b, c)")
    """
    if not cell.startswith(LIST_SIGNS):
        return None
    cell = _unquoted(cell)
    if not _LIST.fullmatch(cell):
        return None
    try:
        return [_unescaped(literal[1:-1]) for literal in _STRINGS.findall(cell)]
    except ValueError:  # a code that is no character
        return None


def begins_list(cell: str) -> bool:
    """Return whether a cell begins like a list of strings, even if it is malformed.

    >>> begins_list("('un', ..."), begins_list("(un) do")
    (True, False)
    """
    return cell.startswith(LIST_SIGNS) and _BEGINS.match(_unquoted(cell)) is not None


def _unquoted(cell: str) -> str:
    is_quoted = cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    # JSON writes a character as two surrogates.
    plain = _ESCAPE.sub(_character, text).encode("utf-16", "surrogatepass")
    return plain.decode("utf-16")


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    return chr(int(digits, 16)) if digits else _LETTERS.get(escape[4], escape[4])
