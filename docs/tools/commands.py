"""docs/reference/commands.md: every command, its arguments and options, as `--help` has them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from docs.tools import from_template, markdown_table
from morphgraph import cli
from morphgraph.cli import options
from morphgraph.segment.method import METHODS

GROUPS = {
    "Scores and comparisons": ("score", "compare", "vocabulary", "segment"),
    "Edits": ("blame", "knockout", "rebpe", "prune", "extend"),
    "Files for others": ("export", "diff"),
    "Words, training, gold": (
        "count",
        "train",
        "reference show",
        "reference list",
        "reference get",
        "reference silver",
    ),
    "What runs for long": ("evaluate", "app"),
}
"""All commands of morphgraph itself; those of plug-ins have pages of their own."""

_LISTED = {
    "offered": "any of [the methods](../how/methods.md) that need no training",
    "segmenting": "any of [the methods](../how/methods.md)",
    "trained": "any of [the methods of training](../how/training.md)",
    "scored": "any of [the methods](../how/methods.md), knockout and rebpe included",
    "learning": "knockout, rebpe and the like",
}
"""What stands for a list of methods, which is longer the more plug-ins there are."""


def page() -> str:
    """Return the whole page."""
    every, parts = everywhere(), list[str]()
    known = dict(commands(typer.main.get_command(cli.program)))
    for title, names in GROUPS.items():
        parts += [f"## {title}\n", *(_section(name, known[name], every) for name in names)]
    listed = "\n".join(parts).rstrip("\n")
    return from_template("commands.md", everywhere=markdown_table(_rows(every)), commands=listed)


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all commands with their names, those of groups too."""
    if not hasattr(group, "list_commands"):
        yield name.strip(), group
        return
    for inner in group.list_commands(None):
        yield from commands(group.get_command(None, inner), f"{name} {inner}")


def everywhere() -> dict[str, tuple[str, str]]:
    """Return what means the same in all commands: how it is written, and what it does."""
    shared = options._SHARED
    written = {
        "tokeniser": "TOKENISER",
        "gold": "GOLD",
        "read": "--read NAME=VALUE,…",
        "frequencies": "--frequencies COUNTS",
        "counts": "--counts COUNTS",
        "bare": "--bare",
        "recipe": "--recipe FILE",
        "scheduler": "--scheduler ADDRESS",
        "as_json": "--json",
    }
    told = {name: (text, _told(shared[name])) for name, text in written.items()}
    fetched = "Fetch a tokeniser that is a name on the hub: its files, no weights and no code."
    return told | {"download": ("--download", fetched)}


def _rows(every: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    head = ("argument or option", "what it means")
    return [head, *((f"`{written}`", text) for written, text in every.values())]


def _section(name: str, command: Any, every: dict[str, tuple[str, str]]) -> str:
    about, _, more = command.help.partition("\n")
    rows, shared = [("argument or option", "if not given", "what it does")], list[str]()
    usage = [f"morphgraph {name}"]
    for each in command.params:
        written = _written(each)
        if each.param_type_name == "argument":
            usage.append(written if each.required else f"[{written}]")
        elif each.required:
            usage.append(written)
        text = _told(each.help or "")
        if each.hidden or text.split(":")[0] == every.get(each.name, ("", "-"))[1].split(":")[0]:
            shared.append(f"`{written.split()[0].strip('…')}`")
        else:
            rows.append((_code(written), _default(each), text))
    lines = [f"### `morphgraph {name}`", about]
    lines += [re.sub(r"\s+", " ", more).strip()] if more.strip() else []
    lines.append(f"```text\n{' '.join([*usage, '[OPTION…]'])}\n```")
    lines += [markdown_table(rows)] if len(rows) > 1 else []
    lines += [f"And, as [everywhere](#everywhere): {', '.join(shared)}."] if shared else []
    return "\n\n".join(lines) + "\n"


def _written(parameter: Any) -> str:
    """How an argument or option is written: ``GOLD…``, ``--scope morphemic|whole-word``."""
    kind = parameter.type_descriptor.annotation
    many = parameter.nargs == -1
    if parameter.param_type_name == "argument":
        return f"{parameter.metavar}{'…' if many else ''}"
    name = "/".join([*parameter.opts, *parameter.secondary_opts])
    values = {bool: "", int: " N", float: " X", Path: " PATH", str: " TEXT"}
    if parameter.metavar:
        return f"{name} {parameter.metavar}"
    if get_origin(kind) is Literal:
        return f"{name} {'|'.join(map(str, get_args(kind)))}"
    return f"{name}{values.get(kind, ' TEXT')}"


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or parameter.required or value == ():
        return ""
    return "yes" if value is True else f"`{value}`"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _told(text: str) -> str:
    """Return a help without its lists of methods, as Markdown in a cell."""
    lists = {name: options._METHODS[name] for name in _LISTED}
    for name, listed in sorted(lists.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(listed, _LISTED[name])
    text = text.replace(f"For {', '.join(METHODS.able('counts'))}:", "For methods that need them:")
    text = re.sub(r"\s+", " ", text).replace("|", "\\|").replace("*", "\\*")
    return text[:1].upper() + text[1:] if text.startswith("any of [") else text
