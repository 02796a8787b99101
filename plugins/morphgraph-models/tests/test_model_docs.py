"""The lines of docs/models.md and docs/undertrained.md, one after the other."""

import json
import re
import shlex
from pathlib import Path

import pytest
from command import Command
from model_folders import matrix, write_model

from morphgraph.core.files import demo_gold_path, demo_tokeniser_path

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [(DOCS / name).read_text(encoding="utf-8") for name in ("models.md", "undertrained.md")]


@pytest.mark.slow
def test_from_a_checkpoint_to_another_tokeniser(
    morphgraph: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(demo_tokeniser_path("en").read_bytes())
    model = write_model(tmp_path / "model", document, {"wte.weight": matrix(8000)})
    gold = demo_gold_path("en").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "gold.tsv").write_text("".join(gold[:200]), encoding="utf-8")
    lines = re.findall(r"^morphgraph .*$", "".join(PAGES), re.M)
    assert len(lines) == 5
    for line in lines:
        run = morphgraph(*shlex.split(line)[1:])
        assert run.code == 0, f"{line}\n{run.err}"
    assert model.is_dir() and (tmp_path / "rows" / "undertrained.html").is_file()
    assert {path.name for path in (tmp_path / "model-rebpe").iterdir()} > {
        *("config.json", "model.safetensors", "tokenizer_config.json", "tokeniser.bte.json")
    }
