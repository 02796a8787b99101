"""The files of a tokeniser as bytes, within limits: from a path, a folder, uploads or a demo."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import (
    decode_utf8,
    demo_tokeniser_path,
    parse_json,
    read_bytes,
)
from morphgraph.core.limits import FILE_BYTES
from morphgraph.core.packed import unpacked
from morphgraph.core.signatures import START, recognised
from morphgraph.formats.completing import read_settings
from morphgraph.formats.gguf import MAGIC
from morphgraph.formats.hub import folder_on_hub
from morphgraph.formats.listed_types import check_lines

Given = str | os.PathLike[str] | Mapping[str, bytes]
"""A path, a folder, ``demo:en``, a name on a hub, or the contents of uploaded files by name."""

SETTINGS = ("config.json", "special_tokens_map.json", "added_tokens.json", "tokenizer_config.json")
"""The files beside a tokeniser that say more about it."""
TEMPLATE = "chat_template.jinja"
_MORE_TEMPLATES = "additional_chat_templates"
_USUAL = (
    *("tokenizer.json", "tokeniser.bte.json", "tokeniser.method.json", "vocab.json", "vocab.txt"),
    *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model"),
)
_NAMED = (
    *(*_USUAL, "*vocab*.json", "*vocab*.txt", "*.model", "*.model.v*", "*.tiktoken", "*.gguf"),
    "*merges*.txt",
)
"""The names of files that hold a folder's tokeniser, the first of them before others."""
_FETCHED = (*{*_NAMED} - {"*.gguf"}, "tekken.json", *SETTINGS, TEMPLATE, f"{_MORE_TEMPLATES}/*")
"""What is fetched from a hub: no weights."""
_PERHAPS = ("*.json", "*.bpe", "*codes*", "*vocab*.txt.gz")
"""The names of files that may hold one."""

GIVE_TOGETHER = "Give a tokenizer.json, or vocab.json and merges.txt together, with matching names."

_LIKE_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*[\[{\"])|\xff\xfe|\xfe\xff")
"""The start of JSON, or of a text that is no UTF-8."""
_JSON_START = re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*(\"[^\r\n]|\}\s*$)")


@dataclass(frozen=True)
class TokeniserFiles:
    """The file of a tokeniser and those that may belong to it, each read when it is needed.

    ``main``: the name of the file that decides; ``names``: of all; ``content``: of a file, by its
    name; ``place``: what is before a name in errors; ``pattern``: how text is cut into pieces,
    where the file does not say.
    """

    main: str
    names: Collection[str]
    content: Callable[[str], bytes]
    place: str = ""
    pattern: str | None = None

    @property
    def name(self) -> str:
        """The name of the file that decides, in errors."""
        return self.place + self.main

    @property
    def companion(self) -> str:
        """The other one of a vocabulary and its merges, if it is there; else empty."""
        other = fitting_name(self.main)
        return other if other in self.names else ""

    @cached_property
    def data(self) -> bytes:
        """The content of the file that decides; an error for a format that holds no tokeniser."""
        data = self.content(self.main)
        what, fix = recognised(data, "tokeniser")
        if what:
            raise FileFormatError(self.name, "", f"this is {what}", fix)
        return data

    @cached_property
    def parsed(self) -> Any:
        """The content as JSON, parsed once; None if it does not look like any."""
        if not self.main.endswith(".json") and not _JSON_START.match(self.data):
            return None
        if not _LIKE_JSON.match(self.data):
            check_lines(self.data, self.name)
        return parse_json(self.data, self.name)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of an object of JSON; empty for anything else."""
        return self.parsed if isinstance(self.parsed, dict) else {}

    def settings(self) -> dict[str, Any]:
        """Return what the files beside the tokeniser say; empty if there are none."""
        there = [name for name in SETTINGS if name in self.names]
        parsed = {name: parse_json(self.content(name), self.place + name) for name in there}
        settings = read_settings(parsed, self.place)
        if TEMPLATE in self.names:
            template = decode_utf8(self.content(TEMPLATE), self.place + TEMPLATE)
            more = [name for name in self.names if name.startswith(_MORE_TEMPLATES)]
            named = {"default": template} | {
                Path(name).stem: decode_utf8(self.content(name), self.place + name) for name in more
            }
            as_listed = [{"name": name, "template": text} for name, text in named.items()]
            settings["chat_template"] = as_listed if more else template
        return settings

    def mains(self, patterns: Iterable[str] = _NAMED) -> Iterator[str]:
        """Yield the names that may be of a tokeniser's file, without companions."""
        seen = {*SETTINGS}
        for pattern in patterns:
            for name in sorted(self.names):
                if name not in seen and fnmatch(name, pattern):
                    seen |= {name, fitting_name(name)}
                    yield name


def located(given: Given, is_model: Callable[[TokeniserFiles], bool]) -> TokeniserFiles:
    """Return the files of what is given; ``is_model``: whether one of any name is a tokeniser's.

    Errors: `FileFormatError`.
    """
    if isinstance(given, Mapping):
        return _uploaded(given)
    if str(given).startswith("demo:"):
        language = str(given).removeprefix("demo:")
        path = demo_tokeniser_path(language)
        return TokeniserFiles(language, [language], lambda _: read_bytes(path), "demo:")
    path = folder_on_hub(given, (*_USUAL, "tekken.json"), _FETCHED) or Path(given)
    if not os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir, never raises
        return _beside(path, _USUAL[1:])
    files = _in_folder(path)
    perhaps = (replace(files, main=name) for name in files.mains(_PERHAPS))
    main = next(files.mains(), "") or next((one.main for one in perhaps if is_model(one)), "")
    if not main:
        raise FileFormatError(str(path), "", "the folder holds no tokeniser", GIVE_TOGETHER)
    return replace(files, main=main)


def _uploaded(files: Mapping[str, bytes]) -> TokeniserFiles:
    mains = [name for name in files if name not in (*SETTINGS, TEMPLATE)]
    main, *more = mains or [*files] or [""]
    if not main or (more and more != [fitting_name(main)]):
        listed = ", ".join(files) or "no file"
        raise FileFormatError(listed, "", "these are not the files of one tokeniser", GIVE_TOGETHER)
    return TokeniserFiles(main, files, lambda name: unpacked(files[name], name))


def _beside(path: Path, usual: Collection[str]) -> TokeniserFiles:
    """Return a file, with those beside it that belong to it by name.

    A tokenizer.json that is named by itself says all that counts; ``usual``: names of others.
    """
    companion = fitting_name(path.name)
    names = {*SETTINGS, TEMPLATE} if companion or path.name in usual else set()
    names |= {companion} - {""}
    there = {name for name in names if os.path.isfile(path.with_name(name))}  # noqa: PTH113
    return _on_disk(path.parent, path.name, {path.name, *there})


def _in_folder(path: Path) -> TokeniserFiles:
    try:
        with os.scandir(path) as entries:
            return _on_disk(path, "", [entry.name for entry in entries if entry.is_file()])
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        fix = "Check its permissions."
        raise FileFormatError(str(path), "", problem, fix, quotes=False) from error


def _on_disk(folder: Path, main: str, names: Collection[str]) -> TokeniserFiles:
    place = "" if str(folder) == "." else f"{folder}{os.sep}"
    more = sorted(folder.glob(f"{_MORE_TEMPLATES}/*.jinja")) if TEMPLATE in names else []
    names = [*names, *(f"{_MORE_TEMPLATES}/{path.name}" for path in more)]
    return TokeniserFiles(main, names, lambda name: _content(folder / name), place)


def _content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked; the first of one that may hold a whole model.

    These are GGUF, whose head has the tokeniser, and weights, which are then known by their start.
    """
    most = min(FILE_BYTES.value, FILE_BYTES.public)
    with suppress(OSError):
        if os.path.isfile(path) and os.path.getsize(path) > most:  # noqa: PTH113, PTH202
            with path.open("rb") as file:
                start = file.read(START)
                if start.startswith(MAGIC) or recognised(start, "tokeniser")[0]:
                    return start + file.read(most)
    return unpacked(read_bytes(path), str(path))


def fitting_name(name: str) -> str:
    """Return the companion's name of a ``vocab.json`` or ``merges.txt``; empty for others."""
    path = Path(name)
    for suffix, word, other in ((".txt", "merges", "vocab"), (".json", "vocab", "merges")):
        if path.suffix == suffix and word in name:
            ending = ".json" if suffix == ".txt" else ".txt"
            return path.with_name(path.name.replace(word, other)).with_suffix(ending).name
    return ""


def settings_beside(source: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the settings in a tokeniser's folder, or beside its file; empty if there are none.

    Errors: `FileFormatError`.
    """
    if str(source).startswith("demo:") or not os.path.exists(source):  # noqa: PTH110
        return {}
    path = Path(source)
    is_folder = os.path.isdir(path)  # noqa: PTH112
    return (_in_folder(path) if is_folder else _beside(path, _USUAL)).settings()
