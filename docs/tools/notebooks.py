"""Run the notebooks, and store what they show: `python -m docs.tools.notebooks`.

With a folder, `python docs/tools/notebooks.py build/docs`, it writes each as a page of the site
that is built there, with its outputs, and lets all pages link to these pages. That needs the
standard library alone.
"""

import ast
import io
import json
import re
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
LARGEST = 60_000
"""Characters of a picture or table that is stored; of larger ones only the name is."""

_SHOWN = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def renewed(text: str) -> str:
    """Return a notebook with the outputs that its cells have now."""
    notebook, names = json.loads(text), {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [each for each in notebook["cells"] if each["cell_type"] == "code"]
        for number, cell in enumerate(cells, 1):
            cell["execution_count"] = number
            cell["outputs"] = _outputs("".join(cell["source"]), names, number)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line."""
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(last, "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
    if value is not None:
        data = {"text/plain": repr(value)}
        for kind, way in _SHOWN.items():
            shown = getattr(value, way, str)()
            if hasattr(value, way) and len(shown) <= LARGEST:
                data[kind] = shown
        outputs.append({"data": data, "execution_count": number, "metadata": {}})
        outputs[-1]["output_type"] = "execute_result"
    return outputs


def page(text: str) -> str:
    """Return a notebook as a page in Markdown, with its stored outputs."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text")})
            drawn = [f'<div class="notebook">{data[kind]}</div>' for kind in _SHOWN if kind in data]
            plain = f"```text\n{data['text/plain'].rstrip()}\n```"
            # Markdown takes a block of HTML to its first empty line.
            parts.append(re.sub(r"\n\s*\n", "\n", drawn[0]) if drawn else plain)
    return "\n\n".join(parts) + "\n"


def add_pages(site: Path) -> None:
    """Write the pages into a copy of the repository's documentation."""
    for path in NOTEBOOKS:
        text = page(path.read_text(encoding="utf-8"))
        (site / "docs" / "notebooks" / f"{path.stem}.md").write_text(text, encoding="utf-8")
    for path in site.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(?<=notebooks/)(\w+)\.ipynb\)", r"\1.md)", text), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        add_pages(Path(sys.argv[1]))
    else:
        for path in NOTEBOOKS:
            path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
