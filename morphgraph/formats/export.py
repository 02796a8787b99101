"""Export a tokeniser for `tokenizers` and `transformers`, after comparing it with ours."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count, cycle, islice, pairwise
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
from tokenizers import Tokenizer

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import DEMOS, checksum, files_to_place, json_bytes, read_bytes, writing
from morphgraph.core.system import without_collection
from morphgraph.core.text import counted, shortened
from morphgraph.formats.checks import CHECK_COLUMNS, Check, export_checks
from morphgraph.formats.export_files import TITLE, merges_text, readme, transformers_config
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.framing import known_ids, with_frame
from morphgraph.formats.hugging_face import new_ids, to_document
from morphgraph.formats.original import TEXTS, original_ids
from morphgraph.formats.recipe import lineage_of, read_recipe, write_recipe
from morphgraph.standalone.piece_methods import (
    Pieces,
    byte_parts,
    knows_bytes,
    load,
    method_of,
    plug_in,
)
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.pipeline import cut
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words

ExportKind = Literal["tokenizer.json", "folder", "GGUF"]

WORDS_TO_CHECK = 10_000
SENTENCES_TO_CHECK = 1_000
_LANGUAGES = ("en", "de", "nl", "fr", "es")
_FORMS = {"tokenizer.json", "tokeniser.bte.json", "tokeniser.method.json"}
_BATCH = 500

LOSES_MARKS = "the tokenizers library loses marks where it applies the model's rules for characters"
"""Why a SentencePiece model with such rules is not exported as ``tokenizer.json``."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class ExportError(MorphGraphError):
    """A tokeniser that segments differently once exported, with the word."""


@dataclass(frozen=True, repr=False)
class Export:
    """An exported tokeniser: its files by name, and the checks made.

    ``kind``: "tokenizer.json", which the `tokenizers` library reads; "folder", which `transformers`
    reads with the code in it; or "GGUF", a single file, whose checks are those of such a folder.
    ``reason``: why it is of this kind. ``checked_words`` and ``checked_sentences``: the number with
    the same ids as in our own segmentation. ``new_types``: the number without an id in the first
    tokeniser of the chain. ``checks``: see `export_checks`.
    """

    kind: ExportKind
    method: str
    reason: str
    files: dict[str, bytes]
    vocab_size: int
    merges: int
    tuple_merges: int
    checked_words: int
    checked_sentences: int
    seconds: float
    signature: str
    new_types: int
    checks: Sequence[Check] = ()

    @property
    def is_as_original(self) -> bool:
        """Whether the file that was opened is read here as by others, as far as is known."""
        return not self.checks or self.checks[-1].fine is not False

    def to_dict(self) -> dict[str, Any]:
        """Return all but the files' contents, as JSON data.

        >>> tokeniser.export("folder", words=["undo"]).to_dict()["vocab_size"]
        8000
        """
        checks = [asdict(check) for check in self.checks]
        return {**vars(self), "files": list(self.files), "checks": checks}

    def __repr__(self) -> str:
        texts = f"{counted(self.checked_words, 'word')} and "
        texts += counted(self.checked_sentences, "sentence")
        return f"<Export: {self.kind}, {counted(self.vocab_size, 'type')}, checked on {texts}>"


@without_collection()
def bpe_model(tokeniser: BpeTokeniser, ids: Mapping[int, int] | None = None) -> ExportedModel:
    """Return the exported model of a tokeniser; ``ids``: of its types, by default `new_ids`."""
    document, id_map = to_document(tokeniser, ids)
    ids = new_ids(tokeniser) if ids is None else ids
    tuples = len(tokeniser.graph.tuple_merges())
    plain = {**document["model"], "type": "BPE"}
    document["model"]["type"] = "BTE"
    prepared = tokeniser.preprocessor.sentencepiece
    encode = lru_cache(maxsize=2)(partial(_encode, tokeniser))
    has_rules = prepared is not None and bool(prepared.charsmap)
    return ExportedModel(
        lineage_of(tokeniser).name,
        "BTE" if tuples else "BPE",
        tokeniser.signature(),
        document,
        id_map,
        counted(tuples, "merge is", "merges are")
        + " of more than two parts, which no tokenizer.json holds"
        if tuples
        else LOSES_MARKS
        if has_rules
        else "every merge is a pair, so the tokenizers library reads it by itself",
        lambda texts, bare: ids_in(segment(tokeniser.graph, encode(tuple(texts), bare)), ids),
        plain=None if tuples or has_rules else plain,
        leading_space=tokeniser.preprocessor.leading_space,
        symbols=prepared.symbols if prepared else (),
        merges=tokeniser.graph.merge_count,
        tuple_merges=tuples,
        files={
            "merges.txt": merges_text(document["model"]["merges"]),
            "recipe.json": write_recipe(tokeniser, whole=True),
        },
        tokeniser=tokeniser,
        encode=encode,
    )


def _encode(tokeniser: BpeTokeniser, texts: Sequence[str], bare: bool) -> Words:
    return tokeniser.encode(texts, bare=bare)


@without_collection()
def export_model(
    model: ExportedModel,
    words: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    loaded: ExportedModel | None = None,
) -> Export:
    """Make the files of an export, and compare ids for ``words`` and sentences made of them.

    If the `tokenizers` library has such a model, and gives the same ids as our own segmentation, it
    is a ``tokenizer.json``; else a folder with code for `transformers`, compared in the same way.
    `ExportError` if that differs too. ``settings``: see `settings_beside`. ``loaded``: the model as
    its file has it, before edits, to compare with the programs that others load that with.
    """
    started = time.perf_counter()
    document = model.document
    symbols = [text.replace("▁", " ") for text in model.symbols]
    sentences = sentences_to_check(words) + [f"a{symbol}a {symbol}" for symbol in symbols]
    space = " " if model.leading_space else ""
    rare = rare_texts(document)
    texts = [space + word for word in words] + sentences + rare
    expected = model.ids(words, False) + model.ids(sentences, True) + model.ids(rare, True)
    vocabulary = known_ids(document)
    difference = partial(_difference, texts=texts, expected=expected, vocabulary=vocabulary)
    kind: ExportKind = "folder"
    reason = model.reason
    data = b""
    if model.plain is not None:
        plain = {**document, "model": {**model.plain}}
        data = json_bytes(plain, model.name)
        problem, library = difference(lambda: Tokenizer.from_str(data.decode()))
        if problem:
            reason = f"as a tokenizer.json it would be another tokeniser: {problem}"
        else:
            kind = "tokenizer.json"
            files = {"tokenizer.json": data}
    if kind == "folder":
        method = standalone_method(model)
        method.training = False

        def exported() -> Tokenizer:
            library = load(document)
            plug_in(library, method)
            return library

        problem, library = difference(exported)
        if not problem and model.differs is not None:
            problem = model.differs(load(document), method, texts)
        if problem:
            raise ExportError(
                f"The exported tokeniser would differ from this one: {problem}. Save the recipe "
                "instead, and report this."
            )
        data = json_bytes(document, model.name)
        own = "bte" if document["model"]["type"] == "BTE" else "method"
        files = {f"tokeniser.{own}.json": data, **code_for(model)}
    config = transformers_config(document, own_class=kind == "folder", settings=settings)
    files["tokenizer_config.json"] = json.dumps(config, ensure_ascii=False, indent=1).encode()
    files["ids.json"] = json_bytes(model.id_map, model.name)
    files |= model.files
    checks = export_checks(
        model,
        library,
        words,
        sentences,
        expected[: len(words) + len(sentences)],
        needs_code=reason if kind == "folder" else "",
        templates=((settings or {}).get("chat_template"), config.get("chat_template")),
    )
    checks.append(_as_original(loaded, sentences))
    export = Export(
        kind,
        model.method,
        reason,
        files,
        len(vocabulary),
        model.merges,
        model.tuple_merges,
        len(words),
        len(sentences),
        time.perf_counter() - started,
        model.signature,
        len(vocabulary) - len(model.id_map),
        checks,
    )
    unchanged = len(model.id_map) == len(vocabulary) and all(
        old == new for old, new in model.id_map.items()
    )
    facts = {**export.to_dict(), "unchanged": unchanged, "draws": model.differs is not None}
    facts |= {"check_columns": CHECK_COLUMNS, "checks": [check.cells for check in checks]}
    text = readme(model.name, document, facts, checksum(data))
    files["README.md"] = text.encode()
    return export


_SOME = 200
"""How many added tokens are looked for, and sentences compared with the original file."""


def rare_texts(document: Mapping[str, Any]) -> list[str]:
    """Return texts on which programs differ, in both normal forms, and some with added tokens."""
    added = [token["content"] for token in (document.get("added_tokens") or [])[:_SOME]]
    forms = (normalize(form, text) for text in TEXTS for form in ("NFC", "NFD"))
    return [*dict.fromkeys((*TEXTS, *forms)), *(f"a{text} {text}b " for text in added)]


def _as_original(loaded: ExportedModel | None, sentences: Sequence[str]) -> Check:
    """Return the check that the file, before edits, is read here as by those who use it."""
    what = "texts that the original cuts differently"
    if loaded is None:
        return Check(what, None, None, "only for a method that a file has")
    document = loaded.document
    texts = [*sentences[:_SOME], *rare_texts(document)]
    plain = {**document, "model": loaded.plain or document["model"]}
    original = original_ids(loaded.name, plain, texts)
    if original is None:
        return Check(what, None, None, "no other installed program reads it")
    program, theirs = original
    framed = with_frame(loaded.ids(list(theirs), True), document.get("post_processor"))
    ours = zip(theirs, framed, strict=True)
    others = [text for text, ids in ours if ids != theirs[text]]
    explanation = f"of {len(theirs):,}, before edits, in {program}, special tokens included"
    explanation += f"; first “{shortened(others[0].strip(), 40)}”" if others else ""
    return Check(what, len(others), not others, explanation)


def standalone_class(place: str) -> Any:
    """The class of a ``module:Class``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def standalone_method(model: ExportedModel) -> Pieces:
    """What gives an exported model its tokens in plain Python."""
    classes = {type_: standalone_class(place) for type_, place in model.code.items()}
    return method_of(model.document["model"], classes)


def code_for(model: ExportedModel) -> dict[str, bytes]:
    """Return the Python files that an exported model needs, by name."""
    classes = {type_: standalone_class(place) for type_, place in sorted(model.code.items())}
    used = sorted({base.__module__ for kind in classes.values() for base in kind.__mro__[:-1]})
    files = {module: Path(str(sys.modules[module].__file__)) for module in used}
    entrance = files[Pieces.__module__].with_name("tokenization_morphgraph.py")
    homes = {kind.__name__: kind.__module__.rpartition(".")[2] for kind in classes.values()}
    listed = ", ".join(f'"{type_}": {kind.__name__}' for type_, kind in classes.items())
    lines = [
        '"""The methods of this tokeniser, by the names that its file has for them."""\n',
        *sorted(f"from .{module} import {name}" for name, module in homes.items()),
        f"\nMETHODS = {{{listed}}}\n",
    ]
    code = {file.name: file.read_text("utf-8") for file in (*files.values(), entrance)}
    for name, text in code.items():  # those of plug-ins name the others in full
        for module in used:
            text = text.replace(
                f"from {module} import", f"from .{module.rpartition('.')[2]} import"
            )
        code[name] = text
    code["methods.py"] = "\n".join(lines)
    return {name: text.encode() for name, text in code.items()}


def words_to_check(
    reference_words: Iterable[str], count: int | None = None, name: str = ""
) -> list[str]:
    """Return distinct words to compare on: the reference's, then wordfreq's commonest.

    ``count``: 10,000 if it is not given. ``name`` is the tokeniser's: a demo's language comes
    first, then English, German and others.

    >>> words_to_check(["Türöffner", "undo", "undo", ""], count=4, name="demo:de")
    ['Türöffner', 'undo', 'die', 'der']
    """
    count = WORDS_TO_CHECK if count is None else count
    own = name.removeprefix("demo:")
    languages = [own] if name.startswith("demo:") and own in DEMOS else []
    chosen = dict.fromkeys(word for word in reference_words if word and not _SURROGATE.search(word))
    if find_spec("wordfreq") is None:
        return list(chosen)[:count]
    import wordfreq

    for language in dict.fromkeys([*languages, *_LANGUAGES]):
        if len(chosen) >= count:
            break
        chosen |= dict.fromkeys(wordfreq.top_n_list(language, count))
    return list(chosen)[:count]


_FRAMES = (
    "{} {} {}.",
    "{}, {} – and {}?",
    "  {}  {}\n\n{}\t{} ",
    "“{}” ({}/{}) costs 1234.50 € in 2024!",
    "{}-{}'s {}…\r\n- {}; {}",
    "{}\u00a0{}\u3000{} e\u0301te\u0301 ﬁn ½ 10²",
    "日本語 {} Ελλάδα {} 😀👩‍👩‍👧 {}",
    "{}{} {}__{} #{} @{} https://{}.org/{}?a=1&b=2",
    "{} don't we'll {} {} {} {} {} {} {} {}",
)


def sentences_to_check(words: Sequence[str], count: int | None = None) -> list[str]:
    """Return texts made of words, with punctuation, numbers, rare characters and white space.

    >>> sentences_to_check(["un", "do"], 2)
    ['un do Un.', 'do, un – and DO?']
    """
    if not words:
        return []
    # A step that is not a divisor takes words from the whole list.
    step = max(1, len(words) // 7)
    order = (words[(start * step + start // 7) % len(words)] for start in range(10**9))
    cased = (
        word.capitalize() if i % 5 == 2 else word.upper() if i % 11 == 5 else word
        for i, word in enumerate(order)
    )
    texts = []
    for frame in islice(cycle(_FRAMES), SENTENCES_TO_CHECK if count is None else count):
        texts.append(frame.format(*islice(cased, frame.count("{}"))))
    return texts


def _difference(
    build: Callable[[], Any],
    texts: Sequence[str],
    expected: Sequence[Sequence[int]],
    vocabulary: Mapping[str, int],
) -> tuple[str, Any]:
    """Describe how a tokeniser of the `tokenizers` library differs, empty if not; return it too."""
    try:
        library = build()
        known = library.get_vocab()
        if known != vocabulary:
            text, _ = min(known.items() ^ vocabulary.items())
            return f"the type “{cut(text)}” has another id", None
        for text in vocabulary if knows_bytes(library.decoder) else ():
            if "<0x" in text and (parts := byte_parts(text))[1:]:
                read = library.decoder.decode([text])
                if read != library.decoder.decode(parts):
                    return f"the type “{cut(text)}” would be decoded as “{cut(read)}”", None
        library.no_truncation()
        library.no_padding()
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            encodings = library.encode_batch(batch, add_special_tokens=False)
            for text, ours, theirs in zip(batch, expected[start:], encodings, strict=False):
                if ours != theirs.ids:
                    return f"“{cut(text.strip())}” gets other tokens", None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is not an Exception
        return f"the tokenizers library cannot use it ({shortened(str(error), 120)})", None
    return "", library


def our_ids(
    tokeniser: BpeTokeniser, texts: Sequence[str], ids: Mapping[int, int], *, bare: bool = False
) -> list[list[int]]:
    """Return our segmentation as new ids, without tokens that have none."""
    return ids_in(segment(tokeniser.graph, tokeniser.encode(texts, bare=bare)), ids)


def ids_in(segmentation: Segmentation, ids: Mapping[int, int]) -> list[list[int]]:
    """Return the new ids of each word's tokens, without those that have none."""
    tokens, ends = segmentation.token_at, segmentation.words.word_offsets
    renumbered = np.full(1 + max(ids, default=0), -1, np.int64)
    renumbered[list(ids)] = list(ids.values())
    kept = np.flatnonzero((tokens >= 0) & (tokens != UNKNOWN))
    numbers = renumbered[tokens[kept]].tolist()
    bounds = np.searchsorted(kept, ends).tolist()
    return [numbers[start:end] for start, end in pairwise(bounds)]


def save_folder(files: Mapping[str, bytes], folder: Path) -> dict[Path, Path]:
    """Write files to a folder; others of the same names are set aside, never overwritten.

    Those that an earlier run wrote, as its recipe shows, are replaced. Returns the files set aside,
    with their new names.
    """
    aside: dict[Path, Path] = {}
    paths = {folder / name: data for name, data in files.items()}
    with files_to_place(paths), writing(folder):
        # A folder with both would be loaded as the other.
        others = _FORMS - files.keys()
        if not _is_ours(folder):
            there = {path: data for path, data in paths.items() if path.is_file()}
            others |= {path.name for path, data in there.items() if path.read_bytes() != data}
        for path in (folder / name for name in sorted(others)):
            if path.is_file():
                names = (path.with_name(f"{path.name}.old{number or ''}") for number in count())
                aside[path] = path.replace(next(name for name in names if not name.exists()))
    return aside


def _is_ours(folder: Path) -> bool:
    """Return whether an earlier run wrote the folder: it has a recipe, or our README."""
    try:
        read_recipe(read_bytes(folder / "recipe.json"), "recipe.json")
    except MorphGraphError:
        path = folder / "README.md"
        return path.is_file() and path.read_bytes().startswith(f"{TITLE}\n".encode())
    return True
