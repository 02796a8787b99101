"""Data sets of titles: what is drawn, how often, and what is written."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from refusals import refused

from morphgraph_models.downstream.examples import read_labelled
from morphgraph_models.titles import drawn_titles

PLAIN = [(f"a title of number {n}", label) for label in "abc" for n in range(40)]
PREFIXED = [(f"unusual remake of nonword {n}", label) for label in "ab" for n in range(10)]


def test_titles_with_prefixes_come_first() -> None:
    short, long = [("A title", "a")] * 9, [("a" + " word" * 10, "a")] * 9
    given = [*short, *long, *PLAIN, *PREFIXED, ("A  Title of number 1", "a")]
    parts = drawn_titles(given, 20, labels=2, seed=1)
    assert [len(part) for part in parts.values()] == [24, 8, 8]
    drawn = [title for part in parts.values() for title in part]
    assert len(set(drawn)) == 40 and set(drawn) <= {*PLAIN, *PREFIXED}
    assert Counter(label for _, label in drawn) == {"a": 20, "b": 20}, "the most frequent two"
    assert {*PREFIXED} <= {*drawn}, "ten of each have prefixes, so others come behind all of them"
    assert parts == drawn_titles(given, 20, labels=2, seed=1)
    assert parts != drawn_titles(given, 20, labels=2, seed=2)


def test_the_chance_of_a_title_is_its_share_of_prefixed_words() -> None:
    titles = [("unfit word here", "a"), ("unfit remake here", "a"), ("x y z", "b"), ("v y z", "b")]
    first = Counter(
        next(
            text
            for part in drawn_titles(titles, 1, labels=2, seed=n).values()
            for text, label in part
            if label == "a"
        )
        for n in range(600)
    )
    assert first["unfit remake here"] / 600 == pytest.approx(2 / 3, abs=0.06)


def test_too_few_titles_are_refused() -> None:
    with refused():
        drawn_titles(PLAIN, 50, labels=3)


def test_files_are_those_of_the_task(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "title,area\n" + "".join(f"{text},{label}\n" for text, label in PLAIN)
    )
    names = ["--text", "title", "--label", "area", "--per-label", "10", "--labels", "3"]
    command = [sys.executable, "-m", "morphgraph_models.titles", "t.csv", "--out", "new", *names]
    subprocess.run(command, cwd=tmp_path, check=True)
    sizes = {
        name: len(read_labelled([str(tmp_path / "new" / f"{name}.csv")], ["text"], "label")[0])
        for name in ("train", "dev", "test")
    }
    assert sizes == {"train": 18, "dev": 6, "test": 6}
