"""Signatures that come from the classes of settings, which say what each means and its default."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

from morphgraph.segment.method import Parameters

Function = TypeVar("Function", bound=Callable[..., Any])


def taking(settings: type[Parameters]) -> Callable[[Function], Function]:
    """Show a class of settings as keywords, in place of the last ``**settings`` of a function."""

    def shown(function: Function) -> Function:
        known = signature(function)
        own = [each for each in known.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        fields = [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.annotation
            )
            for name, each in settings.model_fields.items()
            if name not in known.parameters
        ]
        function.__signature__ = known.replace(parameters=[*own, *fields])  # type: ignore[attr-defined]
        return function

    return shown
