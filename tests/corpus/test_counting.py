"""Counting of files within a given memory: the numbers, the bounds, and what is refused."""

import errno
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus import counting, counting_store, counting_task, counting_texts
from morphgraph.corpus.counting import CountProgress, count_to_parquet, find_texts, parse_memory
from morphgraph.corpus.counting_task import KINDS, CountingTask, count_file
from morphgraph.corpus.counts import read_word_counts
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.corpus.text import read_text
from morphgraph.train.trainers import train

PROJECT = Path(__file__).resolve().parent.parent.parent
ODD = [
    "a",
    "b",
    "é",
    "語",
    "😀",
    "\0",
    "\x1c",
    "\r",
    "\n",
    "\v",
    " ",
    "\t",
    "\x85",
    "\xa0",
    "\u2028",
]
MARKS = ["'", "’", ".", "-", "(", "¨", "ﬁ", "１", "⇧", "x"]
TEXTS = st.lists(st.text(st.sampled_from(ODD + MARKS), max_size=60), min_size=1, max_size=4)


def read(path: Path) -> dict[str, int]:
    return dict(read_word_counts(path).items())


def names_in(folder: str | Path) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def oracle(text: str, kind: str) -> Counter[str]:
    counts = Counter(text.split())
    return counts if kind == "whitespace" else Counter(dict(PIPELINES[kind].words(counts)))


# ------------------------------------------------------------------------- the numbers


@examples(150)
@given(
    TEXTS, st.sampled_from(counting_task.KINDS), st.sampled_from([1, 3, 10**6]), st.integers(1, 3)
)
@example(["dogs'. dogs' 'tis x'(y"], "rebpe", 1, 1)
@example(["a\x1cb\x85c\u2028d e\r\rf\0g"], "whitespace", 1, 1)
@example(["", "\ufeffa a", "\u3000"], "whitespace", 1, 2)
def test_counts_are_those_of_a_counter(
    texts: list[str], kind: str, memory: int, least: int
) -> None:
    """With next to no memory: each block of 8 bytes is spilt, and rounds merge two or three."""
    expected: Counter[str] = Counter()
    for text in texts:
        expected += oracle(text.removeprefix("\ufeff"), kind)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(counting_task, "_SMALLEST_BLOCK", 8)
        patch.setattr(counting_store, "BLOCK_WORDS", 2)
        patch.setattr(counting_store, "BLOCK_BYTES", 4)
        patch.setattr(counting, "LEAST_MEMORY", 0)
        patch.setattr(counting, "LEAST_SHARE", 1)
        patch.setattr(counting, "most_open", lambda _: least + 1)
        source, out = Path(folder, "in"), Path(folder, "out.parquet")
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number}.txt").write_bytes(text.encode())
        options: dict[str, Any] = {"pipeline": kind, "memory": memory, "workers": 1}
        kept = {word: number for word, number in expected.items() if number >= least}
        if not expected:
            with pytest.raises(MorphGraphError, match="there is no word"):
                count_to_parquet([source], out, **options)
            assert names_in(folder) == ["in"]
            return
        report = count_to_parquet([source], out, minimum_count=least, **options)
        table = parquet.read_table(out).to_pydict()
        assert dict(zip(table["word"], table["count"], strict=True)) == kept
        assert table["word"] == sorted(kept)
        assert (report.words, report.distinct) == (expected.total(), len(expected))
        assert (report.kept, report.files) == (len(kept), len(texts))
        assert names_in(folder) == ["in", "out.parquet"]


def test_many_partials_and_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "LEAST_MEMORY", 0)
    monkeypatch.setattr(counting_task, "_SMALLEST_BLOCK", 64)
    monkeypatch.setattr(counting, "most_open", lambda _: 3)
    most = 0
    opened: list[Path] = []
    plain = counting_store.read_partial

    def watched(path: Path) -> Any:
        nonlocal most
        opened.append(path)
        most = max(most, len(opened))
        yield from plain(path)
        opened.remove(path)

    monkeypatch.setattr(counting_store, "read_partial", watched)
    words = [f"w{number * number % 997}" for number in range(4000)]
    (tmp_path / "a.txt").write_text(" ".join(words))
    report = count_to_parquet([tmp_path / "a.txt"], tmp_path / "o", memory=1, workers=1)
    assert report.partials > 100
    assert most == 3
    assert read(tmp_path / "o") == Counter(words)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """No partial has much more than what fits, though marks make six pieces of each word."""
    monkeypatch.setattr(counting_task, "_SMALLEST_BLOCK", 2**12)
    sizes = []
    plain = counting_task.sorted_blocks

    def watched(counts: dict[bytes, int]) -> Any:
        sizes.append(sum(len(word) + counting_task.ENTRY for word in counts))
        return plain(counts)

    monkeypatch.setattr(counting_task, "sorted_blocks", watched)
    text = " ".join(f"{n}a.{n}b.{n}c.{n}d" for n in range(20_000))
    (tmp_path / "a.txt").write_text(text)
    task = CountingTask(tmp_path / "a.txt", 0, kind, None, 2**20, tmp_path)
    partials = count_file(task, lambda _: None)
    # Half a block of 16 kB may be new words, and a batch of others makes up to 4096 × 7 pieces.
    assert len(sizes) == len(partials) > 4
    assert max(sizes[:-1]) > 2**18
    assert max(sizes) < (2**20 if kind == "whitespace" else 2**20 + 4096 * 7 * 150)
    found: Counter[str] = Counter()
    for words, counts in counting_store.merge(map(counting_store.read_partial, partials)):
        found.update(dict(zip([word.decode() for word in words], counts, strict=True)))
    assert found == oracle(text, kind)


_MEASURE = """
import sys, threading
from pathlib import Path
from morphgraph.corpus.counting import count_to_parquet
if __name__ == "__main__":
    report = count_to_parquet([sys.argv[1]], sys.argv[2], memory=64 * 2**20, workers=1)
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(peak.split()[1], report.distinct, report.partials)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read in /proc")
def test_memory_does_not_grow_with_the_words(tmp_path: Path) -> None:
    peaks = []
    for distinct in (1, 400_000, 1_600_000):
        text = tmp_path / f"{distinct}.txt"
        with text.open("w") as file:
            for number in range(distinct):
                file.write(f"{number * 2654435761 % 2**32:08x} ")
        run = subprocess.run(
            [sys.executable, "-c", _MEASURE, str(text), str(tmp_path / "out")],
            cwd=PROJECT,
            check=True,
            capture_output=True,
            text=True,
        )
        peak, found, partials = map(int, run.stdout.split())
        assert found == distinct
        peaks.append(peak / 1024)
    least, some, many = peaks
    assert partials > 4
    # Unbounded, 1.6 million words take 240 MB and more in a dictionary, 1.2 million 180 MB.
    assert many - least < 70
    assert many - some < 40


def test_every_kind_of_file(tmp_path: Path) -> None:
    inside = tmp_path / "texts" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_bytes(b"\xef\xbb\xbfthe dog\n" + b"\n" * 5)
    (tmp_path / "texts" / "plain").write_text("the cat")
    (inside / "a.csv").write_text('id,text\n1,"the\ndog"\n')
    (inside / "b.tsv.gz").write_bytes(gzip.compress(b"id\ttext\n1\tthe dog\n", mtime=0))
    (inside / "c.txt.gz").write_bytes(gzip.compress(b"the end", mtime=0))
    table = pa.table({"id": ["x", "y", "z"], "text": ["the dog", None, "the"]})
    parquet.write_table(table, inside / "d.parquet")
    parquet.write_table(
        table.set_column(1, "text", table["text"].dictionary_encode()), inside / "e.PARQUET"
    )
    (inside / "empty.txt").touch()
    (inside / "empty.csv").touch()
    (inside / "readme.md").write_text("no text")
    (inside / ".hidden.txt").write_text("no text")
    names = [str(path.relative_to(tmp_path / "texts")) for path in find_texts([tmp_path / "texts"])]
    assert names == [
        "a.txt", "b/a.csv", "b/b.tsv.gz", "b/c.txt.gz", "b/d.parquet", "b/e.PARQUET", "b/empty.csv",
        "b/empty.txt", "plain",
    ]  # fmt: skip
    given = [tmp_path / "texts", inside / "a.csv", inside / "readme.md"]
    report = count_to_parquet(given, tmp_path / "new" / "o.parquet", workers=1)
    counts = {"the": 9, "dog": 5, "cat": 1, "end": 1, "no": 1, "text": 1}
    assert read(tmp_path / "new" / "o.parquet") == counts
    assert (report.files, report.words) == (10, 18)
    about = parquet.read_metadata(tmp_path / "new" / "o.parquet").metadata[b"morphgraph"]
    assert json.loads(about) == {
        "pipeline": "whitespace", "minimum_count": 1, "files": 10, "words": 18, "distinct": 6,
        "kept": 6, "order": "code points of the word", "version": "0.1.0",
    }  # fmt: skip


def test_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\na,b\n")
    count_to_parquet([tmp_path / "a.csv"], tmp_path / "o", column="y", workers=1)
    assert read(tmp_path / "o") == {"b": 1}
    with pytest.raises(FileFormatError, match=r"no column “z”\. Its columns: “x”, “y”"):
        count_to_parquet([tmp_path / "a.csv"], tmp_path / "o", column="z", workers=1)
    assert read(tmp_path / "o") == {"b": 1}


def test_long_words_and_long_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting_task, "_LARGEST_BLOCK", 2**16)
    word, text = "x" * 2**20, "y " * 100_000
    (tmp_path / "a.txt").write_text(f"a {word}\n{word} b")
    (tmp_path / "b.csv").write_text(f"text\n{text}\n")
    count_to_parquet([tmp_path / "a.txt", tmp_path / "b.csv"], tmp_path / "o", workers=1)
    assert read(tmp_path / "o") == {"a": 1, "b": 1, word: 2, "y": 100_000}


@pytest.mark.slow
def test_workers_find_the_same(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("don't (stop) " * 1000 + f"word{number} ")
    seen: list[CountProgress] = []
    options: dict[str, Any] = {"pipeline": "knockout", "progress": seen.append}
    files = [tmp_path / f"{number}.txt" for number in range(5)]
    report = count_to_parquet(files, tmp_path / "o", workers=2, **options)
    assert report.workers == 2
    expected = dict.fromkeys(("don", "'", "t", "(", "stop", ")"), 5000)
    assert read(tmp_path / "o") == expected | {f"word{number}": 1 for number in range(5)}
    assert (seen[-1].files_done, seen[-1].bytes_done) == (5, seen[-1].bytes) == (5, report.bytes)
    (tmp_path / "3.txt").write_bytes(b"a\nb\xff\n")
    with pytest.raises(FileFormatError, match=r"3\.txt, line 2: byte 0xFF is not valid UTF-8"):
        count_to_parquet(files, tmp_path / "o", workers=2)
    assert names_in(tmp_path) == [*(f"{number}.txt" for number in range(5)), "o"]


# ------------------------------------------------------------------------- training on the counts

PROSE = (
    "The dogs'. Bowl (the dogs’), rock'n'roll; don't, DON'T! co-op... ﬁne 3.5% Straße’s. "
    "‘quoted’ \u201cwords\u201d 12345 naïve\u00a0café слово "
)


def sample(data_folder: Path, tmp_path: Path) -> Path:
    titles = (data_folder / "text" / "arxiv-cs-train.csv").read_text(encoding="utf-8")
    path = tmp_path / "titles.txt"
    path.write_text(titles[:200_000] + PROSE * 12, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "pipeline",
    [
        "knockout",
        "rebpe",
    ],
)
@pytest.mark.parametrize("least", [1, None])
def test_training_is_the_same_as_on_the_text(
    data_folder: Path, tmp_path: Path, pipeline: str, least: int | None
) -> None:
    text, out = sample(data_folder, tmp_path), tmp_path / "counts.parquet"
    threshold = PIPELINES[pipeline].minimum_count if least is None else least
    count_to_parquet([text], out, pipeline=pipeline, minimum_count=threshold, workers=1)
    counted, direct = read_word_counts(out), read_text(text)
    assert counted.pipeline == pipeline
    options: dict[str, Any] = {"pipeline": pipeline, "minimum_count": least}
    ours = train("bpe", counted, 1200, **options)
    theirs = train("bpe", direct, 1200, **options)
    assert ours.signature() == theirs.signature()


@pytest.mark.parametrize("pipeline", ["knockout", "rebpe"])
@pytest.mark.parametrize("least", [1, 5, 10])
def test_the_words_are_those_of_the_pipeline(
    data_folder: Path, tmp_path: Path, pipeline: str, least: int
) -> None:
    text, out = sample(data_folder, tmp_path), tmp_path / "counts.parquet"
    count_to_parquet([text], out, pipeline=pipeline, minimum_count=least, workers=1)
    counted = read_word_counts(out)
    words = Counter(dict(PIPELINES[pipeline].words(read_text(text))))
    assert dict(counted.items()) == {w: n for w, n in words.items() if n >= least}
    assert counted.pipeline == pipeline
    again = dict(PIPELINES[pipeline].words(counted))
    unstable = {word for word in words if words[word] >= least and word not in again}
    # What is left at the end of a word when its mark is cut off is no longer inner.
    assert ("dogs'" in unstable) == (pipeline == "rebpe")
    assert all(word[-1] in "'’" or word[0] in "'’" for word in unstable)


@pytest.mark.parametrize("method", ["bpe", "picky", "scaffold", "wordpiece"])
def test_the_order_of_words_does_not_matter(data_folder: Path, tmp_path: Path, method: str) -> None:
    counts = read_text(sample(data_folder, tmp_path))
    items = sorted(counts.items())
    for pipeline in ("knockout", "rebpe"):
        models = {
            train(method, dict(some), 800, pipeline=pipeline).signature()
            for some in (items, items[::-1], list(counts.items()))
        }
        assert len(models) == 1


# ------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.txt",
            b"fine\r\nca\xc3\xa9\ncaf\xe9 x\n",
            "a.txt, line 3: byte 0xE9 is not valid UTF-8",
        ),
        ("a.txt", b"a\n\xed\xa0\x80", "a.txt, line 2: byte 0xED is not valid UTF-8"),
        ("a.txt", b"a\n" * 9 + b"\xc3", "a.txt, line 10: byte 0xC3 is not valid UTF-8"),
        ("a.csv", b"text\n\xff\n", "a.csv, line 2: byte 0xFF is not valid UTF-8"),
        ("a.csv", b'text\n"a', "a.csv, line 2: this is not a table"),
        ("a.csv", b"a,b\n1,2\n", "it has several columns. Name the one with the text"),
        ("a.txt", b" \n\x85".replace(b"\x85", "\x85".encode()), "a.txt: there is no word"),
        ("a.txt", b"", "a.txt: there is no word"),
        (
            "a.txt",
            b"a\nb" + b"x" * 2**20,
            "a.txt, line 2: there are more than 1,048,576 bytes with",
        ),
        (
            "a.csv",
            b"text\n" + b"x" * (2**20 + 1),
            "a.csv: there are more than 1,048,576 bytes with",
        ),
        ("a.gz", gzip.compress(b"the dog" * 99, mtime=0)[:-9], "a.gz: it cannot be unpacked"),
        ("a.gz", gzip.compress(b"a\n\xff", mtime=0), "a.gz, line 2: byte 0xFF is not valid UTF-8"),
        ("a.parquet", b"PAR1 no more", "a.parquet: this parquet file cannot be read"),
    ],
)
@pytest.mark.parametrize("pipeline", ["whitespace", "rebpe"])
def test_refuses(tmp_path: Path, name: str, data: bytes, message: str, pipeline: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MorphGraphError) as caught:
        count_to_parquet([tmp_path / name], tmp_path / "o", pipeline=pipeline, workers=1)
    assert message in str(caught.value)
    assert names_in(tmp_path) == [name]


def test_refuses_half_characters_at_the_edge_of_a_block(tmp_path: Path) -> None:
    text = "é" * (2**20 - 1)  # The check reads so many bytes at once; this puts an edge inside é.
    (tmp_path / "a.txt").write_bytes(b"\n" + text.encode() + b"\n\xff")
    with pytest.raises(FileFormatError, match=r"a\.txt, line 3: byte 0xFF"):
        counting_texts.check_utf8(tmp_path / "a.txt")


def test_refuses_paths_and_values(tmp_path: Path) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "o"
    text.write_text("a b")
    (tmp_path / "empty").mkdir()
    for paths, options, message in (
        ([tmp_path / "no"], {}, "no: no such file or folder"),
        ([tmp_path / "empty"], {}, "empty: the folder has no text"),
        ([text], {"memory": 2**26 - 1}, "at least 64M"),
        ([text], {"workers": 0}, "cannot be 0 workers"),
        ([text], {"minimum_count": 0}, "least count is 0"),
        ([text], {"pipeline": "plain"}, "Choose one of whitespace, knockout, rebpe"),
        ([text], {"temp": tmp_path / "no"}, "no such file or directory. Choose another folder"),
    ):
        with pytest.raises(MorphGraphError, match=message):
            count_to_parquet(paths, out, **options)  # type: ignore[arg-type]
    for bad, message in (
        (text, "this is one of the texts"),
        (tmp_path / "empty", "it is a folder. Choose another place with --out"),
        (text / "o", "Choose another place with --out"),
    ):
        with pytest.raises(MorphGraphError, match=message):
            count_to_parquet([text], bad)
    assert names_in(tmp_path) == ["a.txt", "empty"]


def test_counts_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b")
    count_to_parquet([tmp_path / "a.txt"], tmp_path / "o.parquet", workers=1)
    with pytest.raises(FileFormatError, match="a file of word counts, not of text"):
        count_to_parquet([tmp_path], tmp_path / "other", workers=1)


@pytest.mark.parametrize("where", ["partial", "result"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if where == "partial":
        monkeypatch.setattr(counting_task, "write_partial", full)
    else:
        monkeypatch.setattr(os, "fsync", full)
    (tmp_path / "a.txt").write_text("a b")
    (tmp_path / "o").write_text("as it was")
    with pytest.raises(
        MorphGraphError, match=r"no space left on device\. Make room there"
    ) as caught:
        count_to_parquet([tmp_path / "a.txt"], tmp_path / "o", workers=1)
    assert str(caught.value).startswith(str(tmp_path))
    assert ("--temp" if where == "partial" else "--out") in str(caught.value)
    assert names_in(tmp_path) == ["a.txt", "o"]
    assert (tmp_path / "o").read_text() == "as it was"


@pytest.mark.slow
def test_stopping_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b " * 10**6)
    (tmp_path / "b.txt").write_text("a b " * 10**6)

    def stop(at: CountProgress) -> None:
        raise KeyboardInterrupt

    for workers in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            count_to_parquet([tmp_path], tmp_path / "o", workers=workers, progress=stop)
        assert names_in(tmp_path) == ["a.txt", "b.txt"]


def test_a_changed_partial_is_no_count(tmp_path: Path) -> None:
    path = tmp_path / "0-0"
    counting_store.write_partial(path, counting_store.sorted_blocks({b"low": 5, b"a": 2}))
    data = path.read_bytes()
    for length in (3, 16, 20, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(MorphGraphError, match="0-0: this part of the counts was changed"):
            list(counting_store.read_partial(path))


@pytest.mark.parametrize("text", ["", "512", "M", "-1G", "64 MX", "1e3M", "٣M", "99999999999G"])
def test_sizes_of_memory(text: str) -> None:
    with pytest.raises(
        MorphGraphError, match=r"is not an amount of memory\. Give one such as 512M"
    ):
        parse_memory(text)


def test_sizes_of_memory_in_every_form() -> None:
    forms = ["2G", "2 GB", "2gib", "2048M", "2097152K"]
    assert [parse_memory(form) for form in forms] == [2**31] * 5
