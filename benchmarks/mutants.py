"""``python -m benchmarks.mutants``: how many small faults, put into the library, its tests find.

Faults are drawn at random: a comparison, an operator, a number or a condition is another one. Tests
are collected once; for each fault a copy of the process gives a function other code, and runs them
until one fails that does not fail without it, or time is over. Kernels are plain Python then, as to
compile them takes minutes, and tests that cannot bear this are left out.
"""

import argparse
import ast
import gc
import os
import random
import re
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import hypothesis
import numba
import numba.extending
import numpy as np
import pytest

from benchmarks import ROOT

ROOMS = ("kernels", "graph", "refine", "score", "reference")
TESTS = [
    *(f"morphgraph/{room}" for room in ROOMS),
    *(f"tests/{room}" for room in (*ROOMS, "segment", "training", "tokeniser", "tables", "api")),
    *("tests/corpus", "tests/draw", "tests/cli", "tests/test_quick_to_start.py"),
    "plugins/morphgraph-remedies/tests",
]
OPTIONS = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "--timeout=60"]
OPTIONS += ["-m", "not (browser or fuzz or kills or soak or models)"]
PLAIN = re.compile(r"morphgraph\.kernels\.(?!resampling)|morphgraph_remedies\.\w+_kernel")
"""The modules whose kernels are plain Python; random numbers would take too long."""
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


def users_of(file: Path) -> list[str]:
    """Return the names of modules that import a file, whose tests may find a fault in it."""
    told = f".{file.parent.name}.{file.stem} import"
    modules = [*ROOT.glob("morphgraph/*/*.py"), *ROOT.glob("plugins/*/morphgraph_*/*.py")]
    return [each.stem for each in modules if told in each.read_text()]


def without_compiling() -> None:
    """Make kernels plain Python, and records have a field `size`, as numba's do."""
    compiled, made, usual = numba.njit, numba.extending.intrinsic, np.void.__getattribute__

    def njit(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda function: njit(function, **options)
        if not PLAIN.match(function.__module__):
            return compiled(**options)(function)
        function.py_func = function
        return function

    def intrinsic(function: Any) -> Any:  # there is one, the least of 32 numbers
        is_plain = PLAIN.match(function.__module__)
        return (lambda array, at: array[at : at + 32].min()) if is_plain else made(function)

    def read(record: Any, name: str) -> Any:
        return record[name] if name in usual(record, "dtype").names else usual(record, name)

    vars(numba).update(njit=njit)
    vars(numba.extending).update(intrinsic=intrinsic)
    np.record.__getattribute__ = read  # type: ignore[method-assign]


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield what was compiled, and all functions inside."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes_of(inner)


def with_fault(file: Path, place: int) -> tuple[ast.Module, str]:
    """Return the code of a file with a fault, and what it changes."""
    tree = ast.parse(file.read_text())
    node, field, other = list(faults(tree))[place]
    before = ast.unparse(node).partition("\n")[0]
    setattr(node, field, other)
    after = ast.unparse(node).partition("\n")[0]
    told = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {before} → {after}"
    return ast.fix_missing_locations(tree), told


def put_in(file: Path, place: int) -> None:
    """Give the function of a fault the code with it."""
    code = compile(with_fault(file, place)[0], str(file), "exec")
    new = {(one.co_qualname, one.co_firstlineno): one for one in codes_of(code)}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == str(file):
            old = one.__code__
            one.__code__ = new.get((old.co_qualname, old.co_firstlineno), old)


class Mutants:
    """In place of running tests once, runs them for each fault."""

    def __init__(self, chosen: list[tuple[Path, int]], seconds: int):
        self.chosen, self.seconds = chosen, seconds

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        usual = hypothesis.settings.default
        hypothesis.settings.register_profile("mutants", usual, phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items, sound, rows = session.items, set[pytest.Item](), []
        found_in = Counter[tuple[Path, pytest.Item | None]]()
        for file, _ in self.chosen:  # before it is needed
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            import_module(name.removesuffix(".__init__"))
        for file, place in self.chosen:
            about = re.compile("|".join([f"/{file.parent.name}/", file.stem, *users_of(file)]))
            items.sort(key=lambda item: -len(set(about.findall(item.nodeid))))
            items.sort(key=lambda item: -found_in[file, item])
            while finder := self.finder(session, items, partial(put_in, file, place)):
                if finder in sound or not self.finder(session, [finder]):
                    sound.add(finder)
                    break
                items.remove(finder)  # it fails without a fault
            found_in[file, finder] += 1
            rows.append([with_fault(file, place)[1], finder.nodeid if finder else "MISSED"])
            print(*rows[-1], sep="\t", flush=True)
        found = sum(row[1] != "MISSED" for row in rows)
        print(f"{found} of {len(rows)} faults are found")
        return True

    def finder(
        self, session: pytest.Session, items: list[pytest.Item], begin: Callable[[], object] = int
    ) -> pytest.Item | None:
        """Run tests in a copy of this process; return the one that fails, or does not end."""
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (3 * self.seconds, 3 * self.seconds))
            resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
            begin()
            for item, following in zip(items, [*items[1:], None], strict=True):
                if time.process_time() > self.seconds:
                    break
                os.write(write, b".")
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    os._exit(1)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            tried = len(pipe.read())
        _, status = os.waitpid(child, 0)
        return items[tried - 1] if status else None


def main() -> None:
    """Put in one fault after the other, those of kernels last."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60, help="of tests for each fault")
    given = parser.parse_args()
    chosen = drawn(given.number, given.seed)
    for are_kernels in (False, True):
        part = [each for each in chosen if (each[0].parent.name == "kernels") is are_kernels]
        if os.fork() == 0:
            if are_kernels:
                without_compiling()
            os._exit(pytest.main([*OPTIONS, *TESTS], plugins=[Mutants(part, given.seconds)]))
        os.wait()


if __name__ == "__main__":
    main()
