"""Answers are made once, are bounded, and go back."""

import pickle
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.core.cache import Cache


def test_who_asks_at_the_same_time_gets_the_same() -> None:
    cache, made = Cache(), []

    def make() -> list[int]:
        time.sleep(0.05)
        made.append(1)
        return [len(made)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.get("state", "question", make), range(8)))
    assert len(made) == 1
    assert {id(each) for each in found} == {id(found[0])}
    assert not cache._making, "no lock is left behind"


def test_other_questions_do_not_wait() -> None:
    cache = Cache()
    assert cache.get("one", "outer", lambda: cache.get("one", "inner", lambda: 1) + 1) == 2
    assert [("one", question) in cache for question in ("outer", "inner", "none")] == [1, 1, 0]


def test_an_error_is_not_kept() -> None:
    cache = Cache()
    with pytest.raises(ZeroDivisionError):
        cache.get("state", "question", lambda: 1 // 0)
    assert cache.get("state", "question", lambda: None) is None
    assert cache.get("state", "question", lambda: 1) is None, "nothing is an answer too"
    assert cache.known("state", "question", 5) is None
    assert cache.known("state", "other", 5) == 5
    assert not cache._making


@given(
    st.integers(1, 4),
    st.integers(500, 4000),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 300))),
)
def test_it_is_bounded_and_the_oldest_go_first(
    entries: int, size: int, asked: list[tuple[int, int]]
) -> None:
    """The oracle: keys by when they were asked for last, each with the bytes of its array."""
    cache, plain = Cache(entries, size), dict[int, int]()
    overhead = 0
    for key, length in asked:
        cache.get(key, "array", lambda n=length: np.zeros(n))  # type: ignore[misc]
        plain[key] = plain.pop(key, 8 * length)
        while len(plain) > 1 and (
            len(plain) > entries or sum(plain.values()) + overhead * len(plain) > size
        ):
            plain.pop(next(iter(plain)))
        assert [state for state, _ in cache._answers] == list(plain)
        assert cache.used == sum(plain.values())
    cache.drop()
    assert (len(cache), cache.used, cache._users) == (0, 0, {})


@dataclass
class Pair:
    one: np.ndarray  # type: ignore[type-arg]
    other: np.ndarray  # type: ignore[type-arg]


def test_arrays_in_common_count_once_and_views_as_what_they_hold() -> None:
    cache = Cache()
    common = np.zeros(100_000)
    cache.get("one", "pair", lambda: Pair(common, np.zeros(10)))
    cache.get("two", "pair", lambda: Pair(common[:5], np.zeros(20)))
    assert 800_000 < cache.used < 802_000
    cache.drop(0.5)
    assert 800_000 < cache.used < 802_000
    cache.drop()
    assert cache.used == 0


def test_a_long_collection_is_sampled() -> None:
    cache = Cache()
    cache.get("one", "list", lambda: [str(number) for number in range(100_000)])
    assert 4e6 < cache.used < 8e6


def test_what_is_dropped_goes_back() -> None:
    class Large:
        pass

    cache = Cache(entries=1)
    first = weakref.ref(cache.get("one", "large", Large))
    assert first() is not None
    second = weakref.ref(cache.get("two", "large", Large))
    assert first() is None and second() is not None
    assert cache.drop(seconds=60) == 0, "somebody has just asked for it"
    assert cache.drop(share=0.1) == 1
    assert second() is None


def test_what_went_comes_back_from_who_has_it_in_hand() -> None:
    class Large:
        pass

    cache = Cache(entries=1)
    first = cache.get("one", "large", Large)
    cache.get("two", "large", Large)
    assert ("one", "large") not in cache
    assert cache.get("one", "large", Large) is first
    assert cache.get("two", "large", lambda: "nobody has it") == "nobody has it"


def test_a_copy_is_a_new_one() -> None:
    cache = Cache(3, 1000)
    cache.get("state", "question", lambda: 1)
    sent = pickle.loads(pickle.dumps(cache))
    assert (len(sent), sent.entries, sent.size) == (0, 3, 1000)
