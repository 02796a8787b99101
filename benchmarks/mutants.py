"""``python -m benchmarks.mutants``: how many small faults, put into the library, its tests find.

Faults are drawn at random: a comparison, an operator, a number or a condition is another one. Each
is put into a copy of the repository, where the tests of its room, and then those that are quick,
run until one fails.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import ROOT, table

ROOMS = ("kernels", "graph", "refine", "score", "reference")
OWN = {
    "kernels": ["kernels", "segment", "training", "tokeniser", "score", "refine"],
    "graph": ["graph", "refine"],
}
"""The folders of tests of a room, if not only that of its name."""
_EACH_OTHER = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
)
_OTHER: dict[type, type] = {ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
for _one, _two in _EACH_OTHER:
    _OTHER |= {_one: _two, _two: _one}
_PATIENCE = 600  # seconds: longer is a loop without an end, and found


def faults(tree: ast.Module) -> Iterator[tuple[int, ast.AST, str, object]]:
    """Yield the line, the node, the field and the other value of each fault inside a function."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                line = getattr(node, "lineno", 0)
                match node:
                    case ast.Compare(ops=[op]) if type(op) in _OTHER:
                        yield line, node, "ops", [_OTHER[type(op)]()]
                    case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _OTHER:
                        yield line, node, "op", _OTHER[type(op)]()
                    case ast.Constant(value=int(value)):
                        yield line, node, "value", value + 1 if value is not True else False
                    case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                        yield line, node, "test", ast.UnaryOp(ast.Not(), test)


def drawn(number: int, seed: int) -> list[tuple[str, int]]:
    """Return that many files of the rooms with the place of a fault among those of its file."""
    every = [
        (str(path.relative_to(ROOT)), place)
        for room in ROOMS
        for path in sorted((ROOT / "morphgraph" / room).glob("*.py"))
        for place, _ in enumerate(faults(ast.parse(path.read_text())))
    ]
    return random.Random(seed).sample(every, number)


def finds(copy: Path, *tests: str, marked: str) -> bool:
    """Return whether these tests fail in a copy."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marked]
    paths = os.pathsep.join(map(str, (copy, *copy.glob("plugins/*"))))
    try:
        ran = subprocess.run(
            [*command, *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": paths, "MORPHGRAPH_EFFORT": "usual"},
            capture_output=True,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return True
    if ran.returncode not in (0, 1, 2):
        raise RuntimeError(ran.stdout.decode()[-2000:] + ran.stderr.decode()[-2000:])
    return ran.returncode != 0


def main() -> None:
    """Put in one fault after the other, and print those that nothing finds, and how many are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    with tempfile.TemporaryDirectory() as scratch:
        copies = [Path(scratch, str(number)) for number in range(given.processes)]
        for copy in copies:
            for name in filter(lambda name: (ROOT / name).is_file(), listed):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)

        def is_found(fault: tuple[str, int]) -> bool:
            name, place = fault
            copy = copies.pop()
            text = (copy / name).read_text()
            tree = ast.parse(text)
            line, node, field, other = list(faults(tree))[place]
            before = ast.unparse(node).partition("\n")[0]
            setattr(node, field, other)
            (copy / name).write_text(ast.unparse(tree))
            room = name.split("/")[1]
            own = [f"tests/{folder}" for folder in OWN.get(room, [room])]
            fast = "not (browser or fuzz or kills or data or slow or soak or models)"
            found = finds(copy, *own, marked="not (browser or soak or models)") or finds(
                copy, "tests", marked=fast
            )
            (copy / name).write_text(text)
            copies.append(copy)
            after = ast.unparse(node).partition("\n")[0]
            print("found" if found else "MISSED", f"{name}:{line}", before, "→", after, flush=True)
            return found

        chosen = drawn(given.number, given.seed)
        with ThreadPoolExecutor(given.processes) as pool:
            results = list(pool.map(is_found, chosen))
    all_, found = (
        Counter(name.split("/")[1] for (name, _), was in zip(chosen, results, strict=True) if was)
        for results in ([True] * len(chosen), results)
    )
    rows = [(room, all_[room], found[room]) for room in ROOMS]
    rows.append(("all", all_.total(), found.total()))
    table(["room", "faults", "found"], rows)


if __name__ == "__main__":
    main()
