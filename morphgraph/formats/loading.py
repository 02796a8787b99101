"""Load a tokeniser or vocabulary from a file, a folder, uploaded files, or a named demo."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError, NoMergesError
from morphgraph.core.system import without_collection
from morphgraph.formats.hugging_face import (
    SPECIAL,
    assumed_document,
    checked_vocabulary,
    from_document,
    model_in,
    model_kind,
    scored_types,
    to_document,
)
from morphgraph.formats.opening import Opened, open_tokeniser
from morphgraph.formats.pipeline_parts import NO_PARTS, special_token
from morphgraph.formats.sentencepiece import (
    bpe_document,
    is_bpe,
    text_parts,
    text_preparation,
)
from morphgraph.formats.tokeniser_classes import bert_parts
from morphgraph.formats.tokeniser_files import Given
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN
from morphgraph.tokeniser.pipeline import (
    added_tokens,
    added_tokens_of,
    preprocessor_of,
)
from morphgraph.tokeniser.preprocess import BYTES, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary


def load_tokeniser(given: Given, pattern: str | None = None) -> BpeTokeniser:
    """Load a BPE tokeniser from a file, a folder, uploaded files, or a named demo (``demo:en``).

    A file is a ``tokenizer.json``, a SentencePiece BPE model, a rank file of tiktoken, a GGUF file,
    or a ``vocab.json`` or ``merges.txt`` with the other one beside it; a folder holds these, and
    settings (see `open_tokeniser`). ``pattern``: how text is cut into pieces, or the name of an
    encoding that does the same, where a rank or GGUF file does not say. Errors: `FileFormatError`.
    """
    return tokeniser_in(open_tokeniser(given, pattern))


@without_collection()
def tokeniser_in(opened: Opened) -> BpeTokeniser:
    """Return the BPE tokeniser in what was opened; `NoMergesError` if it is none."""
    name, document, place = opened.name, opened.document, ""
    if document is None and opened.has_merges:
        document = bpe_document(opened.pieces, name)
    if document is not None:
        tokeniser = from_document(document, name, opened.checksum, opened.merges_name)
        tokeniser.warnings = opened.warnings + tokeniser.warnings
        if opened.pieces is not None and tokeniser.unused:
            tokeniser.warnings += (
                f"{len(tokeniser.unused):,} types are marked as unused: sentencepiece takes them "
                "apart after all merges; in the merge graph they are types as any other.",
            )
        return tokeniser
    if opened.pieces is not None:
        place = "field trainer_spec"
        problem = "this is a Unigram model of SentencePiece, which has no merges"
    elif opened.types is not None:
        problem = "this is a list of types, which has no merges"
    else:
        problem = f"this is a {opened.format}, which is not cut by its merges alone"
    raise NoMergesError(name, place, problem, "Choose a BPE tokeniser.")


_UNKNOWN = ("[UNK]", "<unk>")
_RESERVED = re.compile(r"\[unused\d+\]")


def load_vocabulary(given: Given) -> SubwordVocabulary:
    """Load the vocabulary of a file, a folder, uploaded files or a demo; see `vocabulary_in`."""
    return vocabulary_in(open_tokeniser(given))


def vocabulary_in(opened: Opened) -> SubwordVocabulary:
    """Return the vocabulary in what was opened.

    Its marker is that of most types. A list or ``vocab.json`` does not say how text is normalised:
    this follows BERT (``##``; lowercased if no type has a capital), GPT-2 (``Ġ``) and SentencePiece
    (``▁``). Types are numbered in the order of their ids in the file, from 0. Errors:
    `FileFormatError`.
    """
    name = opened.name
    try:
        if opened.pieces is not None:
            vocabulary = _sentencepiece(opened.pieces, name)
        elif opened.types is not None:
            vocabulary = _assumed(opened.types, name)
        else:
            vocabulary = _of_document(opened.document, name)
    except FileFormatError:
        raise
    except MorphGraphError as error:
        problem, _, fix = str(error).rpartition(". ")
        raise FileFormatError(name, "", problem, fix) from error
    return (
        replace(vocabulary, warnings=opened.warnings + vocabulary.warnings)
        if opened.warnings
        else vocabulary
    )


def vocabulary_of(tokeniser: BpeTokeniser) -> SubwordVocabulary:
    """Return the present types of a tokeniser, as it would be saved, without merges.

    Without edits they keep their ids.
    """
    document = to_document(tokeniser)[0] if tokeniser.is_edited else tokeniser.document
    return _of_document(document, tokeniser.name)


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
    parts = {**NO_PARTS}
    if marker == "##":
        uncased = all(text == text.lower() for text in types if text not in special)
        parts |= bert_parts({"do_lower_case": uncased})
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
    model = model_in(document)
    if not model:
        fix = "Choose a list with one type a line, vocab.json or tokenizer.json."
        raise FileFormatError(name, "", "it is not a vocabulary", fix)
    kind = model_kind(model)
    scores: dict[str, float] = {}
    unknown = model.get("unk_token")
    if kind == "Unigram":
        scores = scored_types(model.get("vocab"), name)
        vocabulary = {text: number for number, text in enumerate(scores)}
        number = model.get("unk_id")
        if number is not None and (not isinstance(number, int) or not 0 <= number < len(scores)):
            problem = f"the id of the unknown token, {number!r}, is not in the vocabulary"
            raise FileFormatError(name, "field model.unk_id", problem, DOWNLOAD_AGAIN)
        unknown = None if number is None else list(scores)[number]
    elif kind in ("WordPiece", "BPE", "BTE") or {"method", "of"} & model.keys():
        vocabulary = checked_vocabulary(model.get("vocab"), name, "field model.vocab")
    else:
        problem = f"a {kind} model is not supported"
        raise FileFormatError(name, "field model.type", problem, "Choose WordPiece, Unigram, BPE.")
    prefix = model.get("continuing_subword_prefix")
    if prefix not in (None, "", "##"):
        place = "field model.continuing_subword_prefix"
        problem = f"types inside a word are marked with {prefix!r}, only “##” is supported"
        raise FileFormatError(name, place, problem, "Choose another tokeniser.")
    longest = model.get("max_input_chars_per_word")
    if longest is not None and (type(longest) is not int or longest < 1):
        place = "field model.max_input_chars_per_word"
        problem = f"it is {longest!r:.40}, and a whole number of 1 or more is expected"
        raise FileFormatError(name, place, problem, "Write 100, as in BERT.")
    ids = vocabulary | added_tokens(document, vocabulary, name)
    types = sorted(ids, key=ids.__getitem__)
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
        # Added tokens are found before the model runs, so their scores do not matter.
        tuple(scores.get(text, 0.0) for text in types) if scores else None,
        file_ids=_file_ids(types, ids),
        file={**document, "model": rest},
        in_text=frozenset(in_text),
    )


def _file_ids(types: Sequence[str], ids: Mapping[str, int]) -> tuple[int, ...] | None:
    """Return the ids of types in the file; None if they are 0, 1, 2 and so on."""
    numbers = tuple(ids[text] for text in types)
    return None if numbers == tuple(range(len(types))) else numbers


def _sentencepiece(model: Any, name: str) -> SubwordVocabulary:
    """Return the types of a SentencePiece model, with the scores of a Unigram model."""
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
