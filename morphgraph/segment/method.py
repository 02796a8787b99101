"""The entry of a method, which it declares beside its code, and all above derive from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from morphgraph.segment.parameters import Parameters
    from morphgraph.tokeniser.export import ExportedModel
    from morphgraph.tokeniser.words import Segmenter

Needs = Literal["merges", "vocabulary", "segmenter", "training", "gold"]


@dataclass(frozen=True)
class Method:
    """A method: its name in commands and files, its title in tables, and what it does.

    ``needs``: what it is made of: a tokeniser by its ``merges``, a ``vocabulary``, the tokens of
    another ``segmenter``, its own ``training`` only, or a tokeniser and a reference's ``gold``.
    ``kind``: the class of its segmenters, whose ``document`` and ``from_document`` save and load
    them. ``build``: what makes one of what it needs and its ``parameters`` by name, ``kind`` if not
    given; with ``counts``, of word counts too, as ``counts=``; one that needs gold gets tokeniser,
    gold set and settings (see `refine.learning`). ``source``: who described it. ``seconds``: a
    guess at how long it takes on a usual reference, on one core. ``export``: what of one of its
    segmenters leaves for ``AutoTokenizer``, and whether all ids stay as they are, for another
    method that builds on it (see `registry.leaving`); None if nothing does.
    """

    name: str
    title: str
    does: str
    kind: type[Segmenter] | None
    needs: Needs
    parameters: type[Parameters] | None = None
    build: Callable[..., Any] | None = None
    counts: bool = False
    source: str = ""
    seconds: float = 1.0
    export: Callable[[Any, bool], ExportedModel] | None = None

    @property
    def fields(self) -> Mapping[str, FieldInfo]:
        """Its parameters by name: default, bounds and meaning."""
        return {} if self.parameters is None else self.parameters.model_fields

    def settings(self, given: Mapping[str, Any]) -> Parameters:
        """All its parameters, checked; those that are not given have their default."""
        from morphgraph.segment.parameters import Parameters

        return (self.parameters or Parameters).of(self.name, given)

    def make(self, below: Any, settings: Parameters, **more: Any) -> Segmenter:
        """Build it on what it needs."""
        build: Any = self.build or self.kind
        made: Segmenter = build(below, **dict(settings), **more)
        return made

    def learn(self, tokeniser: Any, gold_set: Any, settings: Parameters) -> Any:
        """What one that needs gold makes of a tokeniser, which stays as it is (`Learned`)."""
        assert self.build is not None
        return self.build(tokeniser, gold_set, settings)

    def label(self, given: Mapping[str, Any]) -> str:
        """Its title with the parameters that are given, for tables."""
        from morphgraph.tokeniser.words import spelled

        listed = ", ".join(f"{name}={spelled(value)}" for name, value in given.items())
        return self.title + (f" ({listed})" if listed else "")
