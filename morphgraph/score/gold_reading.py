"""How gold is read: one model for the library, the command line and evaluations."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypedDict

from pydantic import Field

from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.core.text import counted, shortened
from morphgraph.segment.method import Parameters

if TYPE_CHECKING:
    from morphgraph.reference.entry import Reference


class Reading(Parameters):
    """How gold files are read, and which of their entries count."""

    format: str | None = Field(
        default=None, description="The files' format, such as celex; detected if not given."
    )
    encoding: str | None = Field(
        default=None, description="Their encoding, such as windows-1252; UTF-8 if not given."
    )
    separator: str | None = Field(
        default=None,
        min_length=1,
        description="Plain: what stands between morphs, as + in un+break+able; detected if clear.",
    )
    layer: str | None = Field(
        default=None,
        description="UniSegments: this layer; each word's first with types if not given.",
    )
    split: Literal["train", "dev", "test"] | None = Field(
        default=None, description="MorphScore 2: only words of train, dev or test."
    )
    keep: str | None = Field(
        default=None,
        description="MorphScore 2: also rows that its filter leaves out: repeated (words), stems "
        "(other than the lemma) or digits; several as stems+digits.",
    )
    foreign: bool = Field(default=False, description="CELEX: keep entries marked [F].")
    first: bool = Field(default=False, description="Only the first analysis of each word counts.")
    formation: str | None = Field(
        default=None, description="Only words formed so, such as prefixed, suffixed or compound."
    )
    sample: int | None = Field(
        default=None, ge=1, description="Only this many entries, drawn at random from all."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the sample.")
    exempt: str | list[str] | None = Field(
        default=None,
        description="Words that nothing is learned from, such as lexicalised ones; they are scored "
        "like any other. A file with one per line, or a list.",
    )

    def read(self, source: str | os.PathLike[str] | bytes, name: str | None = None) -> Reference:
        """Return all gold of a file, ``demo:…`` or ``catalogue:…``, as `read_reference` does."""
        from morphgraph.reference.readers import read_reference

        return read_reference(
            source,
            name=name,
            format=self.format,
            encoding=self.encoding,
            separator=self.separator,
            layer=self.layer,
            data_split=self.split,
            keep_rows=self.keep.split("+") if self.keep else (),
            include_foreign=self.foreign,
        )

    def chosen(self, gold: Reference) -> Reference:
        """Return the entries that count: first analyses, formed so, then a sample, if asked for.

        Exempt words that the gold does not have are a warning.
        """
        from morphgraph.score.breakdowns import only_formed

        gold = gold.first_analyses() if self.first else gold
        gold = only_formed(gold, self.formation) if self.formation else gold
        exempt = frozenset(exempt_words(self.exempt or ()))
        if unknown := sorted(exempt - {entry.word for entry in gold.entries}):
            named = shortened(", ".join(unknown), 100)
            of = f"{len(unknown):,} of {counted(len(exempt), 'exempt word')}"
            warnings.warn(f"{gold.name} lacks {of}: {named}", stacklevel=2)
        gold = replace(gold, exempt=exempt) if exempt else gold
        return gold if self.sample is None else gold.sample(self.sample, self.seed)


class ReadingOptions(TypedDict, total=False):
    """`Reading` as keywords."""

    format: str | None
    encoding: str | None
    separator: str | None
    layer: str | None
    split: Literal["train", "dev", "test"] | None
    keep: str | None
    foreign: bool
    first: bool
    formation: str | None
    sample: int | None
    seed: int
    exempt: str | list[str] | None


def exempt_words(given: str | os.PathLike[str] | Iterable[str]) -> list[str]:
    """Return the words of a list, or of a file with one a line.

    >>> exempt_words(["butterfly", "understand"])
    ['butterfly', 'understand']
    """
    if not isinstance(given, str | os.PathLike):
        return list(given)
    lines = decode_utf8(read_bytes(given), str(given)).splitlines()
    return [line.strip() for line in lines if line.strip()]
