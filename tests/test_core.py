"""The core: answers are made once and are bounded; limits have reasons; systems differ."""

import os
import pickle
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from morphgraph.core.cache import Cache
from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import LIMITS, Limit
from morphgraph.core.system import available_cores, try_lock


def test_who_asks_at_the_same_time_gets_the_same():
    cache, made = Cache(), []

    def make():
        time.sleep(0.05)
        made.append(1)
        return [len(made)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.get("state", "question", make), range(8)))
    assert len(made) == 1
    assert {id(each) for each in found} == {id(found[0])}
    assert not cache._making, "no lock is left behind"


def test_other_questions_do_not_wait():
    cache = Cache()
    assert cache.get("one", "outer", lambda: cache.get("one", "inner", lambda: 1) + 1) == 2
    assert [("one", question) in cache for question in ("outer", "inner", "none")] == [1, 1, 0]


def test_an_error_is_not_kept():
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
def test_it_is_bounded_and_the_oldest_go_first(entries, size, asked):
    """The oracle: keys by when they were asked for last, each with the bytes of its array."""
    cache, plain = Cache(entries, size), dict[int, int]()
    overhead = 0
    for key, length in asked:
        cache.get(key, "array", lambda n=length: np.zeros(n))
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
    one: np.ndarray
    other: np.ndarray


def test_long_collections_in_common_count_once():
    words = [f"word {number}" for number in range(10_000)]  # 57 or 58 bytes each, and 8 in the list
    cache = Cache()
    cache.get("one", "pair", lambda: Pair(words, np.zeros(10)))
    once = cache.used
    assert 600_000 < once < 750_000
    cache.get("two", "pair", lambda: Pair((words, [1]), np.zeros(10)))
    assert once < cache.used < once + 2_000
    cache.drop(0.5)
    assert 600_000 < cache.used < once + 2_000
    cache.drop()
    assert (cache.used, cache._users) == (0, {})


def test_what_was_just_used_stays_however_much_it_is(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("morphgraph.core.cache.monotonic", lambda: now[0])
    cache = Cache(size=1_000, seconds=20.0)
    for state in range(3):
        cache.get(state, "array", lambda: np.zeros(1_000))
    assert len(cache) == 3
    now[0] = 30.0
    assert cache.get(1, "array", list) is not None
    cache.get(3, "array", lambda: np.zeros(1_000))
    assert [state for state, _ in cache._answers] == [1, 3]


def test_arrays_in_common_count_once_and_views_as_what_they_hold():
    cache = Cache()
    common = np.zeros(100_000)
    cache.get("one", "pair", lambda: Pair(common, np.zeros(10)))
    cache.get("two", "pair", lambda: Pair(common[:5], np.zeros(20)))
    assert 800_000 < cache.used < 802_000
    cache.drop(0.5)
    assert 800_000 < cache.used < 802_000
    cache.drop()
    assert cache.used == 0


def test_what_is_dropped_goes_back():
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


def test_what_went_comes_back_from_who_has_it_in_hand():
    class Large:
        pass

    cache = Cache(entries=1)
    first = cache.get("one", "large", Large)
    cache.get("two", "large", Large)
    assert ("one", "large") not in cache
    assert cache.get("one", "large", Large) is first
    assert cache.get("two", "large", lambda: "nobody has it") == "nobody has it"


def test_a_copy_is_a_new_one():
    cache = Cache(3, 1000)
    cache.get("state", "question", lambda: 1)
    sent = pickle.loads(pickle.dumps(cache))
    assert (len(sent), sent.entries, sent.size) == (0, 3, 1000)


FEW = Limit("MORPHGRAPH_MAX_THINGS", 3, 2, "things", "Three are enough.")


def test_the_environment_raises_a_limit(monkeypatch):
    FEW.check(3, "a.json")
    with refused(FileFormatError):
        FEW.check(4, "a.json")
    monkeypatch.setenv(FEW.variable, "4")
    FEW.check(4, "a.json")


def test_visitors_of_a_public_app_have_limits_of_their_own(monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    FEW.check(2, "a.json")
    with refused(FileFormatError):
        FEW.check(3, "a.json")
    assert [limit.value for limit in LIMITS] == [limit.public for limit in LIMITS]
    monkeypatch.setenv(FEW.variable, "4")
    FEW.check(4, "a.json")


@pytest.mark.parametrize("chosen", ["many", "-1", "0", "1e6"])
def test_a_limit_that_is_no_number(monkeypatch, chosen):
    monkeypatch.setenv(FEW.variable, chosen)
    with refused():
        FEW.check(1, "a.json")


def test_cores_are_those_of_the_process_or_of_the_machine(monkeypatch):
    assert available_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_a_locked_file_is_locked_for_others_until_it_is_closed(tmp_path):
    path = tmp_path / "lock"
    with path.open("a") as first, path.open("a") as second:
        assert try_lock(first)
        assert not try_lock(second)
        first.close()
        assert try_lock(second)


def test_without_locks_nobody_else_is_there(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (tmp_path / "lock").open("a") as first, (tmp_path / "lock").open("a") as second:
        assert try_lock(first) and try_lock(second)


def test_evaluations_load_without_the_names_of_unix():
    code = (
        "import os, sys\n"
        "sys.modules['fcntl'] = None\n"
        "del os.sched_getaffinity\n"
        "import morphgraph.batch.store, morphgraph.batch.cluster\n"
        "import morphgraph.reference.catalogue\n"
        "import morphgraph.corpus.counting, morphgraph.cli\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
