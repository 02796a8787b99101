"""The table of tokeniser formats: how each is recognised, and how it is read."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum, parse_json
from morphgraph.core.limits import MERGES, TYPE_CUTS, TYPES, Limit
from morphgraph.core.packed import unpacked
from morphgraph.core.plugins import installed
from morphgraph.core.system import without_collection
from morphgraph.formats.codes import codes_document, is_codes
from morphgraph.formats.completing import completed, document_of_class, not_honoured
from morphgraph.formats.gguf import MAGIC, read_gguf
from morphgraph.formats.hugging_face import (
    SPECIAL,
    as_numbered,
    assumed_document,
    check_limits,
    checked_vocabulary,
    model_in,
    model_kind,
    read_merges,
)
from morphgraph.formats.listed_types import read_types
from morphgraph.formats.ranks import is_ranks, ranks_document
from morphgraph.formats.sentencepiece import is_bpe, is_sentencepiece, parse_sentencepiece
from morphgraph.formats.tokeniser_classes import CHARSMAP, class_name
from morphgraph.formats.tokeniser_files import (
    GIVE_TOGETHER,
    SETTINGS,
    TEMPLATE,
    Given,
    TokeniserFiles,
    fitting_name,
    located,
)

FORMAT = "morphgraph model"
"""What the field ``format`` of a model says that this library saved."""


@dataclass(frozen=True)
class Opened:
    """The content of a tokeniser's files.

    ``name``: of the file that decides, for errors; ``format``: its name in `FILE_FORMATS`. One of
    these is there: a ``document`` laid out as ``tokenizer.json``, with the ``merges_name`` of the
    file of its merges if that is another one; ``pieces``, the message of a SentencePiece model;
    ``types`` with their ids; or the JSON of a model that was ``saved``, by us or by the authors
    of a method.
    """

    name: str
    checksum: str
    document: dict[str, Any] | None = None
    merges_name: str = ""
    pieces: Any = None
    types: dict[str, int] | None = None
    saved: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    format: str = ""

    @property
    def has_merges(self) -> bool:
        """Whether words are segmented by merges alone."""
        if self.pieces is not None:
            return is_bpe(self.pieces)
        return self.document is not None and model_kind(self.document["model"]) in ("BPE", "BTE")


Held = Mapping[str, Any]
"""What a file holds, by the fields of `Opened`."""


class FileFormat(NamedTuple):
    """A format: ``sniff`` says whether files look so, and ``read`` what they then hold.

    ``most``: the limit on what it lists, with so many ``line_ends`` each, before it is read.
    ``is_alone``: files beside it say nothing of it.
    """

    sniff: Callable[[TokeniserFiles], bool]
    read: Callable[[TokeniserFiles], Held]
    most: Limit | None = None
    line_ends: int = 1
    is_alone: bool = False


def _pair(files: TokeniserFiles) -> Held:
    both = {files.main: files.data, files.companion: files.content(files.companion)}
    (listing, data), (merging, lines) = sorted(both.items(), key=lambda f: f[0].endswith(".txt"))
    name, merges_name = files.place + listing, files.place + merging
    types = checked_vocabulary(parse_json(data, name), name)
    MERGES.check(lines.count(b"\n"), merges_name)
    document = assumed_document(types, read_merges(lines, merges_name))
    sum_ = checksum(data + b"\0" + lines)
    return {"name": name, "checksum": sum_, "document": document, "merges_name": merges_name}


def _gguf(files: TokeniserFiles) -> Held:
    tokeniser = read_gguf(files.data, files.name, files.pattern)
    if isinstance(tokeniser, bytes):
        return {"pieces": parse_sentencepiece(tokeniser, files.name)}
    return {"document": tokeniser}


def _document(files: TokeniserFiles) -> Held:
    document, warnings = as_numbered(files.parsed)
    return {"document": document, "warnings": tuple(warnings)}


def _is_merges(files: TokeniserFiles) -> bool:
    by_name = files.main.endswith(".txt") and fitting_name(files.main)
    return files.data.startswith(b"#version") or bool(by_name and needs_vocabulary(files.data))


def _settings_alone(files: TokeniserFiles) -> Held:
    fix = "Give it together with the tokenizer.json, or vocab.json and merges.txt, beside it."
    raise FileFormatError(files.name, "", "this says more of a tokeniser, and is none", fix)


def _merges_alone(files: TokeniserFiles) -> Held:
    problem = "this is a list of merges, without its vocabulary"
    raise FileFormatError(files.name, "", problem, GIVE_TOGETHER)


SAVED_MODEL, RELEASED_MODEL, EXPORTED_MODEL = "saved model", "released model", "exported method"
SENTENCEPIECE, WHOLE = "SentencePiece model", "tokenizer.json"
_MERGES, _RANKS, _LIST = "merges without a vocabulary", "ranks", "list of types"

FILE_FORMATS: Mapping[str, FileFormat] = {
    "settings": FileFormat(lambda f: f.main in SETTINGS, _settings_alone),
    "vocabulary and merges": FileFormat(lambda f: f.companion != "", _pair),
    "GGUF": FileFormat(lambda f: f.data.startswith(MAGIC), _gguf, is_alone=True),
    "codes": FileFormat(
        lambda f: is_codes(f.data), lambda f: {"document": codes_document(f.data, f.name)}, MERGES
    ),
    _MERGES: FileFormat(_is_merges, _merges_alone),
    _RANKS: FileFormat(
        lambda f: is_ranks(f.data),
        lambda f: {"document": ranks_document(f.data, f.name, f.pattern)},
        TYPES,
    ),
    SENTENCEPIECE: FileFormat(
        lambda f: is_sentencepiece(f.data, f.name),
        lambda f: {"pieces": parse_sentencepiece(f.data, f.name)},
        TYPES,
        line_ends=2,  # the signs of a type's field, and of its text in it
    ),
    SAVED_MODEL: FileFormat(
        lambda f: f.fields.get("format") == FORMAT, lambda f: {"saved": f.parsed}, is_alone=True
    ),
    RELEASED_MODEL: FileFormat(
        lambda f: released_reader(f.fields) is not None,
        lambda f: {"saved": f.parsed},
        is_alone=True,
    ),
    EXPORTED_MODEL: FileFormat(
        lambda f: bool({"method", "of"} & model_in(f.parsed).keys()), _document
    ),
    WHOLE: FileFormat(lambda f: isinstance(f.fields.get("model"), dict), _document),
    "vocab.json": FileFormat(
        lambda f: f.parsed is not None,
        lambda f: {"types": checked_vocabulary(f.parsed, f.name, "read as vocab.json")},
    ),
    _LIST: FileFormat(lambda _: True, lambda f: {"types": read_types(f.data, f.name)}, TYPES),
}
"""The formats by name; the first that files look like is theirs."""


def released_reader(fields: Mapping[str, Any]) -> EntryPoint | None:
    """Return what reads a model that the authors of a method wrote: JSON with all its fields."""
    readers: Iterable[EntryPoint] = installed().select(group="morphgraph.released")
    return next((each for each in readers if fields and fields.keys() >= {*each.extras}), None)


def files_of(given: Given) -> TokeniserFiles:
    """Return the files of what is given, which of them decides included."""
    return located(given, _is_model)


def format_of(files: TokeniserFiles) -> str:
    """Return the name of the format that files look like."""
    return next(name for name, format in FILE_FORMATS.items() if format.sniff(files))


def _read(files: TokeniserFiles) -> Opened:
    """Read the file that decides, and apply the settings in those beside it."""
    name = format_of(files)
    format = FILE_FORMATS[name]
    if format.most is not None:
        format.most.check(files.data.count(b"\n") // format.line_ends, files.name)
    held = format.read(files)
    sum_ = held.get("checksum") or checksum(files.data)
    opened = Opened(**{"name": files.name, "format": name, **held, "checksum": sum_})
    _check_limits(opened)
    settings = {} if format.is_alone or len(files.names) == 1 else files.settings()
    return _with_settings(opened, settings) if settings else opened


def _check_limits(opened: Opened) -> None:
    """Raise `FileFormatError` if a file lists too much, or would make too many merges."""
    pieces = [] if opened.pieces is None else [[piece.piece] for piece in opened.pieces.pieces]
    if pieces and opened.has_merges:
        TYPE_CUTS.check(sum(len(text) ** 2 for (text,) in pieces), opened.name)
    check_limits(opened.document or {"model": {"vocab": opened.types or pieces}}, opened.name)


@without_collection()
def open_tokeniser(given: Given, pattern: str | None = None) -> Opened:
    """Open the tokeniser in a file, in a folder, in uploaded files, or of a demo (``demo:en``).

    A folder's files belong together: ``tokenizer.json`` decides about the model and how text is
    prepared; without one the class that is named beside it does, as in `transformers`; added
    tokens and what is put around a text come from the other files where it lacks them. Uploaded
    files are one, or a vocabulary and its merges, with their settings. ``pattern``: how text is cut
    into pieces, where a rank or GGUF file does not say. Errors: `FileFormatError`.
    """
    files = replace(files_of(given), pattern=pattern)
    opened = _read(files)
    # A list of merges is no tokeniser without its vocabulary.
    lone = {name for name in files.names if name.endswith(".txt") and fitting_name(name)}
    for other in files.mains():
        if other not in {files.main, files.companion, *lone}:
            several = f"the folder holds {files.main} and {other}, among others; {files.main}"
            return replace(opened, warnings=(f"{several} was opened.", *opened.warnings))
    return opened


def tokeniser_files(source: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files that `open_tokeniser` reads, the one that decides first."""
    files = files_of(source)
    more = {files.companion, *SETTINGS, TEMPLATE} & {*files.names} - {files.main}
    return tuple(Path(files.place + name) for name in (files.main, *sorted(more)))


def _is_model(files: TokeniserFiles) -> bool:
    """Return whether a file of any name is a tokeniser's; settings look like mere types."""
    try:
        return _read(files).types is None
    except FileFormatError:
        return False


def is_tokeniser(data: bytes, name: str) -> bool:
    """Return whether a file is a tokeniser's; a list of types, which may be any words, is not."""
    files = TokeniserFiles(name, [name], lambda name: unpacked(data, name))
    try:
        format = format_of(files)
        return format in (_RANKS, _MERGES) or (format != _LIST and bool(_read(files)))
    except FileFormatError:
        return False


def _with_settings(opened: Opened, settings: Mapping[str, Any]) -> Opened:
    """Apply the settings in the files beside a tokeniser to it."""
    document = opened.document
    is_whole, is_implied = document is not None and not opened.merges_name, False
    if opened.pieces is not None:
        held = {**settings, CHARSMAP: opened.pieces.normalizer_spec.precompiled_charsmap}
        pieces = [[piece.piece, piece.score] for piece in opened.pieces.pieces]
        document = document_of_class(_with_controls(held, opened.pieces), pieces)
    elif opened.types is not None:
        is_implied, settings = not class_name(settings), _with_class(settings, opened.types)
        document = document_of_class(settings, opened.types)
    elif opened.merges_name and document is not None:
        model = document["model"]
        document = document_of_class(settings, model["vocab"], model["merges"]) or document
    if document is None:
        lost = not_honoured(None, settings, whole=False)
        return replace(opened, warnings=(*opened.warnings, *lost))
    changed, warnings = completed(document, settings, whole=is_whole, implied=is_implied)
    if changed == opened.document and not warnings:
        return opened
    sum_ = opened.checksum
    if changed != opened.document:
        parts = {key: value for key, value in changed.items() if key != "model"}
        sum_ = checksum(f"{sum_} {json.dumps(parts, sort_keys=True)}".encode())
    all_warnings = (*opened.warnings, *warnings)
    return replace(
        opened, document=changed, pieces=None, types=None, checksum=sum_, warnings=all_warnings
    )


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
