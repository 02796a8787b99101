"""What the library ought to compute, written as plainly as possible.

A tokeniser is a dictionary rank → parts (strings); the result of a merge is what its parts
concatenate to. Nothing here is fast, and nothing here imports the library.
"""

Merges = dict[int, tuple[str, ...]]


def listed(merges):
    """Merges in order of rank."""
    return {rank: tuple(parts) for rank, parts in enumerate(merges)}


def segment(merges, atoms):
    """Tokens, and for the gap behind each atom the rank of the merge that closed it.

    Of all merges applicable somewhere, the lowest rank; its leftmost occurrence; until none is.

    >>> segment({0: ("a", "b"), 1: ("c", "ab")}, "cabab")
    (['cab', 'ab'], [1, 0, None, 0, None])
    """
    tokens, ends = list(atoms), list(range(len(atoms)))
    closed_by = [None] * len(atoms)
    while True:
        for rank, parts in sorted(merges.items()):  # noqa: B007 - needed after it
            n = len(parts)
            places = [i for i in range(len(tokens) - n + 1) if tuple(tokens[i : i + n]) == parts]
            if places:
                break
        else:
            return tokens, closed_by
        at = places[0]
        for gap in ends[at : at + n - 1]:
            closed_by[gap] = rank
        tokens[at : at + n] = ["".join(parts)]
        ends[at : at + n] = [ends[at + n - 1]]


class Lookup:
    """`segment` for many merges: finds the applicable ones in a dictionary of their parts.

    >>> Lookup({0: ("a", "b"), 1: ("c", "ab")}).applied("cabab")
    (['cab', 'ab'], [(0, [2]), (0, [4]), (1, [1])])
    """

    def __init__(self, merges):
        self.rank_of = {}
        self.lengths = set()
        for rank, parts in sorted(merges.items()):
            self.add(rank, parts)

    def add(self, rank, parts):
        """One more merge, of a higher rank than all before."""
        self.rank_of.setdefault(parts, rank)
        self.lengths.add(len(parts))

    def segment(self, atoms):
        """The tokens."""
        return self.applied(atoms)[0]

    def applied(self, atoms):
        """Tokens; then each application: the rank, and its joins as characters to the left."""
        tokens = list(atoms)
        applied = []
        while True:
            applicable = [
                (self.rank_of[window], i, n)
                for n in self.lengths
                for i in range(len(tokens) - n + 1)
                if (window := tuple(tokens[i : i + n])) in self.rank_of
            ]
            if not applicable:
                return tokens, applied
            rank, at, n = min(applicable)
            applied.append((rank, [len("".join(tokens[:i])) for i in range(at + 1, at + n)]))
            tokens[at : at + n] = ["".join(tokens[at : at + n])]


def merges_of(merges, type_):
    """Ranks of the merges that produce a type."""
    return [rank for rank in sorted(merges) if "".join(merges[rank]) == type_]


def knockout(merges, type_):
    """Remove one type: wherever it is a part, the parts of its own merge take its place.

    >>> knockout({0: ("a", "b"), 1: ("ab", "ab")}, "ab")
    {1: ('a', 'b', 'a', 'b')}
    """
    own = merges_of(merges, type_)
    substitute = merges[own[0]]
    return {
        rank: tuple(new for part in parts for new in (substitute if part == type_ else (part,)))
        for rank, parts in merges.items()
        if rank not in own
    }


def cascade(merges, types):
    """Remove types and, again and again, what no merge produces any more."""
    gone = set(types)
    while True:
        left = {
            rank: parts
            for rank, parts in merges.items()
            if "".join(parts) not in gone and not gone.intersection(parts)
        }
        produced = {"".join(parts) for parts in left.values()}
        orphans = {"".join(parts) for parts in merges.values()} - produced - gone
        if not orphans:
            return left
        gone |= orphans


def misplaced(merges):
    """Types that no merge can form, because one of its parts is always formed later."""
    produced = {"".join(parts) for parts in merges.values()}
    formed = set()
    for _, parts in sorted(merges.items()):
        if all(part in formed or part not in produced for part in parts):
            formed.add("".join(parts))
    return produced - formed


def count_joins(closed, gold, weights):
    """N and B of each merge by rank, from the ranks behind each atom and the gold gaps."""
    joined = {}
    blamed = {}
    for ranks, boundaries, weight in zip(closed, gold, weights, strict=True):
        for gap, rank in enumerate(ranks):
            if rank is not None:
                joined[rank] = joined.get(rank, 0) + weight
                blamed[rank] = blamed.get(rank, 0) + weight * (gap in boundaries)
    return joined, blamed


def boundaries(morphs):
    """Numbers of characters to the left of each boundary between morphs."""
    return {len("".join(morphs[:i])) for i in range(1, len(morphs))}


def score(tokens, gold, weights):
    """True positives, predicted and relevant boundaries of words cut into tokens and morphs."""
    both = predicted = relevant = 0.0
    for found, wanted, weight in zip(tokens, gold, weights, strict=True):
        both += weight * len(boundaries(found) & boundaries(wanted))
        predicted += weight * len(boundaries(found))
        relevant += weight * len(boundaries(wanted))
    return both, predicted, relevant


def candidates(joined, blamed, threshold):
    """Ranks with R ≥ threshold: by R, then B, both descending, then by rank."""
    ratio = {rank: blamed[rank] / n for rank, n in joined.items() if n > 0}
    chosen = [rank for rank, r in ratio.items() if r >= threshold]
    return sorted(chosen, key=lambda rank: (-ratio[rank], -blamed[rank], rank))
