"""The rooms depend on each other one way, however a module is named."""

import ast
import re
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ROOMS = (
    *("core", "kernels", "standalone", "graph", "tokeniser", "formats", "corpus", "reference"),
    *("segment", "score", "refine", "tables", "draw", "batch", "api", "cli"),
)
"""Each room imports from itself and from those before it only."""

APP = ("web", "pages")
PLUGINS = {
    path.name.replace("-", "_"): path.relative_to(ROOT) for path in (ROOT / "plugins").glob("*-*")
}
"""The folder of each plug-in's distribution, by the name of its package."""
TOP = ("morphgraph", "morphgraph.__main__")
"""Modules above all rooms, which import every one of them, and are imported by none."""
SHIPPED = "morphgraph.standalone.tokenization_morphgraph"
"""The entrance of an exported folder, which nothing here imports."""

STRING = re.compile(r"(\w+(?:\.\w+)+)(?::\w+)?")


def modules():
    found = {}
    tops = dict.fromkeys(("morphgraph", *APP), ROOT)
    tops |= {package: ROOT / folder for package, folder in PLUGINS.items()}
    for folder, root in tops.items():
        for path in (root / folder).rglob("*.py"):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


@cache
def tree(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def named(name, node):
    """What a piece of code may import: by a statement, also a relative one, or by a string.

    A string names a module if it is its full name, with or without what it is asked for there.
    """
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        parts = [package] if node.level else []
        module = ".".join([*parts, *([node.module] if node.module else [])])
        inner = {f"{module}.{alias.name}" for alias in node.names}
        return inner | ({module} if inner - MODULES.keys() else set())
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {match[1] for match in [STRING.fullmatch(node.value)] if match}
    return set()


@cache
def imported(name):
    """The modules of the project that a module imports, wherever in it."""
    found = {other for node in ast.walk(tree(name)) for other in named(name, node)}
    return found & MODULES.keys() - {name}


def room(name):
    return name.split(".")[1] if name.startswith("morphgraph.") else name


def test_a_module_is_named_in_full():
    """Where it is not known before the program runs, its name comes whole from somewhere else."""
    for name in MODULES:
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
                assert not any(isinstance(n, ast.JoinedStr | ast.BinOp) for n in node.args), name


def test_every_room_is_listed():
    found = {path.parent.name for path in (ROOT / "morphgraph").glob("*/*.py")}
    found |= {path.stem for path in (ROOT / "morphgraph").glob("*.py")}
    assert found - {"__init__", "__main__"} == set(ROOMS)


def test_a_room_imports_from_those_before_it():
    for name in MODULES:
        if name.split(".")[0] not in (*APP, *PLUGINS):
            allowed = ROOMS if name in TOP else ROOMS[: ROOMS.index(room(name)) + 1]
            wrong = {other for other in imported(name) if room(other) not in allowed}
            assert not wrong, f"{name} imports upwards"


def test_nothing_of_ours_names_a_plug_in():
    """They are found by entry points, and import from the library and from themselves."""
    for name, path in MODULES.items():
        package = name.split(".")[0]
        source = path.read_text(encoding="utf-8")
        for plugin, folder in PLUGINS.items():
            assert package == plugin or not re.search(rf"{plugin}|{folder.name}", source), name
        assert package not in PLUGINS or not [n for n in imported(name) if n.split(".")[0] in APP]


def test_what_ships_imports_nothing_of_ours():
    for name in MODULES:
        found = imported(name)
        assert SHIPPED not in found, name
        if room(name) == "standalone":
            assert {room(other) for other in found} <= {"standalone"}, name


def test_the_kernels_are_found_by_the_version_that_what_ships_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [(version, place)] = project["entry-points"]["morphgraph.piece_kernels"].items()
    assert f"KERNELS = {version!r}" in map(ast.unparse, tree(SHIPPED).body)
    module, _, name = place.partition(":")
    assert name in [getattr(node, "name", "") for node in tree(module).body]


def test_nothing_imports_itself_by_a_detour():
    """But two are run, once they are needed, by what they stand on."""
    apart = {
        "morphgraph.tokeniser.parts": "morphgraph.tokeniser.pipeline",
        "morphgraph.kernels.compiling": "morphgraph.kernels.calls",
        # For type checkers: what an edit returns names the class of its tokeniser.
        "morphgraph.api.edited": "morphgraph.api.with_merges",
    }
    graph = {name: imported(name) - {apart.get(name, "")} for name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_library_never_imports_streamlit():
    for name, path in MODULES.items():
        if name.startswith("morphgraph") and "streamlit" in path.read_text(encoding="utf-8"):
            for node in ast.walk(tree(name)):
                assert not [n for n in named(name, node) if n.split(".")[0] == "streamlit"], name


PUBLIC = {
    "streamlit",
    "streamlit.delta_generator",  # the type of places on a page
    "streamlit.errors",
    "streamlit.runtime.scriptrunner",  # `add_script_run_ctx`, documented for threads
    "streamlit.testing.v1",
}


def imported_when_run(tree):
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
        yield from imported_when_run(node)


def test_nothing_private_of_streamlit_is_used():
    for path in (ROOT / "app.py", *MODULES.values()):
        text = path.read_text(encoding="utf-8")
        imported = imported_when_run(ast.parse(text)) if "streamlit" in text else ()
        assert {name for name in imported if name.split(".")[0] == "streamlit"} <= PUBLIC, path
        assert not re.findall(r"\bst\._[a-z]\w+|_session_mgr|get_script_run_ctx", text), path
        assert not re.findall(r"allow_pickle=(?!False)|\.to_pickle", text), path
