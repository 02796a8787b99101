"""What the app takes from Streamlit: public names, and few selectors of its pages, all counted."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PUBLIC = {
    "streamlit",
    "streamlit.delta_generator",  # the type of places on a page
    "streamlit.errors",
    "streamlit.runtime.scriptrunner",  # `add_script_run_ctx`, documented for threads
    "streamlit.testing.v1",
}


def test_the_version_that_is_tested_is_the_one_that_is_pinned() -> None:
    pinned = re.findall(r"^streamlit==(.*)$", (ROOT / "requirements.txt").read_text(), re.M)
    assert pinned == [version("streamlit")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [required] = [
        each for each in extras["optional-dependencies"]["app"] if each.startswith("streamlit")
    ]
    major = int(pinned[0].split(".")[0])
    assert required.endswith(f",<{major + 1}"), "the next major version has not been tested"


def sources() -> list[Path]:
    folders = (ROOT / "web", ROOT / "pages", ROOT / "morphgraph")
    return [ROOT / "app.py", *(path for folder in folders for path in folder.rglob("*.py"))]


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules of Streamlit that are imported when a file is run; types alone do not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
            if node.module == "streamlit":
                yield from (f"streamlit.{alias.name}" for alias in node.names)
        yield from imports(node)


def test_nothing_private_of_streamlit_is_used() -> None:
    for path in sources():
        text = path.read_text(encoding="utf-8")
        found = {name for name in imports(ast.parse(text)) if name.split(".")[0] == "streamlit"}
        assert found <= PUBLIC, path
        assert not re.findall(r"\bst\._[a-z]\w+|_session_mgr|get_script_run_ctx", text), path
