"""Plug-ins: what other distributions add by entry points, written ``name = module:OBJECT``."""

import warnings
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from functools import cache, cached_property
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")

installed: Any = cache(entry_points)
"""The entry points of all installed distributions: `EntryPoints`, looked up once."""


def plugins(group: str, kind: type[Entry], taken: Collection[str] = ()) -> dict[str, Entry]:
    """Load what is installed in a group, by name.

    What fails to load, is not of the ``kind``, or has a name that is ``taken`` is left out, with a
    Python warning that names it.
    """
    loaded: dict[str, Entry] = {}
    found: EntryPoints = installed().select(group=group)
    for entry in found:
        try:
            made = entry.load()
        except Exception as error:  # of code that is not ours
            problem = f"{type(error).__name__}: {error}"
        else:
            if isinstance(made, kind) and entry.name not in taken:
                loaded[entry.name] = made
                continue
            is_other = f"it is a {type(made).__name__}, not a {kind.__name__}"
            problem = "its name is taken" if isinstance(made, kind) else is_other
        warnings.warn(
            f"The plug-in {entry.name} = {entry.value} of {group} is left out: {problem}. Update "
            "or remove its package.",
            stacklevel=2,
        )
    return loaded


def namespace(name: str) -> object:
    """Load the module that a plug-in offers as ``mg.NAME``; `AttributeError` if there is none."""
    for entry in installed().select(group="morphgraph.namespaces", name=name):
        return entry.load()
    fix = ""
    if name in _IN_EXTRAS:
        fix = f", as its plug-in is missing here. Run: pip install 'morphgraph[{name}]'"
    raise AttributeError(f"module 'morphgraph' has no attribute {name!r}{fix}")


_IN_EXTRAS = ("models",)
"""Namespaces that an extra of the same name brings."""


class Registry(MutableMapping[str, Entry], Generic[Entry]):
    """What there is of a kind by name: ours, then what plug-ins add, loaded at the first use.

    ``own``: ours, or where it is, as an entry point that is loaded when its name is looked up.
    """

    def __init__(
        self, group: str, kind: type[Entry], own: Mapping[str, Entry | EntryPoint]
    ) -> None:
        self._group, self._kind, self._own = group, kind, own

    @cached_property
    def _known(self) -> dict[str, Any]:
        return {**self._own, **plugins(self._group, self._kind, self._own)}

    def __getitem__(self, name: str) -> Entry:
        entry = self._known[name]
        if isinstance(entry, EntryPoint):
            entry = self._known[name] = entry.load()
        made: Entry = entry
        return made

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._known[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
