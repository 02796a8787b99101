"""AdaptBPE: a number of a tokeniser's own merges, chosen for a corpus; types and ids stay.

The algorithm is that of the program that its authors released, which the paper's text describes in
part. Source: Liyanage & Yvon 2026, arXiv 2601.21665.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import Field

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum, document_field
from morphgraph.core.text import counted
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.hugging_face import from_tokenizer_json, to_tokenizer_json
from morphgraph.graph.atoms import atoms_of
from morphgraph.segment.bte import Bte, saved_tokeniser
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.segmenter import Inventory
from morphgraph.tokeniser.merging import segment_merging, words_of_atoms
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, called

PartPair = tuple[int, int]


class AdaptBPEParameters(Parameters):
    """How many merges to choose, and which may be exchanged."""

    merges: int = Field(default=4_000, ge=0, description="Choose this many of its merges.")
    leaves: bool = Field(
        default=True,
        description="Give up only merges whose type no chosen merge needs; off: as released.",
    )


_USUAL = AdaptBPEParameters()


class _Corpus:
    """The pieces of a corpus as strings, a character a token, which merges are applied to."""

    def __init__(self, pieces: Mapping[tuple[int, ...], int]) -> None:
        self.pieces = ["".join(map(_character, piece)) for piece in pieces]
        self.counts = list(pieces.values())
        # Where pairs and types have been, at least: none is ever taken out.
        self._pairs: dict[str, set[int]] = defaultdict(set)
        self._types: dict[str, set[int]] = defaultdict(set)
        for number, piece in enumerate(self.pieces):
            for at in range(len(piece) - 1):
                self._pairs[piece[at : at + 2]].add(number)

    def merge(self, pair: PartPair, result: int) -> int:
        """Apply a merge from the left, wherever it can be; return how often."""
        applied, made = 0, _character(result)
        parts = "".join(map(_character, pair))
        for number in self._pairs.get(parts, ()):
            old = self.pieces[number]
            new = old.replace(parts, made)
            if len(new) < len(old):
                applied += (len(old) - len(new)) * self.counts[number]
                self.pieces[number] = new
                self._types[made].add(number)
                at = new.find(made)
                while at >= 0:
                    for start in (at - 1, at) if at else (at,):
                        self._pairs[new[start : start + 2]].add(number)
                    at = new.find(made, at + 1)
        return applied

    def undo(self, result: int, parts: PartPair) -> dict[int, str]:
        """Give every token of a type its parts; return the pieces as they were."""
        was, made = {}, _character(result)
        for number in self._types.get(made, ()):
            old = self.pieces[number]
            if made in old:
                was[number] = old
                new = old.replace(made, "".join(map(_character, parts)))
                self.pieces[number] = new
                for at in range(len(new) - 1):
                    self._pairs[new[at : at + 2]].add(number)
        return was

    def restore(self, was: Mapping[int, str]) -> None:
        """Set pieces back to what they were."""
        for number, piece in was.items():
            self.pieces[number] = piece

    def neighbours(self) -> dict[PartPair, int]:
        """Count pairs of neighbours, in order of first occurrence."""
        pairs: Counter[str] = Counter()
        for piece, count in zip(self.pieces, self.counts, strict=True):
            for at in range(len(piece) - 1):
                pairs[piece[at : at + 2]] += count
        return {(ord(pair[0]) - 1, ord(pair[1]) - 1): count for pair, count in pairs.items()}


def _character(number: int) -> str:
    """Return the character that stands for a token; −1 is none that a merge has."""
    return chr(number + 1)


def choose_merges(
    merges: Mapping[PartPair, int],
    atoms: Iterable[int],
    pieces: Mapping[tuple[int, ...], int],
    count: int,
    leaves: bool = True,
) -> list[PartPair]:
    """Choose ``count`` merges, given with results by rank, for pieces of tokens and their counts.

    First those of lowest rank whose parts are ``atoms`` or made before. They are applied one after
    the other; then each, from the one applied least, may go for the merge left out whose parts are
    neighbours most often, if these are more than it was applied: its tokens become its parts, and
    the other is applied and goes last. If that is nowhere, the first stays, and the other is lost.
    Neither count is renewed. ``leaves``: a merge stays if another one needs its result (ours).
    Source: Liyanage & Yvon 2026, the released program.

    >>> merges = {(0, 1): 6, (2, 3): 7, (4, 5): 8}  # ab, xy, cd
    >>> choose_merges(merges, range(6), {(0, 1): 2, (2, 3): 1, (4, 5): 5}, 2)
    [(0, 1), (4, 5)]
    """
    known = set(atoms)
    chosen: list[PartPair] = []
    for pair, result in merges.items():
        if len(chosen) < count and known.issuperset(pair):
            chosen.append(pair)
            known.add(result)
    corpus = _Corpus(pieces)
    applied = [(corpus.merge(pair, merges[pair]), rank) for rank, pair in enumerate(chosen)]
    rest = merges.keys() - set(chosen)
    counted_pairs = [(n, pair) for pair, n in corpus.neighbours().items() if pair in rest]
    candidates = sorted(counted_pairs, key=lambda one: -one[0])
    kept = dict.fromkeys(chosen)
    users = Counter(part for pair in chosen for part in pair)
    makers = Counter(merges[pair] for pair in chosen)
    following = iter(candidates)
    best = next(following, None)
    for times, rank in sorted(applied):
        if best is None or best[0] <= times:
            break
        pair = chosen[rank]
        result = merges[pair]
        if leaves and users[result] and makers[result] == 1:
            continue
        other = best[1]
        best = next(following, None)
        was = corpus.undo(result, pair)
        if not corpus.merge(other, merges[other]):
            corpus.restore(was)
            continue
        for each, by in ((pair, -1), (other, 1)):
            users.update({part: by * each.count(part) for part in set(each)})
            makers[merges[each]] += by
        del kept[pair]
        kept[other] = None
    return list(kept)


def pieces_of(tokeniser: BpeTokeniser, counts: WordCounts) -> dict[tuple[int, ...], int]:
    """Return the pieces of counted words as atoms, with their counts, in order of occurrence.

    A character outside the alphabet is a negative number, which no merge has.
    """
    words = tokeniser.encode(list(counts.words))
    atoms = np.where(words.atoms == UNKNOWN, -1, words.atoms).tolist()
    offsets = words.piece_offsets.tolist()
    found: Counter[tuple[int, ...]] = Counter()
    owner = words.word_of_atom.tolist()
    for start, end in pairwise(offsets):
        if end > start:
            found[tuple(atoms[start:end])] += int(counts.counts[owner[start]])
    return {piece: count for piece, count in found.items() if count > 0}


class AdaptBPE(Bte):
    """BPE with some of a tokeniser's own merges, in an order of their own; its ids are as before.

    ``merges``: pairs of types. The graph's present state is used. ``dead``: types that a chosen
    merge makes, but that their own string is not merged into. `MorphGraphError` for a pair that is
    no merge. Source: Liyanage & Yvon 2026.

    >>> from morphgraph.corpus.counts import WordCounts
    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> types, merges = [*"abcdxy", "ab", "xy", "cd"], ["ab", "xy", "cd"]
    >>> counts = WordCounts(["ab", "xy", "cd"], [2, 1, 5])
    >>> made = AdaptBPE.by_counts(tokeniser_of_types("t", types, merges), counts, merges=2)
    >>> made.merges, made.dead
    ([('a', 'b'), ('c', 'd')], [])
    """

    method = "adaptbpe"
    name = "AdaptBPE"

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        merges: Iterable[Sequence[str]],
        settings: AdaptBPEParameters = _USUAL,
    ) -> None:
        self.original, self.settings = tokeniser.copy(), settings
        self.merges = [(str(one), str(other)) for one, other in merges]
        known = {
            tuple(self.original.types[part] for part in merge.parts)
            for merge in self.original.graph.merges().values()
        }
        wrong = next((pair for pair in self.merges if pair not in known), None)
        if wrong is not None:
            raise MorphGraphError(
                f"“{wrong[0]} {wrong[1]}” is not a merge of {tokeniser.name}. Choose one that is."
            )
        document = json.loads(to_tokenizer_json(self.original)[0])
        document["model"]["merges"] = [list(pair) for pair in self.merges]
        document["model"].pop("levels", None)
        super().__init__(from_tokenizer_json(json.dumps(document).encode(), tokeniser.name))
        self.below = self.original
        self._checksum = checksum(json.dumps(self.merges).encode())

    @property
    def dead(self) -> list[str]:
        """Types that a chosen merge makes, but that their own string is not merged into."""
        here = {merge.result for merge in self.tokeniser.graph.merges().values()}
        types, ids = self.tokeniser.types, self.tokeniser.graph.ids
        before = self.original.graph
        atoms, offsets = (each.tolist() for each in atoms_of(before))
        paths = {}
        for number in sorted(here):
            there = before.ids[types[number]]
            own = atoms[offsets[there] : offsets[there + 1]]
            paths[number] = [ids[before.types[atom]] for atom in own]
        # The merges alone, also where a piece that is a type would stay whole.
        words = words_of_atoms([types[number] for number in paths], [*paths.values()])
        graph = self.tokeniser.graph
        ends = segment_merging(graph, words).token_at[words.word_offsets[1:] - 1].tolist()
        return [types[n] for n, end in zip(paths, ends, strict=True) if n != end]

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {**dict(self.settings), "chosen": self._checksum}

    @property
    def types(self) -> Sequence[str]:
        return self.tokeniser.types

    def warning(self) -> str:
        """Tell which types cannot be formed although a merge makes them; else empty."""
        dead = self.dead
        if not dead:
            return ""
        shown = ", ".join(map(self.tokeniser.readable, dead[:5]))
        return (
            f"{counted(len(dead), 'type')} of the chosen merges cannot be formed ({shown}"
            f"{', …' if len(dead) > 5 else ''}): a part was removed, or is made too late."
        )

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types that no merge is left for, or that are not merged into."""
        graph = self.tokeniser.graph
        made = {self.original.types[m.result] for m in self.original.graph.merges().values()}
        here = {merge.result for merge in graph.merges().values()}
        gone = {graph.ids[text] for text in made if text in graph} - here
        found = gone | {graph.ids[text] for text in self.dead}
        return sorted(found & inventory.spelled.keys())

    def exported(self, unchanged: bool) -> ExportedModel:
        made = super().exported(unchanged)
        return replace(made, method=called(self.name, self.parameters), signature=self.signature())

    def document(self) -> dict[str, Any]:
        held = Bte(self.original).document()
        chosen = [list(pair) for pair in self.merges]
        return {**held, "method": self.method, **self.parameters, "merges_chosen": chosen}

    @classmethod
    def by_counts(cls, tokeniser: BpeTokeniser, counts: WordCounts, **settings: Any) -> Self:
        """Choose merges by counted words; `MorphGraphError` for tuple merges."""
        given, graph = AdaptBPEParameters(**settings), tokeniser.graph
        if graph.has_tuples:
            raise MorphGraphError(
                f"{tokeniser.name} has tuple merges, but AdaptBPE chooses pair merges. Make it "
                "portable first."
            )
        merges: dict[PartPair, int] = {}
        for merge in graph.merges().values():
            one, other = merge.parts
            merges.setdefault((one, other), merge.result)
        symbols = getattr(tokeniser.preprocessor.sentencepiece, "symbols", ())
        atoms = [
            number
            for number, text in enumerate(graph.types)
            if len(text.removesuffix(tokeniser.suffix) or text) == 1
            or text in BYTES
            or text in symbols
        ]
        pieces = pieces_of(tokeniser, counts)
        pairs = choose_merges(merges, atoms, pieces, given.merges, given.leaves)
        return cls(tokeniser, [(graph.types[a], graph.types[b]) for a, b in pairs], given)

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        pairs = document_field(document, "merges_chosen", list)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise FileFormatError(
                "model", "field merges_chosen", "it is not a list of pairs", "Save the model again."
            )
        given: Any = {name: document.get(name) for name in AdaptBPEParameters.model_fields}
        return cls(saved_tokeniser(document), pairs, AdaptBPEParameters(**given))


ADAPTBPE = Method(
    "adaptbpe",
    "AdaptBPE",
    "BPE with a given number of the tokeniser's own merges: those that a corpus uses least are "
    "exchanged for others that it would use more.",
    AdaptBPE,
    "merges",
    AdaptBPEParameters,
    build=AdaptBPE.by_counts,
    counts=True,
    source="Liyanage & Yvon 2026",
    seconds=10.0,
    standalone="morphgraph.standalone.merges:Merging",
)
