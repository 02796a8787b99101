"""What stands in the plug-in's page and README holds."""

import re
from pathlib import Path

import pytest

from docs.tools import api
from morphgraph.batch.configuration import parse_evaluation
from morphgraph.core.files import shipped_configurations

PLUGIN = Path(__file__).parents[1]


def test_the_tables_are_those_of_the_registry() -> None:
    """Written by ``python -m docs.tools.api``."""
    text = (PLUGIN / "docs" / "remedies.md").read_text(encoding="utf-8")
    assert text == api.PAGES[api.REMEDIES_PAGE]()


def test_the_evaluation_of_every_method_is_valid() -> None:
    evaluation, _ = parse_evaluation(shipped_configurations()["methods"], "methods.yaml")
    assert {"adaptbpe", "litetoken", "morphbpe"} < {
        each.method for each in evaluation.parts[0].methods
    }


@pytest.mark.slow
def test_the_python_of_the_readme_runs() -> None:
    text = (PLUGIN / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    names: dict[str, object] = {}
    exec(code, names)
    assert repr(names["morphs"]) == "<Tokeniser demo:en: BPE, 1,591 types, 1,334 merges, 2 edits>"
    assert names["both"].types[256:] == ("Ġl", "Ġla", "Ġlo")  # type: ignore[attr-defined]
