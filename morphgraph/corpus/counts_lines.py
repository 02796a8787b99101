"""Words and counts from the lines of a file, read in blocks.

In large files, lines of the usual form (a word, one tab or space, digits) are parsed together, all
others one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import COUNTED_CHARACTERS, COUNTED_WORDS
from morphgraph.corpus.word_array import CountedArray, WordArray, concatenate_counts, sum_duplicates

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from morphgraph.kernels import Int64

LARGEST_COUNT = 10**15
_BLOCK = 2**23
_LONGEST_LINE = 2**20
_FORM = "Write one word per line: the word, a tab or a space, and how often it occurs"
_TAB, _END, _RETURN, _SPACE, _ZERO = b"\t\n\r 0"
_MOST_DIGITS = 15


def counts_of_lines(file: IO[bytes], name: str) -> dict[str, int] | CountedArray:
    """Return the count of each word in order of first occurrence, as arrays if there are many.

    Counts of the same word are added, and those of 0 left out. Raises `FileFormatError`, with the
    line, as `counts.read_word_counts` does.
    """
    block, first = file.read(_BLOCK), 1
    problems: list[FileFormatError] = []
    if len(block) < _BLOCK:
        counts: dict[str, int] = {}
        for _, word, count in _one_by_one(enumerate(block.split(b"\n"), 1), name, problems):
            counts[word] = counts.get(word, 0) + count
        _check(name, bool(counts), problems)
        return counts
    parts: list[CountedArray] = []
    characters = lines = 0
    while block:
        rest = file.readline(_LONGEST_LINE)
        if len(rest) == _LONGEST_LINE and rest[-1] != _END:
            line = first + block.count(b"\n")
            problem = f"the line has more than {_LONGEST_LINE:,} bytes"
            raise FileFormatError(name, f"line {line:,}", problem, f"{_FORM}.")
        block += rest
        words, numbers = _of_block(block, first, name, problems)
        if problems and (lines or words):
            raise problems[0]
        lines += len(words)
        characters += int(words.lengths().sum())
        COUNTED_WORDS.check(lines, name)
        COUNTED_CHARACTERS.check(characters, name)
        parts.append((words, numbers))
        first += block.count(b"\n")
        block = file.read(_BLOCK)
    _check(name, bool(lines), problems)
    return sum_duplicates(*concatenate_counts(parts))


def _check(name: str, any_words: bool, problems: list[FileFormatError]) -> None:
    if any_words and problems:
        raise problems[0]
    if problems:
        raise FileFormatError(name, "", "no line is a word and a count", f"{_FORM}.")
    if not any_words:
        raise FileFormatError(name, "", "the file has no words", f"{_FORM}.")


def _of_block(block: bytes, first: int, name: str, problems: list[FileFormatError]) -> CountedArray:
    """Return the words of whole lines in their order; ``first`` is the first line's number."""
    import numpy as np

    words, numbers, usual = _usual_lines(block, has_start=first == 1)
    lines = block.split(b"\n") if not usual.all() else []
    others = ((first + at, lines[at]) for at in np.flatnonzero(~usual).tolist())
    found = [*_one_by_one(others, name, problems)]
    kept = numbers > 0
    words, numbers = words.where(kept), numbers[kept]
    if not found:
        return words, numbers
    places, more, counts = zip(*found, strict=True)
    parts = [(words, numbers), (WordArray.of_strings(more), np.array(counts, np.int64))]
    order = np.argsort(np.append(np.flatnonzero(usual)[kept] + first, places))
    words, numbers = concatenate_counts(parts)
    return WordArray(words.array.take(order)), numbers[order]


def _usual_lines(
    block: bytes, *, has_start: bool
) -> tuple[WordArray, Int64, npt.NDArray[np.bool_]]:
    """Return the words and counts of lines of the usual form, and which lines these are."""
    import numpy as np

    data = np.frombuffer(block, np.uint8)
    behind = np.flatnonzero(data == _END)
    if data[-1] != _END:
        behind = np.append(behind, len(data))
    starts = np.append(0, behind[:-1] + 1)
    ends = behind - (data[behind - 1] == _RETURN)
    lone = np.setdiff1d(np.flatnonzero(data == _RETURN), ends[ends < behind])
    tabs, tab_counts = _last_in_lines(data, _TAB, starts, behind)
    spaces, space_counts = _last_in_lines(data, _SPACE, starts, behind)
    by_space = tab_counts == 0
    tabs = np.where(by_space, spaces, tabs)
    digits = ends - tabs - 1
    usual = (np.where(by_space, space_counts, tab_counts) == 1) & (tabs > starts)
    usual &= (digits > 0) & (digits <= _MOST_DIGITS)
    usual[np.searchsorted(behind, lone)] = False
    usual &= (data[starts] > _SPACE) & (data[tabs - 1] > _SPACE) & ~_may_be_white(data, tabs)
    if has_start:
        usual[0] = False  # it may begin with a byte-order mark
    try:
        block.decode()
    except UnicodeDecodeError:
        usual[:] = False
    numbers = np.zeros(len(behind), np.int64)
    for place in range(int(digits[usual].max(initial=0))):
        there = usual & (place < digits)
        digit = data[np.where(there, ends - 1 - place, 0)].astype(np.int64) - _ZERO
        usual &= ~there | ((digit >= 0) & (digit <= 9))
        numbers += np.where(there, digit, 0) * 10**place
    starts, tabs = starts[usual], tabs[usual]
    change = np.zeros(len(data) + 1, np.int8)
    change[starts] = 1
    change[tabs] -= 1
    text = data[np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)]
    return WordArray.of_bytes(text, np.cumsum(tabs - starts)), numbers[usual], usual


def _last_in_lines(
    data: npt.NDArray[np.uint8], byte: int, starts: Int64, behind: Int64
) -> tuple[Int64, Int64]:
    """Return the last position of a byte in each line (else the line's start), and its count."""
    import numpy as np

    places = np.flatnonzero(data == byte)
    lines = np.searchsorted(behind, places)
    last = starts.copy()
    last[lines] = places
    return last, np.bincount(lines, minlength=len(behind))


def _may_be_white(data: npt.NDArray[np.uint8], behind: Int64) -> npt.NDArray[np.bool_]:
    """Return which positions may follow white space between U+0085 and U+3000."""
    import numpy as np

    third, second, last = (data[np.maximum(behind - back, 0)] for back in (3, 2, 1))
    two = (second == 0xC2) & ((last == 0x85) | (last == 0xA0))
    three = (third == 0xE1) & (second == 0x9A) | (third == 0xE3) & (second == 0x80)
    found: npt.NDArray[np.bool_] = two | three | (third == 0xE2) & (second <= 0x81)
    return found


def _one_by_one(
    lines: Iterable[tuple[int, bytes]], name: str, problems: list[FileFormatError]
) -> Iterator[tuple[int, str, int]]:
    """Yield each line's number, word and count; stop after the first error once there is a word."""
    words = False
    for number, raw in lines:
        if problems and words:
            return
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n \t")
            if line:
                word, count = _parse_line(line)
                if count:
                    words = True
                    yield number, word, count
        except ValueError as error:
            if not problems:  # only one is reported, and a large file may have millions
                problem, fix = str(error), f"{_FORM}."
                if isinstance(error, UnicodeDecodeError):
                    problem, fix = "is not UTF-8", "Save the file as UTF-8."
                problems.append(FileFormatError(name, f"line {number}", problem, fix))


def _parse_line(line: str) -> tuple[str, int]:
    parts = line.rsplit("\t", 1) if "\t" in line else line.rsplit(None, 1)
    if len(parts) != 2:
        raise ValueError("the count is missing")
    word, digits = parts[0].rstrip(), parts[1].strip()
    if digits.startswith("-") and digits[1:].isdecimal():
        raise ValueError(f"the count {digits} is negative")
    if "\r" in word:
        raise ValueError("there is a carriage return inside the line")
    if not (digits.isascii() and digits.isdecimal()):
        raise ValueError(f"the count {digits[:40]!r} is not a whole number")
    if len(digits.lstrip("0")) > 16 or int(digits) > LARGEST_COUNT:
        raise ValueError("the count is larger than 10¹⁵")
    return word, int(digits)
