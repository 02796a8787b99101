"""The files of a report: what stands in them, that they stand alone, and that nothing in a name
becomes markup, a formula or a command.
"""

import json
import math
import re
from html.parser import HTMLParser

import pytest
import reports

from morphgraph.batch.report import chart_of, file_names, make_table
from morphgraph.batch.results import FAILED, TableSpec, results_of_rows
from morphgraph.batch.store import Task, TaskFailure, TaskReport

NAN = math.nan
HOSTILE = "</script><script>alert(1)</script>"
SPEC = TableSpec(title="Scores", rows=["method"], metrics=["f1", "types"])


def results(*rows):
    return results_of_rows({"part": 1, "metric": "f1", **row} for row in rows)


def task(kind, label, state="done", why=""):
    ended = Task(kind, label, None, {})
    failure = TaskFailure(label, why, "Traceback\n  <module>") if why else None
    return TaskReport(ended, state, failure)


def scores():
    return results(
        {"method": "BPE", "value": 0.5, "low": 0.25, "high": 0.75, "signature": "a:1|b:2"},
        {"method": "D", "value": 0.5, "seed": 1, "signature": "a:1|b:3"},
        {"method": "D", "value": 0.75, "seed": 2, "signature": "a:1|b:3"},
        {"method": "N", "value": NAN},
        {"method": "BPE", "metric": "types", "value": 32000.0},
        {"method": "F", "metric": FAILED, "value": NAN},
    )


RUN = {
    "results": scores(),
    "tasks": [
        task("counts", "count en"),
        task("cell", "BPE"),
        task("cell", "F on en", "failed", "gold.tsv, line 3: bad."),
        task("cell", "N", "not run"),
    ],
    "title": "Three methods",
    "description": "Which is best?",
    "tables": [SPEC],
}
LINED = {
    "results": results(
        {"method": "BPE", "vocab_size": 2000, "value": 0.5, "low": 0.25, "high": 0.75},
        {"method": "BPE", "vocab_size": 1000, "value": 0.375},
    ),
    "tables": [TableSpec(title="L", rows=["method", "vocab_size"], metrics=["f1"], lines=True)],
}
"""Another run, with a chart."""


class Page(HTMLParser):
    """The elements of a page that are open at any time, its texts, and what it would fetch."""

    VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tags = []
        self.texts = []
        self.scripts = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        elif "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture
def report(tmp_path):
    reports.write(tmp_path, **RUN)
    return tmp_path


def test_files(tmp_path):
    names = ["report.html", "report.md", "tables/scores.tex", "tables/scores.csv"]
    assert reports.write(tmp_path, **RUN) == [tmp_path / name for name in names]
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == set(names), "nothing is left behind"


def test_page_stands_alone(report):
    reports.write(report, **RUN | LINED)
    page = Page((report / "report.html").read_text())
    for tag, attributes in page.tags:
        if tag != "a":
            assert not {"src", "href", "srcset", "data", "poster", "action"} & set(attributes), tag
    policies = [a["content"] for _, a in page.tags if "http-equiv" in a]
    assert policies and policies[0] is not None and policies[0].startswith("default-src 'none'")
    style = (report / "report.html").read_text().split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert sum("plotly.js" in text for _, text in page.scripts) == 1, "once"


def test_charts_are_the_table(report):
    reports.write(report, **RUN | LINED)
    page = Page((report / "report.html").read_text())
    (figure,) = (json.loads(text) for kind, text in page.scripts if kind == "application/json")
    (line,) = figure["data"]
    assert (line["x"], line["y"]) == ([1000, 2000], [37.5, 50])
    assert line["error_y"]["array"] == [0, 25]
    assert "template" not in figure["layout"]


def test_nothing_hostile_becomes_markup(tmp_path):
    named = dict.fromkeys(("language", "corpus", "tokeniser"), HOSTILE)
    frame = scores().assign(**named, signature=f"{HOSTILE}|`x`")
    frame["method"] = frame["method"] + HOSTILE
    frame["vocab_size"] = range(len(frame))
    rows = ["method", "vocab_size"]
    spec = TableSpec(
        title=HOSTILE, rows=rows, columns=["language"], metrics=["f1"], note=HOSTILE, lines=True
    )
    lines = TableSpec(title=HOSTILE, rows=rows, metrics=["f1"], lines=True)
    reports.write(
        tmp_path,
        frame,
        [task(HOSTILE, HOSTILE, "failed", HOSTILE)],
        reports.FACTS | {HOSTILE: HOSTILE, "command": [HOSTILE]},
        f"{HOSTILE}\n```\n",
        title=HOSTILE,
        description=HOSTILE,
        tables=[spec, lines],
    )
    page = Page((tmp_path / "report.html").read_text())
    kinds = [kind for kind, _ in page.scripts]
    assert kinds == ["application/json"] * 2 + [None] * 3, "no script but the report's own"
    assert not any(text.startswith("alert") for _, text in page.scripts)
    assert "alert(1)" in page.text
    for _, text in page.scripts[:2]:
        assert "<" not in text
        assert "&lt;/script&gt;" in json.dumps(json.loads(text))
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert all(link and link.startswith("#") for link in links)
    handlers = [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    assert handlers == []
    markdown = (tmp_path / "report.md").read_text()
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", markdown)
    outside = re.sub(r"(`+) ?.*?\1", "", outside)
    assert re.search(r"(?<!\\)<", outside) is None


def test_no_results(tmp_path):
    run = RUN | {"results": results(), "tables": [], "tasks": RUN["tasks"][2:3]}
    assert [path.name for path in reports.write(tmp_path, **run)] == ["report.html", "report.md"]
    page = Page((tmp_path / "report.html").read_text())
    assert "F on en gold.tsv, line 3: bad." in page.text
    assert [len(text) < 2000 for _, text in page.scripts] == [True], "no chart, no plotly"
    reports.write(tmp_path, **run | {"tables": [SPEC]})
    for name in ("report.html", "report.md", "tables/scores.tex"):
        assert "no results" in (tmp_path / name).read_text()


def test_names_of_files():
    titles = ["../../etc/passwd", "Größe (θ)", "", "a", "A", "a-2", "x" * 200]
    expected = ["etc-passwd", "groe", "table", "a", "a-2", "a-2-2", "x" * 60]
    assert file_names(titles) == expected


def test_lines_over_sizes_in_a_panel_for_each_language():
    frame = results(
        *(
            {"language": lang, "method": method, "vocab_size": size, "value": size / 100}
            for lang in ("en", "de")
            for method in ("A", "B")
            for size in (20, 10)
            if (lang, method, size) != ("de", "B", 10)
        )
    )
    spec = TableSpec(
        title="T", rows=["language", "method", "vocab_size"], metrics=["f1"], lines=True
    )
    figure, _ = chart_of(make_table(frame, spec))
    assert [(t.name, list(t.x), list(t.y)) for t in figure.data] == [
        ("A", [10, 20], [10, 20]),
        ("B", [10, 20], [10, 20]),
        ("A", [10, 20], [10, 20]),
        ("B", [10, 20], [None, 20]),
    ]
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>en · F1 % ↑</b>", "<b>de · F1 % ↑</b>"]


def test_lines_over_a_setting():
    rows = [{"parameters": f"p={p}, threshold=0.5", "value": p} for p in (0.1, 0.3)]
    spec = TableSpec(title="T", rows=["parameters"], metrics=["f1"], lines=True)
    figure, _ = chart_of(make_table(results(*rows), spec))
    assert [(t.type, list(t.x), list(t.y)) for t in figure.data] == [
        ("scatter", [0.1, 0.3], [10, 30])
    ]
    assert figure.layout.xaxis.title.text == "p"
    rows.append({"parameters": "", "value": 0.5})
    figure, _ = chart_of(make_table(results(*rows), spec))
    assert figure is None, "not every row has a number"


def test_the_best_parameters_by_a_metric():
    def of(task, method, k, *values):
        own = {"task": task, "method": method, "parameters": k}
        scores = [("exact", values[0], 0), ("exact", values[1], 1), ("f1", values[2], 0)]
        return [{**own, "metric": m, "value": v, "seed": seed} for m, v, seed in scores]

    rows = [*of("a", "FLOTA", "k=1", 0.9, 0.1, 0.3), *of("a", "FLOTA", "k=2", 0.6, 0.5, 0.2)]
    rows += [*of("b", "FLOTA", "k=1", 0.5, 0.5, 0.7), *of("b", "FLOTA", "k=2", 0.4, 0.5, 0.8)]
    rows += of("a", "BERT", "", 0.1, 0.1, 0.4)
    spec = {"title": "T", "rows": ["task", "method", "parameters"], "metrics": ["f1"]}
    table = make_table(results_of_rows(rows), TableSpec(**spec, choose="exact"))
    assert {row.names: row.cells[0].value for row in table.rows} == {
        ("a", "FLOTA", "k=2"): 0.2,
        ("a", "BERT", ""): 0.4,
        ("b", "FLOTA", "k=1"): 0.7,
    }


def test_no_chart():
    [lined] = LINED["tables"]
    assert chart_of(make_table(LINED["results"], lined))[1] == ""
    for frame, lines in ((LINED["results"], False), (LINED["results"].assign(value=NAN), True)):
        table = make_table(frame, TableSpec(**{**vars(lined), "lines": lines}))
        assert chart_of(table) == (None, "")
