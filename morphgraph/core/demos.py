"""What ships with the library: demo tokenisers and gold lists."""

from pathlib import Path

from morphgraph.core.errors import MorphGraphError

DEMOS = {"en": "English", "de": "German", "nl": "Dutch"}
"""Language codes of the demos, with their names."""


def app_folder() -> Path:
    """The folder of the app: the checkout, or a part of the installed package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent, package / "_app"):
        if (folder / "app.py").is_file() and (folder / "assets").is_dir():
            return folder
    raise MorphGraphError("The app's files are missing. Install morphgraph again.")


def assets_folder() -> Path:
    """The folder of what ships."""
    return app_folder() / "assets"


def demo_tokeniser_path(language: str) -> Path:
    """The demo tokeniser of a language code."""
    return assets_folder() / "tokenisers" / f"{_known(language)}.json"


def demo_gold_path(language: str) -> Path:
    """The gold list of a language code."""
    return assets_folder() / "gold" / f"{_known(language)}.tsv"


def _known(language: str) -> str:
    if language not in DEMOS:
        known = ", ".join(f"demo:{code} ({name})" for code, name in DEMOS.items())
        raise MorphGraphError(f"There is no demo “{language}”. The demos are {known}.")
    return language
