"""The settings for `transformers` that an export keeps from its source folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from morphgraph.core.files import decode_utf8, parse_json, read_bytes

TOKEN_ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The roles of special tokens in `transformers`."""

_MORE_TOKENS = ("additional_special_tokens", "extra_special_tokens")
_UNCHANGED = (
    "chat_template",
    "clean_up_tokenization_spaces",
    "model_input_names",
    "model_max_length",
    "padding_side",
    "truncation_side",
)
_READ_FROM = frozenset(
    {
        "merges.txt",
        "tokeniser.bte.json",
        "tokeniser.method.json",
        "tokenizer.json",
        "tokenizer.model",
        "vocab.json",
        "vocab.txt",
    }
)
_WITH_TYPE_IDS = (
    "Albert",
    "Bert",
    "ConvBert",
    "Deberta",
    "Electra",
    "Funnel",
    "MobileBert",
    "XLNet",
)


def source_settings(source: str | Path) -> dict[str, Any]:
    """Return the settings for `transformers` in the folder of a tokeniser, or of its file.

    Empty if there are none. ``special_tokens_map.json`` and ``chat_template.jinja`` count, too.
    Errors: `FileFormatError`.
    """
    path = Path(source)
    if path.name in _READ_FROM and path.is_file():
        path = path.parent
    elif str(source).startswith("demo:") or not path.is_dir():
        return {}
    found: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (path / name).is_file():
            read = parse_json(read_bytes(path / name), str(path / name))
            found |= read if isinstance(read, dict) else {}
    template = path / "chat_template.jinja"
    if template.is_file():
        found["chat_template"] = decode_utf8(read_bytes(template), str(template))
    return found


def kept_settings(settings: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that also hold for a document laid out as ``tokenizer.json``.

    A special token whose content is not a type there is left out.
    """
    known = _contents(document)
    kept = {key: settings[key] for key in _UNCHANGED if settings.get(key) is not None}
    for role in TOKEN_ROLES:
        if _content(settings.get(role)) in known:
            kept[role] = settings[role]
    for key in _MORE_TOKENS:
        tokens = settings.get(key)
        if isinstance(tokens, list):
            kept[key] = [token for token in tokens if _content(token) in known]
        elif isinstance(tokens, dict):
            kept[key] = {name: t for name, t in tokens.items() if _content(t) in known}
    return kept


def marks_texts(settings: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return whether a model of such a tokeniser takes type ids, by its class or as in BERT."""
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


def _content(token: Any) -> str | None:
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None


def _contents(document: Mapping[str, Any]) -> set[str | None]:
    """Return all types of a document, added tokens included."""
    vocabulary = document["model"]["vocab"]
    types = (entry[0] for entry in vocabulary) if isinstance(vocabulary, list) else vocabulary
    return {*types, *(token["content"] for token in document.get("added_tokens") or [])}
