"""Several references as one: inflections and derivations of a language, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.reference.entry import Reference


def join_references(references: Sequence[Reference]) -> Reference:
    """All entries of several references, one after the other; one reference is returned as it is.

    An entry that is in two of them counts twice, as a word with several analyses does. The name
    lists their names, without folders; the checksum is made of theirs, so their order matters; what
    was skipped is reported for each. The result is partial where one of them is. `MorphGraphError`
    if there is none.

    >>> from morphgraph.reference.readers import read_reference
    >>> one = read_reference("undo\\tun do".encode(), name="a.tsv")
    >>> other = read_reference("doing\\tdo ing".encode(), name="b.tsv")
    >>> joined = join_references([one, other])
    >>> joined.name, [entry.word for entry in joined.entries]
    ('a.tsv + b.tsv', ['undo', 'doing'])
    """
    if not references:
        raise MorphGraphError("There are no references to join. Give at least one.")
    if len(references) == 1:
        return references[0]
    names = [each.name.replace("\\", "/").rsplit("/", 1)[-1] for each in references]
    parts = list(zip(names, references, strict=True))
    skipped = [
        replace(skip, reason=f"{name}: {skip.reason}")
        for name, each in parts
        for skip in each.skipped
    ]
    partial = [f"{name}: {each.partial}" for name, each in parts if each.partial]
    return Reference(
        name=" + ".join(names),
        format=" + ".join(dict.fromkeys(each.format for each in references)),
        entries=tuple(entry for each in references for entry in each.entries),
        skipped=tuple(sorted(skipped, key=lambda skip: -skip.count)),
        checksum=checksum(" ".join(each.checksum for each in references).encode()),
        partial=", ".join(partial),
    )
