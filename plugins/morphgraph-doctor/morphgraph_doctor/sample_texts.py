"""The texts on which programs are compared that read one tokeniser."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

_COUNT = 300
_MOST_DIGITS = 12
_RUNS = (
    *(" ", "  ", "   ", "    ", " " * 7, " " * 16, " " * 33, "\t", "\t\t", "\n", "\n\n", "\n\n\n"),
    *("\r\n", "\r\n\r\n", " \n", "\n ", "\n\t", "\u00a0", "\u2009", "\u200b", "\u3000"),
)
_SIGNS = "\0\1\x07\x08\x0b\x0c\x1b\x1f\x7f\x85\u200d\u2028\u202e\ufeff\ue000\U0010ffff"


def sample_texts() -> list[str]:
    """Return 300 short texts: of many scripts, code, emoji, spaces, digits, signs, both forms.

    >>> texts = sample_texts()
    >>> len(texts), len(set(texts)), texts[0]
    (300, 300, 'Two dogs run across a wet field.')
    """
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    texts = [text for group in listed.values() for text in group]
    return list(dict.fromkeys((*texts, *_made(listed["sentences"]))))[:_COUNT]


def _made(sentences: list[str]) -> Iterator[str]:
    for size in range(1, _MOST_DIGITS + 1):
        digits = "9876543210123"[-size:]
        yield from (digits, f"a{digits}b", f"in {digits}, {digits}.5")
    for run in _RUNS:
        yield from (run, f"a{run}b", f"{run}a.{run}1{run}")
    yield from (f"a{sign}b {sign}" for sign in _SIGNS)
    yield from (normalize(form, text) for text in sentences for form in ("NFD", "NFKC"))
    yield from (f" {text} " for text in sentences)
    yield from map(str.upper, sentences)
