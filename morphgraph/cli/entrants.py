"""What is scored and compared: methods on a tokeniser, models, predictions of other programs."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.registry import EVERY_METHOD
from morphgraph.segment.registry import method_named, method_on, parse_method, split_methods

if TYPE_CHECKING:
    from morphgraph.refine.learning import Entrant
    from morphgraph.tokeniser.tokeniser import Tokeniser


def methods_on(loaded: "Tokeniser", methods: str, counts: Any) -> "list[Entrant]":
    """What --methods says on a tokeniser, those among them that learn from the reference.

    ``counts``: of words, for the methods that need some.
    """
    from morphgraph.refine.learning import Entrant, Learner

    found = []
    for text in split_methods(methods):
        name, given = parse_method(text)
        method = method_named(name, EVERY_METHOD)
        settings: Any = method.settings(given)
        made: Any = partial(method_on, loaded, name, given, counts)
        if method.needs == "gold":
            for drawn in ("holdout", "seed"):
                if drawn in given:
                    raise MorphGraphError(
                        f"{name} is scored on words that --holdout and --seed draw. Leave {drawn} "
                        "out of the method."
                    )
            made = Learner(loaded, method, settings)
        found.append(Entrant(method.label(given), made, loaded))
    return found


def models_of(paths: "Sequence[Path]") -> "list[Entrant]":
    """Trained models, and tokenisers or vocabularies by their own method."""
    from morphgraph.refine.learning import Entrant
    from morphgraph.segment.models import load_segmenter

    made = [(path.stem, load_segmenter(str(path))) for path in paths]
    return [Entrant(label, each, getattr(each, "tokeniser", None)) for label, each in made]


def predictions_of(path: Path, format_: str | None) -> "Entrant":
    """What another program predicted; lines that cannot be used are reported."""
    from morphgraph.reference.predictions import read_predictions
    from morphgraph.refine.learning import Entrant

    read = read_predictions(path, format=format_)
    for skip in read.skipped:
        print(f"{path}: skipped {skip.count:,}: {skip.reason}", file=sys.stderr)
    return Entrant(path.stem, read)
