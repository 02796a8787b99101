"""Under-trained types among all types."""

import json
from pathlib import Path
from typing import Any

from model_folders import matrix, write_model

from morphgraph.core.files import demo_tokeniser_path
from morphgraph.score.vocabulary_health import corpus_of
from morphgraph_models import undertrained


def test_types_that_a_model_has_hardly_learned(app: Any, tmp_path: Path) -> None:
    """A model for the demo's tokeniser has rows of padding near which two types lie."""
    rows = matrix(8064)
    rows[8000:], rows[[4000, 5000]] = 1.0, 1.0
    document = json.loads(demo_tokeniser_path("en").read_bytes())
    folder = write_model(tmp_path / "model", document, {"wte.weight": rows})
    app.session.use_frequencies({"the": 9.0, "undoing": 4.0, "houses": 3.0}, "small.tsv")
    app.test.session_state["model rows"] = True
    app.open("types").set("text_input", "Folder of a model", str(folder))
    assert "64 rows taken for unused" in app.captions()
    prefix = f"types filters {app.session.study_number}"
    app.put(prefix, ["under-trained"])
    found = undertrained(folder, corpus_of(app.session.study.benchmark))
    listed = app.table("blame")
    assert set(listed["type"]) == set(found.standing_out()["type"]) != set()
    assert {4000, 5000} <= set(listed["id"])
    (folder / "model.safetensors").unlink()
    app.set("text_input", "Folder of a model", str(folder))
    # Somebody else may have named the path: nothing of what is there is told.
    assert any("cannot be read in the expected format" in error for error in app.errors())
