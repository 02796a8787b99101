"""Token counts of texts of any size, by file or language, and the parity of languages.

Texts are read in blocks, as for counting. Words are counted in tables of bounded size; whenever one
is full, each of its words is segmented once and weighted with its count.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.limits import CORPUS_LANGUAGES
from morphgraph.core.text import base_name, unique_labels
from morphgraph.corpus.counting import MIN_MEMORY, CountingTask, Runner, run_here
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.text_files import TextFile, find_texts, open_duckdb, sql_literal
from morphgraph.corpus.texts import LONGEST_WORD, WHITE, BadLines, Texts, too_long
from morphgraph.score.gold_set import signature_line
from morphgraph.score.vocabulary_health import (
    ALPHA,
    Compression,
    check_alpha,
    compress,
    unused_types,
)
from morphgraph.segment.segmenter import Segmenter

Unit = Literal["words", "lines"]
Cost = Literal["line", "byte"]

_AT_ONCE = 2**20
"""Roughly how many bytes of words are segmented at once."""


# ------------------------------------------------------------------------------ a file


@dataclass
class TextTotals:
    """The totals of some text: lines with more than white space, a checksum, and tokens."""

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


def measure_file(
    task: CountingTask, segmenters: Sequence[Segmenter]
) -> tuple[int, dict[str, TextTotals], tuple[int, list[str]]]:
    """Measure a file; return its number, the totals by label, and the lines left out."""
    file: TextFile = task["file"]
    is_words = task["unit"] == "words"
    with TemporaryDirectory() as folder, open_duckdb(task["memory"], 1, Path(folder)) as sql:
        texts = _texts(file.path, Path(folder), task)
        pieces = f"string_split({_WITH_SPACES}, ' ')" if is_words else "[text]"
        # An empty piece stands for its label, a new line, which is in no other one, for a line.
        pieces = f"if({_IS_BLANK}, [''], list_append({pieces}, chr(10)))"
        with texts.errors():
            sql.execute(
                "create temp table words as select label, text, count(*) as n from (select "
                f"label, unnest({pieces}) as text from ({_labelled(texts)})) group by all"
            ).fetchall()
        labels = sql.execute(
            "select label, coalesce(sum(n) filter (text = chr(10)), 0), max(strlen(text)), "
            f"coalesce(sum({_CHECKSUM} * n) filter (text not in ('', chr(10))), 0) "
            "from words where label is not null group by label order by label"
        ).fetchall()
        if max((longest for _, _, longest, _ in labels), default=0) > LONGEST_WORD:
            raise too_long(file.path, "" if is_words else "in one line")
        _check_languages(len(labels), file.path)
        [(bad,)] = sql.execute(
            "select sum(n) from words where label is null and text = chr(10)"
        ).fetchall()
        left_out = texts.left_out(sql, int(bad or 0))
        empty = [compress(each, WordCounts([], [])) for each in segmenters]
        totals = {"": TextTotals(empty)} if task["by"] is None else {}
        for label, lines, _, checksum_ in labels:
            totals[label] = TextTotals(empty, int(lines), int(checksum_) % 2**64)
        rows = sql.execute(
            "select label, text, n from words "
            "where label is not null and text not in ('', chr(10)) order by label"
        )
        for label, words in _portions(rows, split=is_words):
            ones = [compress(each, words, whole=not is_words) for each in segmenters]
            totals[label] += TextTotals(ones)
    return task["number"], totals, left_out


_CHECKSUM = "(md5_number_lower(text) >> 8)::hugeint"
_ASCII_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f"
_WITH_SPACES = f"translate(text, '{_ASCII_WHITE}', '{' ' * len(_ASCII_WHITE)}')"
_IS_BLANK = f"trim(text, {sql_literal(WHITE)}) = ''"


def _texts(path: str, folder: Path, task: CountingTask) -> Texts:
    settings = {name: task[name] for name in ("column", "by", "bad_lines")}
    return Texts(Path(path), path, **settings, whole=task["unit"] == "lines", folder=folder)


def _labelled(texts: Texts) -> str:
    """Return the query for texts and labels, of which a bad one has neither."""
    return (
        "select if(text is null, null, label) as label, if(label is null, null, text) as text "
        f"from ({texts.query})"
    )


def _check_languages(number: int, path: str) -> None:
    CORPUS_LANGUAGES.check(number, path, fix="Check which column names the language")


def _portions(rows: Any, *, split: bool) -> Iterator[tuple[str, WordCounts]]:
    """Words and counts of a label, about `_AT_ONCE` bytes at once, ``split`` at white space."""
    counts: Counter[str] = Counter()
    known, size = "", 0
    while some := rows.fetchmany(256):
        for label, text, number in some:
            if counts and (label != known or size > _AT_ONCE):
                yield known, WordCounts.from_mapping(counts)
                counts, size = Counter(), 0
            known, size = label, size + len(text)
            for word in text.split() if split else (text,):
                counts[word] += number
    if counts:
        yield known, WordCounts.from_mapping(counts)


# ------------------------------------------------------------------------------ a corpus


@dataclass(frozen=True)
class TextMeasure:
    """The measures of a file, a language, or all text under one tokeniser, as of `Compression`."""

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
    premium: float = math.nan

    @property
    def tokens_per_line(self) -> float:
        """Tokens per line; NaN without lines."""
        return self.tokens / self.lines if self.lines else math.nan

    @property
    def tokens_per_byte(self) -> float:
        """Tokens per byte; NaN without text."""
        return self.tokens / self.bytes if self.bytes else math.nan


_OF_COMPRESSION = ("words", "characters", "bytes", "tokens", "fertility", "characters_per_token",
                   "bytes_per_token")  # fmt: skip


@dataclass(frozen=True)
class CorpusMeasures:
    """The measures of a corpus under several tokenisers.

    ``texts``: by file or language (``by``), grouped by tokeniser; ``totals``: over all, text "all".
    ``unit``: words in running text, or lines as whole texts. ``base``: the language that others are
    relative to, if the text is parallel. ``bad``: the number of lines left out.
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

    def costs(self, tokeniser: str, per: Cost = "line") -> dict[str, float]:
        """Return tokens per line or byte by language, cheapest first."""
        costs = {each.text: getattr(each, f"tokens_per_{per}") for each in self.of(tokeniser)}
        return dict(sorted(costs.items(), key=itemgetter(1)))

    def matched_sizes(self, size: float) -> dict[str, int]:
        """Return a size for each language of parallel text: that of the base language × premium.

        A size may be characters of a corpus or types of a vocabulary, and the premium is characters
        of the language ÷ those of the base. Source: Bauwens & de Lhoneux 2026, §B.1.
        """
        return {e.text: round(size * e.premium) for e in self.of(self.tokenisers[0])}

    def gini(self, tokeniser: str, per: Cost = "line") -> float:
        """Return the Gini coefficient over languages of these costs."""
        return gini([*self.costs(tokeniser, per).values()])


def _measures(
    segmenters: Mapping[str, Segmenter], text: str, totals: TextTotals, alpha: float
) -> list[TextMeasure]:
    measures = []
    for (label, segmenter), one in zip(segmenters.items(), totals.compressions, strict=True):
        inventory = segmenter.inventory()
        numbers = [getattr(one, name) for name in _OF_COMPRESSION]
        unused = len(unused_types(inventory, one))
        numbers += [one.renyi_efficiency(alpha), unused, len(inventory.spelled)]
        measures.append(TextMeasure(text, label, totals.lines, *numbers))
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
    progress: Callable[[float], None] = lambda share: None,
) -> CorpusMeasures:
    """Measure texts under several tokenisers, which are given by label.

    They are read as for counting, and measured by language where ``language_column`` names the
    column or field that says which, else by file.

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
    if memory < MIN_MEMORY:
        raise MorphGraphError(f"{memory:,} bytes of memory are too few. Give at least 64M.")
    if base is not None and not parallel:
        raise MorphGraphError("base is for parallel text. Add parallel, or leave out base.")
    if not paths:
        raise MorphGraphError("There is no text to measure. Name at least one file or folder.")
    chosen: Unit = unit or ("lines" if parallel else "words")
    files = find_texts(paths)
    found_paths = [file.path for file in files]
    names = dict(zip(found_paths, file_labels(found_paths), strict=True))
    settings: dict[str, Any] = {"unit": chosen, "column": column, "by": language_column}
    settings |= {"bad_lines": bad_lines, "memory": memory // workers}
    tasks = [{**settings, "number": n, "file": file} for n, file in enumerate(files) if file.size]
    summed: dict[str, TextTotals] = {}
    done: dict[str, list[TextMeasure]] = {}
    checksums: dict[str, int] = {}
    total: TextTotals | None = None

    def finish(text: str, totals: TextTotals) -> None:
        """Measure a whole text, whose tokens are not needed any more."""
        nonlocal total
        total = totals if total is None else total + totals
        done[text], checksums[text] = _measures(segmenters, text, totals, alpha), totals.checksum

    size, read = sum(file.size for file in files), 0
    bad, first_bad = 0, list[str]()
    for number, found, left_out in run(measure_file, tasks, [*segmenters.values()]):
        path = files[number].path
        for label, totals in found.items():
            if language_column is None:
                finish(names[path], totals)
            else:
                summed[label] = summed[label] + totals if label in summed else totals
        _check_languages(len(summed), path)
        bad += left_out[0]
        first_bad += left_out[1]
        read += files[number].size
        progress(read / size if size else 1.0)
    for label in sorted(summed):
        finish(label, summed.pop(label))
    if total is None or not total.compressions[0].words:
        raise MorphGraphError(f"{paths[0]}: there are no words. Choose files with text.")
    order = names.values() if language_column is None else done
    texts = [done[text] for text in order if text in done]
    if parallel:
        for name in names.values() if language_column is None else ():
            if name not in done:
                raise MorphGraphError(f"{name} has no text. Leave its file out, or fill it in.")
        base = _checked_base(texts, base)
        texts = [_relative(text, texts, base) for text in texts]
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    content = checksum(json.dumps(sorted(checksums.items())).encode())
    return CorpusMeasures(
        texts=tuple(text[place] for place in range(len(segmenters)) for text in texts),
        totals=tuple(_measures(segmenters, "all", total, alpha)),
        by="language" if language_column is not None or parallel else "file",
        unit=chosen,
        base=base,
        alpha=alpha,
        signature=signature_line(
            {
                "corpus": f"{base_name(files[0].path)}{more}@{content}",
                "unit": chosen,
                **({} if language_column is None else {"by": language_column}),
                **({} if base is None else {"base": base}),
                "alpha": f"{alpha:g}",
                "tokenisers": ", ".join(each.signature() for each in segmenters.values()),
                "version": __version__,
            }
        ),
        bad=bad,
        first_bad=tuple(sorted(first_bad)[:20]),
    )


def _checked_base(texts: Sequence[Sequence[TextMeasure]], base: str | None) -> str:
    """Return the base language of parallel text, checking that all have as many lines."""
    line_counts = {text[0].text: text[0].lines for text in texts}
    first = next(iter(line_counts))
    if len(line_counts) < 2:
        raise MorphGraphError(
            f"The text has one language, {first}. Parallel text has several: a file for each, or a "
            "language column."
        )
    if base is None:
        base = first
    if base not in line_counts:
        listed = ", ".join(list(line_counts)[:20])
        raise MorphGraphError(f"There is no language “{base[:40]}”. There are: {listed}.")
    for language, lines in line_counts.items():
        if lines != line_counts[base]:
            raise MorphGraphError(
                f"{base} has {line_counts[base]:,} lines and {language} {lines:,}, without empty "
                "ones. Parallel text has the same number in each language. Correct it, or measure "
                "it as text that is not parallel."
            )
    return base


def _relative(
    text: Sequence[TextMeasure], texts: Sequence[Sequence[TextMeasure]], base: str
) -> list[TextMeasure]:
    [bases] = [other for other in texts if other[0].text == base]
    return [
        replace(
            one,
            relative_tokens=one.tokens / other.tokens if other.tokens else math.nan,
            premium=one.characters / other.characters if other.characters else math.nan,
        )
        for one, other in zip(text, bases, strict=True)
    ]


def file_labels(paths: Sequence[str]) -> list[str]:
    """Label files by their names up to the first dot, else by names, or paths if these repeat.

    >>> file_labels(["dev/eng_Latn.dev", "dev/deu_Latn.dev"]), file_labels(["a/en.txt"])
    (['eng_Latn', 'deu_Latn'], ['en.txt'])
    >>> file_labels(["dev.en", "dev.de"]), file_labels(["a/x.txt", "b/x.txt"])
    (['dev.en', 'dev.de'], ['a/x.txt', 'b/x.txt'])
    """
    names = [base_name(path) for path in paths]
    stems = [name.partition(".")[0] for name in names]
    if len(names) > 1 and all(stems) and len(set(stems)) == len(stems):
        return stems
    return names if len(set(names)) == len(names) else unique_labels(paths)


def gini(costs: Sequence[float]) -> float:
    """Gini coefficient: Σᵢ Σⱼ |cᵢ − cⱼ| ÷ (2 n² c̄); 0 if all costs are the same.

    NaN where a cost is, where there is none, or where all are 0.

    >>> gini([1, 3]), gini([2, 2, 2])
    (0.25, 0.0)
    """
    ordered = np.sort(np.asarray(costs, np.float64))
    n, total = len(ordered), float(ordered.sum())
    if not n or math.isnan(total) or not total:
        return math.nan
    # Sorted, the cost of rank i stands in 2i − n − 1 differences.
    return abs(float((2 * np.arange(1, n + 1) - n - 1) @ ordered)) / (n * total)
