"""What makes the parts of the documentation that come from code, results or the app."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent


def markdown_table(rows: Iterable[Sequence[str]], texts: int | None = None) -> str:
    """Format rows as Markdown, the first as the header; columns after some ``texts`` are numbers.

    >>> print(markdown_table([("name", "F1"), ("BPE", "0.5")], texts=1))
    | name | F1 |
    | --- | --: |
    | BPE | 0.5 |
    """
    head, *others = rows
    texts = len(head) if texts is None else texts
    rule = ["---"] * texts + ["--:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *others))


def from_template(name: str, **parts: Any) -> str:
    """Return a file made of the text of a template, and of parts that come from code."""
    import jinja2  # not among what `make site` needs

    text = (DOCS / "tools" / "templates" / f"{name}.j2").read_text(encoding="utf-8")
    template = jinja2.Template(text, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    return template.render(parts)
