"""What a vocabulary is made of: its types without their marker, and which of them are useless."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.text import base_name
from morphgraph.corpus.counts import WHOLE_TEXTS, WordCounts
from morphgraph.kernels import DROPPED
from morphgraph.reference.entry import MorphemeKind
from morphgraph.score.gold_set import COUNTS_IN_REFERENCE
from morphgraph.score.uncertainty import Interval, student
from morphgraph.segment.segmenter import Inventory, Segmenter
from morphgraph.tokeniser.encoding import batches_of
from morphgraph.tokeniser.merging import never_formed
from morphgraph.tokeniser.words import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morphgraph.graph.merge_graph import MergeGraph
    from morphgraph.reference.entry import Reference
    from morphgraph.score.boundaries import Benchmark


AFFIXES = frozenset(MorphemeKind) - {MorphemeKind.FREE, MorphemeKind.HYPHEN}
Chain = tuple[int, ...]


@dataclass(frozen=True)
class ReferenceStrings:
    """The distinct strings of a reference: morphs, with how many entries have them, and others.

    ``by_kind``: None where the source has no kinds.
    """

    morphs: Mapping[str, int]
    by_kind: Mapping[MorphemeKind | None, frozenset[str]] | None
    words: frozenset[str]

    def of_kinds(self, *kinds: MorphemeKind) -> frozenset[str] | None:
        """Return the morphs of some kinds; None where the reference tells no kinds."""
        known = self.by_kind
        return None if known is None else frozenset().union(*(known.get(k, ()) for k in kinds))

    @classmethod
    def of(cls, reference: Reference) -> ReferenceStrings:
        by_kind: dict[MorphemeKind | None, set[str]] = {}
        for entry in reference.entries:
            for morph, kind in zip(entry.morphs, entry.kinds or (), strict=False):
                by_kind.setdefault(kind, set()).add(morph)
        return cls(
            Counter(morph for entry in reference.entries for morph in set(entry.morphs)),
            {kind: frozenset(morphs) for kind, morphs in by_kind.items()} or None,
            frozenset(entry.word for entry in reference.entries),
        )


@dataclass(eq=False, repr=False)
class VocabularyHealth:
    """The vocabulary of a segmenter, on its own, on a corpus, and against a reference.

    Without a corpus or reference, what needs one is None. Figures are computed when they are first
    asked for, so a segmenter whose graph is edited later needs a new one.

    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> from morphgraph.corpus.counts import WordCounts
    >>> bpe = Bte(tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")]))
    >>> health = VocabularyHealth(bpe, NamedCounts(WordCounts(["abc", "a"], [5, 1]), "my words"))
    >>> [[health.inventory.texts[number] for number in chain] for chain in health.chains]
    [['b', 'ab', 'abc'], ['c', 'abc']]
    """

    segmenter: Segmenter
    corpus: NamedCounts | None = None
    reference: Reference | None = None
    label: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        self.label = self.label or self.segmenter.name
        self.tokeniser_signature = self.segmenter.signature()
        self.size = self.segmenter.vocabulary_size
        corpus = self.corpus
        self.compression = None if corpus is None else compress(self.segmenter, corpus.counts)

    @cached_property
    def inventory(self) -> Inventory:
        """The types in use."""
        return self.segmenter.inventory()

    @cached_property
    def word_initial(self) -> list[int] | None:
        """Ids of types that start a word; None where the marker does not show it."""
        inventory = self.inventory
        if not inventory.marks_start:
            return None
        has_sign = inventory.marker != "##"
        return [n for n in inventory.spelled if (n in inventory.marked) == has_sign]

    @cached_property
    def gold(self) -> ReferenceStrings | None:
        """The strings of the reference; None without one."""
        reference = self.reference
        if reference is None:
            return None
        return reference.cache.get("entries", "strings", lambda: ReferenceStrings.of(reference))

    @cached_property
    def unreachable(self) -> list[int] | None:
        """Ids of types that segmenting their own string does not give back; None if unknown."""
        numbers = self.segmenter.unreachable(self.inventory)
        return numbers and [number for number in numbers if number in self.inventory.spelled]

    @cached_property
    def never_used(self) -> list[int] | None:
        """Ids of types that are no token of the corpus; None without tokens."""
        if self.compression is None or not self.compression.tokens:
            return None
        return unused_types(self.inventory, self.compression)

    @cached_property
    def chains(self) -> list[Chain] | None:
        """The longest single-use chains; None without merges or without tokens."""
        graph, unused = self.inventory.graph, self.never_used
        if unused is None or graph is None or not graph.merge_count:
            return None
        return _chains(graph, unused)

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
        """Ids of types that have a merge but can never be formed; None without merges."""
        graph = self.inventory.graph
        if graph is None:
            return None
        return [number for number in never_formed(graph) if number in self.inventory.spelled]

    @property
    def corpus_signature(self) -> str:
        """Name and checksum of the corpus; ``none`` without one."""
        return "none" if self.corpus is None else self.corpus.signature()


def _chains(graph: MergeGraph, unused: Sequence[int]) -> list[Chain]:
    """The longest chains of types that are parts of one merge only, and no tokens of the corpus."""
    users = {number: graph.outgoing(number) for number in unused}
    leads_to = {n: graph.merge(merges[0]).result for n, merges in users.items() if len(merges) == 1}
    chains = []
    for number in leads_to.keys() - set(leads_to.values()):
        chain = [number]
        while chain[-1] in leads_to:
            chain.append(leads_to[chain[-1]])
        chains.append(tuple(chain))
    return sorted(chains, key=lambda chain: (-len(chain), chain))


def unused_types(inventory: Inventory, corpus: Compression) -> list[int]:
    """Return the ids of types that are no token of a corpus, without special and added ones."""
    return [number for number in inventory.spelled if not corpus.counts[number]]


ALPHA = 2.5


@dataclass(frozen=True)
class NamedCounts:
    """Word counts, and their name in signatures."""

    counts: WordCounts
    name: str

    @cached_property
    def checksum(self) -> str:
        """The first 12 digits of SHA-256 over the words and counts, in order."""
        listed = "".join(f"{word}\t{count}\n" for word, count in self.counts.items())
        return checksum(listed.encode("utf-8", "surrogatepass"))

    def signature(self) -> str:
        """Name and checksum: ``wordfreq:en@0a1b2c3d4e5f``."""
        return f"{base_name(self.name)}@{self.checksum}"


def corpus_of(benchmark: Benchmark) -> NamedCounts | None:
    """Return the frequencies of a benchmark as a corpus, rounded; None if it has none."""
    frequencies, source = benchmark.frequencies, benchmark.frequency_source
    if frequencies is None:
        return None
    if source == COUNTS_IN_REFERENCE:
        entries = benchmark.reference.entries
        frequencies = {e.word: e.count for e in reversed(entries) if e.count is not None}
        source = benchmark.reference.name
    given = np.fromiter(frequencies.values(), np.float64, len(frequencies))
    given = np.clip(np.nan_to_num(given, posinf=0.0), 0, 2.0**53)
    counts = np.rint(given).astype(np.int64).tolist()
    return NamedCounts(WordCounts(list(frequencies), counts), source)


@dataclass(frozen=True)
class Compression:
    """A corpus of running words as segmented by one segmenter.

    ``counts``: float64 by type id, whole numbers, exact up to 2⁵³. ``tokens``: all, ``unknown``
    ones and markers that stand alone (``marker_tokens``) included. ``words``, ``characters`` and
    ``bytes`` in UTF-8: those of the corpus, without markers. ``dropped``, ``dropped_bytes``:
    characters of which no token covers an atom. ``squares``: float64, the sums over distinct words
    of tokens², tokens × words and words², each of all that the corpus has of it.

    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> from morphgraph.corpus.counts import WordCounts
    >>> bpe = Bte(tokeniser_of_types("abc", ["a", "b", "c", "ab"], ["ab"]))
    >>> found = compress(bpe, WordCounts(["abc", "ab"], [3, 1]))
    >>> found.tokens, found.fertility, found.counts
    (7.0, 1.75, array([0., 0., 3., 4.]))
    """

    counts: npt.NDArray[np.float64]
    tokens: float
    words: float
    characters: float
    dropped: float
    marker_tokens: float
    unknown: float
    vocabulary_size: int
    bytes: float
    dropped_bytes: float
    squares: npt.NDArray[np.float64]

    def __add__(self, other: Compression) -> Compression:
        """Return the totals of two corpora segmented by the same segmenter."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return replace(self, **sums)

    @property
    def fertility(self) -> float:
        """Tokens per word; NaN without words."""
        return _ratio(self.tokens, self.words)

    @property
    def fertility_interval(self) -> Interval:
        """The 95 % interval of tokens per word, had other words been counted; NaN without words.

        By the delta method for a ratio of sums over distinct words (Cochran 1977, §2.11).
        """
        ratio = self.fertility
        of_tokens, of_both, of_words = self.squares
        variance = of_tokens - 2 * ratio * of_both + ratio**2 * of_words
        half = student(10**9) * _ratio(math.sqrt(max(variance, 0.0)), self.words)
        return Interval(ratio - half, ratio + half)

    @property
    def sequence_length(self) -> float:
        """Tokens per word without lone markers (Gow-Smith et al. 2022, Table 2)."""
        return _ratio(self.tokens - self.marker_tokens, self.words)

    @property
    def characters_per_token(self) -> float:
        """Characters per token; dropped characters do not count as covered."""
        return _ratio(self.characters - self.dropped, self.tokens)

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token, counted as in `characters_per_token`."""
        return _ratio(self.bytes - self.dropped_bytes, self.tokens)

    def renyi_efficiency(self, alpha: float = ALPHA) -> float:
        """Return `renyi_efficiency` of the counts; tokens without a type are left out."""
        return renyi_efficiency(self.counts, self.vocabulary_size, alpha)

    def relative_to(self, baseline: Compression) -> float:
        """Return tokens per token of a baseline on the same corpus; NaN if that has none."""
        return _ratio(self.tokens, baseline.tokens)


_SUMS = [field.name for field in fields(Compression) if field.name != "vocabulary_size"]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def renyi_efficiency(counts: npt.ArrayLike, vocabulary_size: int, alpha: float = ALPHA) -> float:
    """Return the Rényi entropy of tokens over types ÷ log |V|: 1 if uniform.

    H_α(p) = log(Σ pᵢ^α) ÷ (1 − α); for α = 1 its limit, Shannon's −Σ pᵢ log pᵢ. |V| is the whole
    vocabulary, types that are never used included. NaN without tokens or with fewer than two types.
    `MorphGraphError` if α is not a number above 0. Source: Zouhar et al. 2023, "Tokenization and
    the Noiseless Channel", with α = 2.5.

    >>> round(renyi_efficiency([2, 2, 2, 2], 4), 9), renyi_efficiency([2, 2, 2, 2], 16, 1.0)
    (1.0, 0.5)
    """
    check_alpha(alpha)
    frequencies = np.asarray(counts, np.float64)
    frequencies = frequencies[frequencies > 0]
    if vocabulary_size < 2 or not len(frequencies):
        return math.nan
    logs = np.log(frequencies) - math.log(frequencies.sum())
    p = np.exp(logs)
    if alpha == 1:
        entropy = -float(p @ logs)
    elif abs(alpha - 1) < 0.1:
        # The logarithm of a sum near 1 would lose all its digits.
        entropy = math.log1p(float(p @ np.expm1((alpha - 1) * logs))) / (1 - alpha)
    else:
        top = float(logs.max())  # a large α would underflow every power
        powers = float(np.exp(alpha * (logs - top)).sum())
        entropy = (math.log(powers) + alpha * top) / (1 - alpha)
    return max(0.0, entropy) / math.log(vocabulary_size)


def check_alpha(alpha: float) -> None:
    """Refuse an α that is not a number above 0."""
    if not (math.isfinite(alpha) and alpha > 0):
        raise MorphGraphError(f"α is {alpha:g}. Choose a number above 0, such as {ALPHA}.")


def compress(segmenter: Segmenter, words: WordCounts, *, whole: bool = False) -> Compression:
    """Segment counted words, each once, and count the resulting tokens.

    ``whole``: they are whole texts, with white space and their own word boundaries. Of counts of
    `WHOLE_TEXTS`, each text counts as one word. For BPE-dropout, this is one sample.
    """
    bare = whole or words.pipeline == WHOLE_TEXTS
    word_counts = np.asarray(words.counts, np.float64)
    counts, in_word = np.zeros(len(segmenter.types)), np.zeros(len(words))
    untyped = dropped = dropped_bytes = markers = 0.0
    for chosen in batches_of(words.words):
        texts = list(map(words.words.__getitem__, chosen.tolist()))
        encoded = segmenter.encode(texts, bare=bare)
        segmentation, weights = segmenter.segment(encoded), word_counts[chosen]
        ends = np.flatnonzero(segmentation.token_at >= 0)
        owners = encoded.word_of_atom[ends]
        tokens, weight = segmentation.token_at[ends], weights[owners]
        in_word[chosen] = np.bincount(owners, minlength=len(chosen))
        typed = tokens != UNKNOWN
        counts += np.bincount(tokens[typed], weight[typed], len(counts))
        untyped += float(weight[~typed].sum())
        markers += float(weight[encoded.is_marker[ends]].sum())
        if encoded.left_out or (segmentation.token_at == DROPPED).any():
            owner = np.repeat(np.arange(len(encoded)), np.diff(encoded.character_offsets))
            out = ~segmentation.covered[:-1]
            dropped += float(weights[owner[out]].sum())
            dropped_bytes += float((weights[owner] * _bytes_of(encoded.texts))[out].sum())
    lengths = np.fromiter(map(len, words.words), np.float64, len(words))
    sizes = lengths.copy()
    for place in np.flatnonzero(~np.fromiter(map(str.isascii, words.words), np.bool_, len(words))):
        sizes[place] = len(words.words[int(place)].encode("utf-8", "surrogatepass"))
    running = np.ones(len(words))
    if whole:
        running = np.fromiter((len(text.split()) for text in words.words), np.float64, len(words))
    number = segmenter.unknown_id
    own, all_words = in_word * word_counts, running * word_counts
    return Compression(
        counts=counts,
        tokens=float(counts.sum()) + untyped,
        words=float(running @ word_counts),
        characters=float(lengths @ word_counts),
        dropped=dropped,
        marker_tokens=markers,
        unknown=untyped + (float(counts[number]) if number != UNKNOWN else 0.0),
        vocabulary_size=segmenter.vocabulary_size,
        bytes=float(sizes @ word_counts),
        dropped_bytes=dropped_bytes,
        squares=np.array([own @ own, own @ all_words, all_words @ all_words]),
    )


def _bytes_of(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the UTF-8 length of each character of some texts."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, np.uint32)
    return np.searchsorted([0x80, 0x800, 0x10000], codes, side="right") + 1
