"""What pyproject.toml cannot say: the version, the README's links on PyPI, modules left out."""

import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


def version() -> str:
    """Return the version, which is stated in ``morphgraph/core/__init__.py``."""
    text = (ROOT / "morphgraph" / "core" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.M)[0]


def description() -> str:
    """Return the README, in which links and pictures lead to the files of this version."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    address = settings["project"]["urls"]["Source"]

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({address}/{kind}/v{version()}/{link[3]})"

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", absolute, text)


class WithoutTools(build_py):
    """Of the checkout's own folder take the app alone."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """List the modules of a package."""
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if package != "morphgraph._app" or each[1] == "app"]


if __name__ == "__main__":
    setup(
        version=version(),
        long_description=description(),
        long_description_content_type="text/markdown",
        cmdclass={"build_py": WithoutTools},
    )
