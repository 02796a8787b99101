"""Check a release as its users will meet it: built, and installed in clean environments.

Run: ``python release/check.py``, or ``make release-check``; ``check.py app site`` checks these
parts. It needs PyPI, Python's own library and some ten minutes, and writes to a folder that is
deleted. What trains models is left to ``make test-models``, and the image to the workflow.
"""

import re
import shlex
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent

_README = (ROOT / "README.md").read_text(encoding="utf-8")
_WORKBOOK = """
from openpyxl import Workbook
book = Workbook()
book.active.title = "0-1-1"
for row in (("Word", "MorphoLexSegm", "Nmorph"), ("backboards", "{(back)}{(board)}>s>", 3)):
    book.active.append(row)
book.save("gold.xlsx")
"""
"""Makes a workbook like those of MorphoLex."""
_LOADED = """
from transformers import AutoTokenizer
AutoTokenizer.from_pretrained("exported").tokenize(" undesirable")
"""
_ALONE = [
    "morphgraph --version",
    "morphgraph score demo:en demo:en",
    "morphgraph rebpe demo:en demo:en --out best",
    *re.findall(r"^```python\n(.*?)^```$", _README, re.M | re.S),
]
INSTALLED = {
    "wheel": _ALONE,
    "sdist": _ALONE,
    "batch": ["morphgraph count text.txt --out counts.parquet"],
    "corpora": ["morphgraph measure demo:en --corpus text.txt"],
    "doctor": ["morphgraph export demo:en --out exported", "morphgraph doctor exported"],
    "models": ["morphgraph undertrained --help", "import morphgraph as mg; mg.models.transplant"],
    "readers": [_WORKBOOK, "morphgraph reference show gold.xlsx"],
    "remedies": [
        "morphgraph segment demo:en houses --method litetoken --counts counts.tsv",
        "morphgraph train picky counts.tsv --vocab-size 300 --out model.json",
    ],
    "silver": ["morphgraph reference silver counts.tsv --out silver.tsv"],
    "transformers": ["morphgraph export demo:en --out exported", _LOADED],
    "wordfreq": ["morphgraph train bpe wordfreq:en --vocab-size 500 --out tokenizer.json"],
    "app": ["morphgraph evaluate demo --out run"],
}
"""What only works with an extra: commands, and Python. Each starts in an empty environment."""
PLUGINS = {"models": "morphgraph_models"}
"""Extras that are tried as the wheel of a plug-in alone, without its own extras: torch is large."""
MADE = {"site": "site", "tests": "quick"}
"""Parts that are targets of the Makefile."""


class Failed(Exception):
    """Something does not hold; the text says what."""


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command without variables of ours; return what it printed."""
    kept = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"}
    given = list(map(str, command))
    done = subprocess.run(
        given,
        cwd=cwd,
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise Failed(f"{' '.join(given)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def environment(home: Path, *requirements: object) -> Path:
    """Return the ``bin`` of a new virtual environment with these."""
    run(sys.executable, "-m", "venv", home, cwd=ROOT)
    # pip's own cache is the user's.
    run(home / "bin/pip", "install", "--quiet", *requirements, cwd=ROOT, HOME=str(Path.home()))
    return home / "bin"


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the sdist from what is committed or added; check their page on PyPI."""
    source, dist = folder / "source", folder / "dist"
    subprocess.run(["git", "checkout-index", "--all", f"--prefix={source}/"], cwd=ROOT, check=True)
    bin_ = environment(folder / "build", "build", "twine")
    for each in (source / "pyproject.toml", *source.glob("plugins/*/pyproject.toml")):
        run(bin_ / "python", "-m", "build", "--outdir", dist, each.parent, cwd=folder)
    run(bin_ / "twine", "check", "--strict", *dist.iterdir(), cwd=folder)
    [sdist], [wheel] = dist.glob("morphgraph-[0-9]*.tar.gz"), dist.glob("morphgraph-[0-9]*.whl")
    return wheel, sdist


def use(package: Path, part: str, folder: Path) -> None:
    """Install a package, with an extra or alone, and use what it is for."""
    is_alone = part in ("wheel", "sdist")
    named = package if is_alone else f"morphgraph[{part}] @ {package.as_uri()}"
    if part in PLUGINS:
        [named] = package.parent.glob(f"{PLUGINS[part]}-*.whl")
    # Plug-ins are beside it, and need not be on PyPI yet.
    bin_ = environment(folder / "venv", "--find-links", package.parent, named)
    (folder / "text.txt").write_text("the undesirable houses\n" * 20)
    words = ("houses", "undesirable", "desirable", "house", "unable", "able")
    counts = "".join(f"{word}\t{9 - number}\n" for number, word in enumerate(words))
    (folder / "counts.tsv").write_text(counts)
    for line in INSTALLED[part]:
        if line.startswith("morphgraph "):
            program, *given = shlex.split(line)
            run(bin_ / program, *given, cwd=folder)
        else:
            run(bin_ / "python", "-c", line, cwd=folder)
    if part == "app":
        start(bin_, folder)
    run(bin_ / "pip", "check", cwd=folder)


def start(bin_: Path, folder: Path) -> None:
    """Start the app, and wait for its page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(bin_ / "morphgraph"), "app", "--headless", "--port", str(port)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                if b"<html" in answer.read():
                    return
            time.sleep(0.2)
        raise Failed("the app does not answer")
    finally:
        process.terminate()
        process.wait(timeout=20)


def make(target: str, sdist: Path, folder: Path) -> None:
    """Make a target of the Makefile in the unpacked sdist."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    [unpacked] = folder.iterdir()
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    print(run("make", target, f"PYTHON={sys.executable}", cwd=unpacked, PATH=path)[-300:])


def main() -> None:
    """Check all parts, or those that are named."""
    chosen = sys.argv[1:] or [*INSTALLED, *MADE]
    failed = []
    with tempfile.TemporaryDirectory(prefix="morphgraph-release-") as name:
        wheel, sdist = build(Path(name))
        for part in chosen:
            with tempfile.TemporaryDirectory(dir=name) as inside:
                folder = Path(inside)
                try:
                    if part in MADE:
                        make(MADE[part], sdist, folder)
                    else:
                        use(sdist if part == "sdist" else wheel, part, folder)
                    print(f"{part}: holds", flush=True)
                except Failed as failure:
                    failed.append(part)
                    print(f"FAILED {part}: {failure}", flush=True)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} parts hold; Python {sys.version}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
