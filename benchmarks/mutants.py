"""``python -m benchmarks.mutants``: how many small faults, put into the library, its tests find.

Faults are drawn at random: a comparison, an operator, a number or a condition is another one. Each
is put into a copy of the project, where tests of its room, its file and what imports it run until
one fails, or time is over; kernels that it is in are compiled anew.
"""

import argparse
import ast
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest

from benchmarks import ROOT
from morphgraph.core.system import available_cores

ROOMS = ("kernels", "graph", "refine", "score", "reference")
TESTS = [*ROOT.glob("tests/*/test_*.py"), *ROOT.glob("plugins/*/tests/test_*.py")]
MODULES = [*ROOT.glob("morphgraph/*/*.py"), *ROOT.glob("plugins/*/morphgraph_*/*.py")]
OPTIONS = "-x -q -p no:cacheprovider -p benchmarks.mutants --timeout 60 --timeout-method thread"
KERNEL = re.compile("@(kernel|njit)")
MARKS = "not (browser or fuzz or kills or soak or models)"
_PAIRS = ("Lt LtE", "Gt GtE", "Eq NotEq", "In NotIn", "Is IsNot", "And Or", "Add Sub")
OTHER = {"Mult": "Add", "Div": "Mult", "FloorDiv": "Mult"}
OTHER |= dict(pair.split()[::step] for pair in _PAIRS for step in (1, -1))
"""The operator in place of each."""


def faults(tree: ast.Module) -> Iterator[tuple[ast.AST, str, object]]:
    """Yield the node, the field and the other value of each fault inside a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    statements = [statement for function in functions for statement in function.body]
    for node in [node for statement in statements for node in ast.walk(statement)]:
        match node:
            case ast.Compare(ops=[op]) if other := OTHER.get(type(op).__name__):
                yield node, "ops", [getattr(ast, other)()]
            case ast.BinOp(op=op) | ast.BoolOp(op=op) if other := OTHER.get(type(op).__name__):
                yield node, "op", getattr(ast, other)()
            case ast.Constant(value=int(value)):
                yield node, "value", value + 1 if value is not True else False
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield node, "test", ast.UnaryOp(ast.Not(), test)


def drawn(number: int, seed: int) -> list[tuple[Path, int]]:
    """Return that many files of the rooms with the place of a fault among those of its file."""
    every = [
        (path, place)
        for room in ROOMS
        for path in sorted((ROOT / "morphgraph" / room).glob("*.py"))
        for place, _ in enumerate(faults(ast.parse(path.read_text())))
    ]
    return random.Random(seed).sample(every, number)


def with_fault(file: Path, place: int) -> tuple[ast.Module, str]:
    """Return the code of a file with a fault, and what it changes."""
    tree = ast.parse(file.read_text())
    node, field, other = list(faults(tree))[place]
    before = ast.unparse(node).partition("\n")[0]
    setattr(node, field, other)
    after = ast.unparse(node).partition("\n")[0]
    told = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {before} → {after}"
    return ast.fix_missing_locations(tree), told


def importers(file: Path) -> list[Path]:
    """Return the modules that import a file."""
    told = re.compile(rf"\b{file.parent.name}\.{file.stem} import")
    return [module for module in MODULES if told.search(module.read_text())]


def compiled_with(file: Path) -> list[Path]:
    """Return a file, and those whose kernels have code of it inside."""
    found = [file]
    for each in found:
        users = importers(each) if KERNEL.search(each.read_text()) else []
        found += {user for user in users if KERNEL.search(user.read_text())}.difference(found)
    return found


def tests_of(files: list[Path]) -> list[Path]:
    """Return the tests of some files, of their room and of what imports them, closest first."""
    users = {user.stem for file in files for user in importers(file)}
    names = {files[0].parent.name, *(file.stem for file in files)} | users
    about = re.compile(rf"(?<=[/_])(?:{'|'.join(names)})(?=[/._])")
    close = {test: len({*about.findall(str(test.relative_to(ROOT)))}) for test in TESTS}
    tests = sorted((test for test in TESTS if close[test]), key=lambda test: -close[test])
    return [*files, *tests]


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Look for no smaller example of a failure."""
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    usual = hypothesis.settings.default
    hypothesis.settings.register_profile("mutants", usual, phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")


def finder(fault: tuple[Path, int], seconds: int) -> str:
    """Return the test that fails with a fault in a copy of the project; "MISSED" if none does."""
    file, place = fault
    files = compiled_with(file)
    with TemporaryDirectory() as folder:
        copy = Path(folder, ROOT.name)
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build"))
        for each in files:
            for cache in copy.glob(f"**/{each.stem}.*.nb?"):
                cache.unlink()
        (copy / file.relative_to(ROOT)).write_text(ast.unparse(with_fault(file, place)[0]))
        path = os.pathsep.join(map(str, (copy, *copy.glob("plugins/*"))))
        tests = [str(test.relative_to(ROOT)) for test in tests_of(files)]
        run = subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS.split(), "-m", MARKS, *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        resource.prlimit(run.pid, resource.RLIMIT_AS, (2**34, 2**34))
        try:
            told, _ = run.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return "MISSED"
    assert run.returncode not in (4, 5), told  # none was run
    if run.returncode == 0:
        return "MISSED"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)
    return failed[1] if failed else "a crash, or no end"


def main() -> None:
    """Put in one fault after the other, each on a core of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=300, help="of tests for each fault")
    given = parser.parse_args()
    chosen = drawn(given.number, given.seed)
    found = 0
    with ThreadPoolExecutor(available_cores()) as pool:
        finders = pool.map(partial(finder, seconds=given.seconds), chosen)
        for fault, test in zip(chosen, finders, strict=True):
            print(with_fault(*fault)[1], test, sep="\t", flush=True)
            found += test != "MISSED"
    print(f"{found} of {len(chosen)} faults are found")


if __name__ == "__main__":
    main()
