"""docs/reference/formats.md and catalogue.md: what is read, what is written, what can be had."""

import tomllib
from collections import defaultdict
from pathlib import Path

from docs.tools import from_template, markdown_table
from morphgraph.reference.catalogue import LANGUAGES, SOURCES, CatalogueEntry

GOLD = tomllib.loads(Path(__file__).with_name("gold_formats.toml").read_text(encoding="utf-8"))
"""What the page says of each format of gold."""


def page() -> str:
    """Return the page of formats."""
    head = ("format", "an example, tabs as ⇥", "kinds", "whole words", "processes", "notes")
    rows = [head]
    for name, about in GOLD.items():
        told = [about.get(key, "–") for key in ("kinds", "whole_words", "processes")]
        note = about.get("note", "").replace("|", "\\|")
        rows.append((f"`{name}`", _example(about), *told, note))
    return from_template("formats.md", gold=markdown_table(rows))


def _example(about: dict[str, str]) -> str:
    shown = about.get("shown")
    if shown is None:
        lines = (f"`{line}`" for line in about["example"].splitlines())
        shown = "<br>".join(lines).replace("\t", "⇥")
    return shown.replace("|", "\\|")


def catalogue_page() -> str:
    """Return the page of public references."""
    fetched: dict[tuple[str, str], list[CatalogueEntry]] = defaultdict(list)
    listed = [("name", "what", "entries", "licence", "what to do")]
    for source in SOURCES.values():
        if source.can_be_fetched:
            pattern = source.name.replace(source.languages[0], "LANG")
            fetched[source.title, pattern].append(source)
        else:
            entries = f"{source.entries:,}" if source.entries else ""
            todo = " ".join(source.by_hand.split())
            listed.append((f"`{source.name}`", _home(source), entries, source.licence, todo))
    rows = [("what", "names", "LANG", "licence")]
    for (_, pattern), sources in fetched.items():
        codes = sorted(each.languages[0] for each in sources)
        spoken = ", ".join(f"`{code}` {LANGUAGES[code].name}" for code in codes)
        rows.append((_home(sources[0]), f"`{pattern}`", spoken, sources[0].licence))
    return from_template(
        "catalogue.md", fetched=markdown_table(rows), by_hand=markdown_table(listed)
    )


def _home(source: CatalogueEntry) -> str:
    return f"[{source.title}]({source.home})"
