"""Unigram: the most probable segmentation."""

from array import array
from collections.abc import Mapping
from typing import Any

from tokenizers import Token

from .vocabulary import Lookup


class Unigram(Lookup):
    """Viterbi over the log-probabilities of the types; earlier starts win ties.

    A character that is no type costs the smallest log-probability less ten; it becomes its bytes or
    the unknown token, and a run of unknown ones is one token. Source: Kudo 2018.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        vocabulary = model["method"]["model"]
        self.unknown = None if self.unknown_number is None else self.shown[self.unknown_number]
        scores = array("f" if vocabulary["single"] else "d", vocabulary["scores"])
        self.scores = scores.tolist()
        self._sum = array(scores.typecode, [0.0])
        self._penalty = self._rounded(min(self.scores) - 10.0)

    def _rounded(self, number: float) -> float:
        return array(self._sum.typecode, [number])[0] if self._sum.typecode == "f" else number

    def cut(self, piece: str) -> list[Token]:
        """Return the tokens of a piece."""
        characters, offsets = self.characters(piece)
        size = len(characters)
        # The best path to each place: its score, and the start and type of its last token,
        # None for a character that has none.
        best: list[tuple[float, int, int | None] | None] = [(0.0, 0, None)] + [None] * size
        for at in range(size):
            reached = best[at]
            assert reached is not None
            here, form, text, single = reached[0], self.spelled[at > 0], "", False
            for end in range(at + 1, min(size, at + self.longest) + 1):
                text += characters[end - 1]
                type_ = form.get(text)
                if type_ is None:
                    continue
                single = single or end == at + 1
                self._offer(best, end, here + self.scores[type_], at, type_)
            if not single:
                self._offer(best, at + 1, here + self._penalty, at, None)
        found: list[Token] = []
        end = size
        was_unknown = False
        while end > 0:
            way = best[end]
            assert way is not None
            _, at, type_ = way
            span = (offsets[at], offsets[end])
            if type_ is not None:
                found.append(Token(self.shown[type_], self.types[type_], span))
            elif self.byte_fallback:
                for byte in reversed(characters[at].encode()):
                    type_ = self.bytes[f"<0x{byte:02X}>"]
                    found.append(Token(self.shown[type_], self.types[type_], span))
                type_ = 0
            elif self.unknown_number is not None:
                if was_unknown:
                    span = (span[0], found.pop().offsets[1])
                name = self.types[self.unknown_number]
                found.append(Token(self.shown[self.unknown_number], name, span))
            was_unknown = type_ is None
            end = at
        return found[::-1]

    def _offer(self, best: list[Any], end: int, score: float, at: int, type_: int | None) -> None:
        score = self._rounded(score)
        if best[end] is None or score > best[end][0]:
            best[end] = (score, at, type_)
