"""What the tokeniser classes of `transformers` make of files that say less than tokenizer.json.

Facts of version 5 of that library: how each class normalises, cuts and decodes text, its special
tokens, and what it puts around a text.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from morphgraph.formats.pipeline_parts import (
    PipelineParts,
    byte_level,
    byte_level_parts,
    metaspace,
    precompiled,
    replacing,
    sequence,
    split,
    to_text,
)

FolderSettings = Mapping[str, Any]
Pieces = list[list[Any]]
"""The types of a SentencePiece model with their scores."""
Kind = Literal["BPE", "WordPiece", "Unigram"]

TEXT, OTHER_TEXT = "$A", "$B"
"""A text, and the second of two, among the special tokens around them."""

TOKEN_ROLES = tuple(f"{role}_token" for role in ["bos", "eos", "unk", "sep", "pad", "cls", "mask"])
"""The roles of special tokens, in the order in which new ones are numbered."""
MORE_TOKENS = ("extra_special_tokens", "additional_special_tokens")
"""The settings that list special tokens without a role."""


_FROM_BYTES: PipelineParts = byte_level(spaced=True)


def _gpt2(
    settings: FolderSettings, normalizer: PipelineParts | None = None, spaced: bool = False
) -> PipelineParts:
    before = byte_level(spaced=bool(settings.get("add_prefix_space", spaced)))
    return {"normalizer": normalizer, "pre_tokenizer": before, "decoder": _FROM_BYTES}


def _qwen2(settings: FolderSettings) -> PipelineParts:
    parts = byte_level_parts("qwen2", spaced=bool(settings.get("add_prefix_space")))
    return {**parts, "normalizer": {"type": "NFC"}, "decoder": _FROM_BYTES}


# Byte-level with </w> is CLIP's way (Radford et al. 2021).
_CLIP = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


def clip_parts(_: FolderSettings) -> PipelineParts:
    """Return the parts of CLIP."""
    cleaned = {"type": "NFC"}, replacing(r"\s+", " ", "Regex"), {"type": "Lowercase"}
    cut = split(_CLIP, "Removed", invert=True), byte_level()
    return {
        "normalizer": sequence("normalizer", *cleaned),
        "pre_tokenizer": sequence("pre_tokenizer", *cut),
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


def _llama(settings: FolderSettings) -> PipelineParts:
    asked = settings.get("add_prefix_space")
    spaced = True if asked is None else bool(asked)
    scheme = ("always" if settings.get("legacy", False) else "first") if spaced else "never"
    before = metaspace(scheme, split=False)
    return {"normalizer": None, "pre_tokenizer": before, "decoder": to_text(spaced=spaced)}


def _gemma(_: FolderSettings) -> PipelineParts:
    return {
        "normalizer": replacing(" ", "▁"),
        "pre_tokenizer": split(" ", "MergedWithPrevious", kind="String"),
        "decoder": to_text(spaced=False),
    }


def _rules(settings: FolderSettings) -> PipelineParts | None:
    return precompiled(settings.get(CHARSMAP) or b"")


CHARSMAP = "precompiled charsmap"
"""The setting that holds the rules for characters of a SentencePiece model."""


def _by_words(
    settings: FolderSettings, normalizer: PipelineParts | None, *, fixed: bool = False
) -> PipelineParts:
    spaced = fixed or settings.get("add_prefix_space", True)
    marked = metaspace("always" if spaced else "never")
    cut = sequence("pre_tokenizer", {"type": "WhitespaceSplit"}, marked)
    return {"normalizer": normalizer, "pre_tokenizer": cut, "decoder": marked}


def _albert(settings: FolderSettings) -> PipelineParts:
    accents = () if settings.get("keep_accents") else ({"type": "NFKD"}, {"type": "StripAccents"})
    lower = {"type": "Lowercase"} if settings.get("do_lower_case", True) else None
    quotes = replacing("``", '"'), replacing("''", '"')
    return _by_words(settings, sequence("normalizer", *quotes, *accents, lower, _rules(settings)))


def _nllb(settings: FolderSettings) -> PipelineParts:
    rules = _rules(settings)
    spaces = None if rules is None else replacing(" {2,}", " ", "Regex")
    marked = metaspace("always")
    cleaned = sequence("normalizer", rules, spaces)
    return {"normalizer": cleaned, "pre_tokenizer": marked, "decoder": marked}


def token_content(token: Any) -> str | None:
    """Return the text of a special token, which settings give with its flags or without."""
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) and content else None


_FAIRSEQ = ("bos_token", "pad_token", "eos_token", "unk_token")
_SIGNS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_USUAL = dict(zip((*_FAIRSEQ, "mask_token"), _SIGNS, strict=True))


def _unscored(texts: Iterable[str]) -> Pieces:
    return [[text, 0.0] for text in texts]


def _named(settings: FolderSettings, roles: Sequence[str] = _FAIRSEQ) -> list[str]:
    return [token_content(settings.get(role)) or _USUAL[role] for role in roles]


def _after_four(pieces: Pieces, settings: FolderSettings, *end: str) -> Pieces:
    """Return pieces numbered as in fairseq: four special tokens, and the mask at the end."""
    last = *end, *_named(settings, ["mask_token"])
    return _unscored(_named(settings)) + pieces[3:] + _unscored(last)


def _nllb_pieces(pieces: Pieces, settings: FolderSettings) -> Pieces:
    first = _named(settings)
    return _unscored(first) + [piece for piece in pieces if piece[0] not in first]


def _camembert_pieces(pieces: Pieces, settings: FolderSettings) -> Pieces:
    pad, unknown, mask = _named(settings, ["pad_token", "unk_token", "mask_token"])
    first = _unscored(["<s>NOTUSED", pad, "</s>NOTUSED", unknown])
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
_PIECES: Mapping[str, Callable[[Pieces, FolderSettings], Pieces]] = {
    "camembert": _camembert_pieces,
    "mbart": lambda pieces, settings: _after_four(pieces, settings, *_codes("mBART")),
    "nllb": _nllb_pieces,
    "t5": lambda pieces, settings: pieces + _unscored(reversed(_extra_ids(settings))),
    "xlm_roberta": _after_four,
}
_MORE: Mapping[str, Callable[[FolderSettings], Sequence[str]]] = {
    "camembert": lambda _: ("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"),
    "mbart": lambda _: _codes("mBART"),
    "nllb": _nllb_codes,
    "t5": _extra_ids,
}


class TokeniserClass(NamedTuple):
    """A tokeniser class of `transformers`.

    ``kind``: of its model, whose unusual fields are in ``model``. ``roles``: its usual special
    tokens, with flags where these are unusual. These depend on a folder's settings: ``parts``, its
    normaliser, pre-tokeniser and decoder; ``frame``, what is around a text, as roles or contents
    and `TEXT`, empty if ``add_bos_token`` and ``add_eos_token`` decide; ``more``, special tokens
    without a role; ``pieces``, the types of a SentencePiece model as it numbers them. ``between``:
    how often what is behind a text is between two. ``reads``: the settings that ``parts`` reads.
    """

    kind: Kind
    roles: Mapping[str, str | Mapping[str, Any]]
    parts: Callable[[FolderSettings], PipelineParts]
    frame: Callable[[FolderSettings], Sequence[str]]
    more: Callable[[FolderSettings], Sequence[str]]
    pieces: Callable[[Pieces, FolderSettings], Pieces]
    between: Literal["one", "two", "none"]
    model: Mapping[str, Any]
    reads: frozenset[str]


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
    row = next((row for row in _table()["class"] if name in row["names"]), None)
    if row is None:
        return None
    frame = row.get("frame", "")
    return TokeniserClass(
        row["kind"],
        row["roles"],
        _PARTS[row["parts"]],
        _FRAMES.get(frame, lambda _: frame.split()),
        _MORE.get(row.get("more", ""), lambda _: ()),
        _PIECES.get(row.get("pieces", ""), lambda pieces, _: pieces),
        row.get("between", "one"),
        row.get("model", {}),
        frozenset(row.get("reads", ())),
    )


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


def role_of(kind: TokeniserClass | None, settings: FolderSettings, role: str) -> str | None:
    """Return the special token of a role, as set or as usual for the class; None if there is none.

    A role that is set to null has none.
    """
    if role in settings:
        return token_content(settings[role])
    return token_content((kind.roles if kind else {}).get(role))


def frame_of_class(
    kind: TokeniserClass | None, settings: FolderSettings, *, whole: bool
) -> tuple[list[str], list[str]]:
    """Return a text with the special tokens around it, and two texts; empty if there are none.

    ``whole``: not those that only ``add_bos_token`` and ``add_eos_token`` ask for.
    """
    names = kind.frame(settings) if kind is not None else []
    is_fixed = bool(names)
    if not names and whole:
        return [], []
    if not names:
        names = ["bos_token"] * (settings.get("add_bos_token") is True) + [TEXT]
        names += ["eos_token"] * (settings.get("add_eos_token") is True)
    frame = [
        (role_of(kind, settings, name) if name in TOKEN_ROLES else name) or "" for name in names
    ]
    frame = [text for text in frame if text]
    if frame == [TEXT]:
        return [], []
    at = frame.index(TEXT)
    before, behind = frame[:at], frame[at + 1 :]
    between = {"one": behind, "two": 2 * behind, "none": [], "each": behind + before}
    pair = between[kind.between if kind is not None and is_fixed else "each"]
    return frame, [*before, TEXT, *pair, OTHER_TEXT, *behind]


def implied_merges(types: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the merges of a vocabulary that lists none: all pairs that make a type, by its id."""
    for text, _ in sorted(types.items(), key=lambda known: known[1]):
        cuts = range(1, len(text))
        yield from ((text[:n], text[n:]) for n in cuts if text[:n] in types and text[n:] in types)
