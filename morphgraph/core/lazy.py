"""Names of a package that are loaded when they are first asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's ``__getattr__``; ``homes``: the module of each name that it offers.

    >>> lazy_names("math", {"fsum": "math"})("fsum")([0.1] * 10)
    1.0
    """

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load
