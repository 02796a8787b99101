"""What is installed: every package of the tree, and no more from outside than is needed."""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from morphgraph.core.errors import EXTRA_OF

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUPTOOLS = SETTINGS["project"], SETTINGS["tool"]["setuptools"]
EXTRAS = PROJECT["optional-dependencies"]

MODULE_OF = {"protobuf": "google", "pyyaml": "yaml"}
BEHIND = {"dask": "distributed", "pydantic_core": "pydantic", "requests": "pooch"}
"""Packages that come with another one."""

OF_APP = ("batch", "silver", "wordfreq", "workbooks")
"""Extras that the app brings."""

NOT_OURS = {"torch"}
"""What only the text of an exported folder's README imports."""


def names(requirements: Iterable[str]) -> set[str]:
    """The packages in requirements, in lower case."""
    found = (re.match(r"[A-Za-z0-9_-]+", each) for each in requirements)
    return {match[0].lower() for match in found if match}


def pinned(file: str) -> set[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return names(line for line in lines if "==" in line)


def outside(folders: Iterable[str]) -> set[str]:
    """The packages from outside that modules import, wherever in them."""
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add((node.module or "").partition(".")[0])
    found -= {"morphgraph", "web", *sys.stdlib_module_names, *NOT_OURS}
    return {BEHIND.get(package, package) for package in found}


def modules(requirements: Iterable[str]) -> set[str]:
    return {MODULE_OF.get(package, package) for package in names(requirements)}


def test_the_library_alone_is_light() -> None:
    base = modules(PROJECT["dependencies"])
    assert not base & {*EXTRA_OF}
    assert set(EXTRAS) == {"app", "cloud", "models", "transformers", *OF_APP}
    for package, extra in EXTRA_OF.items():
        of = ["app", *OF_APP] if extra == "app" else [extra]
        assert package in {module for each in of for module in modules(EXTRAS[each])}, package


@pytest.mark.slow
def test_what_is_imported_is_required() -> None:
    base = modules(PROJECT["dependencies"])
    every = base | {module for extra in EXTRAS.values() for module in modules(extra)}
    assert outside(["morphgraph"]) <= every
    assert outside(["web", "pages"]) <= every
    # They come in through others: protobuf reads what sentencepiece writes, and cryptography makes
    # the credentials of dask.
    assert base - outside(["morphgraph"]) <= {"google"}


def test_pins_cover_the_app_and_the_tests() -> None:
    of_app = [each for extra in ("app", *OF_APP) for each in EXTRAS[extra]]
    assert f"morphgraph[{','.join(OF_APP)}]" in EXTRAS["app"]
    assert pinned("requirements.txt") == names([*PROJECT["dependencies"], *of_app]) - {"morphgraph"}
    development = pinned("requirements-dev.txt")
    assert names(EXTRAS["transformers"]) <= development
    assert names(EXTRAS["models"]) <= development | pinned("requirements-models.txt")


def test_every_package_is_in_the_wheel() -> None:
    folders = {
        path.parent.relative_to(ROOT)
        for top in ("morphgraph", "web")
        for path in (ROOT / top).rglob("*.py")
    }
    library = {".".join(each.parts) for each in folders if each.parts[0] == "morphgraph"}
    app = {".".join(each.parts) for each in folders if each.parts[0] == "web"}
    listed = set(SETUPTOOLS["packages"])
    shipped = {each for each in listed if not each.startswith("morphgraph._app")}
    assert shipped == library
    assert {each for each in listed if "._app.web" in each} == {
        f"morphgraph._app.{each}" for each in app
    }


def test_the_app_says_how_to_install_it(
    morphgraph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morphgraph.core.errors.find_spec", lambda name: None)
    run = morphgraph("app", "--headless")
    assert run.code == 2
    assert "pip install 'morphgraph[app]'" in run.err
