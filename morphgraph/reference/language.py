"""Codes of languages, and whether two lists of words are of one, as far as that can be known.

It is judged by the lists of frequent words that come with wordfreq, for the languages of the demos
only: nothing is said of what is in doubt.
"""

import random
import re
from collections.abc import Sequence
from functools import cache

from morphgraph.core.demos import DEMOS

_LOOKED_AT = 2000
_MANY_WORDS = 20
_LEAST_SHARE = 0.03
"""Of words that are in a language's list, where they are of that language: rare ones are not."""
_CLEARLY = 1.5
"""So many times as many words must be in its list as in any other, and at least two more."""
_FOREIGN = 0.02
"""Where of many words fewer than this are in a language's list, they are of another language."""
_WORD = re.compile(r"[^\W\d_]{4,}")


def language_of(words: Sequence[str]) -> str:
    """The code of the one language of the demos that words are of; nothing if in doubt.

    >>> language_of(["unhappy", "newspaper", "kitchen"]), language_of(["a", "the"])
    ('en', '')
    """
    known, number = _known(words)
    best, second, *_ = sorted(known, key=lambda code: -known[code])
    least = max(known[second] * _CLEARLY, known[second] + 2, number * _LEAST_SHARE)
    return best if known[best] >= least else ""


def clash(words: Sequence[str], others: Sequence[str]) -> tuple[str, str]:
    """The languages of two lists of words, if they differ for certain: ("de", "en").

    The first is "" where it is none of the demos' and not that of the ``others``. Two empty codes
    if nothing is wrong, or it is not known.

    >>> clash(["Zeitung", "Fenster", "glücklich"], ["newspaper", "window", "happily"])
    ('de', 'en')
    >>> clash(["door", "house", "garden"], ["newspaper", "window", "happily"])
    ('', '')
    """
    one, two = language_of(words), language_of(others)
    if not two or one == two:
        return "", ""
    if one:
        return one, two
    known, number = _known(words)
    return ("", two) if number >= _MANY_WORDS and known[two] < number * _FOREIGN else ("", "")


def _known(words: Sequence[str]) -> tuple[dict[str, int], int]:
    """How many words are in each language's list, and of how many: at most 2,000, drawn by chance.

    Words of less than four letters, and parts of words, are in the lists of too many languages.
    """
    asked = sorted({word.lower() for word in words if _WORD.fullmatch(word)})
    if len(asked) > _LOOKED_AT:
        asked = random.Random(0).sample(asked, _LOOKED_AT)
    found = {code: sum(word in listed for word in asked) for code, listed in _lists().items()}
    return found, len(asked)


@cache
def _lists() -> dict[str, frozenset[str]]:
    import wordfreq

    return {code: frozenset(wordfreq.get_frequency_dict(code, wordlist="small")) for code in DEMOS}


_PAIRS = """
ara:ar bul:bg ben:bn cat:ca ces:cs dan:da deu:de ell:el eng:en spa:es fas:fa fin:fi fra:fr
heb:he hin:hi hun:hu ind:id isl:is ita:it jpn:ja kor:ko lit:lt lav:lv mkd:mk msa:ms nob:nb
nld:nl pol:pl por:pt ron:ro rus:ru hbs:sh slk:sk slv:sl swe:sv tam:ta tur:tr ukr:uk urd:ur
vie:vi zho:zh
"""
_CODES = dict(pair.split(":") for pair in _PAIRS.split())
"""The three letters of references, and the shorter codes of wordfreq."""


def language_code(language: str) -> str:
    """The code that wordfreq has for a language; others are left as they are.

    >>> language_code("deu"), language_code("de"), language_code("tlh")
    ('de', 'de', 'tlh')
    """
    return _CODES.get(language, language)
