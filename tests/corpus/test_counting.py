"""Counting within a given memory: the numbers, the bounds, and what is refused."""

import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from effort import EFFORT, examples, one_of
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refused

from morphgraph.core import __version__
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus import counting
from morphgraph.corpus.counting import KINDS, count_words, parse_memory, read_text
from morphgraph.corpus.counts import read_word_counts
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.corpus.text_files import find_texts
from morphgraph.segment.training import train

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parent.parent.parent
ODD = [
    *"ab é語😀\0\x1c\r\n\v\t\x85\xa0\u2028\u3000\u1680\u205f",
    *"'’.-(ﬁ１\x01\x1f,#\\\"",
    "NULL",
    '{"text": "c d"}',
]
TEXT = st.lists(st.sampled_from(ODD), max_size=60).map("".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=4)


def read(path):
    return dict(read_word_counts(path).items())


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def oracle(texts, kind):
    counts = Counter(word for text in texts for word in text.split())
    return counts if kind == "whitespace" else Counter(dict(PIPELINES[kind].words(counts)))


def packed(data, ending):
    if ending == ".zst":
        return bytes(pa.compress(data, "zstd", asbytes=True))
    if ending == ".gz":  # at no time: the bytes name tests, which all workers must name the same
        return gzip.compress(data, mtime=0)
    return data


# ------------------------------------------------------------------------- the numbers


@examples(150)
@given(TEXTS, st.sampled_from(KINDS), st.integers(1, 3), st.sampled_from(["", ".gz", ".zst"]))
@example(["dogs'. dogs' 'tis x'(y"], "rebpe", 1, "")
@example(["a\x1cb\x85c\u2028d e\r\rf\0g"], "whitespace", 1, "")
@example(["", "\ufeffa a", "\u3000"], "whitespace", 1, ".gz")
@example(["ab ab\n" * 9 + "語語語"], "whitespace", 2, "")
def test_counts_are_those_of_a_counter(texts, kind, least, ending):
    """A file a block, or all in one: the result has the same order."""
    lines = [text.removeprefix("\ufeff") for text in texts]
    expected = oracle(lines, kind)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(counting, "BLOCK_BYTES", 8)
        source, out = Path(folder, "in"), Path(folder, "out.parquet")
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number}.txt{ending}").write_bytes(packed(text.encode(), ending))
        kept = {word: number for word, number in expected.items() if number >= least}
        options = {"pipeline": kind, "minimum_count": least}
        if not expected:
            with pytest.raises(MorphGraphError, match="no words"):
                count_words([source], out, **options)
            assert names_in(folder) == ["in"]
            return
        report = count_words([source], out, **options)
        rows = parquet.read_table(out).to_pydict()
        assert dict(zip(rows["word"], rows["count"], strict=True)) == kept
        assert len(rows["word"]) == len(kept) == report.kept
        assert (report.distinct, report.files) == (len(expected), len(texts))
        assert report.words == expected.total()
        assert names_in(folder) == ["in", "out.parquet"]
        again = Path(folder, "again")
        patch.undo()
        count_words([source], again, **options)
        found = [parquet.read_table(each)["word"].to_pylist() for each in (out, again)]
        assert found[0] == found[1], "the order depends on the words alone"


TABLE = pa.table({"id": ["x", "y", "z"], "text": ["the dog", None, "the"]})


def test_every_kind_of_file(tmp_path, monkeypatch):
    inside = tmp_path / "texts" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "texts" / "a.txt").write_bytes(b"\xef\xbb\xbfthe dog\n" + b"\n" * 5)
    (tmp_path / "texts" / "plain").write_text("the cat")
    (inside / "a.csv").write_text('id,text\n1,"the\ndog"\n')
    tsv = b"id\ttext\n1\tthe dog\n"
    for ending in (".gz", ".zst"):
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
        "a.txt", "b/a.csv", "b/b.tsv.gz", "b/b.tsv.zst", "b/c.txt.gz",
        "b/d.parquet", "b/e.PARQUET", "b/empty.csv", "b/empty.txt", "b/f.jsonl", "b/g.ndjson.zst",
        "plain",
    ]  # fmt: skip
    monkeypatch.setattr(counting, "BLOCK_BYTES", 8)
    given = [tmp_path / "texts", inside / "a.csv", f"{inside}/read*.md"]
    report = count_words(given, tmp_path / "new" / "o.parquet")
    counts = {"the": 12, "dog": 7, "cat": 1, "end": 1, "énd": 1, "no": 1, "text": 1}
    assert read(tmp_path / "new" / "o.parquet") == counts
    assert (report.files, report.words) == (13, 24)
    about = parquet.read_metadata(tmp_path / "new" / "o.parquet").metadata[b"morphgraph"]
    assert json.loads(about) == {
        "pipeline": "whitespace", "minimum_count": 1, "files": 13, "words": 24, "distinct": 7,
        "kept": 7, "bad": 0, "order": counting.ORDER, "version": __version__,
    }  # fmt: skip


def test_more_parquet_files_than_may_be_open(tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    table = pa.table({"text": ["one two"]})
    for number in range(300):
        parquet.write_table(table, tmp_path / f"{number}.parquet")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        report = count_words([tmp_path], tmp_path / "counts.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (report.files, report.words) == (300, 600)


def test_links_and_pipes_in_a_folder_are_no_texts_of_their_own(tmp_path):
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


# ------------------------------------------------------------------------- memory


_MEASURE = """
import sys
from pathlib import Path
from morphgraph.corpus.counting import count_words
if __name__ == "__main__":
    report = count_words([sys.argv[1]], sys.argv[2], memory=64 * 2**20)
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(peak.split()[1], report.distinct)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read in /proc")
def test_memory_does_not_grow_with_the_words(tmp_path):
    peaks = []
    for distinct in (1, 800_000, 2_400_000) if EFFORT == "soak" else (1, 1_600_000):
        text = tmp_path / f"{distinct}.txt"
        text.write_text(
            " ".join(f"{number * 2654435761 % 2**32:08x}" for number in range(distinct))
        )
        command = [sys.executable, "-c", _MEASURE, str(text), str(tmp_path / "out")]
        run = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
        peak, found = map(int, run.stdout.split())
        assert found == distinct
        peaks.append(peak / 1024)
    least, *some, many = peaks
    # The 64 MB, DuckDB's own and what is read and written. In a dictionary, they take 360 MB.
    assert many - least < 150 and many < 64 + 210
    assert all(many - each < 40 for each in some)


def test_workers_are_as_many_as_the_memory_is_for(monkeypatch):
    monkeypatch.setattr(counting, "available_cores", lambda: 8)
    asked = [(2**26, None), (2**29, None), (2**29, 3), (2**26, 3)]
    assert [counting.workers_for(*each) for each in asked] == [2, 8, 3, 2]


# ------------------------------------------------------------------------- training on the counts

PROSE = (
    "The dogs'. Bowl (the dogs’), rock'n'roll; don't, DON'T! co-op... ﬁne 3.5% Straße’s. "
    "‘quoted’ \u201cwords\u201d 12345 naïve\u00a0café слово "
)


def sample(data_folder, tmp_path):
    titles = (data_folder / "text" / "arxiv-cs-train.csv").read_text(encoding="utf-8")
    path = tmp_path / "titles.txt"
    path.write_text(titles[:200_000] + PROSE * 12, encoding="utf-8")
    return path


@pytest.mark.parametrize("pipeline", ["knockout", "rebpe"])
@pytest.mark.parametrize("least", one_of(5, 1, 10))
def test_the_words_are_those_of_the_pipeline(data_folder, tmp_path, pipeline, least):
    text, out = sample(data_folder, tmp_path), tmp_path / "counts"
    count_words([text], out, pipeline=pipeline, minimum_count=least)
    counted = read_word_counts(out)
    words = Counter(dict(PIPELINES[pipeline].words(read_text(text))))
    assert dict(counted.items()) == {w: n for w, n in words.items() if n >= least}
    assert counted.pipeline == pipeline
    models = [train("bpe", of, 600, pipeline=pipeline, minimum_count=least).signature()
              for of in (counted, read_text(text))]  # fmt: skip
    assert models[0] == models[1]
    again = dict(PIPELINES[pipeline].words(counted))
    unstable = {word for word in words if words[word] >= least and word not in again}
    # What is left at the end of a word when its mark is cut off is no longer inner.
    assert ("dogs'" in unstable) == (pipeline == "rebpe")
    assert all(word[-1] in "'’" or word[0] in "'’" for word in unstable)


@pytest.mark.parametrize("method", one_of("picky", "bpe", "scaffold", "wordpiece"))
def test_the_order_of_words_does_not_matter(data_folder, tmp_path, method):
    counts = read_text(sample(data_folder, tmp_path))
    items = sorted(counts.items())
    for pipeline in ("knockout", "rebpe"):
        models = {
            train(method, dict(some), 800, pipeline=pipeline).signature()
            for some in (items, items[::-1], list(counts.items()))
        }
        assert len(models) == 1


# ------------------------------------------------------------------------- what is refused


REFUSED = [
    ("a.txt", b"fine\r\nca\xc3\xa9\ncaf\xe9 x\n"),
    ("a.txt", b"a\n\xed\xa0\x80"),
    ("a.jsonl", b'{"text": "a"}\n{"text": 1}\n'),
    ("a.jsonl", b'{"text": "a"}\n[]'),
    ("a.jsonl", b'{"text": "a"}\n{"txt": ""}'),
    ("a.jsonl", b'{"x": "c", "y": "d"}\n'),
    ("a.jsonl", b'{"text": "\\ud800"}'),
    ("a.txt", " \n\x85".encode()),
    ("a.txt", b""),
    ("a.gz", packed(b"the dog" * 99, ".gz")[:-9]),
    ("a.bz2", b"BZh9"),
    ("a.tar.gz", b"\x1f\x8b"),
    ("a.txt", b"\xfd7zXZ\0"),
    ("a.zst", packed(b"the dog" * 99, ".zst")[:-3]),
    ("a.parquet", b"PAR1 no more"),
    ("a.txt", b"one\n" + b"x" * 2**23 + b" four\n"),
    ("a.csv", b"t\none\n" + b"x" * (2**20 + 1) + b"\n"),
    ("a.csv", b"t\none\n" + b"x " * 2**20),
    ("a.csv", b't\n"one\ntwo\n'),
    ("a.csv", b"t\none\rtwo\nthree\r\n"),
    ("a.jsonl", b'{"text": "a"}\n"' + b"x" * 2**25),
]


@pytest.mark.parametrize(("name", "data"), REFUSED, ids=range(len(REFUSED)))
def test_refuses(tmp_path, name, data):
    """Also where it is read with another file, which is sound."""
    sound = [tmp_path / "sound.txt"] if data.decode(errors="replace").strip() else []
    for path, text in ((tmp_path / name, data), *((path, b"a b") for path in sound)):
        path.write_bytes(text)
    with refused():
        count_words([*sound, tmp_path / name], tmp_path / "o")
    assert not (tmp_path / "o").exists()


FORMS = {
    "txt": (lambda words: f"{words}\n".encode(), b"\xff one\n", ""),
    "jsonl": (lambda words: json.dumps({"text": words}).encode() + b"\n", b"[1]\n", ""),
    "csv": (lambda words: f"1,{words}\n".encode(), b"2,a,b\n", "id,text\n"),
    "tsv": (lambda words: f"1\t{words}\n".encode(), b"2\ta\tb\n", "id\ttext\n"),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [0, 4])
@pytest.mark.parametrize("number", [0, 1])
def test_one_bad_line(tmp_path, form, place, number, ending):
    """At the start and the end of a file, the first and the second; all other lines are good."""
    for file in range(2):
        words = [f"the dog{line}" for line in range(5)]
        path = tmp_path / f"{file}.{form}{ending}"
        made, wrong, head = FORMS[form]
        lines = [made(word) for word in words]
        lines[place] = wrong if file == number else lines[place]
        path.write_bytes(packed(head.encode() + b"".join(lines), ending))
    where = "" if form == "jsonl" else f"line {place + 1 + (form in ('csv', 'tsv'))}"
    with pytest.raises(FileFormatError) as caught:
        count_words([tmp_path], tmp_path / "o")
    assert (Path(caught.value.file).name[0], caught.value.place) == (str(number), where)
    report = count_words([tmp_path], tmp_path / "o", bad_lines="skip")
    expected = Counter({"the": 9}) + Counter(f"dog{line}" for line in range(5) for _ in range(2))
    assert read(tmp_path / "o") == expected - Counter([f"dog{place}"])
    assert report.bad == 1 and where in report.first_bad[0]


def test_parquet_that_is_not_utf_8_is_damaged(tmp_path):
    rows = pa.array([b"a", b"a\xff"]).view(pa.string())
    parquet.write_table(pa.table({"text": rows}), tmp_path / "a.parquet")
    with refused(FileFormatError):
        count_words([tmp_path], tmp_path / "o", bad_lines="skip")


@pytest.mark.parametrize("ending", one_of(".zst", "", ".gz"))
def test_what_duckdb_would_misread_is_mended(tmp_path, ending):
    """Returns here and there, separators, and lines longer than its buffer, also at the end."""
    text = "a\x1fb\rc\r\nd\r\r\n" + "long line " * 2**20 + "\n\x1ce " + "no end " * 2**21
    (tmp_path / f"a.txt{ending}").write_bytes(packed(text.encode(), ending))
    count_words([tmp_path], tmp_path / "o")
    assert read(tmp_path / "o") == Counter(text.split())


ROWS = st.lists(
    st.fixed_dictionaries({"a/b'~\"": TEXT | st.none()}),
    min_size=1,
)


@examples(100)
@given(ROWS, st.sampled_from(["jsonl", "csv", "parquet"]))
def test_every_form_has_the_words_of_its_cells(rows, form):
    [name] = rows[0]
    expected = oracle([row[name] or "" for row in rows], "whitespace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a[1].{form}" if len(rows) > 3 else f"a.{form}")
        if form == "jsonl":
            path.write_text("\n".join(map(json.dumps, rows)))
        elif form == "csv":
            with path.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerows([[name], *([row[name]] for row in rows)])
        else:
            parquet.write_table(pa.Table.from_pylist(rows, pa.schema({name: pa.string()})), path)
        if not expected:
            return
        count_words([path], Path(folder, "out"), column=name)
        assert read(Path(folder, "out")) == expected


def test_the_line_of_an_error_is_counted_from_the_start_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo two two two\nthree\n\n\nfi\xffve\nsix\nse\xff")
    for least in (2, 1):
        with refused(FileFormatError):
            count_words([tmp_path / "a.txt"], tmp_path / "o", minimum_count=least)
    report = count_words([tmp_path / "a.txt"], tmp_path / "o", bad_lines="skip")
    assert [line.partition(": ")[0][-6:] for line in report.first_bad] == ["line 6", "line 8"]


def test_refuses_paths_and_values(tmp_path):
    text, out = tmp_path / "a.txt", tmp_path / "o"
    text.write_text("a b")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    for paths, options in (
        ([tmp_path / "no"], {}),
        ([tmp_path / "empty"], {}),
        ([f"{tmp_path}/*.csv"], {}),
        ([text], {"memory": 2**26 - 1}),
        ([text], {"minimum_count": 0}),
        ([text], {"pipeline": "plain"}),
        ([text], {"temp": tmp_path / "no"}),
    ):
        with refused():
            count_words(paths, out, **options)
    for bad in (text, tmp_path / "full", text / "o", tmp_path / "counts.tsv"):
        with refused():
            count_words([text], bad)
    assert names_in(tmp_path) == ["a.txt", "empty", "full"]


def test_counts_are_no_text(tmp_path):
    (tmp_path / "a.txt").write_text("a b")
    count_words([tmp_path / "a.txt"], tmp_path / "o.parquet")
    with refused(FileFormatError):
        count_words([tmp_path], tmp_path / "other")


@pytest.mark.parametrize("text", ["", "512", "M", "-1G", "64 MX", "1e3M", "٣M", "99999999999G"])
def test_sizes_of_memory(text):
    with refused():
        parse_memory(text)
    forms = ["2G", "2 GB", "2gib", "2048M", "2097152K"]
    assert [parse_memory(form) for form in forms] == [2**31] * 5
