"""Word counts from files and from wordfreq, and their preparation."""

import io
import tracemalloc

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.corpus import counts
from morphgraph.corpus.counts import parse_word_counts, read_word_counts, wordfreq_counts
from morphgraph.corpus.word_array import WordArray


def read(path, content):
    file = path / "counts.txt"
    file.write_bytes(content)
    return dict(read_word_counts(file).items())


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"low\t5\nlower\t2\n", {"low": 5, "lower": 2}),
        (b"low 5\r\nlower   2", {"low": 5, "lower": 2}),
        (b"\xef\xbb\xbflow\t5\n\n\n", {"low": 5}),
        (b"New York\t3\n", {"New York": 3}),
        (b"low\t5\nlow\t2\nrare\t0\n", {"low": 7}),
        ("Öl\t1\n語 2\n".encode(), {"Öl": 1, "語": 2}),
        (b"low 1000000000000000\nlower 007", {"low": 10**15, "lower": 7}),
    ],
)
def test_read(tmp_path, content, counts):
    assert read(tmp_path, content) == counts


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n \n",
        b"low\t0\n",
        b"just\nsome\ntext here\n",
        b"low\t5\nlower\ttwo\n",
        b"low 5\nlower 2.5\n",
        b"low 5\nlower 1_0\n",
        "low 5\nlower ٣\n".encode(),
        b"low\t5\n\nlower\t-2\n",
        b"low 5\nlower\n",
        b"low 5\n 7\n",
        b"low\tl ow\t110\n",
        b"low 5\nlower 1000000000000001\n",
        b"low 5\nlower " + b"9" * 5000,
        b"low 5\nl\xf6w 7\n",
    ],
)
def test_read_refuses(tmp_path, content):
    with refused(FileFormatError):
        read(tmp_path, content)


def test_read_refuses_what_is_too_large_or_missing(tmp_path, monkeypatch):
    file = tmp_path / "counts.txt"
    file.write_text("low 5\n")
    monkeypatch.setattr(counts, "LARGEST_FILE", 5)
    with refused(FileFormatError):
        read_word_counts(file)
    with refused(FileFormatError):
        read_word_counts(tmp_path / "nothing.txt")


def test_wordfreq():
    counts = wordfreq_counts("en", wordlist="small")
    assert len(counts) > 20_000
    by_word = dict(counts.items())
    assert by_word["the"] == 53_703_180
    assert list(counts.counts) == sorted(counts.counts, reverse=True)


def test_wordfreq_names_the_languages_it_has():
    with refused():
        wordfreq_counts("tlh")
    with refused():
        wordfreq_counts("hu", wordlist="large")


_LINES = st.lists(
    st.one_of(
        st.from_regex(r"[abé語\u3000\xa0 ]{1,5}\t[0-9]{1,3}", fullmatch=True),
        st.from_regex(r"[abß’]{1,3}[ \t]{1,2}[0-9]{1,17}\r?", fullmatch=True),
        st.sampled_from(["", " ", "a\tb\t5", "a\rb\t5", "\x1ca\t5", "a\x1c\t5"]),
        st.sampled_from(["\ufeffa\t5", "a\t07", "a", "a\tx", "a\t-1", "a\t5x", "\t5"]),
    ).map(str.encode)
    | st.just(b"a\xff\t5"),
    max_size=12,
)  # fmt: skip


def outcome(data, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_BLOCK", block)
        try:
            return list(parse_word_counts(data, "a.tsv").items())
        except FileFormatError as error:
            return str(error)


_WHITE = [chr(point) for point in range(0x3001) if chr(point).isspace() and point != ord("\n")]


@pytest.mark.parametrize("block", [1, 20])
def test_white_space_around_words_of_a_large_file(block):
    for white in _WHITE:
        for line in (f"a{white}\t5", f"{white}a\t5", f"a\t5{white}", f"a{white}b\t5"):
            data = f"first\t1\n{line}\nlast{white}\t2".encode()
            assert outcome(data, block) == outcome(data, 10**6), repr(white)


@pytest.mark.slow
@examples(300)
@given(_LINES, st.integers(1, 40), st.booleans())
def test_blocks_of_a_large_file_are_read_as_a_small_file(lines, block, ended):
    data = b"\n".join(lines) + b"\n" * ended
    assert outcome(data, block) == outcome(data, 10**6)


@pytest.mark.parametrize("limit", ["COUNTED_WORDS", "COUNTED_CHARACTERS"])
def test_a_large_file_has_limits(monkeypatch, limit):
    data = b"".join(b"%d\t1\n" % number for number in range(9))
    assert len(outcome(data, 8)) == 9
    monkeypatch.setenv(f"MORPHGRAPH_MAX_{limit}", "8")
    assert "the limit is 8" in outcome(data, 8)


def test_a_file_of_wrong_lines_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "_BLOCK", 2**16)
    path = tmp_path / "text.txt"
    path.write_text("".join(f"a sentence in line {number}.\n" for number in range(20_000)))
    tracemalloc.start()
    with refused(FileFormatError):
        read_word_counts(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_an_array_of_words_is_a_sequence():
    words = ["low", "Öl", "語", "", "lower"]
    array = WordArray.of_strings(words)
    assert (len(array), list(array), array[1], array[-1]) == (5, words, "Öl", "lower")
    assert list(array[1:4]) == words[1:4]
    assert list(array[::-2]) == words[::-2]
    assert array.lengths().tolist() == [3, 2, 1, 0, 5]
    assert list(array[1:4].with_prefix("Ġ", byte_level=True)) == ["ĠÃĸl", "ĠèªŀĠ"[:-1], "Ġ"]
    assert array[1:].consist_of(str.isalpha).tolist() == [True, True, True, True]
    with pytest.raises(IndexError):
        array[5]


def as_parquet(columns, metadata=None):
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int8", "string")])
@pytest.mark.parametrize("number", [pa.int64(), pa.uint64(), pa.uint8()])
def test_reads_every_kind_of_column(tmp_path, kind, number):
    words = pa.array(["low", "a b", "low", "no", "\r\0", "né"]).cast(kind)
    columns = {"more": [1] * 6, "count": pa.array([5, 2, 7, 0, 1, 3], number), "word": words}
    path = tmp_path / "counts.tsv"  # The content tells what it is.
    path.write_bytes(as_parquet(columns))
    expected = {"low": 12, "a b": 2, "\r\0": 1, "né": 3}
    assert dict(read_word_counts(path).items()) == expected
    found = parse_word_counts(path.read_bytes(), "counts.parquet")
    assert dict(found.items()) == expected
    assert found.pipeline is None


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
def test_what_made_the_words(about, pipeline):
    data = as_parquet({"word": ["low"], "count": [1]}, {"morphgraph": about})
    assert parse_word_counts(data, "a").pipeline == pipeline


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["low"], "count": [1]},
        {"word": ["low"], "n": [1]},
        {"word": [1], "count": [1]},
        {"word": ["low"], "count": [1.0]},
        {"word": ["low"], "count": ["1"]},
        {"word": ["low", None], "count": [1, 2]},
        {"word": ["low", ""], "count": [1, 2]},
        {"word": ["low", "a"], "count": [1, None]},
        {"word": ["low", "a"], "count": [1, -2]},
        {"word": ["a"] * 3000, "count": [1] * 2999 + [-1]},
        {"word": ["low"], "count": [10**15 + 1]},
        {"word": pa.array([], "string"), "count": pa.array([], "int8")},
        {"word": ["low"], "count": [0]},
    ],
)
def test_refuses_other_columns(columns):
    with refused(FileFormatError):
        parse_word_counts(as_parquet(columns), "a.parquet")


def test_refuses_what_is_cut_off_or_no_text():
    data = as_parquet({"word": [f"w{number}" for number in range(999)], "count": range(999)})
    for length in (4, 20, len(data) // 2, len(data) - 3):
        with refused(FileFormatError):
            parse_word_counts(data[:length], "a.parquet")
    broken = pa.array([b"a\xff"]).view(pa.string())
    with refused(FileFormatError):
        parse_word_counts(as_parquet({"word": broken, "count": [1]}), "a.parquet")


def test_parquet_has_limits(monkeypatch):
    data = as_parquet({"word": ["abc", "de", "f"], "count": [1, 2, 3]})
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_WORDS", "2")
    with refused(FileFormatError):
        parse_word_counts(data, "a.parquet")
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_WORDS", "3")
    monkeypatch.setenv("MORPHGRAPH_MAX_COUNTED_CHARACTERS", "5")
    with refused(FileFormatError):
        parse_word_counts(data, "a.parquet")


def test_a_line_of_a_large_file_without_end_is_not_read(monkeypatch):
    monkeypatch.setattr(counts, "_BLOCK", 2**10)
    monkeypatch.setattr(counts, "_LONGEST_LINE", 2**12)
    data = b"a\t1\n" * 1000 + b"b\t" * 2**20
    tracemalloc.start()
    with refused(FileFormatError):
        parse_word_counts(data, "a.tsv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
