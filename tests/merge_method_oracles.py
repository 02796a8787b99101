"""What the methods built on merges ought to compute, written as plainly as possible.

Types are strings, merges a dictionary rank → parts. Nothing here is fast, and nothing here imports
the library.
"""

from collections.abc import Mapping

Merges = Mapping[int, tuple[str, ...]]


def occurrences(merges, tokens):
    """(rank, place) of every applicable merge; of merges with the same parts only the first."""
    first = {}
    for rank in sorted(merges):
        first.setdefault(merges[rank], rank)
    return [
        (rank, place)
        for parts, rank in first.items()
        for place in range(len(tokens) - len(parts) + 1)
        if tuple(tokens[place : place + len(parts)]) == parts
    ]


def dropout_in_order(merges, atoms, keep):
    """Tokens; `keep` is asked at each step for applicable occurrences, by rank and place, until it
    keeps one."""
    tokens = list(atoms)
    while True:
        for rank, place in sorted(occurrences(merges, tokens)):  # noqa: B007 - needed after it
            if keep():
                break
        else:
            return tokens
        tokens[place : place + len(merges[rank])] = ["".join(merges[rank])]


def dropout_by_queue(merges, atoms, keep):
    """What the ``tokenizers`` library does: entries of rank and place, once each, until all are put
    aside; any that is kept, even one that is out of date, brings those put aside back."""
    tokens = list(atoms)

    def entries():
        return {(rank, len("".join(tokens[:place]))) for rank, place in occurrences(merges, tokens)}

    queue = entries()
    ever = set(queue)
    while True:
        for entry in sorted(queue):  # noqa: B007 - needed after it
            if keep():
                break
        else:
            return tokens
        queue.remove(entry)
        if entry not in entries():
            continue
        rank, start = entry
        place = next(n for n in range(len(tokens)) if len("".join(tokens[:n])) == start)
        tokens[place : place + len(merges[rank])] = ["".join(merges[rank])]
        queue |= entries() - ever
        ever |= queue


def splitmix64(seed, sample, word):
    """Numbers from 0 to 1 for one word: SplitMix64, started from seed, sample and word."""
    step, mask = 0x9E3779B97F4A7C15, 2**64 - 1

    def mix(z):
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31

    key = mix((mix(seed + step & mask) ^ sample) + step & mask)
    state = mix(key + step * (word + 1) & mask)
    while True:
        state = state + step & mask
        yield (mix(state) >> 11) / 2**53


def demolish(merges, tokens, doomed):
    """Replace doomed tokens by the parts of the first merge that makes them, again and again."""
    if not any(token in doomed for token in tokens):
        return list(tokens)
    taken_apart = []
    for token in tokens:
        made_by = [merges[rank] for rank in sorted(merges) if "".join(merges[rank]) == token]
        taken_apart += made_by[0] if token in doomed else (token,)
    return demolish(merges, taken_apart, doomed)


def released(texts, halves, events, hole):
    """A model as the authors' trainer writes it: events in two numbered lists, a hole in the ids.

    An event is the type that is merged, or ``-`` and the type that is split for good.
    """
    ids = {text: number + (number >= hole) for number, text in enumerate(texts)}
    split = {event[1:] for event in events if event.startswith("-")}

    def token(text):
        parts = halves.get(text, (None, None))
        return {
            "id": ids[text], "str": text, "freq": 3, "special": text.startswith("<"),
            "present": text not in split,
            "left": parts[0] and ids[parts[0]], "right": parts[1] and ids[parts[1]],
            "split": [ids[part] for part in parts] if text in split else [ids[text]],
        }  # fmt: skip

    present = [ids[text] for text in texts if text not in split]
    merges, splits = [], []
    for number, event in enumerate(events):
        parts = list(map(token, halves[event.removeprefix("-")]))
        if event.startswith("-"):
            splits.append({"id": number, "token": token(event[1:]), "split": parts})
        else:
            merges.append({"id": number, "pair": parts, "new_token": token(event)})
    return {
        "tokens": list(map(token, texts)),
        "id2int": {str(id_): n for n, id_ in enumerate(present)},
        "int2id": {str(n): id_ for n, id_ in enumerate(present)},
        "merges": merges,
        "splits": splits,
    }


def released_model():
    """``▁a`` was merged and split again; numbers in the model are not the tokens' ids."""
    texts = ["<PAD>", "<UNK>", "<BOS>", "<EOS>", "▁", "a", "b", "▁a", "ab"]
    return released(texts, {"▁a": ("▁", "a"), "ab": ("a", "b")}, ["▁a", "-▁a", "ab"], 9)
