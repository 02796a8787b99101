"""Gold segmentations in memory: morphemes and their kinds, entries, references, statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from math import nan
from random import Random

from morphgraph.core.cache import Cache
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.text import base_name, counted, visible


class MorphemeKind(StrEnum):
    """The role of a morpheme among its siblings."""

    FREE = "free"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    INTERFIX = "interfix"
    INFIX = "infix"
    HYPHEN = "hyphen"


def processes_of(kinds: Sequence[MorphemeKind | None]) -> tuple[str, ...]:
    """Return what formed a word of derivational affixes: "derivation", "compound" or both."""
    is_derived = MorphemeKind.PREFIX in kinds or MorphemeKind.SUFFIX in kinds
    is_compound = kinds.count(MorphemeKind.FREE) > 1
    return ("derivation",) * is_derived + ("compound",) * is_compound


def resolve_kinds(kinds: Sequence[MorphemeKind]) -> list[MorphemeKind]:
    """Count an interfix directly before a suffix as a suffix, and a hyphen beside an affix too."""
    resolved = list(kinds)
    for i, kind in enumerate(resolved):  # un- - American: the hyphen passes the prefix on
        if kind is MorphemeKind.HYPHEN and i and resolved[i - 1] is MorphemeKind.PREFIX:
            resolved[i] = MorphemeKind.PREFIX
    linking = (MorphemeKind.INTERFIX, MorphemeKind.HYPHEN)
    for i in range(len(resolved) - 2, -1, -1):
        if resolved[i + 1] is MorphemeKind.SUFFIX and resolved[i] in linking:
            resolved[i] = MorphemeKind.SUFFIX
    return resolved


def joins_left(resolved: Sequence[MorphemeKind]) -> list[bool]:
    """Return whether each sibling belongs to the whole word of the one before it.

    A prefix joins what follows, be it an interfix, and a suffix, infix or hyphen what precedes; an
    interfix stands alone otherwise.
    """
    left = (MorphemeKind.SUFFIX, MorphemeKind.INFIX, MorphemeKind.HYPHEN)
    return [
        i > 0 and (kind in left or resolved[i - 1] is MorphemeKind.PREFIX)
        for i, kind in enumerate(resolved)
    ]


def pieces(kinds: Sequence[MorphemeKind]) -> list[int]:
    """Return the index of the whole word of each morpheme in a flat list, from 0."""
    numbers: list[int] = []
    for joins in joins_left(resolve_kinds(kinds)):
        numbers.append(numbers[-1] + (not joins) if numbers else 0)
    return numbers


@dataclass(frozen=True, slots=True)
class Entry:
    """One analysed word: its surface morphs, which concatenate to it, and its whole words.

    `morphs` are empty where there is no gold: the word then counts in no score.
    `whole_words` is None where the source does not distinguish free and bound morphemes, `count`
    (the corpus count) where it has none. `line` is 1-based. `kinds` are those of the morphs, None
    for one without a morpheme; it is None where the source does not say. `processes` are those that
    formed the word ("inflection", "derivation", "compound"), None where the source does not say.
    `underlying` are the source's own morphemes, None where they are the morphs. `linked` are the
    words, or numbers of families, that the source links it to, its base above all, None where a
    source has no links. `tree` is CELEX's tree of its morphemes, in brackets, "" elsewhere. The
    last six are ignored by ==.

    >>> entry = Entry("unbreakable", ("un", "break", "able"), ("unbreakable",), line=7)
    >>> entry.word, entry.morphs, entry.whole_words, entry.line
    ('unbreakable', ('un', 'break', 'able'), ('unbreakable',), 7)
    """

    word: str
    morphs: tuple[str, ...]
    whole_words: tuple[str, ...] | None = None
    count: float | None = None
    line: int = field(default=0, compare=False)
    kinds: tuple[MorphemeKind | None, ...] | None = field(default=None, compare=False)
    processes: tuple[str, ...] | None = field(default=None, compare=False)
    underlying: tuple[str, ...] | None = field(default=None, compare=False)
    linked: tuple[str, ...] | None = field(default=None, compare=False)
    tree: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A reason for skipping lines, their number, and the first of them (1-based)."""

    reason: str
    count: int
    first_line: int

    def __str__(self) -> str:
        return f"{self.count:,}: {self.reason} (first: line {self.first_line:,})"


@dataclass(frozen=True)
class Reference:
    """A gold segmentation: the entries of one file, in its order, and what was skipped.

    `checksum` holds the first 12 hexadecimal digits of the SHA-256 of the file's bytes; `skipped`
    is sorted by count, the largest first. A word with several analyses has several entries.
    `partial` names what the source gives of a word if it lacks boundaries ("one affix a word"),
    and is "" elsewhere. `lines` is the number of lines of the file, 0 if not known. `unaligned` are
    entries without morphs: words with a space or without a segmentation, whose `underlying`
    morphemes count only in scores against these. `language` is the ISO 639-3 code that the
    catalogue gives, "" where the language is not known. `is_silver`: a program found the morphs, at
    least some of them. `layers` are those that a source has, with their lines; `faults` is what is
    known to be wrong with it. `notice` says where the file may have been misread, with some of its
    lines. `header` is a first line that was left out as it looks like a header. `exempt` are words
    that are scored, but that nothing learns from.
    """

    name: str
    format: str
    entries: tuple[Entry, ...]
    skipped: tuple[Skipped, ...]
    checksum: str
    partial: str = ""
    lines: int = 0
    unaligned: tuple[Entry, ...] = ()
    language: str = ""
    is_silver: bool = False
    layers: tuple[tuple[str, int], ...] = ()
    faults: str = ""
    notice: str = ""
    header: Skipped | None = None
    exempt: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """One line; never the entries."""
        number = counted(len(self), "entry", "entries")
        return f"<Reference {visible(self.name)}: {self.format}, {number}>"

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def cache(self) -> Cache:
        """What was derived from the entries."""
        return Cache()

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """What was skipped, and the header that is one by its looks, for people to see."""
        return (*self.skipped, *([self.header] if self.header else []))

    @cached_property
    def has_gold(self) -> bool:
        """Whether any entry gives its morphs; a list of words alone has none."""
        return any(entry.morphs for entry in self.entries)

    @property
    def has_whole_words(self) -> bool:
        """Whether any entry gives its whole words."""
        return any(entry.whole_words is not None for entry in self.entries)

    @property
    def has_counts(self) -> bool:
        """Whether any entry has a corpus count."""
        return any(entry.count is not None for entry in self.entries)

    @property
    def partial_note(self) -> str:
        """The caveat on precision and F1 where the gold is partial or has faults, "" elsewhere.

        >>> gold = Reference("gold.tsv", "plain", (), (), "0" * 12, "one affix a word")
        >>> gold.partial_note.partition(":")[0]
        'The gold is partial (one affix a word)'
        """
        if self.is_silver:
            return (
                "Silver, not gold: a program found these morphs in word counts, so scores are for "
                "a first look."
            )
        if not self.partial:
            return self.faults
        return (
            f"The gold is partial ({self.partial}): splits at other true boundaries count as "
            f"wrong, so precision and F1 are too low. {self.faults}"
        ).rstrip()

    def first_analyses(self) -> Reference:
        """Keep only the first entry of each word (docs/reference/formats.md).

        >>> twice = (Entry("undoable", ("un", "doable")), Entry("undoable", ("undo", "able")))
        >>> Reference("gold.tsv", "plain", twice, (), "0" * 12).first_analyses().entries[0].morphs
        ('un', 'doable')
        """
        first: dict[str, Entry] = {}
        for entry in (*self.entries, *self.unaligned):
            first.setdefault(entry.word, entry)
        kept = tuple(first.values())
        return replace(
            self,
            entries=tuple(entry for entry in kept if entry.morphs),
            unaligned=tuple(entry for entry in kept if not entry.morphs),
        )

    def sample(self, entries: int, seed: int = 0) -> Reference:
        """Draw entries at random without replacement, keeping their order; all if too few.

        The same seed gives the same entries. The name says what was drawn, as scores depend on it.
        `MorphGraphError` for a number below 1.
        """
        if entries < 1:
            raise MorphGraphError(f"A sample of {entries} entries is too small. Give 1 or more.")
        if entries >= len(self):
            return self
        drawn = sorted(Random(seed).sample(range(len(self)), entries))
        return replace(
            self,
            name=f"{self.name} ({entries:,} of {len(self):,} entries, seed {seed})",
            entries=tuple(self.entries[place] for place in drawn),
            unaligned=(),
        )


def join_references(references: Sequence[Reference]) -> Reference:
    """Concatenate several references; a single one is returned unchanged.

    An entry that is in two of them counts twice, as a word with several analyses does. The name
    lists their names, without folders; the checksum is made of theirs, so their order matters; what
    was skipped is reported for each. The result is partial where one of them is.
    """
    if len(references) == 1:
        return references[0]
    names = [base_name(each.name) for each in references]
    parts = list(zip(names, references, strict=True))
    skipped = [
        replace(skip, reason=f"{name}: {skip.reason}")
        for name, each in parts
        for skip in each.left_out
    ]
    partial = [f"{name}: {each.partial}" for name, each in parts if each.partial]
    return Reference(
        name=" + ".join(names),
        format=" + ".join(dict.fromkeys(each.format for each in references)),
        entries=tuple(entry for each in references for entry in each.entries),
        skipped=tuple(sorted(skipped, key=lambda skip: -skip.count)),
        checksum=checksum(" ".join(each.checksum for each in references).encode()),
        partial=", ".join(partial),
        is_silver=any(each.is_silver for each in references),
        faults=" ".join(dict.fromkeys(each.faults for each in references if each.faults)),
        notice=" ".join(f"{name}: {each.notice}" for name, each in parts if each.notice),
        unaligned=tuple(entry for each in references for entry in each.unaligned),
        language=references[0].language if len({e.language for e in references}) == 1 else "",
    )


TOP = 20  # most frequent affixes listed


@dataclass(frozen=True)
class Description:
    """Statistics of a reference; a mean or share of nothing is NaN.

    `words` are distinct; `words_with_several_analyses` have entries with different morphs.
    `morphs_per_word` counts entries by number of morphs, ascending; `index_of_synthesis` is their
    mean (Greenberg 1960). `whole_word_share` of the entries give their whole words, and
    `entries_with_kinds` give kinds: only their morphs are in `kinds` (all of `MorphemeKind`, by
    value) and `morphs_without_kind`. `prefixes` and `suffixes` are the most frequent ones in lower
    case, with counts, the most frequent first and equal ones alphabetically. `longest_word` is ""
    without entries, and the first of several.
    """

    entries: int
    words: int
    words_with_several_analyses: int
    morphs_per_word: dict[int, int]
    index_of_synthesis: float
    whole_word_share: float
    entries_with_kinds: int
    kinds: dict[str, int]
    morphs_without_kind: int
    longest_word: str
    prefixes: tuple[tuple[str, int], ...]
    suffixes: tuple[tuple[str, int], ...]


def describe_reference(reference: Reference) -> Description:
    """Compute the statistics of a reference."""
    entries = reference.entries
    sizes = Counter(len(entry.morphs) for entry in entries)
    analyses: dict[str, tuple[str, ...]] = {}
    several: set[str] = set()
    kinds: Counter[MorphemeKind | None] = Counter()
    affixes: Counter[tuple[MorphemeKind | None, str]] = Counter()
    with_kinds = 0
    for entry in entries:
        if analyses.setdefault(entry.word, entry.morphs) != entry.morphs:
            several.add(entry.word)
        if entry.kinds is None:
            continue
        with_kinds += 1
        kinds.update(entry.kinds)
        affixes.update(zip(entry.kinds, map(str.lower, entry.morphs), strict=True))
    whole = sum(entry.whole_words is not None for entry in entries)
    frequent = sorted((-times, morph, kind) for (kind, morph), times in affixes.items() if kind)
    prefixes, suffixes = (
        tuple((morph, -times) for times, morph, each in frequent if each is kind)[:TOP]
        for kind in (MorphemeKind.PREFIX, MorphemeKind.SUFFIX)
    )
    return Description(
        entries=len(entries),
        words=len(analyses),
        words_with_several_analyses=len(several),
        morphs_per_word=dict(sorted(sizes.items())),
        index_of_synthesis=_ratio(sum(n * times for n, times in sizes.items()), len(entries)),
        whole_word_share=_ratio(whole, len(entries)),
        entries_with_kinds=with_kinds,
        kinds={kind.value: kinds[kind] for kind in MorphemeKind} if with_kinds else {},
        morphs_without_kind=kinds[None],
        longest_word=max(analyses, key=len, default=""),
        prefixes=prefixes,
        suffixes=suffixes,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan
