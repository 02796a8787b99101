"""What commands write is there as a whole, or as it was: on a full disk, and on any other fault."""

import contextlib
import hashlib
import os
import resource
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command import OWN_COMMANDS
from effort import all_but, one_of
from model_folders import write_tokeniser
from refusals import refused
from small import small_document
from typer.main import get_command

from morphgraph import cli
from morphgraph.core.files import PARTIAL, new_folder, write_file, write_files
from morphgraph.reference import catalogue
from tests.cli.conftest import MERGES

pytestmark = pytest.mark.slow

GOLD = "undo\tun do\nundoing\tun do ing\ndoing\tdo ing\nunbreakable\tun break able\n"
COMMON = ["{work}/tokeniser", "{work}/gold.tsv"]

COUNTED = ["{work}/tokeniser", "{work}/counts.tsv"]
WRITING = {
    "score": ([*COMMON, "--out", "{disk}/a.csv"], ["--methods", "flota"]),
    "compare": ([*COMMON, "--out", "{disk}/a.html"], ["flota"]),
    "knockout": ([*COMMON, "--out", "{disk}/a"], ["--set", "minimum_vocabulary=100"]),
    "rebpe": ([*COMMON, "--out", "{disk}/a"], ["--set", "reify=no"]),
    "prune": ([*COUNTED, "--count", "3", "--out", "{disk}/a"], ["--count", "4"]),
    "extend": ([*COUNTED, "--add", "9", "--out", "{disk}/a"], ["--add", "5"]),
    "train": (
        ["bpe", "{work}/counts.tsv", "--vocab-size", "300", "--out", "{disk}/a.json"],
        ["--special", "<s>"],
    ),
    "count": (["{work}/text.txt", "--out", "{disk}/a.parquet"], ["--min-count", "2"]),
    "export": (["{work}/tokeniser", "--out", "{disk}/a"], ["--method", "flota"]),
    "silver": (
        ["wordfreq:en", "--words", "60", "--out", "{disk}/a.tsv"],
        ["--words", "40"],
    ),
    "get": (["here", "--out", "{disk}/a.tsv"], []),
}
"""Each command that writes: its options, and those of a later run that writes something else."""

MORE = {
    "count in between": (
        "count",
        ["{work}/text.txt", "--out", "{disk}/a", "--temp", "{work}"],
        ["--min-count", "2"],
    ),
    "train a method": (
        "train",
        ["wordpiece", *WRITING["train"][0][1:]],
        ["--min-count", "2"],
    ),
}
CASES = {name: (name, *options) for name, options in WRITING.items()} | MORE
ONCE = ("get", "transplant")
"""They replace nothing: what they could not write is not there."""


def contents(folder):
    """All that is there to be seen; what is hidden is how far a counting came."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".")}


@pytest.fixture
def work(tmp_path, monkeypatch):
    """What commands read, on a disk with room."""
    folder = tmp_path / "work"
    document = small_document(MERGES, "undoigbreakl")
    write_tokeniser(folder / "tokeniser", document)
    (folder / "gold.tsv").write_text(GOLD)
    (folder / "counts.tsv").write_text("undoing\t5\nunbreakable\t3\nrare\t1\n")
    words = np.random.default_rng(0).integers(0, 3000, 5000)
    (folder / "text.txt").write_text(" ".join(f"{hash(int(word)):x}" for word in words))
    content = GOLD.encode() * 100
    source = replace(
        catalogue.SOURCES["morphynet-deu"],
        name="here",
        format="plain",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )
    monkeypatch.setattr(catalogue, "SOURCES", {**catalogue.SOURCES, "here": source})
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    write_file(catalogue.cached_path(source), content)
    return folder


@contextlib.contextmanager
def no_file_may_grow(disk):
    """The system refuses more than the first 200 bytes of a file, to anybody."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def no_room(disk):
    """The disk is full to the last byte."""
    filling = disk / ".filling"
    with contextlib.suppress(OSError), filling.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    yield
    filling.unlink()


def arguments(case, work, disk):
    """Whether it is written once, the command, and what a later run adds to it."""
    command, *parts = CASES[case]
    options, others = ([word.format(work=work, disk=disk) for word in part] for part in parts)
    words = ["reference"] * (command in ("get", "silver")) + [command]
    return command in ONCE, [*words, *options], others


def try_again(morphgraph, case, work, disk, fault):
    """Write, then have no room, then room again."""
    is_once, command, others = arguments(case, work, disk)
    if not is_once:
        run = morphgraph(*command)
        assert run.code == 0, run.err
    before = contents(disk)
    assert is_once or before
    with fault(disk):
        run = morphgraph(*command, *others)
        assert contents(disk) == before
    assert run.code == 2, run.err
    assert "another place with --" in run.err
    assert "Traceback" not in run.err
    assert not list(disk.rglob(f"{PARTIAL}*"))
    run = morphgraph(*command, *others)
    assert run.code == 0, run.err
    assert contents(disk) != before


@pytest.mark.parametrize("case", all_but(CASES, "prune", "extend", "silver"))
def test_files_that_may_not_grow(morphgraph, case, work, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    # What is compiled or loaded for the first time is written, too, though not by the command.
    _, command, others = arguments(case, work, tmp_path / "elsewhere")
    assert morphgraph(*command, *others).code == 0
    try_again(morphgraph, case, work, disk, no_file_may_grow)


@pytest.mark.parametrize("case", one_of(*CASES))
def test_a_full_disk(morphgraph, case, work, small_disk):
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    try_again(morphgraph, case, work, small_disk, no_room)


def test_all_commands_that_write_are_tried():
    program = get_command(cli.program)
    found = {name: program.get_command(None, name) for name in OWN_COMMANDS}
    found |= found.pop("reference").commands
    writing = {name for name, one in found.items() if "out" in {each.name for each in one.params}}
    # An evaluation on a full disk: see test_evaluate.
    assert writing - {"evaluate"} == WRITING.keys()


def test_files_that_belong_together_change_together(tmp_path):
    """What cannot be written of one leaves all as they were."""
    folder, files = tmp_path / "folder", {name: tmp_path / "folder" / name for name in "ab"}
    write_files(dict.fromkeys(files.values(), b"old"))
    with no_file_may_grow(folder), refused():
        write_files({files["a"]: b"new", files["b"]: bytes(1000)})
    assert contents(folder) == {"a": b"old", "b": b"old"}
    assert len(list(folder.iterdir())) == 2


def test_what_is_replaced_keeps_its_permissions_and_its_links(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    before = os.umask(0o027)
    try:
        write_file(path, b"first")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    write_file(link, b"second")
    assert link.is_symlink()
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"second", 0o600)


def test_a_device_or_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, b"through")
    assert os.read(end, 100) == b"through"
    os.close(end)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    write_file(link, b"away")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_folder_changes_as_a_whole(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    with new_folder(folder) as place:
        (place / "old").write_bytes(b"old")
    with (
        no_file_may_grow(folder),
        refused(),
        new_folder(folder) as place,
    ):
        (place / "small").write_bytes(b"new")
        (place / "large").write_bytes(bytes(1000))
    assert contents(tmp_path) == {"folder/old": b"old"}

    rename = Path.rename

    def fails(self, target):
        if target == folder and not (self / "old").exists():
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with monkeypatch.context() as patch, refused():
        patch.setattr(Path, "rename", fails)
        with new_folder(folder) as place:
            (place / "new").write_bytes(b"new")
    assert contents(tmp_path) == {"folder/old": b"old"}
    with new_folder(folder) as place:
        (place / "new").write_bytes(b"new")
    assert contents(tmp_path) == {"folder/new": b"new"}
    assert list(tmp_path.iterdir()) == [folder]
