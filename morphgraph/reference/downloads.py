"""Fetching a source of the catalogue once its licence is accepted: checked, and kept.

`pooch` downloads, tries again after a cut, compares the SHA-256, and only then gives a file its
name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import writing
from morphgraph.core.system import try_lock
from morphgraph.reference.catalogue import CatalogueEntry, find_source

TIMEOUTS = (10.0, 30.0)
"""Seconds to connect, and between two pieces."""
RETRIES = 2
"""How often a download that failed is tried again."""
_PIECE = 1 << 14

DownloadProgress = Callable[[float], object]
"""Called with the share that is there, 0 to 1."""


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
    accepted, a file that is missing, longer than stated or of another SHA-256, a server that cannot
    be reached or breaks off, and a full disk.
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
    tell = progress or (lambda share: None)
    with writing(path, " with the environment variable MORPHGRAPH_CACHE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.with_suffix(".lock"), lambda: tell(0.0)):
            if not _is_intact(path, source):
                _fetch(path, source, tell)
    return path


def _fetch(path: Path, source: CatalogueEntry, tell: DownloadProgress) -> None:
    import pooch
    from requests import exceptions

    def download(url: str, output_file: str, pooch_: object) -> None:
        # Compressed, the size would be that of another file.
        headers = {"Accept-Encoding": "identity", "User-Agent": "morphgraph"}
        http = pooch.HTTPDownloader(chunk_size=_PIECE, timeout=TIMEOUTS, headers=headers)
        with Path(output_file).open("wb") as file:
            http(url, _Metered(file, source, tell), pooch_)

    pooch.get_logger().setLevel("WARNING")  # the caller has a progress of its own
    fetcher = pooch.create(
        path.parent,
        base_url="",
        registry={path.name: f"sha256:{source.sha256}"},
        urls={path.name: source.url},
        retry_if_failed=RETRIES,
    )
    try:
        fetcher.fetch(path.name, downloader=download)
    except exceptions.RequestException as error:
        answer = error.response
        problem = f"breaks off or cannot be reached ({type(error).__name__})"
        if answer is not None:
            gone = "there is no such file any more" if answer.status_code in (404, 410) else ""
            problem = f"answers {answer.status_code}{gone and f': {gone}'}"
        raise MorphGraphError(
            f"{source.name}: {source.url} {problem}. Check the network, or the proxy in the "
            f"environment variable HTTPS_PROXY; or see {source.home}, and use the file that is "
            "there with --reference FILE."
        ) from error
    except ValueError as error:  # pooch compared the sums and removed the file
        raise MorphGraphError(
            f"{source.name}: what came from {source.url} does not have the SHA-256 of the "
            f"catalogue, {source.sha256}. It was changed there or on the way, and has been "
            f"removed. Try again; if that does not help, see {source.home} and use the file that "
            "is there with --reference FILE."
        ) from error


class _Metered:
    """A file that tells how much of a source is written, and that refuses more than all of it."""

    def __init__(self, file: IO[bytes], source: CatalogueEntry, tell: DownloadProgress) -> None:
        self.file, self.source, self.tell = file, source, tell
        self.flush = file.flush

    def write(self, piece: bytes) -> None:
        """Write a piece."""
        self.file.write(piece)
        if self.file.tell() > self.source.size:
            raise MorphGraphError(
                f"{self.source.name}: the file on the server has more than the "
                f"{self.source.size:,} bytes of the catalogue: it is not the one that was checked. "
                f"See {self.source.home}, and use the file that is there with --reference FILE."
            )
        self.tell(self.file.tell() / self.source.size)


@contextmanager
def _alone(lock: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold a lock that falls away with the process; `waiting` is called while another has it."""
    with lock.open("ab") as file:
        while not try_lock(file):
            waiting()
            time.sleep(0.1)
        yield
