"""Put a built site beside those of other versions, as GitHub Pages is to serve them.

Run: ``python release/publish_site.py build/site site``. ``site`` then has this version in a folder
of its own, ``latest``, and ``versions.json``, from which the pages make their list of versions.
"""

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent / "morphgraph/core/__init__.py"
FRONT = (
    '<!doctype html><title>morphgraph</title><meta http-equiv="refresh" content="0; url=latest/">\n'
)


def age(version: str) -> tuple[list[int], bool, str]:
    """Return what sorts versions; 1.0.0rc1 comes before 1.0.0."""
    numbers, rest = re.fullmatch(r"(\d+(?:\.\d+)*)(.*)", version).groups()
    return [int(number) for number in numbers.split(".")], not rest, rest


def publish(built: Path, folder: Path, version: str) -> None:
    """Add a version, or replace it; the highest one is the latest."""
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(built, folder / version)
    versions = [path.name for path in folder.iterdir() if re.match(r"\d+\.\d+\.", path.name)]
    latest, *earlier = sorted(versions, key=age, reverse=True)
    listed = [{"version": latest, "title": latest, "aliases": ["latest"]}]
    listed += [{"version": name, "title": name, "aliases": []} for name in earlier]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (folder / "index.html").write_text(FRONT)
    # What GitHub Pages shows for an address with nothing there, and not to leave out any file.
    shutil.copy(folder / latest / "404.html", folder)
    (folder / ".nojekyll").touch()
    (folder / "latest").unlink(missing_ok=True)
    (folder / "latest").symlink_to(latest)


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), runpy.run_path(str(CORE))["__version__"])
