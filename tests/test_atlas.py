"""The atlas: what its pages show of results, and the merges to blame."""

import re
from html.parser import HTMLParser
from pathlib import Path

import morphgraph as mg
from docs.tools.atlas import ATLAS, HOME, blamed_in, home_of, pages_of, read_merges, read_results

HOSTILE = "<script>alert(1)</script>"
RECIPE = """
name: tiny
languages: [eng]
tokenisers: [{name: Demo, file: "demo:{code}"}]
references: [{name: gold, source: "demo:{code}"}]
metrics: [f1]
"""
RUN = {
    "name": "tiny",
    "recipe": RECIPE,
    "languages": ["eng"],
    "command": ["morphgraph", HOSTILE],
    "code": "1",
    "versions": {},
}


def row(tokeniser, language, scores, **about):
    texts = dict.fromkeys(("corpus", "parameters", "reference", "task", "words"), "")
    empty = {"scope": "", "weighting": "", "step": None, "p": None, "entries": None}
    told = []
    for metric, value in scores.items():
        of_words = {"scope": "morphemic", "weighting": "types"} if metric == "f1" else {}
        low, high = (value - 0.1, value + 0.1) if of_words else (None, None)
        found = {"metric": metric, "value": value, "low": low, "high": high, "signature": "s:1"}
        told.append({**empty, **of_words, **found})
    known = {"language": language, "tokeniser": tokeniser, "scores": told}
    rest = {"method": "BPE", "vocab_size": None, "seed": None, "held_in": False, "inputs": {}}
    return {**texts, **rest, **known, **about}


GOLD = {"reference": "gold"}
ROWS = [
    row("A", "eng", {"f1": 0.9}, **GOLD, words="all words"),
    row("A", "eng", {"f1": 0.4}, **GOLD, words="kept aside 0.2 by families", seed=0),
    row("A", "eng", {"f1": 0.8}, **GOLD, words="kept aside 0.2 by families", seed=1),
    row("A", "eng", {"vocabulary.fertility": 1.0, "vocabulary.never_used": 25, "types": 100}),
    row("A", "deu", {"f1": 0.6}, **GOLD),
    row("A", "deu", {"vocabulary.fertility": 3.0}),
    row("A", "eng", {"f1": 0.99, "types": 90}, **GOLD, method="ReBPE", held_in=True),
    row(HOSTILE, "xx<b>", {"f1": 0.5}, reference=HOSTILE),
]


def results(rows, **run):
    return {"format": "morphgraph results", "version": 2, "run": RUN | run, "rows": rows}


class Tables(HTMLParser):
    """The rows of each table of a page, as texts of their cells, and all tags."""

    def __init__(self, page):
        super().__init__()
        self.tables = []
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data):
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += " ".join(data.split()) and f" {data.strip()}"


def test_a_page_shows_the_first_words_kept_aside_and_means_over_languages():
    means, f1, _, tokens, dead, scores = Tables(pages_of(results(ROWS), {})["index.html"]).tables
    shown = {tuple(cell.strip() for cell in line[:2]): line[2:] for line in means}
    # Means of 0.4 kept aside and 0.6, and the Gini coefficient of 1 and 3 tokens per word.
    expected = ["50.0 [42.9, 57.1]", "n/a", "2.00", "25.0", "0.250", "2 2", "100"]
    assert [" ".join(cell.split()) for cell in shown["A", "BPE"]] == expected
    assert [cell.strip() for cell in f1[0]] == ["Tokeniser", "English", "German", "xx<b>"]
    assert [cell.strip() for cell in f1[1]] == ["A BPE", "40.0", "60.0", "–"]
    assert [cell.strip() for cell in f1[2]] == ["A ReBPE", "–", "–", "–"], "held in"
    assert [cell.strip() for cell in tokens[1]] == ["A BPE", "1.00", "3.00", "–"]
    assert [cell.strip() for cell in dead[1]] == ["A BPE", "25.0", "–", "–"]
    assert len(scores) == 1 + 3


def test_names_from_results_are_escaped():
    merges = {HOSTILE: {"xx<b>\tgold": [{"merge": "<b> + <i>", "joins": 2, "wrong": 1}]}}
    for name, page in pages_of(results(ROWS), merges).items():
        found = Tables(page)
        assert found.tags.count("script") == 1, name
        assert not {"b", "i"} & set(found.tags)
        assert re.fullmatch(r"[a-z0-9-]+\.html", name)


def test_the_worst_merges_are_those_of_blame(capsys):
    [(place, worst)] = blamed_in(results(ROWS), {})["Demo"].items()
    assert place == "eng\tgold"
    first = mg.load("demo:en").blame(mg.read_gold("demo:en")).to_frame().iloc[0]
    assert (worst[0]["merge"], worst[0]["joins"]) == (first["merge"], first["N"])
    shares = [one["wrong"] / one["joins"] for one in worst]
    assert shares == sorted(shares, reverse=True) and shares[-1] >= 0.5


def test_the_pages_that_ship_are_of_the_results_that_ship():
    pages = pages_of(read_results(), read_merges())
    assert {path.name for path in ATLAS.glob("*.html")} == set(pages)
    for name, text in pages.items():
        assert Path(ATLAS, name).read_text(encoding="utf-8") == text, f"{name}: make atlas"
    assert len(pages["index.html"].encode()) <= 650_000


def test_the_home_of_the_site_has_numbers_of_the_atlas():
    table = home_of(read_results())
    assert HOME.read_text(encoding="utf-8") == table, "make atlas"
    _, f1, *_ = Tables(pages_of(read_results(), {})["index.html"]).tables
    known = {row[0].strip(): dict(zip(f1[0], row, strict=True)) for row in f1}
    [(_, *heads), *rows] = Tables(table).tables[0]
    assert len(rows) >= 5 and len(heads) == 7
    for name, *cells in rows:
        about = re.sub(r" [\d,]+ types", "", name).strip()
        for head, cell in zip(heads, cells, strict=True):
            language = next(each for each in f1[0] if head.startswith(each))
            before, after = (known[f"{about} {method}"][language] for method in ("BPE", "ReBPE"))
            assert cell.startswith(f"{before} → {after.strip()} [")
