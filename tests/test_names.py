"""One name, one thing: no two modules define a public class, function or constant of one name."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from morphgraph.cli import program

ROOT = Path(__file__).parent.parent
COMMANDS = {getattr(one.callback, "__name__", "") for one in program.registered_commands}

EXCEPTIONS = {
    "main": "the entry point of a command",
    "train": "the public function gives what the inner one makes as a `Tokeniser`",
    "Queue": "a kernel's own heap; numba's cache on disk knows it by this name",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """But those that ship inside exported folders and stand alone there."""
    for path in sorted([*ROOT.glob("morphgraph/**/*.py"), *ROOT.glob("web/**/*.py")]):
        if "standalone" not in path.parts:
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def names(node: ast.stmt) -> list[str]:
    """What a statement defines; type variables, whose names stay in their module, left out."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign) and "TypeVar(" not in ast.unparse(node.value):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def test_no_two_things_have_one_name() -> None:
    """A command's function is named as the command, as the library's own may be."""
    places = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            for name in names(node):
                is_command = path.startswith("morphgraph/cli/") and name in COMMANDS
                if not (name.startswith("_") or name in EXCEPTIONS or is_command):
                    places[name].append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
