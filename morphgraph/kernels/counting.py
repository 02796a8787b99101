"""Word counting in a hash table of flat arrays.

Each slot of a table has `SLOT` numbers: the hash of a word; its offset in the arena times 2²¹ plus
its length in bytes, or 0 for a free slot; and its count. The low bits of a hash give the first
slot. ``state``: the number of words, and the bytes of the arena in use.

The hash of a word of up to 8 bytes is a bijective mixture of these, so hash and length identify it.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, njit, types

SLOT = 3
_intrinsic: Any = extending.intrinsic
_LENGTH_BITS = 21
_LENGTHS = (1 << _LENGTH_BITS) - 1
_AT_ONCE = 64
_INLINE = 8
_AHEAD = 16
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_OVER_SPACE = np.uint64(0x5F5F5F5F5F5F5F5F)
"""Added to seven bits, sets the eighth if they are greater than a space."""


@_intrinsic
def _eight_bytes(typing: Any, array: Any, place: Any) -> Any:
    """Return eight bytes of an array as a number, the first one lowest."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(array)(context, builder, given[0]).data
        at = builder.bitcast(builder.gep(data, [given[1]]), ir.IntType(64).as_pointer())
        return builder.load(at, align=1)

    return types.uint64(array, types.intp), made


@_intrinsic
def _first_bit(typing: Any, number: Any) -> Any:
    """Return the index of the lowest bit of a non-zero number."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), made


@_intrinsic
def _fetch(typing: Any, array: Any, place: Any) -> Any:
    """Prefetch memory that will soon be needed."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(array)(context, builder, given[0]).data
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        at = builder.bitcast(builder.gep(data, [given[1]]), address)
        builder.call(call, [at, *(ir.Constant(number, value) for value in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), made


@njit(cache=True, nogil=True)
def _white_space_length(text: Any, at: int, end: int) -> int:
    """Return the length in bytes of white space, as in `str.split`, at a place of UTF-8."""
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
def _word_end(text: Any, at: int, end: int) -> int:
    """Return where the word ends that begins at a place of UTF-8."""
    while True:
        if at + _INLINE <= end:
            some = _eight_bytes(text, at)
            # ASCII up to the space, and first bytes of longer characters.
            stops = ~(((some & _LOW) + _OVER_SPACE) | some) | (some & (some << np.uint64(1)))
            stops &= _HIGH
            if stops == 0:
                at += _INLINE
                continue
            at += int(np.int64(_first_bit(stops) >> np.uint64(3)))
        if at >= end or _white_space_length(text, at, end):
            return at
        at += 1


@njit(cache=True, nogil=True)
def _mixed(found: Any) -> Any:
    found = (found ^ (found >> np.uint64(30))) * _ONE
    found = (found ^ (found >> np.uint64(27))) * _TWO
    return found ^ (found >> np.uint64(31))


@njit(cache=True, nogil=True)
def _hash(text: Any, start: int, end: int) -> Any:
    found = np.uint64(0)
    while end - start > _INLINE:
        found = _mixed(found ^ _eight_bytes(text, start))
        start += _INLINE
    if start + _INLINE <= len(text):
        others = np.uint64(8 * (_INLINE - (end - start)))
        return _mixed(found ^ (_eight_bytes(text, start) & (~np.uint64(0) >> others)))
    rest = np.uint64(0)
    for at in range(end - 1, start - 1, -1):
        rest = (rest << np.uint64(8)) | np.uint64(text[at])
    return _mixed(found ^ rest)


@njit(cache=True, nogil=True)
def _most(table: Any) -> Any:
    return len(table) // SLOT * 5 // 8


@njit(cache=True, nogil=True)
def is_full(table: Any, state: Any) -> Any:
    """Return whether a table has as many words as it takes."""
    return state[0] >= _most(table)


@njit(cache=True, nogil=True)
def move_slots(table: Any, larger: Any) -> None:
    """Move the words of a table into a larger, empty one."""
    mask = np.uint64(len(larger) // SLOT - 1)
    for old in range(0, len(table), SLOT):
        if table[old + 1] == 0:
            continue
        place = np.int64(np.uint64(table[old]) & mask) * SLOT
        while larger[place + 1] != 0:
            place += SLOT
            if place == len(larger):
                place = np.int64(0)
        for number in range(SLOT):
            larger[place + number] = table[old + number]


@njit(cache=True, nogil=True)
def count_words_in(text: Any, at: int, longest: int, table: Any, arena: Any, state: Any) -> Any:
    """Count the words of a UTF-8 text from a place on.

    Returns the place reached, which is the end, a word without room, or the place after a word of
    more than ``longest`` bytes; and whether such a word is the reason.
    """
    hashes = np.empty(_AT_ONCE, np.uint64)
    starts, ends = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    counts = np.ones(_AT_ONCE, np.int64)
    end = len(text)
    while at < end:
        number, is_long = 0, False
        while at < end and number < _AT_ONCE:
            byte = text[at]
            if byte <= 32 or byte >= 0xC2:
                white = _white_space_length(text, at, end)
                if white:
                    at += white
                    continue
            start, at = at, _word_end(text, at + 1, end)
            if at - start > longest:
                is_long = True
                break
            found = _hash(text, start, at)
            hashes[number], starts[number], ends[number] = found, start, at
            number += 1
        done = add_counts(hashes[:number], starts, ends, counts, text, table, arena, state)
        if done < number:
            return starts[done], False
        if is_long:
            return at, True
    return at, False


@njit(cache=True, nogil=True)
def _same(arena: Any, begin: int, text: Any, start: int, length: int) -> bool:
    """Return whether a word of more than eight bytes in the arena equals one in a text."""
    last = length - _INLINE
    for at in range(0, last, _INLINE):
        if _eight_bytes(arena, begin + at) != _eight_bytes(text, start + at):
            return False
    return bool(_eight_bytes(arena, begin + last) == _eight_bytes(text, start + last))


@njit(cache=True, nogil=True)
def add_counts(
    hashes: Any, starts: Any, ends: Any, counts: Any, text: Any, table: Any, arena: Any, state: Any
) -> int:
    """Add counts of words, which are places in a text; return how many had room."""
    mask, most = np.uint64(len(table) // SLOT - 1), _most(table)
    words, used = state[0], state[1]
    done = 0
    for word in range(len(hashes)):
        if word + _AHEAD < len(hashes):
            _fetch(table, np.int64(hashes[word + _AHEAD] & mask) * SLOT)
        start = starts[word]
        length = ends[word] - start
        wanted = np.int64(hashes[word])
        place = np.int64(hashes[word] & mask) * SLOT
        while True:
            packed = table[place + 1]
            if packed == 0:
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
            if (
                table[place] == wanted
                and packed & _LENGTHS == length
                and (length <= _INLINE or _same(arena, packed >> _LENGTH_BITS, text, start, length))
            ):
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
    """Return the hash of each word of a text; ``ends``: where each ends and the next begins."""
    hashes = np.empty(len(ends), np.uint64)
    start: Any = 0
    for word in range(len(ends)):
        hashes[word] = _hash(text, start, ends[word])
        start = ends[word]
    return hashes


@njit(cache=True, nogil=True)
def gather(rows: Any, table: Any, arena: Any) -> Any:
    """Return the words of some rows, concatenated, and where each ends."""
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
    """Return whether each word consists of ASCII letters and digits only."""
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


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    text, ends = np.frombuffer(b"a bc", np.uint8), np.array([1, 4], np.int64)
    table, larger = np.zeros(SLOT * 8, np.int64), np.zeros(SLOT * 16, np.int64)
    arena, state = np.zeros(16, np.uint8), np.zeros(2, np.int64)
    count_words_in(text, 0, 9, table, arena, state)
    hashes = hash_words(text, ends)
    for some in (text, text.copy()):  # input arrays may be read-only
        add_counts(hashes, ends - 1, ends, ends, some, table, arena, state)
    is_full(table, state)
    move_slots(table, larger)
    rows = np.flatnonzero(table[1::SLOT])
    gather(rows, table, arena)
    are_plain(rows, table, arena)
