"""Options mean the same in every command, and what is not a tokeniser here says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from morphgraph import cli

Command = Callable[..., Any]
VOCABULARY = "[UNK]\nun\n##do\n##ing\nu\n##n\n##i\n##g\nd\n##o\n"


def commands(group: Any, name: str = "") -> dict[str, Any]:
    """All commands by their names, those of groups too."""
    if not hasattr(group, "commands"):
        return {name.strip(): group}
    found: dict[str, Any] = {}
    for inner, command in group.commands.items():
        found |= commands(command, f"{name} {inner}")
    return found


COMMANDS = commands(typer.main.get_command(cli.program))


LEARNING = {"blame", "knockout", "rebpe"}
READING = {*LEARNING, "score", "compare", "vocabulary", "export", "reference show"}


@pytest.mark.parametrize(
    ("option", "known"),
    [
        ("--threshold", LEARNING),
        ("--text", {"train"}),
        ("--recipe", {*LEARNING, "score", "compare", "export"}),
        ("--join", {*LEARNING, "score", "compare"}),
        ("--include-foreign", READING),
        ("--layer", READING),
        ("--encoding", READING),
    ],
)
def test_an_option_has_one_meaning(option: str, known: set[str]) -> None:
    found = {
        name: parameter
        for name, command in COMMANDS.items()
        for parameter in command.params
        if option in parameter.opts
    }
    assert set(found) == known
    meanings = {(p.help, p.is_flag) for p in found.values()}
    assert len(meanings) == 1


@pytest.mark.parametrize("command", ["blame", "knockout", "rebpe", "compare", "vocabulary"])
def test_every_reference_has_an_encoding(morphgraph: Command, tmp_path: Path, command: str) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_bytes("Überfluss\tÜber fluss\nHäuser\tHäus er\n".encode("windows-1252"))
    arguments = (command, "--tokenizer", "demo:de", "--reference", gold)
    assert morphgraph(*arguments).code == 2
    assert morphgraph(*arguments, "--encoding", "windows-1252").code == 0


@pytest.mark.parametrize("name", ["gpt2", "openai-community/gpt2", "meta-llama/Llama-3.1-8B"])
@pytest.mark.parametrize("command", ["segment", "score", "knockout", "vocabulary"])
def test_nothing_is_looked_up_on_a_hub(morphgraph: Command, name: str, command: str) -> None:
    rest = {"segment": ["word"], "vocabulary": []}.get(command, ["--reference", "demo:en"])
    run = morphgraph(command, "--tokenizer", name, *rest)
    assert run.code == 2
    assert run.err.startswith(f"morphgraph: {name}: there is no such file or folder, and nothing")
    assert f'AutoTokenizer.from_pretrained("{name}").save_pretrained("folder")' in run.err


def test_a_vocabulary_given_as_tokeniser(morphgraph: Command, tmp_path: Path) -> None:
    vocabulary = tmp_path / "bert-base-uncased.txt"
    vocabulary.write_text(VOCABULARY)
    run = morphgraph("segment", "--tokenizer", vocabulary, "undoing")
    assert (run.code, run.out) == (0, "un ##do ##ing\n")
    assert morphgraph("vocabulary", "--tokenizer", vocabulary).code == 0
    for command in ("score", "compare", "blame", "knockout", "rebpe"):
        run = morphgraph(command, "--tokenizer", vocabulary, "--reference", "demo:en")
        assert run.code == 2
        assert (
            f"{vocabulary}: this is a list of types, which has no merges. Choose a BPE" in run.err
        )
        assert "segment, score and compare take it with --model." in run.err
    run = morphgraph("score", "--model", vocabulary, "--reference", "demo:en")
    assert run.code == 0
