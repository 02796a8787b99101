"""Make the table and the picture of every method in six languages, from an evaluation's results.

Run: ``python -m docs.tools.methods methods/results.parquet``, after ``morphgraph evaluate
docs/evaluations/methods.yaml --out methods``. It needs Chromium, as the tests do.
"""

import sys

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from docs.tools import markdown_table
from docs.tools.languages import save_picture, with_interval
from morphgraph.reference.catalogue import LANGUAGES

BASE = "BPE"
COLOURS = {"BPE-knockout": "#a3122f", "ReBPE": "#6d45e0"}
OTHERS = "#44506a"
LEVEL = 0.05


def measured(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a row for each language and method: means over the draws.

    Bounds of intervals are means, too, so they are those of one draw. Of p-values, the largest
    counts, corrected by Holm for all methods of a language.
    """
    rows = results[results["metric"] == metric]
    summaries = {"value": "mean", "low": "mean", "high": "mean", "p": "max", "reference": "first"}
    means = rows.groupby(["language", "method"]).agg(summaries)
    means["p"] = means.groupby("language")["p"].transform(holm)
    return means


def holm(p_values: pd.Series) -> pd.Series:
    """Return p-values corrected for their number by Holm's method; NaN stays.

    >>> holm(pd.Series([0.03, float("nan"), 0.01, 0.5])).tolist()
    [0.06, nan, 0.03, 0.5]
    """
    ordered = p_values.dropna().sort_values()
    left = np.arange(len(ordered), 0, -1)
    return (ordered * left).cummax().clip(upper=1).reindex(p_values.index)


def over_languages(found: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each method over languages, with its interval.

    Languages err independently, so the square of its half is the mean of theirs ÷ their number.
    """
    by = found.groupby("method")
    means = by[["value"]].mean()
    halves = ((found["high"] - found["low"]) / 2) ** 2
    half = np.sqrt(halves.groupby("method").sum(min_count=1)) / by.size()
    return means.assign(low=means["value"] - half, high=means["value"] + half)


def table(results: pd.DataFrame, f1: pd.DataFrame, methods: list[str]) -> str:
    """Return the table in Markdown, the best method first."""
    languages = f1.index.unique("language")
    names = [LANGUAGES[code].name for code in languages]
    lines = [["Method", *names, "morph F1", "tokens per word / Rényi"]]
    morphs = 100 * over_languages(measured(results, "morph_f1"))
    per_word = over_languages(measured(results, "vocabulary.fertility"))
    renyi = over_languages(measured(results, "vocabulary.renyi"))["value"]
    for method in methods:
        scores = f1.xs(method, level="method").loc[languages]
        spans = 100 * scores[["value", "low", "high"]]
        cells = [with_interval(*span) for span in spans.to_numpy()]
        unsure = ~(scores["p"] < LEVEL) & (method != BASE)
        cells = [cell + " ○" * is_unsure for cell, is_unsure in zip(cells, unsure, strict=True)]
        told = with_interval(*per_word.loc[method], digits=2)
        cells += [with_interval(*morphs.loc[method]), f"{told} / {renyi[method]:.3f}"]
        lines.append([method, *cells])
    return markdown_table(lines, texts=1)


def picture(f1: pd.DataFrame, methods: list[str]) -> go.Figure:
    """Return F1 of all methods, a panel for each language; hollow where BPE is not told apart."""
    languages = f1.index.unique("language")
    references = f1.groupby("language")["reference"].first()
    titles = [f"<b>{LANGUAGES[code].name}</b><br>{references[code]}" for code in languages]
    figure = make_subplots(1, len(titles), shared_yaxes=True, subplot_titles=titles)
    colours = [COLOURS.get(method, OTHERS) for method in methods]
    for place, language in enumerate(languages, 1):
        rows = f1.loc[language].loc[methods]
        spans = 100 * rows[["value", "low", "high"]]
        unsure = ~(rows["p"] < LEVEL) & (rows.index != BASE)
        for method, colour, is_unsure in zip(methods, colours, unsure, strict=True):
            value, low, high = spans.loc[method]
            figure.add_scatter(
                x=[value],
                y=[method],
                error_x={
                    "array": [high - value],
                    "arrayminus": [value - low],
                    "color": colour,
                    "width": 3,
                },
                mode="markers",
                marker={
                    "color": "white" if is_unsure else colour,
                    "line": {"color": colour, "width": 1.5},
                    "size": 10,
                },
                showlegend=False,
                row=1,
                col=place,
            )
        figure.add_vline(x=spans["value"][BASE], line={"dash": "dot", "width": 1}, col=place, row=1)
    figure.update_yaxes(categoryarray=methods[::-1], categoryorder="array", tickfont_size=14)
    figure.update_xaxes(tickfont_size=12)
    return figure.update_layout(template="plotly_white", margin={"l": 8, "r": 16, "t": 56, "b": 8})


def main() -> None:
    """Print the table and save the picture."""
    results = pd.read_parquet(sys.argv[1])
    f1 = measured(results, "f1")
    means = over_languages(f1)["value"]
    methods = means.sort_values(ascending=False).index.tolist()
    print(table(results, f1, methods))
    save_picture(picture(f1, methods), "methods", 1440, 640)


if __name__ == "__main__":
    main()
