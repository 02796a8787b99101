"""How pages read: `python -m docs.tools.reading [PAGE…]` counts words, sentences and long lines.

Code, its output, HTML and generated tables do not count; of other tables words do, and numbers
don't. Without pages it says what is wrong with any, and counts all of them.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from docs.tools import DOCS

ROOT = DOCS.parent
MOST_WORDS, LONGEST_SENTENCE, LONGEST_LINE = 900, 40, 120
_GENERATED = ("api", "catalogue", "commands", "formats", "settings", "glossary", "seeds")
_APART = {"CHANGELOG.md", "NOTICE.md", "results.md", *(f"{name}.md" for name in _GENERATED)}
"""Generated, results, or lists of changes and licences: these are looked up, and not counted."""

PAGES = [
    path
    for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "docs/*/*.ipynb", "plugins/*/docs/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name not in _APART
]
"""What people read."""


class Reading(NamedTuple):
    """What was counted of a page."""

    words: int
    sentences: list[str]
    long_lines: list[str]

    @property
    def longest(self) -> str:
        """The sentence of most words."""
        return max(self.sentences, key=words_of, default="")

    @property
    def mean(self) -> float:
        """The mean number of words of a sentence."""
        return sum(map(words_of, self.sentences)) / max(len(self.sentences), 1)

    @property
    def faults(self) -> list[str]:
        """What keeps people from reading it to the end."""
        faults = [f"{self.words} words"] if self.words > MOST_WORDS else []
        long = [each for each in self.sentences if words_of(each) > LONGEST_SENTENCE]
        faults += [f"{words_of(each)} words: {each[:80]} …" for each in long]
        return faults + [f"a line of {len(line)} characters" for line in self.long_lines]


def words_of(text: str) -> int:
    """Count words: what has a letter or a digit, between white space."""
    return sum(any(sign.isalnum() for sign in word) for word in text.split())


def read(page: str) -> Reading:
    """Count what a page in Markdown makes one read.

    >>> read("# Title\\n\\nIt ends. So does [this](there.md)!\\n").sentences
    ['It ends.', 'So does this!']
    """
    bare = re.sub(r"^```.*?^```$|<!-- from .*?<!-- end -->|<[^>]+>", "", page, flags=re.M | re.S)
    lines = [line for line in bare.splitlines() if len(line) > LONGEST_LINE]
    bare = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", bare)
    bare = re.sub(r"`[^`\n]+`", "code", bare)
    tables = [line for line in bare.splitlines() if line.startswith("|")]
    prose = re.sub(r"^(\||#|---).*$", "", bare, flags=re.M)
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose)
    sentences = [
        " ".join(sentence.split())
        for block in blocks
        for sentence in re.split(r"(?<=[.!?])[\"”)*_]*\s+(?=[^a-z\s])", block)
        if words_of(sentence)
    ]
    cells = re.sub(r"(?<!\S)[^\sA-Za-z]+(?!\S)", "", " ".join(tables))
    words = words_of(" ".join([*sentences, cells]))
    return Reading(words, sentences, [line for line in lines if not line.startswith("|")])


def read_all(pages: Sequence[Path] = PAGES) -> dict[Path, Reading]:
    """Read pages, and of notebooks what stands between the cells."""
    return {path: read(_text(path)) for path in pages}


def _text(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(e["source"]) for e in cells if e["cell_type"] == "markdown")


def together(readings: dict[Path, Reading]) -> Reading:
    """Return all as one, but for what was measured."""
    told = [each for path, each in readings.items() if path.name != "performance.md"]
    sentences = [sentence for each in told for sentence in each.sentences]
    return Reading(sum(each.words for each in told), sentences, [])


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]]
    found = read_all(named or PAGES)
    for path, told in found.items():
        if named or told.faults:
            print(f"{told.words:6,} words, {told.mean:4.1f} a sentence  {path.relative_to(ROOT)}")
            print("".join(f"       {fault}\n" for fault in told.faults), end="")
    whole = together(found)
    print(
        f"{whole.words:,} words to read (tables among them); sentences have {whole.mean:.1f} words,"
        f" the longest {words_of(whole.longest)}"
    )
