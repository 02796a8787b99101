"""Run what the pages show, and write down what it prints: `python -m docs.tools.examples PAGE…`.

A block ``console`` has lines ``$ morphgraph …`` above what each prints. A block ``python`` prints
what the block ``text`` right below it shows. All of a page run in one empty folder, in order,
and all its Python in one namespace. A line ``…`` at the end of an output leaves out what comes
after it. Blocks in other languages are not run.
"""

import io
import math
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from docs.tools import DOCS
from morphgraph import cli
from morphgraph.cli import output

# Of plug-ins those that need no torch.
_PATTERNS = ("start.md", "answers/*.md", "how/*.md", "../plugins/morphgraph-[cr]*/docs/*.md")
PAGES = sorted(path.resolve() for pattern in _PATTERNS for path in DOCS.glob(pattern))
"""Those that are run whole, by tests too."""

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)


def renewed(page: str) -> str:
    """Return a page with the outputs that its commands and its Python have now."""
    names: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        language, code, shown = block.groups()
        if language == "console":
            return block[0].replace(code, _session(code), 1)
        printed = _printed(lambda: exec(compile(code, "<page>", "exec"), names))
        text = "" if shown is None else f"\n```text\n{_cut(printed, shown)}```\n"
        return f"```python\n{code}```\n{text}"

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return _BLOCK.sub(run, page)


def _session(code: str) -> str:
    """The commands of a console block, each above what it prints now."""
    told = []
    for command, shown in re.findall(r"^\$ (.*?(?:\\\n.*?)*)\n((?:(?!\$ ).*\n)*)", code, re.M):
        told.append(f"$ {command}\n{_cut(_command(command), shown)}")
    return "".join(told)


def _cut(printed: str, shown: str) -> str:
    """What was printed, as far as the page shows it."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    lines = [line for line in lines if not line.startswith("preparing ")]  # kernels, once
    wanted = shown.splitlines()
    if wanted and wanted[-1] == "…" and len(lines) >= len(wanted):
        lines = [*lines[: len(wanted) - 1], "…"]
    return "".join(f"{line}\n" for line in lines)


def _command(line: str) -> str:
    """What one command prints, both streams as one."""
    program, *arguments = shlex.split(line.replace("\\\n", " "), comments=True)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    if program == "printf" and arguments[-2] == ">":
        text = arguments[0].encode("latin-1", "backslashreplace").decode("unicode_escape")
        Path(arguments[-1]).write_text(text, encoding="utf-8")
        return ""
    if program != "morphgraph":
        raise ValueError(f"{line}: only morphgraph, cat FILE and printf '…' > FILE are run")

    def run() -> None:
        with patch.object(sys, "argv", ["morphgraph", *arguments]):
            try:
                cli.main()
            except SystemExit as ended:
                if ended.code:
                    print(f"(ends with {ended.code})")

    return _printed(run)


def _printed(run: Callable[[], object]) -> str:
    kept = io.StringIO()
    screen = {"COLUMNS": "96", "TERM": "dumb", "NO_COLOR": "1"}
    with (
        patch.dict(os.environ, screen),
        patch.object(output, "BETWEEN_LINES", math.inf),  # none of how long it takes
        redirect_stdout(kept),
        redirect_stderr(kept),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        run()
    return kept.getvalue()


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else PAGES:
        text = path.read_text(encoding="utf-8")
        try:
            new = renewed(text)
        except Exception as error:
            print(f"{path}: {type(error).__name__}: {error}")
            continue
        print(f"{path}: {'as it was' if new == text else 'renewed'}")
        path.write_text(new, encoding="utf-8")
