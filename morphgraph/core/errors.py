"""The library's errors, and checks of arguments."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from morphgraph.core.text import shortened

UNQUOTED = "MORPHGRAPH_UNQUOTED"
"""The environment variable set for runs that the app starts."""
_LINE = re.compile(r"(line|row) [\d,]+")


class MorphGraphError(Exception):
    """Any error that the user can act on.

    Lone surrogates in the message, from the name or content of a file, are shown as codes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))


class FileFormatError(MorphGraphError):
    """A file that cannot be read as the expected format.

    The message names the file, the place in it, what is wrong and what to do:

    >>> print(FileFormatError("gold.tsv", "line 3", "the word is empty", "Remove the line."))
    gold.tsv, line 3: the word is empty. Remove the line.

    ``quotes``: whether it may quote the file's content, as most do (see `unquoted`).
    """

    def __init__(
        self, file: str, place: str, problem: str, fix: str, *, quotes: bool = True
    ) -> None:
        self.quotes = quotes
        self.file, self.place, self.problem, self.fix = file, place, problem, fix
        where = f"{file}, {place}" if place else file
        super().__init__(f"{where}: {problem}. {fix}")

    def __reduce__(self) -> tuple[Any, ...]:
        remade = partial(type(self), quotes=self.quotes)
        return remade, (self.file, self.place, self.problem, self.fix)


@contextmanager
def unquoted(*files: str | os.PathLike[str], asked: bool | None = None) -> Iterator[None]:
    """Make errors about files named by path omit the files' content.

    A user who can make the app read a path may not be allowed to read the file. ``asked``: whether
    to do so; by default if ``MORPHGRAPH_UNQUOTED`` is set.
    """
    try:
        yield
    except MorphGraphError as error:
        is_asked = bool(os.environ.get(UNQUOTED)) if asked is None else asked
        if not is_asked or not getattr(error, "quotes", True):
            raise
        line = _LINE.match(getattr(error, "place", ""))
        fix = "Upload it, or open it on the command line, to see why."
        problem = "it cannot be read in the expected format"
        names = [Path(file).name for file in files]
        known = Path(getattr(error, "file", "")).name
        shown = known if known in names else ", ".join(names[:3])
        # Without the original error, which a traceback would show.
        raise FileFormatError(shown, line[0].rstrip(",") if line else "", problem, fix) from None


class NoMergesError(FileFormatError):
    """A valid tokeniser or vocabulary without merges, where they are needed."""


class NotTypesError(FileFormatError):
    """Lines of several words, where a list of types is wanted: perhaps segmentations.

    ``data``: the content of the file.
    """

    def __init__(self, *said: str, quotes: bool = True, data: bytes = b"") -> None:
        super().__init__(*said, quotes=quotes)
        self.data = data


class GoldGivenError(NotTypesError):
    """A gold list given as a tokeniser."""


class TokeniserGivenError(FileFormatError):
    """A tokeniser given as a gold list."""


EXTRA_OF = {
    "accelerate": "models",
    "cryptography": "batch",
    "distributed": "batch",
    "morfessor": "silver",
    "plotly": "batch",
    "pyarrow": "batch",
    "pyvis": "app",
    "sacrebleu": "models",
    "streamlit": "app",
    "torch": "models",
    "transformers": "models",
    "wordfreq": "wordfreq",
}
"""The extra of this package that brings each package that may be missing."""


def require(what: str, *packages: str) -> None:
    """Raise `MorphGraphError`, which says what to install, if a package is missing.

    ``what``: that which needs the packages, for the message.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        extra = EXTRA_OF.get(missing[0])
        brings = f"'morphgraph[{extra}]'" if extra else " ".join(missing)
        raise MorphGraphError(
            f"{what} needs {', '.join(missing)}, which is missing here. Run: pip install {brings}"
        )


def check_list(texts: Iterable[str], what: str) -> list[str]:
    """Return strings as a list; raise `MorphGraphError` for a single string or other items.

    ``what``: a plural noun for them.

    >>> check_list(("un", "do"), "types")
    ['un', 'do']
    """
    if isinstance(texts, str):
        shown = shortened(texts)
        raise MorphGraphError(f'“{shown}” is one string, not a list of {what}. Write ["{shown}"].')
    if not isinstance(texts, Iterable):
        raise MorphGraphError(
            f"{shortened(repr(texts))} is not a list of {what}. Give a list of strings."
        )
    listed = list(texts)
    wrong = next((text for text in listed if not isinstance(text, str)), None)
    if wrong is not None:
        raise MorphGraphError(
            f"{shortened(repr(wrong))} in a list of {what} is not a string. Give strings only."
        )
    return listed


def check_share(name: str, value: Any) -> None:
    """Raise `MorphGraphError` unless a value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MorphGraphError(f"{name}={value!r} is not a share. Give a number from 0 to 1.")


def check_seed(value: Any) -> None:
    """Raise `MorphGraphError` unless a value is a whole number of 0 or more."""
    if type(value) is not int or value < 0:
        raise MorphGraphError(f"seed={value!r} is not a seed. Give a whole number of 0 or more.")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise `MorphGraphError` unless a value is one of the choices."""
    if value not in choices:
        raise MorphGraphError(f"{name}={value!r} is not known. Use one of: {', '.join(choices)}.")


def nearest(name: str, names: Iterable[str]) -> str:
    """A question that names what somebody may have meant; nothing if no name is near.

    >>> nearest("flotta", ["bpe", "flota"]), nearest("x", ["bpe", "flota"])
    (' Did you mean “flota”?', '')
    """
    meant = get_close_matches(name, names, n=1)
    return f" Did you mean “{meant[0]}”?" if meant else ""
