"""What many ask for is computed once, for as long as somebody has it."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from morphgraph.core.shared import Same, Shared


def test_who_asks_at_the_same_time_gets_the_same() -> None:
    shared, made = Shared(), []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shared.held("key", make), range(8)))
    assert len(made) == 1
    assert {id(each) for each in found} == {id(found[0])}
    assert not shared._making, "no lock is left behind"


def test_other_keys_do_not_wait() -> None:
    shared = Shared()
    assert shared.held("outer", lambda: shared.held("inner", lambda: 1).value + 1).value == 2


def test_it_is_dropped_with_the_last_who_has_it_and_so_is_what_its_key_names() -> None:
    class Large:
        gone = 0

        def __del__(self) -> None:
            Large.gone += 1

    shared = Shared()
    first = shared.held((Same(Large()), "key"), Large)
    second = shared.held("other", Large)
    del first
    gc.collect()
    assert Large.gone == 2, "the value, and the object in its key"
    assert isinstance(second.value, Large)


def test_an_error_is_not_kept() -> None:
    shared = Shared()
    with pytest.raises(ZeroDivisionError):
        shared.held("key", lambda: 1 // 0)
    held = shared.held("key", lambda: None)
    assert shared.held("key", lambda: 1) is held, "nothing is a value too"
    assert not shared._making
