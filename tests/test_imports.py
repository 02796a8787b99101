"""The rooms of the library depend on each other one way, lazy imports included."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ROOMS = (
    "core",
    "kernels",
    "graph",
    "tokeniser",
    "corpus",
    "segment",
    "reference",
    "train",
    "score",
    "refine",
    "models",
    "tables",
    "draw",
    "batch",
    "cli",
)
"""Each room imports from itself and from those before it only."""

APP = ("web", "pages")
TOP = ("morphgraph", "morphgraph.api", "morphgraph.__main__")
"""Modules above all rooms, which import every one of them, and are imported by none."""


def modules() -> dict[str, Path]:
    found = {}
    for folder in ("morphgraph", *APP):
        for path in (ROOT / folder).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imported(name: str) -> set[str]:
    """The modules of the project that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                found.add(inner if inner in MODULES else module)
    return found & MODULES.keys() - {name}


IMPORTS = {name: imported(name) for name in MODULES}


def room(name: str) -> str:
    return name.split(".")[1] if name.startswith("morphgraph.") else name


def test_imports_are_absolute() -> None:
    """But those of the files that leave with an exported tokeniser."""
    for name, path in MODULES.items():
        if not name.startswith("morphgraph.tokeniser.exported"):
            for node in ast.walk(ast.parse(path.read_text())):
                assert not isinstance(node, ast.ImportFrom) or not node.level, name


def test_every_folder_is_a_room() -> None:
    folders = {path.parent.name for path in (ROOT / "morphgraph").glob("*/*.py")}
    assert folders - {"__pycache__"} == set(ROOMS)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_room_imports_from_those_before_it(name: str) -> None:
    if name.split(".")[0] in APP:
        return
    allowed = (*ROOMS, "api") if name in TOP else ROOMS[: ROOMS.index(room(name)) + 1]
    wrong = {other for other in IMPORTS[name] if room(other) not in allowed}
    assert not wrong, f"{name} imports upwards"


def test_nothing_imports_itself_by_a_detour() -> None:
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_library_never_imports_streamlit() -> None:
    for name, path in MODULES.items():
        if name.startswith("morphgraph"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not [n for n in names if n.split(".")[0] == "streamlit"], name
