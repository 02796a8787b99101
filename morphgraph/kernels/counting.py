"""Counting words into a hash table in flat arrays.

A table has `SLOT` numbers a slot: the hash of a word, or 0 where the slot is free; where the word
begins in the arena, times 2²¹, plus how many bytes it has; its count. Words are found by the low
bits of their hashes. ``state``: how many words there are, and how many bytes of the arena they use.
"""

from typing import Any

import numpy as np
from numba import njit

SLOT = 3
_LENGTH_BITS = 21
_LENGTHS = (1 << _LENGTH_BITS) - 1
_OFFSET, _PRIME, _MIX = 0xCBF29CE484222325, 0x100000001B3, 0x9E3779B97F4A7C15


@njit(cache=True, nogil=True)
def _white(text: Any, at: int, end: int) -> int:
    """How many bytes of white space, as `str.split` knows it, stand at a place of UTF-8."""
    byte = text[at]
    if byte <= 32:
        return 1 if 9 <= byte <= 13 or byte >= 28 else 0
    if byte < 0xC2 or byte > 0xE3 or at + 1 >= end:
        return 0
    second = text[at + 1]
    if byte == 0xC2:
        return 2 if second in (0x85, 0xA0) else 0
    if byte < 0xE1 or at + 2 >= end:
        return 0
    third = text[at + 2]
    if byte == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if byte == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x81:
        return 3 if third == 0x9F else 0
    if second == 0x80:
        return 3 if 0x80 <= third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
    return 0


@njit(cache=True, nogil=True)
def _mixed(found: Any) -> Any:
    found ^= found >> np.uint64(32)
    found *= np.uint64(_MIX)
    found ^= found >> np.uint64(29)
    return found if found else np.uint64(1)


@njit(cache=True, nogil=True)
def find_words(text: Any, at: int, longest: int, hashes: Any, starts: Any, ends: Any) -> Any:
    """The next words of a text in UTF-8, as many as there is room for.

    How many, the place behind them, and whether a word of more than ``longest`` bytes is
    passed over there.
    """
    end, number = len(text), 0
    while at < end and number < len(hashes):
        byte = text[at]
        if byte <= 32 or byte >= 0xC2:
            white = _white(text, at, end)
            if white:
                at += white
                continue
        start = at
        found = np.uint64(_OFFSET)
        while at < end:
            byte = text[at]
            if (byte <= 32 or byte >= 0xC2) and _white(text, at, end):
                break
            found = (found ^ np.uint64(byte)) * np.uint64(_PRIME)
            at += 1
        if at - start > longest:
            return number, at, True
        hashes[number], starts[number], ends[number] = _mixed(found), start, at
        number += 1
    return number, at, False


@njit(cache=True, nogil=True)
def _most(table: Any) -> Any:
    return len(table) // SLOT * 5 // 8


@njit(cache=True, nogil=True)
def is_full(table: Any, state: Any) -> Any:
    """Whether a table has as many words as it takes."""
    return state[0] >= _most(table)


@njit(cache=True, nogil=True)
def move_slots(table: Any, larger: Any) -> None:
    """Put the words of a table into a larger one, which is empty."""
    mask = np.uint64(len(larger) // SLOT - 1)
    for old in range(0, len(table), SLOT):
        if table[old] == 0:
            continue
        place = np.int64(np.uint64(table[old]) & mask) * SLOT
        while larger[place] != 0:
            place += SLOT
            if place == len(larger):
                place = np.int64(0)
        for number in range(SLOT):
            larger[place + number] = table[old + number]


@njit(cache=True, nogil=True)
def add_counts(
    hashes: Any, starts: Any, ends: Any, counts: Any, text: Any, table: Any, arena: Any, state: Any
) -> int:
    """Add counts of words, which are places in a text; gives how many had room."""
    mask, most = np.uint64(len(table) // SLOT - 1), _most(table)
    words, used = state[0], state[1]
    done = 0
    for word in range(len(hashes)):
        start = starts[word]
        length = ends[word] - start
        wanted = np.int64(hashes[word])
        place = np.int64(hashes[word] & mask) * SLOT
        while True:
            there = table[place]
            if there == 0:
                if words >= most or used + length > len(arena):
                    state[0], state[1] = words, used
                    return done
                table[place] = wanted
                table[place + 1] = (used << _LENGTH_BITS) | length
                table[place + 2] = counts[word]
                for at in range(length):
                    arena[used + at] = text[start + at]
                words += 1
                used += length
                break
            if there == wanted and table[place + 1] & _LENGTHS == length:
                begin, same = table[place + 1] >> _LENGTH_BITS, True
                for at in range(length):
                    if arena[begin + at] != text[start + at]:
                        same = False
                        break
                if same:
                    table[place + 2] += counts[word]
                    break
            place += SLOT
            if place == len(table):
                place = np.int64(0)
        done += 1
    state[0], state[1] = words, used
    return done


@njit(cache=True, nogil=True)
def hash_words(text: Any, ends: Any) -> Any:
    """The hash of each word of a text: ``ends`` says where each ends and the next one begins."""
    hashes = np.empty(len(ends), np.uint64)
    start: Any = 0
    for word in range(len(ends)):
        found = np.uint64(_OFFSET)
        for at in range(start, ends[word]):
            found = (found ^ np.uint64(text[at])) * np.uint64(_PRIME)
        hashes[word] = _mixed(found)
        start = ends[word]
    return hashes


@njit(cache=True, nogil=True)
def gather(rows: Any, table: Any, arena: Any) -> Any:
    """The words of some rows, one behind the other, and where each ends."""
    ends = np.empty(len(rows), np.int64)
    total: Any = 0
    for number in range(len(rows)):
        total += table[rows[number] * SLOT + 1] & _LENGTHS
        ends[number] = total
    text = np.empty(total, np.uint8)
    at = 0
    for row in rows:
        packed = table[row * SLOT + 1]
        start = packed >> _LENGTH_BITS
        for place in range(start, start + (packed & _LENGTHS)):
            text[at] = arena[place]
            at += 1
    return text, ends


@njit(cache=True, nogil=True)
def are_plain(rows: Any, table: Any, arena: Any) -> Any:
    """Whether each word is made of ASCII's letters and digits alone."""
    plain = np.ones(len(rows), np.bool_)
    for number in range(len(rows)):
        packed = table[rows[number] * SLOT + 1]
        start = packed >> _LENGTH_BITS
        for place in range(start, start + (packed & _LENGTHS)):
            byte = arena[place]
            if not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122):
                plain[number] = False
                break
    return plain
