"""Make the table and the picture of one tokeniser in many languages, from an evaluation's results.

Run: ``python -m docs.tools.languages languages/results.parquet``, after ``morphgraph evaluate
docs/evaluations/languages.yaml --out languages``. It needs Chromium, as the tests do.
"""

import sys
from urllib.parse import unquote

import pandas as pd
import plotly.graph_objects as go
from playwright.sync_api import sync_playwright

from benchmarks.app import chromium
from docs.tools import DOCS, markdown_table
from morphgraph.draw.charts import figure_of
from morphgraph.reference.catalogue import LANGUAGES

METHODS = {"BPE-knockout": "#a3122f", "ReBPE": "#6d45e0", "ReBPE, portable": "#0f8a5f"}


def gains(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each language, reference and method: F1, and tokens per word."""
    keys, spans = ["language", "reference", "method"], ["value", "low", "high"]
    f1, tokens = (
        results[results["metric"] == metric].set_index(keys)[[*spans, "entries"]]
        for metric in ("f1", "vocabulary.fertility")
    )
    table = f1.join(tokens[spans], rsuffix="_tokens").reset_index()
    # Of BPE, they are measured once a language.
    before = tokens.xs("BPE", level="method").groupby("language").first()
    before = before.reindex(table["language"]).reset_index()
    for name in spans:
        table[f"{name}_tokens"] = table[f"{name}_tokens"].fillna(before[name])
    base = f1.xs("BPE", level="method")["value"].reindex(pd.MultiIndex.from_frame(table[keys[:2]]))
    table["gain"] = 100 * (table["value"] - base.to_numpy())
    table["added"] = 100 * (table["value_tokens"] / before["value"] - 1)
    return table


def table(gained: pd.DataFrame) -> str:
    """Return the table in Markdown, sorted by language."""
    titles = [f"{m}, F1" for m in ("BPE", *METHODS)] + ["tokens per word", *METHODS]
    lines = [["Language", "Reference", "words", *titles]]
    gained = gained.assign(name=gained["language"].map(lambda code: LANGUAGES[code].name))
    for (name, reference), rows in gained.groupby(["name", "reference"]):
        by = rows.set_index("method")
        methods = ("BPE", *METHODS)
        spans = 100 * by[["value", "low", "high"]]
        scores = [with_interval(*spans.loc[m]) for m in methods]
        spans = by[["value_tokens", "low_tokens", "high_tokens"]]
        told = [with_interval(*spans.loc[m], digits=2) for m in methods]
        lines.append([name, reference, f"{by.entries['BPE']:,}", *scores, *told])
    return markdown_table(lines, texts=2)


def picture(found: pd.DataFrame) -> go.Figure:
    """Return F1 gained against tokens added: a point for each language, reference and method."""
    added, gained = "tokens per word of running text, more or fewer than before, %", "F1 gained"
    figure = figure_of(added, f"{gained} on words kept aside, points", 560)
    for method, colour in METHODS.items():
        rows = found[(found["method"] == method) & found["added"].notna()]
        figure.add_scatter(
            x=rows["added"],
            y=rows["gain"],
            text=rows["language"],
            mode="markers+text" if method == "ReBPE" else "markers",
            textposition="top center",
            textfont={"size": 10},
            marker={"color": colour, "size": 9},
            name=method,
        )
    return figure.update_layout(template="plotly_white")


def with_interval(value: float, low: float, high: float, digits: int = 1) -> str:
    """Return a value with its interval, as tables have it.

    >>> with_interval(45.83, 43.9, 47.6)
    '45.8 [43.9, 47.6]'
    """
    shown = f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
    return "n/a" if "nan" in shown else shown


def save_picture(figure: go.Figure, name: str, width: int, height: int) -> None:
    """Save a figure among the pictures of the docs, as PNG unless its name says SVG."""
    page_of = figure.to_html(include_plotlyjs=True, default_height=height - 20)
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(300_000)
        page.set_content(page_of)
        page.wait_for_selector(".main-svg")
        page.wait_for_timeout(500)
        path = DOCS / "images" / name
        if path.suffix == ".svg":
            options = {"format": "svg", "width": width, "height": height}
            image = "how => Plotly.toImage(document.querySelector('.plotly-graph-div'), how)"
            drawn = unquote(page.evaluate(image, options).partition(",")[2])
            path.write_text(drawn, encoding="utf-8")
        else:
            page.screenshot(path=f"{path}.png")
        browser.close()


def main() -> None:
    """Print the table and save the picture."""
    gained = gains(pd.read_parquet(sys.argv[1]))
    print(table(gained))
    save_picture(picture(gained), "languages", 1000, 580)


if __name__ == "__main__":
    main()
