"""Reading and writing files, within limits, with errors that say what to do."""

import errno
import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import FILE_BYTES, JSON_MEMORY

MAX_DEPTH = 100
"""JSON nested more deeply than this is refused, as copying it could exhaust the stack."""


def read_bytes(source: str | os.PathLike[str], name: str | None = None) -> bytes:
    """The bytes of a file or pipe, called ``name`` in errors.

    A missing, unreadable, empty or too large one is a `FileFormatError`.
    """
    path = Path(source)
    shown = str(path) if name is None else name
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileFormatError(shown, "", "it is a folder", "Name a file in it.", quotes=False)
        if stat.S_ISREG(status.st_mode):
            check_size(shown, status.st_size)
        with path.open("rb") as file:
            # One byte more shows that the limit is passed, even where the size is unknown.
            data = file.read(FILE_BYTES.value + 1)
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        fix = "Check the path and its permissions."
        raise FileFormatError(shown, "", problem, fix, quotes=False) from error
    check_size(shown, len(data))
    return data


_HUB_NAME = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?")


_FILE_NAME = re.compile(r".*\.(json|txt|model|bpe|codes|vocab|tsv|csv|gz)", re.IGNORECASE)


def check_is_there(source: str | os.PathLike[str], fix: str = "") -> None:
    """Refuse what is not a path but may be the name of a tokeniser on a hub, and say what to do.

    ``fix``: what to do for something else than a tokeniser.
    """
    name = str(source)
    is_name = _HUB_NAME.fullmatch(name) and not _FILE_NAME.fullmatch(name)
    if is_name and not os.path.exists(source):  # noqa: PTH110 - unlike Path.exists, never raises
        raise FileFormatError(
            name,
            "",
            "there is no such file or folder, and nothing is looked up on a hub",
            fix
            or "Download its tokenizer.json, or save it with "
            f'AutoTokenizer.from_pretrained("{name}").save_pretrained("folder"), and give the path '
            "of that.",
        )


def check_size(name: str, size: int) -> None:
    """Refuse an empty or too large file."""
    if size == 0:
        fix = "Choose a file with content."
        raise FileFormatError(name, "", "the file is empty", fix, quotes=False)
    FILE_BYTES.check(size, name, fix="Choose a smaller file, leave out what is not needed")


def checksum(data: bytes) -> str:
    """SHA-256 of some bytes, the first 12 hexadecimal digits.

    >>> checksum(b"morphgraph")[:4]
    '3920'
    """
    return hashlib.sha256(data).hexdigest()[:12]


def decode_utf8(data: bytes, name: str) -> str:
    """Text from UTF-8, with or without a byte order mark; else the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            name,
            f"line {line:,}",
            f"byte 0x{data[error.start]:02X} is not valid UTF-8",
            "Save the file as UTF-8.",
        ) from error


_INSIDE = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""


_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{0,2}")


_WHOLE = re.compile(
    r"(?>[^\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\(?!u[dD][89a-fA-F]).)*+",
    re.S,
)
"""JSON text up to the first escape that is half of a pair without the other half."""


def _values_memory(data: bytes) -> int:
    """About how many bytes the values of JSON take once they are parsed, and at most 20 % more.

    What counts is each sign that makes a value, even one inside a string: nothing is parsed.
    """
    signs = ((b":", 250), (b"{", 120), (b"[", 120), (b",", 70))
    # The text, and the strings in it.
    return 2 * text_memory(data) + sum(weight * data.count(sign) for sign, weight in signs)


def text_memory(data: bytes) -> int:
    """About how many bytes UTF-8 takes as a string, whose widest character decides.

    >>> text_memory(b"ab"), text_memory("a𝔘".encode())
    (2, 8)
    """
    if data.isascii():
        return len(data)
    pieces = (data[start : start + 2**20] for start in range(0, len(data), 2**20))
    characters = sum(len(piece.translate(None, _INSIDE)) for piece in pieces)
    return characters * (4 if re.search(rb"[\xf0-\xff]", data) else 2)


def _lone_surrogate(text: str) -> re.Match[str] | None:
    """The first escape in JSON text that is half of a pair without the other half."""
    whole = _WHOLE.match(text)
    return _HALF.match(text, whole.end() if whole else 0)


def parse_json(data: bytes, name: str) -> Any:
    """JSON; malformed, cut off or too deeply nested is a `FileFormatError`."""
    JSON_MEMORY.check(_values_memory(data), name)
    text = decode_utf8(data, name)
    if "\\u" in text and (half := _lone_surrogate(text)):
        line = text.count("\n", 0, half.start()) + 1
        problem = f"{half.group()} is half of a surrogate pair, which is not a character"
        raise FileFormatError(name, f"line {line:,}", problem, "Download the file again.")
    too_deep = FileFormatError(
        name, "", "the JSON is nested too deeply or has a huge number", "Correct it."
    )
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
        raise FileFormatError(
            name,
            f"line {error.lineno:,}, column {error.colno:,}",
            "the JSON is cut off" if cut_off else f"this is not JSON ({error.msg.lower()})",
            "Copy or download the file again." if cut_off else "Correct it there.",
        ) from error
    except (RecursionError, ValueError) as error:
        raise too_deep from error
    level = [document] if isinstance(document, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        values = (value.values() if isinstance(value, dict) else value for value in level)
        level = [v for inner in values for v in inner if isinstance(v, (dict, list))]
    if level:
        raise too_deep
    return document


PARTIAL = ".partial-"
"""How the names of files begin that are being written by `write_atomically`."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file such that it is there with all its content, or as it was before.

    A `MorphGraphError` names the file and what to do, such as where the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=PARTIAL, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> MorphGraphError:
    """The error that a file or folder of a run cannot be written, and what to do about it."""
    problem = (error.strerror or "it cannot be written").lower()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        fix = "Make room there and run the same command again: it resumes where it stopped."
    else:
        fix = "Choose another folder with --out, or mend its permissions."
    return MorphGraphError(f"{path}: {problem}. {fix}")


def document_field(
    document: Any,
    key: str,
    kind: type | tuple[type, ...],
    *,
    of: type | None = None,
    optional: bool = False,
) -> Any:
    """A field of a saved model; `FileFormatError` if it is missing or of the wrong kind.

    ``of``: the kind of all items of a list; ``optional``: it may be null or missing.
    """
    value: Any = document.get(key) if isinstance(document, dict) else None
    if optional and value is None:
        return None
    wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
    if wrong or (of is not None and not all(type(item) is of for item in value)):
        problem = "it is missing or of the wrong kind"
        raise FileFormatError("model", f"field {key}", problem, "Save it again.")
    return value


@contextmanager
def writing(path: Path, hint: str = "") -> Iterator[None]:
    """What the disk refuses is a `MorphGraphError` that names the path, and where to choose one."""
    try:
        yield
    except OSError as error:
        problem = (error.strerror or "it cannot be written").lower()
        if isinstance(error, FileExistsError | NotADirectoryError):
            above = next((place for place in path.parents if place.is_file()), None)
            problem = problem if above is None else f"{above} is a file, not a folder"
        raise MorphGraphError(f"{path}: {problem}. Choose another place{hint}.") from error


def write_file(path: Path, data: bytes, hint: str = "") -> None:
    """Write a file, and the folders above it; errors as of `writing`."""
    with writing(path, hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def check_folder(folder: Path, hint: str = "") -> None:
    """Fail now, not after the work, if a folder cannot be made or written to."""
    with writing(folder, hint):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
