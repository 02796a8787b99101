"""Read and write Hugging Face BPE: ``tokenizer.json``, ``vocab.json`` + ``merges.txt``.

Our own layout only differs in the model's ``type``: ``"BTE"`` means that merges may have three or
more parts, which Hugging Face's library cannot read and refuses by that name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count, pairwise
from typing import Any

import numpy as np

from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.files import checksum as sum_of
from morphgraph.core.files import decode_utf8, json_bytes, parse_json
from morphgraph.core.limits import (
    ADDED_TOKENS,
    GROWN_CHARACTERS,
    MERGES,
    PIPELINE_PARTS,
    TYPES,
    TYPES_CHARACTERS,
)
from morphgraph.core.text import counted, shortened
from morphgraph.formats.pipeline_parts import NO_PARTS, byte_level, special_token
from morphgraph.formats.recipe import LINEAGE_FIELD, lineage_document, lineage_of, read_lineage
from morphgraph.formats.tokeniser_classes import clip_parts
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import MergeColumns
from morphgraph.tokeniser.merging import never_formed, unformed_types
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN, SEQUENCES, parts_in_order
from morphgraph.tokeniser.pipeline import (
    IDS_END,
    added_tokens,
    check_id,
    cut,
    preprocessor_of,
)
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, BYTES
from morphgraph.tokeniser.tokeniser import BpeTokeniser, IdChoice

SPECIAL = re.compile(r"(<[^<>\s]{1,40}>|\[[A-Za-z_0-9]{2,40}\])")
"""Types that look special: ``<s>``, ``[CLS]``."""


def tokenizer_document(
    vocabulary: Mapping[str, int],
    merges: Iterable[str | Sequence[str]],
    added: Iterable[Mapping[str, Any]],
    parts: Mapping[str, Any],
    **model: Any,
) -> dict[str, Any]:
    """Return the ``tokenizer.json`` of a BPE model.

    ``parts``: normaliser, pre-tokeniser, post-processor and decoder; ``model``: its unusual fields.
    """
    usual: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(vocabulary),
        "merges": [m if isinstance(m, str) else list(m) for m in merges],
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": list(added),
        **dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder")),
        **parts,
        "model": usual | model,
    }


def checked_vocabulary(value: Any, name: str, place: str = "") -> dict[str, int]:
    """Check a vocabulary (type → id) from JSON, or raise `FileFormatError`."""
    wrong = partial(FileFormatError, name, place)
    fix = "Download the file again, or give each type an id of its own."
    if not isinstance(value, dict) or not value:
        raise wrong("a vocabulary (type → id) is expected here", fix)
    numbers = value.values()
    is_plain = set(map(type, numbers)) == {int} and 0 <= min(numbers) <= max(numbers) < IDS_END
    if is_plain and len(set(numbers)) == len(value) and "" not in value:
        return value  # as most are, so only others are looked at type by type
    seen: dict[int, str] = {}
    for text, number in value.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise wrong(f"the id of “{cut(text)}” is not a valid id", fix)
        check_id(number, text, name, place)
        if number in seen:
            raise wrong(f"“{cut(seen[number])}” and “{cut(text)}” share the id {number:,}", fix)
        if not text:
            raise wrong(f"the type with the id {number:,} is empty", fix)
        seen[number] = text
    return value


def model_in(document: Any) -> dict[str, Any]:
    """Return the model of a ``tokenizer.json``; empty for anything else."""
    model = document.get("model") if isinstance(document, dict) else None
    return model if isinstance(model, dict) else {}


def model_kind(model: Mapping[str, Any]) -> Any:
    """Return the type of a model, which old files only imply by their fields."""
    implied = "BPE" if "merges" in model else "WordPiece"
    return model.get("type", "Unigram" if isinstance(model.get("vocab"), list) else implied)


def listed_ids(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids of a model's types, which one of Unigram lists with scores instead."""
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, dict):
        return vocabulary
    entries = vocabulary if isinstance(vocabulary, list) else []
    texts = [entry[0] for entry in entries if isinstance(entry, list) and entry]
    return {text: number for number, text in enumerate(texts) if isinstance(text, str)}


def scored_types(value: Any, name: str) -> dict[str, float]:
    """Return the types of a Unigram model with their scores; `FileFormatError` for others."""
    place = "field model.vocab"
    if not isinstance(value, list) or not value:
        problem = "a list of types with scores is expected here"
        raise FileFormatError(name, place, problem, DOWNLOAD_AGAIN)
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
                problem = "a type with its score is expected, such as [“a”, -3.2]"
                raise FileFormatError(name, place, problem, "Correct the entry.")
    return scores


def check_limits(document: Any, name: str) -> None:
    """Raise `FileFormatError` if a ``tokenizer.json`` lists too much; its faults are for others."""
    model, place = model_in(document), "field model.vocab"
    types = listed_ids(model)
    TYPES.check(len(types), name, place)
    TYPES_CHARACTERS.check(sum(map(len, types)), name, place)
    if not model:
        return
    MERGES.check(_length(model.get("merges")), name, "field model.merges")
    added = document.get("added_tokens")
    added, place = added if isinstance(added, list) else [], "field added_tokens"
    ADDED_TOKENS.check(len(added), name, place)
    normalised = (t for t in added if isinstance(t, dict) and t.get("normalized") is True)
    GROWN_CHARACTERS.check(sum(len(str(t.get("content"))) for t in normalised), name, place)
    parts = (parts_in_order(document.get(key), key) for key in SEQUENCES)
    count = sum(1 for _ in chain.from_iterable(parts))
    PIPELINE_PARTS.check(count, name, fix="Take out what is not needed")


def _length(listed: Any) -> int:
    return len(listed) if isinstance(listed, list) else 0


def from_tokenizer_json(data: bytes, name: str) -> BpeTokeniser:
    """Read a ``tokenizer.json``; anything but a valid BPE model is a `FileFormatError`."""
    document, warnings = as_numbered(parse_json(data, name))
    check_limits(document, name)
    tokeniser = from_document(document, name, sum_of(data))
    tokeniser.warnings = (*warnings, *tokeniser.warnings)
    return tokeniser


def from_document(document: Any, name: str, checksum: str, merges_name: str = "") -> BpeTokeniser:
    """Return the tokeniser of a parsed ``tokenizer.json``; errors as in `from_tokenizer_json`.

    Beside the fields of Hugging Face's library, the model may have ``levels``: one number for each
    merge, not falling; merges of the same number are equally good, and the leftmost in a word goes
    first. ``sentencepiece``: see `preprocessor_of`. ``merges_name``: of the file that the merges
    were read from, if it is another one.
    """
    model = model_in(document)
    if not model:
        fix = "Choose the tokenizer.json of a BPE tokeniser."
        raise FileFormatError(name, "", "it has no field “model”", fix)
    kind = model_kind(model)
    if kind not in ("BPE", "BTE"):
        problem = f"this is a {kind} model, which has no merges"
        raise NoMergesError(name, "field model.type", problem, "Choose a BPE tokeniser.")
    vocabulary = checked_vocabulary(model.get("vocab"), name, "field model.vocab")
    # The library reads no file with a field that it does not know.
    document = {field: document[field] for field in _FIELDS if field in document}
    place, listed = "field model.merges", model.get("merges")
    if not isinstance(listed, list):
        raise FileFormatError(name, place, "a list is expected here", DOWNLOAD_AGAIN)
    places = (f"{place}, entry {n:,}" for n in count(1))
    merges = _merge_parts(listed, name, places, kind == "BTE")
    # Conflicts between two files are reported for that of the merges.
    return _build(document, vocabulary, merges, name, merges_name or name, checksum)


def read_merges(data: bytes, name: str) -> list[list[str]]:
    """Read a ``merges.txt``; `FileFormatError` if it lists none."""
    lines = decode_utf8(data, name).split("\n")
    numbered = {
        f"line {number:,}": line
        for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1)
        if line and not (number == 1 and line.startswith("#version"))
    }
    parts = _merge_parts(list(numbered.values()), name, numbered, False)
    if not parts:
        fix = "Choose the merges.txt that belongs to vocab.json."
        raise FileFormatError(name, "", "it has no merges", fix)
    return parts


def _merge_parts(
    entries: Sequence[Any], name: str, places: Iterable[str], tuples: bool
) -> list[list[str]]:
    """Return the parts of each merge; ``places``: where each stands."""
    listed = [entry.split(" ") if isinstance(entry, str) else entry for entry in entries]
    if set(map(type, listed)) <= {list}:
        texts, widths = list(chain.from_iterable(listed)), set(map(len, listed))
        narrow = min(widths, default=2) >= 2 and (tuples or max(widths, default=2) == 2)
        if narrow and all(texts) and set(map(type, texts)) <= {str}:
            return listed
    for place, parts in zip(places, listed, strict=False):
        problem = ""
        if not isinstance(parts, list) or not all(isinstance(part, str) and part for part in parts):
            problem = "a merge is expected here, such as “a b” or [“a”, “b”]"
        elif len(parts) < 2 or (len(parts) > 2 and not tuples):
            problem = f"a merge of two parts is expected here, but this one has {len(parts)}"
        if problem:
            raise FileFormatError(name, place, problem, "Correct the entry.")
    return listed


_FIELDS = (
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
)
REMOVED = "<removed {}>"
"""The name of a removed entry, by its id, where whole words that are types are emitted."""
_METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}


def assumed_document(
    vocabulary: Mapping[str, int], merges: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return a ``tokenizer.json`` for a vocabulary and merges, by the marker they use."""
    parts: dict[str, Any] = {**NO_PARTS}
    suffix = None
    bytes_complete = all(character in vocabulary for character in BYTE_TO_CHAR)
    if any(text.endswith("</w>") for text in vocabulary):
        suffix = "</w>"
        parts["pre_tokenizer"] = {"type": "WhitespaceSplit"}
        parts["decoder"] = {"type": "BPEDecoder", "suffix": suffix}
        if bytes_complete:
            parts |= clip_parts({})
    elif any(text.startswith("▁") for text in vocabulary):
        parts["pre_tokenizer"] = parts["decoder"] = _METASPACE
    elif bytes_complete or any(text.startswith("Ġ") for text in vocabulary):
        parts["pre_tokenizer"] = parts["decoder"] = byte_level()
    else:
        parts["pre_tokenizer"] = {"type": "Whitespace"}
    ordinary = {part for parts_ in merges for part in (*parts_, "".join(parts_))} | {*BYTES}
    special = [
        special_token(text, number)
        for text, number in vocabulary.items()
        if SPECIAL.fullmatch(text) and text not in ordinary
    ]
    unknown = next((text for text in ("<unk>", "[UNK]") if text in vocabulary), None)
    return tokenizer_document(
        vocabulary, merges, special, parts, unk_token=unknown, end_of_word_suffix=suffix
    )


def _build(
    document: dict[str, Any],
    vocabulary: dict[str, int],
    merges: list[list[str]],
    name: str,
    merges_name: str,
    sum_: str,
) -> BpeTokeniser:
    settings = document["model"]
    if prefix := settings.get("continuing_subword_prefix"):
        place = "field model.continuing_subword_prefix"
        problem = f"types inside a word begin with “{cut(str(prefix))}”, which merges do not join"
        fix = "Choose a tokeniser that marks the start or the end of a word."
        raise FileFormatError(name, place, problem, fix)
    stays_whole = bool(settings.get("ignore_merges"))
    if stays_whole and settings.get("end_of_word_suffix"):
        problem = "whole words without merges are not supported where words end with a suffix"
        fix = "Set it to false; words in the vocabulary are then merged like all others."
        raise FileFormatError(name, "field model.ignore_merges", problem, fix)
    warnings: list[str] = []
    added = added_tokens(document, vocabulary, name)
    ids = vocabulary | added
    types = sorted(ids, key=ids.__getitem__)
    number_of = {text: number for number, text in enumerate(types)}
    known = {text: number_of[text] for text in vocabulary}
    widths = np.fromiter(map(len, merges), np.int64, len(merges))
    try:
        flat = map(known.__getitem__, chain.from_iterable(merges))
        parts = np.fromiter(flat, np.int32, int(widths.sum()))
        result_ids = map(known.__getitem__, map("".join, merges))
        results = np.fromiter(result_ids, np.int32, len(merges))
    except KeyError:
        raise _missing(merges, vocabulary, merges_name) from None
    levels = _levels(settings, len(merges), name)
    if settings.get("type") != "BTE":
        # As in the `tokenizers` library, the last of several lines with the same parts counts. Our
        # own files are others: a knockout may give two merges of a type the same parts, and the
        # first counts.
        pairs = parts.reshape(-1, 2)
        keys = pairs[::-1, 0].astype(np.int64) << 32 | pairs[::-1, 1]
        kept = np.sort(len(merges) - 1 - np.unique(keys, return_index=True)[1])
        if len(kept) < len(merges):
            parts, widths, results = pairs[kept].ravel(), widths[kept], results[kept]
            levels = [levels[place] for place in kept.tolist()] if levels else levels
            several = counted(len(merges) - len(kept), "merge is", "merges are")
            warnings.append(f"{several} listed more than once; the last counts.")
    offsets = np.append(0, np.cumsum(widths))
    ids_of = np.arange(len(results), dtype=np.int32)
    lineage = read_lineage(settings, name)
    fixed = {number_of[text] for text in {*added, *_last_characters(settings, number_of)}}
    gone = () if lineage is None else {*lineage.removed}
    absent = {n for n, text in enumerate(types) if ids[text] in gone} if gone else set()
    graph = MergeGraph(
        types,
        MergeColumns(ids_of, ids_of.astype(np.int64), parts, offsets, results),
        fixed=fixed,
        ties=dict(enumerate(levels)),
        labels=[ids[text] for text in types],
        never_whole=frozenset(number_of[text] for text in added.keys() - vocabulary.keys())
        if stays_whole
        else None,
        absent=absent - {*parts.tolist(), *results.tolist()} - fixed if absent else (),
    )
    if never := never_formed(graph):
        shown = ", ".join(f"“{shortened(types[number], 20)}”" for number in never[:5])
        more = f" and {len(never) - 5:,} more" if len(never) > 5 else ""
        warnings.append(
            "A part is merged only after it is needed, so these types can never be formed: "
            f"{shown}{more}."
        )
    if settings.get("dropout"):
        warnings.append(
            "The file's merge dropout, which draws different ids each time, is left out here and "
            "in exports. To segment with it, use the method dropout(p=…)."
        )
        settings = {**settings, "dropout": None}
        document = {**document, "model": settings}
    preprocessor = preprocessor_of(document, name, number_of)
    return BpeTokeniser(
        name,
        graph,
        preprocessor,
        list(graph.labels),
        frozenset(added),
        document,
        tuple(warnings),
        sum_,
        lineage,
    )


def _missing(
    merges: Iterable[Sequence[str]], vocabulary: Mapping[str, int], name: str
) -> FileFormatError:
    """Return the error for the first part or result that the vocabulary lacks."""
    position, parts, text = next(
        (position, parts, text)
        for position, parts in enumerate(merges, start=1)
        for text in (*parts, "".join(parts))
        if text not in vocabulary
    )
    role = "part" if text in parts else "result"
    place = f"merge {position:,} (“{cut(' '.join(parts))}”)"
    fix = "Use the merges and the vocabulary of the same tokeniser."
    return FileFormatError(name, place, f"its {role} “{cut(text)}” is not in the vocabulary", fix)


def _levels(settings: Mapping[str, Any], merges: int, name: str) -> list[int]:
    """Return the level of each merge; empty if a document has none."""
    levels = settings.get("levels")
    if levels is None:
        return []
    good = isinstance(levels, list) and len(levels) == merges
    if not good or not all(type(level) is int for level in levels) or levels != sorted(levels):
        problem = "one number per merge is expected here, none lower than the one before"
        raise FileFormatError(name, "field model.levels", problem, "Save the tokeniser again.")
    return list(levels)


def _last_characters(settings: Mapping[str, Any], ids: Mapping[str, int]) -> list[str]:
    """Return types for the last character of a word: words contain them before merging."""
    suffix = settings.get("end_of_word_suffix")
    if not isinstance(suffix, str) or not suffix:
        return []
    return [text for text in ids if len(text) == len(suffix) + 1 and text.endswith(suffix)]


def id_choice(tokeniser: BpeTokeniser) -> IdChoice:
    """Return how a tokeniser numbers its types."""
    before = () if tokeniser.lineage is None else tokeniser.lineage.steps
    edits = {step["edit"] for step in (*before, *(c.step for c in tokeniser.graph.history))}
    keeps = not edits or "portable" in edits or tokeniser.graph.absent
    return tokeniser.id_choice or ("keep" if keeps else "dense")


def new_ids(tokeniser: BpeTokeniser) -> dict[int, int]:
    """Return the ids of present types in a saved file, by id in the graph: see `IdChoice`.

    Types of the loaded file come first, in order of their ids in it; then those that edits added:
    atoms by code point, then the others by the rank of the merge that makes them.
    """
    graph, known = tokeniser.graph, len(tokeniser.vocabulary_ids)

    def place(number: int) -> tuple[int, int, str]:
        if number < known:
            return 0, tokeniser.vocabulary_ids[number], ""
        if graph.is_atom(number):
            return 1, 0, graph.types[number]
        return 2, graph.merge(graph.producer(number)).rank, graph.types[number]

    order = sorted(graph.type_ids(), key=place)
    choice = id_choice(tokeniser)
    if choice == "dense":
        return {number: new for new, number in enumerate(order)}
    kept = {number: tokeniser.vocabulary_ids[number] for number in order if number < known}
    free = sorted(removed_ids(tokeniser)) if choice == "reuse" else []
    ids = chain(free, count(max(tokeniser.vocabulary_ids, default=-1) + 1))
    return kept | {number: next(ids) for number in order if number >= known}


def removed_ids(tokeniser: BpeTokeniser) -> dict[int, str]:
    """Return the types of the loaded file that edits removed, by their ids in it."""
    graph = tokeniser.graph
    numbered = enumerate(tokeniser.vocabulary_ids)
    return {old: graph.types[number] for number, old in numbered if not graph.is_present(number)}


def id_counts(tokeniser: BpeTokeniser) -> dict[str, int]:
    """Return how many types keep their ids in a saved file, move, are new, and reuse others' ids.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")])
    >>> change = tokeniser.graph.knockout(["ab"])
    >>> id_counts(tokeniser)
    {'kept': 3, 'moved': 1, 'new': 0, 'reused': 0, 'free': 0}
    """
    known, ids = tokeniser.vocabulary_ids, new_ids(tokeniser)
    kept = sum(n < len(known) and known[n] == new for n, new in ids.items())
    old = sum(n < len(known) for n in ids)
    taken = {new for n, new in ids.items() if n >= len(known)}
    removed = removed_ids(tokeniser).keys() if id_choice(tokeniser) != "dense" else set()
    free = len(removed - taken)
    return {
        "kept": kept,
        "moved": old - kept,
        "new": len(taken),
        "reused": len(removed & taken),
        "free": free,
    }


def ids_line(counts: Mapping[str, int]) -> str:
    """Say what `id_counts` counts.

    >>> ids_line({"kept": 40_000, "moved": 117_592, "new": 5, "reused": 3, "free": 0})
    'ids: 40,000 types keep theirs, 117,592 move, 5 are new (3 with ids of removed types)'
    """
    kept = counted(counts["kept"], "type keeps its own", "types keep theirs")
    moved = counted(counts["moved"], "moves", "move")
    new = counted(counts["new"], "is new", "are new")
    reused = f" ({counts['reused']:,} with ids of removed types)" * bool(counts["reused"])
    free = f"; {counts['free']:,} of removed types stay free" * bool(counts["free"])
    return f"ids: {kept}, {moved}, {new}{reused}{free}"


def to_tokenizer_json(
    tokeniser: BpeTokeniser, ids: Mapping[int, int] | None = None
) -> tuple[bytes, dict[int, int]]:
    """Return the tokeniser with its edits as JSON, and the map from old to new ids.

    ``ids``: new ids by id in the graph, by default `new_ids`; other types are left out, but where
    ids are kept, removed ones keep their entries, which nothing produces. Old ids are those of the
    first tokeniser of a chain of saves, which the JSON records (see `Lineage`); a type that it
    lacks is not in the map. With tuple merges the model's type is ``BTE``, which this library and
    the exported class read.
    """
    document, id_map = to_document(tokeniser, ids)
    return json_bytes(document, tokeniser.name), id_map


def to_document(
    tokeniser: BpeTokeniser, ids: Mapping[int, int] | None = None
) -> tuple[dict[str, Any], dict[int, int]]:
    """Return the document that `to_tokenizer_json` writes; parts are the tokeniser's own."""
    graph = tokeniser.graph
    kept = removed_ids(tokeniser) if ids is None and id_choice(tokeniser) != "dense" else {}
    ids = new_ids(tokeniser) if ids is None else ids
    known = len(tokeniser.vocabulary_ids)
    in_file = {
        tokeniser.vocabulary_ids[number]: new for number, new in ids.items() if number < known
    }
    lineage = lineage_of(tokeniser)
    first = lineage.ids
    id_map = {
        first[text]: new for number, new in ids.items() if (text := graph.types[number]) in first
    }
    merges = graph.columns()
    tuples = graph.has_tuples
    if not tuples:
        # Of several merges of the same pair the first applies; Hugging Face takes the last.
        merges = graph.columns(merges.ids[merges.first_of_pairs()])
    document = {**tokeniser.document}
    document["added_tokens"] = [
        {**token, "id": in_file[token["id"]]}
        for token in document.get("added_tokens") or []
        if token["id"] in in_file
    ]
    document["model"] = model = {**document["model"], "type": "BTE" if tuples else "BPE"}
    model["vocab"] = {
        graph.types[number]: new
        for number, new in ids.items()
        # An edit may have added a merge that makes a mere added token.
        if graph.types[number] not in tokeniser.only_added or not graph.is_atom(number)
    }
    entries = {kept[old]: old for old in kept.keys() - set(ids.values())}
    model["vocab"] |= entries
    model["vocab"] |= _misnumbered(model["vocab"], document["added_tokens"])
    if entries and graph.never_whole is not None:
        # What is kept would be emitted as a whole word. Nobody needs that rule, and it is switched
        # off, unless a type is emitted only so; then removed ones get names that no word has.
        if unformed_types(graph) or any(
            len(graph.types[n]) > 1 and not graph.incoming(n) and n not in graph.fixed
            for n in graph.type_ids()
        ):
            for text, old in entries.items():
                del model["vocab"][text]
                model["vocab"][REMOVED.format(old)] = old
        else:
            model["ignore_merges"] = False
    texts = list(map(graph.types.__getitem__, merges.parts.tolist()))
    listed: Iterable[Sequence[str]] = zip(texts[::2], texts[1::2], strict=False)
    if tuples:
        listed = (texts[start:end] for start, end in pairwise(merges.part_offsets.tolist()))
    # A string takes a quarter of the memory that a list of two takes.
    spaced = any(" " in text for text in model["vocab"])
    model["merges"] = list(map(list, listed) if spaced else map(" ".join, listed))
    if graph.ties:
        model["levels"] = list(map(graph.levels().__getitem__, merges.ids.tolist()))
    if lineage.steps or any(old != new for old, new in in_file.items()):
        lineage = replace(lineage, removed=tuple(sorted(entries.values())))
        model[LINEAGE_FIELD] = lineage_document(lineage)
    if "post_processor" in document:
        document["post_processor"] = _renumbered(document["post_processor"], in_file)
    padding = document.get("padding")
    if isinstance(padding, dict) and padding.get("pad_id") in in_file:
        document["padding"] = {**padding, "pad_id": in_file[padding["pad_id"]]}
    return document, id_map


def library_numbers(
    vocabulary: Mapping[str, int], added: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Return the ids that the library gives added tokens, whatever the file says.

    Those that the model lacks are counted on from its size, whatever ids it has.
    """
    numbers: dict[str, int] = {}
    fresh = count(len(vocabulary))
    for text in dict.fromkeys(token["content"] for token in added):
        numbers[text] = vocabulary[text] if text in vocabulary else next(fresh)
    return numbers


def _misnumbered(vocabulary: Mapping[str, int], added: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the ids of added tokens, if the library would number one of them otherwise."""
    numbers = library_numbers(vocabulary, added)
    if all(numbers[token["content"]] == token["id"] for token in added):
        return {}
    # One of one character would become an atom.
    return {token["content"]: token["id"] for token in added if len(token["content"]) > 1}


def as_numbered(document: Any) -> tuple[Any, list[str]]:
    """Return a ``tokenizer.json`` with the ids that the library gives its added tokens.

    Also warnings, if these are not the ids in the file. A file that the library does not read, as
    those of our own methods, stays as it is, and so does one with faults, for others to find.
    """
    model = model_in(document)
    listed: Any = document.get("added_tokens") if model else None
    known = model.get("type", "BPE") in ("BPE", "WordPiece", "Unigram") and "method" not in model
    vocabulary = listed_ids(model)
    if not known or not are_numbered(listed) or not {*map(type, vocabulary.values())} <= {int}:
        return document, []
    numbers = library_numbers(vocabulary, listed)
    other = [token for token in listed if numbers[token["content"]] != token["id"]]
    if not other:
        return document, []
    owners = {number: text for text, number in vocabulary.items()}
    shared = next((t for t, n in numbers.items() if owners.get(n, t) != t), "")
    shown = "; ".join(
        f"“{cut(token['content'])}” has the id {token['id']:,} in the file and "
        f"{numbers[token['content']]:,} there"
        for token in other[:3]
    )
    more = f"; and {len(other) - 3:,} more" if len(other) > 3 else ""
    told = f"The tokenizers library gives some added tokens other ids than the file: {shown}{more}."
    if shared:
        both = f"“{cut(shared)}” would share its id with “{cut(owners[numbers[shared]])}”"
        return document, [f"{told} The ids of the file are used here, because {both}."]
    renumbered = [{**token, "id": numbers[token["content"]]} for token in listed]
    return {**document, "added_tokens": renumbered}, [f"{told} The library's ids are used here."]


def are_numbered(listed: Any) -> bool:
    """Return whether a list of added tokens has no faults: each has a content and an id."""
    return isinstance(listed, list) and all(
        isinstance(token, dict)
        and isinstance(token.get("content"), str)
        and type(token.get("id")) is int
        and 0 <= token["id"] < IDS_END
        for token in listed
    )


def _renumbered(value: Any, id_map: Mapping[int, int], key: str = "") -> Any:
    """Return a post-processor with the new ids of its special tokens, wherever they occur."""
    if isinstance(value, dict):
        return {name: _renumbered(inner, id_map, name) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    if key == "ids":
        return [id_map.get(n, n) if isinstance(n, int) else n for n in value]
    if key in ("sep", "cls") and len(value) == 2 and isinstance(value[1], int):
        return [value[0], id_map.get(value[1], value[1])]
    return [_renumbered(inner, id_map) for inner in value]
