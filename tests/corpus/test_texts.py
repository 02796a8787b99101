"""Word counts from running text: what is counted, and what is refused and how."""

import pandas as pd
import pytest
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.corpus import counting
from morphgraph.corpus.counting import read_text
from tests.corpus.test_counts import as_parquet

CSV = b'text,label\n"the dog, the cat",1\nthe end,2\n\n'


def read(data, name, **options):
    return dict(read_text(data, name, **options).items())


def test_words_are_what_white_space_separates_most_frequent_first():
    counts = read_text("b a\n\nb\tb\u00a0c\n".encode(), "a.txt")
    assert list(counts.items()) == [("b", 3), ("a", 1), ("c", 1)]


def test_parquet(tmp_path):
    data = as_parquet({"text": ["the dog", None, "the cat"], "label": [1, 2, 3]})
    assert read(data, "a.parquet") == {"the": 2, "dog": 1, "cat": 1}
    assert read(data, "named oddly") == {"the": 2, "dog": 1, "cat": 1}
    frame = pd.DataFrame({"title": ["a b", "a"], "body": ["x", "y"], "n": [1, 2]})
    frame["body"] = frame["body"].astype("category")
    path = tmp_path / "b.parquet"
    frame.to_parquet(path)
    assert dict(read_text(path, column="title").items()) == {"a": 2, "b": 1}
    assert dict(read_text(path, column="body").items()) == {"x": 1, "y": 1}


@pytest.mark.parametrize(
    ("data", "name", "options"),
    [
        (b"", "a.txt", {}),
        (b"", "a.csv", {}),
        (b"text\n\n", "a.csv", {}),
        (CSV, "a.csv", {"column": "body"}),
        (b"a,b\n1,2\n", "a.csv", {}),
        (b"text,content\n1,2\n", "a.csv", {}),
        (as_parquet({"n": [1, 2]}), "a.parquet", {}),
        (as_parquet({"n": [1], "t": ["a"]}), "a.parquet", {"column": "n"}),
    ],
)  # fmt: skip
def test_refuses(data, name, options):
    with refused(FileFormatError):
        read_text(data, name, **options)


def test_too_many_words_or_bytes_are_refused(monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_WORDS", "2")
    assert len(read_text(b"a b a", "a.txt")) == 2
    with refused(FileFormatError):
        read_text(b"a b c", "a.txt")
    monkeypatch.setattr(counting, "LARGEST_FILE", 4)
    with refused(FileFormatError):
        read_text(b"a b c", "a.txt")
