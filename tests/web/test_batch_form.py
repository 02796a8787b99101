"""The form of an evaluation is what its YAML says, and what is chosen there is written into it."""

from __future__ import annotations

import yaml
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.core.demos import shipped_configurations
from web.batch.form import FIELDS, entries_of, in_one_line, with_entries

TEXT = """# What this is.
name: mine
languages: [en]  # one
methods:
- standard
  # beside it
- {method: dropout, p: [0.1, 0.2]}

# Which gold.
references:
  - name: gold list
    source: demo:{code}
metrics: [boundaries]
"""


def test_only_the_field_that_is_chosen_is_written_anew() -> None:
    text = with_entries(TEXT, "methods", ["flota", "rebpe"])
    assert "methods:\n  - flota\n  - rebpe\n\n# Which gold.\nreferences:\n  - name" in text
    assert with_entries(text, "seeds", ["0", "1"]).endswith(
        "metrics: [boundaries]\nseeds: [0, 1]\n"
    )
    assert with_entries(TEXT, "references", []).endswith("references: []\nmetrics: [boundaries]\n")


def test_entries_have_names() -> None:
    found = entries_of(TEXT)
    assert found is not None
    assert list(found["methods"]) == ["standard", "method: dropout, p: [0.1, 0.2]"]
    assert found["references"] == {"gold list": "{name: gold list, source: 'demo:{code}'}"}
    long = entries_of(with_entries(TEXT, "methods", [in_one_line({"method": "x" * 90})]))
    assert long is not None
    [(name, entry)] = long["methods"].items()
    assert len(name) == 60
    assert "x" * 90 in entry
    assert entries_of("languages: [") is None
    assert entries_of("- a") is None
    assert entries_of("languages: {a: b}") is None


def test_writing_what_is_there_changes_no_evaluation_that_ships() -> None:
    for text in shipped_configurations().values():
        found = entries_of(text)
        assert found is not None
        again = text
        for field in FIELDS:
            if found[field]:
                again = with_entries(again, field, list(found[field].values()))
        assert yaml.safe_load(again) == yaml.safe_load(text)


@examples(100)
@given(st.sampled_from(FIELDS), st.lists(st.text(min_size=1, max_size=12), max_size=4, unique=True))
def test_what_is_written_is_read_again(field: str, entries: list[str]) -> None:
    text = with_entries(TEXT, field, [in_one_line(entry) for entry in entries])
    before, after = yaml.safe_load(TEXT), yaml.safe_load(text)
    assert after == before | {field: entries}
