"""Texts of evaluations are kept on disk, within bounds, and what is odd there is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from web.storage import LARGEST_DRAFT, MOST_DRAFTS, Draft, forget_draft, keep_draft, kept_drafts


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MORPHGRAPH_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "drafts.json"


def test_the_newest_texts_are_kept_by_name(file: Path) -> None:
    assert kept_drafts() == []
    for number in range(MOST_DRAFTS + 2):
        keep_draft(Draft(f"{number}", None, "a"))
    keep_draft(Draft("5", "ö", "b\r\n\0"))
    kept = kept_drafts()
    assert [draft.name for draft in kept] == [*"234", *map(str, range(6, MOST_DRAFTS + 2)), "5"]
    assert kept[-1] == Draft("5", "ö", "b\r\n\0")
    forget_draft("5")
    assert kept == [*kept_drafts(), kept[-1]]
    assert [path.name for path in file.parent.iterdir()] == ["drafts.json"]


def test_a_text_that_is_too_large_leaves_what_is_kept() -> None:
    keep_draft(Draft("a", None, "x" * LARGEST_DRAFT))
    keep_draft(Draft("a", None, "x" * (LARGEST_DRAFT + 1)))
    keep_draft(Draft("b", "ö" * (LARGEST_DRAFT // 2 + 1), ""))
    assert kept_drafts() == [Draft("a", None, "x" * LARGEST_DRAFT)]


@pytest.mark.parametrize(
    "content",
    [b"", b"[", b"null", b"{}", b"\xff", b"[" * 100_000, b"[null, 1, [], {}]"]
    + [
        json.dumps([odd]).encode()
        for odd in (
            {"name": "", "original": None, "text": ""},
            {"name": "a", "original": 1, "text": ""},
            {"name": "a", "original": None, "text": None},
            {"name": "a", "original": None},
            {"name": "a" * 201, "original": None, "text": ""},
            {"name": "a", "original": None, "text": "x" * (LARGEST_DRAFT + 1)},
            {"name": "\ud800", "original": None, "text": ""},
        )
    ],
)
def test_what_is_odd_is_passed_over_and_replaced(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    assert kept_drafts() == []
    keep_draft(Draft("a", None, "b"))
    assert kept_drafts() == [Draft("a", None, "b")]


def test_where_nothing_can_be_written_nothing_is_kept(file: Path) -> None:
    file.parent.write_text("a file where the folder should be", "utf-8")
    keep_draft(Draft("a", None, "b"))
    assert kept_drafts() == []
