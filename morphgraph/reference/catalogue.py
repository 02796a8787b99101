"""The catalogue of public gold references: contents, owners, licences and citations.

Nothing here touches the network; `morphgraph.reference.downloads` fetches a source when asked to.
Sizes and SHA-256 sums are those of the published files. A source without them is listed only, with
what to do by hand: a sum that was not computed from the file would prove nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from morphgraph.core.errors import MorphGraphError

LANGUAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "cat": ("ca", "Catalan"),
        "ces": ("cs", "Czech"),
        "deu": ("de", "German"),
        "eng": ("en", "English"),
        "fin": ("fi", "Finnish"),
        "fra": ("fr", "French"),
        "hbs": ("sh", "Serbo-Croatian"),
        "hun": ("hu", "Hungarian"),
        "ita": ("it", "Italian"),
        "mon": ("mn", "Mongolian"),
        "nld": ("nl", "Dutch"),
        "pol": ("pl", "Polish"),
        "por": ("pt", "Portuguese"),
        "spa": ("es", "Spanish"),
        "swe": ("sv", "Swedish"),
        "tur": ("tr", "Turkish"),
        "mul": ("mul", "many languages"),
    }
)
"""ISO 639-3 code → two-letter code and English name."""

BY_SA_3 = ("CC BY-SA 3.0", "https://creativecommons.org/licenses/by-sa/3.0/")
BY_NC_4 = ("CC BY-NC 4.0", "https://creativecommons.org/licenses/by-nc/4.0/")
BY_NC_SA_4 = ("CC BY-NC-SA 4.0", "https://creativecommons.org/licenses/by-nc-sa/4.0/")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One public gold reference.

    `languages` are ISO 639-3 codes, `format` is a key of `morphgraph.reference.FORMATS`, `size` is
    in bytes, `entries` counts non-blank lines, including any that a reader skips; `citation` is
    BibTeX. A source that cannot be fetched has no `url`, `sha256` or `size`, but `by_hand`: where
    its file is and what to do with it.
    """

    name: str
    title: str
    languages: tuple[str, ...]
    format: str
    licence: str
    licence_url: str
    home: str
    citation: str
    entries: int | None = None
    url: str = ""
    sha256: str = ""
    size: int = 0
    by_hand: str = ""

    @property
    def can_be_fetched(self) -> bool:
        """Whether its address and checksum are known.

        >>> SOURCES["morphynet-deu"].can_be_fetched, SOURCES["celex"].can_be_fetched
        (True, False)
        """
        return bool(self.url and self.sha256)

    @property
    def language_names(self) -> str:
        """The English names of its languages.

        >>> SOURCES["celex"].language_names
        'Dutch, English, German'
        """
        return ", ".join(LANGUAGES[code][1] for code in self.languages)


def find_source(name: str) -> CatalogueEntry:
    """Return the source of a name, with or without ``catalogue:`` before it.

    An unknown name raises `MorphGraphError` with the most similar names.

    >>> find_source("catalogue:morphynet-deu").languages
    ('deu',)
    """
    bare = name.removeprefix("catalogue:")
    found = SOURCES.get(bare)
    if found is None:
        like = difflib.get_close_matches(bare, SOURCES, n=3)
        hint = f"Did you mean {' or '.join(like)}? " if like else ""
        raise MorphGraphError(
            f"The catalogue has no source {bare!r}. {hint}"
            "“morphgraph reference list” shows all of them."
        )
    return found


def sources_of(language: str | None = None) -> list[CatalogueEntry]:
    """Return all sources, or those of one language by its code or English name.

    A language without sources raises `MorphGraphError`, which lists the others.

    >>> [source.name for source in sources_of("nld")]
    ['celex']
    >>> sources_of("de") == sources_of("German") == sources_of("deu")
    True
    """
    everything = list(SOURCES.values())
    if language is None:
        return everything
    wanted = language.casefold()
    found = [
        source
        for source in everything
        if any(wanted in (code, *map(str.casefold, LANGUAGES[code])) for code in source.languages)
    ]
    if not found:
        codes = sorted({code for source in everything for code in source.languages})
        raise MorphGraphError(
            f"The catalogue has no source of the language {language!r}. "
            f"Choose one of: {', '.join(codes)}."
        )
    return found


# --------------------------------------------------------------------------- MorphyNet

_MORPHYNET_CITATION = """\
@inproceedings{batsuren-etal-2021-morphynet,
    title = "{M}orphy{N}et: a Large Multilingual Database of Derivational and Inflectional Morphology",
    author = "Batsuren, Khuyagbaatar and Bella, G{\\'a}bor and Giunchiglia, Fausto",
    booktitle = "Proceedings of the 18th SIGMORPHON Workshop on Computational Research in Phonetics, Phonology, and Morphology",
    year = "2021",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.sigmorphon-1.5/",
    pages = "39--48",
}"""  # noqa: E501

_MORPHYNET_RAW = "https://raw.githubusercontent.com/kbatsuren/MorphyNet/main"

_DERIVATIONS = (  # language, lines, bytes, SHA-256
    ("cat", 8_018, 275_593, "0e6684d077249ce846a8dea67fb3fa5fca70dcdbf9bd0464c6bd654e392f6465"),
    ("ces", 32_336, 1_115_210, "c0bc0cdcfaedf347307accaba00e4994463589a69ea7b3c561408e04fe3feef1"),
    ("deu", 29_381, 1_057_628, "21a5fb2432e14fd995cc3ce1b44fef0f975c25c2e8368232df006395cf97033c"),
    ("fin", 36_843, 1_368_065, "77e4a244952e9b42b466d50919a2ccbb1e6dbc3c49acddec22b8dcd8e29b1df8"),
    ("fra", 72_952, 2_683_375, "eaf40688e3175f21d05ee89fe3669d6f3b224e6a99b43260e24e0e1744563447"),
    ("hbs", 4_915, 188_970, "0d2377f05510291bb34040c7d2ce6e4d74cd304f8acad5f4ff32a3f7c1da2d55"),
    ("hun", 28_176, 979_300, "f384851548867484c94988f499a7645189d93d030993cc6cf06e53ee70975791"),
    ("ita", 58_848, 2_209_996, "b0988c57afdaef185bf6d9e557f994d9c960b634eb6cf9f5040c1de02f66ed99"),
    ("mon", 1_629, 75_600, "baa8dae98ee6aa89c7833a52b7a84e5527dc73109e435f99578f023d06e7e446"),
    ("pol", 58_711, 2_101_424, "98e38d08941449f4dbc0a24ab83f40236b5a442fb48f495179f8075da55890a2"),
    ("por", 11_774, 432_444, "2c9a92f63e23de9d7390cc2a43611ca041db31fef121a50e4af0344d1aa55c52"),
    ("spa", 30_777, 1_097_625, "1f1d98ec6ffa7ba1ef55dcae1db3d98931f749db5390c810887c71f80a20d519"),
    ("swe", 9_244, 302_907, "630bf9cca44096ab0d331c6a50d577cb575ce804852cebd150ec65aaad4edfb7"),
)
_INFLECTIONS = (
    ("mon", 30_129, 2_001_616, "6e54e55c3dd56442c0d33a2f362704cc702f29e587bd15c308a13e9910be4452"),
)


def _morphynet(kind: str) -> Iterator[CatalogueEntry]:
    for language, entries, size, sha256 in _DERIVATIONS if kind == "derivation" else _INFLECTIONS:
        yield CatalogueEntry(
            name=f"morphynet-{language}" + ("" if kind == "derivation" else f"-{kind}"),
            title=f"MorphyNet, {kind}s",
            languages=(language,),
            format=f"morphynet-{kind}",
            licence=BY_SA_3[0],
            licence_url=BY_SA_3[1],
            home="https://github.com/kbatsuren/MorphyNet",
            citation=_MORPHYNET_CITATION,
            entries=entries,
            url=f"{_MORPHYNET_RAW}/{language}/{language}.{kind}al.v1.tsv",
            sha256=sha256,
            size=size,
        )


# --------------------------------------------------------------------------- SIGMORPHON 2022

_SIGMORPHON_CITATION = """\
@inproceedings{batsuren-etal-2022-sigmorphon,
    title = "The {SIGMORPHON} 2022 Shared Task on Morpheme Segmentation",
    author = "Batsuren, Khuyagbaatar and Bella, G{\\'a}bor and Arora, Aryaman and Martinovic, Viktor and Gorman, Kyle and {\\v{Z}}abokrtsk{\\'y}, Zden{\\v{e}}k and Ganbold, Amarsanaa and Dohnalov{\\'a}, {\\v{S}}{\\'a}rka and {\\v{S}}ev{\\v{c}}{\\'i}kov{\\'a}, Magda and Pelegrinov{\\'a}, Kate{\\v{r}}ina and Giunchiglia, Fausto and Cotterell, Ryan and Vylomova, Ekaterina",
    booktitle = "Proceedings of the 19th SIGMORPHON Workshop on Computational Research in Phonetics, Phonology, and Morphology",
    year = "2022",
    address = "Seattle, Washington",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2022.sigmorphon-1.11/",
    doi = "10.18653/v1/2022.sigmorphon-1.11",
    pages = "103--116",
}"""  # noqa: E501

_SIGMORPHON_RAW = "https://raw.githubusercontent.com/sigmorphon/2022SegmentationST/main/data"

_SIGMORPHON = (  # language, lines, bytes, SHA-256
    ("ces", 4_000, 110_524, "45ed586232c1e2113b28025e4fdfd61cfe0ee7e45e064d8802b7ffa8609a8115"),
    ("eng", 57_371, 1_752_934, "c153babf32993fda8aa9ed5d64c36ee49bee3d7962f1b1d4bebb7c9fd4f506b8"),
    ("fra", 31_585, 1_069_226, "01cdba4b29ae2bbcf4c145a6c432db1be80204ee6c257712f47b745734e62e7a"),
    ("hun", 92_796, 3_490_287, "7646f6cdd4ebe188befda730f0b0b92204c35050f54245802e4e460432eef0fa"),
    ("ita", 46_151, 1_632_344, "3cf9fe692d649cb02bacf8a68f4ecffdb474c71fe38dd3b73235d9bec45f167e"),
    ("spa", 86_085, 3_184_699, "c774421402b3ced3b25603608c291ea42a821618ec13bc421ca4a5458577656b"),
)


def _sigmorphon() -> Iterator[CatalogueEntry]:
    for language, entries, size, sha256 in _SIGMORPHON:
        yield CatalogueEntry(
            name=f"sigmorphon2022-{language}",
            title="SIGMORPHON 2022, words (development set)",
            languages=(language,),
            format="sigmorphon2022",
            licence=BY_SA_3[0],
            licence_url=BY_SA_3[1],
            home="https://github.com/sigmorphon/2022SegmentationST",
            citation=_SIGMORPHON_CITATION,
            entries=entries,
            url=f"{_SIGMORPHON_RAW}/{language}.word.dev.tsv",
            sha256=sha256,
            size=size,
        )


# --------------------------------------------------------------------------- fetched by hand

_BY_HAND = (
    CatalogueEntry(
        name="morpholex-en",
        title="MorphoLex English",
        languages=("eng",),
        format="morpholex",
        licence=BY_NC_SA_4[0],
        licence_url=BY_NC_SA_4[1],
        home="https://github.com/hugomailhot/MorphoLex-en",
        entries=68_624,
        citation="""\
@article{sanchez-gutierrez-etal-2018-morpholex,
    title = "{MorphoLex}: A derivational morphological database for 70,000 {English} words",
    author = "S{\\'a}nchez-Guti{\\'e}rrez, Claudia H. and Mailhot, Hugo and Deacon, S. H{\\'e}l{\\`e}ne and Wilson, Maximiliano A.",
    journal = "Behavior Research Methods",
    volume = "50",
    number = "4",
    pages = "1568--1580",
    year = "2018",
    doi = "10.3758/s13428-017-0981-8",
}""",  # noqa: E501
        by_hand="Download MorphoLEX_en.xlsx from its home page.",
    ),
    CatalogueEntry(
        name="ladec",
        title="LADEC, English compounds",
        languages=("eng",),
        format="ladec",
        licence=BY_NC_4[0],
        licence_url=BY_NC_4[1],
        home="https://era.library.ualberta.ca/items/dc3b9033-14d0-48d7-b6fa-6398a30e61e4",
        entries=8_956,
        citation="""\
@article{gagne-etal-2019-ladec,
    title = "{LADEC}: The Large Database of {English} Compounds",
    author = "Gagn{\\'e}, Christina L. and Spalding, Thomas L. and Schmidtke, Daniel",
    journal = "Behavior Research Methods",
    volume = "51",
    pages = "2152--2179",
    year = "2019",
    doi = "10.3758/s13428-019-01282-6",
}""",
        by_hand="Download LADECv1-2019.csv from its home page.",
    ),
    CatalogueEntry(
        name="unisegments",
        title="Universal Segmentations 1.0, 38 data sets",
        languages=("mul",),
        format="unisegments",
        licence="one for each data set",
        licence_url="https://hdl.handle.net/11234/1-4629",
        home="https://ufal.mff.cuni.cz/universal-segmentations",
        citation="""\
@misc{zabokrtsky-etal-2022-unisegments,
    title = "Universal Segmentations 1.0 ({UniSegments} 1.0)",
    author = "{\\v{Z}}abokrtsk{\\'y}, Zden{\\v{e}}k and Bafna, Nyati and Bodn{\\'a}r, Jan and Kyj{\\'a}nek, Luk{\\'a}{\\v{s}} and Svoboda, Emil and {\\v{S}}ev{\\v{c}}{\\'i}kov{\\'a}, Magda and Vidra, Jon{\\'a}{\\v{s}} and others",
    note = "{LINDAT}/{CLARIAH-CZ} digital library, Charles University",
    year = "2022",
    url = "https://hdl.handle.net/11234/1-4629",
}""",  # noqa: E501
        by_hand="Download UniSegments-1.0-public.tar.gz from https://hdl.handle.net/11234/1-4629, "
        "unpack it, and take the .useg file of your language. Its folder names its licence.",
    ),
    CatalogueEntry(
        name="morpho-challenge-2010",
        title="Morpho Challenge 2010, gold segmentations",
        languages=("eng", "fin", "tur"),
        format="morpho-challenge",
        licence="all rights with the organisers",
        licence_url="http://morpho.aalto.fi/events/morphochallenge2010/",
        home="http://morpho.aalto.fi/events/morphochallenge2010/datasets.shtml",
        citation="""\
@inproceedings{kurimo-etal-2010-morpho,
    title = "{M}orpho {C}hallenge 2005-2010: Evaluations and Results",
    author = "Kurimo, Mikko and Virpioja, Sami and Turunen, Ville and Lagus, Krista",
    booktitle = "Proceedings of the 11th Meeting of the {ACL} Special Interest Group on Computational Morphology and Phonology",
    year = "2010",
    address = "Uppsala, Sweden",
    publisher = "Association for Computational Linguistics",
    pages = "87--95",
}""",  # noqa: E501
        by_hand="Download a gold standard segmentation, such as "
        "goldstd_combined.segmentation.eng, from its home page. Mind the organisers' rules.",
    ),
    CatalogueEntry(
        name="celex",
        title="CELEX 2, lemmas with StrucLab",
        languages=("nld", "eng", "deu"),
        format="celex",
        licence="CELEX Agreement (LDC)",
        licence_url="https://catalog.ldc.upenn.edu/LDC96L14",
        home="https://catalog.ldc.upenn.edu/LDC96L14",
        citation="""\
@misc{baayen-etal-1995-celex,
    title = "{CELEX2} {LDC96L14}",
    author = "Baayen, R. Harald and Piepenbrock, Richard and Gulikers, Leon",
    year = "1995",
    address = "Philadelphia",
    publisher = "Linguistic Data Consortium",
    doi = "10.35111/gs6s-gm48",
}""",
        by_hand="It cannot be downloaded freely: the Linguistic Data Consortium (LDC) licenses it. "
        "With a licence, take the lemma morphology of your language, which has the column StrucLab "
        "(dml.cd, eml.cd or gml.cd).",
    ),
)

_ALL = (*_morphynet("derivation"), *_morphynet("inflection"), *_sigmorphon(), *_BY_HAND)

SOURCES: Mapping[str, CatalogueEntry] = MappingProxyType({source.name: source for source in _ALL})
"""The sources by name; first those that can be fetched, by collection."""
