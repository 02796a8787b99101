"""No merge at all: every atom is a token."""

from collections.abc import Iterator

from morphgraph.standalone.merges import Atom, Merged, Merging


class Atoms(Merging):
    """Each atom of a piece as a token of its own."""

    def _merged(self, atoms: list[Atom]) -> Iterator[Merged]:
        for place, (number, *_) in enumerate(atoms):
            yield number, place, place
