"""BPE-dropout: during training, merges are left out at random."""

import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from tokenizers import Token

from .bte import Merged, Merging

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def mixed(state: int) -> int:
    """Return SplitMix64's output for a state (Steele et al. 2014)."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _WORD
    return state ^ (state >> 31)


def _worker() -> str:
    """Return the seed of this process's part of a PyTorch loader, different in each epoch.

    Each epoch begins with copies of the tokeniser, whose turns are all the same.
    """
    data = sys.modules.get("torch.utils.data")
    worker = data.get_worker_info() if data is not None else None
    return "" if worker is None else f"{worker.seed} "


class Dropping(Merging):
    """At each step, leaves out applicable occurrences of merges with probability ``p``.

    The draws for a text depend on ``seed``, on `turn`, on the text, and on the worker of a PyTorch
    loader, if any, so neither the order nor the threads in which texts are encoded matter. Unless
    `training`, no merge is left out. Source: Provilkov et al. 2020.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.p: float = model["method"]["p"]
        self.seed: int = model["method"]["seed"]

    def pre_tokenize(self, text: Any) -> None:
        """Bypass the cache during training."""
        pieces = [(piece, ()) for piece, _, tokens in text.get_splits() if tokens is None]
        found = iter(self.several(pieces))
        text.tokenize(lambda _: next(found))

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """Return the tokens of all pieces of a text, drawn anew during training."""
        if not self.training or self.p == 0:
            return super().several(pieces)
        texts = [piece for piece, _ in pieces]
        return self.draw(texts, self.sample(texts))

    def sample(self, pieces: list[str]) -> int:
        """Return the index of the sample that is drawn for the pieces of a text."""
        said = "\0".join([f"{_worker()}{self.turn}", *pieces]).encode()
        return int.from_bytes(blake2b(said, digest_size=8).digest(), "big")

    def draw(self, pieces: list[str], sample: int) -> list[list[Token]]:
        """Return one sample of the tokens of a text: that of the first text in morphgraph."""
        key = mixed((self.seed + _STEP) & _WORD) ^ sample
        state = mixed((mixed((key + _STEP) & _WORD) + _STEP) & _WORD)
        found = []
        for piece in pieces:
            atoms = self.atoms(piece)
            tokens: list[Merged] = [(number, at, at) for at, (number, *_) in enumerate(atoms)]
            while True:
                for at, count, result in self._applicable(tokens):
                    state = (state + _STEP) & _WORD
                    if (mixed(state) >> 11) * 2.0**-53 >= self.p:
                        span = tokens[at][1], tokens[at + count - 1][2]
                        tokens[at : at + count] = [(result, *span)]
                        break
                else:
                    break
            found.append(
                [
                    Token(number, self.types[number], (atoms[first][1], atoms[last][2]))
                    for number, first, last in tokens
                    if number is not None
                ]
            )
        return found

    def _ranks(self, settings: Mapping[str, Any]) -> Any:
        """Return ranks in which tied merges are visited one by one."""
        return range(len(settings["merges"]))

    def _applicable(self, tokens: list[Merged]) -> list[tuple[int, int, int]]:
        """Return where merges apply, their numbers of tokens, and results, by rank and place."""
        numbers = [number for number, *_ in tokens]
        found = [
            (order, at, len(others) + 2, result)
            for at in range(len(numbers) - 1)
            for order, others, result in self._starts.get((numbers[at], numbers[at + 1]), ())
            if tuple(numbers[at + 2 : at + 2 + len(others)]) == others
        ]
        return [place for _, *place in sorted(found)]  # type: ignore[misc]
