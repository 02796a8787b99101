"""Methods that need no training of their own: what a comparison makes of one tokeniser.

A method is written as its name and parameters: ``dropout(p=0.1, seed=3)``.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.segment.dropout import USUAL_P
from morphgraph.segment.flota import USUAL_K
from morphgraph.segment.trimmed import USUAL_THRESHOLD
from morphgraph.tokeniser.segmentation import Segmenter
from morphgraph.tokeniser.tokeniser import Tokeniser

if TYPE_CHECKING:
    from morphgraph.segment.trimmed import Counts

Value = bool | int | float


@dataclass(frozen=True)
class Parameter:
    """One setting of a method: its default, its bounds, and what it means.

    ``marker``: only for vocabularies with this marker.
    """

    default: Value
    least: Value
    most: Value
    meaning: str
    marker: str = ""


@dataclass(frozen=True)
class Method:
    """A method: what people call it, what it does, its parameters, and what makes it.

    ``make`` gets the tokeniser, the parameters, and word counts for those methods that need some.
    """

    title: str
    does: str
    parameters: Mapping[str, Parameter]
    make: "Callable[[Tokeniser, Mapping[str, Any], Counts | None], Segmenter]"


def _bpe(tokeniser: Tokeniser, _: Mapping[str, Any], __: "Counts | None") -> Segmenter:
    from morphgraph.segment.bte import Bte

    return Bte(tokeniser)


def _dropout(tokeniser: Tokeniser, given: Mapping[str, Any], _: "Counts | None") -> Segmenter:
    from morphgraph.segment.dropout import Dropout

    return Dropout(tokeniser, **given)


def _trimmed(tokeniser: Tokeniser, given: Mapping[str, Any], counts: "Counts | None") -> Segmenter:
    from morphgraph.segment.trimmed import Trimmed, token_counts

    if counts is None:
        raise MorphGraphError(
            "Trimmed BPE needs word counts of a second corpus. Give some, or choose a reference "
            "with frequencies."
        )
    return Trimmed(tokeniser, token_counts(tokeniser, counts), **given)


_vocabularies: WeakKeyDictionary[MergeGraph, tuple[int, Any]] = WeakKeyDictionary()
"""The vocabulary of each graph's present state, by its revision: its trie is made only once."""


def _vocabulary(tokeniser: Tokeniser) -> Any:
    from morphgraph.tokeniser.vocabularies import vocabulary_of

    graph = tokeniser.graph
    known = _vocabularies.get(graph)
    if known is None or known[0] != graph.revision:
        known = _vocabularies[graph] = (graph.revision, vocabulary_of(tokeniser))
    return known[1]


def _flota(tokeniser: Tokeniser, given: Mapping[str, Any], _: "Counts | None") -> Segmenter:
    from morphgraph.segment.flota import Flota

    return Flota(_vocabulary(tokeniser), given["k"] or None, given["strict"])


def _greedy(tokeniser: Tokeniser, _: Mapping[str, Any], __: "Counts | None") -> Segmenter:
    from morphgraph.segment.wordpiece import Greedy

    return Greedy(_vocabulary(tokeniser))


def _first(tokeniser: Tokeniser, given: Mapping[str, Any], _: "Counts | None") -> Segmenter:
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.flota import First

    return First(Bte(tokeniser), **given)


def _longest(tokeniser: Tokeniser, given: Mapping[str, Any], _: "Counts | None") -> Segmenter:
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.flota import Longest

    return Longest(Bte(tokeniser), **given)


_K = Parameter(USUAL_K, 1, 20, "Tokens at most, of each word or mark; the rest is left out.")
METHODS: dict[str, Method] = {
    "bpe": Method("BPE", "All merges in order of rank.", {}, _bpe),
    "dropout": Method(
        "BPE-dropout",
        "Leaves out merges at random.",
        {
            "p": Parameter(USUAL_P, 0.0, 1.0, "Probability that a merge is left out each time."),
            "seed": Parameter(0, 0, 10**6, "Where the random numbers begin."),
            "queue": Parameter(
                False, False, True, "Draw as the tokenizers library does: fewer merges are lost."
            ),
        },
        _dropout,
    ),
    "trimmed": Method(
        "Trimmed BPE",
        "Takes rare types apart again.",
        {"threshold": Parameter(USUAL_THRESHOLD, 0, 10**9, "Types of at most this count go.")},
        _trimmed,
    ),
    "flota": Method(
        "FLOTA",
        "The longest type in the word first.",
        {
            "k": Parameter(0, 0, 20, "Tokens at most, of each word or mark; 0 for no limit."),
            "strict": Parameter(
                False, False, True, "No ## form at the start of a word.", marker="##"
            ),
        },
        _flota,
    ),
    "first": Method("FIRST", "The first tokens of BPE.", {"k": _K}, _first),
    "longest": Method("LONGEST", "The longest tokens of BPE.", {"k": _K}, _longest),
    "greedy": Method("Greedy", "The longest type from the left.", {}, _greedy),
}


def method_on(
    tokeniser: Tokeniser,
    method: str,
    parameters: Mapping[str, Any] | None = None,
    counts: "Counts | None" = None,
) -> Segmenter:
    """A method of `METHODS` on the present state of a tokeniser.

    Parameters that are not given have their default; others than it has, or beyond its bounds, are
    a `MorphGraphError`.
    """
    values = check_method(method, parameters or {})
    return METHODS[method].make(tokeniser, values, counts)


def check_method(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a method, checked; those that are not given have their default."""
    known = METHODS.get(method)
    if known is None:
        raise MorphGraphError(f"“{method}” is not a method. Use one of: {', '.join(METHODS)}.")
    values: dict[str, Any] = {name: p.default for name, p in known.parameters.items()}
    for name, value in parameters.items():
        limits = known.parameters.get(name)
        if limits is None:
            takes = ", ".join(known.parameters) or "no parameters"
            raise MorphGraphError(f"{method} has no parameter “{name}”. It takes {takes}.")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise MorphGraphError(f"{name}={value!r} is no number, which {method} needs. Give one.")
        is_switch = isinstance(limits.default, bool)
        if is_switch != isinstance(value, bool):
            fix = "Give true or false." if is_switch else "Give a number."
            raise MorphGraphError(f"{name}={value} is no value for {method}. {fix}")
        if isinstance(limits.default, int) and value != int(value):
            raise MorphGraphError(f"{name}={value} is no whole number, which {method} needs.")
        if not limits.least <= value <= limits.most:
            raise MorphGraphError(
                f"{name}={value} is out of range for {method}. "
                f"Give {limits.least} to {limits.most}."
            )
        values[name] = type(limits.default)(value)
    return values


_SPEC = re.compile(r"\s*([\w-]+)\s*(?:\(([^()]*)\))?\s*")


def parse_method(text: str) -> tuple[str, dict[str, Value]]:
    """The name and parameters in a method as it is written.

    >>> parse_method("dropout(p=0.1, queue=true)"), parse_method("bpe")
    (('dropout', {'p': 0.1, 'queue': True}), ('bpe', {}))
    """
    found = _SPEC.fullmatch(text)
    if found is None:
        raise MorphGraphError(f"“{text[:80]}” is no method. Write it like dropout(p=0.1).")
    parameters: dict[str, Value] = {}
    for part in filter(None, (p.strip() for p in (found[2] or "").split(","))):
        name, sign, value = (item.strip() for item in part.partition("="))
        if value in ("true", "false"):
            parameters[name] = value == "true"
            continue
        try:
            whole = re.fullmatch(r"[+-]?\d{1,15}", value)
            parameters[name] = int(value) if whole else float(value[:30])
        except ValueError:
            sign = ""
        if not sign or not math.isfinite(parameters.get(name, 0)):
            raise MorphGraphError(f"“{part[:80]}” is no parameter. Write it like p=0.1.")
    return found[1], parameters


def split_methods(text: str) -> list[str]:
    """Methods separated by commas that are not inside brackets.

    >>> split_methods("bpe, dropout(p=0.1, seed=3), flota")
    ['bpe', 'dropout(p=0.1, seed=3)', 'flota']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]
