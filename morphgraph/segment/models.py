"""Saving and loading segmenters, one JSON file for every method; exporting them as folders.

``{"format": "morphgraph model", "version": 1, "method": …}`` and what the method's own document
holds. Nothing in a file is run.
"""

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError, check_list
from morphgraph.core.files import (
    check_folder,
    checksum,
    document_field,
    json_bytes,
    new_file,
    parse_json,
    reading,
)
from morphgraph.formats.export import (
    Export,
    export_model,
    save_folder,
    standalone_class,
    words_to_check,
)
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.framing import with_frame
from morphgraph.formats.gguf_writing import gguf_blocks
from morphgraph.formats.hugging_face import from_document
from morphgraph.formats.opening import (
    EXPORTED_MODEL,
    FORMAT,
    RELEASED_MODEL,
    SAVED_MODEL,
    Opened,
    open_tokeniser,
    released_reader,
)
from morphgraph.formats.original import read_otherwise
from morphgraph.formats.ranks import to_ranks
from morphgraph.formats.tekken import to_tekken
from morphgraph.formats.tokeniser_files import Given, settings_beside
from morphgraph.reference.mistaken import gold_named
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import METHODS, method_named
from morphgraph.segment.segmenter import Segmenter, method_on, segmenter_of, standard_segmenter
from morphgraph.standalone.merges import Merging
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

VERSION = 1

_FIX = "Choose a model that morphgraph saved."


def write_model(segmenter: Segmenter) -> bytes:
    """Return a segmenter as a model file; `MorphGraphError` if it cannot be saved."""
    below: Any = segmenter
    while isinstance(below, Segmenter):
        known = METHODS.get(below.method)
        # A class that inherits how to save itself would be loaded as its parent class.
        if known is None or known.kind is not type(below):
            raise MorphGraphError(
                f"{below.name} cannot be saved. Save the model that it is built on."
            )
        below = below.below
    document = {"format": FORMAT, "version": VERSION, **segmenter.document()}
    document["content"] = _content(document)
    return json_bytes(document, segmenter.name)


_WRITERS: Mapping[str, Callable[[BpeTokeniser], bytes]] = {
    "*.tiktoken": to_ranks,
    "*tekken*.json": to_tekken,  # as mistral-common knows its files
}


def writer_named(path: Path) -> Callable[[BpeTokeniser], bytes] | None:
    """Return what writes a file of this name for another program; None for other names."""
    return next((write for name, write in _WRITERS.items() if fnmatch(path.name, name)), None)


def _content(document: Mapping[str, Any]) -> str:
    """Return a checksum of a document's content, without this checksum itself."""
    held = {key: value for key, value in document.items() if key != "content"}
    text = json.dumps(held, ensure_ascii=False, sort_keys=True)
    return checksum(text.encode("utf-8", "surrogatepass"))


def _as_signed(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the checksums of its origins if it was changed since.

    A changed model then gets its own checksum, and so its own signature.
    """
    if document.get("content") == _content(document):
        return document

    def unsigned(inner: Any) -> Any:
        if not isinstance(inner, dict) or "method" not in inner:
            return inner
        held = {key: value for key, value in inner.items() if key != "checksum"}
        return {**held, "model": unsigned(inner.get("model"))}

    return cast("dict[str, Any]", unsigned(document))


def read_model(data: bytes, name: str) -> Segmenter:
    """Return the segmenter of a model file; anything else is a `FileFormatError`.

    The signature of a model that was changed outside morphgraph has its present checksum, not that
    of the tokeniser it came from.
    """
    return _model_in(parse_json(data, name), name)


def _model_in(document: Any, name: str) -> Segmenter:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(name, "", "this is not a saved model", _FIX)
    if document.get("version") != VERSION:
        problem = f"its version is {document.get('version')!r}, not {VERSION}"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    signed = _as_signed(document)
    return _read_as(name, lambda: segmenter_of(signed))


def _read_as(name: str, read: Callable[[], Segmenter]) -> Segmenter:
    """Return what is read from a file of this name; anything invalid is a `FileFormatError`."""
    try:
        return read()
    except FileFormatError as error:
        raise FileFormatError(name, error.place, error.problem, error.fix) from error
    except MorphGraphError as error:
        problem, _, fix = str(error).rpartition(". ")
        raise FileFormatError(name, "", problem or fix, fix if problem else _FIX) from error
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        problem = f"its fields do not fit together ({type(error).__name__}: {str(error)[:80]})"
        raise FileFormatError(name, "", problem, "Save the model again.") from error


def load_segmenter(
    given: Given,
    method: str | None = None,
    *,
    pattern: str | None = None,
    **parameters: Any,
) -> Segmenter:
    """Load a segmenter from files or a demo: a saved model, or a method on a tokeniser.

    ``given``: see `open_tokeniser`; also a model that was saved, or exported as a folder.
    ``method``: by default the saved model's own, or the file's. ``pattern``: see `load_tokeniser`.
    ``parameters``, ``counts``: see `method_on`. Raises `FileFormatError` for an unreadable file,
    `MorphGraphError` for a method that does not suit it.

    >>> load_segmenter("demo:en", "dropout", p=0.1, seed=7).parameters
    {'p': 0.1, 'seed': 7}
    """
    counts = parameters.pop("counts", None)
    if method is not None:
        method_named(method, METHODS.segmenting).settings(parameters)
    with gold_named():
        opened = open_tokeniser(given, pattern)
        base = _base_in(opened, method)
    own = getattr(base, "method", None)
    if own is not None and method in (None, own):
        if not parameters:
            return cast("Segmenter", base)
        known = METHODS[own].fields
        kept = {name: base.parameters[name] for name in known if name in base.parameters}
        parameters = {name: v for name, v in kept.items() if v is not None} | parameters
    return method_on(base, method or str(own), parameters, counts)


def _base_in(opened: Opened, method: str | None) -> Any:
    """Return what was opened: a segmenter, or what one of this method is built on."""
    base: Any
    content: Any = opened.content
    if read := _OWN.get(opened.format):
        base = read(content.document, opened.name)
    # A tokeniser's types, from any source, are prepared like its words.
    elif content.has_merges or (method is not None and METHODS[method].needs == "merges"):
        base = opened.tokeniser()
    else:
        base = opened.vocabulary()
    return standard_segmenter(base) if method is None else base


def _released(document: Any, name: str) -> Segmenter:
    reader: Any = released_reader(document)
    return cast("Segmenter", reader.load()(document, name))


def _exported(document: Any, name: str) -> Segmenter:
    return _read_as(name, lambda: _exported_in(document))


_OWN: Mapping[str, Callable[[Any, str], Segmenter]] = {
    SAVED_MODEL: _model_in,
    RELEASED_MODEL: _released,
    EXPORTED_MODEL: _exported,
}
"""What reads the formats that hold a method, by their names."""


def _exported_in(document: Mapping[str, Any]) -> Segmenter:
    """Return the segmenter of an exported folder's document."""
    model: Any = document["model"]
    if "of" in model:
        below = {**document, "model": {"vocab": model.get("vocab"), **model["of"]}}
        held = {"method": model.get("type"), "parameters": {"k": model.get("k")}}
        name: Any = held["method"]
        if name not in METHODS or METHODS[name].needs != "segmenter":
            raise FileFormatError("", "field model.type", f"{name!r} is not a known method", _FIX)
        kind: Any = METHODS[name].kind
        return cast("Segmenter", kind.from_document({**held, "model": _exported_in(below)}))
    if "method" in model:
        return segmenter_of(document_field(model, "method", dict))
    return Bte(from_document(document, "exported", checksum(json.dumps(document).encode())))


# ------------------------------------------------------------------------- exported


def exported_model(segmenter: Segmenter) -> ExportedModel:
    """Return the exported model of a segmenter, with the classes of its method and those below.

    `MorphGraphError` for a method without such a class.
    """
    exported = segmenter.exported(False)
    code, model, one = {}, exported.document["model"], segmenter
    while model is not None:
        code[model["type"]] = _standalone(one)
        model, one = model.get("of"), one.below
    return replace(exported, code=code)


def _standalone(segmenter: Segmenter) -> str:
    entry = METHODS.get(segmenter.method)
    if entry is None or not entry.standalone:
        those = ", ".join(entry.title for entry in METHODS.values() if entry.standalone)
        raise MorphGraphError(
            f"{segmenter.name} cannot be exported for transformers. Export one of: {those}."
        )
    return entry.standalone


def merging_class(type_: object) -> type[Merging] | None:
    """Return the plain-Python class of a merge-based model of this type, or None."""
    entry = METHODS.get("bpe" if type_ in ("BPE", "BTE") else str(type_))
    kind = standalone_class(entry.standalone) if entry is not None and entry.standalone else None
    return kind if kind is not None and issubclass(kind, Merging) else None


def export_segmenter(
    segmenter: Segmenter, words: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Export:
    """Return a segmenter as the files of a folder, comparing its ids for ``words`` with ours.

    `MorphGraphError` for a method that cannot be exported, and if ids differ.
    """
    return export_model(exported_model(segmenter), words, settings, as_loaded(segmenter))


def as_loaded(segmenter: Segmenter) -> ExportedModel | None:
    """Return the model of a segmenter as its file has it; None if its method is not the file's."""
    tokeniser = segmenter.editable
    if tokeniser is not None:
        plain = Bte(tokeniser.fork() if tokeniser.is_edited else tokeniser).exported(True)
        return replace(plain, name=tokeniser.name)
    below = segmenter.below
    if (
        isinstance(below, SubwordVocabulary)
        and standard_segmenter(below).method == segmenter.method
    ):
        return segmenter.exported(True)
    return None


def read_otherwise_by(source: str | os.PathLike[str], segmenter: Segmenter) -> str:
    """Say where `transformers` reads a segmenter's folder differently; empty if it does not."""
    if not os.path.isdir(source) or (model := as_loaded(segmenter)) is None:  # noqa: PTH112
        return ""
    document, ids = model.document, model.ids
    around = document.get("post_processor")
    return read_otherwise(source, document, lambda texts: with_frame(ids(texts, True), around))


def export_to(
    segmenter: Segmenter,
    folder: str | os.PathLike[str],
    words: Sequence[str] | None = None,
    more: Mapping[str, bytes] = MappingProxyType({}),
    into: str | os.PathLike[str] | None = None,
) -> Export:
    """Write a folder that ``AutoTokenizer.from_pretrained`` loads, after comparing ids with ours.

    They are compared on ``words``, by default 10,000 common ones, and on sentences made of them;
    `MorphGraphError` if they differ. An earlier export in the folder is replaced; other files of
    the same names are set aside, with a Python warning. ``more``: further files. A ``folder`` that
    ends in ``.gguf`` is a file for llama.cpp, a copy of the model ``into``: see `gguf_blocks`.
    """
    if not os.fspath(folder):
        raise MorphGraphError("An export needs a folder. Name one, or write “.” for this one.")
    path = Path(folder)
    is_gguf = into is not None or path.suffix == ".gguf"
    check_folder(path.parent if is_gguf else path)
    given = [] if words is None else check_list(words, "words")
    name = segmenter.below.name
    given, settings = given or words_to_check((), name=name), settings_beside(name)
    with ExitStack() as stack:
        if is_gguf:
            if segmenter.editable is None:
                raise MorphGraphError(f"{segmenter.name} has no merges for GGUF. Name a folder.")
            with reading(str(into)):
                model = None if into is None else stack.enter_context(Path(into).open("rb"))
            blocks = gguf_blocks(segmenter.editable, given, model, str(into or path), settings)
        export = export_segmenter(segmenter, given, settings)
        if warning := segmenter.warning():
            warnings.warn(warning, stacklevel=3)
        if is_gguf:
            stack.enter_context(new_file(path)).writelines(blocks)
            reason = "the vocabulary alone" if into is None else f"all else is as in {into}"
            return replace(export, kind="GGUF", reason=reason, files={})
    export = replace(export, files={**export.files, **more})
    for name, aside in save_folder(export.files, path).items():
        warnings.warn(f"{name} was there already: it is now {aside}", stacklevel=3)
    return export
