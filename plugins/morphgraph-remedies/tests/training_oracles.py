"""What the trainers ought to compute, and what Picky BPE makes of a word, written plainly.

Types are strings. Nothing here is fast, and nothing here imports the library.
"""

from collections import Counter
from itertools import pairwise

Event = tuple[str, tuple[str, ...], str]


def replace(tokens, parts, new):
    """Replace every occurrence of the parts, from the left, in place."""
    place = 0
    while place < len(tokens):
        if tuple(tokens[place : place + len(parts)]) == parts:
            tokens[place : place + len(parts)] = new
            place += len(new)
        else:
            place += 1


def pair_counts(words):
    """How often each pair of neighbours occurs."""
    found = Counter()
    for tokens, count in words:
        for pair in pairwise(tokens):
            found[pair] += count
    return found


def type_counts(words):
    """How often each type occurs."""
    found = Counter()
    for tokens, count in words:
        for token in tokens:
            found[token] += count
    return found


def train_picky(counts, size, threshold, minimum=1):
    """All types by id, the events, those present in the end, and the words' tokens."""
    types = sorted(set("".join(counts)))
    present = set(types)
    built = {}
    words = [(list(word), count) for word, count in counts.items()]
    events = []

    def parts_of(type_):
        if type_ in present:
            return [type_]
        return parts_of(built[type_][0]) + parts_of(built[type_][1])

    while len(present) < size:
        pairs, singles = pair_counts(words), type_counts(words)
        if not pairs or max(pairs.values()) < max(minimum, 1):
            break
        best = min(pairs, key=lambda p: (-pairs[p], types.index(p[0]), types.index(p[1])))
        new = "".join(best)
        if new not in types:
            types.append(new)
            built[new] = best
        present.add(new)
        events.append(("merge", best, new))
        for tokens, _ in words:
            replace(tokens, best, [new])
        for part in dict.fromkeys(best):
            if part in built and pairs[best] / singles[part] > threshold:
                present.remove(part)
                events.append(("split", tuple(parts_of(part)), part))
                for tokens, _ in words:
                    replace(tokens, (part,), parts_of(part))
    return types, events, present, [tokens for tokens, _ in words]


def train_scaffold(counts, size, minimum=1):
    """The merges in order, and the scaffold types."""
    types = sorted(set("".join(counts)))
    atoms = set(types)
    scaffolds = set()
    words = [(list(word), count) for word, count in counts.items()]
    merges = []
    while True:
        pairs, singles = pair_counts(words), type_counts(words)
        highest = max(pairs.values(), default=0)
        if merges:
            for part in merges[-1]:
                if part not in atoms and singles[part] <= highest:
                    scaffolds.add(part)
        if len(types) - len(scaffolds) >= size or highest < max(minimum, 1):
            return merges, scaffolds
        best = min(pairs, key=lambda p: (-pairs[p], types.index(p[0]), types.index(p[1])))
        types.append("".join(best))
        merges.append(best)
        for tokens, _ in words:
            replace(tokens, best, ["".join(best)])


def segment_picky(events, atoms):
    """Tokens, and the numbers of the events performed, one for each place that they change."""
    tokens = list(atoms)
    performed = []
    while True:
        earliest = performed[-1] if performed else 0
        for number in range(earliest, len(events)):
            kind, parts, whole = events[number]
            before, after = (parts, (whole,)) if kind == "merge" else ((whole,), parts)
            n = len(before)
            places = [i for i in range(len(tokens)) if tuple(tokens[i : i + n]) == before]
            if places:
                tokens[places[0] : places[0] + n] = after
                performed.append(number)
                break
        else:
            return tokens, performed
