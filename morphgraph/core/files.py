"""Read and write files within limits, with actionable errors; and find those that ship."""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import FILE_BYTES, JSON_MEMORY

MAX_DEPTH = 100
"""JSON nested more deeply than this is refused, as copying it could exhaust the stack."""


def read_bytes(source: str | os.PathLike[str] | bytes, name: str | None = None) -> bytes:
    """Return the bytes of a file or pipe, called ``name`` in errors, or those given.

    A missing, unreadable, empty or too large one raises `FileFormatError`.
    """
    if isinstance(source, bytes):
        check_size(str(name), len(source))
        return source
    path = Path(source)
    shown = str(path) if name is None else name
    most = FILE_BYTES.value
    with reading(shown):
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileFormatError(shown, "", "it is a folder", "Name a file in it.", quotes=False)
        if stat.S_ISREG(status.st_mode):
            check_size(shown, status.st_size)
            most = status.st_size
        with path.open("rb") as file:
            # So much is set aside at once. One byte more shows that the limit is exceeded, even if
            # the size is unknown.
            data = file.read(most + 1)
    check_size(shown, len(data))
    return data


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn errors of the disk into a `FileFormatError` for the file of this name."""
    try:
        yield
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        fix = "Check the path and its permissions."
        raise FileFormatError(name, "", problem, fix, quotes=False) from error


def check_size(name: str, size: int) -> None:
    """Refuse an empty or too large file."""
    if size == 0:
        fix = "Choose a file with content."
        raise FileFormatError(name, "", "the file is empty", fix, quotes=False)
    FILE_BYTES.check(size, name, fix="Choose a smaller file, leave out what is not needed")


def checksum(data: bytes) -> str:
    """Return the first 12 hexadecimal digits of SHA-256.

    >>> checksum(b"morphgraph")[:4]
    '3920'
    """
    return hashlib.sha256(data).hexdigest()[:12]


def decode_utf8(data: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark; an error names the invalid line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02X} is not valid UTF-8"
        raise FileFormatError(name, f"line {line:,}", problem, "Save the file as UTF-8.") from error


_INSIDE = bytes(range(0x80, 0xC0))
"""UTF-8 bytes that do not begin a character."""
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{0,2}")
_WHOLE = re.compile(
    r"(?>[^\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\(?!u[dD][89a-fA-F]).)*+",
    re.S,
)
"""JSON text up to the first escape of a lone surrogate."""


def _values_memory(data: bytes) -> int:
    """Estimate the bytes that the values of JSON take once parsed, at most 20 % too high.

    It counts each character that could begin a value, even inside strings, without parsing.
    """
    signs = ((b":", 250), (b"{", 120), (b"[", 120), (b",", 70))
    # The text, and the strings in it.
    return 2 * text_memory(data) + sum(weight * data.count(sign) for sign, weight in signs)


def text_memory(data: bytes) -> int:
    """Estimate the bytes of UTF-8 as a string, which its widest character decides.

    >>> text_memory(b"ab"), text_memory("a𝔘".encode())
    (2, 8)
    """
    if data.isascii():
        return len(data)
    pieces = (data[start : start + 2**20] for start in range(0, len(data), 2**20))
    characters = sum(len(piece.translate(None, _INSIDE)) for piece in pieces)
    return characters * (4 if re.search(rb"[\xf0-\xff]", data) else 2)


def parse_json(data: bytes, name: str) -> Any:
    """Parse JSON; malformed, truncated or too deeply nested text is a `FileFormatError`."""
    JSON_MEMORY.check(_values_memory(data), name)
    text = decode_utf8(data, name)
    whole = _WHOLE.match(text) if "\\u" in text else None
    if whole and (half := _HALF.match(text, whole.end())):
        line = text.count("\n", 0, half.start()) + 1
        problem = f"{half.group()} is half of a surrogate pair, which is not a character"
        raise FileFormatError(name, f"line {line:,}", problem, "Download the file again.")
    problem = "the JSON is nested too deeply or has a huge number"
    too_deep = FileFormatError(name, "", problem, "Correct it.")
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


def json_bytes(document: Any, name: str) -> bytes:
    """Return JSON with one value per line; `FileFormatError` if `parse_json` would refuse it.

    Nothing is indented: this would take more bytes than a large vocabulary itself.

    >>> print(json_bytes({"vocab": {"a": 0, "b": 1}}, "a.json").decode())
    {"vocab": {"a": 0,
    "b": 1}}
    """
    data = json.dumps(document, ensure_ascii=False, separators=(",\n", ": ")).encode()
    JSON_MEMORY.check(_values_memory(data), name, fix="It could not be opened again: remove types")
    return data


def document_field(
    document: Any,
    key: str,
    kind: type | tuple[type, ...],
    *,
    of: type | None = None,
    optional: bool = False,
) -> Any:
    """Return a field of a saved model; `FileFormatError` if missing or of the wrong kind.

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


ANOTHER_PLACE: ContextVar[str] = ContextVar("how to choose another place", default="")
"""What follows “choose another place”, such as " with --out" in a command."""


@contextmanager
def writing(path: Path, hint: str = "") -> Iterator[None]:
    """Turn errors of the disk into a `MorphGraphError` with the path and what to do.

    ``hint``: how to choose another place, by default `ANOTHER_PLACE`.
    """
    try:
        yield
    except OSError as error:
        hint = hint or ANOTHER_PLACE.get()
        problem = (error.strerror or "it cannot be written").lower()
        fix = f"Choose another place{hint}."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            fix = f"Make room there and try again, or choose another place{hint}."
        if isinstance(error, FileExistsError | NotADirectoryError):
            above = next((place for place in path.parents if place.is_file()), None)
            problem = problem if above is None else f"{above} is a file, not a folder"
        raise MorphGraphError(f"{path}: {problem}. {fix}") from error


PARTIAL = ".partial-"
"""The prefix of files and folders that are being written."""


@contextmanager
def new_file(path: Path, hint: str = "") -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` once completely on disk, or is deleted.

    An earlier file stays until then, whatever happens; its permissions are kept, and a link stays a
    link. A pipe or a device is written to directly. Errors as in `writing`.
    """
    with writing(path, hint):
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        place = target.with_name(PARTIAL + secrets.token_hex(8))
        try:
            with place.open("xb") as file:
                yield file
                _keep(file)
            if target.exists():
                place.chmod(stat.S_IMODE(target.stat().st_mode))
            place.replace(target)
        finally:
            place.unlink(missing_ok=True)


def _keep(file: BinaryIO) -> None:
    """Flush a file to disk, or raise an error now if that fails."""
    file.flush()
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        os.fsync(file.fileno())


def check_ending(path: Path, *endings: str) -> None:
    """Raise `MorphGraphError` if no format has this file's ending."""
    if path.suffix not in endings:
        *others, last = endings
        raise MorphGraphError(f"{path} has an unknown ending. Use {', '.join(others)} or {last}.")


def write_file(path: Path, data: bytes | str, hint: str = "") -> None:
    """Write a file, text as UTF-8, as `new_file` does, creating its parent folders."""
    write_files({path: data.encode() if isinstance(data, str) else data}, hint)


def write_files(files: Mapping[Path, bytes], hint: str = "") -> None:
    """Write files as `new_file` does, replacing none before all are on disk."""
    with files_to_place(files, hint):
        pass


@contextmanager
def files_to_place(files: Mapping[Path, bytes], hint: str = "") -> Iterator[None]:
    """Yield files that take their places together at the end, once on disk."""
    with ExitStack() as stack:
        for path, data in files.items():
            file = stack.enter_context(new_file(path, hint))
            file.write(data)
            _keep(file)
        yield


@contextmanager
def new_folder(folder: Path, hint: str = "") -> Iterator[Path]:
    """Yield a folder that replaces ``folder`` once completely on disk, or is deleted.

    An earlier folder stays until then, whatever happens. Errors as in `writing`.
    """
    with writing(folder, hint):
        folder = Path(os.path.realpath(folder))
        folder.parent.mkdir(parents=True, exist_ok=True)
        place, aside = (folder.with_name(PARTIAL + secrets.token_hex(8)) for _ in range(2))
        place.mkdir()
        try:
            yield place
            for path in place.rglob("*"):
                if path.is_file():
                    with path.open("rb+") as file:
                        os.fsync(file.fileno())
            if existed := folder.exists():
                folder.rename(aside)
            try:
                place.rename(folder)
            except BaseException:
                if existed:
                    aside.rename(folder)
                raise
            shutil.rmtree(aside, ignore_errors=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def check_folder(folder: Path, hint: str = "") -> None:
    """Fail early if a folder cannot be created or written to."""
    with writing(folder, hint):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


# ------------------------------------------------------------------------------ assets

DEMOS = {"en": "English", "de": "German", "nl": "Dutch"}
"""Language codes of the demos, with their names."""


def app_folder() -> Path:
    """Return the folder of the app: the checkout, or a part of the installed package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent, package / "_app"):
        if (folder / "app.py").is_file() and (folder / "assets").is_dir():
            return folder
    raise MorphGraphError("The app's files are missing. Install morphgraph again.")


def assets_folder() -> Path:
    """Return the folder of assets."""
    return app_folder() / "assets"


def demo_tokeniser_path(language: str) -> Path:
    """Return the path of a language's demo tokeniser, by code."""
    return assets_folder() / "tokenisers" / f"{_known(language)}.json"


def demo_gold_path(language: str) -> Path:
    """Return the path of a language's gold list, by code."""
    return assets_folder() / "gold" / f"{_known(language)}.tsv"


def _known(language: str) -> str:
    if language not in DEMOS:
        known = ", ".join(f"demo:{code} ({name})" for code, name in DEMOS.items())
        raise MorphGraphError(f"There is no demo “{language}”. The demos are {known}.")
    return language


def shipped_folder() -> Path:
    """Return the folder of shipped configurations."""
    return app_folder() / "docs" / "evaluations"


def shipped_configurations() -> dict[str, str]:
    """Return the text of each shipped configuration by name, the demo first."""
    root = shipped_folder()
    names = {
        path.relative_to(root).with_suffix("").as_posix(): path for path in root.rglob("*.yaml")
    }
    ordered = sorted(names, key=lambda name: (name != "demo", "/" in name, name))
    return {name: names[name].read_text("utf-8") for name in ordered}


def configuration_path(source: str | os.PathLike[str]) -> Path:
    """Resolve a path, or the name of a shipped configuration, to a path.

    An existing file comes first. `MorphGraphError` if there is neither.
    """
    path = Path(source)
    names = list(shipped_configurations())
    if path.is_file() or str(source) not in names:
        if not path.exists() and path.name == str(source) and not path.suffix:
            raise MorphGraphError(
                f"{source}: there is no such file, and no evaluation of this name ships with "
                f"morphgraph. Those that ship: {', '.join(names)}."
            )
        return path
    return shipped_folder() / f"{source}.yaml"
