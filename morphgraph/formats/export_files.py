"""The text files of an exported tokeniser: configuration, merges, and README.

Strings of the tokeniser are written to JSON and, escaped, to the README; never to code or paths.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from morphgraph.core.text import base_name, counted, shortened
from morphgraph.formats.framing import known_ids
from morphgraph.formats.tokeniser_classes import MORE_TOKENS, TOKEN_ROLES, token_content

_NAMES: dict[str, tuple[str, ...]] = {
    "bos_token": ("<s>", "[BOS]", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>"),
    "eos_token": ("</s>", "[EOS]", "<eos>", "<|end_of_text|>", "<|endoftext|>"),
    "unk_token": ("<unk>", "[UNK]", "<|unk|>"),
    "sep_token": ("[SEP]", "<sep>"),
    "pad_token": ("<pad>", "[PAD]", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>"),
    "cls_token": ("[CLS]", "<cls>"),
    "mask_token": ("<mask>", "[MASK]"),
}
"""The roles of special tokens in `transformers`, with known contents of each."""

_UNCHANGED = (
    *("chat_template", "clean_up_tokenization_spaces", "model_input_names", "model_max_length"),
    *("padding_side", "response_template", "truncation_side"),
)
_WITH_TYPE_IDS = (
    *("Albert", "Bert", "ConvBert", "Deberta"),
    *("Electra", "Funnel", "MobileBert", "XLNet"),
)


def kept_settings(settings: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that also hold for a document laid out as ``tokenizer.json``.

    A special token whose content is not a type there is left out; a model may name some of its own,
    as ``image_token``.
    """
    known = known_ids(document)
    kept = {key: settings[key] for key in _UNCHANGED if settings.get(key) is not None}
    for role, token in settings.items():
        if role.endswith("_token") and token_content(token) in known:
            kept[role] = token
    for key in MORE_TOKENS:
        tokens = settings.get(key)
        if isinstance(tokens, list):
            kept[key] = [token for token in tokens if token_content(token) in known]
        elif isinstance(tokens, dict):
            kept[key] = {name: t for name, t in tokens.items() if token_content(t) in known}
    return kept


def marks_texts(settings: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return whether the model takes token type ids, by its class or as BERT does."""
    kind = str(settings.get("tokenizer_class") or "")
    if kind and kind not in ("MorphGraphTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend"):
        return kind.startswith(_WITH_TYPE_IDS) and not kind.startswith("Bertweet")
    processor = document.get("post_processor")
    if not isinstance(processor, dict):
        return False
    if processor.get("type") != "TemplateProcessing":
        return processor.get("type") == "BertProcessing"
    decoder = document.get("decoder") or {}
    is_berts = "[CLS]" in (processor.get("special_tokens") or {})
    return is_berts or "WordPiece" in (document["model"].get("type"), decoder.get("type"))


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|&~$!])")
_BACKTICKS = re.compile("`+")
_ESCAPES = {"\\": "\\\\", " ": "\\s", "\n": "\\n", "\r": "\\r"}
_PART, _MERGE = "\ud800", "\ud801"
"""The ends of a part and of a merge, while these may have any character that can be written."""


def transformers_config(
    document: Mapping[str, Any], *, own_class: bool, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a ``tokenizer_config.json``; ``own_class``: with the exported class.

    ``settings``: see `settings_beside`. They name the special tokens; otherwise the
    file's own statements do, or else contents in common use. Each keeps its flags.
    """
    settings = settings or {}
    kept = kept_settings(settings, document)
    # A token can have several roles, and roles missing in the source are not guessed.
    roles = {role: kept.pop(role) for role in TOKEN_ROLES if role in kept}
    is_said = any(settings.get(role) is not None for role in TOKEN_ROLES)
    special = {
        token["content"]: token
        for token in document.get("added_tokens") or []
        if token.get("special")
    }
    named: dict[str, Any] = {}
    for role, token in (roles if is_said else _roles(document)).items():
        content = token["content"] if isinstance(token, dict) else token
        if content in special:
            flags = {key: value for key, value in special[content].items() if key != "id"}
            named[role] = {"__type": "AddedToken", **flags}
        elif is_said:
            named[role] = token
    inputs = ["input_ids", "attention_mask"]
    if marks_texts(settings, document):
        inputs.insert(1, "token_type_ids")
    config: dict[str, Any] = {
        **named,
        "clean_up_tokenization_spaces": False,
        "model_input_names": inputs,
        **kept,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    if own_class:
        kind = "MorphGraphTokenizer"
        name = f"tokenization_morphgraph.{kind}"
        config |= {"tokenizer_class": kind, "auto_map": {"AutoTokenizer": [name, name]}}
    return config


def _roles(document: Mapping[str, Any]) -> dict[str, str]:
    contents = {token["content"] for token in document.get("added_tokens") or []}
    roles = {
        role: next((name for name in names if name in contents), "")
        for role, names in _NAMES.items()
    }
    processor = document.get("post_processor") or {}
    for key in ("cls", "sep"):
        given = processor.get(key)
        if isinstance(given, list) and given and isinstance(given[0], str):
            roles[f"{key}_token"] = given[0]
    padding = document.get("padding") or {}
    model = document["model"]
    for role, value in (
        ("pad_token", padding.get("pad_token")),
        ("unk_token", model.get("unk_token")),
    ):
        if isinstance(value, str):
            roles[role] = value
    return {role: content for role, content in roles.items() if content}


def merges_text(merges: Iterable[str | Sequence[str]]) -> bytes:
    r"""Return all merges in order of rank, one per line, with parts separated by spaces.

    Each is its parts, or a string of them with spaces between. If a part has a space or the end of
    a line in it, all parts are escaped (``\s``, ``\n``, ``\r``, ``\\``), and the first line says
    so.
    """
    first = "#version: 0.2"
    parted = (m.replace(" ", _PART) if isinstance(m, str) else _PART.join(m) for m in merges)
    text = "".join(each + _MERGE for each in parted)
    if any(white in text for white in " \n\r"):
        first += r" escaped: \s space, \n and \r ends of lines, \\ backslash"
        for sign, code in _ESCAPES.items():
            text = text.replace(sign, code)
    return f"{first}\n{text}".replace(_PART, " ").replace(_MERGE, "\n").encode()


def escaped(text: str) -> str:
    """Escape text for Markdown and HTML, in one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def code_span(text: str) -> str:
    """Return text as Markdown inline code, in one line."""
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    return f"{fence} {' '.join(text.split())} {fence}"


def readme(
    name: str, document: Mapping[str, Any], facts: Mapping[str, Any], file_checksum: str
) -> str:
    """Return the README of an exported tokeniser; ``facts`` are those of `Export.to_dict`.

    ``unchanged``: all ids are as before; ``draws``: it segments at random.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("morphgraph.formats"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {"markdown": escaped, "code": code_span}
    steps = json.dumps([document.get("pre_tokenizer"), document.get("normalizer")])
    listed = [
        (file, told) for file, told in FILES.items() if file in {*facts["files"], "README.md"}
    ]
    return templates.get_template("readme.md.j2").render(
        facts,
        title=TITLE,
        name=shortened(base_name(name), 100),
        own_class=facts["kind"] == "folder",
        drops_unknown=document["model"].get("unk_token") is None and '"ByteLevel"' not in steps,
        listed=listed,
        code=[f"`{file}`" for file, _ in listed if file.endswith(".py")],
        file_checksum=file_checksum,
        counted=counted,
    )


TITLE = "# A tokeniser from morphgraph"
FILES = {
    "tokenizer.json": "the tokeniser",
    "tokeniser.bte.json": "vocabulary, merges and settings, laid out as tokenizer.json",
    "tokeniser.method.json": "vocabulary, method and settings, laid out as tokenizer.json",
    "tokenizer_config.json": "the class and the special tokens, for transformers",
    "tokenization_morphgraph.py": "the class that AutoTokenizer loads",
    "methods.py": "the method by its name",
    "piece_methods.py": "how a method is plugged into the tokenizers library",
    "merges.py": "merging, also at random",
    "lookup.py": "how types are looked up",
    "ids.json": "id in the first tokeniser → id in this one, for reusing embeddings",
    "merges.txt": "all merges in order of rank, parts separated by spaces",
    "recipe.json": "all edits of the first tokeniser, to be replayed in morphgraph",
    "README.md": "how to load it and how to reuse embeddings",
}
"""The files in an archive, by name."""
