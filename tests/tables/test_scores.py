"""Scores to take away: rows, CSV, LaTeX and Markdown say what the table says, and nothing else."""

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import small_reference, small_tokeniser

from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import ideal, outcome_of
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure
from morphgraph.score.uncertainty import Interval
from morphgraph.segment.bte import Bte
from morphgraph.tables.score_views import ScoreView
from morphgraph.tables.scores import scores_table
from morphgraph.tables.writing import latex, to_csv, to_latex, to_markdown

NAN = math.nan


def gold_set_of(name="/home/me/gold_1.tsv"):
    return GoldSet.of(replace(small_reference("un do", "do"), name=name))


def table_of(
    metrics,
    rows,
    *,
    name="/home/me/gold_1.tsv",
    baseline=None,
    signature="reference:a_b@1|version:0",
):
    """A table whose numbers are given, by label; a string instead of numbers is a failure."""
    gold = ideal(gold_set_of(name))
    outcomes = [
        SegmentationFailure(label, found)
        if isinstance(found, str)
        else replace(gold, label=label, vocabulary_size=32_000, segmenter="BPE")
        for label, found in rows
    ]
    table = ScoreTable(outcomes, metrics=metrics, baseline=baseline)
    table.__dict__["estimates"] = [
        None if isinstance(found, str) else dict(zip(metrics, found, strict=True))
        for _, found in rows
    ]
    table.__dict__["signature"] = signature
    return table


def estimate(value, low=NAN, high=NAN, p=NAN):
    return Estimate(value, Interval(low, high), p)


def csv_rows(tables):
    return list(csv.DictReader(io.StringIO(to_csv(scores_table(tables)).decode())))


@pytest.fixture
def real():
    """Scores that are easy to count: “undo” becomes un d o, and “do” d o."""
    gold_set = gold_set_of()
    outcome = outcome_of(Bte(small_tokeniser([("u", "n")], "undo")), gold_set, "small")
    outcomes = [outcome, SegmentationFailure("broken", "No file.\nName one."), ideal(gold_set)]
    return ScoreTable(outcomes, metrics=("precision", "recall", "f1", "fertility"), baseline=0)


def test_rows(real):
    small, broken, gold = ScoreView(real).to_frame().reset_index().to_dict("records")
    known = {"label": "small", "vocabulary size": 5, "recall": 1, "f1": 0.5, "fertility": 2.5}
    assert {name: small[name] for name in known} == known
    assert small["precision"] == pytest.approx(1 / 3)
    assert 0 <= float(small["precision low"]) < 1 / 3 < float(small["precision high"]) <= 1
    assert math.isnan(float(small["f1 p"])), "a baseline is not tested against itself"
    assert (small["error"], broken["error"]) == ("", "No file.\nName one.")
    numbers = [value for key, value in broken.items() if key not in ("label", "error")]
    assert len(numbers) == 17
    assert all(isinstance(value, float) and math.isnan(value) for value in numbers)
    assert (gold["f1"], gold["vocabulary size"]) == (1, 2)


def test_csv(real):
    small, broken, gold = csv_rows([real])
    assert [row["tokeniser"] for row in (small, broken, gold)] == ["small", "broken", "Ideal"]
    assert {row["reference"] for row in (small, broken, gold)} == {"gold_1.tsv"}
    assert [row["vocabulary size"] for row in (small, broken, gold)] == ["5", "n/a", "2"]
    assert float(small["precision"]) == pytest.approx(1 / 3, abs=1e-15)
    assert (small["f1"], small["f1 p"], broken["f1"]) == ("0.5", "n/a", "n/a")
    assert small["signature"] == real.signature_of(0)
    assert small["signature"].startswith("reference:gold_1.tsv@")
    assert gold["signature"] == real.signature_of(2) != small["signature"]
    assert broken["error"] == "No file.\nName one."
    assert broken["signature"] == "failed: No file. Name one."


def test_csv_of_several_tables():
    one = table_of(["f1"], [("a", [estimate(0.25, 0.125, 0.5, 0.0625)])])
    other = table_of(["precision"], [("b", [estimate(NAN)])], name="x.tsv")
    rows = csv_rows([one, other])
    numbers = [f"{m}{part}" for m in ("f1", "precision") for part in ("", " low", " high", " p")]
    assert list(rows[0])[6:-3] == numbers
    assert [rows[0][key] for key in numbers] == ["0.25", "0.125", "0.5", "0.0625", "", "", "", ""]
    assert [rows[1][key] for key in numbers] == ["", "", "", "", "n/a", "n/a", "n/a", "n/a"]
    assert [row["reference"] for row in rows] == ["gold_1.tsv", "x.tsv"]


GOLDEN = r"""% needs \usepackage{adjustbox,array,booktabs}; XeLaTeX or LuaLaTeX for letters that are not Latin
\begin{table}
\centering
\small\setlength{\tabcolsep}{4pt}
\caption[{Scores of tokenisers}]{Scores of tokenisers against gold segmentations.}\label{tab:scores}
\begin{adjustbox}{max width=\linewidth,max totalheight=.8\textheight}
\begin{tabular}{lrrrr}
\toprule
{}Tokeniser & \textbar{}V\textbar{} & F1 \% $\uparrow$ & Over-segmented \% $\downarrow$ & Tokens per word \\
\midrule
\multicolumn{5}{l}{\textit{gold\_1.tsv, morphemic boundaries over word types}} \\
{}BPE\_32k$^{\dagger}$ & 32,000 & 50.00 & \textbf{10.00} & 1.50 \\
 &  & {\scriptsize [45.00, 55.00]} & {\scriptsize [9.00, 11.00]} &  \\
{}[ā\$ & 32,000 & \textbf{75.00}\rlap{$^{***}$} & 12.50\rlap{$^{*}$} & 1.25 \\
 &  & {\scriptsize [70.00, 80.00]} & {\scriptsize [12.00, 13.00]} &  \\
{}broken & \multicolumn{4}{>{\raggedright\arraybackslash}p{0.3\linewidth}}{failed: 100\% of it} \\
\midrule
\multicolumn{5}{l}{\textit{\#2, morphemic boundaries over word types}} \\
{}BPE\_32k & 32,000 & n/a & 20.00 & 3.00 \\
\bottomrule
\end{tabular}
\end{adjustbox}

\smallskip
\begin{minipage}{\linewidth}\footnotesize\raggedright Bold: the best of its block. In brackets: 95 \% bootstrap intervals. Stars: different from the baseline ($\dagger$) of the block, by paired approximate randomisation: * p \textless{} 0.05, ** p \textless{} 0.01, *** p \textless{} 0.001. n/a: undefined, or not measured. Signature: \texttt{reference:\allowbreak{}a\_b@1\textbar{}\allowbreak{}version:\allowbreak{}0}. Signature: \texttt{words:\allowbreak{}\char34{}x\char34{}}.\end{minipage}
\end{table}

"""  # noqa: E501


@pytest.fixture
def two():
    metrics = ["f1", "over", "fertility"]
    first = [estimate(0.5, 0.45, 0.55), estimate(0.1, 0.09, 0.11), estimate(1.5)]
    second = [estimate(0.75, 0.7, 0.8, 0.0009), estimate(0.125, 0.12, 0.13, 0.02)]
    second.append(estimate(1.25, p=0.5))
    third = [estimate(NAN), estimate(0.2), estimate(3)]
    rows = [("BPE_32k", first), ("[ā$", second), ("broken", "100%\n of it")]
    return [
        table_of(metrics, rows, baseline=0),
        table_of(metrics, [("BPE_32k", third)], name="#2", signature='words:"x"'),
    ]


def test_latex(two):
    assert to_latex(scores_table(two)) == GOLDEN


def test_the_gold_competes_with_nobody(real):
    """Else it would be best; see `test_model` for who is."""
    assert not any(cell.is_best for row in scores_table([real]).rows for cell in row.cells)


@pytest.mark.parametrize("first", ["gone", [estimate(0.25)]])
def test_a_baseline_without_tests_is_not_marked(first):
    rows = [("a", first), ("b", [estimate(0.5)])]
    text = to_latex(scores_table([table_of(["f1"], rows, baseline=0)]))
    assert "dagger" not in text
    assert "randomisation" not in text


def test_all_failed():
    table = ScoreTable([SegmentationFailure("a", "x")], metrics=["f1"])
    assert r"}{failed: x} \\" in to_latex(scores_table([table]))
    assert "Signature" not in to_latex(scores_table([table]))
    assert "| a | failed: x |  |" in to_markdown(scores_table([table])).splitlines()
    assert csv_rows([table])[0]["reference"] == "n/a"


def test_nothing_to_write():
    for tables in ([], [ScoreTable([])], [table_of([], [("a", [])])]):
        with refused():
            scores_table(tables)


BACK = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    "-{}": "-",
    **{f"\\{character}": character for character in "&%$#_{}"},
}


@given(st.text(st.sampled_from("\\{}$&#^_~%<>|\"'`-[]*aé ▁"), max_size=30))
def test_latex_means_the_text(text):
    escaped = re.compile("|".join(map(re.escape, sorted(BACK, key=len, reverse=True))))
    assert escaped.sub(lambda found: BACK[found[0]], latex(text)) == text
    left = escaped.sub("", latex(text))
    assert not set(left) & set('\\{}$&#^_~%<>|"')


def test_markdown(two):
    assert to_markdown(scores_table(two)).splitlines() == [
        r"**gold\_1.tsv, morphemic boundaries over word types**",
        "",
        r"| Tokeniser | \|V\| | F1 % ↑ | Over-segmented % ↓ | Tokens per word |",
        "| --- | ---: | ---: | ---: | ---: |",
        r"| BPE\_32k † | 32,000 | 50.00 [45.00, 55.00] | **10.00** [9.00, 11.00] | 1.50 |",
        r"| \[ā$ | 32,000 | **75.00**\*\*\* [70.00, 80.00] | 12.50\* [12.00, 13.00] | 1.25 |",
        "| broken | failed: 100% of it |  |  |  |",
        "",
        r"**\#2, morphemic boundaries over word types**",
        "",
        r"| Tokeniser | \|V\| | F1 % ↑ | Over-segmented % ↓ | Tokens per word |",
        "| --- | ---: | ---: | ---: | ---: |",
        r"| BPE\_32k | 32,000 | n/a | 20.00 | 3.00 |",
        "",
        "Bold: the best of its block. In brackets: 95 % bootstrap intervals. Stars: different from "
        "the baseline (†) of the block, by paired approximate randomisation: "
        r"\* p \< 0.05, \*\* p \< 0.01, \*\*\* p \< 0.001. n/a: undefined, or not measured.",
        "",
        "- `reference:a_b@1|version:0`",
        '- `words:"x"`',
    ]


def test_code_holds_backticks():
    table = table_of(["f1"], [("a", [estimate(0.5)])], signature="a``b")
    assert to_markdown(scores_table([table])).endswith("\n- ``` a``b ```\n")
