"""References as plain files, to be read again."""

from itertools import compress

from morphgraph.reference.entry import Entry, Reference


def write_plain(reference: Reference) -> str:
    """The words and morphs of a reference; whole words, counts and kinds if there are any."""
    has_kinds = any(entry.kinds is not None for entry in reference.entries)
    shown = [True, True, reference.has_whole_words, reference.has_counts, has_kinds]
    rows = [("word", "morphs", "whole_words", "count", "kinds"), *map(cells, reference.entries)]
    return "\n".join("\t".join(compress(row, shown)) for row in rows) + "\n"


def cells(entry: Entry) -> tuple[str, ...]:
    assert all(part.split() == [part] for part in (entry.word, *entry.morphs))
    assert entry.kinds is None or len(entry.kinds) == len(entry.morphs)
    return (
        entry.word,
        " ".join(entry.morphs),
        " ".join(entry.whole_words or ()),
        "" if entry.count is None else repr(entry.count),
        " ".join(kind.value if kind else "none" for kind in entry.kinds or ()),
    )
