"""Look inside a BPE tokeniser, see where it cuts across morphemes, knock out what is to blame.

All that a notebook needs is here, and loaded when it is first asked for:

>>> import morphgraph as mg
>>> tokeniser = mg.load("demo:en")
>>> tokeniser.segment(["undesirable"])
[['Ġund', 'es', 'ir', 'able']]
"""

from typing import TYPE_CHECKING

from morphgraph.core import __version__
from morphgraph.core.lazy import lazy_names

if TYPE_CHECKING:
    from typing import Any

    from morphgraph.api.blamed import BlamedMerges, ThresholdCurve
    from morphgraph.api.diff import TokeniserDiff, diff
    from morphgraph.api.edited import Effect, Knockout, ReBPEOutcome, ScoredKnockout
    from morphgraph.api.functions import compare, compare_vocabularies, evaluate, load, train
    from morphgraph.api.gold import read_gold, silver
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.batch.run import RunOutcome
    from morphgraph.core.errors import MorphGraphError
    from morphgraph.draw.merge_tree_svg import TreePicture
    from morphgraph.draw.scene import GraphPicture
    from morphgraph.formats.export import Export
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.method import METHODS
    from morphgraph.tables.score_views import ComparedScores, TokeniserScore
    from morphgraph.tables.vocabularies import ComparedVocabularies

    corpora: Any  # plug-ins, which may be missing
    doctor: Any
    models: Any

_HOMES = {
    "METHODS": "morphgraph.segment.method",
    "MorphGraphError": "morphgraph.core.errors",
    "compare": "morphgraph.api.functions",
    "compare_vocabularies": "morphgraph.api.functions",
    "diff": "morphgraph.api.diff",
    "evaluate": "morphgraph.api.functions",
    "load": "morphgraph.api.functions",
    "read_gold": "morphgraph.api.gold",
    "silver": "morphgraph.api.gold",
    "train": "morphgraph.api.functions",
    # What these return, for type hints.
    "BlamedMerges": "morphgraph.api.blamed",
    "ComparedScores": "morphgraph.tables.score_views",
    "ComparedVocabularies": "morphgraph.tables.vocabularies",
    "Effect": "morphgraph.api.edited",
    "Export": "morphgraph.formats.export",
    "GoldSet": "morphgraph.score.gold_set",
    "GraphPicture": "morphgraph.draw.scene",
    "Knockout": "morphgraph.api.edited",
    "ReBPEOutcome": "morphgraph.api.edited",
    "RunOutcome": "morphgraph.batch.run",
    "ScoredKnockout": "morphgraph.api.edited",
    "ThresholdCurve": "morphgraph.api.blamed",
    "Tokeniser": "morphgraph.api.with_merges",
    "TokeniserDiff": "morphgraph.api.diff",
    "TokeniserScore": "morphgraph.tables.score_views",
    "TreePicture": "morphgraph.draw.merge_tree_svg",
}

__all__ = [
    "METHODS",
    "BlamedMerges",
    "ComparedScores",
    "ComparedVocabularies",
    "Effect",
    "Export",
    "GoldSet",
    "GraphPicture",
    "Knockout",
    "MorphGraphError",
    "ReBPEOutcome",
    "RunOutcome",
    "ScoredKnockout",
    "ThresholdCurve",
    "Tokeniser",
    "TokeniserDiff",
    "TokeniserScore",
    "TreePicture",
    "__version__",
    "compare",
    "compare_vocabularies",
    "diff",
    "evaluate",
    "load",
    "read_gold",
    "silver",
    "train",
]


if not TYPE_CHECKING:  # a type checker knows the names that there are
    _own = lazy_names(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        if name in _HOMES or name.startswith("_"):
            return _own(name)
        from morphgraph.core.plugins import namespace

        return namespace(name)


def __dir__() -> list[str]:
    from morphgraph.core.plugins import installed

    return sorted({*__all__, *installed().select(group="morphgraph.namespaces").names})
