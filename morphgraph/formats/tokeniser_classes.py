"""What the tokeniser classes of `transformers` make of files that say less than tokenizer.json.

Facts of version 5 of that library: how each class normalises, cuts and decodes text, its special
tokens, and what it puts around a text.
"""

import base64
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

FolderSettings = Mapping[str, Any]
PipelineParts = dict[str, Any]
Kind = Literal["BPE", "WordPiece", "Unigram"]

TEXT, OTHER_TEXT = "$A", "$B"
"""A text, and the second of two, among the special tokens around them."""

TOKEN_ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The roles of special tokens, in the order in which new ones are numbered."""
MORE_TOKENS = ("extra_special_tokens", "additional_special_tokens")
"""The settings that list special tokens without a role."""


def _sequence(key: str, kind: str, *parts: PipelineParts | None) -> PipelineParts | None:
    """Return parts in sequence; a single one as it is."""
    present = [part for part in parts if part is not None]
    return {"type": kind, key: present} if len(present) > 1 else present[0] if present else None


def byte_level(
    settings: FolderSettings, *, spaced: bool = False, regex: bool = True
) -> PipelineParts:
    """Return the pre-tokeniser of GPT-2; ``spaced``: whether a space is put before a text."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": bool(settings.get("add_prefix_space", spaced)),
        "trim_offsets": True,
        "use_regex": regex,
    }


_FROM_BYTES: PipelineParts = byte_level({"add_prefix_space": True})


def _gpt2(
    settings: FolderSettings, normalizer: PipelineParts | None = None, spaced: bool = False
) -> PipelineParts:
    before = byte_level(settings, spaced=spaced)
    return {"normalizer": normalizer, "pre_tokenizer": before, "decoder": _FROM_BYTES}


_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _split(pattern: str, behavior: str, *, invert: bool = False) -> PipelineParts:
    regex = {"Regex": pattern}
    return {"type": "Split", "pattern": regex, "behavior": behavior, "invert": invert}


def _qwen2(settings: FolderSettings) -> PipelineParts:
    asked = {"add_prefix_space": settings.get("add_prefix_space") or False}
    both = [_split(_QWEN2, "Isolated"), byte_level(asked, regex=False)]
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": both},
        "decoder": _FROM_BYTES,
    }


def _replaced(pattern: str, content: str, kind: str = "String") -> PipelineParts:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


# Byte-level with </w> is CLIP's way (Radford et al. 2021).
_CLIP = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def clip_parts(_: FolderSettings) -> PipelineParts:
    """Return the parts of CLIP."""
    cleaned = [{"type": "NFC"}, _replaced(r"\s+", " ", "Regex"), {"type": "Lowercase"}]
    both = [_split(_CLIP, "Removed", invert=True), byte_level({})]
    return {
        "normalizer": {"type": "Sequence", "normalizers": cleaned},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": both},
        "decoder": _FROM_BYTES,
    }


def bert_parts(settings: FolderSettings) -> PipelineParts:
    """Return the parts of BERT."""
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": bool(settings.get("tokenize_chinese_chars", True)),
        "strip_accents": settings.get("strip_accents"),
        "lowercase": bool(settings.get("do_lower_case", True)),
    }
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    }


def _metaspace(scheme: str, *, split: bool = True) -> PipelineParts:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def _llama(settings: FolderSettings) -> PipelineParts:
    asked = settings.get("add_prefix_space")
    spaced = True if asked is None else bool(asked)
    scheme = ("always" if settings.get("legacy", False) else "first") if spaced else "never"
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0} if spaced else None
    return {
        "normalizer": None,
        "pre_tokenizer": _metaspace(scheme, split=False),
        "decoder": _sequence("decoders", "Sequence", *_TO_TEXT, strip),
    }


_TO_TEXT: tuple[PipelineParts, ...] = (
    _replaced("▁", " "),
    {"type": "ByteFallback"},
    {"type": "Fuse"},
)


def _gemma(_: FolderSettings) -> PipelineParts:
    space = {"type": "Split", "pattern": {"String": " "}, "invert": False}
    return {
        "normalizer": _replaced(" ", "▁"),
        "pre_tokenizer": {**space, "behavior": "MergedWithPrevious"},
        "decoder": {"type": "Sequence", "decoders": [*_TO_TEXT]},
    }


def _rules(settings: FolderSettings) -> PipelineParts | None:
    """Return the rules for characters of a SentencePiece model, if it has any."""
    found = settings.get(CHARSMAP)
    if not found:
        return None
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(found).decode()}


CHARSMAP = "precompiled charsmap"
"""The setting that holds the rules for characters of a SentencePiece model."""


def _by_words(
    settings: FolderSettings, normalizer: PipelineParts | None, *, fixed: bool = False
) -> PipelineParts:
    spaced = fixed or settings.get("add_prefix_space", True)
    marked = _metaspace("always" if spaced else "never")
    both = [{"type": "WhitespaceSplit"}, marked]
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": both},
        "decoder": marked,
    }


def _albert(settings: FolderSettings) -> PipelineParts:
    accents = () if settings.get("keep_accents") else ({"type": "NFKD"}, {"type": "StripAccents"})
    lower = {"type": "Lowercase"} if settings.get("do_lower_case", True) else None
    quotes = (_replaced("``", '"'), _replaced("''", '"'))
    made = _sequence("normalizers", "Sequence", *quotes, *accents, lower, _rules(settings))
    return _by_words(settings, made)


def _nllb(settings: FolderSettings) -> PipelineParts:
    rules = _rules(settings)
    spaces = None if rules is None else _replaced(" {2,}", " ", "Regex")
    return {
        "normalizer": _sequence("normalizers", "Sequence", rules, spaces),
        "pre_tokenizer": _metaspace("always"),
        "decoder": _metaspace("always"),
    }


def token_content(token: Any) -> str | None:
    """Return the text of a special token, which settings give with its flags or without."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) and found else None


def _after_four(pieces: list[list[Any]], settings: FolderSettings, *end: str) -> list[list[Any]]:
    """Return pieces numbered as in fairseq: four special tokens, and the mask at the end."""
    first = [token_content(settings.get(role)) or usual for role, usual in _FAIRSEQ.items()]
    mask = token_content(settings.get("mask_token")) or "<mask>"
    return [[text, 0.0] for text in first] + pieces[3:] + [[text, 0.0] for text in (*end, mask)]


_FAIRSEQ = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
}


def _nllb_pieces(pieces: list[list[Any]], settings: FolderSettings) -> list[list[Any]]:
    first = [token_content(settings.get(role)) or usual for role, usual in _FAIRSEQ.items()]
    return [[text, 0.0] for text in first] + [piece for piece in pieces if piece[0] not in first]


def _camembert_pieces(pieces: list[list[Any]], settings: FolderSettings) -> list[list[Any]]:
    named = {role: token_content(settings.get(role)) for role in ("pad_token", "unk_token")}
    pad, unknown = named["pad_token"] or "<pad>", named["unk_token"] or "<unk>"
    first = [["<s>NOTUSED", 0.0], [pad, 0.0], ["</s>NOTUSED", 0.0], [unknown, 0.0]]
    mask = token_content(settings.get("mask_token")) or "<mask>"
    return [*first, ["<unk>NOTUSED", -100.0], *pieces[1:], [mask, 0.0]]


def _extra_ids(settings: FolderSettings) -> list[str]:
    number = settings.get("extra_ids", 100)
    return [f"<extra_id_{n}>" for n in range(number if isinstance(number, int) else 100)]


def _nllb_codes(settings: FolderSettings) -> Sequence[str]:
    named = any(settings.get(key) for key in MORE_TOKENS)
    return () if named else _codes("NLLB")


def _whisper_frame(settings: FolderSettings) -> Sequence[str]:
    language, task = settings.get("language"), settings.get("task")
    asked = [f"<|{language}|>"] if language else []
    asked += [f"<|{task}|>"] if task else []
    times = [] if settings.get("predict_timestamps") else ["<|notimestamps|>"]
    return ["<|startoftranscript|>", *asked, *times, TEXT, "eos_token"]


def _mbart_frame(settings: FolderSettings) -> Sequence[str]:
    return [TEXT, "eos_token", str(settings.get("src_lang") or "en_XX")]


def _nllb_frame(settings: FolderSettings) -> Sequence[str]:
    language = str(settings.get("src_lang") or "eng_Latn")
    last = [TEXT, "eos_token"]
    return [*last, language] if settings.get("legacy_behaviour") else [language, *last]


_PARTS: Mapping[str, Callable[[FolderSettings], PipelineParts]] = {
    "albert": _albert,
    "bert": bert_parts,
    "blenderbot": lambda settings: _gpt2(settings, spaced=True),
    "clip": clip_parts,
    "gemma": _gemma,
    "gpt2": _gpt2,
    "gpt_neox": lambda settings: _gpt2(settings, {"type": "NFC"}),
    "llama": _llama,
    "mbart": lambda settings: _by_words(settings, None, fixed=True),
    "nllb": _nllb,
    "qwen2": _qwen2,
    "t5": lambda settings: _by_words(settings, _rules(settings), fixed=True),
    "words": lambda settings: _by_words(settings, _rules(settings)),
}
_FRAMES: Mapping[str, Callable[[FolderSettings], Sequence[str]]] = {
    "mbart": _mbart_frame,
    "nllb": _nllb_frame,
    "whisper": _whisper_frame,
}
_PIECES: Mapping[str, Callable[[list[list[Any]], FolderSettings], list[list[Any]]]] = {
    "camembert": _camembert_pieces,
    "mbart": lambda pieces, settings: _after_four(pieces, settings, *_codes("mBART")),
    "nllb": _nllb_pieces,
    "t5": lambda pieces, settings: (
        pieces + [[text, 0.0] for text in reversed(_extra_ids(settings))]
    ),
    "xlm_roberta": _after_four,
}
_MORE: Mapping[str, Callable[[FolderSettings], Sequence[str]]] = {
    "camembert": lambda _: ("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"),
    "mbart": lambda _: _codes("mBART"),
    "nllb": _nllb_codes,
    "t5": _extra_ids,
}


@dataclass(frozen=True)
class TokeniserClass:
    """A tokeniser class of `transformers`.

    ``kind``: of its model, whose unusual fields are in ``model``. ``reads``: the settings that its
    parts depend on. ``roles``: its usual special tokens, with flags where these are unusual.
    ``between``: how often what is behind a text is between two.
    """

    kind: Kind
    roles: Mapping[str, str | Mapping[str, Any]]
    parts_named: str
    frame_named: str = ""
    between: Literal["one", "two", "none"] = "one"
    model: Mapping[str, Any] = field(default_factory=dict)
    more_named: str = ""
    pieces_named: str = ""
    reads: frozenset[str] = frozenset()

    def parts(self, settings: FolderSettings) -> PipelineParts:
        """Return its normaliser, pre-tokeniser and decoder."""
        return _PARTS[self.parts_named](settings)

    def frame(self, settings: FolderSettings) -> list[str]:
        """Return what is around a text, as roles or contents and `TEXT`.

        Empty if ``add_bos_token`` and ``add_eos_token`` decide.
        """
        if self.frame_named in _FRAMES:
            return [*_FRAMES[self.frame_named](settings)]
        return self.frame_named.split()

    def more(self, settings: FolderSettings) -> Sequence[str]:
        """Return special tokens without a role."""
        return _MORE[self.more_named](settings) if self.more_named else ()

    def pieces(self, pieces: list[list[Any]], settings: FolderSettings) -> list[list[Any]]:
        """Return the types of a SentencePiece model as it numbers them."""
        return _PIECES[self.pieces_named](pieces, settings) if self.pieces_named else pieces


@cache
def _table() -> dict[str, Any]:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    return tomllib.loads(text)


def _codes(name: str) -> list[str]:
    """Return the language codes that a class has for tokens."""
    return str(_table()["codes"][name]).split()


@cache
def tokeniser_class(name: str) -> TokeniserClass | None:
    """Return a class by its name, without ``Tokenizer`` or ``TokenizerFast``; None for others.

    >>> tokeniser_class("Electra").frame({})
    ['cls_token', '$A', 'sep_token']
    """
    for row in _table()["class"]:
        if name in row["names"]:
            functions = {f"{key}_named": row[key] for key in _NAMED if key in row}
            rest = {key: row[key] for key in ("between", "model") if key in row}
            reads = frozenset(row.get("reads", ()))
            return TokeniserClass(row["kind"], row["roles"], reads=reads, **functions, **rest)
    return None


_NAMED = ("parts", "frame", "more", "pieces")
_ANY = ("PreTrained", "Tokenizers")
"""Names of classes that read tokenizer.json as it is."""


def class_name(settings: FolderSettings) -> str:
    """Return the class that a folder's settings name or imply, in short; empty if none."""
    named = settings.get("tokenizer_class")
    if isinstance(named, str) and named:
        short = named.removesuffix("Fast").removesuffix("Backend").removesuffix("Tokenizer")
        return "" if short in _ANY or named == "MorphGraphTokenizer" else short
    model = settings.get("model_type")
    return next(
        (row["names"][0] for row in _table()["class"] if model in row.get("models", ())), ""
    )


def implied_merges(types: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the merges of a vocabulary that lists none: all pairs that make a type, by its id."""
    for text, _ in sorted(types.items(), key=lambda known: known[1]):
        cuts = range(1, len(text))
        yield from ((text[:n], text[n:]) for n in cuts if text[:n] in types and text[n:] in types)
