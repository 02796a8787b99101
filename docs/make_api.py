"""Write docs/api.md from the docstrings, and the tables of methods in docs/remedies.md and
docs/training.md from the registry: `python docs/make_api.py`.
"""

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SOURCES = ("api", "tables/views", "draw/pictures")
HEAD = """# The library in a notebook

`import morphgraph as mg` offers `mg.load`, `mg.read_gold`, `mg.compare`, `mg.transplant`,
`mg.undertrained` and `mg.MorphGraphError`; all else is a method of what these return.
[notebook.ipynb](notebook.ipynb) goes through it. This page is made from the docstrings by
`python docs/make_api.py`.
"""

Named = ast.FunctionDef | ast.ClassDef


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for source in SOURCES:
        tree = ast.parse((DOCS.parent / f"morphgraph/{source}.py").read_text(encoding="utf-8"))
        for node in public(tree.body):
            name = f"mg.{node.name}" if isinstance(node, ast.FunctionDef) else node.name
            parts.append(f"## {heading(node, name)}\n\n{text(node)}\n")
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(b) for b in node.bases if not ast.unparse(b).startswith("_")]
                if bases:
                    parts.append(f"It is also a `{bases[0]}`, with all that this has.\n")
                parts += [f"### {heading(n, n.name)}\n\n{text(n)}\n" for n in public(node.body)]
    return "\n".join(parts)


def public(body: list[ast.stmt]) -> Iterator[Named]:
    """What has a name without an underscore, and a docstring."""
    for node in body:
        if isinstance(node, Named) and not node.name.startswith("_") and ast.get_docstring(node):
            yield node


def heading(node: Named, name: str) -> str:
    """A name with its parameters, without those of no interest."""
    if isinstance(node, ast.ClassDef) or any(
        "property" in ast.dump(d) for d in node.decorator_list
    ):
        return f"`{name}`"
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    returns = f" → {ast.unparse(node.returns)}" if node.returns else ""
    return f"`{name}({arguments}){returns}`".replace("'", "").replace('"', "")


def text(node: Named) -> str:
    """A docstring as Markdown."""
    found = cleandoc(ast.get_docstring(node) or "")
    return re.sub(r"``(.+?)``", r"`\1`", found, flags=re.S)


MADE_OF = {
    "merges": "merges",
    "vocabulary": "a vocabulary",
    "segmenter": "any segmentation",
    "training": "a model of it",
    "gold": "merges and gold",
}


def methods() -> str:
    """The table of all methods that segment."""
    from morphgraph.methods import METHODS
    from morphgraph.tokeniser.words import spelled

    rows = [("method", "title", "what it does", "parameters", "made of", "source")]
    for name in (*METHODS.segmenting, *METHODS.learning):
        method = METHODS[name]
        given = [
            f"`{key}`" if field.default is None else f"`{key}={spelled(field.default)}`"
            for key, field in method.fields.items()
        ]
        made_of = MADE_OF[method.needs] + (" and word counts" if method.counts else "")
        listed = ", ".join(given)
        rows.append((f"`{name}`", method.title, method.does, listed, made_of, method.source))
    return table(rows)


def trainers() -> str:
    """The table of all ways to train."""
    from morphgraph.methods import METHODS
    from morphgraph.segment.training import training_of

    rows = [("method", "what comes out", "what it does", "parameters")]
    for name in METHODS.trained:
        method, training = training_of(name)
        fields = training.parameters.model_fields.items()
        listed = ", ".join(f"`{key}={field.default}`" for key, field in fields)
        rows.append((f"`{name}`", method.title, training.description, listed))
    return table(rows)


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as Markdown, the first of them as the header."""
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "| " + " | ".join("---" for _ in rows[0]) + " |", *others])


def with_table(document: str, made: str) -> str:
    """A page with another table between its marks."""
    begin, end = "<!-- from the registry -->\n", "<!-- end -->"
    before, _, rest = document.partition(begin)
    return before + begin + made + "\n" + end + rest.partition(end)[2]


TABLES = {"remedies.md": methods, "training.md": trainers}
"""What makes the table of each page that has one from a registry."""

if __name__ == "__main__":
    (DOCS / "api.md").write_text(page(), encoding="utf-8")
    for name, made in TABLES.items():
        path = DOCS / name
        path.write_text(with_table(path.read_text(encoding="utf-8"), made()), encoding="utf-8")
