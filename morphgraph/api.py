"""The library in a notebook: load a tokeniser and gold, and the rest are their methods.

Results are new objects: nothing changes its argument unless ``in_place=True``. Whatever goes wrong
is a `MorphGraphError` that says what to do.
"""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, cast
from weakref import WeakKeyDictionary

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.text import base_name, counted, percent, shortened
from morphgraph.corpus.counts import counts_of
from morphgraph.methods import METHODS
from morphgraph.reference.entry import Reference
from morphgraph.reference.plain import reference_of_pairs
from morphgraph.reference.predictions import Predictions
from morphgraph.reference.readers import read_reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.segment.bte import Bte
from morphgraph.segment.exporting import export_to
from morphgraph.segment.registry import method_on, standard_segmenter
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.hugging_face import from_tokenizer_json
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.merging import never_formed
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.draw.pictures import GraphPicture, TreePicture
    from morphgraph.graph.change import Change
    from morphgraph.models.transplanting import Transplant
    from morphgraph.models.undertrained_types import UndertrainedTypes
    from morphgraph.refine.rebpe_run import Phase
    from morphgraph.score.table import ScoreTable
    from morphgraph.tables.views import (
        BlamedMerges,
        ComparedScores,
        MeasuredCorpus,
        TokeniserScore,
    )
    from morphgraph.tokeniser.export import Export

Gold = GoldSet | Reference | str | os.PathLike[str] | Iterable[tuple[str, Sequence[str]]]

_MADE_ON: WeakKeyDictionary[Any, BpeTokeniser] = WeakKeyDictionary()
"""The tokeniser below each segmenter that `LoadedTokeniser.method` made."""


def load(source: Any) -> "LoadedTokeniser":
    """Load a BPE tokeniser.

    ``source``: a file, a folder, a demo by its name (``demo:en``, ``demo:de``, ``demo:nl``), a
    ``tokenizers.Tokenizer``, or a fast tokeniser of ``transformers``. What there is to know about
    it is a Python warning. Errors: `MorphGraphError`.
    """
    if isinstance(source, BpeTokeniser):
        found = source.copy()
    elif isinstance(source, str | os.PathLike):
        found = load_tokeniser(source)
    else:
        found = from_tokenizer_json(*_serialised(source))
    for warning in found.warnings:
        warnings.warn(f"{found.name}: {warning}", stacklevel=2)
    return LoadedTokeniser(
        **{each.name: getattr(found, each.name) for each in fields(BpeTokeniser)}
    )


def _serialised(source: Any) -> tuple[bytes, str]:
    """A tokeniser object as a ``tokenizer.json``, and its name."""
    backend = getattr(source, "backend_tokenizer", source)
    name = str(getattr(source, "name_or_path", "") or type(source).__name__)
    if not callable(getattr(backend, "to_str", None)):
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a tokeniser. Give a file, a folder, demo:en, a "
            "tokenizers.Tokenizer, or a fast tokeniser of transformers."
        )
    try:
        return backend.to_str().encode(), name
    except Exception as error:  # the library raises nothing more specific
        raise MorphGraphError(
            f"{name} cannot be written as a tokenizer.json ({shortened(str(error), 120)}). Give "
            "the folder that it was loaded from."
        ) from error


def read_gold(
    source: Gold | bytes,
    *,
    format: str | None = None,
    encoding: str | None = None,
    frequencies: Mapping[str, float] | str | None = None,
    bare: bool = False,
) -> GoldSet:
    """Read a gold segmentation.

    ``source``: a file, ``demo:en``, ``catalogue:…``, or a list of (word, morphs). ``format`` and
    ``encoding``: of a file; detected from its content if not given. ``frequencies``: word → count,
    a file of counts, or ``wordfreq:en``. ``bare``: words are whole texts of their own, without the
    space before. Errors: `MorphGraphError`.
    """
    if isinstance(source, GoldSet):
        return source
    if isinstance(source, Reference):
        reference = source
    elif isinstance(source, str | bytes | os.PathLike):
        reference = read_reference(source, format=format, encoding=encoding)
    elif isinstance(source, Iterable):
        reference = reference_of_pairs(source)
    else:
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a gold segmentation. Give a file, demo:en, "
            "catalogue:NAME, or a list of (word, morphs)."
        )
    if isinstance(frequencies, str):
        counts = dict(counts_of(frequencies).items())
        return GoldSet.of(reference, counts, frequencies, bare=bare)
    named = "" if frequencies is None else "given counts"
    return GoldSet.of(reference, frequencies, named, bare=bare)


def compare(
    tokenisers: Mapping[str, BpeTokeniser | Segmenter | Predictions],
    gold: Gold,
    *,
    baseline: str | None = None,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    metrics: Sequence[str] = (),
) -> "ComparedScores":
    """Score several tokenisers, or methods on them, on the same gold.

    ``tokenisers``: each by its name in tables. ``baseline``: the name of the one that others are
    tested against, by default the first. ``metrics``: names of scores, the usual ones by default.
    One that cannot segment the words is shown as failed; if all fail, it is a `MorphGraphError`.
    """
    from morphgraph.tables.views import ComparedScores

    if not isinstance(tokenisers, Mapping) or not tokenisers:
        raise MorphGraphError(
            'There is nothing to compare. Give tokenisers by name: {"BPE": one, "ReBPE": other}.'
        )
    labels = list(tokenisers)
    if baseline is not None and baseline not in tokenisers:
        raise MorphGraphError(f"“{baseline}” is not one of those compared: {', '.join(labels)}.")
    number = None if len(labels) < 2 else labels.index(baseline) if baseline is not None else 0
    return ComparedScores(_table(tokenisers, gold, scope, weighting, metrics, number))


def transplant(
    model: str | os.PathLike[str],
    tokenizer: "LoadedTokeniser | str | os.PathLike[str]",
    out: str | os.PathLike[str] | None = None,
    *,
    old_tokenizer: str | os.PathLike[str] | None = None,
    init: str = "mean",
    seed: int = 0,
    pad_to_multiple_of: int = 1,
    padded: bool = False,
) -> "Transplant":
    """Carry a model over to another tokeniser: rows of types that both have are copied bit by bit.

    ``model``: a folder of `transformers` with weights in safetensors; ``tokenizer``: a folder that
    ``AutoTokenizer`` loads, or a tokeniser as it is now, which is exported first; ``out``: a new
    folder for both; without it, nothing is written. The result has what was ``kept``, ``made`` and
    ``dropped``, type by type.
    ``old_tokenizer``: the one that the model was trained with, if it is not in its folder.
    ``init``: the row of a new type is the ``mean`` of the rows of the old tokens of its string,
    ``zeros``, or ``normal``, drawn by ``seed`` with each column's mean and standard deviation.
    ``padded``: rows beyond the old tokeniser's ids are padding, however many. Errors:
    `MorphGraphError`.
    """
    from morphgraph.models.transplanting import TransplantSettings, transplant_model

    settings = TransplantSettings(cast("Any", init), seed, pad_to_multiple_of, padded)
    place = None if out is None else Path(out)
    old = None if old_tokenizer is None else str(old_tokenizer)
    carry = partial(transplant_model, str(model), out=place, settings=settings, old_tokeniser=old)
    if not isinstance(tokenizer, LoadedTokeniser):
        return carry(str(tokenizer))
    with TemporaryDirectory(prefix="morphgraph-") as folder:
        tokenizer.export(folder)
        return carry(folder)


def undertrained(
    model: str | os.PathLike[str],
    frequencies: str | None = None,
    *,
    tokenizer: str | os.PathLike[str] | None = None,
    padded: bool = False,
    by: str | None = None,
) -> "UndertrainedTypes":
    """Look for types that a model has hardly learned: norms, and distances from unused rows.

    ``model``: a folder of `transformers` with weights in safetensors. ``frequencies``: a file of
    word counts, or ``wordfreq:en``, whose words are segmented to count types. ``tokenizer``: the
    model's, if it is not in its folder. ``padded``: rows beyond its ids are padding, however many.
    ``by``: rank types by ``norm``, ``cosine`` or ``euclidean``; by default as Land & Bartolo's
    program does, by the cosine distance where one matrix is input and output, else by the norm.
    Errors: `MorphGraphError`.
    """
    from morphgraph.models.undertrained_types import undertrained_types
    from morphgraph.score.compression import NamedCounts

    corpus = None if frequencies is None else NamedCounts(counts_of(frequencies), frequencies)
    own = None if tokenizer is None else str(tokenizer)
    return undertrained_types(str(model), corpus, tokeniser=own, padded=padded, by=by)


def _table(
    tokenisers: Mapping[str, Any],
    gold: Gold,
    scope: Scope,
    weighting: Weighting,
    metrics: Sequence[str],
    baseline: int | None = None,
) -> "ScoreTable":
    from morphgraph.core.errors import check_choice
    from morphgraph.refine.learning import Entrant, learn_and_score
    from morphgraph.score.gold_set import SCOPES, WEIGHTINGS
    from morphgraph.score.metrics import USUAL
    from morphgraph.score.table import ScoreTable, SegmentationFailure

    check_choice("scope", scope, SCOPES)
    check_choice("weighting", weighting, WEIGHTINGS)
    chosen = check_list(metrics, "scores") or USUAL
    gold_set = read_gold(gold)
    gold_set.weights(weighting)  # fails if there are no frequencies
    if not gold_set.has_gold(scope).any():
        raise MorphGraphError(
            f"{gold_set.reference.name} has no {scope} boundaries. Choose another scope."
        )
    entrants = []
    for label, made in tokenisers.items():
        if not isinstance(made, BpeTokeniser | Predictions) and not callable(
            getattr(made, "segment", None)
        ):
            raise MorphGraphError(
                f"“{label}” is {shortened(repr(made))}, which is not a tokeniser. Give what load "
                "or a tokeniser's method returned."
            )
        segmenter = standard_segmenter(made) if isinstance(made, BpeTokeniser) else made
        entrants.append(Entrant(str(label), segmenter, _base_of(made)))
    outcomes = learn_and_score(entrants, gold_set)
    failed = [outcome for outcome in outcomes if isinstance(outcome, SegmentationFailure)]
    if len(failed) == len(outcomes):
        raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
    return ScoreTable(outcomes, scope, weighting, chosen, baseline=baseline)


def _base_of(made: Any) -> BpeTokeniser | None:
    """The tokeniser itself, or the one that a segmenter stands on, if it is known."""
    if isinstance(made, BpeTokeniser | Predictions):
        return made if isinstance(made, BpeTokeniser) else None
    base = getattr(made, "tokeniser", None) or _MADE_ON.get(made)
    return base if isinstance(base, BpeTokeniser) else None


class LoadedTokeniser(BpeTokeniser):
    """A tokeniser with all that can be done with it; made by `load`.

    Where ``gold`` is wanted, whatever `read_gold` takes will do.
    """

    # ------------------------------------------------------------------------- segmentation

    def tokenize(self, word: str) -> list[str]:
        """The types that a word, or running text, is segmented into.

        They are spelled as in the vocabulary. A character outside the alphabet stands for itself.
        """
        return self.segment([_text(word)])[0]

    def segment(self, words: Sequence[str]) -> list[list[str]]:
        """The types that each of several words is segmented into."""
        segmenter = standard_segmenter(self)
        encoded = segmenter.encode(check_list(words, "words"))
        found = segmenter.segment(encoded)
        return [
            [
                encoded.unknown.get(atom, "�")
                if token == UNKNOWN or atom in encoded.unknown
                else segmenter.types[token]
                for atom, token in found.token_ends(number)
            ]
            for number in range(len(encoded.texts))
        ]

    def method(self, name: str, *, counts: Any = None, **parameters: Any) -> Segmenter:
        """Another way to segment with this vocabulary: ``flota``, ``dropout``, ``trimmed``, ….

        ``parameters`` are the method's own, ``k=2`` for FLOTA; ``counts``: `WordCounts`, a file of
        counts or ``wordfreq:en``, for methods that need some. An unknown name or parameter is a
        `MorphGraphError` that lists those there are. It takes the tokeniser as it is now.
        """
        if name in METHODS.learning:
            raise MorphGraphError(
                f"{METHODS[name].title} learns from gold and gives another tokeniser. Use "
                "knock_out or rebpe."
            )
        made = method_on(self, name, parameters, counts)
        _MADE_ON[made] = self
        return made

    # ------------------------------------------------------------------------- scores and blame

    def score(
        self,
        gold: Gold,
        *,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        metrics: Sequence[str] = (),
    ) -> "TokeniserScore":
        """Score the segmentation against gold: precision, recall, F1 and others, with intervals.

        ``scope``: ``morphemic`` or ``whole-word`` boundaries; ``weighting``: over word ``types`` or
        ``tokens``; ``metrics``: names of scores, the usual ones by default.
        """
        from morphgraph.tables.views import TokeniserScore

        label = base_name(self.name)
        return TokeniserScore(_table({label: self}, gold, scope, weighting, metrics))

    def measure(
        self,
        *texts: str | os.PathLike[str],
        column: str | None = None,
        language_column: str | None = None,
        parallel: bool = False,
        base: str | None = None,
        unit: Literal["words", "lines"] | None = None,
    ) -> "MeasuredCorpus":
        """Measure texts of any size: tokens per word, characters and bytes per token, and so on.

        ``texts``: files, folders, patterns or addresses, as ``morphgraph count`` reads them;
        ``column``: the one with the text. By file, or by what ``language_column`` says.
        ``parallel``: the same lines in several languages, relative to those of ``base``. ``unit``:
        whether ``words`` are segmented, or ``lines`` as whole texts, as parallel ones are.
        """
        from morphgraph.score.corpus_measures import measure_corpus
        from morphgraph.tables.views import MeasuredCorpus

        found = measure_corpus(
            {base_name(self.name): standard_segmenter(self)},
            texts,
            column=column,
            language_column=language_column,
            parallel=parallel,
            base=base,
            unit=unit,
        )
        return MeasuredCorpus(found)

    def blame(
        self, gold: Gold, *, scope: Scope = "morphemic", weighting: Weighting = "types"
    ) -> "BlamedMerges":
        """Which merges close gold boundaries: N, B and R = B ÷ N of each, worst first.

        Source: Bauwens & Delobelle 2024, Algorithm 1.
        """
        from morphgraph.tables.views import BlamedMerges

        study = self._study(gold)
        study.benchmark.weights(weighting)
        signature = study.benchmark.signature(self, blame=f"{weighting} {scope}")
        return BlamedMerges(self.copy(), study.blame(weighting, scope), signature)

    def _study(self, gold: Gold) -> Study:
        return Study(self, Benchmark.on(read_gold(gold), self))

    # ------------------------------------------------------------------------- refinement

    def knock_out(
        self,
        gold: Gold | None = None,
        *,
        types: Sequence[str] | None = None,
        in_place: bool = False,
        **settings: Any,
    ) -> "KnockoutOutcome":
        """Knock out the types whose merges are to blame by gold, or chosen ``types``.

        ``types`` are spelled as in the vocabulary; with gold, they are scored before and after.
        ``settings``: those of the method `knockout`, such as ``threshold=0.6`` or ``holdout=0.5``.
        Source: Bauwens & Delobelle 2024, Algorithm 1.
        """
        from morphgraph.refine.knockout import KnockoutSettings, knock_out
        from morphgraph.refine.learning import remember

        if gold is None and types is None:
            raise MorphGraphError("Nothing says what to knock out. Give gold, or types=[…].")
        if types is not None:
            return self._knock_out_types(types, gold, in_place, **settings)
        assert gold is not None
        gold_set = read_gold(gold)
        chosen = KnockoutSettings(**settings)
        old, new = self._two(in_place)
        result = knock_out(new, Benchmark.on(gold_set, new), chosen)
        if result.removed:
            remember(new, gold_set, chosen)
        scores = _scores(old, new, result.scored, chosen)
        never = _never_formed(old, new)
        return KnockoutOutcome(new, *scores, never, tuple(result.removed), result.change)

    def _two(self, in_place: bool) -> tuple["LoadedTokeniser", "LoadedTokeniser"]:
        """What stays as it was, and what is edited."""
        return (self.copy(), self) if in_place else (self, self.copy())

    def _knock_out_types(
        self,
        types: Sequence[str],
        gold: Gold | None,
        in_place: bool,
        *,
        cascade: bool = False,
        **others: Any,
    ) -> "KnockoutOutcome":
        if others:
            raise MorphGraphError(
                f"{', '.join(others)}: these settings choose types by blame, but the types are "
                "given. Leave them out."
            )
        gold_set = None if gold is None else read_gold(gold)
        old, new = self._two(in_place)
        change = new.graph.cascade(types) if cascade else new.graph.knockout(types)
        before, after = (None if gold_set is None else each.score(gold_set) for each in (old, new))
        removed = tuple(new.types[number] for number in change.removed_types)
        return KnockoutOutcome(new, before, after, _never_formed(old, new), removed, change)

    def rebpe(self, gold: Gold, *, in_place: bool = False, **settings: Any) -> "ReBPEOutcome":
        """Run ReBPE: anneal, then knock out and reify in turn until nothing changes.

        ``settings``: those of the method `rebpe`, such as ``iterations=5`` or ``anneal=False``.
        Source: Bauwens & de Lhoneux 2026, Algorithm 1.
        """
        from morphgraph.refine.learning import remember
        from morphgraph.refine.rebpe import ReBPESettings
        from morphgraph.refine.rebpe_run import ReBPERun

        gold_set = read_gold(gold)
        chosen = ReBPESettings(**settings)
        old, new = self._two(in_place)
        run = ReBPERun(new, Benchmark.on(gold_set, new), chosen)
        run.finish()
        remember(new, gold_set, chosen)
        scores = _scores(old, new, run.scored, chosen)
        never = _never_formed(old, new)
        return ReBPEOutcome(new, *scores, never, tuple(run.phases), run.converged)

    # ------------------------------------------------------------------------- pictures

    def tree(self, word: str, gold: Gold | None = None) -> "TreePicture":
        """The merge tree of a word, with its gold boundaries and the blame of its merges by gold.

        A word that the gold does not have is drawn without boundaries.
        """
        from morphgraph.draw.merge_tree import describe_in_study, describe_tree
        from morphgraph.draw.pictures import TreePicture

        word = _text(word)
        if gold is None:
            return TreePicture(describe_tree(self, self.encode([word]), 0))
        study = self._study(gold)
        return TreePicture(describe_in_study(study, word, study.blame()))

    def around(
        self, type: str, gold: Gold | None = None, *, up: int = 1, down: int = 2, limit: int = 60
    ) -> "GraphPicture":
        """The merge graph around a type, coloured by blame if there is gold.

        ``type``: as the vocabulary spells it, or readable, with or without its marker. ``up`` and
        ``down``: how many merges away from it towards longer types, and towards its parts;
        ``limit``: at most this many vertices.
        """
        from morphgraph.draw.explore import scene_around
        from morphgraph.draw.pictures import GraphPicture

        spelled = self.type_from(_text(type))
        if spelled is None:
            raise MorphGraphError(
                f"“{shortened(type)}” is not a type of this tokeniser. Look for one with "
                f"search({shortened(type)!r})."
            )
        nothing = GoldSet(reference=Reference("none", "pairs", (), (), ""))
        study = self._study(nothing if gold is None else gold)
        focus = self.graph.ids[spelled]
        scene = scene_around(study, focus, up=up, down=down, limit=limit)
        return GraphPicture(scene, f"{base_name(self.name)}: {self.readable(spelled)}")

    # ------------------------------------------------------------------------- export

    def export(
        self, folder: str | os.PathLike[str], *, words: Sequence[str] | None = None
    ) -> "Export":
        """Write a folder that ``AutoTokenizer.from_pretrained`` loads.

        First its ids are compared with ours: on ``words``, or else on 10,000 common ones, and on
        sentences made of them. `MorphGraphError` if they differ. An earlier export in the folder is
        replaced; other files of the same names are set aside, which is a Python warning.
        """
        return export_to(Bte(self), folder, words)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MorphGraphError(f"{shortened(repr(value))} is not a word. Give a string.")
    return value


# ----------------------------------------------------------------------------- what they return


def _scores(
    old: LoadedTokeniser, new: LoadedTokeniser, gold: GoldSet, settings: Any
) -> tuple["TokeniserScore", "TokeniserScore"]:
    """Scores before and after, as the settings of a method say."""
    chosen = {"scope": settings.scope, "weighting": settings.weighting}
    return old.score(gold, **chosen), new.score(gold, **chosen)


def _never_formed(old: BpeTokeniser, new: BpeTokeniser) -> tuple[str, ...]:
    edits = len(new.graph.history) - len(old.graph.history)
    return tuple(new.types[number] for number in never_formed(new.graph, edits))


@dataclass(frozen=True, repr=False)
class _Refined:
    """A tokeniser that a method made, with scores before and after, if there is gold.

    ``never_formed``: the types that this leaves in the vocabulary, but no merge can form any more;
    ``tokeniser.knock_out(types=never_formed, cascade=True)`` removes them.
    """

    tokeniser: LoadedTokeniser
    before: "TokeniserScore | None"
    after: "TokeniserScore | None"
    never_formed: tuple[str, ...]

    def _line(self, did: str) -> str:
        gain = f", {counted(len(self.never_formed), 'type')} never formed"
        gain = gain if self.never_formed else ""
        if self.before is not None and self.after is not None:
            gain += f", F1 {percent(self.before.f1)} % → {percent(self.after.f1)} %"
        return f"<{type(self).__name__}: {did}{gain}>"


@dataclass(frozen=True, repr=False)
class KnockoutOutcome(_Refined):
    """A tokeniser after a knockout, and what it did.

    ``removed``: the types that are gone, first one first. ``before`` and ``after``: the scores by
    gold, on the held-out words if there are some; None without gold.
    """

    removed: tuple[str, ...]
    change: "Change" = field(compare=False)

    def __repr__(self) -> str:
        """One line."""
        return self._line(f"{counted(len(self.removed), 'type')} removed")


@dataclass(frozen=True, repr=False)
class ReBPEOutcome(_Refined):
    """A tokeniser after ReBPE, the phases of the run, and scores before and after.

    ``converged``: whether it ended because nothing was left to change.
    """

    phases: "tuple[Phase, ...]"
    converged: bool

    def to_frame(self) -> "pd.DataFrame":
        """A row for each phase: its iteration and kind, sizes, scores, and what it changed."""
        import pandas as pd

        rows = []
        for phase in self.phases:
            row = phase.to_dict()
            changes = row.pop("changes")
            row.pop("removed_by_origin")
            rows.append({**row, **changes})
        kinds = list(dict.fromkeys(kind for phase in self.phases for kind in phase.counts))
        frame = pd.DataFrame(rows)
        return frame.fillna(dict.fromkeys(kinds, 0)).astype(dict.fromkeys(kinds, "int64"))

    def __repr__(self) -> str:
        """One line."""
        return self._line(counted(len(self.phases), "phase"))
