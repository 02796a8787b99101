"""Draw the atlas in ``docs/atlas`` from results: a page of all tokenisers, and one for each.

The home of the site has a table of the same results.

Run: ``python -m docs.tools.atlas``, or with the ``results.json`` of an evaluation, which becomes
the atlas's: ``python -m docs.tools.atlas atlas/results.json``. The merges to blame are then
computed from the recipe of its run, where its files are here.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
from jinja2 import FileSystemLoader
from pyarrow import parquet

from docs.tools import DOCS
from morphgraph.batch.cells import STANDARD_METHOD, cell_inputs
from morphgraph.batch.plan import make_plan
from morphgraph.batch.report import file_names
from morphgraph.batch.store import TaskResult, code_version, run_task
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, write_file
from morphgraph.core.text import UNDEFINED, visible
from morphgraph.reference.catalogue import LANGUAGES
from morphgraph.refine.blame import blame, blame_columns
from morphgraph.score.boundaries import Benchmark
from morphgraph.tables.model import ALL_WORDS
from morphgraph.tables.writing import environment
from morphgraph.tokeniser.merging import segment
from morphgraph_corpora.measures import gini

ATLAS, RECIPES = DOCS / "atlas", DOCS / "evaluations"
RESULTS, MERGES = ATLAS / "results.json.gz", ATLAS / "merges.json.gz"
HOME = DOCS / "tools" / "theme" / "partials" / "atlas.html"
"""The table on the home of the site."""
_LOADER = FileSystemLoader(DOCS / "tools" / "templates")
_template = environment().overlay(loader=_LOADER, keep_trailing_newline=False).get_template
_AT_HOME = ("eng", "deu", "fra", "spa", "hun", "ces", "fin")
_MOST_MERGES = 8

Place = tuple[str, str]
"""A language and a reference, by their names in results."""
Competitor = tuple[str, str]
"""A tokeniser and a method."""
Results = Mapping[str, Any]
"""The content of a ``results.json``."""
Blamed = dict[str, dict[str, list[dict[str, Any]]]]
"""The worst merges by tokeniser and, with a tab between, language and reference."""


class Measure(NamedTuple):
    """What a heat map shows: ``better`` is 1 where more is, and -1 where less is."""

    key: str
    title: str
    percent: bool
    better: int
    about: str

    def text(self, value: float) -> str:
        """Return a value as shown."""
        if math.isnan(value):
            return UNDEFINED
        return f"{100 * value:.1f}" if self.percent else f"{value:.2f}"

    def span(self, found: Value) -> str:
        """Return the interval of a value as shown; empty without one."""
        if found.low is None or found.high is None:
            return ""
        return f"[{self.text(found.low)}, {self.text(found.high)}]"


F1 = Measure("f1", "Boundary F1, %", True, 1, "F1 of token boundaries on words kept aside.")
RECALL = Measure(
    "recall", "Recall, %", True, 1, "Share of gold boundaries, of words kept aside, that are cut."
)
TOKENS = Measure(
    "vocabulary.fertility",
    "Tokens per word",
    False,
    -1,
    "Tokens of running text (wordfreq) ÷ its words, coloured by their logarithm.",
)
DEAD = Measure(
    "dead",
    "Dead types, %",
    True,
    -1,
    "Share of the types that are no token of running text (wordfreq), which is in lower case.",
)
MEASURES = (F1, RECALL, TOKENS, DEAD)
_OF_WORDS = {"precision", "recall", "f1"}


class Value(NamedTuple):
    """A value with its 95 % interval; ``entries``: the words that it is over."""

    value: float
    low: float | None = None
    high: float | None = None
    entries: int | None = None
    words: str = ""
    signature: str = ""


class Scores:
    """All values by competitor, place and metric, in the order of the results.

    Figures of a vocabulary that does not depend on a reference have an empty one.
    """

    def __init__(self, results: Results) -> None:
        self.values: dict[Competitor, dict[Place, dict[str, Value]]] = {}
        for row in results["rows"]:
            if not row["task"]:
                self._add(row)

    def _add(self, row: Mapping[str, Any]) -> None:
        """Add the values of a row: of several draws the first, and words kept aside first."""
        size = "" if row["vocab_size"] is None else f", {row['vocab_size']:,} types"
        method = " ".join(filter(None, (row["method"], row["parameters"])))
        competitor = (visible(row["tokeniser"] + size), visible(method))
        by_place = self.values.setdefault(competitor, {})
        values = by_place.setdefault((visible(row["language"]), visible(row["reference"])), {})
        for score in row["scores"]:
            of_words = score["metric"] in _OF_WORDS
            is_known = score["value"] is not None and score["step"] is None
            if not is_known or (of_words and row["held_in"]):
                continue
            if of_words and (score["scope"], score["weighting"]) != ("morphemic", "types"):
                continue
            known = values.get(score["metric"])
            if known is None or (of_words and known.words == ALL_WORDS != row["words"]):
                value = [score[name] for name in ("value", "low", "high", "entries")]
                values[score["metric"]] = Value(*value, row["words"], visible(score["signature"]))

    @property
    def places(self) -> list[Place]:
        """The languages and references that any competitor was scored on, by name."""
        all_places = {place for by in self.values.values() for place in by if place[1]}
        return sorted(all_places, key=lambda place: (language_name(place[0]), place[1]))

    def of(self, competitor: Competitor, place: Place, measure: Measure) -> Value:
        """Return a value; NaN if there is none."""
        by_place = self.values[competitor]
        mine, shared = by_place.get(place, {}), by_place.get((place[0], ""), {})
        if measure is not DEAD:
            return mine.get(measure.key) or shared.get(measure.key) or Value(math.nan)
        for found in (mine, shared):
            unused, types = found.get("vocabulary.never_used"), found.get("types")
            if unused is not None and types is not None and types.value:
                return unused._replace(value=unused.value / types.value)
        return Value(math.nan)

    def types(self, competitor: Competitor) -> str:
        """Return the number of its types, from the least to the most over its languages."""
        sizes = [by["types"].value for by in self.values[competitor].values() if "types" in by]
        ends = dict.fromkeys((min(sizes), max(sizes))) if sizes else {}
        return " to ".join(f"{end:,.0f}" for end in ends) or UNDEFINED


def mean(values: Sequence[Value]) -> Value:
    """Return the mean, with the interval of a mean over independent references.

    >>> found = mean([Value(0.5, 0.4, 0.6), Value(0.7, 0.6, 0.8), Value(math.nan)])
    >>> [round(each, 4) for each in found[:3]]
    [0.6, 0.5293, 0.6707]
    """
    known = [each for each in values if not math.isnan(each.value)]
    if not known:
        return Value(math.nan)
    value = math.fsum(each.value for each in known) / len(known)
    if any(each.low is None or each.high is None for each in known):
        return Value(value)
    below = math.hypot(*(each.value - (each.low or 0.0) for each in known)) / len(known)
    above = math.hypot(*((each.high or 0.0) - each.value for each in known)) / len(known)
    return Value(value, value - below, value + above)


def language_name(code: str) -> str:
    """Return the English name of a language; its code if it is not known."""
    return LANGUAGES[code].name if code in LANGUAGES else code


# ------------------------------------------------------------------------------ merges


def worst_merges(
    run: Mapping[str, Any], folder: Path
) -> Iterator[tuple[str, Place, list[dict[str, Any]]]]:
    """Return the most blamed merges of each tokeniser of a run on each reference, worst first.

    Only those that knockout would remove, R ≥ ½. ``folder``: where paths of the recipe start.
    """
    plan = make_plan(run["recipe"], f"{run['name']}.yaml", folder, run["languages"])
    tasks = {task.key: task for task in plan.tasks}

    @cache
    def result(key: str) -> TaskResult:
        return run_task(tasks[key], code_version(), *map(result, tasks[key].needs))

    for cell in plan.cells:
        spec = cell.spec
        if spec["method"] != STANDARD_METHOD or spec["reference"] is None:
            continue
        table = parquet.read_table(pyarrow.BufferReader(result(cell.needs[0]).data))
        inputs = cell_inputs({**spec, "corpus_name": ""}, iter([table]))
        tokeniser = inputs.base.editable
        if tokeniser is None or inputs.gold_set is None:
            continue
        benchmark = Benchmark.on(inputs.gold_set, tokeniser)
        blamed = blame(benchmark, segment(tokeniser.graph, benchmark.words))
        columns = blame_columns(tokeniser, blamed, blamed.candidates()[:_MOST_MERGES])
        rows = zip(columns["merge"], columns["N"], columns["B"], strict=True)
        told = [{"merge": visible(name), "joins": int(n), "wrong": int(b)} for name, n, b in rows]
        yield cell.columns["tokeniser"], (cell.columns["language"], cell.columns["reference"]), told


def blamed_in(results: Results, known: Blamed) -> Blamed:
    """Return the worst merges of a run; those ``known`` where its files are not here."""
    named = {row["tokeniser"] for row in results["rows"]}
    blamed = {tokeniser: merges for tokeniser, merges in known.items() if tokeniser in named}
    try:
        for tokeniser, place, merges in worst_merges(results["run"], RECIPES):
            print(tokeniser, *place, len(merges), flush=True)
            blamed.setdefault(tokeniser, {})["\t".join(place)] = merges
    except MorphGraphError as error:
        print(f"{results['run']['name']}: no merges. {error}")
    return blamed


# ------------------------------------------------------------------------------ pages


def pages_of(results: Results, blamed: Blamed) -> dict[str, str]:
    """Return the text of each page by its file's name."""
    scores = Scores(results)
    slugs = _slugs(scores)
    shared = {
        "slugs": slugs,
        "measures": MEASURES,
        "run": results["run"],
        "language_name": language_name,
        "anchor": lambda place: re.sub(r"\W", "-", " ".join(place)),
        "UNDEFINED": UNDEFINED,
    }
    pages = {"index.html": _template("index.html.j2").render(_front(scores), **shared)}
    template = _template("tokeniser.html.j2")
    for name, slug in slugs.items():
        about = _of_tokeniser(scores, name, blamed.get(name, {}))
        pages[f"{slug}.html"] = template.render(about, name=name, **shared)
    return pages


def home_of(results: Results) -> str:
    """Return the table for the home of the site: F1 of tokenisers as they are, and after ReBPE.

    They are those that have both in each of a few languages.
    """
    scores = Scores(results)
    places = [place for code in _AT_HOME for place in scores.places if place[0] == code]
    rows = []
    for name, slug in _slugs(scores).items():
        both = [who for who in ((name, "BPE"), (name, "ReBPE")) if who in scores.values]
        cells = [[scores.of(who, place, F1) for who in both] for place in places]
        if len(both) == 2 and not any(math.isnan(one.value) for cell in cells for one in cell):
            rows.append((name, slug, scores.types(both[0]), cells))
    about = {"places": places, "rows": rows, "f1": F1, "language_name": language_name}
    return _template("home.html.j2").render(about) + "\n"


def _slugs(scores: Scores) -> dict[str, str]:
    """Return the names of the files of the tokenisers' pages."""
    names = list(dict.fromkeys(tokeniser for tokeniser, _ in scores.values))
    return dict(zip(names, file_names(["index", *names])[1:], strict=True))


def _front(scores: Scores) -> dict[str, Any]:
    """Return what the front page shows: means, heat maps, and all values."""
    places = scores.places
    means = []
    for competitor in scores.values:
        own = [p for p in places if not math.isnan(scores.of(competitor, p, F1).value)]
        by_language = {p[0]: scores.of(competitor, p, TOKENS).value for p in own}
        tokens = [value for value in by_language.values() if not math.isnan(value)]
        about = {
            "languages": len({language for language, _ in own}),
            "types": scores.types(competitor),
            "means": {m: mean([scores.of(competitor, p, m) for p in own]) for m in MEASURES},
            "gini": gini(tokens) if len(tokens) > 1 else math.nan,
            "texts": len(tokens),
        }
        means.append((competitor, about))
    maps = [(measure, _heat_map(scores, places, measure)) for measure in MEASURES]
    slopes = _slopes(scores, places)
    return {"places": places, "means": means, "maps": maps, "scores": scores, "slopes": slopes}


def _slopes(scores: Scores, places: Sequence[Place]) -> list[tuple[Place, int, Value, Value]]:
    """Return F1 of each language as tokenisers are and after ReBPE, the largest gain first.

    Both are means over the tokenisers that have both, whose number comes with them.
    """
    slopes = []
    for place in places:
        pairs = [
            tuple(scores.of((name, method), place, F1) for method in ("BPE", "ReBPE"))
            for name, method in scores.values
            if method == "BPE" and (name, "ReBPE") in scores.values
        ]
        known = [pair for pair in pairs if not any(math.isnan(each.value) for each in pair)]
        if known:
            start, end = map(mean, zip(*known, strict=True))
            slopes.append((place, len(known), start, end))
    return sorted(slopes, key=lambda slope: slope[2].value - slope[3].value)


def _heat_map(
    scores: Scores, places: Sequence[Place], measure: Measure
) -> list[tuple[Competitor, list[tuple[Value, float]]]]:
    """Return the values of a measure by competitor, each with its shade, from 0 to 1."""
    rows = [(who, [scores.of(who, place, measure) for place in places]) for who in scores.values]
    scaled: Callable[[float], float] = math.log if measure is TOKENS else float
    known = [scaled(v.value) for _, found in rows for v in found if v.value == v.value > 0]
    least, most = (min(known), max(known)) if known else (0.0, 0.0)

    def shade(found: Value) -> float:
        if not found.value > 0 or most == least:
            return 0.0
        return round((scaled(found.value) - least) / (most - least), 2)

    return [(who, [(found, shade(found)) for found in values]) for who, values in rows]


def _of_tokeniser(
    scores: Scores, name: str, blamed: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    """Return what a tokeniser's page shows: its values in each language, and its worst merges."""
    own = [competitor for competitor in scores.values if competitor[0] == name]
    rows = [
        (place, competitor, {m: scores.of(competitor, place, m) for m in MEASURES})
        for place in scores.places
        for competitor in own
    ]
    rows = [row for row in rows if any(v.value == v.value for v in row[-1].values())]
    listed = [(key.split("\t"), worst) for key, worst in blamed.items() if worst]
    merges = sorted(listed, key=lambda each: (language_name(each[0][0]), each[0][1]))
    return {"rows": rows, "merges": merges, "scores": scores}


# ------------------------------------------------------------------------------ files


def _write_packed(path: Path, document: Any) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    write_file(path, gzip.compress(text.encode(), 9, mtime=0))


def read_merges() -> Blamed:
    """Read the worst merges; none if there is no file."""
    merges: Blamed = json.loads(gzip.decompress(MERGES.read_bytes())) if MERGES.exists() else {}
    return merges


def read_results() -> Results:
    """Read the results of the atlas."""
    results: Results = json.loads(gzip.decompress(RESULTS.read_bytes()))
    return results


def main(path: str | None = None) -> None:
    """Take over results if there are some, and draw."""
    if path is not None:
        results = parse_json(read_bytes(path), path)
        _write_packed(RESULTS, results)
        _write_packed(MERGES, blamed_in(results, read_merges()))
    write_file(HOME, home_of(read_results()).encode())
    pages = pages_of(read_results(), read_merges())
    for old in set(ATLAS.glob("*.html")) - {ATLAS / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        write_file(ATLAS / name, text.encode())
        print(name, f"{len(text.encode()):,} bytes")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except MorphGraphError as error:
        sys.exit(f"Error: {error}")
