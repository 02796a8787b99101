"""Noise in texts: characters swapped, dropped or doubled in a share of the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np


def without_spaces(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Drop each run of white space in texts with probability ``share``.

    Source: Hofmann et al. 2022, §4.

    >>> without_spaces(["one two three"], 1.0, seed=1), without_spaces(["one two"], 0.0, seed=1)
    (['onetwothree'], ['one two'])
    """

    def dropped(random: np.random.Generator, run: re.Match[str]) -> str:
        return "" if random.random() < share else run[0]

    return [
        _SPACE.sub(partial(dropped, np.random.default_rng([seed, number])), text)
        for number, text in enumerate(texts)
    ]


_SPACE = re.compile(r"(?<=\S)\s+(?=\S)")
_WORD = re.compile(r"\S+")
DAMAGES = ("swap", "drop", "double")


def noisy(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Damage each word of at least two characters with probability ``share``.

    At one random place two neighbours are swapped, or a character is dropped or doubled. The result
    depends only on the seed and on the text and its index.
    """
    return [_damaged_text(text, share, seed, number) for number, text in enumerate(texts)]


def _damaged_text(text: str, share: float, seed: int, number: int) -> str:
    random = np.random.default_rng([seed, number])

    def word(found: re.Match[str]) -> str:
        chance, place, kind = random.random(3).tolist()
        if len(found[0]) < 2 or chance >= share:
            return found[0]
        damage = DAMAGES[int(kind * len(DAMAGES))]
        places = len(found[0]) - (damage == "swap")
        return damaged(found[0], damage, int(place * places))

    return _WORD.sub(word, text)


def damaged(word: str, damage: str, place: int) -> str:
    """Return a word with one character swapped with the next, dropped or doubled.

    >>> [damaged("word", damage, 1) for damage in DAMAGES]
    ['wrod', 'wrd', 'woord']
    """
    if damage == "swap":
        return f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}"
    middle = "" if damage == "drop" else 2 * word[place]
    return f"{word[:place]}{middle}{word[place + 1 :]}"
