"""The ids that other programs give for the same files: transformers, tokenizers, sentencepiece."""

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from morphgraph.core.files import demo_tokeniser_path
from morphgraph.core.text import shortened
from morphgraph.formats.framing import framing
from morphgraph.formats.opening import SENTENCEPIECE, WHOLE, files_of, format_of
from morphgraph.formats.tokeniser_classes import (
    CHARSMAP,
    TEXT,
    FolderSettings,
    class_name,
    frame_of_class,
    tokeniser_class,
)
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.tokeniser.parts import PARTS_OF_TEXT, charsmap_of, library_of
from morphgraph.tokeniser.preprocess import TOKEN_FLAGS

Encode = Callable[[Sequence[str]], list[list[int]]]

TEXTS = (
    "650841823 don't",
    "Hello World's 2nd I'LL",
    "  two  spaces, and\n\n a line\tend  ",
    "Café cafe\u0301 ÄHRE straße ﬁn ½ 10²",
    "日本語 中文 한국어 Ελλάδα мир",
    "😀👩‍👩‍👧 “quoted” — dash… it''s ``x``",
    "snake_case CamelCase x=1;y+=2 #tag @name https://example.org/?a=1&b=2",
    "a" * 120,
    "\u00a0\u3000\u2009x\u200b y\r\nz",
    "un­do" + " " * 9 + "end.",
)
"""Short texts on which programs have been seen to differ."""


def of_transformers(
    source: str | os.PathLike[str], settings: FolderSettings, texts: Sequence[str]
) -> tuple[Any, list[list[int]]] | None:
    """Return the tokeniser that ``AutoTokenizer`` reads from a folder, and its ids of texts.

    ``settings``: those in the folder. Special tokens are included. None if it reads none, or fails.
    No code of the folder is run, and nothing is fetched.
    """
    folder = Path(source)
    if not folder.is_dir() or not settings or settings.get("auto_map"):
        return None
    if find_spec("transformers") is None:
        return None
    import transformers

    shown = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
            encodings = theirs(list(texts), padding=False, truncation=False, verbose=False)
            return theirs, [list(ids) for ids in encodings["input_ids"]]
    except Exception:  # whatever a folder makes it raise
        return None
    finally:
        transformers.logging.set_verbosity(shown)


def original_ids(
    name: str, document: Mapping[str, Any], texts: Sequence[str]
) -> tuple[str, dict[str, list[int]]] | None:
    """Return the program with which others load a tokeniser, and its ids of texts.

    Special tokens are included. ``name``: of the file that was loaded; ``document``: what was made
    of it, laid out as ``tokenizer.json``. The program is `transformers` where it is installed and
    reads the folder of the file, else `tokenizers` or `sentencepiece`; None if none of them can.
    """
    is_demo = name.startswith("demo:")
    path = demo_tokeniser_path(name.removeprefix("demo:")) if is_demo else Path(name)
    if not os.path.isfile(path):  # noqa: PTH113 - unlike Path.is_file, never raises
        return None
    if (read := of_transformers(path.parent, settings_beside(path), texts)) is not None:
        pairs = zip(texts, read[1], strict=True)
        return f"transformers {metadata.version('transformers')}", dict(pairs)
    try:
        files = files_of(path)
        format = format_of(files)
        if format == SENTENCEPIECE:
            from sentencepiece import SentencePieceProcessor

            symbols = [token["content"] for token in document.get("added_tokens") or []]
            # It takes the names of its special tokens for text.
            some = [text for text in texts if not any(symbol in text for symbol in symbols)]
            ids = SentencePieceProcessor(model_proto=files.data).encode(some)
            return "sentencepiece", dict(zip(some, ids, strict=True))
        whole = files.data if format == WHOLE else json.dumps(document).encode()
        encoded = _of_tokenizers(whole, document).encode_batch(list(texts))
    except Exception:  # of a library, for a file that it does not read
        return None
    ids = [one.ids for one in encoded]
    return f"tokenizers {metadata.version('tokenizers')}", dict(zip(texts, ids, strict=True))


def _of_tokenizers(whole: bytes, document: Mapping[str, Any]) -> Tokenizer:
    """Return the tokeniser of `tokenizers` for a file, with what its settings add to it."""
    library = Tokenizer.from_str(whole.decode())
    known = {token.content for token in library.get_added_tokens_decoder().values()}
    flags = (*TOKEN_FLAGS, "special")
    for token in document.get("added_tokens") or []:
        if token["content"] not in known:
            library.add_tokens([AddedToken(token["content"], **{f: token[f] for f in flags})])
    if library.post_processor is None and (around := document.get("post_processor")):
        library.post_processor = library_of({"post_processor": around}).post_processor
    library.no_truncation()
    library.no_padding()
    return library


def _is_as_class_has_it(document: Mapping[str, Any], settings: FolderSettings) -> bool:
    """Return whether a ``tokenizer.json`` says what its class would replace it by in any case.

    Version 5 of `transformers` gives each class its own parts; Llama's only where no part is of
    bytes.
    """
    name = class_name(settings)
    kind, model = tokeniser_class(name), document.get("model") or {}
    if kind is None:
        return not name
    if name == "Llama" and '"ByteLevel"' in json.dumps(
        [document.get(key) for key in (*PARTS_OF_TEXT, "decoder")]
    ):
        return True
    fields = ["ignore_merges", "end_of_word_suffix", "byte_fallback"]
    has_bytes = model.get("byte_fallback") or '"ByteLevel"' in json.dumps(kind.parts({}))
    fields += [] if has_bytes else ["fuse_unk", "unk_token"]
    same = all(bool(model.get(field)) == bool(kind.model.get(field)) for field in fields)
    own = kind.parts(settings)
    around, _ = frame_of_class(kind, settings, whole=True)
    framed = [TEXT if part is None else part[1] for part in framing(document.get("post_processor"))]
    return same and framed == (around or framed) and _built(own) == _built(document)


def _built(parts: Mapping[str, Any]) -> list[str]:
    """Return a normaliser and a pre-tokeniser as the library writes them, without offsets."""
    built = json.loads(library_of({key: parts.get(key) for key in PARTS_OF_TEXT}).to_str())
    return [
        json.dumps(built[key]).replace('"trim_offsets": false', '"trim_offsets": true')
        for key in PARTS_OF_TEXT
    ]


def read_otherwise(
    source: str | os.PathLike[str], document: Mapping[str, Any], encode: Encode
) -> str:
    """Say where `transformers` reads a folder differently from us; empty if it does not.

    ``document``: what was loaded, laid out as ``tokenizer.json``; ``encode``: its ids of texts.
    It is only asked where its class may replace a part, as loading it takes seconds.
    """
    settings = settings_beside(source)
    if _is_as_class_has_it(document, {**settings, CHARSMAP: charsmap_of(document)}):
        return ""
    if (read := of_transformers(source, settings, TEXTS)) is None:
        return ""
    theirs, there = read
    each = zip(TEXTS, there, encode(TEXTS), strict=True)
    text, ids, ours = next((one for one in each if one[1] != one[2]), ("", [], []))
    if not text:
        return ""
    version = metadata.version("transformers")
    return (
        f"transformers {version} reads this folder differently, because its class "
        f"{type(theirs).__name__} has parts of its own: "
        f"“{shortened(text.strip(), 40)}” is {ids} there and {ours} here."
    )
