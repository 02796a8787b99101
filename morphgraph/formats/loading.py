"""Load a tokeniser or vocabulary from a file, a folder, uploaded files, or a named demo."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError, NoMergesError
from morphgraph.core.files import (
    check_is_there,
    check_size,
    checksum,
    decode_utf8,
    demo_tokeniser_path,
    parse_json,
    read_bytes,
)
from morphgraph.core.limits import TYPES
from morphgraph.core.system import without_collection
from morphgraph.core.text import shortened
from morphgraph.formats.content import check_format, read_content
from morphgraph.formats.gguf import MAGIC, read_gguf
from morphgraph.formats.hugging_face import (
    SPECIAL,
    as_numbered,
    assumed_document,
    checked_vocabulary,
    from_document,
    from_tokenizer_json,
    from_vocabulary_and_merges,
    special_token,
    to_document,
)
from morphgraph.formats.ranks import is_ranks, ranks_document
from morphgraph.formats.sentencepiece import (
    bpe_document,
    is_bpe,
    is_sentencepiece,
    parse_sentencepiece,
    text_parts,
    text_preparation,
)
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN
from morphgraph.tokeniser.pipeline import (
    added_tokens,
    added_tokens_of,
    check_types,
    preprocessor_of,
)
from morphgraph.tokeniser.preprocess import BYTES, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary

_TOGETHER = "Give a tokenizer.json, or vocab.json and merges.txt together, by names that fit."


@without_collection()
def load_tokeniser(source: str | os.PathLike[str], pattern: str | None = None) -> BpeTokeniser:
    """Load a BPE tokeniser from a file, a folder, or a named demo (``demo:en``).

    A file is a ``tokenizer.json``, a SentencePiece BPE model, a rank file of tiktoken, a GGUF file,
    or a ``vocab.json`` or ``merges.txt`` with the other one beside it; a folder holds these.
    ``pattern``: how text is cut into pieces, or the name of an encoding that does the same, where a
    rank or GGUF file does not say. Errors: `FileFormatError`.
    """
    if str(source).startswith("demo:"):
        path = demo_tokeniser_path(str(source).removeprefix("demo:"))
        return from_tokenizer_json(read_bytes(path), str(source))
    check_is_there(source)
    *_, path = files = tokeniser_files(source)
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir, never raises
        raise FileFormatError(str(path), "", "the folder holds no tokeniser", _TOGETHER)
    if path.suffix == ".txt":
        data, vocabulary = read_bytes(path), _beside(path, "merges", "vocab", ".json")
        if len(files) == 1 and not lists_merges(data):
            problem = "this is a list of types, which has no merges"
            raise NoMergesError(str(path), "", problem, "Choose a BPE tokeniser.")
        return from_vocabulary_and_merges(read_bytes(vocabulary), data, str(vocabulary), str(path))
    return _from_one_file(read_content(path), str(path), pattern)


def tokeniser_files(source: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files of a tokeniser: one, or a ``vocab.json`` and its ``merges.txt``.

    A folder that contains none of them is returned unchanged.
    """
    path = Path(source)
    if os.path.isdir(path):  # noqa: PTH112
        ours = ("tokeniser.bte.json", "tokeniser.method.json")
        names = ("tokenizer.json", *ours, "vocab.json", "tokenizer.model", "vocab.txt")
        path = next((path / name for name in names if (path / name).is_file()), path)
    if path.suffix == ".txt":
        pair = _beside(path, "merges", "vocab", ".json"), path
    elif "vocab" in path.name:
        pair = path, _beside(path, "vocab", "merges", ".txt")
    else:
        return (path,)
    return pair if all(map(os.path.isfile, pair)) else (path,)


def _beside(path: Path, word: str, other: str, suffix: str) -> Path:
    """Return a file's companion: with another word in its name, and another suffix."""
    return path.with_name(path.name.replace(word, other)).with_suffix(suffix)


def fitting_name(name: str) -> str:
    """Return the companion's name of a ``vocab.json`` or ``merges.txt``; empty for others."""
    path = Path(name)
    if path.suffix == ".txt" and "merges" in name:
        return _beside(path, "merges", "vocab", ".json").name
    if path.suffix == ".json" and "vocab" in name:
        return _beside(path, "vocab", "merges", ".txt").name
    return ""


def _from_one_file(data: bytes, name: str, pattern: str | None = None) -> BpeTokeniser:
    if is_released(data):
        problem = "this is a model of Picky BPE, which is not cut by its merges alone"
        raise NoMergesError(name, "", problem, "Choose a BPE tokeniser.")
    found = _converted(data, name, pattern)
    if isinstance(found, dict):
        return from_document(found, name, checksum(data))
    read = from_sentencepiece if is_sentencepiece(found, name) else from_tokenizer_json
    return read(found, name)


def _converted(data: bytes, name: str, pattern: str | None = None) -> bytes | dict[str, Any]:
    """Return a rank or GGUF file as ``tokenizer.json`` or SentencePiece model, others unchanged."""
    check_format(data, name)
    if data.startswith(MAGIC):
        return read_gguf(data, name, pattern)
    return ranks_document(data, name, checksum(data), pattern) if is_ranks(data) else data


def from_sentencepiece(data: bytes, name: str) -> BpeTokeniser:
    """Return the tokeniser of a SentencePiece BPE model, segmenting as `sentencepiece` does.

    Errors: `FileFormatError`, also for a Unigram model, which has no merges.
    """
    model = parse_sentencepiece(data, name)
    if not is_bpe(model):
        problem = "this is a Unigram model of SentencePiece, which has no merges"
        raise NoMergesError(name, "field trainer_spec", problem, "Choose a BPE tokeniser.")
    tokeniser = from_document(bpe_document(model, name), name, checksum(data))
    if unused := tokeniser.unused:
        tokeniser.warnings += (
            f"{len(unused):,} types are marked as unused: sentencepiece takes them apart after all "
            "merges; in the merge graph they are types as any other.",
        )
    return tokeniser


def lists_merges(data: bytes) -> bool:
    """Return whether a text file looks like a list of merges, not of types."""
    lines = [line for line in data[:65_536].splitlines() if line.strip()]
    pairs = sum(len(line.split(b" ")) == 2 for line in lines)
    return bool(lines) and (lines[0].startswith(b"#version") or pairs >= len(lines) / 2)


def holds_merges(data: bytes, name: str) -> bool:
    """Return whether a file's content is a tokeniser with merges."""
    check_format(data, name)
    if data.startswith(MAGIC) or is_ranks(data):
        return True
    if is_sentencepiece(data, name):
        return is_bpe(parse_sentencepiece(data, name))
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    document = parse_json(data, name)
    model = document.get("model") if isinstance(document, dict) else None
    return isinstance(model, dict) and (model.get("type") in ("BPE", "BTE") or "merges" in model)


@without_collection()
def load_uploaded_tokeniser(files: Mapping[str, bytes], pattern: str | None = None) -> BpeTokeniser:
    """Load a BPE tokeniser from the contents of one or two uploaded files, by name.

    Two are a vocabulary and its merges, whose names must match. ``pattern``: as in
    `load_tokeniser`. Errors: `FileFormatError`.
    """
    merges = [name for name in files if name.lower().endswith(".txt")]
    documents = [name for name in files if name not in merges]
    if len(documents) == 1 and not merges:
        return _from_one_file(files[documents[0]], documents[0], pattern)
    if len(documents) == 1 and [fitting_name(name) for name in merges] == documents:
        return from_vocabulary_and_merges(
            files[documents[0]], files[merges[0]], documents[0], merges[0]
        )
    listed = ", ".join(files) or "no file"
    raise FileFormatError(listed, "", "this is not one tokeniser", _TOGETHER)


def is_released(data: bytes) -> bool:
    """Return whether a file looks like a model of the trainer by Picky BPE's authors."""
    fields = (b'"tokens"', b'"id2int"', b'"merges"', b'"splits"')
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return start == b"{" and all(name in data for name in fields)


_UNKNOWN = ("[UNK]", "<unk>")
_RESERVED = re.compile(r"\[unused\d+\]")
_JSON_START = re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*(\"[^\r\n]|\}\s*$)")

_CHOICES = (
    "Choose a list with one type a line, vocab.json, tokenizer.json or a SentencePiece model."
)


def load_vocabulary(source: str | os.PathLike[str]) -> SubwordVocabulary:
    """Load the vocabulary of a file, or of a named demo (``demo:en``); see `read_vocabulary`."""
    language = str(source).removeprefix("demo:")
    path = source if language == str(source) else demo_tokeniser_path(language)
    return read_vocabulary(read_content(path), str(source))


def read_vocabulary(data: bytes, name: str) -> SubwordVocabulary:
    """Return the vocabulary in a file's content, whose format is detected.

    Its marker is that of most types. A list or ``vocab.json`` does not say how text is normalised:
    this follows BERT (``##``; lowercased if no type has a capital), GPT-2 (``Ġ``) and SentencePiece
    (``▁``). Types are numbered in the order of their ids in the file, from 0. Errors:
    `FileFormatError`.
    """
    check_size(name, len(data))
    try:
        found = _converted(data, name)
        if isinstance(found, dict):
            return _of_document(found, name)
        if is_sentencepiece(found, name):
            return _sentencepiece(found, name)
        if name.endswith(".json") or _JSON_START.match(data):
            document, warnings = as_numbered(parse_json(data, name))
            return replace(_of_document(document, name), warnings=tuple(warnings))
        return _assumed(_lines(data, name), name)
    except FileFormatError:
        raise
    except MorphGraphError as error:
        problem, _, fix = str(error).rpartition(". ")
        raise FileFormatError(name, "", problem, fix) from error


def vocabulary_of(tokeniser: BpeTokeniser) -> SubwordVocabulary:
    """Return the present types of a tokeniser, as it would be saved, without merges.

    Without edits they keep their ids.
    """
    document = to_document(tokeniser)[0] if tokeniser.is_edited else tokeniser.document
    return _of_document(document, tokeniser.name)


def _lines(data: bytes, name: str) -> dict[str, int]:
    """Return the types of a list with one per line, and their ids."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(name, "line 1", "this is UTF-16", "Save the file as UTF-8.")
    TYPES.check(data.count(b"\n"), name)
    lines = decode_utf8(data, name).removesuffix("\n").split("\n")
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        text = line.removesuffix("\r")
        problem, fix = "", "Write one type a line."
        if text.startswith("#version"):
            problem, fix = "this is a list of merges, without its vocabulary", _TOGETHER
        elif not text:
            problem, fix = "the line is empty", "Remove the line."
        elif "\0" in text:
            problem, fix = "there is a zero byte, so this is not text", _CHOICES
        elif re.search(r"[ \t]", text):
            problem = f"a type cannot contain a space or tab, as “{shortened(text)}” does"
        elif text in seen:
            problem = f"“{shortened(text)}” is in line {seen[text]:,} already"
            fix = "Keep one of the lines."
        if problem:
            place = f"line {number:,}, read as a list of types"
            raise FileFormatError(name, place, problem, fix)
        seen[text] = number
    check_types(seen, name)
    return {text: number for number, text in enumerate(seen)}


def detect_marker(types: Sequence[str]) -> Marker:
    """Return the marker that most types have; none if no type has one."""
    choices: tuple[Marker, ...] = ("##", "▁", "Ġ")
    counts = {
        marker: sum(text.startswith(marker) and text != marker for text in types)
        for marker in choices
    }
    best = max(choices, key=counts.__getitem__)
    return best if counts[best] else ""


def _assumed(ids: Mapping[str, int], name: str) -> SubwordVocabulary:
    """Return a vocabulary whose file does not say how text is prepared."""
    types = sorted(ids, key=ids.__getitem__)
    marker = detect_marker(types)
    special = frozenset(text for text in types if SPECIAL.fullmatch(text)) - set(BYTES)
    file = _usual_file(marker, types, ids, special)
    document = {**file, "model": {"byte_fallback": marker == "▁"}}
    return SubwordVocabulary(
        tuple(types),
        marker,
        replace(preprocessor_of(document, name, ids), leading_space=marker == "Ġ"),
        special,
        next((text for text in _UNKNOWN if text in special), None),
        name,
        file_ids=_file_ids(types, ids),
        file=file,
    )


def _usual_file(
    marker: Marker, types: Sequence[str], ids: Mapping[str, int], special: frozenset[str]
) -> dict[str, Any]:
    """Return what a complete file of this kind would contain, as BERT's or GPT-2's does."""
    parts: dict[str, Any] = dict.fromkeys(
        ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    if marker == "##":
        uncased = all(text == text.lower() for text in types if text not in special)
        cleaned = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
        parts["normalizer"] = {"type": "BertNormalizer", **cleaned, "lowercase": uncased}
        parts["pre_tokenizer"] = {"type": "BertPreTokenizer"}
        parts["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
        if {"[CLS]", "[SEP]"} <= special:
            both = {"sep": ["[SEP]", ids["[SEP]"]], "cls": ["[CLS]", ids["[CLS]"]]}
            parts["post_processor"] = {"type": "BertProcessing", **both}
    elif marker:
        usual = assumed_document({marker: 0}, [])
        parts = {part: usual[part] for part in parts}
    # BERT's own tokeniser treats the names of its reserved types as text.
    added = [
        special_token(text, number)
        for text, number in ids.items()
        if text in special and not _RESERVED.fullmatch(text)
    ]
    return {"added_tokens": added, **parts}


def _of_document(document: Any, name: str) -> SubwordVocabulary:
    if not isinstance(document, dict):
        raise FileFormatError(name, "", "it is not a vocabulary", _CHOICES)
    model = document.get("model")
    if not isinstance(model, dict):
        return _assumed(checked_vocabulary(document, name, "read as vocab.json"), name)
    kind = _kind(model)
    scores: list[float] | None = None
    unknown = model.get("unk_token")
    if kind == "Unigram":
        types, scores = _scored_types(model.get("vocab"), name)
        vocabulary = {text: number for number, text in enumerate(types)}
        number = model.get("unk_id")
        if number is not None and (not isinstance(number, int) or not 0 <= number < len(types)):
            problem = f"the id of the unknown token, {number!r}, is not in the vocabulary"
            raise FileFormatError(name, "field model.unk_id", problem, DOWNLOAD_AGAIN)
        unknown = None if number is None else types[number]
    elif kind in ("WordPiece", "BPE", "BTE") or {"method", "of"} & model.keys():
        vocabulary = checked_vocabulary(model.get("vocab"), name, "field model.vocab")
    else:
        problem = f"a {kind} model is not supported"
        raise FileFormatError(name, "field model.type", problem, "Choose WordPiece, Unigram, BPE.")
    prefix = model.get("continuing_subword_prefix")
    if prefix not in (None, "", "##"):
        raise FileFormatError(
            name,
            "field model.continuing_subword_prefix",
            f"types inside a word are marked with {prefix!r}, only “##” is supported",
            "Choose another tokeniser.",
        )
    longest = model.get("max_input_chars_per_word")
    if longest is not None and (type(longest) is not int or longest < 1):
        place = "field model.max_input_chars_per_word"
        problem = f"it is {longest!r:.40}, and a whole number of 1 or more is expected"
        raise FileFormatError(name, place, problem, "Write 100, as in BERT.")
    ids = vocabulary | added_tokens(document, vocabulary, name)
    types = sorted(ids, key=ids.__getitem__)
    if scores is not None:
        # Added tokens are found before the model runs, so their scores do not matter.
        scores = [scores[vocabulary[text]] if text in vocabulary else 0.0 for text in types]
    preprocessor = preprocessor_of(document, name, ids)
    special = {token["content"] for token in document.get("added_tokens") or []}
    if preprocessor.sentencepiece is not None:
        # User-defined symbols are ordinary strings where substrings are looked up.
        special.difference_update(preprocessor.sentencepiece.symbols)
        text = replace(preprocessor.sentencepiece, symbols=())
        preprocessor = replace(preprocessor, sentencepiece=text)
    rest = {key: held for key, held in model.items() if key not in ("vocab", "merges", "levels")}
    unknown = unknown if isinstance(unknown, str) and unknown in ids else None
    if unknown is not None:
        special.add(unknown)
    marker = detect_marker(types)
    if kind == "WordPiece" and prefix != "":
        marker = "##"
    elif kind == "WordPiece":  # types inside a word are as at its start
        marker = "" if marker == "##" else marker
    elif prefix:
        marker = "##"
    in_text = special & vocabulary.keys() if kind in ("Unigram", "WordPiece") else ()
    return SubwordVocabulary(
        tuple(types),
        marker,
        preprocessor,
        frozenset(special),
        unknown,
        name,
        None if scores is None else tuple(scores),
        file_ids=_file_ids(types, ids),
        file={**document, "model": rest},
        in_text=frozenset(in_text),
    )


def _file_ids(types: Sequence[str], ids: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the ids of types in the file; None if they are 0, 1, 2 and so on."""
    numbers = tuple(ids[text] for text in types)
    return None if numbers == tuple(range(len(types))) else numbers


def _kind(model: Mapping[str, Any]) -> Any:
    """Return the type of a model, which old files only imply by their fields."""
    if isinstance(model.get("vocab"), list):
        return model.get("type", "Unigram")
    return model.get("type", "BPE" if "merges" in model else "WordPiece")


def _scored_types(value: Any, name: str) -> tuple[list[str], list[float]]:
    place = "field model.vocab"
    if not isinstance(value, list) or not value:
        raise FileFormatError(
            name, place, "a list of types with scores is expected here", DOWNLOAD_AGAIN
        )
    TYPES.check(len(value), name, place)
    scores: dict[str, float] = {}
    for number, entry in enumerate(value, start=1):
        place = f"field model.vocab, entry {number:,}"
        match entry:
            case [str(text), int() | float() as score] if text and not isinstance(score, bool):
                if text in scores:
                    problem = f"“{shortened(text)}” is in the vocabulary twice"
                    raise FileFormatError(name, place, problem, "Keep one of them.")
                scores[text] = score
            case _:
                problem = "a type with its score is expected, as [“a”, -3.2]"
                raise FileFormatError(name, place, problem, "Correct the entry.")
    check_types(scores, name, "field model.vocab")
    return list(scores), list(scores.values())


def _sentencepiece(data: bytes, name: str) -> SubwordVocabulary:
    """Return the types of a SentencePiece model, with the scores of a Unigram model."""
    model = parse_sentencepiece(data, name)
    kind, pieces = model.SentencePiece, list(model.pieces)
    types = tuple(piece.piece for piece in pieces)
    hidden = (kind.CONTROL, kind.UNKNOWN, kind.UNUSED)
    unknown = next((piece.piece for piece in pieces if piece.type == kind.UNKNOWN), None)
    scores = None
    if not is_bpe(model):
        # The score of a user-defined symbol in SentencePiece 0.2.3: a tenth per further byte.
        scores = tuple(
            (len(p.piece.encode()) - 1) / 10 if p.type == kind.USER_DEFINED else p.score
            for p in pieces
        )
    settings = model.normalizer_spec
    file = text_parts(model)
    # User-defined symbols are ordinary types, found in normalised text.
    file["added_tokens"] = [token for token in file["added_tokens"] if token["special"]]
    return SubwordVocabulary(
        types,
        detect_marker(types),
        Preprocessor(
            sentencepiece=text_preparation(model),
            leading_space=not settings.add_dummy_prefix and not settings.remove_extra_whitespaces,
            byte_fallback=model.trainer_spec.byte_fallback,
            added=added_tokens_of(file),
        ),
        frozenset(piece.piece for piece in pieces if piece.type in hidden),
        unknown,
        name,
        scores,
        single=True,
        file=file,
    )
