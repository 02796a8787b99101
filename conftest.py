"""What the examples in docs/reference/api.md begin with, for the docstrings behind them."""

from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

# It is run in an exported folder only, which has the methods of its own tokeniser.
collect_ignore = ["morphgraph/standalone/tokenization_morphgraph.py"]

DOCUMENTED = (
    "morphgraph.api",
    "morphgraph_models",
    "morphgraph.tables.result",
    "morphgraph.tables.score_views",
    "morphgraph_corpora.measured",
    "morphgraph_doctor.diagnosis",
    "morphgraph.tables.vocabularies",
    "morphgraph.draw.scene.GraphPicture",
    "morphgraph.draw.merge_tree_svg",
    "morphgraph.score.gold_set.GoldSet",
    "morphgraph.formats.export.Export",
)


@pytest.fixture(autouse=True)
def begun(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that they use, and a folder of their own to write into."""
    if isinstance(request.node, DoctestItem) and request.node.name.startswith(DOCUMENTED):
        import morphgraph as mg

        monkeypatch.chdir(tmp_path)
        Path("text.txt").write_text("The houses stand there.\n")
        request.node.dtest.globs |= {
            "mg": mg,
            "tokeniser": mg.load("demo:en"),
            "gold": mg.read_gold("demo:en"),
        }
