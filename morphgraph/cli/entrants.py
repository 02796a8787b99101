"""What ``score`` scores: methods on a tokeniser, models, and predictions of other programs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.cli.options import chosen_methods, labelled_models, made_on
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.refine.learning import Entrant
    from morphgraph.tokeniser.tokeniser import Tokeniser


def methods_on(loaded: "Tokeniser", methods: str, counts: Any) -> "list[Entrant]":
    """The methods on a tokeniser, those among them that learn from the reference."""
    from morphgraph.refine.learning import Entrant, Learner

    found = []
    for method, given, label in chosen_methods(methods):
        if method.needs != "gold":
            found.append(Entrant(label, made_on(loaded, method, given, counts), loaded))
            continue
        for name in ("holdout", "seed"):
            if name in given:
                raise MorphGraphError(
                    f"{method.name} is scored on words that --holdout and --seed draw. Leave "
                    f"{name} out of the method."
                )
        learner: Any = method.settings(given)
        found.append(Entrant(label, Learner(loaded, method, learner), loaded))
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
