"""What browsers have open is kept apart, bounded, and never trusted."""

import os
import time

import pytest

from web import storage
from web.storage import BrowserStore, tidy

DAY = 86_400


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("MORPHGRAPH_STATE", str(folder))
    return folder


def age(folder, days):
    """Make a folder and all in it so old."""
    then = time.time() - days * DAY
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (then, then))


def browsers(state):
    return {path.name for path in (state / "browsers").iterdir()}


def test_files_come_back_as_they_were_or_not_at_all(state_folder):
    store = BrowserStore()
    checksum = store.keep_file(b"content")
    assert store.file(checksum) == b"content"
    assert BrowserStore().file(checksum) is None
    [path] = state_folder.rglob(checksum)
    path.write_bytes(b"changed")
    assert store.file(checksum) is None
    for name in ("../../secret", "", "A" * 64, checksum[:-1]):
        assert store.file(name) is None


def test_neither_the_token_nor_a_name_is_on_disk(state_folder):
    store = BrowserStore()
    store.keep_record(store.keep_file(b"content").encode())
    for path in state_folder.rglob("*"):
        assert store.token not in str(path)
        assert not path.is_file() or store.token.encode() not in path.read_bytes()
    assert (store.folder.stat().st_mode & 0o777) == 0o700


@pytest.mark.parametrize("token", [None, "", "../../x", "a" * 42, "a" * 44, "a" * 42 + "/"])
def test_what_cannot_be_our_token_is_a_new_browser(token):
    made = BrowserStore.of(token, "0" * 8)
    assert made.token != token
    assert len(made.token) == 43
    assert made.tab != "0" * 8


def test_files_that_no_tab_needs_are_dropped(monkeypatch):
    store, other = (first := BrowserStore()), BrowserStore(first.token)
    old, shared, new = (store.keep_file(data) for data in (b"old", b"shared", b"new"))
    store.keep_record(f"{old} {shared}".encode())
    other.keep_record(shared.encode())
    monkeypatch.setattr(storage, "_JUST_WRITTEN", -1.0)
    store.keep_record(new.encode())
    assert [store.file(one) for one in (old, shared, new)] == [None, b"shared", b"new"]


def test_the_tabs_of_a_browser_are_bounded(monkeypatch):
    monkeypatch.setattr(storage, "MOST_TABS", 2)
    token = BrowserStore().token
    tabs = [BrowserStore(token) for _ in range(3)]
    for number, tab in enumerate(tabs):
        tab.keep_record(str(number).encode())
        moment = time.time() - 100 + number
        os.utime(tab.folder / "tabs" / f"{tab.tab}.json", (moment, moment))
    assert len(list((tabs[0].folder / "tabs").iterdir())) == 2
    assert tabs[0].record() == b"2"  # its own is gone: the newest


def test_browsers_that_are_old_or_too_many_or_too_large_go(state_folder, monkeypatch):
    stores = [BrowserStore() for _ in range(4)]
    for days, store in zip((31, 3, 2, 1), stores, strict=True):
        store.keep_file(b"x" * 100)
        store.keep_record(b"record")
        age(store.folder, days)
    names = [store.folder.name for store in stores]
    tidy()
    assert browsers(state_folder) == set(names[1:])
    monkeypatch.setattr(storage, "MOST_BROWSERS", 2)
    tidy()
    assert browsers(state_folder) == set(names[2:])
    monkeypatch.setattr(storage, "MOST_BYTES", 150)
    tidy(but=stores[2].folder)
    assert browsers(state_folder) == {names[2]}


def test_a_folder_and_the_parents_that_it_needs_are_of_this_user_alone(tmp_path):
    before = os.umask(0o022)
    try:
        storage.make_private(tmp_path / "state" / "browsers" / "uploads")
    finally:
        os.umask(before)
    made = [tmp_path / "state", *(tmp_path / "state").rglob("*")]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3
