"""The table of tokeniser formats: how each is recognised, and how it is read."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum, parse_json
from morphgraph.core.limits import MERGES, TYPES, Limit
from morphgraph.core.packed import unpacked
from morphgraph.core.plugins import installed
from morphgraph.core.system import without_collection
from morphgraph.formats.codes import codes_document, is_codes
from morphgraph.formats.completing import completed, not_honoured
from morphgraph.formats.contents import Content, Document, SavedModel, SentencePieceModel, TypeList
from morphgraph.formats.gguf import MAGIC, read_gguf
from morphgraph.formats.hugging_face import (
    as_numbered,
    assumed_document,
    checked_vocabulary,
    model_in,
    read_merges,
)
from morphgraph.formats.listed_types import read_types
from morphgraph.formats.ranks import is_ranks, ranks_document
from morphgraph.formats.sentencepiece import is_sentencepiece, parse_sentencepiece
from morphgraph.formats.tekken import is_tekken, tekken_document
from morphgraph.formats.tokeniser_classes import class_name
from morphgraph.formats.tokeniser_files import (
    GIVE_TOGETHER,
    SETTINGS,
    TEMPLATE,
    Given,
    TokeniserFiles,
    fitting_name,
    located,
)
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

FORMAT = "morphgraph model"
"""What the field ``format`` of a model says that this library saved."""


@dataclass(frozen=True)
class Opened:
    """The content of a tokeniser's files.

    ``name``: of the file that decides, for errors; ``format``: its name in `FILE_FORMATS`.
    """

    name: str
    checksum: str
    content: Content
    warnings: tuple[str, ...] = ()
    format: str = ""

    @without_collection()
    def tokeniser(self) -> BpeTokeniser:
        """Return the BPE tokeniser; `NoMergesError` if it is none."""
        tokeniser = self.content.tokeniser(self.name, self.checksum)
        tokeniser.warnings = self.warnings + tokeniser.warnings
        return tokeniser

    def vocabulary(self) -> SubwordVocabulary:
        """Return the vocabulary. Errors: `FileFormatError`."""
        try:
            vocabulary = self.content.vocabulary(self.name)
        except FileFormatError:
            raise
        except MorphGraphError as error:
            problem, _, fix = str(error).rpartition(". ")
            raise FileFormatError(self.name, "", problem, fix) from error
        return replace(vocabulary, warnings=self.warnings + vocabulary.warnings)


class FileFormat(NamedTuple):
    """A format: ``sniff`` says whether files look so, and ``read`` what they then hold.

    ``most``: the limit on what it lists, with so many ``line_ends`` each, before it is read.
    ``is_alone``: files beside it say nothing of it.
    """

    sniff: Callable[[TokeniserFiles], bool]
    read: Callable[[TokeniserFiles], Content]
    most: Limit | None = None
    line_ends: int = 1
    is_alone: bool = False


def _pair(files: TokeniserFiles) -> Content:
    merges_name, lines = files.place + files.companion, files.content(files.companion)
    types = checked_vocabulary(parse_json(files.data, files.name), files.name)
    MERGES.check(lines.count(b"\n"), merges_name)
    return Document(assumed_document(types, read_merges(lines, merges_name)), merges_name)


def _gguf(files: TokeniserFiles) -> Content:
    tokeniser = read_gguf(files.data, files.name, files.pattern)
    if isinstance(tokeniser, bytes):
        return SentencePieceModel(parse_sentencepiece(tokeniser, files.name))
    return Document(tokeniser)


def _document(files: TokeniserFiles) -> Content:
    document, warnings = as_numbered(files.parsed)
    return Document(document, warnings=tuple(warnings))


def _is_merges(files: TokeniserFiles) -> bool:
    by_name = files.main.endswith(".txt") and fitting_name(files.main)
    return files.data.startswith(b"#version") or bool(by_name and needs_vocabulary(files.data))


def _settings_alone(files: TokeniserFiles) -> Content:
    fix = "Give it together with the tokenizer.json, or vocab.json and merges.txt, beside it."
    raise FileFormatError(
        files.name, "", "this file has settings of a tokeniser, but no vocabulary", fix
    )


def _merges_alone(files: TokeniserFiles) -> Content:
    problem = "this is a list of merges, without its vocabulary"
    raise FileFormatError(files.name, "", problem, GIVE_TOGETHER)


SAVED_MODEL, RELEASED_MODEL, EXPORTED_MODEL = "saved model", "released model", "exported method"
SENTENCEPIECE, WHOLE = "SentencePiece model", "tokenizer.json"
LONE_MERGES, RANKS, _LIST = "merges without a vocabulary", "ranks", "list of types"

FILE_FORMATS: Mapping[str, FileFormat] = {
    "settings": FileFormat(lambda f: f.main in SETTINGS, _settings_alone),
    "vocabulary and merges": FileFormat(lambda f: f.companion != "", _pair),
    "GGUF": FileFormat(lambda f: f.data.startswith(MAGIC), _gguf, is_alone=True),
    "codes": FileFormat(
        lambda f: is_codes(f.data),
        lambda f: Document(codes_document(f.data, f.name)),
        MERGES,
    ),
    LONE_MERGES: FileFormat(_is_merges, _merges_alone),
    RANKS: FileFormat(
        lambda f: is_ranks(f.data),
        lambda f: Document(ranks_document(f.data, f.name, f.pattern)),
        TYPES,
    ),
    SENTENCEPIECE: FileFormat(
        lambda f: is_sentencepiece(f.data, f.name),
        lambda f: SentencePieceModel(parse_sentencepiece(f.data, f.name)),
        TYPES,
        line_ends=2,  # the signs of a type's field, and of its text in it
    ),
    SAVED_MODEL: FileFormat(
        lambda f: f.fields.get("format") == FORMAT,
        lambda f: SavedModel(f.parsed, SAVED_MODEL),
        is_alone=True,
    ),
    RELEASED_MODEL: FileFormat(
        lambda f: released_reader(f.fields) is not None,
        lambda f: SavedModel(f.parsed, RELEASED_MODEL),
        is_alone=True,
    ),
    "Tekken": FileFormat(
        lambda f: is_tekken(f.fields),
        lambda f: Document(tekken_document(f.fields, f.name)),
        is_alone=True,
    ),
    EXPORTED_MODEL: FileFormat(
        lambda f: bool({"method", "of"} & model_in(f.parsed).keys()), _document
    ),
    WHOLE: FileFormat(lambda f: isinstance(f.fields.get("model"), dict), _document),
    "vocab.json": FileFormat(
        lambda f: f.parsed is not None,
        lambda f: TypeList(checked_vocabulary(f.parsed, f.name, "read as vocab.json")),
    ),
    _LIST: FileFormat(lambda _: True, lambda f: TypeList(read_types(f.data, f.name)), TYPES),
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
    if files.companion.endswith(".json"):  # types decide, and merges follow
        files = replace(files, main=files.companion)
    name = format_of(files)
    format = FILE_FORMATS[name]
    if format.most is not None:
        format.most.check(files.data.count(b"\n") // format.line_ends, files.name)
    content = format.read(files)
    content.check_limits(files.name)
    sum_ = checksum(b"\0".join([files.data, *map(files.content, filter(None, [files.companion]))]))
    opened = Opened(files.name, sum_, content, content.warnings, name)
    settings = {} if format.is_alone or len(files.names) == 1 else files.settings()
    return _with_settings(opened, settings) if settings else opened


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
        return not isinstance(_read(files).content, TypeList)
    except FileFormatError:
        return False


def is_tokeniser(data: bytes, name: str) -> bool:
    """Return whether a file is a tokeniser's; a list of types, which may be any words, is not."""
    files = TokeniserFiles(name, [name], lambda name: unpacked(data, name))
    try:
        format = format_of(files)
        return format in (RANKS, LONE_MERGES) or (format != _LIST and bool(_read(files)))
    except FileFormatError:
        return False


def _with_settings(opened: Opened, settings: Mapping[str, Any]) -> Opened:
    """Apply the settings in the files beside a tokeniser to it."""
    content, sum_ = opened.content, opened.checksum
    document, held = content.of_class(settings)
    if document is None:
        lost = not_honoured(None, settings, whole=False)
        return replace(opened, warnings=(*opened.warnings, *lost))
    implied = class_name(held) != class_name(settings)
    merges_name = content.merges_name if isinstance(content, Document) else ""
    whole = isinstance(content, Document) and not merges_name
    changed, warnings = completed(document, held, whole=whole, implied=implied)
    with_settings = Document(changed, merges_name)
    if with_settings == content and not warnings:
        return opened
    if with_settings != content:
        parts = {key: value for key, value in changed.items() if key != "model"}
        sum_ = checksum(f"{sum_} {json.dumps(parts, sort_keys=True)}".encode())
    with_settings.check_limits(opened.name)
    warnings = (*opened.warnings, *warnings)
    return replace(opened, content=with_settings, checksum=sum_, warnings=warnings)


def needs_vocabulary(data: bytes) -> bool:
    """Return whether a text file looks like a list of merges that says nothing of the types."""
    lines = [line for line in data[:65_536].splitlines() if line.strip()]
    pairs = sum(len(line.split(b" ")) == 2 for line in lines)
    has_merges = bool(lines) and (lines[0].startswith(b"#version") or 2 * pairs >= len(lines))
    return has_merges and not is_codes(data)
