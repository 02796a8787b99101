"""Texts of evaluations are kept on disk, within bounds, and what is odd there is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from web.storage import LARGEST_DRAFT, MOST_DRAFTS, Draft, forget_draft, keep_draft, kept_drafts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "drafts.json"


def test_the_newest_texts_are_kept_by_name(folder: Path) -> None:
    assert kept_drafts(folder) == []
    for number in range(MOST_DRAFTS + 2):
        keep_draft(folder, Draft(f"{number}", None, "a"))
    keep_draft(folder, Draft("5", "ö", "b\r\n\0"))
    kept = kept_drafts(folder)
    assert [draft.name for draft in kept] == [*"234", *map(str, range(6, MOST_DRAFTS + 2)), "5"]
    assert kept[-1] == Draft("5", "ö", "b\r\n\0")
    forget_draft(folder, "5")
    assert kept == [*kept_drafts(folder), kept[-1]]
    assert [path.name for path in folder.iterdir()] == ["drafts.json"]


def test_a_text_that_is_too_large_leaves_what_is_kept(folder: Path) -> None:
    keep_draft(folder, Draft("a", None, "x" * LARGEST_DRAFT))
    keep_draft(folder, Draft("a", None, "x" * (LARGEST_DRAFT + 1)))
    keep_draft(folder, Draft("b", "ö" * (LARGEST_DRAFT // 2 + 1), ""))
    assert kept_drafts(folder) == [Draft("a", None, "x" * LARGEST_DRAFT)]


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
def test_what_is_odd_is_passed_over_and_replaced(folder: Path, file: Path, content: bytes) -> None:
    folder.mkdir()
    file.write_bytes(content)
    assert kept_drafts(folder) == []
    keep_draft(folder, Draft("a", None, "b"))
    assert kept_drafts(folder) == [Draft("a", None, "b")]


def test_where_nothing_can_be_written_nothing_is_kept(folder: Path) -> None:
    folder.write_text("a file where the folder should be", "utf-8")
    keep_draft(folder, Draft("a", None, "b"))
    assert kept_drafts(folder) == []
