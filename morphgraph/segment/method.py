"""The entry of a method, which it declares beside its code, and all above derive from."""

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
    """How a method is trained on word counts.

    ``run`` makes a segmenter of a `PreparedCorpus`, the size of the vocabulary, a name, and a
    function that it calls with the share that is done, and of its ``parameters`` by name.
    ``stoppable``: it also takes ``enough`` (see `train`); else it runs to its end. ``unmarked``:
    it can follow only pipelines without a start-of-word marker. ``atoms``: the kind that it needs,
    where they are not the pipeline's. ``seconds``: a guess at how long 32,000 types take on one
    core.
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
        """The pipelines that it can follow, its own first."""
        from morphgraph.corpus.pipelines import PIPELINES

        known = PIPELINES.values()
        return tuple(each.name for each in known if not (self.unmarked and each.marked))


@dataclass(frozen=True)
class Method:
    """A method: its name in commands and files, its title in tables, and what it does.

    ``kind``: the class of its segmenters, which cut words, are saved and loaded, and answer what
    `Segmenter` asks; None for one that makes segmenters of another method. ``needs``: what it is
    made of: a tokeniser by its ``merges``, a ``vocabulary``, the tokens of another ``segmenter``,
    its own ``training`` only, or a tokeniser and a reference's ``gold``. ``build``: what makes one
    of that and its ``parameters`` by name, ``kind`` if not given; with ``counts``, of word counts
    too, as ``counts=``. ``offered``: whether it is of use on any tokeniser with merges.
    ``source``: who described it. ``seconds``: a guess at how long it takes on a usual reference, on
    one core. ``training``: how it is trained, if it can be. ``learn``: what makes a `Learned` of a
    tokeniser, which stays as it is, a gold set and settings. ``standalone``: the class that gives
    its tokens in plain Python in exported folders, as ``module:Class``.
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
        """Whether there are segmenters of this very method."""
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
        """All its parameters, checked; those that are not given have their default."""
        return self.parameters.of(self.name, given)

    def make(self, below: Any, settings: Parameters, **more: Any) -> Segmenter:
        """Build it on what it needs."""
        build: Any = self.build or self.kind
        made: Segmenter = build(below, **dict(settings), **more)
        return made

    def label(self, given: Mapping[str, Any]) -> str:
        """Its title with the parameters that are given, for tables."""
        from morphgraph.tokeniser.words import spelled

        listed = ", ".join(f"{name}={spelled(value)}" for name, value in given.items())
        return self.title + (f" ({listed})" if listed else "")
