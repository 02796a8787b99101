"""The catalogue of public gold references, and fetching one once its licence is accepted.

`catalogue.yaml` has their contents, owners, licences and citations. `pooch` downloads, tries again
after a cut, compares the checksum, and only then gives a file its name.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, NamedTuple

import yaml

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import writing
from morphgraph.core.limits import FILE_BYTES

_TIMEOUTS = (10.0, 30.0)  # seconds to connect, and between two pieces
_RETRIES = 2
_PIECE = 1 << 14

DownloadProgress = Callable[[float], object]  # called with the share that is there, 0 to 1


class Language(NamedTuple):
    """A language: its two-letter code, English name, script of its references, and family."""

    code: str
    name: str
    script: str
    family: str


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One public gold reference.

    `languages` are ISO 639-3 codes, `format` is a key of `READERS`, `size` is
    in bytes (0: unknown), `entries` counts non-blank lines, including any that a reader skips;
    `citation` is BibTeX. Its checksum is either `sha256` or `git_blob`, the id of the file in its
    git repository: the SHA-1 of ``blob SIZE``, a zero byte and the content. A source that cannot be
    fetched has neither, nor a `url` or `size`, but `by_hand`: where its file is and what to do.
    """

    name: str
    title: str
    languages: tuple[str, ...]
    format: str
    licence: str
    licence_url: str
    home: str
    citation: str
    entries: int | None = None
    url: str = ""
    sha256: str = ""
    git_blob: str = ""
    size: int = 0
    by_hand: str = ""

    @property
    def can_be_fetched(self) -> bool:
        """Whether its address and checksum are known."""
        return bool(self.url and (self.sha256 or self.git_blob))

    @property
    def language_names(self) -> str:
        """The English names of its languages."""
        return ", ".join(LANGUAGES[code].name for code in self.languages)


def _listed(found: list[dict[str, Any]]) -> Iterator[CatalogueEntry]:
    """Yield the sources of the file, each of a collection's as one."""
    for about in found:
        files = about.pop("files", None)
        if files is None:
            yield CatalogueEntry(**about | {"languages": tuple(about["languages"])})
        for language, entries, size, checksum in files or ():
            code, english, *_ = LANGUAGES[language]
            named = {"language": language, "code": code, "english": english.lower()}
            name, url = (about[key].format(**named) for key in ("name", "url"))
            facts = {"languages": (language,), "entries": entries, "size": size or 0}
            facts["sha256" if len(checksum) == 64 else "git_blob"] = checksum
            yield CatalogueEntry(**about | facts | {"name": name, "url": url})


_FILE: Any = yaml.load(
    Path(__file__).with_suffix(".yaml").read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)

LANGUAGES: Mapping[str, Language] = {
    code: Language(*about) for code, about in _FILE["languages"].items()
}
"""The languages by ISO 639-3 code."""

SOURCES: Mapping[str, CatalogueEntry] = {
    source.name: source for source in _listed(_FILE["sources"])
}
"""The sources by name; first those that can be fetched, by collection."""


def find_source(name: str) -> CatalogueEntry:
    """Return the source of a name, with or without ``catalogue:`` before it.

    An unknown name raises `MorphGraphError` with the most similar names.
    """
    bare = name.removeprefix("catalogue:")
    if bare not in SOURCES:
        like = difflib.get_close_matches(bare, SOURCES, n=3)
        hint = f"Did you mean {' or '.join(like)}? " if like else ""
        raise MorphGraphError(
            f"The catalogue has no source {bare!r}. {hint}"
            "“morphgraph reference list” shows all of them."
        )
    return SOURCES[bare]


def sources_of(language: str | None = None) -> list[CatalogueEntry]:
    """Return all sources, or those of a language (by code or English name), script or family.

    One without sources raises `MorphGraphError`, which lists the codes there are.
    """
    if language is None:
        return list(SOURCES.values())
    asked = language.casefold()
    codes = {c for c, about in LANGUAGES.items() if asked in (c, *map(str.casefold, about))}
    fitting = [source for source in SOURCES.values() if codes.intersection(source.languages)]
    if not fitting:
        known = sorted({code for source in SOURCES.values() for code in source.languages})
        raise MorphGraphError(
            f"The catalogue has no source of the language, script or family {language!r}. "
            f"Use one of: {', '.join(known)}."
        )
    return fitting


# ------------------------------------------------------------------------------ on this machine


def cached_path(source: CatalogueEntry) -> Path:
    """Where the file of a source is, or would be: in ``$MORPHGRAPH_CACHE``, or the system's cache.

    The name ends in .tsv whatever the file is.
    """
    import pooch

    chosen = os.environ.get("MORPHGRAPH_CACHE")
    folder = Path(chosen).expanduser() if chosen else pooch.os_cache("morphgraph")
    return folder / "references" / f"{source.name}.tsv"


def found_path(source: CatalogueEntry) -> Path | None:
    """The file of a source if it is there with the right checksum: fetched, or in the data folder.

    The data folder is that of the environment variable ``MORPHGRAPH_DATA``; files lie there as
    ``references/COLLECTION/FILE``.
    """
    if not source.can_be_fetched:
        return None
    places = [cached_path(source)]
    if data := os.environ.get("MORPHGRAPH_DATA"):
        collection = source.name.partition("-")[0]
        places.append(Path(data, "references", collection, source.url.rpartition("/")[2]))
    return next((path for path in places if is_intact(path, source)), None)


def is_downloaded(source: CatalogueEntry) -> bool:
    """Whether its file is there, with the right checksum."""
    return found_path(source) is not None


def expand_pattern(name: str) -> list[str]:
    """The sources that a pattern such as ``catalogue:morphscore1-*`` names and that are there.

    A name without ``*`` is itself. `MorphGraphError` if the pattern fits no source, or none of
    those that it fits is downloaded.
    """
    pattern = name.removeprefix("catalogue:")
    if "*" not in pattern or pattern == name:
        return [name]
    fitting = [source for source in SOURCES.values() if fnmatchcase(source.name, pattern)]
    there = [f"catalogue:{source.name}" for source in fitting if is_downloaded(source)]
    if not fitting:
        find_source(name)  # which fails
    if not there:
        names = ", ".join(source.name for source in fitting)
        raise MorphGraphError(
            f"{name}: none of these references is downloaded yet. Get some with “morphgraph "
            f"reference get NAME”: {names}."
        )
    return there


def local_path(name: str) -> Path:
    """The fetched file of a source, its checksum compared; nothing is fetched.

    The name may start with ``catalogue:``. A `MorphGraphError` says which command fetches a file
    that is not there or was changed since, or what to do by hand.
    """
    source, path = _to_fetch(name)
    if (intact := found_path(source)) is not None:
        return intact
    state = "was changed after it was downloaded" if path.exists() else "is not downloaded yet"
    raise MorphGraphError(
        f"The reference {source.name} {state}. Get it with “morphgraph reference get "
        f"{source.name}”, which shows its licence ({source.licence}) first."
    )


def is_intact(path: Path, source: CatalogueEntry) -> bool:
    """Whether a file is that of a source, by its checksum; not if it cannot be read."""
    try:
        size = path.stat().st_size
        if source.size and size != source.size:
            return False
        with path.open("rb") as file:
            if source.sha256:
                return hashlib.file_digest(file, "sha256").hexdigest() == source.sha256
            digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            while piece := file.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest() == source.git_blob
    except OSError:
        return False


def how_to_fetch_by_hand(source: CatalogueEntry) -> str:
    """What to do for a source that cannot be fetched from here."""
    return (
        f"You have to download {source.name} ({source.title}) yourself. {source.by_hand} "
        f"Licence: {source.licence} ({source.licence_url}). Home page: {source.home}. "
        f"Look at the file with “morphgraph reference show FILE --read format={source.format}”, "
        f"and use it with “morphgraph score TOKENISER FILE --read format={source.format}”."
    )


def _to_fetch(name: str) -> tuple[CatalogueEntry, Path]:
    source = find_source(name)
    if not source.can_be_fetched:
        raise MorphGraphError(how_to_fetch_by_hand(source))
    return source, cached_path(source)


# ------------------------------------------------------------------------------ fetching


def get(name: str, accept_licence: bool, progress: DownloadProgress | None = None) -> Path:
    """Fetch a source, unless it is there already, and return the path of its file.

    Whatever goes wrong is a `MorphGraphError`, be it the licence, the network, the file that
    arrives or the disk.
    """
    source, path = _to_fetch(name)
    if (intact := found_path(source)) is not None:
        return intact
    if not accept_licence:
        raise MorphGraphError(
            f"The licence of {source.name}: {source.licence} ({source.licence_url}). Nothing is "
            "fetched before you accept it: add --accept-licence."
        )
    with writing(path, " with the environment variable MORPHGRAPH_CACHE"):
        _fetch(path, source, progress or (lambda share: None))
    return path


def _fetch(path: Path, source: CatalogueEntry, tell: DownloadProgress) -> None:
    import pooch
    from requests import exceptions

    def download(url: str, output_file: str, pooch_: object) -> None:
        # Compressed, the size would be that of another file.
        headers = {"Accept-Encoding": "identity", "User-Agent": "morphgraph"}
        http = pooch.HTTPDownloader(chunk_size=_PIECE, timeout=_TIMEOUTS, headers=headers)
        with Path(output_file).open("wb") as file:
            http(url, _Metered(file, source, tell), pooch_)
        if not is_intact(Path(output_file), source):
            raise ValueError  # tried again, as if pooch had compared the checksums

    pooch.get_logger().setLevel("WARNING")  # the caller has a progress of its own
    path.unlink(missing_ok=True)  # it was changed
    known, urls = {path.name: None}, {path.name: source.url}
    fetcher = pooch.create(path.parent, "", registry=known, urls=urls, retry_if_failed=_RETRIES)
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
            f"environment variable HTTPS_PROXY; or {_elsewhere(source)}."
        ) from error
    except ValueError as error:  # pooch removed the file
        kind = "SHA-256" if source.sha256 else "git blob id"
        raise MorphGraphError(
            f"{source.name}: the file from {source.url} does not have the {kind} of the catalogue, "
            f"{source.sha256 or source.git_blob}, and was removed. Try again, or "
            f"{_elsewhere(source)}."
        ) from error


def _elsewhere(source: CatalogueEntry) -> str:
    return f"get the file from {source.home} and use it as gold"


class _Metered:
    """A file that tells how much of a source is written, and that refuses more than all of it."""

    def __init__(self, file: IO[bytes], source: CatalogueEntry, tell: DownloadProgress) -> None:
        self.file, self.source, self.tell = file, source, tell
        self.flush, self.most = file.flush, source.size or FILE_BYTES.value

    def write(self, piece: bytes) -> None:
        self.file.write(piece)
        if self.file.tell() > self.most:
            raise MorphGraphError(
                f"{self.source.name}: the file on the server has more than the {self.most:,} bytes "
                "of the catalogue, so it is not the one that was checked. To take it anyway, "
                f"{_elsewhere(self.source)}."
            )
        self.tell(self.file.tell() / self.most)
