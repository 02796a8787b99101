"""docs/results.md as a paper wants it: its tables in LaTeX, and a PDF."""

import shutil
from pathlib import Path

import pytest

from docs.tools import paper

PAGE = """# Results

## One & two

```
morphgraph score --out a_b
```

What **both** are, in %:

| | name | F1 |
| --- | --- | --- |
| BPE′ | `a_b` | 1,000 [9, 10] |
| ReBPE | c | **−1.5** ○ |

![A picture](images/languages.png)

| n |
| --- |
| 1 |

## Three

No table.
"""


def test_the_tables_have_their_commands_and_captions() -> None:
    files = paper.paper(PAGE)
    assert list(files) == ["one-two.tex", "one-two-2.tex", "results.tex"]
    first, second, document = files.values()
    assert first.startswith("% morphgraph score --out a_b\n")
    assert r"\caption[{One \& two}]{What both are, in \%.}\label{tab:one-two}" in first
    assert r"\begin{tabular}{llr}" in first
    assert r"BPE$'$ & a\_b & 1,000 [9, 10] \\" in first
    assert r"ReBPE & c & \textbf{$-$1.5 $\circ$} \\" in first
    assert r"\caption[{One \& two}]{One \& two.}\label{tab:one-two-2}" in second
    places = [
        r"\section*{One \& two}",
        "\nmorphgraph score --out a_b\n",
        r"\input{one-two}",
        r"\caption{A picture.}\includegraphics[width=0.8\linewidth]{images/languages.png}",
        r"\input{one-two-2}",
        "No table.",
    ]
    assert sorted(places, key=document.index) == places
    assert "What both are" not in document, "it is the caption"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_pdflatex_takes_all_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "PAPER", tmp_path / "paper")
    paper.main()
    assert (tmp_path / "paper" / "results.pdf").read_bytes().startswith(b"%PDF")
    log = (tmp_path / "paper" / "results.log").read_text(errors="replace")
    assert "Overfull" not in log, "every table fits the page"
