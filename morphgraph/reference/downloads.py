"""Fetching a source of the catalogue once its licence is accepted: checked, resumable, and kept.

`pooch` gives a file its final name only after its SHA-256 was found right. Until then it is
``NAME.part``, from which the next try goes on.
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
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.locking import try_lock
from morphgraph.reference.catalogue import Source, find_source

if TYPE_CHECKING:
    import requests

TIMEOUTS = (10.0, 30.0)
"""Seconds to connect, and between two pieces."""

WAITS = (0.5, 1.0, 2.0)
"""Seconds before each further try after a connection was cut."""

_PIECE = 1 << 14
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")
_TRY_LATER = {429, 500, 502, 503, 504}

Progress = Callable[[float], object]
"""Is told the share that is there, 0 to 1."""


class _Cut(Exception):
    """The connection broke off, or the server is busy: what came is kept, and it is tried again."""


# ------------------------------------------------------------------------------ what is kept


def cache_folder() -> Path:
    """Where fetched references are kept: in ``$MORPHGRAPH_CACHE``, or the system's cache folder."""
    import pooch

    chosen = os.environ.get("MORPHGRAPH_CACHE")
    return (Path(chosen).expanduser() if chosen else pooch.os_cache("morphgraph")) / "references"


def cached_path(source: Source) -> Path:
    """Where the file of a source is, or would be."""
    return cache_folder() / f"{source.name}.tsv"


def is_downloaded(source: Source) -> bool:
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


def _is_intact(path: Path, source: Source) -> bool:
    import pooch

    try:
        return path.stat().st_size == source.size and pooch.file_hash(path) == source.sha256
    except OSError:
        return False


def how_to_fetch_by_hand(source: Source) -> str:
    """What to do for a source that cannot be fetched from here."""
    return (
        f"{source.name} ({source.title}) has to be fetched by yourself. {source.by_hand} "
        f"Licence: {source.licence} ({source.licence_url}). Home page: {source.home}. "
        f"Look at the file with “morphgraph reference show FILE --format {source.format}”, and "
        f"use it with “--reference FILE --format {source.format}”."
    )


# ------------------------------------------------------------------------------ fetching


def get(
    name: str,
    accept_licence: bool,
    progress: Progress | None = None,
    *,
    base_url: str | None = None,
) -> Path:
    """Fetch a source, unless it is there already, and return the path of its file.

    `progress` is told the share that is there, 0 to 1. `base_url` (``http://host:port``) takes the
    place of the source's server. Another process that fetches the same source is waited for.

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
    url = source.url if base_url is None else base_url.rstrip("/") + urlsplit(source.url).path
    if urlsplit(url).scheme not in ("http", "https"):
        raise MorphGraphError(f"{url} is no address that starts with http:// or https://.")
    download = _Download(source, path.with_suffix(".part"), progress or (lambda share: None))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.with_suffix(".lock"), download.report):
            if not _is_intact(path, source):
                _retrieve(url, path, download)
    except OSError as error:
        full = error.errno == errno.ENOSPC
        problem = "the disk is full" if full else (error.strerror or "it cannot be written").lower()
        raise MorphGraphError(
            f"{path}: {problem}. "
            + ("Make room, or choose" if full else "Choose")
            + " another folder with the environment variable MORPHGRAPH_CACHE."
        ) from error
    return path


def _retrieve(url: str, path: Path, download: _Download) -> None:
    import pooch

    source, logger = download.source, pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # the caller has a progress of its own
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{source.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=download,
        )
    except ValueError as error:  # pooch compared the sums and removed the file
        raise MorphGraphError(
            f"{source.name}: what came from {url} has the SHA-256 {download.received}, the "
            f"catalogue says {source.sha256}. It was changed there or on the way, and has been "
            f"removed. Try again; if that does not help, see {source.home} and use the file that "
            "is there with --reference FILE."
        ) from error
    finally:
        logger.setLevel(level)


class _Download:
    """A downloader for `pooch.retrieve` that goes on from the part an earlier one left."""

    def __init__(self, source: Source, part: Path, progress: Progress) -> None:
        self.source, self.part, self.progress = source, part, progress
        self.validator = part.with_suffix(".etag")
        self.received = ""

    def __call__(self, url: str, output_file: str, pooch_: Any) -> None:
        """Fetch into the part, and move it to `output_file` once it is complete."""
        import pooch

        left_from_before = self.have() > 0
        self._complete(url)
        self.received = pooch.file_hash(self.part)
        if left_from_before and self.received != self.source.sha256:
            # Its beginning may be that of another version: from the start, once.
            self._restart()
            self._complete(url)
            self.received = pooch.file_hash(self.part)
        self.validator.unlink(missing_ok=True)
        self.part.replace(output_file)

    def have(self) -> int:
        """How many bytes are in the part."""
        try:
            return self.part.stat().st_size
        except FileNotFoundError:
            return 0

    def report(self) -> None:
        """Tell the progress."""
        self.progress(min(self.have() / self.source.size, 1.0))

    def _restart(self) -> None:
        self.part.unlink(missing_ok=True)
        self.validator.unlink(missing_ok=True)

    def _complete(self, url: str) -> None:
        """Fetch until all is there; after a cut a few more times."""
        if self.have() > self.source.size:
            self._restart()
        if shutil.disk_usage(self.part.parent).free < self.source.size - self.have():
            raise OSError(errno.ENOSPC, "the disk is full")
        for wait in (*WAITS, None):
            try:
                self._go_on(url)
                self.report()
                return
            except _Cut as cut:
                if wait is None:
                    raise MorphGraphError(
                        f"{self.source.name}: {cut}, with {self.have():,} of "
                        f"{self.source.size:,} bytes from {url}. They are kept: the same command, "
                        "or button, resumes from there."
                    ) from cut
                time.sleep(wait)

    def _go_on(self, url: str) -> None:
        """One request for what is missing."""
        have = self.have()
        if have == self.source.size:
            return
        # Compressed, the positions of bytes would be those of another file.
        headers = {"Accept-Encoding": "identity", "User-Agent": "morphgraph"}
        etag = self._etag() if have else ""
        if have:
            headers["Range"] = f"bytes={have}-"
        if etag and not etag.startswith("W/"):  # a weak one does not stand for the same bytes
            headers["If-Range"] = etag
        with _request(url, headers) as response:
            status = response.status_code
            if have and (status == 416 or (status == 206 and not self._fits(response, have, etag))):
                self._restart()
            elif status == 200 or (status == 206 and have):
                self._take(response, have if status == 206 else 0)
                return
            elif status in _TRY_LATER:
                raise _Cut(f"the server is busy (it answers {status})")
            else:
                raise MorphGraphError(self._refused(url, status))
        self._go_on(url)

    def _etag(self) -> str:
        try:
            return self.validator.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _fits(self, response: requests.Response, have: int, etag: str) -> bool:
        """Whether an answer goes on exactly where the part ends, in the same file."""
        found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        return (
            found is not None
            and int(found[1]) == have
            and found[2] in ("*", str(self.source.size))
            and response.headers.get("Content-Encoding", "identity") == "identity"
            and (not etag or response.headers.get("ETag", etag) == etag)
        )

    def _take(self, response: requests.Response, have: int) -> None:
        """Write an answer behind the first `have` bytes of the part; those may be none."""
        import requests

        size, stated = self.source.size, _content_length(response)
        if stated is not None and have + stated > size:
            self._restart()
            raise MorphGraphError(self._changed(f"{have + stated:,} bytes"))
        if not have:
            etag = response.headers.get("ETag", "")
            self.validator.write_text(etag if len(etag) <= 200 else "", "utf-8")
        with self.part.open("ab" if have else "wb") as file:
            try:
                for piece in response.iter_content(_PIECE):
                    have += len(piece)
                    if have > size:
                        break
                    file.write(piece)
                    self.progress(have / size)
            except requests.exceptions.RequestException as error:
                raise _Cut("the connection was cut") from error
        if have > size:
            self._restart()
            raise MorphGraphError(self._changed("more bytes"))
        if have < size and response.status_code == 200 and stated is not None:
            self._restart()  # a cut would have been noticed: this is all there is
            raise MorphGraphError(self._changed(f"{have:,} bytes"))
        if have < size:
            raise _Cut("the connection was cut")

    def _changed(self, found: str) -> str:
        return (
            f"{self.source.name}: the file on the server has {found}, the catalogue says "
            f"{self.source.size:,}: it is not the one that was checked. See {self.source.home}, "
            "and use the file that is there with --reference FILE."
        )

    def _refused(self, url: str, status: int) -> str:
        gone = "there is no such file any more" if status in (404, 410) else "the server refuses"
        return (
            f"{self.source.name}: {gone} ({url} answers {status}). See {self.source.home}, and use "
            "the file that is there with --reference FILE."
        )


def _request(url: str, headers: dict[str, str]) -> requests.Response:
    """Ask for a file, without reading it yet."""
    import requests
    from requests import exceptions

    try:
        return requests.get(url, headers=headers, stream=True, timeout=TIMEOUTS)
    except exceptions.ReadTimeout as error:
        raise _Cut(f"the server does not answer within {TIMEOUTS[1]:g} seconds") from error
    except exceptions.ConnectionError as error:
        cause = error.args[0] if error.args else None
        if type(error) is exceptions.ConnectionError and not hasattr(cause, "reason"):
            raise _Cut("the connection was cut") from error  # it was made: no retries ran out
        raise _unreachable(url, error) from error
    except exceptions.RequestException as error:
        raise _unreachable(url, error) from error


def _unreachable(url: str, error: Exception) -> MorphGraphError:
    server = urlsplit(url).netloc
    kind = type(error).__name__
    return MorphGraphError(
        f"{server} cannot be reached ({kind}). Check the network, or the proxy in the environment "
        f"variable HTTPS_PROXY; or download {url} elsewhere, and use the file with --reference "
        "FILE."
    )


def _content_length(response: requests.Response) -> int | None:
    """How long an answer says it is; None if it does not, or is compressed all the same."""
    text = response.headers.get("Content-Length", "")
    plain = response.headers.get("Content-Encoding", "identity") == "identity"
    return int(text) if plain and re.fullmatch(r"[0-9]{1,18}", text) else None


# ------------------------------------------------------------------------------ one at a time


@contextmanager
def _alone(lock: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock that falls away with the process; `waiting` is called while another has it."""
    with lock.open("ab") as file:
        while not try_lock(file):
            waiting()
            time.sleep(0.1)
        yield
