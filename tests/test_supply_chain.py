"""Nothing is unpickled."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORBIDDEN = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
READS_PICKLES = {"read_pickle", "to_pickle", "cache_data"}
"""Names of pandas and Streamlit that pickle; numpy and torch do so only if they are told to."""


def pickling(text: str) -> list[str]:
    """What in a source pickles, or reads what was pickled."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name.split(".")[0] in FORBIDDEN]
        elif isinstance(node, ast.ImportFrom):
            names = {each.name for each in node.names}
            if (node.module or "").split(".")[0] in FORBIDDEN or names & READS_PICKLES:
                found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and node.attr in READS_PICKLES:
            found.append(node.attr)
        elif isinstance(node, ast.Call):
            named = ast.unparse(node.func)
            given = {each.arg: each.value for each in node.keywords}
            safe = given.get("weights_only")
            if named == "torch.load" and not (isinstance(safe, ast.Constant) and safe.value):
                found.append(named)
            if "allow_pickle" in given and ast.unparse(given["allow_pickle"]) != "False":
                found.append(f"{named} with allow_pickle")
    return found


def test_nothing_is_pickled_but_on_the_wire_of_dask() -> None:
    """Files come from anywhere, and a pickle runs code when it is read."""
    sources = [ROOT / "app.py"]
    for folder in ("morphgraph", "plugins", "web", "pages", "benchmarks", "docs"):
        sources += (ROOT / folder).rglob("*.py")
    parts = {path.relative_to(ROOT).parts[0] for path in sources}
    assert parts == {"app.py", "morphgraph", "plugins", "web", "pages", "benchmarks", "docs"}
    found = {
        str(path.relative_to(ROOT)): pickling(path.read_text(encoding="utf-8")) for path in sources
    }
    assert {path: names for path, names in found.items() if names} == {}
