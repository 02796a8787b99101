"""How much of what learns from gold is memorised: scores on words kept aside singly, by families.

Run: ``python -m benchmarks.memorised``. It prints a row for each reference of the public data and
of the demos, and draws ``docs/images/memorised.svg``, for which it needs Chromium, as the tests do.
"""

import statistics
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import plotly.graph_objects as go

import morphgraph as mg
from benchmarks import data, table
from docs.tools.languages import save_picture, with_interval
from morphgraph.draw.charts import figure_of
from morphgraph.reference.catalogue import LANGUAGES
from morphgraph.reference.families import SplitBy
from morphgraph.score.gold_set import GoldSet

MOST_ENTRIES = 20_000
STEPS = ("BPE", "knockout", "ReBPE")
LOOKS: dict[SplitBy, tuple[str, str]] = {
    "words": ("#8a93a8", "dot"),
    "families": ("#6d45e0", "solid"),
}
DEMOS = {"eng": "en", "deu": "de", "nld": "nl"}


class Case(NamedTuple):
    """A reference of a language, and a tokeniser that fits."""

    language: str
    name: str
    gold: str
    tokeniser: str


Score = tuple[float, float, float]
"""F1 in %, and its 95 % bootstrap interval."""


def cases() -> Iterator[Case]:
    """Yield each reference that there is, by language."""
    listed = []
    sources = {"MorphyNet": "morphynet", "SIGMORPHON 2022": "sigmorphon2022"}
    for name, folder in (*sources.items(), ("MorphScore", "morphscore1")):
        for code, language in LANGUAGES.items():
            stem = language.name.lower() if folder == "morphscore1" else code
            for path in sorted(data(f"references/{folder}").glob(f"{stem}[._]*")):
                tokeniser = "oscar-de-40k" if code == "deu" else "qwen2.5"
                named = f"{name}, inflections" if "inflectional" in path.name else name
                listed.append(Case(code, named, str(path), str(data(f"tokenizers/{tokeniser}"))))
    for code, demo in DEMOS.items():
        listed.append(Case(code, "demo", f"demo:{demo}", f"demo:{demo}"))
    listed.append(Case("nld", "demo", "demo:nl", str(data("tokenizers/oscar-nl-40k"))))
    return iter(sorted(listed, key=lambda case: (LANGUAGES[case.language].name, case.name)))


@lru_cache(1)
def loaded(source: str) -> mg.Tokeniser:
    """Return a tokeniser, read once for all references in a row that take it."""
    return mg.load(source)


def measured(case: Case) -> tuple[int, dict[SplitBy, list[Score]]]:
    """Return the number of entries, and F1 after each step, on a fifth kept aside by each way."""
    tokeniser, gold = loaded(case.tokeniser), mg.read_gold(case.gold)
    if gold.size > MOST_ENTRIES:
        gold = mg.read_gold(gold.reference.sample(MOST_ENTRIES, 0))
    scores = {}
    for by in LOOKS:
        rest, kept = gold.split(by=by)
        tokenisers = [
            tokeniser,
            tokeniser.knock_out(rest, holdout=0).tokeniser,
            tokeniser.rebpe(rest, holdout=0).tokeniser,
        ]
        scores[by] = [score(each, kept) for each in tokenisers]
    return gold.size, scores


def score(tokeniser: mg.Tokeniser, gold: GoldSet) -> Score:
    """Return F1 of a tokeniser."""
    [row] = tokeniser.score(gold, metrics=["f1"]).to_dict()["rows"]
    f1 = row["scores"]["f1"]
    low, high = f1["interval"]
    return 100 * f1["value"], 100 * low, 100 * high


def picture(rows: list[tuple[str, dict[SplitBy, list[Score]]]]) -> go.Figure:
    """Return F1 after each step, a line for each reference and way to keep words aside."""
    figure = figure_of("F1 of boundaries on a fifth kept aside, %", "", 60 + 26 * len(rows))
    for by, (colour, dash) in LOOKS.items():
        for number, (name, found) in enumerate(rows):
            figure.add_scatter(
                x=[value for value, *_ in found[by]],
                y=[name] * len(STEPS),
                mode="lines+markers",
                marker={"color": colour, "symbol": ["circle-open", "diamond", "circle"]},
                line={"color": colour, "dash": dash},
                legendgroup=by,
                name=f"by {by}",
                showlegend=not number,
            )
    return figure


def main() -> None:
    """Print the table, and draw the picture."""
    texts, rows = [], []
    for case in cases():
        entries, found = measured(case)
        language = LANGUAGES[case.language].name
        tokeniser = case.tokeniser.rpartition("/")[2]
        spans = [with_interval(*each) for by in LOOKS for each in found[by]]
        texts.append([language, case.name, tokeniser, f"{entries:,}", *spans])
        rows.append((f"{language}, {case.name}, {tokeniser}", found))
        print(*texts[-1], file=sys.stderr, flush=True)
    heads = [f"{step}, by {by}" for by in LOOKS for step in STEPS]
    table(["Language", "Reference", "tokeniser", "entries", *heads], texts)
    for by in LOOKS:
        means = [statistics.fmean(found[by][n][0] for _, found in rows) for n in range(3)]
        print(f"\nBy {by}, on average: " + " → ".join(f"{mean:.1f}" for mean in means))
    save_picture(picture(rows), "memorised.svg", 900, 60 + 26 * len(rows))


if __name__ == "__main__":
    main()
