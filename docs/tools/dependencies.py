"""Write docs/dependencies.md: every package that comes with morphgraph, and its licence.

Run: ``python -m docs.tools.dependencies``, after a change to ``requirements.txt``.
"""

from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.tools import DOCS, markdown_table

PAGE = DOCS / "dependencies.md"

_HEAD = """\
# Dependencies and their licences

Made by `python -m docs.tools.dependencies` from what is installed; a test checks that it is in
step. `requirements.txt` pins the packages of the first table, which bring those of the second.

`pip-audit -r requirements.txt` (not installed with morphgraph) looks for known vulnerabilities,
where its index of advisories can be reached and knows these versions: what it skips as “not found”
it has not looked at.
"""
_SPDX = {
    **dict.fromkeys(("Apache 2.0", "Apache License 2.0", "Apache Software License"), "Apache-2.0"),
    **dict.fromkeys(("BSD 3-Clause License", "3-Clause BSD License"), "BSD-3-Clause"),
    **dict.fromkeys(("ISC License", "ISC license", "ISC License (ISCL)"), "ISC"),
    "BSD License": "BSD",
    "MIT License": "MIT",
}
"""SPDX identifiers of licences, by the names that packages give them."""


def licence_of(package: Distribution) -> str:
    """Return the licence that a package declares, as SPDX if it is clear."""
    declared = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    name = declared.partition("\n")[0]
    if not name or name.startswith(("UNKNOWN", "Copyright")):
        classified = package.metadata.get_all("Classifier") or []
        name = ", ".join(each[11:] for each in classified if each.startswith("License :: "))
        name = name.removeprefix("OSI Approved :: ")
    if name in ("", "Other/Proprietary License"):  # then the file has the full text
        texts = [each for each in package.files or () if "LICEN" in each.name.upper()]
        name = texts[0].read_text(encoding="utf-8").strip().partition("\n")[0]
    return _SPDX.get(name, name)


def pinned() -> list[Requirement]:
    """Return the requirements in ``requirements.txt``."""
    lines = (DOCS.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def dependencies_of(first: list[Requirement]) -> dict[str, Distribution]:
    """Return all dependencies of these requirements by name, without themselves."""
    packages: dict[str, Distribution] = {}
    todo, seen = list(first), set()
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        if (key := (name, frozenset(wanted.extras))) in seen:
            continue
        seen.add(key)
        try:
            packages[name] = package = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # not for this system
        for needed in map(Requirement, package.requires or ()):
            extras = [{"extra": extra} for extra in {*wanted.extras, ""}]
            if needed.marker is None or any(map(needed.marker.evaluate, extras)):
                todo.append(needed)
    direct = {canonicalize_name(each.name) for each in first}
    return {name: package for name, package in sorted(packages.items()) if name not in direct}


def page() -> str:
    """Return the whole page."""
    first = pinned()
    packages = [(each.name, distribution(each.name)) for each in first]
    direct = [(name, package.version, licence_of(package)) for name, package in packages]
    others = dependencies_of(first).items()
    through = [(name, licence_of(package)) for name, package in others]
    tables = [
        markdown_table([("package", "version", "licence"), *direct]),
        markdown_table([("comes in through these", "licence"), *through]),
    ]
    return "\n".join([_HEAD, "\n\n".join(tables), ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
