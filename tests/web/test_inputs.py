"""Files that visitors give."""

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from web import bootstrap


def test_an_upload_is_those_files_alone_that_were_chosen_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    files: list[Any] = []

    def choose(*names: str) -> list[str]:
        for name in names:
            files.append(SimpleNamespace(file_id=f"{len(files)}", name=name))
        return last()

    def last() -> list[str]:
        return [file.name for file in bootstrap._last_upload(files)]

    assert choose("vocab.txt") == ["vocab.txt"]
    assert choose("tokenizer.json") == ["tokenizer.json"]
    assert choose("my-vocab.json") == ["my-vocab.json"]
    assert choose("merges.txt") == ["merges.txt"]
    assert choose("my-merges.txt") == ["my-merges.txt", "my-vocab.json"]
    assert last() == ["my-merges.txt", "my-vocab.json"]  # in the runs that follow, too
    assert choose("one.json", "two.json") == ["one.json", "two.json"]
    del files[-2:]
    assert last() == ["my-merges.txt", "my-vocab.json"]
