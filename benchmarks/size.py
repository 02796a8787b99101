"""``python -m benchmarks.size``: the lines of code of each room, and those of the tests."""

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

from benchmarks import ROOT, table

_LAYOUT = ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")


def code_lines(source: str) -> int:
    r"""Return how many lines hold code: more than a comment, a docstring or nothing.

    >>> code_lines('"A docstring."\n\nx = [  # a comment\n    1,\n]\n')
    3
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


MAIN = "main distribution"


def sizes(root: Path = ROOT) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return the code lines of each room and of each plug-in, and the lines of their tests.

    Tests are counted by the plug-in, or as those of the main distribution.
    """
    listed = subprocess.check_output(["git", "ls-files", "*.py"], cwd=root, text=True)
    rooms, plugins, tests = Counter[str](), Counter[str](), Counter[str]()
    for path in map(Path, listed.splitlines()):
        if not (root / path).exists():  # removed, and not yet committed
            continue
        source = (root / path).read_text("utf-8")
        is_of_plugin = path.parts[0] == "plugins" and len(path.parts) > 2
        plugin = "/".join(path.parts[:2]) if is_of_plugin else ""
        if "tests" in path.parts or path.name == "conftest.py":
            tests[plugin or MAIN] += source.count("\n")
        elif plugin:
            plugins[plugin] += code_lines(source)
        else:
            depth = 2 if path.parts[0] == "morphgraph" else 1
            rooms["/".join(path.parent.parts[:depth]) or "."] += code_lines(source)
    return rooms, plugins, tests


if __name__ == "__main__":
    rooms, plugins, tests = sizes()
    rows = [(room, f"{lines:,}") for room, lines in sorted(rooms.items())]
    distributions = {MAIN: rooms.total(), **dict(sorted(plugins.items()))}
    whole = ("the whole", f"{sum(distributions.values()):,}", f"{tests.total():,}")
    table(["room", "code lines"], rows)
    print()
    counted = [(name, f"{lines:,}", f"{tests[name]:,}") for name, lines in distributions.items()]
    table(["distribution", "code lines", "lines of tests"], [*counted, whole])
