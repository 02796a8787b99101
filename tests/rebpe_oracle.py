"""What ReBPE ought to do, written as plainly as possible (Bauwens & de Lhoneux 2026).

As in `oracles`, a tokeniser is a dictionary rank → parts (strings), here together with its types
and the origin of each merge. Every step returns a new `State`. Nothing here imports the library.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from math import nan

import oracles
from oracles import Lookup, Merges


@dataclass(frozen=True)
class Entry:
    """A word of the reference, as the pieces that merges stay within, and its morphs.

    ``morphs`` is None where the reference has no segmentation of the scope. ``weight``: the corpus
    frequency. ``seen``: blame and annealing see it; ``scored``: the scores do.
    """

    pieces: tuple[str, ...]
    morphs: tuple[str, ...] | None
    weight: float = 1
    seen: bool = True
    scored: bool = True


@dataclass(frozen=True)
class Settings:
    """The switches of ReBPE; scope and holdout are in the entries already."""

    anneal: bool = True
    repair: bool = True
    link: bool = True
    expand: bool = True
    cascade: bool = False
    iterations: int = 10
    threshold: float = 0.5
    minimum_vocabulary: int = 0
    maximum_vocabulary: int | None = None
    weighting: str = "types"
    tuples_once: bool = False
    minimum_good: int = 3
    minimum_ratio: float = 0.8

    @property
    def reifies(self):
        return self.repair or self.link or self.expand

    def weight(self, entry):
        return entry.weight if self.weighting == "tokens" else 1


@dataclass
class State:
    """A tokeniser. ``fuses``: neighbouring unknown characters become one token.

    None: there is no unknown token, and they are left out before anything is merged.
    """

    merges: Merges
    types: set[str]
    origins: dict[int, str]
    fuses: bool | None = None
    _segmenter: Lookup | None = None
    _known: dict[str, tuple[list[str], list[tuple[int, list[int]]], list[int]]] = field(
        default_factory=dict
    )

    def segment(self, piece):
        """As `Lookup.applied`, with joins as places in the piece; and where each token begins."""
        if piece not in self._known:
            self._segmenter = self._segmenter or Lookup(self.merges)
            kept = [n for n, c in enumerate(piece) if self.fuses is not None or c in self.types]
            atoms = []
            for known, characters in groupby((piece[n] for n in kept), key=self.types.__contains__):
                run = list(characters)
                atoms += run if known or not self.fuses else ["".join(run)]
            tokens, applied = self._segmenter.applied(atoms)
            starts = [kept[n] for n in accumulate(map(len, tokens[:-1]), initial=0) if tokens]
            merged = [(rank, [kept[join] for join in joins]) for rank, joins in applied]
            self._known[piece] = tokens, merged, starts
        return self._known[piece]

    def tokens(self, entry):
        """The word cut where tokens begin: what is left out belongs to the one before it."""
        word, left, starts = "".join(entry.pieces), 0, list[int]()
        for piece in entry.pieces:
            starts += [left + start for start in self.segment(piece)[2]]
            left += len(piece)
        return [word[a:b] for a, b in pairwise([0, *starts[1:], len(word)])]


@dataclass(frozen=True)
class Phase:
    """What one phase left behind; ``score``: true positives, predicted, relevant."""

    kind: str
    iteration: int
    merges: Merges
    types: set[str]
    origins: dict[int, str]
    counts: dict[str, int]
    removed_by_origin: dict[str, int]
    score: tuple[float, float, float]


def score(state, entries, settings):
    """Boundaries of the entries that are scored and have a segmentation; NaN without any."""
    scored = [(e, e.morphs) for e in entries if e.scored and e.morphs is not None]
    if not scored:
        return nan, nan, nan
    return oracles.score(
        [state.tokens(entry) for entry, _ in scored],
        [morphs for _, morphs in scored],
        [settings.weight(entry) for entry, _ in scored],
    )


# --------------------------------------------------------------------------------- annealing


def annealing_pairs(state, entries, settings):
    """Neighbouring tokens that seldom have a gold boundary between them, best first."""
    total = Counter()
    good = Counter()
    for entry in entries:
        if not entry.seen or entry.morphs is None:
            continue
        boundaries = oracles.boundaries(entry.morphs)
        left = 0
        for piece in entry.pieces:
            tokens, _, starts = state.segment(piece)
            for (x, y), start in zip(pairwise(tokens), starts[1:], strict=True):
                if x in state.types and y in state.types:
                    total[x, y] += 1
                    good[x, y] += left + start not in boundaries
            left += len(piece)
    ratio = {pair: good[pair] / total[pair] for pair in total}
    chosen = [
        pair
        for pair in total
        if good[pair] >= settings.minimum_good and ratio[pair] >= settings.minimum_ratio
    ]
    return sorted(chosen, key=lambda pair: (-good[pair], -ratio[pair], pair))


def anneal(state, entries, settings):
    """Add the missing atoms, then the pairs, as long as the vocabulary may grow."""
    seen = {c for entry in entries if entry.seen for piece in entry.pieces for c in piece}
    atoms = sorted(seen - state.types)  # by code point
    grown = State(
        dict(state.merges), state.types | set(atoms), dict(state.origins), fuses=state.fuses
    )
    added = 0
    pairs = annealing_pairs(State(state.merges, grown.types, {}), entries, settings)
    for pair in pairs:
        is_full = settings.maximum_vocabulary is not None and (
            len(grown.types) >= settings.maximum_vocabulary
        )
        if "".join(pair) not in grown.types and is_full:
            break
        rank = max(grown.merges, default=-1) + 1
        grown.merges[rank] = pair
        grown.origins[rank] = "annealed"
        grown.types.add("".join(pair))
        added += 1
    return grown, {"atoms": len(atoms), "annealed": added}


# --------------------------------------------------------------------------------- knockout


def blamed_types(state, entries, settings):
    """The results of the candidates for knockout, once each."""
    joined = {}
    blamed = {}
    for entry in entries:
        if not entry.seen or entry.morphs is None:
            continue
        weight = settings.weight(entry)
        boundaries = oracles.boundaries(entry.morphs)
        left = 0
        for piece in entry.pieces:
            for rank, gaps in state.segment(piece)[1]:
                wrong = [left + gap in boundaries for gap in gaps]
                n, b = (1, any(wrong)) if settings.tuples_once else (len(wrong), sum(wrong))
                joined[rank] = joined.get(rank, 0) + n * weight
                blamed[rank] = blamed.get(rank, 0) + b * weight
            left += len(piece)
    ranks = oracles.candidates(joined, blamed, settings.threshold)
    return list(dict.fromkeys("".join(state.merges[rank]) for rank in ranks))


def knockout(state, types, settings):
    """Remove as many of the types as the vocabulary has room for.

    The new state, what happened, the removed merges by origin, and their parts.
    """
    room = max(0, len(state.types) - settings.minimum_vocabulary)
    types = types[:room]
    remove = _cascaded if settings.cascade else substituted
    gone = {"".join(parts) for parts in state.merges.values()}
    for many in range(len(types), -1, -1):
        left = remove(state.merges, types[:many])
        lost = gone - {"".join(parts) for parts in left.values()}
        if len(lost) <= room or not lost:
            break
    removed = state.merges.keys() - left.keys()
    split = {rank for rank in left if left[rank] != state.merges[rank]}
    origins = {rank: "split" if rank in split else state.origins[rank] for rank in left}
    return (
        State(left, state.types - lost, origins, fuses=state.fuses),
        {"removed": len(removed), "split": len(split)},
        dict(Counter(state.origins[rank] for rank in removed)),
        {state.merges[rank] for rank in removed},
    )


def _cascaded(merges, types):
    return oracles.cascade(merges, types) if types else merges


def substituted(merges, types):
    own = {}
    for _, parts in sorted(merges.items()):
        own.setdefault("".join(parts), parts)
    gone = set(types)

    def spelled(part):
        return tuple(q for p in own[part] for q in spelled(p)) if part in gone else (part,)

    return {
        rank: tuple(q for part in parts for q in spelled(part))
        for rank, parts in merges.items()
        if "".join(parts) not in gone
    }


# --------------------------------------------------------------------------------- reification


@dataclass
class Row:
    """A merge while the order of merges is a list, not a number."""

    parts: tuple[str, ...]
    origin: str

    @property
    def text(self):
        return "".join(self.parts)

    def pairs(self):
        """Neighbouring parts, if this is a tuple merge."""
        return set(pairwise(self.parts)) if len(self.parts) > 2 else set()


def repair(rows):
    """Tuple merges get the parts that lower merges leave of their result; how many changed."""
    changed = 0
    segmenter = Lookup({})
    for rank, row in enumerate(rows):
        if len(row.parts) > 2:
            tokens = tuple(segmenter.segment(row.text))
            if len(tokens) > 1 and tokens != row.parts:
                row.parts, row.origin = tokens, "repaired"
                changed += 1
        segmenter.add(rank, row.parts)
    return changed


def replaced(parts, pair):
    """The occurrences of a pair made one part, from the left.

    >>> replaced(["a", "a", "a", "a", "a"], ("a", "a"))
    ('aa', 'aa', 'a')
    """
    found = []
    rest = list(parts)
    while rest:
        n = 2 if tuple(rest[:2]) == pair else 1
        found.append("".join(rest[:n]))
        rest = rest[n:]
    return tuple(found)


def suggestions(rows, blacklist):
    """Pairs and the tuple merges they are in: those in the most first, then alphabetically."""
    found = {}
    for row in rows:
        for x, y in row.pairs():
            found.setdefault((x, y), []).append(row)
    allowed = [(pair, holders) for pair, holders in found.items() if pair not in blacklist]
    return sorted(allowed, key=lambda item: (-len(item[1]), item[0]))


def use(rows, types, suggested, link=True, expand=True):
    """Link to pair merges that are there, create those that are not; how many of either."""
    linked = created = 0
    for pair, suggested_by in suggested:
        text = "".join(pair)
        holders = [row for row in suggested_by if pair in row.pairs()]  # those that still do
        own = next((row for row in rows if row.text == text), None)
        if not holders:
            continue
        if text not in types and expand:
            own = Row(pair, "reified")
            rows.insert(_place(rows, holders[0]), own)
            types.add(text)
            created += 1
        elif link and own is not None and own.parts == pair:
            holders = [row for row in holders if _place(rows, row) > _place(rows, own)]
            if holders:
                own.origin = "reused"
                linked += 1
        else:
            continue
        for row in holders:
            row.parts = replaced(row.parts, pair)
    return linked, created


def reify(state, blacklist, settings):
    """Repair, link and create; ranks are renumbered if that changed anything."""
    rows = [Row(parts, state.origins[rank]) for rank, parts in sorted(state.merges.items())]
    types = set(state.types)
    repaired = repair(rows) if settings.repair else 0
    suggested = suggestions(rows, blacklist)
    linked, created = use(rows, types, suggested, settings.link, settings.expand)
    counts = {"repaired": repaired, "linked": linked, "created": created}
    return (numbered(rows, types, state.fuses) if any(counts.values()) else state), counts


def numbered(rows, types, fuses=None):
    """The state with ranks 0, 1, 2, …"""
    merges = {rank: row.parts for rank, row in enumerate(rows)}
    origins = {rank: row.origin for rank, row in enumerate(rows)}
    return State(merges, types, origins, fuses=fuses)


def _place(rows, wanted):
    return next(i for i, row in enumerate(rows) if row is wanted)


# --------------------------------------------------------------------------------- the loop


def rebpe(state, entries, settings):
    """All phases, and whether the loop ended by itself."""
    phases = []
    blacklist = set()

    def log(kind, iteration, counts, by_origin):
        merges, types, origins = dict(state.merges), set(state.types), dict(state.origins)
        happened = {what: n for what, n in counts.items() if n}
        points = score(state, entries, settings)
        phases.append(
            Phase(kind, iteration, merges, types, origins, happened, dict(by_origin), points)
        )

    def knock_out(iteration):
        nonlocal state
        types = blamed_types(state, entries, settings)
        state, counts, by_origin, parts = knockout(state, types, settings)
        blacklist.update(parts)
        log("knockout", iteration, counts, by_origin)
        return bool(counts["removed"])

    log("start", 0, {}, {})
    if settings.anneal:
        state, counts = anneal(state, entries, settings)
        log("anneal", 0, counts, {})
    changed = False
    for iteration in range(1, settings.iterations + 1):
        removed = knock_out(iteration)
        if not settings.reifies:
            if not removed:
                return phases, True
            continue
        state, counts = reify(state, blacklist, settings)
        log("reify", iteration, counts, {})
        changed = any(counts.values())
        if not removed and not changed:
            return phases, True
    if changed:
        knock_out(settings.iterations + 1)
    return phases, False
