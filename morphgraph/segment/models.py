"""Saving and loading segmenters, one JSON file for every method; exporting them as folders.

``{"format": "morphgraph model", "version": 1, "method": …}`` and what the method's own document
holds. Nothing in a file is run.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError, check_list
from morphgraph.core.files import (
    check_folder,
    check_is_there,
    checksum,
    json_bytes,
    parse_json,
)
from morphgraph.formats.content import gunzipped, read_content
from morphgraph.formats.export import (
    Export,
    ExportedModel,
    export_model,
    save_folder,
    standalone_class,
    words_to_check,
)
from morphgraph.formats.export_files import source_settings
from morphgraph.formats.loading import (
    holds_merges,
    is_released,
    load_tokeniser,
    load_uploaded_tokeniser,
    load_vocabulary,
    read_vocabulary,
    tokeniser_files,
)
from morphgraph.segment.method import METHODS, method_named
from morphgraph.segment.segmenter import Segmenter, method_on, segmenter_of, standard_segmenter
from morphgraph.standalone.bte import Merging

FORMAT = "morphgraph model"
VERSION = 1

_FIX = "Choose a model that morphgraph saved."


def write_model(segmenter: Segmenter) -> bytes:
    """Return a segmenter as a model file; `MorphGraphError` if it cannot be saved."""
    below: Any = segmenter
    while isinstance(below, Segmenter):
        known = METHODS.get(below.method)
        # A class that inherits how to save itself would be loaded as its parent class.
        if known is None or known.kind is not type(below):
            raise MorphGraphError(f"{below.name} cannot be saved. Save the model below it.")
        below = below.below
    document = {"format": FORMAT, "version": VERSION, **segmenter.document()}
    document["content"] = _content(document)
    return json_bytes(document, segmenter.name)


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
    document = parse_json(data, name)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(name, "", "this is not a saved model", _FIX)
    if document.get("version") != VERSION:
        problem = f"its version is {document.get('version')!r}, not {VERSION}"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    try:
        return segmenter_of(_as_signed(document))
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
    source: str | os.PathLike[str], method: str | None = None, **parameters: Any
) -> Segmenter:
    """Load a segmenter from a file or demo: a saved model, or a method on a tokeniser.

    ``source``: a model file, a model of Picky BPE's authors, a ``tokenizer.json``, ``vocab.json``,
    ``merges.txt``, list of types or SentencePiece model, or ``demo:en``. ``method``: by default the
    saved model's own, or the file's. ``parameters``, ``counts``: see `method_on`. Raises
    `FileFormatError` for an unreadable file, `MorphGraphError` for a method that does not suit it.

    >>> load_segmenter("demo:en", "dropout", p=0.1, seed=7).parameters
    {'p': 0.1, 'seed': 7}
    """
    counts = parameters.pop("counts", None)
    if method is not None:
        method_named(method, METHODS.segmenting).settings(parameters)
    base: Any = None
    if not str(source).startswith("demo:"):
        check_is_there(source)
        if os.path.isfile(source):  # noqa: PTH113 - unlike Path.is_file, never raises
            base = saved_model(read_content(source), str(source))
    if base is None:
        # A tokeniser's types, from any source, are prepared like its words.
        merges = method is not None and METHODS[method].needs == "merges"
        load = load_tokeniser if merges or _is_tokeniser(source) else load_vocabulary
        base = load(source)
        base = standard_segmenter(base) if method is None else base
    own = getattr(base, "method", None)
    if own is not None and method in (None, own):
        if not parameters:
            return cast("Segmenter", base)
        known = METHODS[own].fields
        kept = {name: base.parameters[name] for name in known if name in base.parameters}
        parameters = {name: v for name, v in kept.items() if v is not None} | parameters
    return method_on(base, method or str(own), parameters, counts)


def uploaded_segmenter(data: bytes, name: str) -> Segmenter:
    """Return the segmenter of a file's content, as `load_segmenter` does; or `FileFormatError`."""
    data = gunzipped(data, name)
    saved = saved_model(data, name)
    if saved is not None:
        return saved
    if holds_merges(data, name):
        return standard_segmenter(load_uploaded_tokeniser({name: data}))
    return standard_segmenter(read_vocabulary(data, name))


def saved_model(data: bytes, name: str) -> Segmenter | None:
    """Return the model in a file's content: ours, or one of Picky BPE's authors."""
    if FORMAT.encode() in data[:200]:
        return read_model(data, name)
    picky: Any = METHODS["picky"].kind
    return cast("Segmenter", picky.from_released(data, name)) if is_released(data) else None


def _is_tokeniser(source: str | os.PathLike[str]) -> bool:
    """Return whether a file, or its companion, has merges."""
    if str(source).startswith("demo:") or os.path.isdir(source):  # noqa: PTH112 - never raises
        return True
    path = Path(source)
    if path.name.endswith("merges.txt"):
        return True
    if path.suffix == ".json" and len(tokeniser_files(path)) == 2:
        return True
    return holds_merges(read_content(path), str(source))


# ------------------------------------------------------------------------- exported


def exported_model(segmenter: Segmenter) -> ExportedModel:
    """Return the exported model of a segmenter, with the classes of its method and those below.

    `MorphGraphError` for a method without such a class.
    """
    made = segmenter.exported(False)
    code, model, one = {}, made.document["model"], segmenter
    while model is not None:
        code[model["type"]] = _standalone(one)
        model, one = model.get("of"), one.below
    return replace(made, code=code)


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
    return export_model(exported_model(segmenter), words, settings)


def export_to(
    segmenter: Segmenter, folder: str | os.PathLike[str], words: Sequence[str] | None = None
) -> Export:
    """Write a folder that ``AutoTokenizer.from_pretrained`` loads, after comparing ids with ours.

    They are compared on ``words``, by default 10,000 common ones, and on sentences made of them;
    `MorphGraphError` if they differ. An earlier export in the folder is replaced; other files of
    the same names are set aside, with a Python warning.
    """
    if not os.fspath(folder):
        raise MorphGraphError("An export needs a folder. Name one, or write “.” for this one.")
    path = Path(folder)
    check_folder(path)
    given = [] if words is None else check_list(words, "words")
    name = segmenter.below.name
    made = export_segmenter(
        segmenter, given or words_to_check((), name=name), source_settings(name)
    )
    if warning := segmenter.warning():
        warnings.warn(warning, stacklevel=3)
    for name, aside in save_folder(made.files, path).items():
        warnings.warn(f"{name} was there already: it is now {aside}", stacklevel=3)
    return made
