"""References in tests: read from lines, shown as strings, and written as plain files."""

from itertools import compress

from morphgraph.reference.readers import read_reference


def read(*lines, **options):
    return read_reference("\n".join(lines).encode(), **options)


def one(line, **options):
    (entry,) = read(line, **options).entries
    return entry


def told(entry):
    """Morphs, kinds, whole words and underlying morphemes as strings; processes as they are."""
    return (
        " ".join(entry.morphs),
        entry.kinds and " ".join(kind.value if kind else "none" for kind in entry.kinds),
        entry.whole_words and " ".join(entry.whole_words),
        entry.underlying and " ".join(entry.underlying),
        entry.processes,
    )


def skipped(reference):
    return [(s.reason, s.count, s.first_line) for s in reference.skipped]


def write_plain(reference):
    """The words and morphs of a reference; whole words, counts and kinds if there are any."""
    has_kinds = any(entry.kinds is not None for entry in reference.entries)
    shown = [True, True, reference.has_whole_words, reference.has_counts, has_kinds]
    rows = [("word", "morphs", "whole_words", "count", "kinds"), *map(cells, reference.entries)]
    return "\n".join("\t".join(compress(row, shown)) for row in rows) + "\n"


def cells(entry):
    assert all(part.split() == [part] for part in (entry.word, *entry.morphs))
    assert entry.kinds is None or len(entry.kinds) == len(entry.morphs)
    return (
        entry.word,
        " ".join(entry.morphs),
        " ".join(entry.whole_words or ()),
        "" if entry.count is None else repr(entry.count),
        " ".join(kind.value if kind else "none" for kind in entry.kinds or ()),
    )
