"""The identity of a state, and a bounded cache of results derived from states."""

import hashlib
import json
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

T = TypeVar("T")

ENTRIES = 1_000  # answers that a cache keeps at most
SIZE = 1_000_000_000  # bytes that they take at most, roughly

_Key = tuple[Hashable, Hashable]
_SAMPLED, _LONG = 50, 1_000
_LOOKED_AT = 5_000
_OWN = 0


@dataclass(frozen=True, slots=True)
class State:
    """The identity of a state: equal if and only if all its parts are equal.

    ``digest``: hexadecimal digits, the same in every process; ``str`` gives the first 12. It
    distinguishes states, but unlike a file's checksum does not protect from forgery.
    """

    digest: str

    @classmethod
    def of(cls, *parts: Any) -> "State":
        """Return the identity of these parts: JSON data, and states."""
        text = json.dumps(parts, default=_digest_of, sort_keys=True)
        return cls(hashlib.blake2b(text.encode(), digest_size=16).hexdigest())

    def __str__(self) -> str:
        return self.digest[:12]


def _digest_of(part: object) -> dict[str, str]:
    if not isinstance(part, State):
        raise TypeError(f"A state cannot be made of {type(part).__name__}.")
    return {"state": part.digest}


class Same:
    """An object as a part of a key: equal to itself only, and kept as long as the key is.

    >>> first, second = Same([]), Same([])
    >>> first == Same(first.it), first == second
    (True, False)
    """

    __slots__ = ("it",)

    def __init__(self, it: object) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.it is other.it


@dataclass
class _Answer:
    """A value, its own size, those of what it may share by id, and the time of its last use."""

    value: Any
    size: int
    shared: dict[int, int]
    at: float


class Cache:
    """Results by state and question: the first caller computes one, and others wait.

    A result must depend only on its state and question. It is in memory once, and must not be
    changed. Beyond ``entries`` results or ``size`` bytes the least recently used ones are dropped,
    but for those used in the last ``seconds``: a page that needs more would make them for ever.
    Arrays and long collections that several share count once. A dropped result that is still
    referenced elsewhere is restored when requested. The cache belongs to whoever opens tokenisers;
    a copied or pickled one is empty.
    """

    def __init__(self, entries: int = ENTRIES, size: int = SIZE, seconds: float = 0.0) -> None:
        self.entries, self.size, self.seconds = entries, size, seconds
        self._answers: OrderedDict[_Key, _Answer] = OrderedDict()
        self._in_hand: WeakValueDictionary[_Key, Any] = WeakValueDictionary()
        self._users: dict[int, tuple[int, int]] = {}
        self.used = 0
        """The estimated size of the results in bytes."""
        self._lock = Lock()
        self._making: dict[_Key, Lock] = {}

    def __reduce__(self) -> tuple[type["Cache"], tuple[int, int, float]]:
        return type(self), (self.entries, self.size, self.seconds)

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, key: _Key) -> bool:
        """Return whether the result of a (state, question) is cached."""
        return key in self._answers

    def get(self, state: Hashable, question: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a question about a state, computed by ``make`` on first use.

        An error is not cached: the next caller tries again.
        """
        key = state, question
        kept: _Answer | None = self._known(key)
        if kept is None:
            with self._lock:
                making = self._making.setdefault(key, Lock())
            with making:
                try:
                    kept = self._known(key)
                    if kept is None:
                        value = self._in_hand.get(key)
                        kept = self._keep(key, make() if value is None else value)
                finally:
                    with self._lock:
                        self._making.pop(key, None)
        answer: T = kept.value
        return answer

    def known(self, state: Hashable, question: Hashable, default: T) -> T:
        """Return the result if it is cached, else ``default``."""
        answer = self._known((state, question))
        return default if answer is None else answer.value

    def drop(self, share: float = 1.0, seconds: float = 0.0) -> int:
        """Drop a share of the results, least recently used first, and return their number.

        None that was used in the last ``seconds`` is dropped.
        """
        before = monotonic() - seconds
        with self._lock:
            old = [key for key, answer in self._answers.items() if answer.at <= before]
            dropped = old[: ceil(share * len(old))]
            for key in dropped:
                self._drop(key)
        return len(dropped)

    def _known(self, key: _Key) -> _Answer | None:
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
                answer.at = monotonic()
            return answer

    def _keep(self, key: _Key, value: Any) -> _Answer:
        size, shared = _measured(value)
        answer = _Answer(value, size, shared, monotonic())
        with self._lock:
            self._answers[key] = answer
            self.used += size
            for part, bytes_ in shared.items():
                users, counted = self._users.get(part, (0, bytes_))
                self.used += 0 if users else counted
                self._users[part] = users + 1, counted
            while self.used > self.size or len(self._answers) > self.entries:
                oldest = next(iter(self._answers))
                if oldest == key or self._answers[oldest].at > answer.at - self.seconds:
                    break
                self._drop(oldest)
        return answer

    def _drop(self, key: _Key) -> None:
        answer = self._answers.pop(key)
        with suppress(TypeError):  # plain numbers, strings and lists are small
            self._in_hand[key] = answer.value
        self.used -= answer.size
        for part in answer.shared:
            users, counted = self._users.pop(part)
            if users > 1:
                self._users[part] = users - 1, counted
            else:
                self.used -= counted


def _measured(value: Any) -> tuple[int, dict[int, int]]:
    """Return the estimated bytes of a value, and of what others may share with it, by id.

    Shared are arrays and long collections. Some items of one are measured, as a sample of all.
    """
    arrays: dict[int, int] = {}
    seen: set[int] = set()
    sizes = defaultdict[int, float](float)
    waiting: list[tuple[Any, float, int]] = [(value, 1.0, _OWN)]
    while waiting and len(seen) < _LOOKED_AT:
        it, times, part_of = waiting.pop()
        if id(it) in seen or it is None or isinstance(it, (type, Cache)) or callable(it):
            continue
        seen.add(id(it))
        if isinstance(it, np.ndarray):
            whole = it if it.base is None else it.base
            arrays[id(whole)] = getattr(whole, "nbytes", it.nbytes)
            continue
        is_collection = isinstance(it, (dict, list, tuple, set, frozenset))
        if part_of == _OWN and is_collection and len(it) > _LONG:
            part_of = id(it)
        usage = getattr(it, "memory_usage", None)  # of a data frame
        sizes[part_of] += times * (
            int(np.sum(usage())) if callable(usage) else sys.getsizeof(it, 64)
        )
        if callable(usage):
            continue
        if is_collection:
            held = islice(it.items() if isinstance(it, dict) else it, _SAMPLED)
            items = [part for pair in held for part in pair] if isinstance(it, dict) else [*held]
            times *= max(1.0, len(it) / _SAMPLED)
        else:
            slots = (getattr(it, name, None) for name in getattr(type(it), "__slots__", ()))
            items = [*slots, *getattr(it, "__dict__", {}).values()]
        waiting += [(part, times, part_of) for part in items]
    own = int(sizes.pop(_OWN, 0))
    return own, arrays | {part: int(size) for part, size in sizes.items()}
