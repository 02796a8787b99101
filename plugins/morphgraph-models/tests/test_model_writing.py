"""What the commands write is there as a whole, or as it was."""

from pathlib import Path

import pytest
from command import Command
from model_folders import matrix, write_model, write_tokeniser
from small import small_document

from tests.cli import test_full_disk as full_disk

WRITING = {
    "undertrained": (["{work}/model", "--out", "{disk}/a"], ["--share", "0.5"]),
    "transplant": (["{work}/model", "{work}/tokeniser", "--out", "{disk}/a"], []),
}


@pytest.mark.parametrize("command", WRITING)
def test_files_that_may_not_grow(
    morphgraph: Command, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_disk, "CASES", {command: (command, *WRITING[command])})
    document = small_document([("u", "n"), ("d", "o"), ("un", "do")], "undo")
    rows = len(document["model"]["vocab"])
    write_model(tmp_path / "work" / "model", document, {"wte.weight": matrix(rows)})
    write_tokeniser(tmp_path / "work" / "tokeniser", document)
    (tmp_path / "disk").mkdir()
    fault = full_disk.no_file_may_grow
    full_disk.try_again(morphgraph, command, tmp_path / "work", tmp_path / "disk", fault)
