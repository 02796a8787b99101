"""Write docs/reference from the code, and the tables of methods in pages from the registry:
`python -m docs.tools.api`. docs/reference/api.md is made here, from the docstrings.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import morphgraph as mg
from docs.tools import DOCS, commands, formats, markdown_table, settings
from docs.tools.settings import of
from morphgraph.core.glossary import GLOSSARY
from morphgraph.segment.method import METHODS
from morphgraph.segment.training import training_of
from morphgraph.tokeniser.words import spelled

SHARED = (mg.GoldSet, mg.Export, mg.RunOutcome)
"""Classes also used internally: only their methods with an example are public."""
HEAD = """# The library in a notebook

```python
from pathlib import Path

import morphgraph as mg

tokeniser = mg.load("demo:en")
gold = mg.read_gold("demo:en")
Path("text.txt").write_text("The houses stand there.\\n")
```

All examples start from there. `mg` offers the functions below, and the classes for type hints.
`mg.METHODS` has all methods by name, and all errors are `mg.MorphGraphError`.
[Models](../../plugins/morphgraph-models/docs/models.md) are in a plug-in, as `mg.models`.
Notebooks to run: [look](../notebooks/look.ipynb), [repair](../notebooks/repair.ipynb),
[compare](../notebooks/compare.ipynb).

`python -m docs.tools.api` makes this page from the docstrings.
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for name, thing in documented().items():
        level = "##" if name.startswith("mg.") else "###"
        shown = f"{signature(name, thing)}\n\n" if inspect.isfunction(thing) else ""
        parts.append(f"{level} `{name}`\n\n{shown}{text(thing)}\n")
    return "\n".join(parts)


def documented() -> dict[str, Any]:
    """Yield all public names, functions first: ``mg.load``, ``Tokeniser.encode``."""
    offered = {name: getattr(mg, name) for name in mg.__all__}
    functions = {n: each for n, each in offered.items() if inspect.isfunction(each)}
    classes = {
        name: each
        for name, each in sorted(offered.items(), key=lambda pair: pair[0] != "Tokeniser")
        if inspect.isclass(each) and each is not mg.MorphGraphError
    }
    public = {f"mg.{name}": each for name, each in functions.items()}
    for name, kind in classes.items():
        public[f"mg.{name}"] = kind
        public |= {f"{name}.{member}": each for member, each in members(kind)}
    return public


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, inherited ones first."""
    for base in reversed(kind.__mro__):
        for name, each in vars(base).items():
            is_public = callable(each) or isinstance(each, property)
            is_shown = kind not in SHARED or ">>>" in (each.__doc__ or "")
            if is_public and is_shown and not name.startswith("_"):
                yield name, each


def signature(name: str, function: Any) -> str:
    """Format a function with its parameters as code, on several lines if they are many."""
    shown = re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", str(inspect.signature(function)))
    shown = re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", shown)
    shown = f"{name}{shown}".replace("(self, ", "(").replace("(self)", "()")
    if len(shown) > 88:
        opened, rest = shown.split("(", 1)
        given, closed = rest.rsplit(") -> ", 1)
        given = re.sub(r", (?=\*|\w+[:=])", ",\n    ", given)
        shown = f"{opened}(\n    {given},\n) -> {closed}"
    return f"```python\n{shown}\n```"


def text(thing: Any) -> str:
    """Format a docstring as Markdown, with its examples as code."""
    markdown = re.sub(r"``(.+?)``", r"`\1`", inspect.cleandoc(thing.__doc__ or ""), flags=re.S)
    prose, _, examples = markdown.partition("\n>>> ")
    if not examples:
        return prose
    lines = re.sub(r"  # doctest: \+\w+", "", f">>> {examples}")
    return f"{prose.strip()}\n\n```python\n{lines}\n```"


INPUT_NEEDED = {
    "merges": "merges",
    "vocabulary": "a vocabulary",
    "segmenter": "any segmentation",
    "training": "a model of it",
    "gold": "merges and gold",
}


def methods(package: str) -> str:
    """Return the table of a package's methods that segment."""
    rows = [("method", "title", "what it does", "parameters", "made of", "source")]
    for name in of(package, *METHODS.segmenting, *METHODS.learning):
        method = METHODS[name]
        given = [
            f"`{key}`" if field.default is None else f"`{key}={spelled(field.default)}`"
            for key, field in method.fields.items()
        ]
        input_needed = INPUT_NEEDED[method.needs] + (" and word counts" if method.counts else "")
        listed = ", ".join(given)
        rows.append((f"`{name}`", method.title, method.does, listed, input_needed, method.source))
    return markdown_table(rows)


def trainers(package: str) -> str:
    """Return the table of a package's training methods."""
    rows = [("method", "what comes out", "what it does", "parameters")]
    for name in of(package, *METHODS.trained):
        method, training = training_of(name)
        fields = training.parameters.model_fields.items()
        listed = ", ".join(f"`{key}={field.default}`" for key, field in fields)
        rows.append((f"`{name}`", method.title, training.description, listed))
    return markdown_table(rows)


def with_table(name: str, *tables: str) -> str:
    """Return a page, by its name in the repository, with tables between its marks."""
    begin, end = "<!-- from the registry -->\n", "<!-- end -->"
    before, _, rest = (DOCS.parent / name).read_text(encoding="utf-8").partition(begin)
    return before + begin + "\n\n".join(tables) + "\n" + end + rest.partition(end)[2]


def glossary() -> str:
    """Return the page of terms, which are the app's helps, too."""
    terms = (
        f"## {name}\n\n{term.meaning}<br>\n{term.example}\n" for name, term in GLOSSARY.items()
    )
    return "# Glossary\n\n" + "\n".join(terms)


METHODS_PAGE, TRAINING_PAGE = "docs/how/methods.md", "docs/how/training.md"
REMEDIES_PAGE, REMEDIES = "plugins/morphgraph-remedies/docs/remedies.md", "morphgraph_remedies"
PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/api.md": page,
    "docs/reference/commands.md": commands.page,
    "docs/reference/settings.md": settings.page,
    "docs/reference/formats.md": formats.page,
    "docs/reference/catalogue.md": formats.catalogue_page,
    "docs/glossary.md": glossary,
    METHODS_PAGE: lambda: with_table(METHODS_PAGE, methods("morphgraph")),
    TRAINING_PAGE: lambda: with_table(TRAINING_PAGE, trainers("morphgraph")),
    REMEDIES_PAGE: lambda: with_table(REMEDIES_PAGE, methods(REMEDIES), trainers(REMEDIES)),
}
"""The functions that make pages, or renew their tables, by the pages' names in the repository."""

if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS.parent / name).write_text(made(), encoding="utf-8")
