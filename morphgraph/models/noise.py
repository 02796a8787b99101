"""Noise in texts: characters of a share of the words swapped, dropped or doubled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np


def without_spaces(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Texts in which each run of white space is dropped with probability ``share``.

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
    """Texts in which each word of two characters or more is damaged with probability ``share``.

    One place in it is drawn, and what happens there: two neighbours are swapped, a character is
    dropped, or doubled. A text with its number and the seed alone says what becomes of it.

    >>> noisy(["one two three"], 1.0, seed=1), noisy(["one two"], 0.0, seed=1)
    (['oen wo thee'], ['one two'])
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
    """A word with one character swapped with the next one, dropped or doubled.

    >>> [damaged("word", damage, 1) for damage in DAMAGES]
    ['wrod', 'wrd', 'woord']
    """
    if damage == "swap":
        return f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}"
    middle = "" if damage == "drop" else 2 * word[place]
    return f"{word[:place]}{middle}{word[place + 1 :]}"
