"""Files that visitors give."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from web import inputs, opening


@pytest.mark.parametrize("several", [False, True])
def test_what_was_taken_is_not_kept_until_the_session_ends(
    monkeypatch: pytest.MonkeyPatch, *, several: bool
) -> None:
    manager, state = MemoryUploadedFileManager("/upload"), dict[str, object]()
    files = [UploadedFileRec(name, name, "text/plain", b"text") for name in ("one", "two", "other")]
    for file in files:
        manager.add_file("this session", file)
    chosen = [UploadedFile(file, FileURLs()) for file in files[: 1 + several]]
    state[inputs.upload_key("field")] = chosen if several else chosen[0]
    context = SimpleNamespace(uploaded_file_mgr=manager, session_id="this session")
    monkeypatch.setattr(inputs, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(st, "session_state", state)
    before = inputs.upload_key("field")
    inputs.take_away("field")
    assert inputs.upload_key("field") != before
    left = manager.get_files("this session", ["one", "two", "other"])
    assert [file.name for file in left] == ["two", "other"][several:]


def test_an_upload_is_those_files_alone_that_were_chosen_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    files: list[UploadedFile] = []

    def choose(*names: str) -> list[str]:
        for name in names:
            record = UploadedFileRec(f"{len(files)}", name, "text/plain", b"")
            files.append(UploadedFile(record, FileURLs()))
        return last()

    def last() -> list[str]:
        return [file.name for file in opening._last_upload(files)]

    assert choose("vocab.txt") == ["vocab.txt"]
    assert choose("tokenizer.json") == ["tokenizer.json"]
    assert choose("my-vocab.json") == ["my-vocab.json"]
    assert choose("merges.txt") == ["merges.txt"]
    assert choose("my-merges.txt") == ["my-merges.txt", "my-vocab.json"]
    assert last() == ["my-merges.txt", "my-vocab.json"]  # in the runs that follow, too
    assert choose("one.json", "two.json") == ["one.json", "two.json"]
    del files[-2:]
    assert last() == ["my-merges.txt", "my-vocab.json"]
