"""Where a reference lies that is called by a name: the demos, and what the catalogue fetched."""

from __future__ import annotations

from pathlib import Path

DEMO, CATALOGUE = "demo:", "catalogue:"


def is_named(source: object) -> bool:
    """Whether a source is called ``demo:…`` or ``catalogue:…``."""
    return isinstance(source, str) and source.startswith((DEMO, CATALOGUE))


def named_place(source: str) -> tuple[Path, str | None]:
    """The file of a named reference, and its format where the catalogue knows it.

    `MorphGraphError` for a name that is unknown, and for one that has not been fetched.

    >>> named_place("demo:en")[0].name
    'en.tsv'
    """
    from morphgraph.core.demos import demo_gold_path
    from morphgraph.reference.catalogue import find_source
    from morphgraph.reference.downloads import local_path

    if source.startswith(DEMO):
        return demo_gold_path(source.removeprefix(DEMO)), None
    return local_path(source), find_source(source).format
