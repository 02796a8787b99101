"""Saving and loading trained models: one JSON file for every method.

``{"format": "morphgraph model", "version": 1, "method": …}`` and what the method's own document
holds. Nothing in a file is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import (
    check_is_there,
    checksum,
    json_bytes,
    parse_json,
    read_bytes,
)
from morphgraph.segment.registry import (
    METHODS,
    method_named,
    method_on,
    segmenter_of,
    standard_segmenter,
)
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.loading import (
    holds_merges,
    is_released,
    load_tokeniser,
    load_uploaded_tokeniser,
    load_vocabulary,
    read_vocabulary,
    tokeniser_files,
)

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
    if not is_model(document):
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


def is_model(document: Any) -> bool:
    """Return whether JSON data claim to be a model file."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def load_segmenter(
    source: str | os.PathLike[str], method: str | None = None, **parameters: Any
) -> Segmenter:
    """Load a segmenter from a file or demo: a saved model, or a method on a tokeniser.

    ``source``: a model file, a model of Picky BPE's authors, a ``tokenizer.json``, ``vocab.json``,
    ``merges.txt``, list of types or SentencePiece model, or ``demo:en``. ``method``: one of
    `METHODS`; by default the saved model's own, or the file's. ``parameters`` are those of the
    method, and ``counts`` for methods that need them: see `method_on`. Raises `FileFormatError` for
    an unreadable file, `MorphGraphError` for a method that does not suit it.

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
            base = saved_model(read_bytes(source), str(source))
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
    """Return the segmenter of a file's content: a saved model, a tokeniser or vocabulary.

    BPE in one ``tokenizer.json`` or SentencePiece model uses its merges; WordPiece, Unigram and
    lists of types as in `load_segmenter`. Raises `FileFormatError`.
    """
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
    return holds_merges(read_bytes(path), str(source))
