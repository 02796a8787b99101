"""What ``score`` scores: methods on a tokeniser, models, and predictions of other programs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.cli.options import labelled_methods, labelled_models

if TYPE_CHECKING:
    from morphgraph.refine.learning import Entrant
    from morphgraph.tokeniser.tokeniser import Tokeniser


def methods_on(loaded: "Tokeniser", methods: str, counts: Any) -> "list[Entrant]":
    """The methods on a tokeniser, those among them that learn from the reference."""
    from morphgraph.refine.learning import (
        LEARNER_TITLES,
        LEARNERS,
        Entrant,
        Learner,
        learner_settings,
    )
    from morphgraph.segment.registry import parse_method, split_methods

    found = []
    for text in split_methods(methods):
        name, given = parse_method(text)
        if name in LEARNERS:
            listed = ", ".join(f"{key}={value}" for key, value in given.items())
            label = LEARNER_TITLES[name] + (f" ({listed})" if listed else "")
            found.append(Entrant(label, Learner(loaded, learner_settings(name, given)), loaded))
            continue
        [(label, make)] = labelled_methods(loaded, text, counts)
        found.append(Entrant(label, make, loaded))
    return found


def models_of(paths: "Sequence[Path]") -> "list[Entrant]":
    """Trained models, and tokenisers or vocabularies by their own method."""
    from morphgraph.refine.learning import Entrant

    made = [(label, make, make()) for label, make in labelled_models(paths)]
    return [Entrant(label, make, getattr(each, "tokeniser", None)) for label, make, each in made]


def predictions_of(path: Path, format_: str | None) -> "Entrant":
    """What another program predicted; lines that cannot be used are reported."""
    from morphgraph.reference.predictions import read_predictions
    from morphgraph.refine.learning import Entrant

    read = read_predictions(path, format=format_)
    for skip in read.skipped:
        print(f"{path}: skipped {skip.count:,}: {skip.reason}", file=sys.stderr)
    return Entrant(path.stem, read)
