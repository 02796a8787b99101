"""What somebody else wrote is planned within one folder and within limits; nothing else is read."""

import os
import time
import traceback
from functools import partial

import pytest
from refusals import refused

from morphgraph.batch.cells import as_planned
from morphgraph.batch.plan import make_plan
from morphgraph.batch.run import launch_run, prepare_run, read_progress, start_run
from morphgraph.batch.store import contents
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import demo_gold_path
from morphgraph.corpus.counts import read_word_counts
from morphgraph.reference.readers import READERS, read_reference
from morphgraph.segment.models import load_segmenter

pytestmark = pytest.mark.slow

SECRET = "root:x:0:0:secret"


@pytest.fixture
def folder(tmp_path):
    """The visitor's files, with something of somebody else beside them."""
    (tmp_path / "secret.tsv").write_text(SECRET, "utf-8")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "gold.tsv").write_bytes(demo_gold_path("en").read_bytes())
    (mine / "counts.tsv").write_text("undo\t7\n", "utf-8")
    (mine / "link.tsv").symlink_to(tmp_path / "secret.tsv")
    return mine


def text_of(**changed):
    fields = {
        "corpora": "[wordfreq]",
        "tokenisers": "[{file: 'demo:{code}'}]",
        "references": "['demo:{code}']",
        "methods": "[standard]",
        **changed,
    }
    lines = (f"{name}: {value}\n" for name, value in fields.items())
    return "name: theirs\nlanguages: [en]\n" + "".join(lines)


def planned(folder, **changed):
    return make_plan(text_of(**changed), "theirs.yaml", folder, confined=True)


def end_of(run):
    """The progress of a run once it is over."""
    deadline = time.monotonic() + 60
    while (progress := read_progress(run)) is None or not progress.is_over:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return progress


def test_demos_and_files_of_the_folder_can_be_named(folder):
    assert planned(folder, references="[gold.tsv]", corpora="[counts.tsv]").cells
    assert planned(folder, references="[./gold.tsv]").cells
    assert planned(folder, corpora="[{text: [counts.tsv]}]").cells


PATHS = (
    "/etc/passwd",
    "../secret.tsv",
    "link.tsv",
    "a/../../secret.tsv",
    "~/x",
    '"\\0"',
    "..",
    "/",
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("references", "[PATH]"),
        ("references", "[{source: [no.tsv, PATH]}]"),
        ("references", "[{source: 'demo:en', join: [PATH]}]"),
        ("corpora", "[PATH]"),
        ("corpora", "[{text: [PATH]}]"),
        ("tokenisers", "[{file: PATH}]"),
    ],
)
def test_nothing_else_can(folder, field, value, path):
    with pytest.raises(FileFormatError) as raised:
        planned(folder, **{field: value.replace("PATH", path)})
    message = str(raised.value)
    # The same whether there is such a file or not.
    # A file called ~ could be in it.
    assert "is not among the uploaded" in message or path == "~/x" or "does not fit" in message
    assert str(folder) not in message
    assert "secret" not in message.replace("secret.tsv", "")


def test_what_a_language_is_called_leads_nowhere_else(folder):
    text = text_of(references="['{language}.tsv']").replace("[en]", "['../secret']")
    with refused(FileFormatError):
        make_plan(text, "t.yaml", folder, confined=True)


def test_variables_of_the_server_are_not_read(folder, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_STATE", "/the/secret/place")
    for field in ("references", "corpora"):
        with refused(FileFormatError) as raised:
            planned(folder, **{field: "['${MORPHGRAPH_STATE}/x']"})
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"tokenisers": "[{train: bpe, vocab_size: [300, 50001]}]"},
        {"seeds": str([*range(400)]), "methods": "[dropout(p=0.1)]"},
        {"methods": "[{method: dropout, p: [" + "0.1," * 400 + "]}]"},
    ],
)
def test_there_are_limits(folder, changed):
    started = time.process_time()
    with refused(FileFormatError):
        planned(folder, **changed)
    assert time.process_time() - started < 5
    assert make_plan(text_of(**changed), "t.yaml", folder).cells


def test_hashing_stops_before_it_is_too_much(tmp_path, monkeypatch):
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file in files:
        file.write_text("abc")
    assert len(contents(files)) == 3
    monkeypatch.setenv("MORPHGRAPH_MAX_HASHED_FILES", "2")
    with refused():
        contents(files)
    monkeypatch.delenv("MORPHGRAPH_MAX_HASHED_FILES")
    with (tmp_path / "large").open("wb") as large:  # of holes, which nobody has the time to read
        os.truncate(large.fileno(), 2**42)
    started = time.process_time()
    with refused():
        contents([*files, tmp_path / "large"])
    assert time.process_time() - started < 1


def test_a_folder_of_too_many_files_is_not_walked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_MAX_HASHED_FILES", "20")
    for number in range(30):
        (tmp_path / f"{number}.bin").write_text("no text")
    with refused(FileFormatError):
        make_plan(text_of(corpora=f"[{{text: ['{tmp_path}']}}]"), "t.yaml")


TAKE_ANY = ("plain", "morfessor")
"""Formats that read any line as a word, in one morph."""


def test_what_the_app_runs_quotes_nothing_of_a_file(tmp_path, monkeypatch):
    shadow = tmp_path / "shadow.txt"
    shadow.write_text(f"{SECRET}\n" * 2, "utf-8")
    spec = {"files": [str(shadow)], "content": contents([shadow])}
    reads = [
        lambda: load_segmenter(shadow),
        lambda: read_word_counts(shadow),
        *(partial(read_reference, shadow, format=name) for name in READERS if name not in TAKE_ANY),
    ]
    said = []
    monkeypatch.setenv("MORPHGRAPH_UNQUOTED", "1")
    for read in reads:
        with pytest.raises(FileFormatError) as raised:
            as_planned(spec, read)
        assert "root:x" not in "".join(traceback.format_exception(raised.value))
        said.append(str(raised.value))
    assert said[0].startswith("shadow.txt, line 2: it cannot be read in the expected format. ")
    assert any("no tree of morphemes" in message for message in said)  # what quotes nothing stays
    monkeypatch.delenv("MORPHGRAPH_UNQUOTED")
    with refused(FileFormatError):
        as_planned(spec, reads[0])


def test_a_run_of_the_page_quotes_nothing(tmp_path):
    """From the page's own start to what it shows of the failure, and to the log."""
    shadow = tmp_path / "shadow.txt"
    shadow.write_text(f"{SECRET}\n" * 2, "utf-8")
    text = text_of(tokenisers=f"[{{file: '{shadow}'}}]")
    run = start_run(text, tmp_path / "runs", "t", ["--workers", "1"])
    progress = end_of(run.folder)
    assert progress.failed == 2
    assert "shadow.txt, line 2" in progress.failures[0]
    for path in run.folder.rglob("*"):
        assert not path.is_file() or b"root:x" not in path.read_bytes(), path


def test_a_run_that_takes_too_long_is_stopped_and_says_so(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_SECONDS", "1")
    # A hundred cells, as a fast machine starts a worker and ends one cell within the second.
    text = text_of(references="[gold.tsv]", seeds=[*range(100)], methods="[dropout(p=0.1)]")
    out = prepare_run(text, tmp_path / "runs", "t")
    launch_run(out, ["--confined", "--folder", str(folder), "--workers", "1"])
    progress = end_of(out)
    assert progress.state == "stopped"
    assert progress.message.startswith("It was stopped after 1 s, the limit here.")
    assert str(tmp_path) not in (out / "results.json").read_text("utf-8")
