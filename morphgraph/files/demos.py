"""What ships with the library: demo tokenisers and gold lists."""

from pathlib import Path

from morphgraph.errors import MorphGraphError

DEMOS = {"en": "English", "de": "German", "nl": "Dutch"}
"""Language codes of the demos, with their names."""



def assets_folder() -> Path:
    """The folder of what ships: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent / "assets", package / "assets"):
        if (folder / "tokenisers").is_dir():
            return folder
    raise MorphGraphError("The demo files are missing. Install morphgraph again.")


def app_script() -> Path:
    """The entry script of the app."""
    script = assets_folder().parent / "app.py"
    if not script.is_file():
        raise MorphGraphError("The app is missing. Install morphgraph from a checkout.")
    return script


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
