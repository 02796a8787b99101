"""Find the files of a tokeniser in a folder, beside a file, or among uploads, and read them."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, NotTypesError
from morphgraph.core.files import (
    check_is_there,
    check_size,
    checksum,
    decode_utf8,
    demo_tokeniser_path,
    parse_json,
    read_bytes,
)
from morphgraph.core.system import without_collection
from morphgraph.core.text import shortened
from morphgraph.formats.codes import codes_document, is_codes
from morphgraph.formats.completing import completed, document_of_class, not_honoured, read_settings
from morphgraph.formats.content import check_format, check_lines, gunzipped, read_content
from morphgraph.formats.gguf import MAGIC, read_gguf
from morphgraph.formats.hugging_face import (
    SPECIAL,
    ListedMerges,
    as_numbered,
    assumed_document,
    checked_vocabulary,
    read_merges,
)
from morphgraph.formats.ranks import is_ranks, ranks_document
from morphgraph.formats.sentencepiece import is_bpe, is_sentencepiece, parse_sentencepiece
from morphgraph.formats.tokeniser_classes import CHARSMAP, class_name
from morphgraph.tokeniser.pipeline import check_types

SAVED = "morphgraph model"
"""What the field ``format`` of a model says that this library saved."""

_USUAL = (
    *("tokenizer.json", "tokeniser.bte.json", "tokeniser.method.json", "vocab.json", "vocab.txt"),
    *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model"),
)
_NAMED = (
    *(*_USUAL, "*vocab*.json", "*vocab*.txt", "*.model", "*.model.v*", "*.tiktoken", "*.gguf"),
    "*merges*.txt",
)
"""The names of files that hold a folder's tokeniser, the first of them before others."""
_PERHAPS = ("*.json", "*.bpe", "*codes*", "*vocab*.txt.gz")
"""The names of files that may hold one."""
SETTINGS = ("config.json", "special_tokens_map.json", "added_tokens.json", "tokenizer_config.json")
"""The files beside a tokeniser that say more about it."""
_TEMPLATE = "chat_template.jinja"

_TOGETHER = "Give a tokenizer.json, or vocab.json and merges.txt together, by names that fit."
_LIST_OR_MODEL = (
    "Choose a list with one type a line, vocab.json, tokenizer.json or a SentencePiece model."
)


@dataclass(frozen=True)
class Opened:
    """What the files of a tokeniser hold.

    ``name``: of the file that decides, for errors. ``data``: its content. One of these is there: a
    ``document`` laid out as ``tokenizer.json``, with its ``merges`` if they come from a file of
    their own; ``pieces``, the message of a SentencePiece model; ``types`` with their ids; or
    nothing, for a model that was saved, by us or by Picky BPE's authors.
    """

    name: str
    data: bytes
    checksum: str
    document: dict[str, Any] | None = None
    merges: ListedMerges | None = None
    pieces: Any = None
    types: dict[str, int] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def has_merges(self) -> bool:
        """Whether words are segmented by merges alone."""
        if self.pieces is not None:
            return is_bpe(self.pieces)
        model = (self.document or {}).get("model")
        return isinstance(model, dict) and (
            model.get("type") in ("BPE", "BTE") or ("type" not in model and "merges" in model)
        )

    @property
    def is_saved(self) -> bool:
        """Whether it is a model that was saved."""
        return self.document is None and self.pieces is None and self.types is None


class _Files:
    """Files by name, each read when it is needed."""

    def __init__(self, names: Collection[str], read: Callable[[str], bytes], place: str) -> None:
        self.names, self.read, self.place = names, read, place

    def called(self, name: str) -> str:
        """Return the name of a file in errors."""
        return f"{self.place}{name}"

    def settings(self) -> dict[str, Any]:
        found = {
            name: parse_json(self.read(name), self.called(name))
            for name in SETTINGS
            if name in self.names
        }
        read = read_settings(found, self.place)
        if _TEMPLATE in self.names:
            read["chat_template"] = decode_utf8(self.read(_TEMPLATE), self.called(_TEMPLATE))
        return read

    def mains(self) -> Iterator[str]:
        """Yield the names that may be of a tokeniser's file, without companions."""
        seen = {*SETTINGS}
        for pattern in (*_NAMED, *_PERHAPS):
            for name in sorted(self.names):
                if name not in seen and fnmatch(name, pattern):
                    seen |= {name, fitting_name(name)}
                    yield name


def _in_folder(folder: Path, names: Collection[str]) -> _Files:
    def read(name: str) -> bytes:
        # The head of a file that may hold a whole model is enough.
        return (read_bytes if name in (*SETTINGS, _TEMPLATE) else read_content)(folder / name)

    return _Files(names, read, "" if str(folder) == "." else f"{folder}{os.sep}")


def _located(source: str | os.PathLike[str]) -> tuple[_Files, str, str]:
    """Return the files of a source, which of them decides, and another one that could."""
    path = Path(source)
    files = _files_of(path)
    if not os.path.isdir(path):  # noqa: PTH112
        return files, path.name, ""
    found = list(files.mains())
    named = [name for name in found if any(fnmatch(name, pattern) for pattern in _NAMED)]
    main = named[0] if named else next((name for name in found if _is_tokeniser(files, name)), "")
    if not main:
        raise FileFormatError(str(path), "", "the folder holds no tokeniser", _TOGETHER)
    # A list of merges is no tokeniser without its vocabulary.
    others = (
        n for n in named[1:] if not n.endswith(".txt") or fitting_name(n) in {"", *files.names}
    )
    return files, main, next(others, "")


def _is_tokeniser(files: _Files, name: str) -> bool:
    """Return whether a file of any name is a tokeniser's; settings look like mere types."""
    try:
        return _read(files, name, None).types is None
    except FileFormatError:
        return False


def _files_of(path: Path, usual: Collection[str] = _USUAL[1:]) -> _Files:
    """Return the files of a folder; or a file, with those beside it that belong to it by name.

    A tokenizer.json that is named by itself says all that counts; ``usual``: names of others.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir, never raises
        companion = fitting_name(path.name)
        names = {*SETTINGS, _TEMPLATE} if companion or path.name in usual else set()
        names |= {companion} - {""}
        beside = {name for name in names if os.path.isfile(path.with_name(name))}  # noqa: PTH113
        return _in_folder(path.parent, {path.name, *beside})
    try:
        with os.scandir(path) as entries:
            return _in_folder(path, [entry.name for entry in entries if entry.is_file()])
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        fix = "Check its permissions."
        raise FileFormatError(str(path), "", problem, fix, quotes=False) from error


def fitting_name(name: str) -> str:
    """Return the companion's name of a ``vocab.json`` or ``merges.txt``; empty for others."""
    path = Path(name)
    for suffix, word, other in ((".txt", "merges", "vocab"), (".json", "vocab", "merges")):
        if path.suffix == suffix and word in name:
            ending = ".json" if suffix == ".txt" else ".txt"
            return path.with_name(path.name.replace(word, other)).with_suffix(ending).name
    return ""


def tokeniser_files(source: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files that `open_tokeniser` reads, the one that decides first."""
    files, main, _ = _located(source)
    used = {fitting_name(main), *SETTINGS, _TEMPLATE} & {*files.names} - {main}
    return (Path(files.called(main)), *(Path(files.called(name)) for name in sorted(used)))


def settings_beside(source: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the settings in a tokeniser's folder, or beside its file; empty if there are none.

    Errors: `FileFormatError`.
    """
    if str(source).startswith("demo:") or not os.path.exists(source):  # noqa: PTH110
        return {}
    return _files_of(Path(source), _USUAL).settings()


@without_collection()
def open_tokeniser(source: str | os.PathLike[str], pattern: str | None = None) -> Opened:
    """Open the tokeniser in a file, in a folder, or of a named demo (``demo:en``).

    A folder's files belong together: ``tokenizer.json`` decides about the model and how text is
    prepared; without one the class that is named beside it does, as in `transformers`; added
    tokens and what is put around a text come from the other files where it lacks them. ``pattern``:
    how text is cut into pieces, where a rank or GGUF file does not say. Errors: `FileFormatError`.
    """
    if str(source).startswith("demo:"):
        path = demo_tokeniser_path(str(source).removeprefix("demo:"))
        return _by_content(read_bytes(path), str(source), pattern)
    check_is_there(source)
    files, main, other = _located(source)
    found = _read(files, main, pattern)
    if other:
        several = f"the folder holds {main} and {other}, among others; {main} was opened."
        found = replace(found, warnings=(several, *found.warnings))
    return found


@without_collection()
def open_uploaded(files: Mapping[str, bytes], pattern: str | None = None) -> Opened:
    """Open the tokeniser in uploaded files by name; see `open_tokeniser`.

    They are one file, or a vocabulary and its merges, with their settings. Errors:
    `FileFormatError`.
    """
    for name, data in files.items():
        check_size(name, len(data))
    files = {name: gunzipped(data, name) for name, data in files.items()}
    mains = [name for name in files if name not in (*SETTINGS, _TEMPLATE)]
    main, *more = mains or [*files] or [""]
    other = fitting_name(main)
    is_half = main.endswith(".txt") and other not in ("", *files) and needs_vocabulary(files[main])
    if not files or is_half or (more and more != [other]):
        listed = ", ".join(files) or "no file"
        raise FileFormatError(listed, "", "this is not one tokeniser", _TOGETHER)
    return _read(_Files([*files], files.__getitem__, ""), main, pattern)


def _read(files: _Files, main: str, pattern: str | None) -> Opened:
    """Read a tokeniser's file, with its companion and its settings."""
    data, name, other = files.read(main), files.called(main), fitting_name(main)
    if main in SETTINGS:
        check_format(data, name)
        fix = "Give it together with the tokenizer.json, or vocab.json and merges.txt, beside it."
        raise FileFormatError(name, "", "this says more of a tokeniser, and is none", fix)
    if other and (other in files.names or needs_vocabulary(data)):
        listing, merging = (other, main) if main.endswith(".txt") else (main, other)
        found = _pair(*((files.read(n), files.called(n)) for n in (listing, merging)))
    else:
        found = _by_content(data, name, pattern)
    if found.is_saved or len(files.names) == 1 or data.startswith(MAGIC):
        return found
    return _with_settings(found, files.settings())


def _pair(vocabulary: tuple[bytes, str], merges: tuple[bytes, str]) -> Opened:
    (data, name), (lines, _) = vocabulary, merges
    types = checked_vocabulary(parse_json(data, name), name)
    read = read_merges(*merges)
    document = assumed_document(types, read.parts)
    return Opened(name, data, checksum(data + b"\0" + lines), document, read)


def _by_content(data: bytes, name: str, pattern: str | None) -> Opened:
    """Return what one file holds, whose format its content shows."""
    check_format(data, name)
    plain = Opened(name, data, checksum(data))
    if SAVED.encode() in data[:200] or is_released(data):
        return plain
    read: Any = data
    if data.startswith(MAGIC):
        read = read_gguf(data, name, pattern)
    elif is_codes(data):
        read = codes_document(data, name)
    elif is_ranks(data):
        read = ranks_document(data, name, plain.checksum, pattern)
    if isinstance(read, dict):
        return replace(plain, document=read)
    if is_sentencepiece(read, name):
        return replace(plain, pieces=parse_sentencepiece(read, name))
    if name.endswith(".json") or _JSON_START.match(data):
        if not _LIKE_JSON.match(data):
            check_lines(data, name)
        document = parse_json(data, name)
        if isinstance(document, dict) and isinstance(document.get("model"), dict):
            document, warnings = as_numbered(document)
            return replace(plain, document=document, warnings=tuple(warnings))
        if not isinstance(document, dict):
            raise FileFormatError(name, "", "it is not a vocabulary", _LIST_OR_MODEL)
        return replace(plain, types=checked_vocabulary(document, name, "read as vocab.json"))
    return replace(plain, types=_lines(data, name))


_LIKE_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[\[{\"])|\xff\xfe|\xfe\xff")
"""The start of JSON, or of a text that is no UTF-8."""
_JSON_START = re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*(\"[^\r\n]|\}\s*$)")


def _with_settings(found: Opened, settings: Mapping[str, Any]) -> Opened:
    """Return what was opened as the settings beside it say."""
    if not settings:
        return found
    document = found.document
    is_whole, is_implied = document is not None and found.merges is None, False
    if found.pieces is not None:
        held = {**settings, CHARSMAP: found.pieces.normalizer_spec.precompiled_charsmap}
        pieces = [[piece.piece, piece.score] for piece in found.pieces.pieces]
        document = document_of_class(_with_controls(held, found.pieces), pieces)
    elif found.types is not None:
        is_implied, settings = not class_name(settings), _with_class(settings, found.types)
        document = document_of_class(settings, found.types)
    elif found.merges is not None and document is not None:
        types = document["model"]["vocab"]
        document = document_of_class(settings, types, found.merges.parts) or document
    if document is None or not isinstance(document.get("model"), dict):
        lost = not_honoured(None, settings, whole=document is not None)
        return replace(found, warnings=(*found.warnings, *lost))
    made, warnings = completed(document, settings, whole=is_whole, implied=is_implied)
    if made == found.document and not warnings:
        return found
    sum_ = found.checksum
    if made != found.document:
        parts = {key: value for key, value in made.items() if key != "model"}
        sum_ = checksum(f"{sum_} {json.dumps(parts, sort_keys=True)}".encode())
    said = (*found.warnings, *warnings)
    return replace(found, document=made, pieces=None, types=None, checksum=sum_, warnings=said)


def _with_controls(settings: Mapping[str, Any], model: Any) -> dict[str, Any]:
    """Return settings with the control symbols of a SentencePiece model, and those of its user."""
    kind = model.SentencePiece
    listed = settings.get("extra_special_tokens") or settings.get("additional_special_tokens") or []
    symbols = [
        {"content": piece.piece, "normalized": False, "special": piece.type == kind.CONTROL}
        for piece in model.pieces
        if piece.type in (kind.CONTROL, kind.USER_DEFINED)
    ]
    more = [*(listed.values() if isinstance(listed, dict) else listed), *symbols]
    return {**settings, "extra_special_tokens": more, "additional_special_tokens": None}


def _with_class(settings: Mapping[str, Any], types: Mapping[str, int]) -> dict[str, Any]:
    """Return settings with the class that those of BERT imply where none is named."""
    if class_name(settings) or not any(text.startswith("##") for text in types):
        return {**settings}
    cased = any(text != text.lower() for text in types if not SPECIAL.fullmatch(text))
    return {"do_lower_case": not cased, **settings, "tokenizer_class": "BertTokenizer"}


def needs_vocabulary(data: bytes) -> bool:
    """Return whether a text file looks like a list of merges that says nothing of the types."""
    lines = [line for line in data[:65_536].splitlines() if line.strip()]
    pairs = sum(len(line.split(b" ")) == 2 for line in lines)
    has_merges = bool(lines) and (lines[0].startswith(b"#version") or 2 * pairs >= len(lines))
    return has_merges and not is_codes(data)


def is_tokeniser(data: bytes, name: str) -> bool:
    """Return whether a file is a tokeniser's; a list of types, which may be any words, is not."""
    if is_ranks(data) or (fitting_name(name) and data.startswith(b"#version")):
        return True
    try:
        return open_uploaded({name: data}).types is None or data.lstrip().startswith(b"{")
    except FileFormatError:
        return False


def is_released(data: bytes) -> bool:
    """Return whether a file looks like a model of the trainer by Picky BPE's authors."""
    fields = (b'"tokens"', b'"id2int"', b'"merges"', b'"splits"')
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return start == b"{" and all(name in data for name in fields)


def _lines(data: bytes, name: str) -> dict[str, int]:
    """Return the types of a list with one per line, and their ids."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(name, "line 1", "this is UTF-16", "Save the file as UTF-8.")
    check_lines(data, name)
    whole = decode_utf8(data, name).removesuffix("\n")
    lines, seen = whole.split("\n"), dict[str, int]()
    if 2 * sum("|" in line[1:-1] for line in lines) > len(lines) > 1:
        problem = "most of its lines have | between others, as segmented words do"
        raise NotTypesError(name, "", problem, "Write one type a line.")
    kind = NotTypesError if re.search(r"[ \t]", whole) else FileFormatError
    for number, line in enumerate(lines, start=1):
        text = line.removesuffix("\r")
        problem, fix = "", "Write one type a line."
        if text.startswith("#version"):
            problem, fix = "this is a list of merges, without its vocabulary", _TOGETHER
        elif not text:
            problem, fix = "the line is empty", "Remove the line."
        elif "\0" in text:
            problem, fix = "there is a zero byte, so this is not text", _LIST_OR_MODEL
        elif re.search(r"[ \t]", text):
            problem = f"a type cannot contain a space or tab, as “{shortened(text)}” does"
        elif text in seen:
            problem = f"“{shortened(text)}” is in line {seen[text]:,} already"
            fix = "Keep one of the lines."
        if problem:
            place = f"line {number:,}, read as a list of types"
            raise kind(name, place, problem, fix)
        seen[text] = number
    check_types(seen, name)
    return {text: number for number, text in enumerate(seen)}
