"""The commands that blame merges and edit a tokeniser: blame, knockout, rebpe, prune, extend."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import Field

from morphgraph.cli import output
from morphgraph.cli.options import (
    AS_FOUND,
    Named,
    OnGold,
    Reading,
    Whole,
    load_edited,
    with_options,
    word_counts,
)
from morphgraph.core.errors import MorphGraphError, check_share
from morphgraph.core.files import read_bytes
from morphgraph.core.text import counted, percent, shortened, signed, visible
from morphgraph.refine import (
    LEAST_JOINS,
    SHARE_HELD_OUT,
    BlameSettings,
    KnockoutSettings,
    PruningOrder,
    ReBPESettings,
)

if TYPE_CHECKING:
    from morphgraph.formats.checks import Check
    from morphgraph.graph.merge_table import Change
    from morphgraph.refine.held_out import HeldOut
    from morphgraph.refine.rebpe_languages import Languages
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.boundaries import Benchmark, BoundaryScore
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.tokeniser.tokeniser import BpeTokeniser


@with_options
def blame(
    given: OnGold,
    threshold: float = 0.0,
    scope: Literal["morphemic", "whole-word"] = "morphemic",
    weighting: Literal["types", "tokens"] = "types",
    tuples_once: bool = False,
    limit: Whole = 50,
    min_joins: Annotated[int, typer.Option(min=1)] = LEAST_JOINS,
) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N.

    With several golds, those that are wrong in one language and right in another come first.

    limit: At most this many merges; 0 for all.
    min_joins: With several golds: joins that a merge needs in a language to be judged there.
    """
    import numpy as np

    from morphgraph.refine.blame import blame as blame_merges
    from morphgraph.refine.blame import blame_columns
    from morphgraph.tokeniser.merging import segment

    check_share("--threshold", threshold)
    how: Any = {"weighting": weighting, "scope": scope, "tuples_once": tuples_once}
    if given.is_several:
        _blame_by_language(given, threshold, limit, minimum=min_joins, **how)
        return
    loaded, benchmark = given.load()
    found = blame_merges(benchmark, segment(loaded.graph, benchmark.words), **how)
    positions = found.candidates(threshold)
    settings = f"{weighting} {scope}" + " tuples once" * tuples_once
    signature = benchmark.signature(loaded, blame=settings)
    columns = blame_columns(loaded, found, positions[: limit or None])
    del columns["merge_id"]
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    merges = [dict(zip(columns, row, strict=True)) for row in rows]
    if given.as_json:
        output.print_json(
            {
                "merges": merges,
                "threshold": threshold,
                "candidates": len(positions),
                "merges_in_all": len(found.arrays),
                "dropout_rate": found.dropout_rate(positions),
                "signature": signature,
            }
        )
        return
    forms = {"rank": ",", "merge": "", "type": "", "N": ",.0f", "B": ",.0f", "R": ".3f"}
    shown = [[format(merge[name], form) for name, form in forms.items()] for merge in merges]
    output.print_table(list(forms), shown, left={1, 2}, keys=2)
    print(f"{len(positions):,} of {counted(len(found.arrays), 'merge')} have R ≥ {threshold}")
    print(signature)


def _blame_by_language(given: OnGold, threshold: float, limit: int, **how: Any) -> None:
    """List the merges whose blame differs most between the languages of the references."""
    from morphgraph.refine.languages import blame_by_language
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.score.languages import names_of
    from morphgraph.tokeniser.merging import segment

    loaded = load_edited(given.tokeniser, given.recipe)
    made = [Benchmark.on(each, loaded) for each in given.gold_sets()]
    names = names_of(each.reference for each in made)
    found = blame_by_language(
        {
            name: (each, segment(loaded.graph, each.words))
            for name, each in zip(names, made, strict=True)
        },
        **how,
    )
    positions = found.order(threshold)
    table = found.frame(loaded, positions[: limit or None])
    settings = f"{how['weighting']} {how['scope']}" + " tuples once" * how["tuples_once"]
    settings += f" from {how['minimum']} joins"
    signatures = [each.signature(loaded, blame=settings) for each in made]
    told = ["rank", "merge", "type", "spread", "worst in", "best in"]
    if given.as_json:
        rows = [
            {name.replace(" ", "_"): row[name] for name in told}
            | {"languages": {n: {key: row[f"{n} {key}"] for key in "NBR"} for n in names}}
            for row in table.to_dict("records")
        ]
        more = {"min_joins": how["minimum"], "candidates": len(positions)}
        output.print_json({"merges": rows, **more, "signatures": signatures})
        return
    shown = [
        [f"{row['rank']:,}", row["merge"], row["type"], f"{row['spread']:.3f}"]
        + [row["worst in"], row["best in"]]
        + [_judged(*(row[f"{name} {key}"] for key in "NBR")) for name in names]
        for row in table.to_dict("records")
    ]
    output.print_table([*told, *names], shown, left={1, 2, 4, 5}, keys=2)
    print("In each language: R (B of N), - where the merge is never applied.")
    print(
        f"{counted(len(positions), 'merge')} with {how['minimum']:,} joins or more in two languages"
    )
    print(*signatures, sep="\n")


def _judged(joins: float, wrong: float, ratio: float) -> str:
    """Write R with B and N; R is n/a below the minimum of joins."""
    if not joins:
        return "-"
    return f"{'n/a' if ratio != ratio else f'{ratio:.2f}'} ({wrong:,.0f} of {joins:,.0f})"


def _exported(
    edited: "BpeTokeniser", given: "EditOptions | CountedEdit", words: Sequence[str]
) -> "tuple[Sequence[Check], dict[str, bytes]]":
    """Return the checks on words, the given ones first, and the files; none without --out."""
    from morphgraph.formats.export import words_to_check
    from morphgraph.formats.opening import settings_beside
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.models import export_segmenter

    if given.out is None:
        return (), {}
    source = given.tokeniser
    made = export_segmenter(
        Bte(edited), words_to_check(words, name=source), settings_beside(source)
    )
    return made.checks, made.files


def _print_end(checks: "Sequence[Check]", saved: Sequence[str], signature: str) -> None:
    output.print_checks(checks)
    output.print_saved(saved)
    print(signature)


@dataclass(frozen=True, kw_only=True)
class EditOptions(OnGold):
    """What becomes of a tokeniser that is edited.

    out: Folder for the tokeniser and its recipe.
    drop_never_formed: Also remove the types that this leaves, but no merge can form any more.
    """

    out: Path | None = None
    drop_never_formed: bool = False

    def never_formed(self, edited: "BpeTokeniser", edits_before: int) -> dict[str, Any]:
        """Return the types that edits left unformed, if removed: their number, the first ten."""
        from morphgraph.tokeniser.merging import never_formed

        graph = edited.graph
        newly = never_formed(graph, len(graph.history) - edits_before)
        found = [number for number in newly if graph.is_removable(number)]
        if self.drop_never_formed and found:
            graph.cascade([graph.types[number] for number in found])
        first = [edited.readable(graph.types[number]) for number in found[:10]]
        return {"count": len(found), "first": first, "removed": self.drop_never_formed}


@dataclass(frozen=True, kw_only=True)
class KnockoutOptions(EditOptions):
    """What is knocked out, and what it is scored with.

    gold: A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input; several with --read join. With --types only for scores, and not needed.
    types: Knock out just the types that this file lists, one a line: as shown, as spelt in the
        tokeniser, or by id, where there is no such type, as 12 or #12.
    """

    gold: Annotated[list[str], typer.Argument()] = None  # type: ignore[assignment]  # may lack
    types: Path | None = None

    def load(self) -> "tuple[BpeTokeniser, Benchmark]":
        """Load the tokeniser, and the words of the reference, or common ones without gold."""
        from morphgraph.formats.export import words_to_check
        from morphgraph.reference.plain import reference_of_words
        from morphgraph.score.boundaries import Benchmark

        if self.gold:
            return super().load()
        if self.types is None:
            raise MorphGraphError(
                "A knockout needs to know what to remove. Name a gold segmentation after the "
                "tokeniser, or a file of types with --types."
            )
        loaded = load_edited(self.tokeniser, self.recipe)
        words = words_to_check((), name=self.tokeniser)
        plain = reference_of_words(words, "common words")
        return loaded, Benchmark.build(loaded, plain, bare=self.bare)


def portable_line(change: "Change") -> str:
    """Say what it took to leave only pair merges.

    >>> from morphgraph.graph.merge_graph import MergeGraph
    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "b", "c"), ("x", "y", "z")])
    >>> portable_line(graph.portable())
    'portable: 1 tuple merge became a pair, 0 more merges lead there, 1 type is gone'
    """
    pairs, gone = change.counts().get("paired", 0), len(change.removed_types)
    return (
        f"portable: {counted(pairs, 'tuple merge became a pair', 'tuple merges became pairs')}, "
        f"{len(change.added_merges):,} more merges lead there, "
        + counted(gone, "type is gone", "types are gone")
    )


def _print_never_formed(never: dict[str, Any]) -> None:
    if never["count"]:
        print(
            f"{counted(never['count'], 'type')} that no merge forms any more: "
            + ", ".join(f"“{shortened(visible(text), 20)}”" for text in never["first"])
            + (", …" if never["count"] > len(never["first"]) else "")
            + ("; removed" if never["removed"] else "; --drop-never-formed removes them")
        )


_HOLDOUT: Any = Field(
    default=SHARE_HELD_OUT,
    ge=0,
    lt=1,
    description="Share of the words without which all is learned once more, for scores on words "
    "not learned from; 0 for none.",
)


class _Knockout(KnockoutSettings):
    holdout: float = _HOLDOUT


class _ReBPE(ReBPESettings):
    holdout: float = _HOLDOUT


def _held_out(
    loaded: "BpeTokeniser", benchmark: "Benchmark", settings: BlameSettings, edits_before: int
) -> "HeldOut | None":
    """Learn what was learned once more, without a share of the words, and score these."""
    from morphgraph.refine.held_out import held_out, learned_steps

    if not settings.holdout or not learned_steps(loaded, benchmark):
        return None
    try:
        drawn = settings.holdout, settings.seed
        return held_out(loaded, benchmark, *drawn, edits_before=edits_before)
    except MorphGraphError as error:  # too few words
        output.print_message(str(error))
        return None


def _held_out_report(found: "HeldOut | None") -> dict[str, Any] | None:
    from morphgraph.score.boundaries import score_report

    if found is None:
        return None
    signature = found.scored.signature(found.tokeniser)
    return {
        "before": score_report(found.scored, found.before, found.signature_before),
        "after": score_report(found.scored, found.after, signature),
    }


def _print_scores(
    after: "list[BoundaryScore]", before: "list[BoundaryScore]", found: "HeldOut | None"
) -> None:
    """Print scores on the words learned from, and on held-out ones first."""
    if found is not None:
        print(f"on held-out words ({found.scored.drawn}), all learned again without them:")
        output.print_scores(found.after, found.before)
        print("on all words, which it was learned from:")
    output.print_scores(after, before)


@with_options
def knockout(
    given: KnockoutOptions,
    set_: Annotated[_Knockout, "threshold", "holdout", "count", "portable"],
) -> None:
    """Knock out the types whose merges are most to blame, or those of a list, and export the rest.

    What the types of a list cost is told first; without --out nothing is written.
    """
    from morphgraph.refine.knockout import knock_out, share_of_leaves
    from morphgraph.refine.learning import remember
    from morphgraph.score.boundaries import score_report

    output.check_out(given.out)
    settings = set_
    loaded, benchmark = given.load()
    if given.types is not None:
        _knock_out_listed(given, settings, given.types, loaded, benchmark)
        return
    edits_before = len(loaded.graph.history)
    learning = KnockoutSettings(**{**dict(settings), "holdout": 0.0})
    with output.progress_bar("knocking out"):
        result = knock_out(loaded, benchmark, learning)
        held_out = _held_out(loaded, benchmark, settings, edits_before)
    if result.removed:
        remember(loaded, benchmark, learning)
    never = given.never_formed(loaded, edits_before)
    checks, files = _exported(loaded, given, benchmark.texts)
    saved = output.save_files(files, given.out)
    before = score_report(result.scored, result.before, result.signature_before)
    signature = result.scored.signature(loaded)
    if given.as_json:
        output.print_json(
            {
                "before": before,
                "after": score_report(result.scored, result.after, signature),
                "held_out": _held_out_report(held_out),
                "removed": result.removed,
                "portable": None if result.portable is None else result.portable.counts(),
                "never_formed": never,
                "tokens_added": result.tokens_added,
                "checks": list(map(asdict, checks)),
                "dropout_rate": result.dropout_rate,
                "share_of_merges": result.share_of_merges,
                "share_of_leaves_in_last_half": share_of_leaves(loaded.graph),
                "vocab_size": loaded.vocabulary_size,
                "seconds": result.seconds,
                "saved": saved,
            }
        )
        return
    _print_scores(result.after, result.before, held_out)
    print("tokens added: " + signed(100 * result.tokens_added, unit=" %"))
    print(
        f"{counted(len(result.removed), 'type')} removed ({result.share_of_merges:.1%} of the "
        f"merges, effective dropout rate {percent(result.dropout_rate)} %); |V| is now "
        f"{loaded.vocabulary_size:,}"
    )
    if result.portable is not None:
        print(portable_line(result.portable))
    _print_never_formed(never)
    if settings.select in ("last", "leaves"):
        leaves = percent(share_of_leaves(loaded.graph))
        print(f"{leaves} % of the last half of all merges make leaves")
    output.print_skipped(before["skipped"])
    _print_end(checks, saved, signature)


def _knock_out_listed(
    given: KnockoutOptions,
    settings: KnockoutSettings,
    path: Path,
    loaded: "BpeTokeniser",
    benchmark: "Benchmark",
) -> None:
    """Tell what the types of a list cost, and knock them out."""
    from morphgraph.refine.knockout import listed_types
    from morphgraph.refine.study import Study

    cascade, portable = settings.cascade, settings.portable
    if settings != _Knockout(cascade=cascade, portable=portable):
        raise MorphGraphError(
            "--types says what to remove. Of the settings, give only --portable and --set cascade."
        )
    types = listed_types(read_bytes(path), str(path), loaded)
    found = Study(loaded, benchmark).preview(types, cascade=cascade, portable=portable)
    if not given.as_json:
        print(*found.cost(), sep="\n")
    edits_before = len(loaded.graph.history)
    changes = loaded.graph.replay(found.steps)
    removed = [loaded.types[number] for change in changes for number in change.removed_types]
    never = given.never_formed(loaded, edits_before)
    checks, files = _exported(loaded, given, benchmark.texts)
    saved = output.save_files(files, given.out)
    signature = benchmark.signature(loaded)
    if given.as_json:
        output.print_json(
            {
                "cost": found.to_dict(),
                "removed": removed,
                "never_formed": never,
                "vocab_size": loaded.vocabulary_size,
                "checks": list(map(asdict, checks)),
                "saved": saved,
                "signature": signature,
            }
        )
        return
    print(f"{counted(len(removed), 'type')} removed; |V| is now {loaded.vocabulary_size:,}")
    _print_never_formed(never)
    _print_end(checks, saved, signature)


@with_options
def rebpe(
    given: EditOptions,
    set_: Annotated[_ReBPE, "threshold", "holdout", "portable"],
    weights: str | None = None,
) -> None:
    """Run ReBPE: anneal, then knock out and reify in turn until nothing changes.

    On several golds, a phase that would make one of them worse than at the start is tried
    again with what is right there left alone, or left out.

    weights: With several golds: what each weighs in blame, such as 1,2; all alike if not
        given.
    """
    from morphgraph.refine.learning import remember
    from morphgraph.refine.rebpe_languages import LanguagesRun, held_out_by_language
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.boundaries import score_report

    output.check_out(given.out)
    settings = set_
    learning, languages = ReBPESettings(**{**dict(settings), "holdout": 0.0}), None
    if given.is_several:
        loaded, benchmark, languages, golds = _load_languages(given, weights)
    elif weights is not None:
        raise MorphGraphError(
            "--weights says what each of several golds weighs. Name these, and leave out "
            "--read join."
        )
    else:
        loaded, benchmark = given.load()
        golds = [benchmark]
    run: ReBPERun
    with output.progress_bar("ReBPE") as advance:
        if languages is not None:
            started = loaded.copy()
            run = LanguagesRun(loaded, benchmark, languages, learning)
        else:
            run = ReBPERun(loaded, benchmark, learning)
        before = run.scored.scores(run.segment_scored())
        run.finish(advance)
        held_out = _held_out(loaded, benchmark, settings, run.edits_before)
        by_language = None
        if languages is not None:
            unseen = None
            if settings.holdout:
                unseen = held_out_by_language(started, benchmark, languages, settings)
            by_language = _language_rows(run, languages, unseen)
    for gold_set in golds:
        remember(loaded, gold_set, run.settings)
    never = given.never_formed(loaded, run.edits_before)
    after = run.scored.scores(run.segment_scored())
    checks, files = _exported(loaded, given, benchmark.texts)
    report: dict[str, Any] = {
        "phases": [phase.to_dict() for phase in run.phases],
        "before": [found.to_dict() for found in before],
        "after": [found.to_dict() for found in after],
        **score_report(run.scored, after, run.scored.signature(loaded)),
        "held_out": _held_out_report(held_out),
        **({} if by_language is None else {"languages": by_language}),
        "converged": run.converged,
        "never_formed": never,
        "tokens_added": run.tokens_added,
        "checks": list(map(asdict, checks)),
        "vocab_size": loaded.vocabulary_size,
        "seconds": sum(phase.seconds for phase in run.phases),
    }
    if files:
        log = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
        report["saved"] = output.save_files({**files, "log.json": log.encode()}, given.out)
    if given.as_json:
        output.print_json(report)
        return
    rows = [
        [
            str(phase.iteration),
            phase.kind,
            f"{phase.vocabulary_size:,}",
            *(percent(getattr(phase.score, name)) for name in ("precision", "recall", "f1")),
            ", ".join(f"{number:,} {kind}" for kind, number in phase.counts.items()),
            f"{phase.seconds:.3f}",
        ]
        for phase in run.phases
    ]
    header = ["iteration", "phase", "|V|", "precision %", "recall %", "F1 %", "merges", "s"]
    output.print_table(header, rows, left={1, 6}, keys=2)
    _print_scores(after, before, held_out)
    _print_by_language(by_language or ())
    print("tokens added: " + signed(100 * run.tokens_added, unit=" %"))
    end = "converged" if run.converged else "stopped at the limit of iterations"
    print(f"{end} after {report['seconds']:.2f} s; |V| is now {loaded.vocabulary_size:,}")
    _print_never_formed(never)
    output.print_skipped(report["skipped"])
    _print_end(checks, report.get("saved", ()), report["signature"])


def _load_languages(
    given: OnGold, weights: str | None
) -> "tuple[BpeTokeniser, Benchmark, Languages, list[GoldSet]]":
    """Load the tokeniser, the words of all references, and each reference by itself."""
    from morphgraph.refine.rebpe_languages import Languages
    from morphgraph.score.boundaries import Benchmark

    try:
        chosen = [float(each) for each in weights.split(",")] if weights else []
    except ValueError as error:
        raise MorphGraphError(
            f"--weights {weights}: give numbers separated by commas, such as 1,2."
        ) from error
    golds = given.golds()
    languages = Languages.joined(golds, chosen)
    loaded = load_edited(given.tokeniser, given.recipe)
    [joined, *apart] = given.gold_sets([languages.reference, *golds])
    return loaded, Benchmark.on(joined, loaded), languages, [joined, *apart]


_Unseen = tuple[dict[str, float], dict[str, float]]


def _language_rows(
    run: "ReBPERun", languages: "Languages", unseen: _Unseen | None
) -> list[dict[str, Any]]:
    """Return the F1 of each language before and after, on words learned from and held out."""
    first, last = (run.phases[n].f1_by_language for n in (0, -1))
    return [
        {"language": name, "weight": weight, "before": first[name], "after": last[name]}
        | ({} if unseen is None else {"held_out": [each[name] for each in unseen]})
        for name, weight in zip(languages.names, languages.weights, strict=True)
    ]


def _print_by_language(rows: Sequence[dict[str, Any]]) -> None:
    """Print F1 by language, and say which are worse on words that were not learned from."""
    if not rows:
        return
    unseen = "held_out" in rows[0]
    print(
        "F1 % by language, on the words that it was learned from"
        + (", and on held-out words, all learned again without them:" if unseen else ":")
    )
    shown = [
        [row["language"], f"{row['weight']:g}"]
        + [
            " → ".join(map(percent, pair))
            for pair in ((row["before"], row["after"]), row.get("held_out"))
            if pair is not None
        ]
        for row in rows
    ]
    header = ["language", "weight", "learned from", *["held out"] * unseen]
    output.print_table(header, shown, left={0})
    pairs = [(row["language"], row["held_out"]) for row in rows if unseen]
    worse = [name for name, (before, after) in pairs if after < before]
    if worse:
        print(f"worse on held-out words: {', '.join(map(visible, worse))}")


# ------------------------------------------------------------------------------ by word counts


@dataclass(frozen=True, kw_only=True)
class CountedEdit:
    """An edit by word counts, which a gold segmentation can be scored before and after.

    counts: Word counts: FILE (word⇥count a line) or wordfreq:LANG.
    gold: Score this gold segmentation before and after, or demo:en, demo:de, demo:nl.
    out: Folder for the tokeniser and its recipe; without it, nothing is saved.
    """

    tokeniser: Named
    counts: Annotated[str | None, typer.Argument()] = None
    gold: str | None = None
    read: Reading = AS_FOUND
    recipe: Path | None = None
    out: Path | None = None
    as_json: bool = False

    @cached_property
    def words(self) -> Any:
        """The word counts, or None; read once."""
        return word_counts(self.counts)

    def make(self, edit: "Callable[[BpeTokeniser], tuple[str, dict[str, Any]]]") -> None:
        """Edit the tokeniser, save it, and tell |V|, F1 and tokens per word before and after.

        ``edit`` returns what it did, as a line and as data.
        """
        from morphgraph.score.boundaries import Benchmark
        from morphgraph.score.gold_set import GoldSet
        from morphgraph.score.vocabulary import compress
        from morphgraph.segment.bte import Bte
        from morphgraph.tokeniser.merging import segment

        output.check_out(self.out)
        gold = self.read.gold(self.gold)
        loaded = load_edited(self.tokeniser, self.recipe)
        benchmark = gold and Benchmark.on(GoldSet.of(gold), loaded)

        def figures() -> dict[str, Any]:
            return {
                "vocab_size": loaded.vocabulary_size,
                "tokens_per_word": self.words and compress(Bte(loaded), self.words).fertility,
                "scores": benchmark and benchmark.scores(segment(loaded.graph, benchmark.words)),
            }

        before = figures()
        line, did = edit(loaded)
        after = figures()
        words = benchmark.texts if benchmark else ()
        checks, files = _exported(loaded, self, words)
        saved = output.save_files(files, self.out)
        signature = benchmark.signature(loaded) if benchmark else Bte(loaded).signature()
        if self.as_json:
            for found in (before, after):
                found["scores"] = found["scores"] and [one.to_dict() for one in found["scores"]]
            made = {"checks": list(map(asdict, checks)), "saved": saved, "signature": signature}
            output.print_json({**did, "before": before, "after": after, **made})
            return
        if benchmark is not None:
            output.print_scores(after["scores"], before["scores"])
        print(f"{line}; |V|: {before['vocab_size']:,} → {after['vocab_size']:,}")
        if self.words is not None:
            fertility = (f"{found['tokens_per_word']:.4f}" for found in (before, after))
            print(f"tokens per word: {' → '.join(fertility)}")
        _print_end(checks, saved, signature)


@with_options
def prune(
    given: CountedEdit,
    by: PruningOrder = "leaf-frequency",
    count: Annotated[int | None, typer.Option(min=0)] = None,
    keep_corpus: bool = False,
    keep_script: list[str] | None = None,
    drop_script: list[str] | None = None,
    ids: Literal["dense", "keep"] = "dense",
) -> None:
    """Remove types that are hardly needed, with their merges; no other type gets lost.

    by: leaf-frequency: the rarest that no other is made of, again and again; merge-based: by use in
        merges and as tokens; last: the same as the first, by id; script: by the characters.
    count: How many types; with --by script all, if not given.
    keep_corpus: Instead, remove all types that the counts do not need: their words are segmented as
        before.
    keep_script: For --by script: only types of this script stay, such as Latin; may be repeated.
    drop_script: For --by script: types with a character of this one go, such as Han; may be
        repeated.
    ids: dense: no gaps; keep: types keep their ids, and removed ones their entries.
    """
    from morphgraph.refine.pruning import preview_prune, preview_trim

    if keep_corpus and (count is not None or given.counts is None):
        raise MorphGraphError(
            "--keep-corpus removes what word counts do not need. Name these after the tokeniser, "
            "and leave out --count."
        )

    def edit(loaded: "BpeTokeniser") -> tuple[str, dict[str, Any]]:
        said, did = "", dict[str, Any]()
        if keep_corpus:
            trim = preview_trim(loaded, given.words)
            change = trim.change
            did = {"kept": trim.kept, "closure": trim.closure}
            said = f", {trim.kept:,} that merges make kept ({trim.closure:,} with all merges as is)"
        else:
            scripts: Any = {"keep_scripts": keep_script or (), "drop_scripts": drop_script or ()}
            change = preview_prune(loaded, count, by, given.words, **scripts)
        loaded.graph.apply(change)
        loaded.id_choice = ids
        removed = [loaded.types[number] for number in change.removed_types]
        return f"{counted(len(removed), 'type')} removed{said}", {"removed": removed, **did}

    given.make(edit)


@with_options
def extend(
    given: CountedEdit,
    add: Annotated[int, typer.Option(min=1)],
    replace: bool = False,
) -> None:
    """Go on training on word counts, after all merges of before; types keep their ids.

    add: How many new types; fewer if no pairs are left.
    replace: New types get the ids of types that the --recipe removed first.
    """
    from morphgraph.refine.extending import extend as extend_by

    if given.counts is None:
        raise MorphGraphError("Nothing says what to train on. Name word counts.")

    def edit(loaded: "BpeTokeniser") -> tuple[str, dict[str, Any]]:
        with output.progress_bar("training") as advance:
            change = extend_by(loaded, given.words, add, replace=replace, progress=advance)
        added = [loaded.types[number] for number in change.added_types]
        return f"{counted(len(added), 'type')} added", {"added": added}

    given.make(edit)
