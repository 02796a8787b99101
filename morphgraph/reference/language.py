"""Language codes, and a check that two word lists are of the same language.

The check uses wordfreq's lists of frequent words for the languages of the demos, and stays silent
when in doubt, or without wordfreq.
"""

import random
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from morphgraph.core.files import DEMOS

_LOOKED_AT = 2000
_MANY_WORDS = 20
_LEAST_SHARE = 0.03  # of words, some of them rare, that are in their own language's list
_CLEARLY = 1.5  # times as many words must be found as in any other list, and at least two more
_FOREIGN = 0.02  # below this share of many words found in a language's list, they are of another
_WORD = re.compile(r"[^\W\d_]{4,}")


def language_of(words: Sequence[str]) -> str:
    """Return the code of the demo language that words are of; empty if in doubt."""
    known, number = _known(words)
    best, second, *_ = sorted(known, key=lambda code: -known[code])
    least = max(known[second] * _CLEARLY, known[second] + 2, number * _LEAST_SHARE)
    return best if known[best] >= least else ""


def mismatch(words: Sequence[str], others: Sequence[str]) -> tuple[str, str]:
    """Return the languages of two word lists if they certainly differ: ("de", "en").

    The first is "" if it is neither a demo language nor that of the ``others``. Both are empty if
    the lists agree or in doubt.
    """
    one, two = language_of(words), language_of(others)
    if not two or one == two:
        return "", ""
    if one:
        return one, two
    known, number = _known(words)
    return ("", two) if number >= _MANY_WORDS and known[two] < number * _FOREIGN else ("", "")


def _known(words: Sequence[str]) -> tuple[dict[str, int], int]:
    """Count the words found in each language's list, in a random sample of at most 2,000.

    Words under four letters, and parts of words, are in too many lists.
    """
    asked = sorted({word.lower() for word in words if _WORD.fullmatch(word)})
    if len(asked) > _LOOKED_AT:
        asked = random.Random(0).sample(asked, _LOOKED_AT)
    counts = {code: sum(word in listed for word in asked) for code, listed in _lists().items()}
    return counts, len(asked)


@cache
def _lists() -> dict[str, frozenset[str]]:
    if find_spec("wordfreq") is None:
        return dict.fromkeys(DEMOS, frozenset())
    import wordfreq

    return {code: frozenset(wordfreq.get_frequency_dict(code, wordlist="small")) for code in DEMOS}


_CODES = """
ara:ar bul:bg ben:bn cat:ca ces:cs dan:da deu:de ell:el eng:en spa:es fas:fa fin:fi fra:fr
heb:he hin:hi hun:hu ind:id isl:is ita:it jpn:ja kor:ko lit:lt lav:lv mkd:mk msa:ms nob:nb
nld:nl pol:pl por:pt ron:ro rus:ru hbs:sh slk:sk slv:sl swe:sv tam:ta tur:tr ukr:uk urd:ur
vie:vi zho:zh
"""


def language_code(language: str) -> str:
    """Return wordfreq's code for a language; other codes stay as they are.

    >>> language_code("deu"), language_code("de"), language_code("tlh")
    ('de', 'de', 'tlh')
    """
    return dict(pair.split(":") for pair in _CODES.split()).get(language, language)
