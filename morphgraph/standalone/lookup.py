"""Looking up substrings of a piece: Unigram, WordPiece, FLOTA and others."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokenizers import Token

from .piece_methods import Pieces, units

Placed = tuple[int | None, int, int]
"""A type by its number, None for what has none, and the bytes of the piece that it covers."""


class Lookup(Pieces):
    """The base of methods without merges: types by their strings, in two forms.

    ``plain``: as they stand; ``marked``: without the marker that they have in front, ``##`` inside
    a word, ``Ġ`` or ``▁`` at its start. An end-of-word suffix belongs to the last character.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        vocabulary = model["method"]["model"]
        settings = vocabulary["preprocessor"]
        self.parameters: dict[str, Any] = model["method"]["parameters"]
        self.types: list[str] = vocabulary["types"]
        self.shown = [model["vocab"][text] for text in self.types]
        """The id of each type, by its number."""
        self.marker: str = vocabulary["marker"]
        self.suffix: str = settings["suffix"]
        self.bytes = {f"<0x{byte:02X}>": -1 for byte in range(256)}
        numbers = {text: number for number, text in enumerate(self.types)}
        self.byte_fallback = settings["byte_fallback"] and numbers.keys() >= self.bytes.keys()
        if self.byte_fallback:
            self.bytes = {text: numbers[text] for text in self.bytes}
        self.unknown_number: int | None = numbers.get(vocabulary["unknown"])
        left_out = {*vocabulary["special"], *(token["content"] for token in settings["added"])}
        if self.byte_fallback:
            left_out |= self.bytes.keys()
        self.plain = {text: n for text, n in numbers.items() if text not in left_out}
        self.marked = {
            text[len(self.marker) :]: number
            for text, number in self.plain.items()
            if self.marker and text.startswith(self.marker) and text != self.marker
        }
        alphabet = {
            c for text in self.plain if not self.byte_fallback or len(text) == 1 for c in text
        }
        self.has_marker = self.marker in alphabet
        # An unknown marker does not count as a character of a token either, but may be bytes.
        self.marks = "".join(m for m in "Ġ▁" if m in alphabet or not self.byte_fallback)
        self.longest = max(map(len, self.plain), default=0)
        # By their marker or without it, types spell a piece out: at its start, and later.
        self.spelled = (self.plain, self.marked if self.marker == "##" else self.plain)

    def find_in_text(self) -> None:
        """Find the special types, too, that the library's own models find spelled out in a text."""
        numbers = {text: number for number, text in enumerate(self.types)}
        for text in self.model["method"]["model"].get("in_text") or ():
            self.plain[text] = numbers[text]
            if self.marker and text.startswith(self.marker) and text != self.marker:
                self.marked[text[len(self.marker) :]] = numbers[text]
        self.longest = max(map(len, self.plain), default=0)

    def atom_count(self, characters: Iterable[str]) -> int:
        """A character that is no type of its own is its bytes, where there are types for these."""
        if not self.byte_fallback:
            return sum(1 for _ in characters)
        return sum(1 if c in self.plain else len(c.encode()) for c in characters)

    def size(self, text: str, token: Token | None) -> int:
        """A token of a byte is one."""
        if token is not None and self.byte_fallback and token.value in self.bytes:
            return 1
        return self.atom_count(character for character in text if character not in self.marks)

    def characters(self, piece: str) -> tuple[list[str], list[int]]:
        """The characters of a piece, and the byte at which each begins and the last one ends."""
        characters = list(piece)
        offsets = [0]
        for character in characters:
            offsets.append(offsets[-1] + len(character.encode()))
        if characters:
            characters[-1] += self.suffix
        return characters, offsets

    def tokens(self, found: Iterable[Placed]) -> list[Token]:
        """The tokens of types; what has no type has no token."""
        return [
            Token(self.shown[number], self.types[number], (start, end))
            for number, start, end in found
            if number is not None
        ]

    def bytes_of(self, character: str, start: int, end: int) -> list[Placed]:
        """The bytes of a character that is no type, as a fallback."""
        return [(self.bytes[f"<0x{byte:02X}>"], start, end) for byte in character.encode()]


class Greedy(Lookup):
    """Takes the longest type at each place; a character without one is an unknown token.

    As WordPiece, a piece that cannot be finished, or is too long, is one unknown token.
    Source: Wu et al. 2016.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.whole = model["type"] == "wordpiece"
        if self.whole:
            self.find_in_text()
            name = self.parameters["unknown"]
            self.unknown_number = self.types.index(name) if name in self.types else None
        self.unknown = None if self.unknown_number is None else self.shown[self.unknown_number]

    def cut(self, piece: str) -> list[Token]:
        characters, offsets = self.characters(piece)
        placed: list[Placed] = []
        at = 0
        lost = self.tokens([(self.unknown_number, 0, offsets[-1])]) if self.whole else []
        if self.whole and self.atom_count(characters) > self.parameters["longest_word"]:
            return lost
        while at < len(characters):
            form = self.spelled[at > 0]
            end = min(len(characters), at + self.longest)
            while end > at and "".join(characters[at:end]) not in form:
                end -= 1
            if end > at:
                placed.append((form["".join(characters[at:end])], offsets[at], offsets[end]))
            elif self.whole:
                return lost
            else:
                end = at + 1
                place = characters[at], offsets[at], offsets[end]
                is_bytes = self.byte_fallback and characters[at] not in self.plain
                placed += self.bytes_of(*place) if is_bytes else [(self.unknown_number, *place[1:])]
            at = end
        return self.tokens(placed)

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return the whole piece for WordPiece."""
        if self.whole:
            return [] if tokens else [(0, len(piece.encode()))]
        return super().unnamed(piece, tokens)


class Unigram(Lookup):
    """Viterbi over the log-probabilities of the types; earlier starts win ties.

    A character that is no type costs the smallest log-probability less ten; it becomes its bytes or
    the unknown token, and a run of unknown ones is one token; where the text spells the unknown
    token, it counts as such a run. Source: Kudo 2018.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.find_in_text()
        vocabulary = model["method"]["model"]
        self.unknown = None if self.unknown_number is None else self.shown[self.unknown_number]
        self.named = None if self.unknown_number is None else self.types[self.unknown_number]
        self._kind = "f" if vocabulary["single"] else "d"
        self.scores = array(self._kind, vocabulary["scores"]).tolist()
        self._penalty = self._rounded(min(self.scores) - 10.0)

    def _rounded(self, number: float) -> float:
        return number if self._kind == "d" else array("f", [number])[0]

    def cut(self, piece: str) -> list[Token]:
        characters, offsets = self.characters(piece)
        size = len(characters)
        # The best path to each place: its score, and the start and type of its last token,
        # None for a character that has none.
        best: list[Any] = [(0.0, 0, None)] + [None] * size
        for at in range(size):
            here, form, text, single = best[at][0], self.spelled[at > 0], "", False
            for end in range(at + 1, min(size, at + self.longest) + 1):
                text += characters[end - 1]
                type_ = form.get(text)
                if type_ is not None:
                    single = single or end == at + 1
                    self._offer(best, end, here + self.scores[type_], at, type_)
            if not single:
                self._offer(best, at + 1, here + self._penalty, at, None)
        placed: list[Placed] = []
        end, unknown = size, (None, self.unknown_number)
        while end > 0:
            _, at, type_ = best[end]
            is_unknown = type_ in unknown
            while is_unknown and at > 0 and best[at][2] in unknown:
                at = best[at][1]
            if is_unknown and self.byte_fallback and "".join(characters[at:end]) != self.named:
                for place in reversed(range(at, end)):
                    where = offsets[place], offsets[place + 1]
                    placed += reversed(self.bytes_of(characters[place], *where))
            else:
                number = self.unknown_number if is_unknown else type_
                placed.append((number, offsets[at], offsets[end]))
            end = at
        return self.tokens(reversed(placed))

    def _offer(self, best: list[Any], end: int, score: float, at: int, type_: int | None) -> None:
        score = self._rounded(score)
        if best[end] is None or score > best[end][0]:
            best[end] = (score, at, type_)


class Flota(Lookup):
    """At most ``k`` tokens of each unit of a text, in order of position; the rest is left out.

    Source: Hofmann et al. 2022, Fig. 1.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.k: int | None = self.parameters["k"]
        self.strict = bool(self.parameters.get("strict"))
        self.marks_start = self.marker in ("Ġ", "▁")
        # The form of types that start a word, and of those inside one.
        self.initial, self.inside = self.plain, self.marked
        if self.marks_start:
            self.initial, self.inside = self.marked, self.plain
        self.has_marker &= self.marks_start

    def cut(self, piece: str) -> list[Token]:
        """Return the tokens of a piece that is exactly one unit."""
        return self._cut([(piece, [0] * len(piece))])[0]

    def pre_tokenize(self, text: Any) -> None:
        """Segment pieces of one unit together where there is a limit."""
        if self.k is None:
            super().pre_tokenize(text)
            return
        rows = iter(self.several(units(text)))
        text.tokenize(lambda _: next(rows))

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return nothing: what is left out is no token."""
        return []

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """Return the tokens of all pieces of a text; each unit has its own limit."""
        if self.k is None:
            return super().several(pieces)
        rows: list[list[Token]] = []
        start = 0
        for end in range(1, len(pieces) + 1):
            if end < len(pieces) and pieces[end][1][0] == pieces[end - 1][1][-1]:
                continue
            first, numbers = pieces[start]
            if end - start == 1 and numbers[0] == numbers[-1]:
                rows.append(self(first))
            else:
                rows += self._cut(pieces[start:end])
            start = end
        return rows

    def _cut(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        left: dict[int, int] = {}
        matches: list[tuple[int, int, int]] = []  # minus the length, piece, start
        cut = []
        for number, (piece, numbers) in enumerate(pieces):
            characters, offsets = self.characters(piece)
            marked = self.has_marker and piece.startswith(self.marker)
            limit = [len(characters)] * len(characters)
            cut.append((characters, offsets, limit, marked, numbers))
            for at in range(marked, len(characters)):
                if length := self._longest(cut[-1], at)[0]:
                    matches.append((-length, number, at))
        of_pieces: list[list[tuple[int, int, int]]] = [[] for _ in pieces]
        while matches:
            matches.sort()
            again = []
            level = matches[0][0]
            for match in matches:
                length, number, at = match
                if length != level:
                    again.append(match)
                    continue
                characters, offsets, limit, marked, numbers = cut[number]
                if limit[at] <= at:
                    continue
                now, end, type_, with_marker = self._longest(cut[number], at)
                if -now != length:
                    if now:
                        again.append((-now, number, at))
                    continue
                if self.k is not None and left.setdefault(numbers[at], self.k) == 0:
                    continue
                left[numbers[at]] = left.get(numbers[at], 0) - 1
                start = at - 1 if with_marker else at
                of_pieces[number].append((offsets[start], offsets[end], type_))
                for before in range(end):
                    limit[before] = min(limit[before], at)
            matches = again
        return [
            self.tokens((type_, at, end) for at, end, type_ in sorted(row)) for row in of_pieces
        ]

    def _longest(self, cut: Any, at: int) -> tuple[int, int, int, bool]:
        """Return the longest match: length, end, type, and whether it includes the marker."""
        characters, _, limit, marked, _ = cut
        starts = at == marked and (marked or not self.marks_start)
        forms = (self.initial, self.inside) if starts else (self.inside, self.initial)
        text = "".join(characters[at : min(limit[at], at + self.longest)])
        for end in range(min(limit[at], at + self.longest), at, -1):
            for form in forms[: 1 if self.strict and starts else 2]:
                if (type_ := form.get(text)) is not None:
                    with_marker = bool(marked and starts and form is self.initial)
                    return self.atom_count(characters[at:end]), end, type_, with_marker
            text = text[: -len(characters[end - 1])]
        return 0, at, 0, False
