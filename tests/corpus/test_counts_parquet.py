"""Word counts from parquet files: what they are, and what is refused."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from morphgraph.core.errors import FileFormatError
from morphgraph.corpus.counts import parse_word_counts, read_word_counts


def as_parquet(columns: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int8", "string")])
@pytest.mark.parametrize("number", [pa.int64(), pa.uint64(), pa.uint8()])
def test_reads_every_kind_of_column(tmp_path: Path, kind: Any, number: Any) -> None:
    words = pa.array(["low", "a b", "low", "no", "\r\0", "né"]).cast(kind)
    columns = {"more": [1] * 6, "count": pa.array([5, 2, 7, 0, 1, 3], number), "word": words}
    path = tmp_path / "counts.tsv"  # The content tells what it is.
    path.write_bytes(as_parquet(columns))
    expected = {"low": 12, "a b": 2, "\r\0": 1, "né": 3}
    assert dict(read_word_counts(path).items()) == expected
    found = parse_word_counts(path.read_bytes(), "counts.parquet")
    assert dict(found.items()) == expected
    assert found.pipeline is None


def test_many_rows() -> None:
    words = [f"{number:05}" for number in range(70_000)]
    found = parse_word_counts(as_parquet({"word": words, "count": range(1, 70_001)}), "a")
    assert list(found.words) == words
    assert list(found.counts) == list(range(1, 70_001))


@pytest.mark.parametrize(
    ("about", "pipeline"),
    [
        ('{"pipeline": "rebpe"}', "rebpe"),
        ('{"pipeline": 3}', None),
        ("[]", None),
        ("[" * 10**5, None),
        ("no JSON", None),
    ],
)
def test_what_made_the_words(about: str, pipeline: str | None) -> None:
    data = as_parquet({"word": ["low"], "count": [1]}, {"morphgraph": about})
    assert parse_word_counts(data, "a").pipeline == pipeline


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["low"], "count": [1]}, "it has no column called “word”. Give a column “word”"),
        ({"word": ["low"], "n": [1]}, "it has no column called “count”"),
        ({"word": [1], "count": [1]}, "the column “word” has no strings but bigint"),
        ({"word": ["low"], "count": [1.0]}, "the column “count” has no whole numbers but double"),
        ({"word": ["low"], "count": ["1"]}, "the column “count” has no whole numbers but varchar"),
        ({"word": ["low", None], "count": [1, 2]}, "a.parquet, row 2: the word is missing"),
        ({"word": ["low", ""], "count": [1, 2]}, "a.parquet, row 2: the word is empty"),
        ({"word": ["low", "a"], "count": [1, None]}, "a.parquet, row 2: the count is missing"),
        ({"word": ["low", "a"], "count": [1, -2]}, "a.parquet, row 2: the count -2 is negative"),
        ({"word": ["a"] * 3000, "count": [1] * 2999 + [-1]}, "row 3,000: the count -1 is negative"),
        ({"word": ["low"], "count": [10**15 + 1]}, "row 1: the count is larger than 10¹⁵"),
        ({"word": pa.array([], "string"), "count": pa.array([], "int8")}, "the file has no words"),
        ({"word": ["low"], "count": [0]}, "a.parquet: the file has no words"),
    ],
)
def test_refuses(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        parse_word_counts(as_parquet(columns), "a.parquet")
    assert message in str(caught.value)


def test_refuses_what_is_cut_off_or_no_text() -> None:
    data = as_parquet({"word": [f"w{number}" for number in range(999)], "count": range(999)})
    for length in (4, 20, len(data) // 2, len(data) - 3):
        with pytest.raises(FileFormatError, match="this parquet file cannot be read"):
            parse_word_counts(data[:length], "a.parquet")
    broken = pa.array([b"a\xff"]).view(pa.string())
    with pytest.raises(FileFormatError, match="cannot be read"):
        parse_word_counts(as_parquet({"word": broken, "count": [1]}), "a.parquet")


def test_refuses_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_parquet({"word": ["abc", "de", "f"], "count": [1, 2, 3]})
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_WORDS", "2")
    with pytest.raises(FileFormatError, match="it has 3 rows, the limit is 2"):
        parse_word_counts(data, "a.parquet")
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_WORDS", "3")
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_CHARACTERS", "5")
    with pytest.raises(FileFormatError, match="it has 6 characters in its words, the limit is 5"):
        parse_word_counts(data, "a.parquet")
