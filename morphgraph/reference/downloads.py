"""Fetching a source of the catalogue once its licence is accepted: checked, resumable, and kept.

`pooch` downloads, compares the SHA-256, and only then gives a file its name. What it writes into
is ``NAME.part``, which outlives a cut: the next try asks for the rest.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import writing
from morphgraph.core.system import try_lock
from morphgraph.reference.catalogue import CatalogueEntry, find_source

if TYPE_CHECKING:
    import requests

TIMEOUTS = (10.0, 30.0)
"""Seconds to connect, and between two pieces."""

WAITS = (0.5, 1.0, 2.0)
"""Seconds before each further try after a connection was cut."""

_PIECE = 1 << 14
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")
_TRY_LATER = {429, 500, 502, 503, 504}

DownloadProgress = Callable[[float], object]
"""Called with the share that is there, 0 to 1."""


class _Cut(Exception):
    """The connection broke off, or the server is busy: what came is kept, and it is tried again."""


class _Misfit(Exception):
    """The server's answer does not continue the part: it is fetched from the start."""


def cache_folder() -> Path:
    """Where fetched references are kept: in ``$MORPHGRAPH_CACHE``, or the system's cache folder."""
    import pooch

    chosen = os.environ.get("MORPHGRAPH_CACHE")
    return (Path(chosen).expanduser() if chosen else pooch.os_cache("morphgraph")) / "references"


def cached_path(source: CatalogueEntry) -> Path:
    """Where the file of a source is, or would be."""
    return cache_folder() / f"{source.name}.tsv"


def is_downloaded(source: CatalogueEntry) -> bool:
    """Whether its file is there, with the right checksum."""
    return source.can_be_fetched and _is_intact(cached_path(source), source)


def local_path(name: str) -> Path:
    """The fetched file of a source, its checksum compared; nothing is fetched.

    The name may start with ``catalogue:``. A `MorphGraphError` says which command fetches a file
    that is not there or was changed since, or what to do by hand.
    """
    source = find_source(name)
    if not source.can_be_fetched:
        raise MorphGraphError(how_to_fetch_by_hand(source))
    path = cached_path(source)
    if _is_intact(path, source):
        return path
    state = "was changed after it was downloaded" if path.exists() else "is not downloaded yet"
    raise MorphGraphError(
        f"The reference {source.name} {state}. Get it with “morphgraph reference get "
        f"{source.name}”, which shows its licence ({source.licence}) first."
    )


def _is_intact(path: Path, source: CatalogueEntry) -> bool:
    import pooch

    try:
        return path.stat().st_size == source.size and pooch.file_hash(path) == source.sha256
    except OSError:
        return False


def how_to_fetch_by_hand(source: CatalogueEntry) -> str:
    """What to do for a source that cannot be fetched from here."""
    return (
        f"{source.name} ({source.title}) has to be fetched by yourself. {source.by_hand} "
        f"Licence: {source.licence} ({source.licence_url}). Home page: {source.home}. "
        f"Look at the file with “morphgraph reference show FILE --format {source.format}”, and "
        f"use it with “--reference FILE --format {source.format}”."
    )


def get(name: str, accept_licence: bool, progress: DownloadProgress | None = None) -> Path:
    """Fetch a source, unless it is there already, and return the path of its file.

    Another process that fetches the same source is waited for.

    Raises `MorphGraphError` for an unknown source, one to fetch by hand, a licence that was not
    accepted, a file that is missing, longer or shorter than stated or of another SHA-256, a server
    that cannot be reached or breaks off (then what came stays for the next time), and a full disk.
    """
    source = find_source(name)
    if not source.can_be_fetched:
        raise MorphGraphError(how_to_fetch_by_hand(source))
    path = cached_path(source)
    if _is_intact(path, source):
        return path
    if not accept_licence:
        raise MorphGraphError(
            f"{source.name} is under {source.licence} ({source.licence_url}). Nothing is fetched "
            "before you accept the licence: add --accept-licence."
        )
    part = _Part(source, path.with_suffix(".part"), progress or (lambda share: None))
    with writing(path, " with the environment variable MORPHGRAPH_CACHE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.with_suffix(".lock"), part.report):
            if not _is_intact(path, source):
                _retrieve(path, part)
    return path


def _retrieve(path: Path, part: _Part) -> None:
    """Let pooch fetch a file; once more from the start if what an earlier try left was wrong."""
    import pooch

    source, logger = part.source, pooch.get_logger()
    logger.setLevel("WARNING")  # the caller has a progress of its own
    left_from_before = part.length > 0
    known, folder = f"sha256:{source.sha256}", path.parent
    try:
        pooch.retrieve(source.url, known, path.name, folder, downloader=part.complete)
    except ValueError as error:  # pooch compared the sums and removed the file
        if left_from_before:
            _retrieve(path, part)
            return
        raise MorphGraphError(
            f"{source.name}: what came from {source.url} has the SHA-256 {part.checksum}, the "
            f"catalogue says {source.sha256}. It was changed there or on the way, and has been "
            f"removed. Try again; if that does not help, see {source.home} and use the file that "
            "is there with --reference FILE."
        ) from error


class _Part:
    """What is there of a file so far, and how pooch gets the rest: ``complete`` downloads it."""

    def __init__(self, source: CatalogueEntry, path: Path, progress: DownloadProgress) -> None:
        self.source, self.path, self.progress = source, path, progress
        self.validator = path.with_suffix(".etag")
        self.checksum = ""

    @property
    def length(self) -> int:
        """How many bytes there are."""
        return self.path.stat().st_size if self.path.exists() else 0

    def report(self) -> None:
        """Tell the progress."""
        self.progress(min(self.length / self.source.size, 1.0))

    def _append(self, piece: bytes) -> None:
        """Put a piece behind what is there; a file that grows too long is an error."""
        if self.length + len(piece) > self.source.size:
            raise self._changed("more bytes")
        with self.path.open("ab") as file:
            file.write(piece)
        self.report()

    def complete(self, url: str, output_file: str, pooch_: object) -> None:
        """Fetch until all is there, after a cut a few more times; then move it."""
        import pooch

        if self.length > self.source.size:
            self._drop()
        if shutil.disk_usage(self.path.parent).free < self.source.size - self.length:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        waits = list(WAITS)
        while self.length < self.source.size:
            try:
                self._ask(url)
            except _Misfit:
                self._drop()
            except _Cut as cut:
                if not waits:
                    raise MorphGraphError(
                        f"{self.source.name}: {cut}, with {self.length:,} of "
                        f"{self.source.size:,} bytes from {url}. They are kept: the same command, "
                        "or button, resumes from there."
                    ) from cut
                time.sleep(waits.pop(0))
        self.report()
        self.checksum = pooch.file_hash(self.path)
        self.validator.unlink(missing_ok=True)
        self.path.replace(output_file)

    def _drop(self) -> None:
        self.path.unlink(missing_ok=True)
        self.validator.unlink(missing_ok=True)

    def _ask(self, url: str) -> None:
        """One request for what is missing."""
        import requests
        from requests import exceptions

        # Compressed, the positions of bytes would be those of another file.
        headers = {"Accept-Encoding": "identity", "User-Agent": "morphgraph"}
        if self.length:
            headers["Range"] = f"bytes={self.length}-"
            if (etag := self._etag()) and not etag.startswith("W/"):  # weak: not the same bytes
                headers["If-Range"] = etag
        answer = None
        try:
            with requests.get(url, headers=headers, timeout=TIMEOUTS, stream=True) as answer:
                self._judge(answer)
                for piece in answer.iter_content(_PIECE):
                    self._append(piece)
        except exceptions.ReadTimeout as error:
            problem = f"the server does not answer within {TIMEOUTS[1]:g} seconds"
            raise _Cut(problem) from error
        except exceptions.RequestException as error:
            cause = error.args[0] if error.args else None
            is_made = type(error) is exceptions.ConnectionError and not hasattr(cause, "reason")
            if answer is not None or is_made:  # else all tries to connect ran out
                raise _Cut("the connection was cut") from error
            raise MorphGraphError(
                f"{urlsplit(url).netloc} cannot be reached ({type(error).__name__}). Check the "
                "network, or the proxy in the environment variable HTTPS_PROXY; or download "
                f"{url} elsewhere, and use the file with --reference FILE."
            ) from error
        if self.length < self.source.size:
            if _content_length(answer) is None:
                raise _Cut("the connection was cut")
            raise self._changed(f"{self.length:,} bytes")  # a cut would have been noticed

    def _judge(self, answer: requests.Response) -> None:
        """See what an answer is before anything is read of it."""
        status, length = answer.status_code, self.length
        if status == 206 and length:
            if not self._continues(answer):
                raise _Misfit
        elif status == 200:
            if length:
                self._drop()
            etag = answer.headers.get("ETag", "")
            self.validator.write_text(etag if len(etag) <= 200 else "", "utf-8")
        else:
            raise self._refused(answer.url, status)
        stated = _content_length(answer)
        if stated is not None and self.length + stated > self.source.size:
            raise self._changed(f"{self.length + stated:,} bytes")

    def _continues(self, answer: requests.Response) -> bool:
        """Whether an answer continues exactly where the part ends, in the same file."""
        found = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        etag = self._etag()
        return (
            found is not None
            and int(found[1]) == self.length
            and found[2] in ("*", str(self.source.size))
            and answer.headers.get("Content-Encoding", "identity") == "identity"
            and (not etag or answer.headers.get("ETag", etag) == etag)
        )

    def _etag(self) -> str:
        try:
            return self.validator.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _refused(self, url: str, status: int) -> Exception:
        if status == 416 and self.length:
            return _Misfit()
        if status in _TRY_LATER:
            return _Cut(f"the server is busy (it answers {status})")
        gone = "there is no such file any more" if status in (404, 410) else "the server refuses"
        return MorphGraphError(
            f"{self.source.name}: {gone} ({url} answers {status}). See {self.source.home}, and use "
            "the file that is there with --reference FILE."
        )

    def _changed(self, found: str) -> MorphGraphError:
        self._drop()
        return MorphGraphError(
            f"{self.source.name}: the file on the server has {found}, the catalogue says "
            f"{self.source.size:,}: it is not the one that was checked. See {self.source.home}, "
            "and use the file that is there with --reference FILE."
        )


def _content_length(answer: requests.Response) -> int | None:
    """How long an answer says it is; None if it does not, or is compressed all the same."""
    text = answer.headers.get("Content-Length", "")
    plain = answer.headers.get("Content-Encoding", "identity") == "identity"
    return int(text) if plain and re.fullmatch(r"[0-9]{1,18}", text) else None


@contextmanager
def _alone(lock: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock that falls away with the process; `waiting` is called while another has it."""
    with lock.open("ab") as file:
        while not try_lock(file):
            waiting()
            time.sleep(0.1)
        yield
