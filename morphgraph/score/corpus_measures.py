"""Token counts of texts of any size, by file or language, and the parity of languages.

Texts are read in blocks, as for counting. Words are counted in tables of bounded size; whenever one
is full, each of its words is segmented once and weighted with its count.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.limits import CORPUS_LANGUAGES
from morphgraph.core.text import base_name, unique_labels
from morphgraph.corpus.count_tasks import CountingTask
from morphgraph.corpus.counting import LEAST_MEMORY, Runner, run_here
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.text import LONGEST_WORD, PACKED
from morphgraph.corpus.text_blocks import (
    BadLines,
    BadTexts,
    TextBlock,
    TextFile,
    find_texts,
    labelled_texts,
    text_blocks,
)
from morphgraph.corpus.word_table import TooLongWord, WordTable, as_rows
from morphgraph.kernels import Int64
from morphgraph.score.compression import ALPHA, Compression, check_alpha, compress
from morphgraph.score.parity import gini, lorenz_curve
from morphgraph.score.vocabulary_health import unused_types
from morphgraph.segment.segmenter import Segmenter

Unit = Literal["words", "lines"]
OnMeasured = Callable[[float], None] | None

ALL_TEXT = "all"
"""The label of the total over all files or languages."""

_AT_ONCE = 2**20
"""Roughly how many bytes of words are segmented at once."""

_BYTES_A_WORD = 4 * 68
"""Memory of a table per word: slots at least a quarter full, and space to sort them."""


# ------------------------------------------------------------------------------ a block


@dataclass
class TextTotals:
    """The totals of some text: lines, a checksum of its words, and tokens by segmenter.

    A line, or a table's cell, counts if it has more than white space. The checksum does not depend
    on the order of words.
    """

    compressions: list[Compression]
    lines: int = 0
    checksum: int = 0

    def __add__(self, other: TextTotals) -> TextTotals:
        pairs = zip(self.compressions, other.compressions, strict=True)
        return TextTotals(
            [one + more for one, more in pairs],
            self.lines + other.lines,
            (self.checksum + other.checksum) % 2**64,
        )


def measure_block(
    task: CountingTask, segmenters: Sequence[Segmenter]
) -> tuple[int, dict[str, TextTotals], BadTexts]:
    """Measure a block of text; return its number, and its totals by label."""
    block: TextBlock = task["block"]
    bad = BadTexts(task["bad_lines"])
    measuring = _Measuring(segmenters, task["unit"], task["memory"], block, bad)
    for found in labelled_texts(block, task["column"], task["by"], bad):
        for label, texts in found.items():
            measuring.add(label, texts)
    return task["number"], measuring.finished(), bad


class _Measuring:
    """The totals of a block while it is read; labels share the memory in equal parts."""

    def __init__(
        self,
        segmenters: Sequence[Segmenter],
        unit: Unit,
        memory: int,
        block: TextBlock,
        bad: BadTexts,
    ) -> None:
        self.segmenters, self.unit, self.memory = segmenters, unit, memory
        self.block, self.bad = block, bad
        self.totals: dict[str, TextTotals] = {}
        self.tables: dict[str, WordTable] = {}
        self.shares = 1

    def add(self, label: str, texts: Iterable[bytes]) -> None:
        if label not in self.totals:
            self._begin(label)
        texts = [text for text in texts if not _is_empty(text)]
        if self.unit == "lines":
            texts = [text for text in texts if not self._is_too_long(text)]
            self._add_lines(label, texts)
        else:
            self._add_words(label, b"\n".join(texts))
        self.totals[label].lines += len(texts)

    def finished(self) -> dict[str, TextTotals]:
        for label in self.tables:
            self._flush(label)
        return self.totals

    def _begin(self, label: str) -> None:
        _check_languages(len(self.totals) + 1, self.block.file.path)
        nothing = WordCounts([], [])
        self.totals[label] = TextTotals([compress(each, nothing) for each in self.segmenters])
        if len(self.totals) > self.shares:
            self.shares *= 2
            for known in self.tables:
                self._flush(known)
            self.tables = {}
        for each in self.totals.keys() - self.tables.keys():
            words = self.memory // self.shares // _BYTES_A_WORD
            self.tables[each] = WordTable.holding(words, max(LONGEST_WORD, 16 * words))

    def _add_words(self, label: str, text: bytes) -> None:
        table, at = self.tables[label], 0
        while at < len(text):
            try:
                at = table.add_text(text, at)
            except TooLongWord as error:
                (at,) = error.args
                self._too_long("without white space")
                continue
            if at < len(text):
                self._flush(label)

    def _add_lines(self, label: str, lines: Iterable[bytes]) -> None:
        counts = Counter(lines)
        rows, done = as_rows(counts), 0
        while (done := self.tables[label].add(rows, done)) < len(counts):
            self._flush(label)

    def _is_too_long(self, line: bytes) -> bool:
        if len(line) <= LONGEST_WORD:
            return False
        self._too_long("in one line")
        return True

    def _too_long(self, what: str) -> None:
        problem = f"there are more than {LONGEST_WORD:,} bytes {what}"
        fix = "Leave out what is not text."
        self.bad(FileFormatError(self.block.file.path, "", problem, fix))

    def _flush(self, label: str) -> None:
        """Segment the words in a label's table, and add them to its totals."""
        table, total = self.tables[label], self.totals[label]
        for hashes, counts, ends, text in table.rows():
            with np.errstate(over="ignore"):
                added = int((hashes * counts.astype(np.uint64)).sum())
            total.checksum = (total.checksum + added) % 2**64
            for words in _portions(text.tobytes(), ends, counts):
                for place, segmenter in enumerate(self.segmenters):
                    found = compress(segmenter, words, whole=self.unit == "lines")
                    total.compressions[place] += found
        table.clear()


def _check_languages(number: int, path: str) -> None:
    CORPUS_LANGUAGES.check(number, path, fix="Check which column names the language")


def _is_empty(text: bytes) -> bool:
    return not text or text.decode().isspace()


def _portions(text: bytes, ends: Int64, counts: Int64) -> Iterator[WordCounts]:
    """Yield words and counts in portions of about `_AT_ONCE` bytes."""
    first, bounds = 0, [0, *ends.tolist()]
    while first < len(counts):
        last = int(np.searchsorted(ends, bounds[first] + _AT_ONCE, side="right"))
        last = max(first + 1, last)
        words = [text[a:b].decode() for a, b in pairwise(bounds[first : last + 1])]
        yield WordCounts(words, counts[first:last])
        first = last


# ------------------------------------------------------------------------------ a corpus


@dataclass(frozen=True)
class TextMeasure:
    """The measures of a file, a language, or all text under one tokeniser.

    Numbers are defined as in `Compression`; ``relative_tokens``: ÷ those of the base language; NaN
    where undefined.
    """

    text: str
    tokeniser: str
    lines: int
    words: float
    characters: float
    bytes: float
    tokens: float
    fertility: float
    characters_per_token: float
    bytes_per_token: float
    renyi: float
    never_used: int
    ordinary_types: int
    relative_tokens: float = math.nan

    @property
    def tokens_per_line(self) -> float:
        """Tokens per line; NaN without lines."""
        return self.tokens / self.lines if self.lines else math.nan

    @property
    def tokens_per_byte(self) -> float:
        """Tokens per byte; NaN without text."""
        return self.tokens / self.bytes if self.bytes else math.nan


@dataclass(frozen=True)
class CorpusMeasures:
    """The measures of a corpus under several tokenisers.

    ``texts``: by file or language (``by``), grouped by tokeniser; ``totals``: over all of them.
    ``unit``: whether tokens are those of words in running text, or of lines as whole texts.
    ``base``: the language that others are relative to, if the text is parallel. ``bad``: the number
    of lines left out; ``first_bad``: some of them.
    """

    texts: tuple[TextMeasure, ...]
    totals: tuple[TextMeasure, ...]
    by: Literal["file", "language"]
    unit: Unit
    base: str | None
    alpha: float
    signature: str
    bad: int = 0
    first_bad: tuple[str, ...] = ()

    @property
    def tokenisers(self) -> list[str]:
        """Labels of the tokenisers."""
        return [total.tokeniser for total in self.totals]

    def of(self, tokeniser: str) -> list[TextMeasure]:
        """Return the measures of files or languages under one tokeniser."""
        return [each for each in self.texts if each.tokeniser == tokeniser]

    def gini(self, tokeniser: str, cost: Literal["line", "byte"] = "line") -> float:
        """Return the Gini coefficient over languages of tokens per line or byte."""
        return gini(self._costs(tokeniser, cost))

    def lorenz(self, tokeniser: str, cost: Literal["line", "byte"] = "line") -> tuple[Any, Any]:
        """Return the Lorenz curve of the same: cumulative shares of languages and costs."""
        return lorenz_curve(self._costs(tokeniser, cost))

    def cheapest_first(self, tokeniser: str, cost: Literal["line", "byte"] = "line") -> list[str]:
        """Return the languages in the order of that curve."""
        costs, texts = self._costs(tokeniser, cost), self.of(tokeniser)
        return [texts[place].text for place in sorted(range(len(costs)), key=costs.__getitem__)]

    def _costs(self, tokeniser: str, cost: str) -> list[float]:
        per_line = cost == "line"
        return [
            each.tokens_per_line if per_line else each.tokens_per_byte
            for each in self.of(tokeniser)
        ]


@dataclass
class _Collected:
    """Totals of blocks, which may arrive in any order.

    The tokens of a file are kept only until its last block has arrived.
    """

    segmenters: Mapping[str, Segmenter]
    alpha: float
    open: dict[str, TextTotals] = field(default_factory=dict)
    total: TextTotals | None = None
    done: dict[str, list[TextMeasure]] = field(default_factory=dict)
    checksums: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, found: TextTotals) -> None:
        self.open[text] = self.open[text] + found if text in self.open else found

    def close(self, text: str) -> None:
        if text in self.open:
            found = self.open.pop(text)
            self.total = found if self.total is None else self.total + found
            self.done[text] = self.measures(text, found)
            self.checksums[text] = found.checksum

    def measures(self, text: str, found: TextTotals) -> list[TextMeasure]:
        measures = []
        for (label, segmenter), one in zip(
            self.segmenters.items(), found.compressions, strict=True
        ):
            inventory = segmenter.inventory()
            measures.append(
                TextMeasure(
                    text,
                    label,
                    found.lines,
                    one.words,
                    one.characters,
                    one.bytes,
                    one.tokens,
                    one.fertility,
                    one.characters_per_token,
                    one.bytes_per_token,
                    one.renyi_efficiency(self.alpha),
                    len(unused_types(inventory, one)),
                    len(inventory.spelled),
                )
            )
        return measures


def measure_corpus(
    segmenters: Mapping[str, Segmenter],
    paths: Sequence[str | os.PathLike[str]],
    *,
    column: str | None = None,
    language_column: str | None = None,
    parallel: bool = False,
    base: str | None = None,
    unit: Unit | None = None,
    alpha: float = ALPHA,
    memory: int = 512 * 2**20,
    bad_lines: BadLines = "stop",
    run: Runner = run_here,
    workers: int = 1,
    progress: OnMeasured = None,
) -> CorpusMeasures:
    """Measure texts, which are read as for counting, by tokenisers, by label.

    By language where ``language_column`` names the column or field that says which, else by file.
    ``unit``: ``words`` (what white space separates, as in running text), or ``lines`` as whole
    texts, white space and all, as for `tokenizers` without special tokens; by default words, and
    lines of parallel text.

    ``parallel``: the texts are the same line by line in several languages, each a file or named by
    the column; tokens are relative to those of ``base``, by default the first language.

    ``memory``: bytes for words and counts, divided among ``workers``; beside it there is a number
    for each type and language. `MorphGraphError` where a text cannot be read, where there is none,
    and where languages of parallel text differ in their number of lines.
    """
    check_alpha(alpha)
    if memory < LEAST_MEMORY:
        raise MorphGraphError(f"{memory:,} bytes of memory are too few. Give at least 64M.")
    if base is not None and not parallel:
        raise MorphGraphError("A base language is for parallel text. Say that it is parallel.")
    if not paths:
        raise MorphGraphError("There is no text to measure. Name at least one file or folder.")
    chosen: Unit = unit or ("lines" if parallel else "words")
    files = find_texts(paths)
    names = dict(
        zip((file.path for file in files), differing([file.path for file in files]), strict=True)
    )
    blocks = text_blocks(files, column)
    tasks: list[CountingTask] = [
        {
            "number": number,
            "block": block,
            "unit": chosen,
            "column": column,
            "by": language_column,
            "bad_lines": bad_lines,
            "memory": memory // workers,
        }
        for number, block in enumerate(blocks)
    ]
    collected = _Collected(segmenters, alpha)
    left = Counter(block.file.path for block in blocks)
    size, read = sum(block.size for block in blocks), 0
    bad = BadTexts("skip")
    for number, found, wrong in run(measure_block, tasks, [*segmenters.values()]):
        path = blocks[number].file.path
        for label, totals in found.items():
            collected.add(names[path] if language_column is None else label, totals)
        if language_column is not None:
            _check_languages(len(collected.open), path)
        left[path] -= 1
        if language_column is None and not left[path]:
            collected.close(names[path])
        bad.count += wrong.count
        bad.first += wrong.first
        read += blocks[number].size
        if progress is not None:
            progress(read / size if size else 1.0)
    for label in sorted(collected.open):
        collected.close(label)
    total = collected.total
    if total is None or not total.compressions[0].words:
        raise MorphGraphError(f"{paths[0]}: there is no word. Choose files with text.")
    order = names.values() if language_column is None else collected.done
    texts = [collected.done[text] for text in order if text in collected.done]
    if parallel:
        for name in names.values() if language_column is None else ():
            if name not in collected.done:
                raise MorphGraphError(f"{name} has no text. Leave its file out, or fill it in.")
        base = _checked_base(texts, base)
        texts = [_relative(text, texts, base) for text in texts]
    return CorpusMeasures(
        texts=tuple(text[place] for place in range(len(segmenters)) for text in texts),
        totals=tuple(collected.measures(ALL_TEXT, total)),
        by="language" if language_column is not None or parallel else "file",
        unit=chosen,
        base=base,
        alpha=alpha,
        signature=_signature(
            segmenters, files, collected.checksums, chosen, language_column, base, alpha
        ),
        bad=bad.count,
        first_bad=tuple(sorted(bad.first)[:20]),
    )


def count_lines(paths: Sequence[str | os.PathLike[str]], column: str | None = None) -> int:
    """Count the lines of texts as `TextMeasure` does; errors as in `measure_corpus`."""
    blocks, bad = text_blocks(find_texts(paths), column), BadTexts("stop")
    return sum(
        not _is_empty(text)
        for block in blocks
        for found in labelled_texts(block, column, None, bad)
        for text in found.get("", ())
    )


def _checked_base(texts: Sequence[Sequence[TextMeasure]], base: str | None) -> str:
    """Return the base language of parallel text, checking that all have as many lines."""
    found = {text[0].text: text[0].lines for text in texts}
    first = next(iter(found))
    if len(found) < 2:
        raise MorphGraphError(
            f"The text has one language, {first}. Parallel text has several: a file for each, or a "
            "language column."
        )
    if base is None:
        base = first
    if base not in found:
        listed = ", ".join(list(found)[:20])
        raise MorphGraphError(f"There is no language “{base[:40]}”. There are: {listed}.")
    for language, lines in found.items():
        if lines != found[base]:
            raise MorphGraphError(
                f"{base} has {found[base]:,} lines and {language} {lines:,}, empty ones not "
                "counted. Parallel text has as many in each language: correct it, or measure "
                "it as it is, not as parallel."
            )
    return base


def _relative(
    text: Sequence[TextMeasure], texts: Sequence[Sequence[TextMeasure]], base: str
) -> list[TextMeasure]:
    [bases] = [other for other in texts if other[0].text == base]
    return [
        replace(one, relative_tokens=one.tokens / other.tokens if other.tokens else math.nan)
        for one, other in zip(text, bases, strict=True)
    ]


def _signature(
    segmenters: Mapping[str, Segmenter],
    files: Sequence[TextFile],
    checksums: Mapping[str, int],
    unit: Unit,
    by: str | None,
    base: str | None,
    alpha: float,
) -> str:
    from morphgraph.core import __version__
    from morphgraph.score.gold_set import signature_line

    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    content = checksum(json.dumps(sorted(checksums.items())).encode())
    return signature_line(
        {
            "corpus": f"{base_name(files[0].path)}{more}@{content}",
            "unit": unit,
            **({} if by is None else {"by": by}),
            **({} if base is None else {"base": base}),
            "alpha": f"{alpha:g}",
            "tokenisers": ", ".join(each.signature() for each in segmenters.values()),
            "version": __version__,
        }
    )


def differing(paths: Sequence[str]) -> list[str]:
    """Label files by what differs in their names, or by their paths if names repeat.

    >>> differing(["a/eng.devtest", "a/deu.devtest"]), differing(["news.de.gz", "news.en.gz"])
    (['eng', 'deu'], ['de', 'en'])
    >>> differing(["a/en.txt"]), differing(["a/x.txt", "b/x.txt"]), differing(["x", "x.gz"])
    (['en.txt'], ['a/x.txt', 'b/x.txt'], ['x', 'x.gz'])
    """
    names = [base_name(path) for path in paths]
    if len(names) == 1:
        return names
    if len(set(names)) < len(names):
        return unique_labels(paths)
    parts = [_without_packing(name).split(".") for name in names]
    if len(set(map(len, parts))) > 1 or len(set(map(tuple, parts))) < len(parts):
        return names
    differs = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    first, last = differs.index(True), len(differs) - differs[::-1].index(True)
    return [".".join(each[first:last]) for each in parts]


def _without_packing(name: str) -> str:
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name
