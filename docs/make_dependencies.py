"""Write docs/dependencies.md: every package that comes with morphgraph, and its licence.

Run: ``python docs/make_dependencies.py``, after a change to ``requirements.txt``.
"""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dependencies.md"

_HEAD = """\
# Dependencies and their licences

Made by `python docs/make_dependencies.py` from what is installed; a test checks that it is in step.
`requirements.txt` pins the packages of the first table, which in turn bring those of the second.

`pip-audit -r requirements.txt` (not installed with morphgraph) looks for known vulnerabilities,
where its index of advisories can be reached and knows these versions: what it skips as “not found”
it has not looked at.
"""
_LONGEST = 60
_OTHER = "Other/Proprietary License"
_SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD",
    "BSD License": "BSD",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD-3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC license": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX identifiers of licences, by the names that packages give them."""


def licence_of(package: Distribution) -> str:
    """Return the licence that a package declares, as SPDX if it is clear."""
    said = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    first = said.strip().splitlines()[0].strip() if said.strip() else ""
    is_name = 0 < len(first) <= _LONGEST and not first.startswith(("UNKNOWN", "Copyright"))
    if not is_name:
        classified = package.metadata.get_all("Classifier") or []
        named = [each.rpartition(" :: ")[2] for each in classified if each.startswith("License ::")]
        first = ", ".join(_SPDX.get(each, each) for each in named) or first[:_LONGEST]
    if first in ("", _OTHER):  # then the file has the full text
        texts = [each for each in package.files or () if "LICEN" in each.name.upper()]
        lines = texts[0].read_text(encoding="utf-8").strip().splitlines() if texts else []
        first = next((line.strip() for line in lines if line.strip()), "not said")
    return _SPDX.get(first, first)


def pinned() -> list[Requirement]:
    """Return the requirements in ``requirements.txt``."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def needed_by(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """Yield the requirements of a package here."""
    for line in package.requires or ():
        needed = Requirement(line)
        if needed.marker is None or any(
            needed.marker.evaluate({"extra": extra}) for extra in extras | {""}
        ):
            yield needed


def dependencies_of(first: list[Requirement]) -> dict[str, Distribution]:
    """Return all dependencies of these requirements by name, without themselves."""
    found: dict[str, Distribution] = {}
    todo, seen = list(first), set()
    while todo:
        wanted = todo.pop()
        key = (_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            package = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # not for this system
        found[key[0]] = package
        todo += needed_by(package, set(wanted.extras))
    for direct in first:
        found.pop(_name(direct.name), None)
    return dict(sorted(found.items()))


def page() -> str:
    """Return the whole page."""
    first = pinned()
    installed = [distribution(each.name) for each in first]
    direct = [
        f"| {each.name} | {package.version} | {licence_of(package)} |"
        for each, package in zip(first, installed, strict=True)
    ]
    others = [
        f"| {name} | {licence_of(package)} |" for name, package in dependencies_of(first).items()
    ]
    return "\n".join(
        [
            _HEAD,
            "| package | version | licence |\n| --- | --- | --- |",
            *direct,
            "\n| comes in through these | licence |\n| --- | --- |",
            *others,
            "",
        ]
    )


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
