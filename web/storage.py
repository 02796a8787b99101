"""What is stored on this machine: what each browser has open.

All of it is in ``$MORPHGRAPH_STATE`` or ``~/.local/state/morphgraph``. A browser is identified by
an unguessable token, its tabs by short numbers. Each browser has a folder, named by the checksum of
its token, with a JSON record for each tab and the files that records refer to, named by the
checksums of their contents. No name given by a user becomes a path, and nothing that is read is
executed. Old data is deleted, and the oldest if there is too much.

In public mode everything of a visitor is in the folder of their browser, including evaluation runs.
No visitor's folder is deleted to make room for another's: if storage is full, the newcomer is told.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.limits import PUBLIC_BROWSERS, PUBLIC_BYTES, PUBLIC_DAYS, is_public

DAYS = 30
"""Data unused for this many days is deleted."""
MOST_BROWSERS = 100
MOST_TABS = 6
"""The limit of one browser."""
MOST_BYTES = 2_000_000_000
"""The limit of all browsers together."""
_JUST_WRITTEN = 600.0
"""The seconds during which a new file without a record is not deleted."""
_lock = threading.RLock()


def state_folder() -> Path:
    """Return the folder of all stored data."""
    chosen = os.environ.get("MORPHGRAPH_STATE")
    return Path(chosen) if chosen else Path.home() / ".local" / "state" / "morphgraph"


def days_kept() -> int:
    """Return for how many days after its last use data is kept."""
    return PUBLIC_DAYS.value if is_public() else DAYS


def without_folder(text: str) -> str:
    """Remove from a message the folders in which a public app stores visitors' files.

    >>> without_folder("runs/demo: no space left")
    'runs/demo: no space left'
    """
    if not is_public():
        return text
    inside = rf"{re.escape(str(_browsers()))}/[0-9a-f]{{32}}/((runs|uploads)/)?"
    return re.sub(inside, "", text).replace(str(state_folder()), "the server's folder")


def make_private(folder: Path) -> None:
    """Create a folder and its parents, accessible only to this user of the machine."""
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


@dataclass(frozen=True)
class BrowserStore:
    """The stored data of a browser, known by 256 random bits, as seen from one of its tabs."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    tab: str = field(default_factory=lambda: secrets.token_hex(4))

    @classmethod
    def of(cls, token: object, tab: object) -> BrowserStore:
        """Return the store of a browser's token and tab, new ones if they are invalid."""
        if not (isinstance(token, str) and re.fullmatch(r"[A-Za-z0-9_-]{43}", token)):
            return cls()
        is_tab = isinstance(tab, str) and re.fullmatch(r"[0-9a-f]{8}", tab)
        return cls(token, str(tab)) if is_tab else cls(token)

    @property
    def folder(self) -> Path:
        """The folder of the data. No name and no file contains the token itself."""
        return _browsers() / hashlib.sha256(self.token.encode()).hexdigest()[:32]

    def forget(self) -> None:
        """Delete everything stored for the browser."""
        with _lock:
            shutil.rmtree(self.folder, ignore_errors=True)

    def record(self) -> bytes | None:
        """Return the record of this tab, or the newest of another tab; None if there is none."""
        others = sorted(self.folder.glob("tabs/*.json"), key=_changed, reverse=True)
        for path in [self._own_record, *others]:
            with suppress(OSError):
                if not _is_old(path.stat().st_mtime):
                    return path.read_bytes()
        return None

    def file(self, checksum: str) -> bytes | None:
        """Return the file with this SHA-256; None if it is missing or was changed."""
        data = None
        if re.fullmatch(r"[0-9a-f]{64}", checksum):
            with suppress(OSError):
                data = (self.folder / "files" / checksum).read_bytes()
        is_same = data is not None and hashlib.sha256(data).hexdigest() == checksum
        return data if is_same else None

    def keep_file(self, data: bytes) -> str:
        """Store a file's content and return its SHA-256. Raises `OSError` or `MorphGraphError`."""
        checksum = hashlib.sha256(data).hexdigest()
        path = self.folder / "files" / checksum
        with _lock:
            if path.is_file():
                os.utime(path)
            else:
                check_space(self.folder, len(data))
                self._make_folders()
                write_file(path, data)
                tidy(but=self.folder)
        return checksum

    def keep_record(self, data: bytes) -> None:
        """Store the record of this tab; files whose SHA-256 is in no record any more go."""
        with _lock:
            if not self._own_record.is_file():
                check_space(self.folder, len(data))
            self._make_folders()
            write_file(self._own_record, data)
            tabs = sorted(self.folder.glob("tabs/*.json"), key=_changed)
            for path in tabs[:-MOST_TABS]:
                path.unlink(missing_ok=True)
            records = b"\n".join(path.read_bytes() for path in tabs[-MOST_TABS:])
            for path in (self.folder / "files").iterdir():
                is_new = time.time() - _changed(path) < _JUST_WRITTEN
                if path.name.encode() not in records and not is_new:
                    path.unlink(missing_ok=True)

    @property
    def _own_record(self) -> Path:
        return self.folder / "tabs" / f"{self.tab}.json"

    def _make_folders(self) -> None:
        folders = [self.folder, self.folder / "tabs", self.folder / "files"]
        if not all(folder.is_dir() for folder in folders):
            for folder in folders:
                make_private(folder)
            tidy(but=self.folder)


def check_space(folder: Path, size: int = 0) -> None:
    """Raise `MorphGraphError` if a public app has no room for this many more bytes in a folder."""
    if not is_public():
        return
    tidy(but=folder)
    sizes = {each: _size(each) for each in browser_folders()}
    own = sizes.get(folder, 0) + size
    if own > PUBLIC_BYTES.value:
        raise MorphGraphError(
            f"Your files and runs would take {own:,} bytes here; the limit is "
            f"{PUBLIC_BYTES.value:,}. Delete your data, and open what you need."
        )
    full = len(sizes) >= PUBLIC_BROWSERS.value and folder not in sizes
    if full or sum(sizes.values()) + size > MOST_BYTES:
        raise MorphGraphError(
            "This server has no room left for visitors' files. Try again tomorrow, when older "
            "files have been deleted, or run morphgraph on your own machine."
        )


def tidy(but: Path | None = None) -> None:
    """Delete data of browsers long unused; but in public mode, the oldest if there is too much."""

    def last_used(folder: Path) -> float:
        return max(map(_changed, [folder, *(folder / "tabs").glob("*")]))

    with _lock:
        sizes = {folder: _size(folder) for folder in browser_folders()}
        for folder in sorted(sizes, key=last_used):
            is_full = len(sizes) > MOST_BROWSERS or sum(sizes.values()) > MOST_BYTES
            too_much = is_full and not is_public()
            if folder != but and (too_much or _is_old(last_used(folder))):
                shutil.rmtree(folder, ignore_errors=True)
                del sizes[folder]


def browser_folders() -> list[Path]:
    """Return the folder of each browser for which data is stored."""
    try:
        return list(_browsers().iterdir())
    except OSError:
        return []


def _browsers() -> Path:
    return state_folder() / "browsers"


def _is_old(moment: float) -> bool:
    return time.time() - moment > days_kept() * 86_400


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    total = 0
    with suppress(OSError):  # a run may be writing there
        for path in folder.rglob("*"):
            with suppress(OSError):
                total += path.stat().st_size if path.is_file() else 0
    return total
