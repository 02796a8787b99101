"""How pages read: `python -m docs.tools.reading [PAGE…]` counts words, sentences and long lines.

Code, its output, HTML and generated tables do not count; other tables do, as words.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from docs.tools import DOCS

ROOT = DOCS.parent
APART = {
    "api.md",
    "catalogue.md",
    "commands.md",
    "formats.md",
    "settings.md",
    "results.md",
    "glossary.md",
} | {
    "seeds.md",
    "CHANGELOG.md",
}
"""Generated, results, or a list of changes: neither their words nor their sentences count."""

PAGES = [
    path
    for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "plugins/*/docs/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name not in APART
]
"""What people read."""


class Reading(NamedTuple):
    """What was counted of a page."""

    words: int
    sentences: list[str]
    long_lines: list[str]

    @property
    def mean(self) -> float:
        """The mean number of words of a sentence."""
        return sum(map(words_of, self.sentences)) / max(len(self.sentences), 1)


def words_of(text: str) -> int:
    """Count words: what has a letter or a digit, between white space."""
    return sum(any(sign.isalnum() for sign in word) for word in text.split())


def read(page: str) -> Reading:
    """Count what a page in Markdown makes one read.

    >>> read("# Title\\n\\nIt ends. So does [this](there.md)!\\n").sentences
    ['It ends.', 'So does this!']
    """
    bare = re.sub(r"^```.*?^```$|<!-- from .*?<!-- end -->|<[^>]+>", "", page, flags=re.M | re.S)
    lines = [line for line in bare.splitlines() if len(line) > 120]
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
    words = words_of(" ".join([*sentences, *tables]))
    return Reading(words, sentences, [line for line in lines if not line.startswith("|")])


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]] or PAGES
    total, count = 0, 0
    for path in chosen:
        told = read(path.read_text(encoding="utf-8"))
        total, count = total + told.words, count + len(told.sentences)
        long = [sentence for sentence in told.sentences if words_of(sentence) > 40]
        print(f"{told.words:6,} words, {told.mean:4.1f} a sentence  {path}")
        for sentence in long if sys.argv[1:] else long[:1]:
            print(f"       {words_of(sentence)} words: {sentence[:80]} …")
        if told.long_lines:
            print(f"       {len(told.long_lines)} lines of more than 120 characters")
    print(f"{total:6,} words, {total / max(count, 1):4.1f} a sentence (tables among the words)")
