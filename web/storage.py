"""What is kept on this machine: edits, and what each browser has open.

All of it is in ``$MORPHGRAPH_STATE`` or ``~/.local/state/morphgraph``. Where that cannot be
written, nothing is kept, and the app works all the same.

In public mode (`web.hosting`) everything of a visitor lies in the folder of their browser, runs
of evaluations too, and no edits are offered to other browsers. Nobody's folder makes room
for another's: where there is none left, it is the newcomer who is told.

The edits of a tokeniser are a recipe, one file for each tokeniser, named by the checksum that we
computed of it. A browser is known by a token that nobody can guess, a tab of it by a short number.
Each browser has a folder, called by the checksum of its token: in it a small JSON record for each
tab, and the files that records speak of, called by the checksum of their content. No name that a
user gave becomes a path, and nothing that is read is run. What is old goes, and the oldest of what
is too much.
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
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import read_bytes, write_file
from morphgraph.core.limits import PUBLIC_BROWSERS, PUBLIC_BYTES, PUBLIC_DAYS
from morphgraph.tokeniser.recipe import read_recipe, write_recipe
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.hosting import is_public

DAYS = 30
"""What was not used for so long is forgotten."""
MOST_BROWSERS = 100
MOST_TABS = 6
"""Of one browser."""
MOST_BYTES = 2_000_000_000
"""Of all browsers together."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_TAB = re.compile(r"[0-9a-f]{8}")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_JUST_WRITTEN = 600.0
"""Seconds in which a file that no record speaks of yet is left alone."""
_lock = threading.RLock()


def state_folder() -> Path:
    """Where all of it is kept."""
    chosen = os.environ.get("MORPHGRAPH_STATE")
    return Path(chosen) if chosen else Path.home() / ".local" / "state" / "morphgraph"


def days_kept() -> int:
    """For how many days after its last use something is kept."""
    return PUBLIC_DAYS.value if is_public() else DAYS


def without_folder(text: str) -> str:
    """A message without the folders in which a public app keeps what visitors bring.

    >>> without_folder("runs/demo: no space left")
    'runs/demo: no space left'
    """
    if not is_public():
        return text
    inside = rf"{re.escape(str(_browsers()))}/[0-9a-f]{{32}}/((runs|uploads)/)?"
    return re.sub(inside, "", text).replace(str(state_folder()), "the server's folder")


def make_private(folder: Path) -> None:
    """Make a folder, and those above it, that only this user of the machine can look into."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


# ------------------------------------------------------------------------------------- edits


def keep_recipe(tokeniser: BpeTokeniser) -> None:
    """Write the recipe of a tokeniser that has been edited, if it is not what is kept already.

    It is offered to every browser of this machine, so a public app keeps none.

    A recipe that does not go on from the kept one, nor back from it, came from another visit: the
    kept one is then set aside as the previous one.
    """
    if is_public() or not (tokeniser.graph.history or tokeniser.graph.undone):
        return
    path = _recipe_path(tokeniser.checksum)
    data = write_recipe(tokeniser)
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        old, new = kept_steps(tokeniser.checksum), tokeniser.graph.recipe()
        shared = min(len(old), len(new))
        if old[:shared] != new[:shared]:
            path.replace(_recipe_path(tokeniser.checksum, previous=True))
        write_file(path, data)
    except (MorphGraphError, OSError):
        return


def _recipe_path(checksum: str, *, previous: bool = False) -> Path:
    return state_folder() / f"{checksum}{'.previous' if previous else ''}.json"


def kept_steps(checksum: str, *, previous: bool = False) -> list[dict[str, Any]]:
    """The edits kept for a tokeniser, or those set aside before; none if they cannot be read."""
    path = _recipe_path(checksum, previous=previous)
    if is_public() or not path.is_file():
        return []
    try:
        steps: list[dict[str, Any]] = read_recipe(read_bytes(path), str(path))["steps"]
    except MorphGraphError:
        return []
    return steps


# ------------------------------------------------------------------------------------- browsers


@dataclass(frozen=True)
class BrowserStore:
    """What the browser with a token keeps, seen from one of its tabs.

    A new token has 256 random bits; the number of a tab need not be secret.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    tab: str = field(default_factory=lambda: secrets.token_hex(4))

    @classmethod
    def of(cls, token: object, tab: object) -> BrowserStore:
        """The store of a token and tab that a browser sent; new ones for what cannot be ours."""
        if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
            return cls()
        return cls(token, tab) if isinstance(tab, str) and _TAB.fullmatch(tab) else cls(token)

    @property
    def folder(self) -> Path:
        """Where it is kept. The token itself is in no name and no file."""
        return _browsers() / hashlib.sha256(self.token.encode()).hexdigest()[:32]

    def touch(self) -> None:
        """Note that the browser was here, if anything is kept for it."""
        with suppress(OSError):
            os.utime(self.folder)

    def forget(self) -> None:
        """Forget all that the browser keeps."""
        with _lock:
            shutil.rmtree(self.folder, ignore_errors=True)

    def record(self) -> bytes | None:
        """The record of this tab, or else the newest of another one; None if there is none."""
        others = sorted(self._tabs.glob("*.json"), key=_changed, reverse=True)
        for path in [self._own, *others]:
            try:
                if not _is_old(path.stat().st_mtime):
                    return path.read_bytes()
            except OSError:
                continue
        return None

    def file(self, checksum: str) -> bytes | None:
        """The file with this SHA-256; None if it is gone or is no longer what it was."""
        if not _CHECKSUM.fullmatch(checksum):
            return None
        try:
            data = (self._files / checksum).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == checksum else None

    def keep_file(self, data: bytes) -> str:
        """Keep the content of a file; its SHA-256. Raises `OSError` or `MorphGraphError`."""
        checksum = hashlib.sha256(data).hexdigest()
        path = self._files / checksum
        with _lock:
            if path.is_file():
                os.utime(path)
            else:
                check_room(self.folder, len(data))
                self._make_folders()
                write_file(path, data)
                tidy(but=self.folder)
        return checksum

    def keep_record(self, data: bytes) -> None:
        """Keep the record of this tab, and forget files that no record speaks of any more.

        A record speaks of a file if the file's SHA-256 is somewhere in it.
        """
        with _lock:
            if not self._own.is_file():
                check_room(self.folder, len(data))
            self._make_folders()
            write_file(self._own, data)
            tabs = sorted(self._tabs.glob("*.json"), key=_changed)
            for path in tabs[:-MOST_TABS]:
                path.unlink(missing_ok=True)
            records = b"\n".join(path.read_bytes() for path in tabs[-MOST_TABS:])
            for path in self._files.iterdir():
                is_new = time.time() - _changed(path) < _JUST_WRITTEN
                if path.name.encode() not in records and not is_new:
                    path.unlink(missing_ok=True)

    def _make_folders(self) -> None:
        if self._files.is_dir() and self._tabs.is_dir():
            return
        for folder in (self.folder, self._tabs, self._files):
            make_private(folder)
        tidy(but=self.folder)

    @property
    def _tabs(self) -> Path:
        return self.folder / "tabs"

    @property
    def _files(self) -> Path:
        return self.folder / "files"

    @property
    def _own(self) -> Path:
        return self._tabs / f"{self.tab}.json"


def check_room(folder: Path, size: int = 0) -> None:
    """A `MorphGraphError` where a public app has no room for so many bytes more in a folder."""
    if not is_public():
        return
    tidy(but=folder)
    sizes = _sizes()
    own = sizes.get(folder, 0) + size
    if own > PUBLIC_BYTES.value:
        raise MorphGraphError(
            f"Your files and runs would take {own:,} bytes here, the limit is "
            f"{PUBLIC_BYTES.value:,}. Delete your data, and open what you need."
        )
    full = len(sizes) >= PUBLIC_BROWSERS.value and folder not in sizes
    if full or sum(sizes.values()) + size > MOST_BYTES:
        raise MorphGraphError(
            "This server has no room left for files of visitors. Come back in a day, when what "
            "others left has expired, or run morphgraph on your own machine."
        )


def tidy(but: Path | None = None) -> None:
    """Forget browsers that were not here for long, and the oldest if all keep too much.

    ``but``: the folder of the one that is here now. In public mode only what is old goes.
    """
    with _lock:
        sizes = _sizes()
        for folder in sorted(sizes, key=_last_used):
            is_full = len(sizes) > MOST_BROWSERS or sum(sizes.values()) > MOST_BYTES
            too_much = is_full and not is_public()
            if folder != but and (too_much or _is_old(_last_used(folder))):
                shutil.rmtree(folder, ignore_errors=True)
                del sizes[folder]


def _sizes() -> dict[Path, int]:
    """The folders of browsers, and the bytes in each."""
    return {folder: _size(folder) for folder in browser_folders()}


def browser_folders() -> list[Path]:
    """The folder of each browser that keeps anything."""
    try:
        return list(_browsers().iterdir())
    except OSError:
        return []


def _browsers() -> Path:
    return state_folder() / "browsers"


def _is_old(moment: float) -> bool:
    return time.time() - moment > days_kept() * 86_400


def _last_used(folder: Path) -> float:
    return max(map(_changed, [folder, *(folder / "tabs").glob("*")]))


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    total = 0
    with suppress(OSError):  # a run may be at work in there
        for path in folder.rglob("*"):
            with suppress(OSError):
                total += path.stat().st_size if path.is_file() else 0
    return total
