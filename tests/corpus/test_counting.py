"""Counting within a given memory: the numbers, the bounds, resuming, and what is refused."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus import count_tasks, counting, text_blocks, word_table
from morphgraph.corpus.counting import KINDS, CountProgress, count_words, parse_memory
from morphgraph.corpus.counts import read_word_counts
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.corpus.text import read_text
from morphgraph.corpus.text_blocks import find_texts
from morphgraph.corpus.word_table import RANGES, WordTable, as_rows, read_run, write_run
from morphgraph.kernels import counting as kernels
from morphgraph.segment.training import train

PROJECT = Path(__file__).resolve().parent.parent.parent
ODD = [*"ab é語😀\0\x1c\r\n\v\t\x85\xa0\u2028\u3000\u1680\u205f", *"'’.-(ﬁ１"]
TEXTS = st.lists(st.text(st.sampled_from(ODD), max_size=60), min_size=1, max_size=4)


def read(path: Path) -> dict[str, int]:
    return dict(read_word_counts(path).items())


def names_in(folder: str | Path) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def oracle(texts: list[str], kind: str) -> Counter[str]:
    counts = Counter(word for text in texts for word in text.split())
    return counts if kind == "whitespace" else Counter(dict(PIPELINES[kind].words(counts)))


def packed(data: bytes, ending: str) -> bytes:
    if ending == ".zst":
        return bytes(pa.compress(data, "zstd", asbytes=True))
    if ending == ".gz":  # at no time: the bytes name tests, which all workers must name the same
        return gzip.compress(data, mtime=0)
    known = {".bz2": bz2.compress, ".xz": lzma.compress}
    return known[ending](data) if ending else data


@pytest.fixture
def tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch)
        yield


def make_tiny(patch: pytest.MonkeyPatch) -> None:
    """Blocks of eight bytes read by five, tables of two words, a partition for every byte."""
    patch.setattr(text_blocks, "BLOCK_BYTES", 8)
    patch.setattr(text_blocks, "_CHUNK", 5)
    patch.setattr(word_table, "_LEAST_SLOTS", 4)
    patch.setattr(word_table, "_FIRST_SLOTS", 4)
    patch.setattr(word_table, "_ARENA", 32)
    patch.setattr(count_tasks, "_FOR_READING", counting.LEAST_MEMORY)
    patch.setattr(counting, "_BYTES_A_PARTITION", 16)
    patch.setattr(count_tasks, "_ROWS", 2)


# ------------------------------------------------------------------------- the numbers


@examples(150)
@given(
    TEXTS,
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"]),
    st.booleans(),
)
@example(["dogs'. dogs' 'tis x'(y"], "rebpe", 1, "", True)
@example(["a\x1cb\x85c\u2028d e\r\rf\0g"], "whitespace", 1, "", True)
@example(["", "\ufeffa a", "\u3000"], "whitespace", 1, ".gz", False)
@example(["ab ab\n" * 9 + "語語語"], "whitespace", 2, "", True)
def test_counts_are_those_of_a_counter(
    texts: list[str], kind: str, least: int, ending: str, single: bool
) -> None:
    """With next to no memory: words and characters end in other blocks, and runs have two words."""
    lines = [text.removeprefix("\ufeff") for text in texts]
    expected = oracle(lines, kind)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        make_tiny(patch)
        source, out = Path(folder, "in"), Path(folder, "out")
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number}.txt{ending}").write_bytes(packed(text.encode(), ending))
        kept = {word: number for word, number in expected.items() if number >= least}
        options: dict[str, Any] = {"pipeline": kind, "minimum_count": least, "single": single}
        if not expected:
            with pytest.raises(MorphGraphError, match="there is no word"):
                count_words([source], out, **options)
            assert names_in(folder) == ["in"]
            return
        report = count_words([source], out, **options)
        rows = parquet.read_table(out).to_pydict()
        assert dict(zip(rows["word"], rows["count"], strict=True)) == kept
        assert len(rows["word"]) == len(kept) == report.kept
        assert (report.distinct, report.files) == (len(expected), len(texts))
        assert report.words == expected.total()
        assert names_in(folder) == ["in", "out"]
        again = Path(folder, "again")
        patch.undo()
        count_words([source], again, **options)
        if single:
            found = [parquet.read_table(each)["word"].to_pylist() for each in (out, again)]
            assert found[0] == found[1], "the order depends on the words alone"


@examples(100)
@given(st.dictionaries(st.binary(min_size=1, max_size=6), st.integers(1, 9), max_size=40))
def test_a_run_gives_back_each_range(counts: dict[bytes, int]) -> None:
    table = WordTable.holding(len(counts), sum(map(len, counts)))
    assert table.add(as_rows(counts)) == len(counts)
    assert dict(table.words()) == counts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.run")
        write_run(path, table)
        run = read_run(path)
        found: dict[bytes, int] = {}
        for first, last in ((0, 1), (1, 2000), (2000, 2001), (2001, 4096)):
            rows = run.read(first, last)
            part = WordTable.holding(len(rows[2]), run.size_of(first, last))
            assert part.add(rows) == len(rows[2])
            assert all(first <= int(value) >> 52 < last for value in rows[0])
            found |= dict(part.words())
        assert found == counts


@examples(60)
@given(
    st.lists(st.text("abcdefgh", min_size=1, max_size=2), max_size=120), st.sampled_from([4, 16])
)
def test_a_table_that_grows_has_the_same_words(words: list[str], first: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_table, "_FIRST_SLOTS", first)
        table = WordTable(2**17)
        text = " ".join(words).encode()
        assert table.add_text(text) == len(text)
        assert table.add(as_rows({b"zz": 3, b"zzz": 4}), 1) == 2
    expected = Counter(word.encode() for word in words) + Counter({b"zzz": 4})
    assert dict(table.words()) == expected and len(table) == len(expected)


@examples(300)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.binary(max_size=1).map(lambda data: data.decode("latin-1")),
                st.text("a\0é語😀", max_size=20),
                st.sampled_from(["a" * 7, "a" * 8, "a" * 9, "a\0", "ab" * 40]),
            ),
            st.sampled_from(["", *" \n\x1c\x85\xa0\u1680\u2029\u202f\u3000"]),
        ),
        max_size=90,
    ),
    st.integers(0, 9),
)
def test_words_are_those_that_python_splits(parts: list[tuple[str, str]], end: int) -> None:
    text = "".join(word + white for word, white in parts)
    text += "e" * end  # the last bytes are read one by one
    table = WordTable(2**20)
    assert table.add_text(text.encode()) == len(text.encode())
    assert dict(table.words()) == Counter(word.encode() for word in text.split())


def test_words_of_one_hash_stay_apart_and_in_order() -> None:
    words = [b"b" * 9, b"a" * 9, b"a" * 10, b"c"]
    hashes = np.array([7, 7, 7, 5], np.uint64)
    _, counts, ends, text = as_rows(dict.fromkeys(words, 2))
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        table = WordTable(1)
        for place in [*order, 0]:
            start = ends[place - 1] if place else 0
            one = text[start : ends[place]]
            table.add((hashes[[place]], counts[:1], np.array([len(one)]), one))
        assert list(table.words()) == [
            (b"c", 2), (b"a" * 9, 2), (b"a" * 10, 2), (b"b" * 9, 4)
        ]  # fmt: skip


TABLE = pa.table({"id": ["x", "y", "z"], "text": ["the dog", None, "the"]})


def test_every_kind_of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "texts" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_bytes(b"\xef\xbb\xbfthe dog\n" + b"\n" * 5)
    (tmp_path / "texts" / "plain").write_text("the cat")
    (inside / "a.csv").write_text('id,text\n1,"the\ndog"\n')
    tsv = b"id\ttext\n1\tthe dog\n"
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        (inside / f"b.tsv{ending}").write_bytes(packed(tsv, ending))
    (inside / "c.txt.gz").write_bytes(packed(b"\xef\xbb\xbfthe end", ".gz"))
    parquet.write_table(TABLE, inside / "d.parquet", row_group_size=1)
    coded = TABLE.set_column(1, "text", TABLE["text"].dictionary_encode())
    parquet.write_table(coded, inside / "e.PARQUET")
    (inside / "f.jsonl").write_text('{"id": 1, "text": "the\\ndog"}\n\n{"id": 2, "text": null}\n')
    (inside / "g.ndjson.zst").write_bytes(packed(b'{"content": "the \\u00e9nd"}', ".zst"))
    (inside / "empty.txt").touch()
    (inside / "empty.csv").touch()
    (inside / "readme.md").write_text("no text")
    (inside / ".hidden.txt").write_text("no text")
    (tmp_path / "texts" / ".git").mkdir()
    (tmp_path / "texts" / ".git" / "x.txt").write_text("no text")
    found = [
        Path(file.path).relative_to(tmp_path / "texts") for file in find_texts([tmp_path / "texts"])
    ]
    assert list(map(str, found)) == [
        "a.txt", "b/a.csv", "b/b.tsv.bz2", "b/b.tsv.gz", "b/b.tsv.xz", "b/b.tsv.zst", "b/c.txt.gz",
        "b/d.parquet", "b/e.PARQUET", "b/empty.csv", "b/empty.txt", "b/f.jsonl", "b/g.ndjson.zst",
        "plain",
    ]  # fmt: skip
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 8)
    given = [tmp_path / "texts", inside / "a.csv", f"{inside}/read*.md"]
    report = count_words(given, tmp_path / "new" / "o.parquet", single=True)
    counts = {"the": 14, "dog": 9, "cat": 1, "end": 1, "énd": 1, "no": 1, "text": 1}
    assert read(tmp_path / "new" / "o.parquet") == counts
    assert (report.files, report.words) == (15, 28)
    about = parquet.read_metadata(tmp_path / "new" / "o.parquet").metadata[b"morphgraph"]
    assert json.loads(about) == {
        "pipeline": "whitespace", "minimum_count": 1, "files": 15, "words": 28, "distinct": 7,
        "kept": 7, "bad": 0, "order": counting.ORDER, "version": "0.1.0",
    }  # fmt: skip


def test_links_and_pipes_in_a_folder_are_no_texts_of_their_own(tmp_path: Path) -> None:
    inside = tmp_path / "texts"
    (inside / "b").mkdir(parents=True)
    (inside / "b" / "a::b.txt").write_text("the dog")
    (inside / "again").symlink_to(inside, target_is_directory=True)
    (inside / "gone.txt").symlink_to(inside / "nowhere.txt")
    (inside / "named.txt").symlink_to(inside / "b" / "a::b.txt")
    os.mkfifo(inside / "pipe")
    names = [file.path.removeprefix(f"{inside}/") for file in find_texts([inside])]
    assert names == ["b/a::b.txt"], "what is named by a link too comes up once"
    count_words([inside], tmp_path / "o")
    assert read(tmp_path / "o") == {"the": 1, "dog": 1}


def test_a_folder_of_partitions(tmp_path: Path, tiny: None) -> None:
    text = " ".join(f"w{number % 70}" for number in range(300))
    (tmp_path / "a.txt").write_text(text)
    report = count_words([tmp_path / "a.txt"], tmp_path / "o", pipeline="knockout")
    assert report.partitions == 128
    assert names_in(tmp_path / "o") == [
        "_counts.json",
        *(f"part-{n:05}.parquet" for n in range(128)),
    ]
    found = read_word_counts(tmp_path / "o")
    assert dict(found.items()) == Counter(text.split())
    assert found.pipeline == "knockout"
    assert json.loads((tmp_path / "o" / "_counts.json").read_text())["distinct"] == 70
    # A new counting takes its place.
    (tmp_path / "a.txt").write_text("one")
    count_words([tmp_path / "a.txt"], tmp_path / "o")
    assert read(tmp_path / "o") == {"one": 1}
    assert names_in(tmp_path) == ["a.txt", "o"]


def test_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\na,b\n")
    (tmp_path / "a.jsonl").write_text('{"x": "c", "y": "d"}\n')
    count_words([tmp_path], tmp_path / "o", column="y")
    assert read(tmp_path / "o") == {"b": 1, "d": 1}
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(FileFormatError, match="“z”"):
            count_words([tmp_path / name], tmp_path / "o", column="z")
    with pytest.raises(FileFormatError, match="Name the one with the text: “x”, “y”"):
        count_words([tmp_path / "a.jsonl"], tmp_path / "o")
    assert read(tmp_path / "o") == {"b": 1, "d": 1}


def test_long_words_and_long_texts(tmp_path: Path) -> None:
    word, text = "x" * 2**20, "y " * 100_000
    (tmp_path / "a.txt").write_text(f"a {word}\n{word} b")
    (tmp_path / "b.csv").write_text(f"text\n{text}\n")
    count_words([tmp_path / "a.txt", tmp_path / "b.csv"], tmp_path / "o")
    assert read(tmp_path / "o") == {"a": 1, "b": 1, word: 2, "y": 100_000}


@pytest.mark.slow
def test_one_line_of_100_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 2**24)
    (tmp_path / "a.txt").write_bytes(b"caf\xc3\xa9 \xe8\xaa\x9e " * 10_000_000)
    report = count_words([tmp_path / "a.txt"], tmp_path / "o")
    assert read(tmp_path / "o") == {"café": 10_000_000, "語": 10_000_000}
    assert report.runs == 1, "the other blocks have no line of their own"


def test_addresses(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/corpus/a.txt", b"the dog " * 3)
    memory.pipe("/corpus/b/c.jsonl.gz", gzip.compress(b'{"text": "the end"}\n'))
    memory.pipe("/corpus/d.md", b"nothing")
    try:
        report = count_words(["memory://corpus"], tmp_path / "o")
        assert (report.files, read(tmp_path / "o")) == (2, {"the": 4, "dog": 3, "end": 1})
        count_words(["memory://corpus/*.txt"], tmp_path / "p")
        assert read(tmp_path / "p") == {"the": 3, "dog": 3}
        with pytest.raises(MorphGraphError, match=r"memory://corpus/no\.txt: no such file"):
            count_words(["memory://corpus/no.txt"], tmp_path / "o")
    finally:
        memory.rm("/corpus", recursive=True)
    with pytest.raises(MorphGraphError, match=r"pip install .morphgraph\[cloud\]"):
        count_words(["nowhere9://bucket/a.txt"], tmp_path / "o")


class Web(SimpleHTTPRequestHandler):
    """A folder by HTTP, in parts (``Range``), as servers of data give it; or all of a file."""

    in_parts = True

    def send_head(self) -> Any:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if not asked or not self.in_parts or not path.is_file():
            return super().send_head()
        data = path.read_bytes()
        start, end = int(asked[1]), min(int(asked[2]) + 1, len(data))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        return io.BytesIO(data[start:end])

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Web, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_server_of_texts(tmp_path: Path, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain text in blocks, what is packed, Parquet and folders, as from a disk."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 2**19)
    words = " ".join(f"{number % 5000:x}" + "\n" * (number % 9 == 0) for number in range(300_000))
    (tmp_path / "served" / "a.txt").write_text(words)
    (tmp_path / "served" / "b.jsonl.zst").write_bytes(packed(b'{"text": "the end"}\n' * 9, ".zst"))
    parquet.write_table(pa.table({"text": [words[:1000]] * 20}), tmp_path / "served" / "c.parquet")
    count_words([tmp_path / "served"], tmp_path / "near")
    names = [f"{web}/{name}" for name in ("a.txt", "b.jsonl.zst", "c.parquet")]
    count_words(names, tmp_path / "far")
    assert read(tmp_path / "far") == read(tmp_path / "near") == read_all(tmp_path / "served")
    count_words([f"{web}/"], tmp_path / "folder")
    assert read(tmp_path / "folder") == read(tmp_path / "near")
    with pytest.raises(MorphGraphError, match=rf"{web}/no\.txt: no such file"):
        count_words([f"{web}/no.txt"], tmp_path / "o")
    monkeypatch.setattr(Web, "in_parts", False)
    with pytest.raises(FileFormatError, match=r"a\.txt: it cannot be read .*download it first"):
        count_words([f"{web}/a.txt"], tmp_path / "o")


def read_all(folder: Path) -> dict[str, int]:
    rows = [(folder / "a.txt").read_text(), "the end " * 9]
    rows += parquet.read_table(folder / "c.parquet")["text"].to_pylist()
    return dict(Counter(word for row in rows for word in row.split()))


# ------------------------------------------------------------------------- memory, resuming


_MEASURE = """
import sys
from pathlib import Path
from morphgraph.corpus.counting import count_words
if __name__ == "__main__":
    report = count_words([sys.argv[1]], sys.argv[2], memory=64 * 2**20)
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(peak.split()[1], report.distinct, report.runs)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read in /proc")
def test_memory_does_not_grow_with_the_words(tmp_path: Path) -> None:
    peaks = []
    for distinct in (1, 800_000, 3_200_000):
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
        peak, found, runs = map(int, run.stdout.split())
        assert found == distinct
        peaks.append(peak / 1024)
    least, some, many = peaks
    assert runs > 4
    # The 64 MB, and what Arrow keeps for writing. In a dictionary, these words take 480 MB.
    assert many - least < 90
    assert many - some < 20


def test_warm_up_covers_all_types_of_array(tmp_path: Path) -> None:
    kernels.warm_up()
    table = WordTable(2**24)
    table.add_text(" ".join(f"w{number}-" for number in range(40_000)).encode())
    table.add(as_rows({b"more": 2}))
    write_run(tmp_path / "run", table)
    WordTable.holding(50_000, 2**20).add(read_run(tmp_path / "run").read(0, RANGES))
    assert sum(map(len, table.take_odd())) == 40_000
    assert list(table.words())[-1] == (b"more", 2)
    names = "count_words_in hash_words add_counts is_full move_slots gather are_plain"
    signatures = {name: len(getattr(kernels, name).signatures) for name in names.split()}
    # Words come as bytes, which are read alone, and in arrays.
    assert signatures == {name: 2 if name == "add_counts" else 1 for name in names.split()}


def test_what_was_done_is_not_done_again(
    tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is interrupted, and the result has the same bytes."""
    text = "\n".join(f"w{number % 50} é" for number in range(60))
    (tmp_path / "a.txt").write_text(text)
    whole = counted_bytes(tmp_path / "a.txt", tmp_path / "whole")
    read_blocks: list[Any] = []
    plain = count_tasks.texts_in

    def watched(block: Any, *rest: Any) -> Any:
        read_blocks.append(block)
        return plain(block, *rest)

    monkeypatch.setattr(count_tasks, "texts_in", watched)
    made = counting.plan_counting([tmp_path / "a.txt"], tmp_path / "o")
    for stop in (1, 7, 20, 1, 40):
        left = [stop]

        def progress(_: CountProgress, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            counting.carry_out(made, progress=progress)
        assert not (tmp_path / "o").exists()
    shutil.copytree(made.folder, tmp_path / "aside")
    assert counted_bytes(tmp_path / "a.txt", tmp_path / "o") == whole
    assert len(read_blocks) == len(set(read_blocks)) == len(made.blocks)
    assert names_in(tmp_path) == ["a.txt", "aside", "o", "whole"]
    # What another version left, whose runs are of another form, is not gone on with.
    (tmp_path / "aside").rename(made.folder)
    monkeypatch.setattr(count_tasks, "FORM", -1)
    read_blocks.clear()
    assert counted_bytes(tmp_path / "a.txt", tmp_path / "o") == whole
    assert len(read_blocks) == len(made.blocks)
    # A text that was changed is counted anew.
    (tmp_path / "a.txt").write_text(text + " more")
    assert counted_bytes(tmp_path / "a.txt", tmp_path / "o") != whole


def test_threads_count_to_the_same_bytes_and_end_with_their_runner(
    tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("\n".join(f"w{number % 50} é" for number in range(60)))
    whole = counted_bytes(tmp_path / "a.txt", tmp_path / "whole")
    made = counting.plan_counting([tmp_path / "a.txt"], tmp_path / "o")
    plain, began = count_tasks.texts_in, threading.Event()

    def endless_but_for_the_first(block: Any, *rest: Any) -> Any:
        yield from plain(block, *rest)
        while block.start:
            began.set()
            yield b"one more\n"

    def interrupted(_: CountProgress) -> None:
        assert began.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(count_tasks, "texts_in", endless_but_for_the_first)
    with pytest.raises(KeyboardInterrupt):
        counting.carry_out(made, counting.in_threads(3), 3, interrupted)
    assert not any(thread.name.startswith("ThreadPool") for thread in threading.enumerate())
    monkeypatch.setattr(count_tasks, "texts_in", plain)
    counting.carry_out(made, counting.in_threads(3), 3)
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "o").iterdir())} == whole


def test_other_processes_are_started_where_there_is_enough_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("text\none two")
    made = counting.plan_counting([tmp_path], tmp_path / "counts")
    monkeypatch.setattr(counting, "available_cores", lambda: 2)

    def workers(size: int, packing: str = "", asked: int | None = None) -> int:
        blocks = tuple(replace(block, size=size, packing=packing) for block in made.blocks)
        return counting.workers_for(replace(made, blocks=blocks), asked)

    assert [workers(2**27), workers(2**28), workers(2**30)] == [1, 2, 2]
    assert [workers(2**25, "gz"), workers(2**26, "gz")] == [1, 2]
    assert [workers(1, asked=2), workers(2**30, asked=1)] == [2, 1]
    made = replace(made, blocks=tuple(replace(block, kind="plain") for block in made.blocks))
    assert [workers(1), workers(1, asked=1), workers(2**30)] == [2, 1, 2]


def counted_bytes(text: Path, out: Path) -> dict[str, bytes]:
    count_words([text], out)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


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
    text, out = sample(data_folder, tmp_path), tmp_path / "counts"
    threshold = PIPELINES[pipeline].minimum_count if least is None else least
    count_words([text], out, pipeline=pipeline, minimum_count=threshold)
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
    text, out = sample(data_folder, tmp_path), tmp_path / "counts"
    count_words([text], out, pipeline=pipeline, minimum_count=least)
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
        ("a.txt", b"fine\r\nca\xc3\xa9\ncaf\xe9 x\n", "a.txt, line 3: byte 0xE9 is not valid"),
        ("a.txt", b"a\n\xed\xa0\x80", "a.txt, line 2: byte 0xED is not valid UTF-8"),
        ("a.txt", b"a\n" * 9 + b"\xc3", "a.txt, line 10: byte 0xC3 is not valid UTF-8"),
        ("a.csv", b"text\n\xff\n", "a.csv, line 2: byte 0xFF is not valid UTF-8"),
        ("a.csv", b'text\n"a', "a.csv, line 2: this is not a table"),
        ("a.csv", b"a,b\n1,2\n", "it has several columns. Name the one with the text"),
        ("a.jsonl", b'{"text": "a"}\n{"text": 1}\n', "a.jsonl, line 2: this is not a JSON object"),
        ("a.jsonl", b'{"text": "a"}\n{"text"', "a.jsonl, line 2: this is not a JSON object"),
        ("a.jsonl", b'{"text": "a"}\n[]', "line 2: this is not a JSON object with text (it is no"),
        ("a.jsonl", b'{"text": "a"}\n{"txt": ""}', "(it has no field “text”)"),
        ("a.jsonl", b'{"text": "\\ud800"}', "a.jsonl, line 1: this is not a JSON object"),
        ("a.txt", " \n\x85".encode(), "a.txt: there is no word"),
        ("a.txt", b"", "the files: there is no word"),
        ("a.gz", packed(b"the dog" * 99, ".gz")[:-9], "a.gz: it is cut off or damaged"),
        ("a.bz2", packed(b"the dog" * 99, ".bz2")[:-9], "a.bz2: it is cut off or damaged"),
        ("a.xz", packed(b"the dog" * 99, ".xz")[:-9], "a.xz: it is cut off or damaged"),
        ("a.zst", packed(b"the dog" * 99, ".zst")[:-3], "a.zst: it is cut off or damaged"),
        ("a.gz", packed(b"a\n\xff", ".gz"), "a.gz, line 2: byte 0xFF is not valid UTF-8"),
        ("a.parquet", b"PAR1 no more", "a.parquet: this parquet file cannot be read"),
    ],
)
@pytest.mark.parametrize("pipeline", ["whitespace", "rebpe"])
def test_refuses(tmp_path: Path, name: str, data: bytes, message: str, pipeline: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MorphGraphError) as caught:
        count_words([tmp_path / name], tmp_path / "o", pipeline=pipeline)
    assert message in str(caught.value)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("a.txt", b"one two\nthree \xff\nfour\n", "line 2"),
        ("a.txt.zst", packed(b"one two\nthree \xff\nfour\n", ".zst"), "line 2"),
        ("a.csv", b"id,text\n1,one two\n2,three,\n3,four\n", "line 3"),
        ("a.csv", b'id,text\n1,one two\n2,"th"ree\n3,four\n', "line 3"),
        ("a.csv", b"id,text\n1,one two\n2,thr\xffee\n3,four\n", "line 3"),
        ("a.jsonl", b'{"text": "one two"}\n{"text": three}\n{"text": "four"}\n', "line 2"),
        ("a.txt", b"one two\n" + b"x" * 2**23 + b" four\n", "line 2"),
        ("a.jsonl", b'{"text": "one two"}\n"' + b"x" * 2**25 + b'"\n{"text": "four"}', "line 2"),
        ("a.csv", b"text\none two\n" + b"x" * (2**20 + 1) + b"\nfour\n", ""),
    ],
)
def test_bad_lines_are_told_or_skipped(tmp_path: Path, name: str, data: bytes, place: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileFormatError) as caught:
        count_words([tmp_path / name], tmp_path / "o")
    assert caught.value.place == place
    report = count_words([tmp_path / name], tmp_path / "o", bad_lines="skip")
    assert read(tmp_path / "o") == {"one": 1, "two": 1, "four": 1}
    assert report.bad == 1
    assert report.first_bad[0].startswith(f"{tmp_path / name}{', ' + place if place else ''}: ")


def test_the_line_of_an_error_is_counted_from_the_start_of_the_file(
    tmp_path: Path, tiny: None
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo two two two\nthree\n\n\nfi\xffve\nsix\nse\xff")
    for least in (2, 1):
        with pytest.raises(FileFormatError, match="line 6: byte 0xFF"):
            count_words([tmp_path / "a.txt"], tmp_path / "o", minimum_count=least)
    report = count_words([tmp_path / "a.txt"], tmp_path / "o", bad_lines="skip")
    assert [line.partition(": ")[0][-6:] for line in report.first_bad] == ["line 6", "line 8"]


def test_refuses_paths_and_values(tmp_path: Path) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "o"
    text.write_text("a b")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    for paths, options, message in (
        ([tmp_path / "no"], {}, "no: no such file or folder"),
        ([tmp_path / "empty"], {}, "empty: the folder has no text"),
        ([f"{tmp_path}/*.csv"], {}, "no file has such a name"),
        ([text], {"memory": 2**26 - 1}, "at least 64M"),
        ([text], {"minimum_count": 0}, "least count is 0"),
        ([text], {"pipeline": "plain"}, "Choose one of whitespace, knockout, rebpe"),
        ([text], {"temp": tmp_path / "no"}, "there is no such folder. Choose another with --temp"),
    ):
        with pytest.raises(MorphGraphError, match=message):
            count_words(paths, out, **options)  # type: ignore[arg-type]
    for bad, single, message in (
        (text, False, "this is one of the texts"),
        (tmp_path / "full", False, "the folder has something else in it"),
        (tmp_path / "full" / "mine", False, "it is a file. Choose another place"),
        (tmp_path / "full", True, "it is a folder. Choose another place with --out"),
        (text / "o", False, "Choose another place with --"),
    ):
        with pytest.raises(MorphGraphError, match=message):
            count_words([text], bad, single=single)
    assert names_in(tmp_path) == ["a.txt", "empty", "full"]


def test_counts_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b")
    count_words([tmp_path / "a.txt"], tmp_path / "o.parquet", single=True)
    with pytest.raises(FileFormatError, match="a file of word counts, not of text"):
        count_words([tmp_path], tmp_path / "other")


@pytest.mark.parametrize("where", ["write_run", "_read_groups"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "a.txt").write_text("a b")
    (tmp_path / "o").write_text("as it was")
    with monkeypatch.context() as patch:
        patch.setattr(count_tasks if where == "write_run" else counting, where, full)
        with pytest.raises(
            MorphGraphError, match=r"no space left on device\. Make room there"
        ) as caught:
            count_words([tmp_path / "a.txt"], tmp_path / "o", single=True)
    assert str(caught.value).startswith(str(tmp_path))
    assert ("--temp" if where == "write_run" else "--out") in str(caught.value)
    assert (tmp_path / "o").read_text() == "as it was"
    count_words([tmp_path / "a.txt"], tmp_path / "o", single=True)
    assert names_in(tmp_path) == ["a.txt", "o"]


def test_a_changed_run_is_no_count(tmp_path: Path) -> None:
    path = tmp_path / "0.run"
    table = WordTable(1)
    table.add_text(b"low a low")
    write_run(path, table)
    data = path.read_bytes()
    for length in (3, 16, 32_800, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(MorphGraphError, match=r"0\.run: this part of the counts was changed"):
            read_run(path).read(0, 4096)


@pytest.mark.parametrize("text", ["", "512", "M", "-1G", "64 MX", "1e3M", "٣M", "99999999999G"])
def test_sizes_of_memory(text: str) -> None:
    with pytest.raises(
        MorphGraphError, match=r"is not an amount of memory\. Give one such as 512M"
    ):
        parse_memory(text)


def test_sizes_of_memory_in_every_form() -> None:
    forms = ["2G", "2 GB", "2gib", "2048M", "2097152K"]
    assert [parse_memory(form) for form in forms] == [2**31] * 5
