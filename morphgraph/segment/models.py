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

if TYPE_CHECKING:
    from morphgraph.tokeniser.segmentation import Segmenter
    from morphgraph.tokeniser.tokeniser import Tokeniser

FORMAT = "morphgraph model"
VERSION = 1

SAVED_METHODS = (
    "bpe",
    "dropout",
    "trimmed",
    "picky",
    "scaffold",
    "flota",
    "first",
    "longest",
    "greedy",
    "wordpiece",
    "unigram",
)
"""The methods of a model file, which `load_segmenter` takes too."""

_BY_MERGES = ("bpe", "dropout", "trimmed")
_BY_TYPES = ("flota", "greedy", "wordpiece", "unigram")
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "dropout": ("p", "seed", "queue"),
    "trimmed": ("counts", "threshold"),
    "flota": ("k", "strict"),
    "first": ("k",),
    "longest": ("k",),
    "wordpiece": ("unknown", "longest_word"),
    "unigram": ("unknown", "single"),
}
_FIX = "Choose a model that morphgraph saved."


@runtime_checkable
class _Documented(Protocol):
    def document(self) -> dict[str, Any]: ...


def write_model(segmenter: Segmenter) -> bytes:
    """A segmenter as a model file; `MorphGraphError` if it is of a kind that cannot be saved."""
    if not isinstance(segmenter, _Documented):
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
        raise FileFormatError(name, "", "this is no saved model", _FIX)
    if document.get("version") != VERSION:
        problem = f"its version is {document.get('version')!r}, not {VERSION}"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    try:
        return _segmenter_of(_as_signed(document))
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
    `SAVED_METHODS`; by default the saved model's own, or the file's. ``parameters`` are those of
    the method: ``p``, ``seed`` and ``queue`` of dropout; ``k`` of flota (0 for no limit), first and
    longest, ``strict`` of flota; ``threshold`` and ``counts`` of trimmed, where ``counts`` may be
    `WordCounts`, a file of counts or ``wordfreq:en``. Raises `FileFormatError` for what cannot be
    read, `MorphGraphError` for a method that does not go with the file.

    >>> load_segmenter("demo:en", "dropout", p=0.1, seed=7).parameters
    {'p': 0.1, 'seed': 7}
    """
    if method is not None:
        _check(method, parameters)
    if not str(source).startswith("demo:"):
        check_is_there(source)
    saved = _saved_model(source)
    if method is None and saved is not None and not parameters:
        return saved
    usual = method is None and saved is None
    if method is None:
        method = _method_of(saved) if saved is not None else _usual_method(source)
        _check(method, parameters)
    if saved is not None and method == _method_of(saved) and not parameters:
        return saved
    if method == "dropout" and saved is not None and method == _method_of(saved):
        parameters = {**saved.parameters, **parameters}
    if method in _BY_MERGES:
        tokeniser = _tokeniser(source, saved, method)
        return standard_segmenter(tokeniser) if usual else _by_merges(tokeniser, method, parameters)
    if method in _BY_TYPES:
        return _by_types(_vocabulary(source, saved), method, parameters)
    if method in ("first", "longest"):
        from morphgraph.segment.flota import First, Longest

        standard = saved if saved is not None else load_segmenter(source)
        if isinstance(standard, First | Longest):
            standard = standard.segmenter
        kind = First if method == "first" else Longest
        return kind(standard, **parameters)
    raise MorphGraphError(
        f"{source}: {method} needs a model that was trained so. "
        f"Train one with morphgraph train --method {method}."
    )


def uploaded_segmenter(data: bytes, name: str) -> Segmenter:
    """The segmenter in a file's content: a saved model, or a tokeniser or vocabulary by its method.

    BPE in one ``tokenizer.json`` or SentencePiece model is cut by its merges; WordPiece, Unigram
    and lists of types as `load_segmenter` does. Raises `FileFormatError`.
    """
    from morphgraph.tokeniser.loading import load_uploaded_tokeniser
    from morphgraph.tokeniser.vocabularies import read_vocabulary

    saved = _model_in(data, name)
    if saved is not None:
        return saved
    if _holds_merges(data, name):
        return standard_segmenter(load_uploaded_tokeniser({name: data}))
    vocabulary = read_vocabulary(data, name)
    return _by_types(vocabulary, _method_for(vocabulary), {})


def lists_merges(data: bytes) -> bool:
    """Whether a file looks like a list of merges, two parts a line, and not like one of types.

    >>> lists_merges(b"#version: 0.2\\na b\\n"), lists_merges(b"[UNK]\\n##ing\\n")
    (True, False)
    """
    lines = [line for line in data[:65_536].decode("utf-8", "replace").splitlines() if line][:200]
    if lines and lines[0].startswith("#version"):
        return True
    return bool(lines) and all(len(line.split()) == 2 for line in lines[:-1] or lines)


def _check(method: str, parameters: Mapping[str, Any]) -> None:
    if method not in SAVED_METHODS:
        listed = ", ".join(SAVED_METHODS)
        raise MorphGraphError(f"There is no method {method!r}. Choose one of {listed}.")
    known = _PARAMETERS.get(method, ())
    for name in parameters:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise MorphGraphError(
                f"The method {method} has no parameter {name}. Its parameters: {listed}."
            )


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


def _method_of(segmenter: Segmenter) -> str:
    return str(cast(Any, segmenter).document()["method"])


def _usual_method(source: str | os.PathLike[str]) -> str:
    """The method that a file is for: its merges, or its kind of vocabulary."""
    if str(source).startswith("demo:") or os.path.isdir(source):  # noqa: PTH112 - never raises
        return "bpe"
    path = Path(source)
    if path.name.endswith("merges.txt"):
        return "bpe"
    merges = path.with_name(path.name.replace("vocab", "merges")).with_suffix(".txt")
    if path.suffix == ".json" and "vocab" in path.name and os.path.isfile(merges):  # noqa: PTH113
        return "bpe"
    if _holds_merges(read_bytes(path), str(source)):
        return "bpe"
    from morphgraph.tokeniser.vocabularies import load_vocabulary

    return _method_for(load_vocabulary(source))


def _holds_merges(data: bytes, name: str) -> bool:
    """Whether a file's content is a tokeniser with merges."""
    from morphgraph.tokeniser.sentencepiece_models import (
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


def _method_for(vocabulary: Any) -> str:
    """The method that a vocabulary is for."""
    if vocabulary.scores is not None:
        return "unigram"
    return "wordpiece" if vocabulary.marker == "##" else "greedy"


def _tokeniser(source: str | os.PathLike[str], saved: Segmenter | None, method: str) -> Tokeniser:
    from morphgraph.tokeniser.loading import load_tokeniser

    if saved is None:
        return load_tokeniser(source)
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.dropout import Dropout
    from morphgraph.segment.trimmed import Trimmed

    # Others have a tokeniser too, but with types that their method takes out again.
    tokeniser = getattr(saved, "tokeniser", None)
    if tokeniser is None or type(saved) not in (Bte, Dropout, Trimmed):
        raise MorphGraphError(
            f"{source}: a model of {saved.name} is not cut by its merges alone, as {method} needs. "
            "Choose a model that was trained by BPE."
        )
    return cast("Tokeniser", tokeniser)


def _vocabulary(source: str | os.PathLike[str], saved: Segmenter | None) -> Any:
    from morphgraph.tokeniser.loading import load_tokeniser
    from morphgraph.tokeniser.vocabularies import load_vocabulary, vocabulary_of

    if saved is None:
        # The types of a tokeniser, wherever it comes from, are prepared as its words are.
        by_merges = _usual_method(source) == "bpe"
        return vocabulary_of(load_tokeniser(source)) if by_merges else load_vocabulary(source)
    vocabulary = getattr(saved, "vocabulary", None)
    if vocabulary is not None:
        return vocabulary
    tokeniser = getattr(saved, "tokeniser", None)
    if tokeniser is None:
        raise MorphGraphError(
            f"{source}: the vocabulary of {saved.name} cannot be used alone. Choose another model."
        )
    return vocabulary_of(tokeniser)


def standard_segmenter(tokeniser: Tokeniser) -> Segmenter:
    """A tokeniser by its merges; types that SentencePiece holds for unused are taken apart then."""
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.trimmed import Trimmed
    from morphgraph.tokeniser.sentencepiece_models import unused_types

    unused = unused_types(tokeniser)
    if not unused:
        return Bte(tokeniser)
    return Trimmed(tokeniser, [text not in unused for text in tokeniser.graph.types], threshold=0)


def _by_merges(tokeniser: Tokeniser, method: str, parameters: Mapping[str, Any]) -> Segmenter:
    if method == "dropout":
        from morphgraph.segment.dropout import Dropout

        return Dropout(tokeniser, **parameters)
    if method == "trimmed":
        return _trimmed(tokeniser, **parameters)
    from morphgraph.segment.bte import Bte

    return Bte(tokeniser)


def _trimmed(tokeniser: Tokeniser, *, counts: Any = None, **parameters: Any) -> Segmenter:
    from morphgraph.corpus.counts import read_word_counts, wordfreq_counts
    from morphgraph.segment.trimmed import Trimmed, token_counts

    if counts is None:
        raise MorphGraphError(
            "Trimmed BPE needs the word counts of a second corpus. Give a file of counts, or "
            "wordfreq:LANG."
        )
    if isinstance(counts, str) and counts.startswith("wordfreq:"):
        counts = wordfreq_counts(counts.removeprefix("wordfreq:"))
    elif isinstance(counts, (str, os.PathLike)):
        counts = read_word_counts(Path(counts))
    return Trimmed(tokeniser, token_counts(tokeniser, counts), **parameters)


def _by_types(vocabulary: Any, method: str, parameters: Mapping[str, Any]) -> Segmenter:
    from morphgraph.segment.flota import Flota
    from morphgraph.segment.unigram import Unigram
    from morphgraph.segment.wordpiece import Greedy, WordPiece

    if method == "flota":
        return Flota(vocabulary, parameters.get("k") or None, parameters.get("strict", False))
    if method == "greedy":
        return Greedy(vocabulary)
    if method == "unigram":
        return Unigram(vocabulary, **parameters)
    return WordPiece(vocabulary, **parameters)


def _segmenter_of(document: Mapping[str, Any]) -> Segmenter:
    """The segmenter of a document, by its method."""
    method = document.get("method")
    if method == "bpe":
        from morphgraph.segment.bte import Bte

        return Bte.from_document(document)
    if method == "dropout":
        from morphgraph.segment.dropout import Dropout

        return Dropout.from_document(document)
    if method == "trimmed":
        from morphgraph.segment.trimmed import Trimmed

        return Trimmed.from_document(document)
    if method == "scaffold":
        from morphgraph.segment.scaffold import Scaffold

        return Scaffold.from_document(document)
    if method == "picky":
        from morphgraph.segment.picky import Picky

        return Picky.from_document(document)
    if method in ("first", "longest"):
        from morphgraph.segment.flota import First, Longest

        kind = First if method == "first" else Longest
        return kind.from_document(document, _segmenter_of)
    if method in _BY_TYPES:
        from morphgraph.segment.flota import segmenter_from_document

        return segmenter_from_document(document)
    listed = ", ".join(SAVED_METHODS)
    raise FileFormatError(
        "", "field method", f"it is {str(method)[:40]!r}, none of {listed}", "Update morphgraph."
    )
