"""Tables of a reference: its entries, and what they consist of."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from morphgraph.core.text import count_text, counted, percent
from morphgraph.reference.entry import Entry, Reference, describe_reference
from morphgraph.tables.model import Column, Table, plain_table
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import report_of, text_of


@dataclass(frozen=True)
class ShownReference(Result):
    """A reference, what it consists of, and at most ``limit`` of its entries; 0 for all."""

    reference: Reference
    limit: int = 0

    @property
    def _shown(self) -> Sequence[Entry]:
        return self.reference.entries[: self.limit or None]

    def table(self) -> Table:
        """Return the entries."""
        return entries_table(self._shown)

    def report(self, width: int | None = None) -> str:
        """Return the entries, and what they all consist of."""
        left = len(self.reference) - len(self._shown)
        lines = [text_of(self.table(), width)]
        if left:
            lines.append(f"… {counted(left, 'more entry', 'more entries')}")
        return "\n".join([*lines, f"\n{report_of(description_table(self.reference), width)}"])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON data."""
        known = self.reference
        about = ("name", "format", "checksum", "partial", "is_silver", "faults")
        return {
            **{name: getattr(known, name) for name in about},
            "layers": dict(known.layers),
            "description": asdict(describe_reference(known)),
            "entries": [asdict(entry) for entry in self._shown],
            "skipped": [asdict(skip) for skip in known.left_out],
        }


def entries_table(entries: Sequence[Entry]) -> Table:
    """Return a row for each entry, with the columns that any of them fills."""
    columns = {
        "morphs": [" ".join(entry.morphs) for entry in entries],
        "kinds": [" ".join(k.value if k else "–" for k in entry.kinds or ()) for entry in entries],
        **{
            name.replace("_", " "): [" ".join(getattr(entry, name) or ()) for entry in entries]
            for name in ("whole_words", "underlying", "processes")
        },
        "count": ["" if entry.count is None else count_text(entry.count) for entry in entries],
    }
    names = [name for name in columns if name == "morphs" or any(columns[name])]
    titles = [Column("line", "written"), Column("word")]
    titles += [Column(name, "written" if name == "count" else "text") for name in names]
    words = [(f"{entry.line:,}", entry.word) for entry in entries]
    told = zip(*(columns[name] for name in names), strict=True)
    rows = [(*word, *texts) for word, texts in zip(words, told, strict=True)]
    return plain_table("Entries", titles, rows, names=2)


def description_table(reference: Reference) -> Table:
    """Return what the entries of a reference consist of, a row each."""
    description = describe_reference(reference)
    by_morphs = description.morphs_per_word.items()
    synthesis = description.index_of_synthesis
    numbers = {
        "entries": description.entries,
        "words": description.words,
        "words with several analyses": description.words_with_several_analyses,
        **{f"entries of {n} morph{'s' * (n != 1)}": k for n, k in by_morphs},
        **{f"morphs: {kind}": number for kind, number in description.kinds.items() if number},
        "morphs without a kind": description.morphs_without_kind if description.kinds else 0,
        **{f"layer {name or '(without a name)'}": lines for name, lines in reference.layers},
    }
    affixes = {"prefixes": description.prefixes, "suffixes": description.suffixes}
    told = {
        **{name: f"{number:,}" for name, number in numbers.items() if number},
        "morphs per entry": "n/a" if synthesis != synthesis else f"{synthesis:.3f}",
        "entries with whole words, %": percent(description.whole_word_share),
        **{n: ", ".join(f"{a} {k:,}" for a, k in each) for n, each in affixes.items() if each},
        "longest word": description.longest_word,
    }
    notes = [f"skipped {skip}" for skip in reference.left_out]
    if reference.partial_note:
        notes.insert(0, reference.partial_note)
    columns = [Column(f"{reference.name}, {reference.format}"), Column("")]
    return plain_table("Description", columns, [*told.items()], notes=tuple(notes))
