"""Replacement of token ids in a model's configuration for another vocabulary."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_LISTS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")
_POSITIONS_FROM_PADDING = (
    *("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta"),
    *("roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)


@dataclass(frozen=True)
class ConfigChange:
    """A configuration field whose value changes."""

    file: str
    field: str
    before: Any
    after: Any


def with_new_ids(
    config: Mapping[str, Any],
    file: str,
    new_id: Callable[[str, int], int | None],
    rows: tuple[int, int],
) -> tuple[dict[str, Any], list[ConfigChange]]:
    """Return a configuration for another vocabulary, and the changes made.

    ``new_id`` maps a field and an old id to the new id; None sets the field to null, or removes the
    id from a list. ``rows``: the number of ids before and after. Nested parts are changed too; a
    negative id stands for none.
    """
    changes: list[ConfigChange] = []

    def mapped(field: str, value: Any) -> Any:
        if isinstance(value, list):
            found = [mapped(field, each) for each in value]
            return [each for each in found if each is not None]
        return new_id(field, value) if type(value) is int and value >= 0 else value

    def changed(part: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
        for key, value in part.items():
            made = value
            if isinstance(value, dict):
                made = dict(changed(value, f"{above}{key}."))
            elif key.endswith(("_token_id", "_token_index")) or key in _LISTS:
                made = mapped(key, value)
            elif key == "vocab_size" and value == rows[0]:
                made = rows[1]
            if made != value and not isinstance(value, dict):
                changes.append(ConfigChange(file, above + key, value, made))
            yield key, made

    return dict(changed(config, "")), changes


def counts_positions_from_padding(config: Mapping[str, Any]) -> bool:
    """Return whether a model numbers positions starting after its padding id.

    >>> counts_positions_from_padding({"model_type": "roberta"})
    True
    """
    return config.get("model_type") in _POSITIONS_FROM_PADDING
