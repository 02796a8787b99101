"""Edits are kept on disk for each tokeniser, and what is kept can be trusted."""

from pathlib import Path

import pytest

from morphgraph.tokeniser.loading import load_tokeniser
from web.storage import keep_recipe, kept_steps


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("MORPHGRAPH_STATE", str(folder))
    return folder


def test_edits_are_kept_and_made_again() -> None:
    edited = load_tokeniser("demo:en")
    edited.graph.knockout(["ies"])
    edited.graph.knockout(["ing", "er"])
    keep_recipe(edited)
    fresh = load_tokeniser("demo:en")
    fresh.graph.replay(kept_steps(fresh.checksum))
    assert fresh.graph.merges() == edited.graph.merges()
    assert kept_steps(load_tokeniser("demo:de").checksum) == []


def test_a_tokeniser_without_edits_leaves_what_is_kept() -> None:
    edited = load_tokeniser("demo:en")
    edited.graph.knockout(["ies"])
    keep_recipe(edited)
    keep_recipe(load_tokeniser("demo:en"))
    assert len(kept_steps(edited.checksum)) == 1


def test_undoing_everything_keeps_nothing() -> None:
    edited = load_tokeniser("demo:en")
    edited.graph.knockout(["ies"])
    keep_recipe(edited)
    edited.graph.undo()
    keep_recipe(edited)
    assert kept_steps(edited.checksum) == []


def test_a_damaged_file_counts_as_nothing(state_folder: Path) -> None:
    edited = load_tokeniser("demo:en")
    edited.graph.knockout(["ies"])
    keep_recipe(edited)
    (file,) = state_folder.iterdir()
    file.write_bytes(file.read_bytes()[:40])
    assert kept_steps(edited.checksum) == []


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MORPHGRAPH_STATE", str(tmp_path / "file" / "below"))
    edited = load_tokeniser("demo:en")
    edited.graph.knockout(["ies"])
    keep_recipe(edited)
    assert kept_steps(edited.checksum) == []


def test_edits_of_another_visit_are_set_aside_not_lost() -> None:
    first, second = load_tokeniser("demo:en"), load_tokeniser("demo:en")
    first.graph.knockout(["ies"])
    keep_recipe(first)
    first.graph.knockout(["ing"])
    keep_recipe(first)
    first.graph.undo()
    keep_recipe(first)
    assert kept_steps(first.checksum, previous=True) == []
    second.graph.knockout(["er"])
    keep_recipe(second)
    assert kept_steps(first.checksum) == second.graph.recipe()
    assert kept_steps(first.checksum, previous=True) == first.graph.recipe()
