"""What segmenters that look substrings up ought to find, written as plainly as possible.

A token is a triple (type, start, end): the type's string, and the characters of the word that it
covers, without its marker. Nothing here is fast, and nothing here imports the library.
"""

import re

Token = tuple[str, int, int]


def forms(marker):
    """The spellings to try for a string at a word's start (or not), the preferred one first.

    >>> forms("##")("do", False), forms("Ġ")("do", True), forms("")("do", True)
    (['##do', 'do'], ['Ġdo', 'do'], ['do'])
    """

    def spell(text, initial):
        marked_first = initial == (marker != "##")
        both = [marker + text, text] if marked_first else [text, marker + text]
        return both if marker else [text]

    return spell


def units(text):
    """Of each character, the number of the run of \\w, or of the mark, that it is in or before.

    >>> units("able-bodied?")
    [0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 3]
    >>> units("a  b")
    [0, 1, 1, 1]
    """
    ends = [match.end() for match in re.finditer(r"\w+|[^\w\s]", text)]
    return [sum(end <= at for end in ends) for at in range(len(text))]


def flota(pieces, vocabulary, marker, k, strict=False, unit=None):
    """Longest substring, leftmost among equals; blank it out; again, at most k times in a unit.

    In a ## vocabulary each piece starts a word, in the others only the first. ``strict``: there
    only the preferred form is taken. ``unit``: that of each character, where they are bytes.

    >>> flota(["undo"], ["un", "##do", "d"], "##", 9)
    [('un', 0, 2), ('##do', 2, 4)]
    """
    starts = [sum(map(len, pieces[:i])) for i in range(len(pieces))]
    initial = starts if marker == "##" else starts[:1]
    rest = [*"".join(pieces)]
    unit = unit or units("".join(pieces))
    tokens = []
    while True:
        taken = [unit[start] for _, start, _ in tokens]
        found = []
        for start in range(len(rest)):
            if taken.count(unit[start]) == k:
                continue
            for end in range(start + 1, len(rest) + 1):
                inside = not any(start < boundary < end for boundary in starts)
                if inside and "\0" not in rest[start:end]:
                    is_initial = start in initial
                    spelled = forms(marker)("".join(rest[start:end]), is_initial)
                    for type_ in spelled[:1] if strict and is_initial else spelled:
                        if type_ in vocabulary:
                            found.append((start - end, start, end, type_))
                            break
        if not found:
            break
        _, start, end, type_ = min(found)
        tokens.append((type_, start, end))
        rest[start:end] = "\0" * (end - start)
    return sorted(tokens, key=lambda token: token[1])


def first(tokens, k):
    """The k first tokens."""
    return tokens[:k]


def by_unit(text, tokens, keep, k):
    """What is kept of the tokens that begin in each unit of a text."""
    unit = units(text)
    return [
        token
        for number in sorted(set(unit))
        for token in keep([token for token in tokens if unit[token[1]] == number], k)
    ]


def longest(tokens, k):
    """The k longest tokens, leftmost among equals, in order of position."""
    by_length = sorted(tokens, key=lambda token: (token[1] - token[2], token[1]))
    return sorted(by_length[:k], key=lambda token: token[1])


def greedy(word, vocabulary, marker):
    """Longest match from the left; a character that nothing matches is a token in brackets.

    >>> greedy("undot", ["un", "##do", "do", "t"], "##")
    ['un', '##do', '<t>']
    """
    tokens, start = [], 0
    while start < len(word):
        prefix = marker if marker == "##" and start else ""
        ends = [e for e in range(start + 1, len(word) + 1) if prefix + word[start:e] in vocabulary]
        end = max(ends, default=0)
        tokens.append(prefix + word[start:end] if end else f"<{word[start]}>")
        start = end or start + 1
    return tokens
