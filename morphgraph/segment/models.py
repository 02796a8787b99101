"""Trained models in and out: one JSON file for every method, which loads again as it was.

``{"format": "morphgraph model", "version": 1, "method": …}`` and what the method's own document
holds. Nothing in a file is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import check_is_there, checksum, parse_json, read_bytes
from morphgraph.segment.registry import (
    METHODS,
    method_named,
    method_on,
    segmenter_of,
    standard_segmenter,
)

if TYPE_CHECKING:
    from morphgraph.tokeniser.tokeniser import Tokeniser
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary
    from morphgraph.tokeniser.words import Segmenter

FORMAT = "morphgraph model"
VERSION = 1

_FIX = "Choose a model that morphgraph saved."


@runtime_checkable
class _Documented(Protocol):
    def document(self) -> dict[str, Any]: ...


def write_model(segmenter: Segmenter) -> bytes:
    """A segmenter as a model file; `MorphGraphError` if it is of a kind that cannot be saved."""
    known = METHODS.get(getattr(segmenter, "method", ""))
    # A class that only inherits how to write itself would be read as the one that it inherits from.
    if not isinstance(segmenter, _Documented) or known is None or known.kind is not type(segmenter):
        raise MorphGraphError(f"{segmenter.name} cannot be saved. Save the model below it.")
    document = {"format": FORMAT, "version": VERSION, **segmenter.document()}
    document["content"] = _content(document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _content(document: Mapping[str, Any]) -> str:
    """A checksum of all that a document holds, but for this checksum itself."""
    held = {key: value for key, value in document.items() if key != "content"}
    text = json.dumps(held, ensure_ascii=False, sort_keys=True)
    return checksum(text.encode("utf-8", "surrogatepass"))


def _as_signed(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the checksums of where its models came from, if it was changed since.

    A changed model then has a checksum of its own, and so a signature of its own.
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
    """The segmenter of a model file; anything else is a `FileFormatError`.

    A model that was changed outside morphgraph has the checksum of what it is now in its signature,
    not that of the tokeniser it once came from.
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
    """Whether JSON says that it is a model file."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def load_segmenter(
    source: str | os.PathLike[str], method: str | None = None, **parameters: Any
) -> Segmenter:
    """A segmenter from a file or demo: a saved model, or a tokeniser with a method for it.

    ``source``: a model file, a model of Picky BPE's authors, a ``tokenizer.json``, ``vocab.json``,
    ``merges.txt``, list of types or SentencePiece model, or ``demo:en``. ``method``: one of
    `METHODS`; by default the saved model's own, or the file's. ``parameters`` are those of the
    method, and ``counts`` for methods that need some: see `method_on`. Raises `FileFormatError` for
    what cannot be read, `MorphGraphError` for a method that does not go with the file.

    >>> load_segmenter("demo:en", "dropout", p=0.1, seed=7).parameters
    {'p': 0.1, 'seed': 7}
    """
    counts = parameters.pop("counts", None)
    if method is not None:
        method_named(method).settings(parameters)
    if not str(source).startswith("demo:"):
        check_is_there(source)
    base: Any = _saved_model(source)
    if base is None:
        base = _loaded(source, merges=method is not None and METHODS[method].needs == "merges")
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
    """The segmenter in a file's content: a saved model, or a tokeniser or vocabulary by its method.

    BPE in one ``tokenizer.json`` or SentencePiece model is cut by its merges; WordPiece, Unigram
    and lists of types as `load_segmenter` does. Raises `FileFormatError`.
    """
    from morphgraph.tokeniser.loading import load_uploaded_tokeniser, read_vocabulary

    saved = _model_in(data, name)
    if saved is not None:
        return saved
    if _holds_merges(data, name):
        return standard_segmenter(load_uploaded_tokeniser({name: data}))
    return standard_segmenter(read_vocabulary(data, name))


def lists_merges(data: bytes) -> bool:
    """Whether a file looks like a list of merges, two parts a line, and not like one of types.

    >>> lists_merges(b"#version: 0.2\\na b\\n"), lists_merges(b"[UNK]\\n##ing\\n")
    (True, False)
    """
    lines = [line for line in data[:65_536].decode("utf-8", "replace").splitlines() if line][:200]
    if lines and lines[0].startswith("#version"):
        return True
    return bool(lines) and all(len(line.split()) == 2 for line in lines[:-1] or lines)


def _saved_model(source: str | os.PathLike[str]) -> Segmenter | None:
    """The model in a file that says that it is one."""
    if str(source).startswith("demo:") or not os.path.isfile(source):  # noqa: PTH113 - never raises
        return None
    return _model_in(read_bytes(source), str(source))


def _model_in(data: bytes, name: str) -> Segmenter | None:
    """The model in a file's content: one of ours, or one of Picky BPE's authors."""
    from morphgraph.segment.picky import Picky
    from morphgraph.tokeniser.loading import is_released

    if FORMAT.encode() in data[:200]:
        return read_model(data, name)
    return Picky.from_released(data, name) if is_released(data) else None


def _loaded(source: str | os.PathLike[str], *, merges: bool) -> Tokeniser | SubwordVocabulary:
    """A tokeniser of a file with merges, or where they are needed; else the vocabulary.

    The types of a tokeniser, wherever it comes from, are prepared as its words are.
    """
    from morphgraph.tokeniser.loading import load_tokeniser, load_vocabulary

    by_merges = merges or _is_tokeniser(source)
    return load_tokeniser(source) if by_merges else load_vocabulary(source)


def _is_tokeniser(source: str | os.PathLike[str]) -> bool:
    """Whether a file, or the one beside it, has merges."""
    if str(source).startswith("demo:") or os.path.isdir(source):  # noqa: PTH112 - never raises
        return True
    path = Path(source)
    if path.name.endswith("merges.txt"):
        return True
    merges = path.with_name(path.name.replace("vocab", "merges")).with_suffix(".txt")
    if path.suffix == ".json" and "vocab" in path.name and os.path.isfile(merges):  # noqa: PTH113
        return True
    return _holds_merges(read_bytes(path), str(source))


def _holds_merges(data: bytes, name: str) -> bool:
    """Whether a file's content is a tokeniser with merges."""
    from morphgraph.tokeniser.sentencepiece import (
        is_bpe,
        is_sentencepiece,
        parse_sentencepiece,
    )

    if is_sentencepiece(data, name):
        return is_bpe(parse_sentencepiece(data, name))
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    document = parse_json(data, name)
    model = document.get("model") if isinstance(document, dict) else None
    return isinstance(model, dict) and (model.get("type") in ("BPE", "BTE") or "merges" in model)
