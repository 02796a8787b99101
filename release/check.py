"""Check a release as its users will meet it: built, and installed in clean environments.

Run: ``python release/check.py``, or ``make release-check``; ``--only app`` checks one part. It
needs PyPI, Python's own library and some ten minutes, writes to a folder that is deleted, and says
what it checked and what not.
"""

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
NOT_CHECKED = {
    "models": "torch is a large download; `make test-models` tests it",
    "the container": "docker build needs its daemon; the workflow builds it",
}

_ON_DEMO = "demo:en demo:en"
COMMANDS = {
    "": ["--version", "score demo:en demo:en", "rebpe demo:en demo:en --out best"],
    "batch": ["count text.txt --out counts.parquet"],
    "silver": ["train morfessor counts.tsv --vocab-size 500 --out model.json"],
    "transformers": ["export demo:en --out exported"],
    "wordfreq": ["train bpe wordfreq:en --vocab-size 500 --out tokenizer.json"],
    "workbooks": ["reference show gold.xlsx"],
    "app": ["evaluate demo --out run"],
}
"""Of each extra, what only works with it. All parts start with an empty environment."""

PYTHON = {
    "transformers": "from transformers import AutoTokenizer\n"
    "print(AutoTokenizer.from_pretrained('exported').tokenize(' undesirable'))",
}
"""Python that runs after the commands of an extra."""

MADE = {"site": "site", "paper": "paper", "tests": "quick"}
"""Parts that are targets of the Makefile."""

_WORKBOOK = """
from openpyxl import Workbook
book = Workbook()
book.active.title = "0-1-1"
for row in (("Word", "MorphoLexSegm", "Nmorph"), ("backboards", "{(back)}{(board)}>s>", 3)):
    book.active.append(row)
book.save("gold.xlsx")
"""
"""Makes a workbook like those of MorphoLex."""


class Failed(Exception):
    """Something does not hold; the text says what."""


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


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


class Check:
    """The parts of the check, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source, self.dist = folder / "source", folder / "dist"

    def environment(self, name: str, *requirements: object) -> Path:
        """Return the ``bin`` of a new virtual environment with these."""
        home = self.folder / f"venv-{name}"
        run(sys.executable, "-m", "venv", home, cwd=self.folder)
        # The caches of pip are the user's.
        cache = subprocess.run(
            [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True
        )
        kept = {"PIP_CACHE_DIR": cache.stdout.strip()} if cache.stdout.strip() else {}
        run(home / "bin/pip", "install", "--quiet", *requirements, cwd=self.folder, **kept)
        return home / "bin"

    def build(self) -> tuple[Path, Path]:
        """Build the sdist, and the wheel from it; check their files and their page on PyPI."""
        git = partial(subprocess.run, cwd=ROOT, capture_output=True, text=True, check=True)
        names = git(["git", "ls-files", "-z"]).stdout.split("\0")[:-1]
        git(["git", "checkout-index", "--all", f"--prefix={self.source}/"])
        bin_ = self.environment("build", "build", "twine")
        run(bin_ / "python", "-m", "build", "--outdir", self.dist, self.source, cwd=self.folder)
        [sdist], [wheel] = self.dist.glob("*.tar.gz"), self.dist.glob("*.whl")
        run(bin_ / "twine", "check", "--strict", sdist, wheel, cwd=self.folder)
        with tarfile.open(sdist) as packed:
            inside = {name.partition("/")[2] for name in packed.getnames()}
            packed.extractall(self.folder / "unpacked", filter="data")
        if missing := sorted({*names} - inside):
            raise Failed(f"not in the sdist: {missing}")
        with zipfile.ZipFile(wheel) as packed_wheel:
            shipped = packed_wheel.namelist()
        for wanted in ("NOTICE.md", "LICENSE", "assets/panzoom/LICENSE"):
            if not any(name.endswith(f"licenses/{wanted}") for name in shipped):
                raise Failed(f"not in the wheel: {wanted}")
        assets = {name.partition("_app/")[2] for name in shipped if "/assets/" in name}
        if missing := [name for name in names if name.startswith("assets/") and name not in assets]:
            raise Failed(f"not in the wheel: {missing}")
        say(f"built: {sdist.name} with all {len(names)} files, {wheel.name}; twine takes both")
        return sdist, wheel

    def desk(self, name: str) -> Path:
        """Return an empty folder to work in, with small files to work on."""
        folder = self.folder / f"desk-{name}"
        folder.mkdir()
        (folder / "text.txt").write_text("the undesirable houses\n" * 20)
        words = ("houses", "undesirable", "desirable", "house", "unable", "able")
        counts = "".join(f"{word}\t{9 - number}\n" for number, word in enumerate(words))
        (folder / "counts.tsv").write_text(counts)
        return folder

    def extra(self, package: Path, extra: str) -> None:
        """Install a package with one extra, and use what it is for."""
        name = extra or package.suffix.removeprefix(".")
        named = f"morphgraph[{extra}] @ {package.as_uri()}" if extra else str(package)
        bin_, desk = self.environment(name, named), self.desk(name)
        if extra == "workbooks":
            run(bin_ / "python", "-c", _WORKBOOK, cwd=desk)
        server = None
        if any("{address}" in command for command in COMMANDS[extra]):
            port = free_port()
            command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            server = subprocess.Popen(command, cwd=desk, **quiet)
            answers(f"http://127.0.0.1:{port}/")
        try:
            for line in COMMANDS[extra]:
                filled = line.format(address=f"http://127.0.0.1:{port}" if server else "")
                run(bin_ / "morphgraph", *filled.split(), cwd=desk)
        finally:
            if server:
                server.kill()
                server.wait()
        if extra in PYTHON:
            run(bin_ / "python", "-c", PYTHON[extra], cwd=desk)
        if not extra:
            self.readme(bin_, desk)
        if extra == "app":
            self.app(bin_, desk)
        run(bin_ / "pip", "check", cwd=desk)
        said = "; ".join(f"`morphgraph {line}`" for line in COMMANDS[extra])
        also = {"": "; the README's Python", "app": "; `morphgraph app` answers"}.get(extra, "")
        also += "; AutoTokenizer loads it" if extra in PYTHON else ""
        say(f"installed: {package.name}{f' [{extra}]' if extra else ''}: {said}{also}")

    def readme(self, bin_: Path, desk: Path) -> None:
        """Run the README's Python."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        [code] = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        printed = run(bin_ / "python", "-c", code, cwd=desk).split()
        if not 0 < float(printed[-3]) < float(printed[-2]) < 1:
            raise Failed(f"the README's Python printed {printed}")

    def app(self, bin_: Path, desk: Path) -> None:
        """Start the app, and wait for its page."""
        port = free_port()
        command = [str(bin_ / "morphgraph"), "app", "--headless", "--port", str(port)]
        process = subprocess.Popen(command, cwd=desk, stdout=subprocess.DEVNULL)
        try:
            answers(f"http://127.0.0.1:{port}/_stcore/health")
            if b"<html" not in answers(f"http://127.0.0.1:{port}/"):
                raise Failed("the app's first page is no page")
        finally:
            process.terminate()
            process.wait(timeout=20)

    def make(self, target: str) -> None:
        """Make a target of the Makefile in the unpacked sdist."""
        [folder] = (self.folder / "unpacked").iterdir()
        path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        said = run("make", target, f"PYTHON={sys.executable}", cwd=folder, PATH=path)
        found = re.findall(r"^\d+ (?:passed|tables).*$", said, re.M)
        if target == "site":
            found = [f"{len(list((folder / 'site').rglob('*.html')))} pages"]
        say(f"`make {target}` in the unpacked sdist: {found[-1] if found else said[-200:]}")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(address: str) -> bytes:
    """Return what is at an address, once something answers there."""
    for _ in range(300):
        with suppress(OSError), urlopen(address, timeout=5) as answer:
            return bytes(answer.read())
        time.sleep(0.2)
    raise Failed(f"{address} does not answer")


def main() -> None:
    """Check all parts, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ["wheel", "sdist", *filter(None, COMMANDS), *MADE]
    parser.add_argument("--only", action="append", choices=parts, help="may be repeated")
    chosen = parser.parse_args().only or parts
    started = time.monotonic()
    failed = []
    with tempfile.TemporaryDirectory(prefix="morphgraph-release-") as folder:
        check = Check(Path(folder))
        sdist, wheel = check.build()
        for part in chosen:
            try:
                if part in MADE:
                    check.make(MADE[part])
                elif part in ("wheel", "sdist"):
                    check.extra(wheel if part == "wheel" else sdist, "")
                else:
                    check.extra(wheel, part)
            except Failed as failure:
                failed.append(part)
                say(f"FAILED {part}: {failure}")
            shutil.rmtree(check.folder / f"venv-{part}", ignore_errors=True)
    for what, why in NOT_CHECKED.items():
        say(f"not checked: {what} ({why})")
    minutes, hold = (time.monotonic() - started) / 60, len(chosen) - len(failed)
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"{hold} of {len(chosen)} parts hold; Python {version}, {minutes:.0f} minutes")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
