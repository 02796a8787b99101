"""Fixtures for the commands: a disk, and a folder with a small one of all that they read."""

import json
import os
import subprocess

import pytest
from sixty_cells import TINY
from small import small_document

MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]
FILES = {
    "gold.tsv": "word\tmorphs\twhole_words\nundoing\tun do -ing\tundoing\nundo\tun do\tundo\n"
    "doing\tdo -ing\tdoing\n",
    "morphs.tsv": "word\tmorphs\ndoing\tdo ing\ndo\tdo\n",
    "counts.tsv": "undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n",
    "types.txt": "[UNK]\nun\n##do\n##ing\nu\n##n\n##i\n##g\nd\n##o\n",
    "texts/a.txt": "undo (undoing) do do\n" * 30,
    "texts/b.csv": "id,text\n1,redo\n2,do undo\n",
    "tiny.yaml": TINY,
    "own.yaml": f"{TINY}corpora: [{{text: texts}}]\nvocabulary: [tokens]\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that commands run in: a tokeniser, gold with and without whole words, and so on.

    BPE makes undoing, undo, do|ing: of 4 gold boundaries, the one in doing is a split.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    document = json.dumps(small_document(MERGES))
    for name, text in {**FILES, "tokenizer.json": document}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 kB, where this machine lets us have one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("disks cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)
