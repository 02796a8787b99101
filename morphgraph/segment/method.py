"""The declaration of a method, beside its code, from which everything else derives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.segment.parameters import Parameters

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from morphgraph.segment.segmenter import Segmenter

Needs = Literal["merges", "vocabulary", "segmenter", "training", "gold"]


@dataclass(frozen=True)
class Training:
    """How to train a method on word counts.

    ``run`` makes a segmenter of a `PreparedCorpus`, the vocabulary size, a name, a function to call
    with the share done, and its ``parameters`` by name. ``stoppable``: it also takes ``enough``
    (see `train`); else it runs to the end. ``unmarked``: it only supports pipelines without a
    start-of-word marker. ``atoms``: the kind that it needs, if not the pipeline's. ``seconds``:
    estimated time for 32,000 types on one core.
    """

    description: str
    run: Callable[..., Segmenter] = field(repr=False)
    parameters: type[Parameters] = Parameters
    unmarked: bool = False
    atoms: str | None = None
    stoppable: bool = True
    seconds: float = 2.5

    @property
    def pipelines(self) -> tuple[str, ...]:
        """The pipelines that it supports, its default first."""
        from morphgraph.corpus.pipelines import PIPELINES

        known = PIPELINES.values()
        return tuple(each.name for each in known if not (self.unmarked and each.marked))


@dataclass(frozen=True)
class Method:
    """A method: its name in commands and files, its title in tables, and a description.

    ``kind``: the class of its segmenters; None if it makes segmenters of another method. ``needs``:
    what it is built on: a tokeniser by its ``merges``, a ``vocabulary``, another ``segmenter``'s
    tokens, its own ``training`` only, or a tokeniser and a reference's ``gold``. ``build``: builds
    one from that and its ``parameters`` by name, by default ``kind``; with ``counts``, it also
    takes word counts, as ``counts=``. ``offered``: whether it is useful on any tokeniser with
    merges. ``source``: its publication. ``seconds``: estimated time on a usual reference, on one
    core. ``training``: how to train it, if possible. ``learn``: makes a `Learned` of a tokeniser,
    which is not changed, a gold set and settings. ``standalone``: the plain-Python class in
    exported folders, as ``module:Class``.
    """

    name: str
    title: str
    does: str
    kind: type[Segmenter] | None
    needs: Needs
    parameters: type[Parameters] = Parameters
    build: Callable[..., Any] | None = None
    counts: bool = False
    offered: bool = True
    source: str = ""
    seconds: float = 1.0
    training: Training | None = None
    learn: Callable[..., Any] | None = None
    standalone: str = ""

    @property
    def segments(self) -> bool:
        """Whether this method has segmenters of its own."""
        return self.kind is not None

    @property
    def trained(self) -> bool:
        """Whether it can be trained."""
        return self.training is not None

    @property
    def learns(self) -> bool:
        """Whether it learns from gold."""
        return self.learn is not None

    @property
    def fields(self) -> Mapping[str, FieldInfo]:
        """Its parameters by name: default, bounds and meaning."""
        return self.parameters.model_fields

    def settings(self, given: Mapping[str, Any]) -> Parameters:
        """Validate given parameters and fill in the defaults."""
        return self.parameters.of(self.name, given)

    def make(self, below: Any, settings: Parameters, **more: Any) -> Segmenter:
        """Build it on what it needs."""
        build: Any = self.build or self.kind
        made: Segmenter = build(below, **dict(settings), **more)
        return made

    def label(self, given: Mapping[str, Any]) -> str:
        """Return its title with the given parameters, for tables."""
        from morphgraph.tokeniser.words import spelled

        listed = ", ".join(f"{name}={spelled(value)}" for name, value in given.items())
        return self.title + (f" ({listed})" if listed else "")
