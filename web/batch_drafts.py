"""Own and edited texts of evaluations, kept on this machine so that a reload loses nothing.

One small JSON file with the newest texts. Where it cannot be read or written, or holds anything
else, the app works all the same, and nothing is kept.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from morphgraph.batch.store import write_atomically
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.reading import parse_json, read_bytes
from web import autosave

MOST_TEXTS = 20
MOST_BYTES = 200_000
_NAME_LENGTH = 200
_FILE_BYTES = 20_000_000
_lock = threading.Lock()


@dataclass(frozen=True)
class Draft:
    """A text by its name; ``original``: what it was opened as, None for one that ships."""

    name: str
    original: str | None
    text: str


def fits(text: str) -> bool:
    """Whether a text is small enough to be kept."""
    return len(text.encode("utf-8", "replace")) <= MOST_BYTES


def kept_drafts() -> list[Draft]:
    """What is kept, the newest last; nothing if it cannot be read."""
    path = _path()
    try:
        if not path.is_file() or path.stat().st_size > _FILE_BYTES:
            return []
        found = parse_json(read_bytes(path), path.name)
    except (MorphGraphError, OSError):
        return []
    drafts = [_draft(one) for one in found] if isinstance(found, list) else []
    return [draft for draft in drafts if draft is not None][-MOST_TEXTS:]


def keep_draft(draft: Draft) -> None:
    """Keep a text in place of the earlier one of its name; one that is too large is not kept."""
    if not (fits(draft.text) and fits(draft.original or "")):
        return
    _replace(draft.name, draft)


def forget_draft(name: str) -> None:
    """Keep nothing under a name any more."""
    _replace(name, None)


def _replace(name: str, draft: Draft | None) -> None:
    with _lock:
        before = kept_drafts()
        after = [one for one in before if one.name != name]
        if draft is not None:
            after = [*after, draft][-MOST_TEXTS:]
        if after == before:
            return
        text = json.dumps([asdict(one) for one in after], ensure_ascii=False)
        try:
            write_atomically(_path(), text.encode("utf-8", "replace"))
        except (MorphGraphError, OSError):
            return


def _path() -> Path:
    return autosave.folder() / "drafts.json"


def _draft(given: object) -> Draft | None:
    if not isinstance(given, dict):
        return None
    name, original, text = (given.get(key) for key in ("name", "original", "text"))
    if not (isinstance(name, str) and 0 < len(name) <= _NAME_LENGTH and isinstance(text, str)):
        return None
    if not (original is None or isinstance(original, str)):
        return None
    return Draft(name, original, text) if fits(text) and fits(original or "") else None
