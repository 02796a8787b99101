"""What many ask for is computed once, and kept as long as one of them keeps it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Held(Generic[T]):
    """A value that is shared: it is dropped when nobody has this any more."""

    value: T


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


class Shared:
    """Values by keys that say all they depend on; it keeps none of them alive.

    >>> shared = Shared()
    >>> first = shared.held("sum", lambda: [1, 2])
    >>> shared.held("sum", lambda: [3]).value
    [1, 2]
    >>> del first
    >>> shared.held("sum", lambda: [3]).value
    [3]
    """

    def __init__(self) -> None:
        self._known: WeakValueDictionary[Hashable, Held[Any]] = WeakValueDictionary()
        self._making: dict[Hashable, Lock] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether somebody has the value of this key, so that it would not be made."""
        return key in self._known

    def held(self, key: Hashable, make: Callable[[], T]) -> Held[T]:
        """What ``make`` returns, unless somebody has what it returned for this key before.

        Who asks while it is being made waits for it. An error is not kept: the next one tries.
        """
        found: Held[Any] | None = self._known.get(key)
        if found is not None:
            return found
        with self._making.setdefault(key, Lock()):
            try:
                found = self._known.get(key)
                if found is None:
                    found = self._known[key] = Held(make())
            finally:
                self._making.pop(key, None)
        return found
