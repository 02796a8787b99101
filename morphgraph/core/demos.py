"""The assets that ship with the library: demo tokenisers, gold lists, configurations."""

from __future__ import annotations

import os
from pathlib import Path

from morphgraph.core.errors import MorphGraphError

DEMOS = {"en": "English", "de": "German", "nl": "Dutch"}
"""Language codes of the demos, with their names."""


def app_folder() -> Path:
    """Return the folder of the app: the checkout, or a part of the installed package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent, package / "_app"):
        if (folder / "app.py").is_file() and (folder / "assets").is_dir():
            return folder
    raise MorphGraphError("The app's files are missing. Install morphgraph again.")


def assets_folder() -> Path:
    """Return the folder of assets."""
    return app_folder() / "assets"


def demo_tokeniser_path(language: str) -> Path:
    """Return the path of a language's demo tokeniser, by code."""
    return assets_folder() / "tokenisers" / f"{_known(language)}.json"


def demo_gold_path(language: str) -> Path:
    """Return the path of a language's gold list, by code."""
    return assets_folder() / "gold" / f"{_known(language)}.tsv"


def _known(language: str) -> str:
    if language not in DEMOS:
        known = ", ".join(f"demo:{code} ({name})" for code, name in DEMOS.items())
        raise MorphGraphError(f"There is no demo “{language}”. The demos are {known}.")
    return language


def shipped_folder() -> Path:
    """Return the folder of shipped configurations."""
    return app_folder() / "docs" / "evaluations"


def shipped_configurations() -> dict[str, str]:
    """Return the text of each shipped configuration by name, the demo first."""
    try:
        paths = sorted(shipped_folder().glob("*.yaml"), key=lambda p: (p.stem != "demo", p.stem))
        return {path.stem: path.read_text("utf-8") for path in paths}
    except OSError as error:
        raise MorphGraphError(
            "The shipped configurations cannot be read. Install morphgraph again."
        ) from error


def configuration_path(source: str | os.PathLike[str]) -> Path:
    """Resolve a path, or the name of a shipped configuration, to a path.

    An existing file comes first. `MorphGraphError` if there is neither.
    """
    path = Path(source)
    names = list(shipped_configurations())
    if path.is_file() or str(source) not in names:
        if not path.exists() and path.name == str(source) and not path.suffix:
            raise MorphGraphError(
                f"{source}: there is no such file, nor does an evaluation of that name ship. "
                f"Those that ship: {', '.join(names)}."
            )
        return path
    return shipped_folder() / f"{source}.yaml"
