"""What distributions add by entry points, ours among them, written ``name = module:OBJECT``."""

import warnings
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from morphgraph.core.errors import MorphGraphError

Entry = TypeVar("Entry")

_OURS = "morphgraph."


@cache
def installed() -> Any:
    """Look up the entry points of all installed distributions, once: `EntryPoints`."""
    known = entry_points()
    if "morphgraph.methods" not in known.groups:
        raise MorphGraphError(
            "morphgraph is not installed, or an earlier version is, so its methods, readers and "
            "metrics are not found. Run pip install -e . in its folder."
        )
    return known


def namespace(name: str) -> object:
    """Load what a plug-in offers as ``mg.NAME``; `AttributeError` if there is none."""
    for entry in installed().select(group="morphgraph.namespaces", name=name):
        try:
            return entry.load()
        except Exception as error:  # which tools that list attributes do not expect
            problem = f"cannot be loaded: {type(error).__name__}: {error}"
            raise AttributeError(f"the plug-in {name} = {entry.value} {problem}") from error
    fix = ""
    if name in _IN_EXTRAS:
        fix = f", as its plug-in is missing here. Run: pip install 'morphgraph[{name}]'"
    raise AttributeError(f"module 'morphgraph' has no attribute {name!r}{fix}")


_IN_EXTRAS = ("corpora", "doctor", "models")
"""Names that an extra of the same name brings."""


def code_files(module: str) -> list[Path]:
    """Return the Python files of the package that a module is in, without importing it."""
    spec = find_spec(module.partition(".")[0])
    folders = spec.submodule_search_locations if spec is not None else ()
    if folders is None:
        return [Path(str(spec.origin))] if spec is not None and spec.has_location else []
    return [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]


class Registry(MutableMapping[str, Entry], Generic[Entry]):
    """The entries of a group by name, each loaded when it is first looked at.

    Ours come first, in the order of ``first`` and then by name; so do those of others after them.
    Of several with the same name the first counts. What cannot be loaded, or is not of the
    ``kind``, is left out with a Python warning that names it.
    """

    def __init__(self, group: str, kind: type[Entry], first: Sequence[str] = ()) -> None:
        self._group, self._kind, self._first = group, kind, tuple(first)

    @cached_property
    def _known(self) -> dict[str, Any]:
        """Entries that are loaded, and entry points of the others."""

        def place(entry: EntryPoint) -> tuple[bool, int, str]:
            is_first = entry.name in self._first
            order = self._first.index(entry.name) if is_first else len(self._first)
            return not entry.value.startswith(_OURS), order, entry.name

        known: dict[str, Any] = {}
        for entry in sorted(installed().select(group=self._group), key=place):
            if known.setdefault(entry.name, entry) is not entry:
                _leave_out(entry, "its name is taken")
        return known

    @property
    def places(self) -> dict[str, str]:
        """Where each entry that is not yet loaded is, as ``module:OBJECT``; "" for the others."""
        return {name: getattr(entry, "value", "") for name, entry in self._known.items()}

    def __getitem__(self, name: str) -> Entry:
        entry = self._known[name]
        if isinstance(entry, self._kind):
            return entry
        try:
            loaded = self._known[name] = self._load(entry)
        except Exception as error:
            if entry.value.startswith(_OURS):
                raise
            del self._known[name]
            _leave_out(entry, f"{type(error).__name__}: {error}")
            raise KeyError(name) from error
        return loaded

    def _load(self, entry: EntryPoint) -> Entry:
        loaded = entry.load()
        if not isinstance(loaded, self._kind):
            raise TypeError(f"it is a {type(loaded).__name__}, not a {self._kind.__name__}")
        return loaded

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._known[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter(self._known)

    def __len__(self) -> int:
        self.load()
        return len(self._known)

    def load(self) -> None:
        """Load all, so that afterwards none is listed that is broken."""
        for name in list(self._known):
            self.get(name)


def _leave_out(entry: EntryPoint, problem: str) -> None:
    warnings.warn(
        f"The plug-in {entry.name} = {entry.value} of {entry.group} is left out: {problem}. Update "
        "or remove its package.",
        stacklevel=2,
    )
