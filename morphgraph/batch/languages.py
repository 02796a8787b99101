"""Codes of languages: the three letters of references, and the shorter ones of wordfreq."""

_CODES = {
    "ara": "ar",
    "bul": "bg",
    "ben": "bn",
    "cat": "ca",
    "ces": "cs",
    "dan": "da",
    "deu": "de",
    "ell": "el",
    "eng": "en",
    "spa": "es",
    "fas": "fa",
    "fin": "fi",
    "fra": "fr",
    "heb": "he",
    "hin": "hi",
    "hun": "hu",
    "ind": "id",
    "isl": "is",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "lit": "lt",
    "lav": "lv",
    "mkd": "mk",
    "msa": "ms",
    "nob": "nb",
    "nld": "nl",
    "pol": "pl",
    "por": "pt",
    "ron": "ro",
    "rus": "ru",
    "hbs": "sh",
    "slk": "sk",
    "slv": "sl",
    "swe": "sv",
    "tam": "ta",
    "tur": "tr",
    "ukr": "uk",
    "urd": "ur",
    "vie": "vi",
    "zho": "zh",
}


def language_code(language: str) -> str:
    """The code that wordfreq has for a language; others are left as they are.

    >>> language_code("deu"), language_code("de"), language_code("tlh")
    ('de', 'de', 'tlh')
    """
    return _CODES.get(language, language)
