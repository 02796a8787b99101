"""GGUF for llama.cpp: a model's file with an edited tokeniser in it, or a tokeniser alone.

llama.cpp looks up the text of a row whatever its kind. So a removed type keeps its row, and its
text for old ids, where merges alone make tokens. Where a piece that is a type stays whole, and in
SentencePiece, whose merges follow from its types, the row gets a name that no text has, and is
marked as unused.
"""

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, BinaryIO

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import FILE_BYTES
from morphgraph.core.text import base_name, counted, shortened
from morphgraph.formats import gguf
from morphgraph.formats.export import ExportError, bpe_model, sentences_to_check
from morphgraph.formats.export_files import transformers_config
from morphgraph.formats.framing import framing, known_ids
from morphgraph.formats.hugging_face import REMOVED
from morphgraph.formats.opening import open_tokeniser
from morphgraph.formats.pipeline_parts import PATTERNS, byte_level, split
from morphgraph.formats.recipe import lineage_of
from morphgraph.formats.tokeniser_classes import token_content
from morphgraph.tokeniser.parts import parts_in_order
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_BLOCK, _NO_RULES = 2**20, (None, {"type": "NFC"})
_ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}


def gguf_blocks(
    tokeniser: BpeTokeniser,
    words: Sequence[str],
    model: BinaryIO | None = None,
    name: str = "GGUF",
    settings: Mapping[str, Any] | None = None,
) -> Iterator[bytes]:
    """Return a GGUF file with a tokeniser as it is now, block by block.

    ``model``: the file of which it is a copy, byte for byte but for the tokeniser, whose types keep
    their ids; ``name``: its name in errors. Without one it is a vocabulary alone, with the special
    tokens of ``settings``, see `settings_beside`. Before, ids of ``words``, and of sentences made
    of them, are compared with those by the new head. Errors: `MorphGraphError`, also for tuple
    merges; `FileFormatError` for another model's file.
    """
    if number := len(tokeniser.graph.tuple_merges()):
        tuples = counted(number, "merge has", "merges have")
        problem = f"{tuples} more than two parts in {tokeniser.name}, which GGUF cannot hold"
        raise MorphGraphError(f"{problem}. Add --portable, or call portable() in Python.")
    exported = bpe_model(tokeniser)
    first: Mapping[str, int] = {} if model is None else lineage_of(tokeniser).ids
    model = model or io.BytesIO(_alone(tokeniser, exported.document, settings))
    data = model.read(min(FILE_BYTES.value, FILE_BYTES.public))
    head, start = _head(tokeniser, exported.document, first, data, name)
    other = open_tokeniser({name: head}, "r50k_base").tokeniser()
    # How llama.cpp cuts text into pieces is not looked at, as that does not change.
    prepared = replace(tokeniser.preprocessor, added=other.preprocessor.added)
    there = bpe_model(replace(other, preprocessor=prepared))
    for texts, bare in ((words, False), (sentences_to_check(words), True)):
        ids = zip(texts, exported.ids(texts, bare), there.ids(texts, bare), strict=True)
        if text := next((text for text, own, theirs in ids if own != theirs), ""):
            problem = f"{name} would segment “{shortened(text.strip())}” differently"
            raise ExportError(f"{problem}: it cannot hold these edits. Export a folder instead.")
    model.seek(start)
    return chain([head], iter(partial(model.read, _BLOCK), b""))


def _head(
    tokeniser: BpeTokeniser, document: Any, first: Mapping[str, int], data: bytes, name: str
) -> tuple[bytes, int]:
    """Return a file's head with the tokeniser's types and merges, and where the rest begins.

    ``first``: the ids of the types that the file should have.
    """
    file = gguf.TokeniserFields(data, name, "surrogateescape")  # rows that stay do so as bytes
    fields, head, rows, kinds = file.fields, file.head, [*file.types], [*file.kinds]
    for text, n in first.items():
        there = rows[n] if n < len(rows) else "nothing"
        there = there.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if there != text and text not in tokeniser.special:
            problem = f"it is “{shortened(there)}” here and “{shortened(text)}” in {tokeniser.name}"
            fix = "Choose the GGUF file of the same model."
            raise FileFormatError(name, f"type {n:,}", problem, fix)
    known, model, by_text = known_ids(document), document["model"], fields.get("model") == "llama"
    free = {*first.values(), *(n for n, kind in enumerate(kinds) if kind == gguf.UNUSED)}
    if lost := [text for text, n in known.items() if first.get(text, n if n in free else -1) != n]:
        changed = "removed_types" if lost[0] in first else "added_types"
        own = [c.step for c in tokeniser.graph.history if getattr(c, changed)]
        edits = dict.fromkeys(str(step["edit"]) for step in own or lineage_of(tokeniser).steps)
        problem = f"{name} has no row for {counted(len(lost), 'type')} after {', '.join(edits)}"
        fix = "Add --ids keep, so that types keep their ids. With --ids reuse, new types also get "
        raise MorphGraphError(f"{problem}. {fix}the rows of removed ones, while there are any.")
    dead = _dead(tokeniser, model, by_text or fields.get("pre") in gguf.STAYS_WHOLE)
    kind_of = dict.fromkeys(BYTES, gguf.BYTE) if model.get("byte_fallback") else {}
    for token in document.get("added_tokens") or []:
        kind_of[token["content"]] = gguf.CONTROL if token.get("special") else gguf.USER_DEFINED
    kind_of[model.get("unk_token")] = gguf.UNKNOWN
    new = {text: n for text, n in known.items() if text not in first and text not in dead}
    # A new type may have the row of a removed one, and so comes behind it.
    for text, n in ({REMOVED.format(n): n for t, n in first.items() if t in dead} | new).items():
        rows[n] = text
        kinds[n] = gguf.UNUSED if text == REMOVED.format(n) else kind_of.get(text, gguf.NORMAL)
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    written: dict[str, Any] = {"tokens": rows, "token_type": kinds}
    if by_text:
        levels = [*zip(pairs, model.get("levels") or range(len(pairs)), strict=True)]
        level_of = {known["".join(parts)]: level for parts, level in reversed(levels)}
        written["scores"] = _scores(level_of, file.listed("scores", float) or [0.0] * len(rows))
    else:
        written["merges"] = [*map(" ".join, pairs)]
    made, at, end = b"", 0, head.after_tensors()
    others = [key for key, value in written.items() if fields.get(key, value) != value]
    for (before, after), key in sorted((head.places[gguf.PREFIX + key], key) for key in others):
        made += data[at:before] + _value(written[key])
        at = after
    made += data[at:end]
    align = head.alignment if head.tensors else 1
    return made + bytes(-len(made) % align), end + -end % align


def _dead(tokeniser: BpeTokeniser, model: Mapping[str, Any], is_looked_up: bool) -> set[str]:
    """Return the removed types that llama.cpp would still find by their text."""
    if not is_looked_up or model.get("ignore_merges"):
        return set()  # in the latter case they have other names by now
    graph = tokeniser.graph
    removed = {text for text in lineage_of(tokeniser).ids if text not in graph}
    if tokeniser.lineage is not None:  # an earlier file may list types that it had removed
        removed |= {graph.types[n] for n in graph.type_ids() if graph.is_atom(n)}
    return {t for t in removed - tokeniser.special - {*BYTES} if not tokeniser.is_atom_text(t)}


def _scores(levels: Mapping[int, int], before: Sequence[float]) -> list[float]:
    """Return a score for each row: those before if they order merges so, else by their levels."""
    ordered = sorted({(level, -before[n]) for n, level in levels.items()})
    if all(a < c and b < d for (a, b), (c, d) in pairwise(ordered)):
        return [*before]
    return [float(-levels[n]) if n in levels else score for n, score in enumerate(before)]


def _alone(tokeniser: BpeTokeniser, document: Any, settings: Mapping[str, Any] | None) -> bytes:
    """Return a file without a model, in which all rows are free."""
    text, pre, known = tokeniser.preprocessor.sentencepiece, pre_name(document), known_ids(document)
    if text is not None and not (text.charsmap or text.remove_extra_whitespaces):
        pre = "default" if text.escape_whitespaces else ""
    if not pre:
        problem = f"llama.cpp has no known name for the way {tokeniser.name} prepares text"
        raise MorphGraphError(f"{problem}. Give the model's own GGUF file with --into.")
    rows = [REMOVED.format(n) for n in range(1 + max(known.values()))]
    fields: dict[str, Any] = {"model": "gpt2", "pre": pre, "tokens": rows, "merges": []}
    if text is not None:
        fields |= {"model": "llama", "add_space_prefix": text.add_dummy_prefix}
        fields["scores"] = [0.0] * len(rows)
    config = transformers_config(document, own_class=False, settings=settings)
    for role, key in _ROLES.items():
        if (token := token_content(config.get(f"{role}_token"))) in known:
            fields[f"{key}_token_id"] = known[token]
    frame = framing(document.get("post_processor"))
    fields |= {"add_bos_token": frame[0] is not None, "add_eos_token": frame[-1] is not None}
    fields["token_type"] = [gguf.UNUSED] * len(rows)
    every = {"general.architecture": "llama", "general.name": base_name(tokeniser.name)}
    every |= {gguf.PREFIX + key: value for key, value in fields.items()}
    parts = (_string(key) + _value(value) for key, value in every.items())
    return gguf.MAGIC + struct.pack("<IQQ", 3, 0, len(every)) + b"".join(parts)


def pre_name(document: Mapping[str, Any]) -> str:
    """Return llama.cpp's name for how a document cuts text into pieces; empty if it has none."""
    parts = parts_in_order(document.get("pre_tokenizer"), "pre_tokenizer")
    offsets = {"trim_offsets": True}  # which have nothing to do with it
    cut = [{"use_regex": True, **part, **offsets} for _, part in parts]
    whole = bool(document["model"].get("ignore_merges"))
    for pre, of in gguf.PATTERN_OF.items():
        usual = [{"use_regex": True, **split(PATTERNS[of]), **offsets}, byte_level(regex=False)]
        is_it = cut == usual or (of == "r50k_base" and cut == [byte_level()])
        # Qwen's NFC is left to the user there.
        if is_it and (pre in gguf.STAYS_WHOLE) == whole and document.get("normalizer") in _NO_RULES:
            return pre
    return ""


def _string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    """Return a value as it stands in a file, its type before it."""
    if isinstance(value, list):
        if not value or isinstance(value[0], str):
            texts = b"".join(map(_string, value))
            return struct.pack("<IIQ", gguf.ARRAY, gguf.STRING, len(value)) + texts
        kind, form = (6, "f") if isinstance(value[0], float) else (5, "i")
        return struct.pack(f"<IIQ{len(value)}{form}", gguf.ARRAY, kind, len(value), *value)
    if isinstance(value, str):
        return struct.pack("<I", gguf.STRING) + _string(value)
    return struct.pack("<I?", 7, value) if isinstance(value, bool) else struct.pack("<II", 4, value)
