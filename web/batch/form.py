"""The form of an evaluation: what it shows is in the YAML, and what is chosen is written there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from morphgraph.batch.yaml_reading import load_yaml
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened, visible
from web.widgets import primed

FIELDS = ("languages", "methods", "references", "seeds")
"""What the form can change."""
_ON_LINES = ("methods", "references")
"""Of these, each entry has a line of its own."""
_KEY = re.compile(r"^[A-Za-z_\"']")


def entries_of(text: str) -> dict[str, dict[str, str]] | None:
    """The entries of each field by the names that the form shows, as YAML in one line each.

    None for a text that is no YAML, or in which a field is not a list.

    >>> found = entries_of("languages: [en]\\nmethods:\\n  - flota\\n  - {method: bte, label: x}")
    >>> found["methods"], found["seeds"]
    ({'flota': 'flota', 'x': '{method: bte, label: x}'}, {})
    """
    try:
        content, _ = load_yaml(text, "")
    except MorphGraphError:
        return None
    if not isinstance(content, Mapping):
        return None
    found: dict[str, dict[str, str]] = {}
    for field in FIELDS:
        given = content.get(field, [])
        if field == "languages" and isinstance(given, str):
            given = [given]
        if not isinstance(given, list):
            return None
        named: dict[str, str] = {}
        for entry in given:
            named[primed(_name(entry), named)] = in_one_line(entry)
        found[field] = named
    return found


def _name(entry: Any) -> str:
    """What the form calls an entry: the name that it gives itself, or all of it; cut if long.

    The field shows names as they are: of a value that is no option, the browser returns the text
    that it shows.
    """
    own = str(entry)
    if isinstance(entry, Mapping):
        own = str(entry.get("label") or entry.get("name") or in_one_line(entry)[1:-1])
    return shortened(visible(own), 60)


def in_one_line(entry: Any) -> str:
    """An entry of a list as YAML.

    >>> in_one_line("no"), in_one_line(3), in_one_line({"p": [0.1, 0.2]})
    ("'no'", '3', '{p: [0.1, 0.2]}')
    """
    how: dict[str, Any] = {"default_flow_style": True, "width": 10**9, "sort_keys": False}
    listed: str = yaml.safe_dump([entry], allow_unicode=True, **how).strip()
    if not listed.isprintable():  # a break between lines would be read as a space
        listed = yaml.safe_dump([entry], **how).strip()
    return listed[1:-1]


def with_entries(text: str, field: str, entries: Sequence[str]) -> str:
    """The text with other entries in a field, each as YAML in one line; all else stays as it is.

    >>> print(with_entries("languages: [en]  # two\\nseeds: [0]", "languages", ["de", "nl"]))
    languages: [de, nl]
    seeds: [0]
    """
    if field in _ON_LINES and entries:
        block = [f"{field}:", *(f"  - {entry}" for entry in entries)]
    else:
        block = [f"{field}: [{', '.join(entries)}]"]
    lines = text.split("\n")
    begins = [number for number, line in enumerate(lines) if _KEY.match(line)]
    start = next((n for n in begins if re.match(rf"{field}\s*:", lines[n])), None)
    if start is None:
        return "\n".join([text.rstrip("\n"), *block, ""])
    end = next((n for n in begins if n > start), len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # what stands above the next field belongs to it
    return "\n".join([*lines[:start], *block, *lines[end:]])
