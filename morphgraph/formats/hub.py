"""Tokenisers by their names on the Hugging Face hub: in its cache on this machine, or fetched."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from morphgraph.core.errors import FileFormatError
from morphgraph.core.text import shortened

_FETCHES: ContextVar[bool] = ContextVar("whether tokenisers are fetched", default=False)

_NAME = re.compile(r"(\w[\w.-]{0,95}(?:/\w[\w.-]{0,95})?)(?:@([\w./-]{1,200}))?")
_FILE_NAME = re.compile(r".*\.(json|txt|model|bpe|codes|vocab|tsv|csv|gz)", re.IGNORECASE)


@contextmanager
def fetching(is_wanted: bool) -> Iterator[None]:
    """Fetch tokenisers that are named and not here, if that is wanted."""
    before = _FETCHES.set(is_wanted)
    try:
        yield
    finally:
        _FETCHES.reset(before)


def folder_on_hub(
    source: str | os.PathLike[str], usual: Sequence[str], patterns: Sequence[str]
) -> Path | None:
    """Return the folder of a name such as ``org/model@revision``; None for what is no such name.

    It is looked for in the cache, by the ``usual`` names of a tokeniser's files; if it is not
    there, what fits the ``patterns`` is fetched into it, all of one commit, while `fetching`.
    No code of a model is run. Errors: `FileFormatError`, which says what to do.
    """
    name, named = str(source), _parts(source)
    if named is None:
        return None
    from huggingface_hub import snapshot_download, try_to_load_from_cache

    repository, revision = named
    try:
        for file in usual:
            cached = try_to_load_from_cache(repository, file, revision=revision)
            if isinstance(cached, str):
                return Path(cached).parent
        if _FETCHES.get():
            fetched = snapshot_download(repository, revision=revision, allow_patterns=[*patterns])
            return Path(fetched)
    except Exception as error:  # of several libraries below, on any of which it may run
        problem = f"it could not be fetched ({shortened(str(error).strip(), 160)})"
        fix = (
            "Check the name and the connection. A model behind a form needs “hf auth login” first."
        )
        raise FileFormatError(name, "", problem, fix, quotes=False) from error
    problem = "there is no such file or folder, and it is not in the cache of the Hugging Face hub"
    fix = "Add --download (download=True in Python) to fetch its tokeniser, or give a path."
    raise FileFormatError(name, "", problem, fix)


def check_is_here(source: str | os.PathLike[str], fix: str) -> None:
    """Refuse the name of what can be on the hub only, as a model with its weights."""
    if _parts(source) is not None:
        raise FileFormatError(str(source), "", "there is no such file or folder", fix)


def _parts(source: str | os.PathLike[str]) -> tuple[str, str | None] | None:
    """Return a repository and its revision, if this is a name and no path."""
    name = str(source)
    if _FILE_NAME.fullmatch(name) or os.path.exists(source):  # noqa: PTH110 - never raises
        return None
    named = _NAME.fullmatch(name)
    return named and (named[1], named[2])
