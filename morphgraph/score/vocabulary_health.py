"""What a vocabulary is made of: its types without their marker, and which of them are useless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from morphgraph.core.shared import Same, Shared
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.type_atoms import atoms_of
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.score.compression import Compression, NamedCounts, compress
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First, Longest
from morphgraph.segment.picky import Picky
from morphgraph.segment.trimmed import Demolishing
from morphgraph.segment.wordpiece import Greedy, VocabularySegmenter, WordPiece
from morphgraph.tokeniser.byte_level import CHAR_TO_BYTE
from morphgraph.tokeniser.document import BYTES
from morphgraph.tokeniser.loading import detect_marker
from morphgraph.tokeniser.merging import never_formed, unreachable_types
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmenter, Words

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.reference.entry import Reference

_BYTES = frozenset(BYTES)
_MARKERS = ("Ġ", "▁", "##")
_AFFIXES = frozenset({MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX})
_MANY_CAPITALS = 0.01
"""So large a share of types with capitals matters on a corpus without any."""
Chain = tuple[int, ...]


@dataclass(frozen=True)
class ReferenceStrings:
    """The distinct strings of a reference: morphs, with how many entries have them, and so on."""

    morphs: Mapping[str, int]
    affixes: frozenset[str] | None
    words: frozenset[str]

    @classmethod
    def of(cls, reference: Reference) -> ReferenceStrings:
        told = [entry for entry in reference.entries if entry.kinds]
        affixes = frozenset(
            morph
            for entry in told
            for morph, kind in zip(entry.morphs, entry.kinds or (), strict=False)
            if kind in _AFFIXES
        )
        return cls(
            Counter(morph for entry in reference.entries for morph in set(entry.morphs)),
            affixes if told else None,
            frozenset(entry.word for entry in reference.entries),
        )


_strings = Shared()
"""Those of a reference are the same for all vocabularies."""


class VocabularyHealth:
    """The vocabulary of a segmenter, on its own, on a corpus, and against a reference.

    ``label`` names it in tables. Without a corpus or reference, the figures that need one are
    undefined. A segmenter whose graph is edited later needs a new one.

    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> from morphgraph.corpus.counts import WordCounts
    >>> bpe = Bte(tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")]))
    >>> health = VocabularyHealth(bpe, NamedCounts(WordCounts(["abc", "a"], [5, 1]), "my words"))
    >>> [[health.inventory.texts[number] for number in chain] for chain in health.chains]
    [['b', 'ab', 'abc'], ['c', 'abc']]
    """

    def __init__(
        self,
        segmenter: Segmenter,
        corpus: NamedCounts | None = None,
        reference: Reference | None = None,
        *,
        label: str | None = None,
    ) -> None:
        self.segmenter = segmenter
        self.label = segmenter.name if label is None else label
        self.corpus = corpus
        self.reference = reference
        self.tokeniser_signature = segmenter.signature()
        self.inventory: Inventory = inventory_of(segmenter)
        self.size = segmenter.vocabulary_size
        self.compression: Compression | None = None
        if corpus is not None:
            self.compression = compress(segmenter, corpus.counts)
        has_tokens = self.compression is not None and self.compression.tokens
        self._used = self.compression if has_tokens else None
        found = unreachable(segmenter, self.inventory)
        self.unreachable = found and [n for n in found if n in self.inventory.spelled]
        self.chains = self._chains()
        self.scaffolds = self._scaffolds()
        self._gold = None
        if reference is not None:
            self._gold = _strings.held(Same(reference), lambda: ReferenceStrings.of(reference))

    @property
    def gold(self) -> ReferenceStrings | None:
        """The strings of the reference, if there is one."""
        return None if self._gold is None else self._gold.value

    # ------------------------------------------------------------------------------ parts

    @cached_property
    def duplicates(self) -> list[tuple[int, int]] | None:
        """Ids of types that differ in the marker only; None where there is no marker."""
        if not self.inventory.marker:
            return None
        spelled, marked = self.inventory.spelled, self.inventory.marked
        plain = {text: number for number, text in spelled.items() if number not in marked}
        pairs = ((number, plain.get(text)) for number, text in spelled.items() if number in marked)
        return [(number, other) for number, other in pairs if other is not None]

    @cached_property
    def never_formed(self) -> list[int] | None:
        """Ids of types that merges make, but never form; None without merges."""
        graph = self.inventory.graph
        if graph is None:
            return None
        return [number for number in never_formed(graph) if number in self.inventory.spelled]

    @property
    def never_used(self) -> list[int] | None:
        """Ids of types that are no token of the corpus; None without a corpus."""
        return None if self._used is None else unused_types(self.inventory, self._used)

    @cached_property
    def with_capitals(self) -> list[int]:
        """Ids of types with a capital letter."""
        bodies = self.inventory.bodies.items()
        return [number for number, body in bodies if body is not None and body != body.lower()]

    @cached_property
    def misses_capitals(self) -> bool:
        """Whether the corpus has no capital letter while 1 % of the types or more have one.

        Such types cannot be tokens, whatever the vocabulary is worth: figures of unused types say
        more about the corpus. False without a corpus, or with an empty one.
        """
        if self.corpus is None or self._used is None:
            return False
        if len(self.with_capitals) < max(1, _MANY_CAPITALS * len(self.inventory.spelled)):
            return False
        characters = set().union(*map(set, self.corpus.counts.words))
        return all(character == character.lower() for character in characters)

    def _chains(self) -> list[Chain] | None:
        graph, found = self.inventory.graph, self._used
        if graph is None or found is None:
            return None
        leads_to = {}
        for number in self.inventory.spelled:
            users = graph.outgoing(number) if not found.counts[number] else ()
            if len(users) == 1:
                leads_to[number] = graph.merge(users[0]).result
        chains = []
        for number in leads_to.keys() - set(leads_to.values()):
            chain = [number]
            while chain[-1] in leads_to:
                chain.append(leads_to[chain[-1]])
            chains.append(tuple(chain))
        return sorted(chains, key=lambda chain: (-len(chain), chain))

    def _scaffolds(self) -> list[int] | None:
        graph, found = self.inventory.graph, self._used
        if graph is None or found is None:
            return None
        ids = self.inventory.spelled
        results = [merge.result for merge in graph.merges().values() if merge.result in ids]
        if not results:
            return None
        limit = found.counts[results[-1]]
        return [
            number
            for number in ids
            if found.counts[number] <= limit and graph.incoming(number) and graph.outgoing(number)
        ]

    # ------------------------------------------------------------------------------ charts

    def frequency_rank(self) -> pd.DataFrame:
        """Types that are tokens of the corpus, most frequent first: rank from 1, type, count.

        No rows without a corpus.
        """
        import pandas as pd

        counts = np.zeros(0) if self.compression is None else self.compression.counts
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        return pd.DataFrame(
            {
                "rank": np.arange(1, len(order) + 1),
                "type": [self.inventory.texts[number] for number in order.tolist()],
                "count": counts[order],
            }
        )

    def lengths(self) -> npt.NDArray[np.int64]:
        """How many types have 0, 1, 2 … characters, without those that are not whole characters."""
        found = [len(body) for body in self.inventory.bodies.values() if body is not None]
        return np.bincount(np.array(found, np.int64))

    @property
    def corpus_signature(self) -> str:
        """Name and checksum of the corpus; ``none`` without one."""
        return "none" if self.corpus is None else self.corpus.signature()


# ------------------------------------------------------------------------------ the types


@dataclass(frozen=True)
class Inventory:
    """A vocabulary, ready to be counted.

    ``special``: ids of the special and added types that are in it. ``spelled``: each of the other
    ids, ascending, with the type's string without its marker; ``bodies``: the same as people read
    it, None if it is not whole characters, but single bytes of one. ``marker``: ``Ġ`` or ``▁``
    before types that start a word, ``##`` before types inside one, a suffix such as ``</w>``
    behind types that end one, or nothing; ``marked``: the ids of types that have it. ``texts``:
    every type by id in readable form. ``graph``: the merges, where there are any.
    """

    special: tuple[int, ...]
    spelled: Mapping[int, str]
    bodies: dict[int, str | None]
    marker: str
    marked: frozenset[int]
    texts: Sequence[str]
    graph: MergeGraph | None

    @property
    def marks_start(self) -> bool:
        """Whether the marker shows which types start a word."""
        return self.marker in _MARKERS


def inventory_of(segmenter: Segmenter) -> Inventory:
    """The types of a segmenter; one of an unknown kind has neither special types nor a marker."""
    segmenter = standard(segmenter)
    types = texts = segmenter.types
    present: Iterable[int] = range(len(types))
    special: Collection[str] = ()
    marker, graph, preprocessor = "", None, Preprocessor()
    if isinstance(segmenter, Bte):
        tokeniser = segmenter.tokeniser
        graph, preprocessor, special = tokeniser.graph, tokeniser.preprocessor, tokeniser.special
        absent: Collection[int] = ()
        if isinstance(segmenter, Demolishing):
            absent = set(np.flatnonzero(segmenter.doomed).tolist())
        elif isinstance(segmenter, Picky):
            absent = segmenter.removed
        present = [number for number in graph.type_ids() if number not in absent]
        types, texts = graph.types, tokeniser.readable_types
        marker = tokeniser.suffix or detect_marker([types[number] for number in present])
        # What a merge made can begin with ## in any text; it marks nothing there.
        marker = "" if marker == "##" else marker
    elif isinstance(segmenter, VocabularySegmenter):
        vocabulary = segmenter.vocabulary
        preprocessor = vocabulary.preprocessor
        special = vocabulary.special | {token.content for token in preprocessor.added}
        texts = [vocabulary.readable(number) for number in present]
        marker = preprocessor.suffix or vocabulary.marker

    cut = str.removeprefix if marker in _MARKERS else str.removesuffix
    ordinary = [number for number in present if types[number] not in special]
    spelled = {n: types[n] if types[n] == "##" else cut(types[n], marker) for n in ordinary}
    return Inventory(
        tuple(number for number in present if types[number] in special),
        spelled,
        {number: _readable(text, preprocessor) for number, text in spelled.items()},
        marker,
        frozenset(number for number, text in spelled.items() if text != types[number]),
        texts,
        graph,
    )


def unused_types(inventory: Inventory, corpus: Compression) -> list[int]:
    """Ids of types that are no token of a corpus; special and added ones are not looked at."""
    return [number for number in inventory.spelled if not corpus.counts[number]]


def _readable(text: str, preprocessor: Preprocessor) -> str | None:
    """A type's string as characters; None if it has part of one."""
    if preprocessor.byte_fallback and text in _BYTES:
        return None
    if not preprocessor.byte_level or text.isascii():
        return text
    if not all(character in CHAR_TO_BYTE for character in text):
        return text
    try:
        return bytes(CHAR_TO_BYTE[character] for character in text).decode()
    except UnicodeDecodeError:
        return None


def standard(segmenter: Segmenter) -> Segmenter:
    """What FIRST and LONGEST keep tokens of, and all merges of BPE-dropout; others as they are."""
    while isinstance(segmenter, First | Longest):
        segmenter = segmenter.segmenter
    return Bte(segmenter.tokeniser) if isinstance(segmenter, Dropout) else segmenter


def unreachable(segmenter: Segmenter, inventory: Inventory) -> list[int] | None:
    """Ids of types that segmenting their own string does not give back; None if that is not known.

    The string stands where the type may: one that starts a word at the start, others behind a
    character that no type holds. It is not normalised first. Single bytes and special types, which
    no string spells, are not looked at.
    """
    segmenter = standard(segmenter)
    if type(segmenter) is Bte:
        return unreachable_types(segmenter.tokeniser.graph)
    if isinstance(segmenter, Bte):
        atoms = atoms_of(segmenter.tokeniser.graph)
        paths = {n: list(atoms[n]) for n in inventory.spelled if len(atoms[n]) > 1}
    elif isinstance(segmenter, VocabularySegmenter):
        paths = _paths(segmenter, inventory)
    else:
        return None
    return [number for number, end in _last_tokens(segmenter, paths).items() if end != number]


def _paths(segmenter: VocabularySegmenter, inventory: Inventory) -> dict[int, list[int]]:
    """The atoms of each type's string, behind an unknown one if it stands inside a word."""
    vocabulary = segmenter.vocabulary
    paths = {}
    for number, text in inventory.spelled.items():
        written, has = vocabulary.types[number], number in inventory.marked
        if written in _BYTES and inventory.bodies[number] is None:
            continue
        inside = has if vocabulary.marker == "##" else vocabulary.marker in ("Ġ", "▁") and not has
        shown = text if vocabulary.marker == "##" else written
        paths[number] = [UNKNOWN] * inside + vocabulary_path(vocabulary, shown)
    return paths


def vocabulary_path(vocabulary: SubwordVocabulary, text: str) -> list[int]:
    """The atoms of a string of a vocabulary, unknown ones included."""
    suffix, atoms = vocabulary.preprocessor.suffix, vocabulary.atoms
    characters = list(text)
    if suffix and text.endswith(suffix) and len(text) > len(suffix):
        cut = len(text) - len(suffix) - 1
        characters = [*text[:cut], text[cut:]]
    path = []
    for character in characters:
        if character in atoms or not vocabulary.byte_fallback:
            path.append(atoms.get(character, UNKNOWN))
        else:
            path += [atoms[BYTES[byte]] for byte in character.encode()]
    return path


def _last_tokens(segmenter: Segmenter, paths: dict[int, list[int]]) -> dict[int, int]:
    """The last token of each string, by the type that it is of."""
    if not paths:
        return {}
    if isinstance(segmenter, WordPiece):
        # It gives up a piece with an unknown character, so the same look-up without that rule.
        longest = segmenter.longest_word
        segmenter = Greedy(segmenter.vocabulary)
        too_long = {number for number, path in paths.items() if len(path) > longest}
    else:
        too_long = set()
    offsets = np.zeros(len(paths) + 1, np.int64)
    np.cumsum([len(path) for path in paths.values()], out=offsets[1:])
    flat = np.array([atom for path in paths.values() for atom in path], np.int32)
    texts = tuple(segmenter.types[number] for number in paths)
    words = Words(texts, flat, offsets, offsets, np.ones(len(flat), np.int32))
    ends = segmenter.segment(words).token_at[offsets[1:] - 1].tolist()
    return {
        number: UNKNOWN if number in too_long else end
        for number, end in zip(paths, ends, strict=True)
    }
