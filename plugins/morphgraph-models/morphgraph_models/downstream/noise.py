"""Noise in texts that models are tested on: damaged words, and spaces that are missing."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

_SPACE = re.compile(r"(?<=\S)\s+(?=\S)")
_WORD = re.compile(r"\S+")
DAMAGES = ("swap", "drop", "double")

NoiseIn = Literal["words", "spaces"]


def without_spaces(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Drop each run of white space in texts with probability ``share``.

    Source: Hofmann et al. 2022, §4.

    >>> without_spaces(["one two three"], 1.0, seed=1), without_spaces(["one two"], 0.0, seed=1)
    (['onetwothree'], ['one two'])
    """
    return _changed(texts, _SPACE, seed, lambda run, draw: "" if draw.random() < share else run)


def noisy(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Damage each word of at least two characters with probability ``share``.

    At one random place two neighbours are swapped, or a character is dropped or doubled. The result
    depends only on the seed and on the text and its index.
    """

    def word(found: str, random: np.random.Generator) -> str:
        chance, place, kind = random.random(3).tolist()
        if len(found) < 2 or chance >= share:
            return found
        damage = DAMAGES[int(kind * len(DAMAGES))]
        return damaged(found, damage, int(place * (len(found) - (damage == "swap"))))

    return _changed(texts, _WORD, seed, word)


def _changed(
    texts: Sequence[str],
    pattern: re.Pattern[str],
    seed: int,
    change: Callable[[str, np.random.Generator], str],
) -> list[str]:
    def of(number: int, text: str) -> str:
        random = np.random.default_rng([seed, number])
        return pattern.sub(lambda run: change(run[0], random), text)

    return [of(number, text) for number, text in enumerate(texts)]


def damaged(word: str, damage: str, place: int) -> str:
    """Return a word with one character swapped with the next, dropped or doubled.

    >>> [damaged("word", damage, 1) for damage in DAMAGES]
    ['wrod', 'wrd', 'woord']
    """
    if damage == "swap":
        return f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}"
    middle = "" if damage == "drop" else 2 * word[place]
    return f"{word[:place]}{middle}{word[place + 1 :]}"


NOISE = {"words": ("noisy_", noisy), "spaces": ("unspaced_", without_spaces)}
"""For each thing that noise damages, the prefix of the metrics with it, and the damage."""
