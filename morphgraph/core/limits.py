"""The limits on input from files, each with its reason and a variable that raises it.

Files may come from anywhere. Their cost is known before a parser or a library sees them, so that an
invalid or hostile one gives an error at once, instead of exhausting memory or killing the process.
The limits are far above what published tokenisers, references and texts need; the user can raise
each by its environment variable.
"""

import os
from dataclasses import dataclass

from morphgraph.core.errors import FileFormatError, MorphGraphError


@dataclass(frozen=True)
class Limit:
    """An upper bound, unless the environment variable ``variable`` overrides it.

    ``what``: what is counted, in the plural; ``reason``: why there is this limit.

    >>> Limit("MORPHGRAPH_MAX_EXAMPLES", 3, "examples", "Three are enough.").check(4, "a.json")
    Traceback (most recent call last):
    ...
    morphgraph.core.errors.FileFormatError: a.json: it has 4 examples, the limit is 3. Choose a \
smaller file, or set MORPHGRAPH_MAX_EXAMPLES.
    """

    variable: str
    usual: int
    what: str
    reason: str

    @property
    def value(self) -> int:
        """The current limit; `MorphGraphError` if the variable is not a whole number."""
        chosen = os.environ.get(self.variable, "")
        if not chosen:
            return self.usual
        if not chosen.isdecimal() or int(chosen) < 1:
            raise MorphGraphError(
                f"{self.variable}={chosen} is not a whole number above 0. Correct it or unset it."
            )
        return int(chosen)

    def check(self, count: int, name: str, place: str = "", fix: str = "") -> None:
        """Raise `FileFormatError` for file ``name`` if ``count`` exceeds it; ``fix``: a remedy."""
        if count > self.value:
            raise self.exceeded(name, place, f"it has {count:,} {self.what}", fix)

    def exceeded(self, name: str, place: str, found: str, fix: str = "") -> FileFormatError:
        """Return the error for a file in which ``found`` exceeds the limit."""
        problem = f"{found}, the limit is {self.value:,}"
        fix = fix.removesuffix(".") or "Choose a smaller file"
        fix = f"{fix}, or set {self.variable}."
        return FileFormatError(name, place, problem, fix, quotes=False)


FILE_BYTES = Limit(
    "MORPHGRAPH_MAX_FILE_BYTES",
    100_000_000,
    "bytes",
    "A file is held in memory as a whole; the largest published tokenizer.json has 34 million.",
)
JSON_MEMORY = Limit(
    "MORPHGRAPH_MAX_JSON_MEMORY",
    450_000_000,
    "bytes of values",
    "A value of one byte takes up to 250 in memory; 256,000 types take 400 million.",
)
TYPES = Limit(
    "MORPHGRAPH_MAX_TYPES",
    1_000_000,
    "types",
    "A type of the merge graph takes up to 1 kB; the largest published vocabulary has 900,000.",
)
TYPE_CUTS = Limit(
    "MORPHGRAPH_MAX_TYPE_CUTS",
    200_000_000,
    "characters in its types, each as often as its type has some",
    "SentencePiece lists no merges: types are cut in every way. 256,000 types have 25 million.",
)
TYPES_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_TYPES_CHARACTERS",
    20_000_000,
    "characters in all types together",
    "Each is held several times; published vocabularies have up to ten characters a type.",
)
MERGES = Limit(
    "MORPHGRAPH_MAX_MERGES",
    2_000_000,
    "merges",
    "A merge takes up to 1 kB; the largest published tokeniser has 515,000.",
)
ADDED_TOKENS = Limit(
    "MORPHGRAPH_MAX_ADDED_TOKENS",
    20_000,
    "added tokens",
    "Each text is searched for all of them; published tokenisers have at most some thousand.",
)
CHARSMAP_BYTES = Limit(
    "MORPHGRAPH_MAX_CHARSMAP_BYTES",
    2_000_000,
    "bytes in its precompiled map of characters",
    "All paths through it are followed before it is used; those of SentencePiece have 250,000.",
)
PIPELINE_PARTS = Limit(
    "MORPHGRAPH_MAX_PIPELINE_PARTS",
    10_000,
    "parts in its normaliser, pre-tokeniser and decoder",
    "Each word goes through them; published tokenisers have some dozen, those of Train two each "
    "for a capital letter.",
)
GROWN_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_GROWN_CHARACTERS",
    2_000_000,
    "characters in one text, before and after its normaliser",
    "The characters of a text are held one by one, each with where it comes from.",
)
TEXT_GROWTH = Limit(
    "MORPHGRAPH_MAX_TEXT_GROWTH",
    100,
    "characters for one of a text",
    "What a normaliser or pre-tokeniser makes of it; Unicode's longest form has 18.",
)
PIPELINE_SECONDS = Limit(
    "MORPHGRAPH_MAX_PIPELINE_SECONDS",
    10,
    "seconds of the processor for a text in a pipeline of unknown parts",
    "A regular expression can take for ever; those in use take some microseconds for a word.",
)
PIPELINE_MEMORY = Limit(
    "MORPHGRAPH_MAX_PIPELINE_MEMORY",
    1_500_000_000,
    "bytes of memory for the same",
    "They run in a process of their own, which ends where it gets no more.",
)
TEXT_MEMORY = Limit(
    "MORPHGRAPH_MAX_TEXT_MEMORY",
    200_000_000,
    "bytes of text",
    "One wide character makes four bytes of each in memory, and lines are held beside the text.",
)
REFERENCE_LINES = Limit(
    "MORPHGRAPH_MAX_REFERENCE_LINES",
    1_000_000,
    "lines",
    "An entry takes 500 bytes and more; the largest reference of the catalogue has 93,000.",
)
TREE_NODES = Limit(
    "MORPHGRAPH_MAX_TREE_NODES",
    3_000_000,
    "nodes in its trees of morphemes",
    "A tree is read in Python, slowly; those of a language of CELEX have up to 600,000.",
)
LINE_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_LINE_CHARACTERS",
    10_000,
    "characters in a line",
    "Longer lines are left out: detecting a format tries several patterns on each.",
)
WORD_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_WORD_CHARACTERS",
    200,
    "characters in a word",
    "Longer words are left out: aligning morphs takes the square of the length.",
)
WORD_MORPHEMES = Limit(
    "MORPHGRAPH_MAX_WORD_MORPHEMES",
    200,
    "morphemes in a word",
    "Words with more are left out, for the same reason.",
)
READING_SECONDS = Limit(
    "MORPHGRAPH_MAX_READING_SECONDS",
    20,
    "seconds of the processor for a workbook",
    "It is read in a process of its own, which is then ended; 69,000 words take 13.",
)
READING_MEMORY = Limit(
    "MORPHGRAPH_MAX_READING_MEMORY",
    1_500_000_000,
    "bytes of memory for a workbook",
    "The same for the memory of that process; a workbook of 35 MB takes 130 million.",
)
COUNTED_WORDS = Limit(
    "MORPHGRAPH_MAX_COUNTED_WORDS",
    100_000_000,
    "rows",
    "More word counts than this are more than can be trained on.",
)
COUNTED_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_COUNTED_CHARACTERS",
    2**31,
    "characters in its words",
    "The same for the words together.",
)
TEXT_WORDS = Limit(
    "MORPHGRAPH_MAX_TEXT_WORDS",
    20_000_000,
    "different words",
    "The words of a text are counted in memory.",
)
CORPUS_LANGUAGES = Limit(
    "MORPHGRAPH_MAX_CORPUS_LANGUAGES",
    1_000,
    "languages",
    "Each has a number for each type; the largest parallel corpora have some 400.",
)
PAGE_BYTES = Limit(
    "MORPHGRAPH_MAX_PAGE_BYTES",
    64_000_000,
    "bytes in a page of a parquet file",
    "A page is unpacked as a whole; programs write pages of one or a few million bytes.",
)
PARQUET_PAGES = Limit(
    "MORPHGRAPH_MAX_PARQUET_PAGES",
    200_000,
    "pages",
    "The header of each is looked at; a file of 10 GB has 10,000.",
)
FOOTER_BYTES = Limit(
    "MORPHGRAPH_MAX_FOOTER_BYTES",
    8_000_000,
    "bytes in the footer of a parquet file",
    "It describes the columns and takes many times its length in memory; few have above 100,000.",
)
UNPACKING = Limit(
    "MORPHGRAPH_MAX_UNPACKING",
    50,
    "bytes of text for one of the file",
    "Text is packed to a third or a tenth of its length; a file that repeats one text is no text.",
)
YAML_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_YAML_CHARACTERS",
    300_000,
    "characters",
    "YAML is read in Python, slowly; an evaluation has some thousand characters.",
)
YAML_VALUES = Limit(
    "MORPHGRAPH_MAX_YAML_VALUES",
    50_000,
    "values",
    "What is repeated by an alias counts each time, as it takes time each time.",
)
PLAN_TASKS = Limit(
    "MORPHGRAPH_MAX_PLAN_TASKS",
    100_000,
    "cells of an evaluation",
    "A list too many multiplies quickly, and each cell has a state and results of its own.",
)
HASHED_FILES = Limit(
    "MORPHGRAPH_MAX_HASHED_FILES",
    20_000,
    "files",
    "An evaluation looks at all files of its corpora before it starts; more are joined first.",
)
HASHED_BYTES = Limit(
    "MORPHGRAPH_MAX_HASHED_BYTES",
    20_000_000_000,
    "bytes",
    "So much takes half a minute to read, in which a page that checks an evaluation waits.",
)
APP_MEMORY = Limit(
    "MORPHGRAPH_APP_MEMORY",
    1_450_000_000,
    "bytes of memory of the app before it drops what it computed",
    "What nobody asked for in the last seconds is computed again when somebody does.",
)
PUBLIC_TEXT = Limit(
    "MORPHGRAPH_PUBLIC_TEXT",
    1_000,
    "characters in a text that is cut into tokens",
    "A word. Patterns of published tokenisers can take the square of the length.",
)
PUBLIC_DAYS = Limit(
    "MORPHGRAPH_PUBLIC_DAYS", 1, "days", "A visitor of a public app comes back after a night."
)
PUBLIC_BROWSERS = Limit(
    "MORPHGRAPH_PUBLIC_BROWSERS",
    1_000,
    "browsers",
    "Beyond a few courses at once, looking for what has expired would take long.",
)
PUBLIC_BYTES = Limit(
    "MORPHGRAPH_PUBLIC_BYTES",
    200_000_000,
    "bytes of one visitor",
    "A tokeniser, a reference, models and some runs; ten such visitors fill 2 GB.",
)
PUBLIC_UPLOAD = Limit(
    "MORPHGRAPH_PUBLIC_UPLOAD",
    40,
    "megabytes of one upload",
    "The largest published tokenizer.json has 34, and all uploads of open pages are in memory.",
)
PUBLIC_UPLOADS = Limit(
    "MORPHGRAPH_PUBLIC_UPLOADS",
    64,
    "megabytes of all uploads of an open page",
    "A tokeniser, a reference and a model; what was taken from its field no longer counts.",
)
PUBLIC_RUNS = Limit(
    "MORPHGRAPH_PUBLIC_RUNS", 1, "runs at once", "One core is busy, others serve the pages."
)
PUBLIC_RUNS_EACH = Limit(
    "MORPHGRAPH_PUBLIC_RUNS_EACH",
    2,
    "runs of one visitor, waiting or running",
    "Nobody fills the queue.",
)
PUBLIC_WORKERS = Limit(
    "MORPHGRAPH_PUBLIC_WORKERS", 1, "processes of a run", "Each has a core and memory of its own."
)
PUBLIC_MEMORY = Limit(
    "MORPHGRAPH_PUBLIC_MEMORY",
    1_500_000_000,
    "bytes of memory of a process",
    "Large vocabularies take up to 1 GB.",
)
PUBLIC_SECONDS = Limit(
    "MORPHGRAPH_PUBLIC_SECONDS",
    600,
    "seconds of a run or a training",
    "The demo takes half a minute; who waits behind it should not wait for an hour.",
)
PUBLIC_TASKS = Limit(
    "MORPHGRAPH_PUBLIC_TASKS",
    300,
    "tasks of an evaluation",
    "The demo has 60, and a plan of so many is made while one types.",
)
PUBLIC_TYPES = Limit(
    "MORPHGRAPH_PUBLIC_TYPES",
    50_000,
    "types of a trained vocabulary",
    "The tokenisers of the literature that train on words have up to 40,000.",
)
PUBLIC_WORDS = Limit(
    "MORPHGRAPH_PUBLIC_WORDS",
    500_000,
    "different words to train on",
    "The large lists of wordfreq have some 300,000.",
)


def is_set(variable: str) -> bool:
    """Return whether an environment variable is set to anything but a clear no."""
    return os.environ.get(variable, "").strip().lower() not in ("", "0", "no", "off", "false")


def is_public() -> bool:
    """Return whether ``MORPHGRAPH_PUBLIC`` is set, as ``morphgraph app --public`` does.

    If in doubt, it is: the public mode is the more restrictive one.
    """
    return is_set("MORPHGRAPH_PUBLIC")


LIMITS = tuple(value for value in list(globals().values()) if isinstance(value, Limit))
"""All limits, in the order above."""
