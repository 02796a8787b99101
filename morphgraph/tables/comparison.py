"""A comparison to take away: as CSV, as LaTeX, and as a web page of its own."""

import html
from collections.abc import Sequence

from morphgraph.core.numbers import UNDEFINED, percent, ratio_text
from morphgraph.score.comparison import ComparedWord, Comparison, SegmentedWord
from morphgraph.tables.writing import csv_bytes, harmless, latex

_STYLE = """
:root {
  color-scheme: light dark;
  --line: #8886; --right: #1d8a5f; --wrong: #6a5ad0; --missed: #c62336;
}
@media (prefers-color-scheme: dark) {
  :root { --right: #4fc596; --wrong: #a99cf5; --missed: #ff6b76; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td {
  padding: 4px 12px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
}
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.t {
  font-family: ui-monospace, monospace; background: #8882; border-radius: 4px; padding: 1px 4px;
}
.t.dropped { text-decoration: line-through; opacity: 0.55; }
.right { border-left: 2px solid var(--right); margin: 0 4px; }
.wrong { border-left: 2px dotted var(--wrong); margin: 0 4px; }
.split { border-left: 2px solid var(--line); margin: 0 4px; }
.missed { border-left: 2px solid var(--missed); }
.exact { color: var(--right); }
small { opacity: 0.7; }
"""


def comparison_csv(comparison: Comparison, rows: Sequence[ComparedWord]) -> bytes:
    """Rows as CSV: the word, its gold morphs, and for each method its tokens, errors and whether
    it is exact; tokens are separated by spaces.
    """
    header = ["word", "gold"]
    for label in comparison.labels:
        header += [label, f"{label}: errors", f"{label}: exact"]
    lines: list[list[object]] = [[harmless(text) for text in header]]
    for row in rows:
        line: list[object] = [harmless(row.text), harmless(" ".join(row.gold or ()))]
        for cell in row.cells:
            known = cell.exact is not None
            line += [
                harmless(" ".join(cell.tokens)),
                cell.errors if known else UNDEFINED,
                int(bool(cell.exact)) if known else UNDEFINED,
            ]
        lines.append(line)
    return csv_bytes(lines)


def comparison_latex(comparison: Comparison, rows: Sequence[ComparedWord]) -> str:
    """Rows as a LaTeX table (booktabs): tokens separated by a bar, exact ones in bold."""
    columns = len(comparison.labels)
    titles = ["Word", "Gold", *comparison.labels]
    signatures = [*(found.signature for found in comparison.summaries), comparison.signature]
    lines = [f"% {' '.join(signature.split())}" for signature in signatures]
    lines += [
        "% needs booktabs; XeLaTeX or LuaLaTeX for characters such as Ġ and ▁",
        rf"\begin{{tabular}}{{{'l' * (2 + columns)}}}",
        r"\toprule",
        " & ".join(latex(title) for title in titles) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        # The braces keep a [ or * at the start from being an option of the line before.
        cells = ["{}" + latex(row.text), r"\,\textbar\,".join(map(latex, row.gold or ()))]
        cells += [_latex_cell(cell) for cell in row.cells]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _latex_cell(cell: SegmentedWord) -> str:
    shown = r"\,\textbar\,".join(map(latex, cell.tokens))
    return rf"\textbf{{{shown}}}" if cell.exact else shown


def comparison_html(comparison: Comparison, rows: Sequence[ComparedWord], title: str) -> bytes:
    """Rows and summaries as one HTML file that needs nothing else; all text is escaped."""
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        "<table><thead><tr>",
        *(f"<th>{html.escape(name)}</th>" for name in ("word", *comparison.labels)),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        gold = f"<br><small>{html.escape(' | '.join(row.gold))}</small>" if row.gold else ""
        cells = "".join(f"<td>{_html_cell(cell)}</td>" for cell in row.cells)
        lines.append(f"<tr><td>{html.escape(row.text)}{gold}</td>{cells}</tr>")
    lines += ["</tbody></table>", "<table><thead><tr>"]
    names = (
        "method",
        "precision %",
        "recall %",
        "F1 %",
        "95 %",
        "exact %",
        "tokens per word",
        "|V|",
    )
    lines += [f"<th>{name}</th>" for name in names]
    lines.append("</tr></thead><tbody>")
    for found in comparison.summaries:
        numbers = [
            percent(found.precision),
            percent(found.recall),
            percent(found.f1),
            f"{percent(found.interval.low)}–{percent(found.interval.high)}",
            percent(found.exact),
            ratio_text(found.fertility),
            f"{found.vocabulary_size:,}",
        ]
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
        lines.append(
            f"<tr><td>{html.escape(found.label)}<br><small>{html.escape(found.signature)}</small>"
            f"</td>{cells}</tr>"
        )
    signature = html.escape(comparison.signature)
    lines.append(f"</tbody></table><p><small>{signature}</small></p></body></html>")
    return "\n".join(lines).encode("utf-8", "replace")


def _html_cell(cell: SegmentedWord) -> str:
    parts = []
    for number, piece in enumerate(cell.pieces):
        text = html.escape(piece.text)
        if piece.boundary == "missed":
            parts.append(f'<span class="missed"></span>{text}')
            continue
        if number:
            parts.append("</span>")
        if piece.boundary != "start":
            parts.append(f'<span class="{piece.boundary}"></span>')
        parts.append(f'<span class="t{" dropped" if piece.dropped else ""}">{text}')
    if cell.pieces:
        parts.append("</span>")
    mark = ' <small class="exact">✓</small>' if cell.exact else ""
    return f"{''.join(parts)} <small>{len(cell.tokens)}</small>{mark}"
