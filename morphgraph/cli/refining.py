"""The commands that blame merges and edit a tokeniser: blame, knockout, rebpe, prune, extend."""

from dataclasses import dataclass
from dataclasses import replace as changed
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from morphgraph.cli import output
from morphgraph.cli.options import (
    AS_FOUND,
    GoldReading,
    Named,
    OnGold,
    Whole,
    open_edited,
    with_options,
    word_counts,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.core.text import counted
from morphgraph.refine import KnockoutSettings, PruningOrder, ReBPESettings
from morphgraph.score import SHARE_KEPT

if TYPE_CHECKING:
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.formats.export import Export


@with_options
def blame(
    given: OnGold,
    threshold: float = 0.0,
    scope: Literal["morphemic", "whole-word"] = "morphemic",
    weighting: Literal["types", "tokens"] = "types",
    tuples_once: bool = False,
    limit: Whole = 50,
) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N.

    limit: At most this many merges; 0 for all.
    """
    options: Any = {"scope": scope, "weighting": weighting, "tuples_once": tuples_once}
    blamed = open_edited(given).blame(given.gold_set(), **options)
    shown: Any = {"threshold": threshold, "limit": limit}
    if given.as_json:
        output.print_json(blamed.to_dict(**shown))
    else:
        print(blamed.report(**shown))


def _finish(given: Any, export: "Export | None", told: dict[str, Any], *lines: object) -> None:
    """Print what an edit did, as data or in lines, and what was saved."""
    checks = () if export is None else export.checks
    saved = [] if export is None else [str(given.out / name) for name in export.files]
    if given.as_json:
        output.print_json({**told, "checks": [vars(each) for each in checks], "saved": saved})
        return
    print(*lines, sep="\n")
    if checks:
        from morphgraph.tables.edits import checks_table
        from morphgraph.tables.terminal import text_of

        print(text_of(checks_table(checks)))
    output.print_saved(saved)


@dataclass(frozen=True, kw_only=True)
class EditOptions(OnGold):
    """Options of commands that edit a tokeniser.

    out: Folder for the tokeniser, its recipe and a log; without it, nothing is written.
    """

    out: Path | None = None

    def end(self, result: Any) -> None:
        """Save a result if there is a folder, and print it."""
        told = result.to_dict()
        output.tell_ids(told["ids"], self.as_json)
        export = None if self.out is None else result.save(self.out, words=result.words)
        _finish(self, export, told, result)


@dataclass(frozen=True, kw_only=True)
class KnockoutGiven(EditOptions):
    """Options of a knockout.

    gold: A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input; several with --read join. With --types only for scores, and not needed.
    types: Knock out the types that this file lists, one per line: as shown, as spelled in the
        tokeniser, or by id, such as 12 or #12, if that is not itself a type.
    ids: With --types and --portable. keep: add no type; reuse: add types with the ids of removed
        ones, which keeps more of what is made from these.
    """

    gold: Annotated[list[str], typer.Argument()] = None  # type: ignore[assignment]  # may lack
    types: Path | None = None
    ids: Literal["keep", "reuse"] = "keep"


_Holdout = Annotated[float, typer.Option(min=0, max=0.99)]


@with_options
def knockout(
    given: KnockoutGiven,
    set_: Annotated[KnockoutSettings, "threshold", "count", "portable", "seed"],
    holdout: _Holdout = SHARE_KEPT,
) -> None:
    """Knock out the types whose merges are most to blame, or those of a list, and export the rest.

    It learns from four fifths of the gold's families, and is scored on the others.

    seed: Seed of the words kept aside, and of random types.
    """
    output.check_out(given.out)
    tokeniser = open_edited(given)
    if given.types is not None:
        given.end(_listed(given, set_, tokeniser, given.types))
        return
    if given.ids == "reuse":
        raise MorphGraphError("--ids reuse is for a list of types. Add --types, or leave it out.")
    if not given.gold:
        raise MorphGraphError(
            "A knockout needs to know what to remove. Name a gold segmentation after the "
            "tokeniser, or a file of types with --types."
        )
    with output.progress_bar("knocking out"):
        result = tokeniser.knock_out(given.gold_set(), holdout=holdout, **dict(set_))
    given.end(result)


def _listed(
    given: KnockoutGiven, settings: KnockoutSettings, tokeniser: "Tokeniser", path: Path
) -> Any:
    """Knock out the types of a list, and tell what they cost, on common words without gold."""
    from morphgraph.formats.export import words_to_check
    from morphgraph.reference.plain import reference_of_words
    from morphgraph.refine.knockout import listed_types
    from morphgraph.score.gold_set import GoldSet

    chosen: Any = {"cascade": settings.cascade, "portable": settings.portable}
    if settings != KnockoutSettings(**chosen):
        raise MorphGraphError(
            "--types says what to remove. Leave out all settings but --portable and --set cascade."
        )
    if given.ids == "reuse" and not settings.portable:
        raise MorphGraphError(
            "--ids reuse is for types that --portable adds. Add --portable, or leave out --ids."
        )
    types = listed_types(read_bytes(path), str(path), tokeniser._merges("knockout"))
    if given.gold:
        gold = given.gold_set()
    else:
        words = words_to_check((), name=given.tokeniser)
        gold = GoldSet.of(reference_of_words(words, "common words"), bare=given.bare)
    reused: Any = {"ids": "reuse"} if given.ids == "reuse" else {}
    return tokeniser.knock_out_types(types, gold=gold, **chosen, **reused)


@with_options
def rebpe(
    given: EditOptions,
    set_: Annotated[ReBPESettings, "threshold", "iterations", "portable"],
    holdout: _Holdout = SHARE_KEPT,
    seed: Whole = 0,
) -> None:
    """Run ReBPE: anneal, then knock out and reify in turn until nothing changes.

    It learns from four fifths of the gold's families, and is scored on the others.

    seed: Seed of the words kept aside.
    """
    output.check_out(given.out)
    tokeniser, gold = open_edited(given), given.gold_set()
    drawn: Any = {"holdout": holdout, "seed": seed}
    with output.progress_bar("ReBPE") as advance:
        result = tokeniser.rebpe(gold, **drawn, progress=advance, **dict(set_))
    given.end(result)


# ------------------------------------------------------------------------------ by word counts


@dataclass(frozen=True, kw_only=True)
class CountedEdit:
    """Options of edits by word counts; a gold segmentation can be scored before and after.

    counts: Word counts: FILE (word⇥count per line) or wordfreq:LANG.
    gold: Score this gold segmentation before and after, or demo:en, demo:de, demo:nl.
    out: Folder for the tokeniser and its recipe; without it, nothing is saved.
    """

    tokeniser: Named
    counts: Annotated[str | None, typer.Argument()] = None
    gold: str | None = None
    read: GoldReading = AS_FOUND
    recipe: Path | None = None
    out: Path | None = None
    as_json: bool = False

    @cached_property
    def words(self) -> Any:
        """The word counts, or None; read once."""
        return word_counts(self.counts)

    def end(self, start: "Tokeniser", edited: "Tokeniser", line: str, did: dict[str, Any]) -> None:
        """Save the edited tokeniser, and tell |V|, F1 and tokens per word before and after.

        ``line`` and ``did``: what the edit did, as a line and as data.
        """
        from morphgraph.api.edited import Effect
        from morphgraph.formats.hugging_face import id_counts
        from morphgraph.score.vocabulary_health import compress
        from morphgraph.tables.edits import change_table
        from morphgraph.tables.terminal import text_of

        gold = self.read.gold(self.gold)
        effect = gold and Effect(start, edited, gold)
        figures = [
            {
                "vocab_size": len(each),
                "tokens_per_word": self.words and compress(each._segmenter, self.words).fertility,
                "scores": effect and [pair[n].to_dict() for pair in effect.pairs],
            }
            for n, each in enumerate((start, edited))
        ]
        words = None if gold is None else gold.texts
        ids = output.tell_ids(id_counts(edited._merges("export")), self.as_json)
        export = None if self.out is None else edited.export(self.out, words=words)
        signature = effect.signatures[1] if effect else edited.signature
        lines = [text_of(change_table({"": effect.pairs}))] if effect else []
        lines.append(f"{line}; |V|: {len(start):,} → {len(edited):,}")
        if self.words is not None:
            fertility = (f"{figure['tokens_per_word']:.4f}" for figure in figures)
            lines.append(f"tokens per word: {' → '.join(fertility)}")
        before, after = figures
        told = {**did, "ids": ids, "before": before, "after": after, "signature": signature}
        _finish(self, export, told, *lines, signature)


@with_options
def prune(
    given: CountedEdit,
    by: PruningOrder = "leaf-frequency",
    count: Annotated[int | None, typer.Option(min=0)] = None,
    keep_script: list[str] | None = None,
    drop_script: list[str] | None = None,
    ids: Literal["dense", "keep"] = "dense",
) -> None:
    """Remove types that are hardly needed, with their merges; no other type is lost.

    by: leaf-frequency: repeatedly the rarest that no other is made of; merge-based: by use in
        merges and as tokens; last: repeatedly the last by id that no other is made of; script: by
        characters.
    count: How many types; with --by script all, if not given.
    keep_script: For --by script: keep only types of this script, such as Latin; may be repeated.
    drop_script: For --by script: remove types with a character of this script, such as Han; may be
        repeated.
    ids: dense: no gaps; keep: types keep their ids, and removed ones their entries.
    """
    output.check_out(given.out)
    start = open_edited(given)
    scripts: Any = {"keep_scripts": keep_script or (), "drop_scripts": drop_script or ()}
    pruned = start.prune(count, by=by, counts=given.words, **scripts, ids=ids)
    did = pruned.to_dict()
    for name in ("vocab_size", "never_formed"):
        del did[name]
    given.end(start, pruned.tokeniser, pruned.report().partition(";")[0], did)


@with_options
def extend(
    given: CountedEdit,
    add: Annotated[int | None, typer.Option(min=1)] = None,
    from_: str | None = None,
    words: Path | None = None,
    replace: bool = False,
) -> None:
    """Train further on word counts: new merges come after the existing ones; types keep their ids.

    add: How many new types; fewer if no pairs are left.
    from_: Take over all types that the merges of this tokeniser make, instead of training.
    words: Make each word of this file (one per line) one token in running text, with as few new
        types as training on the words finds.
    replace: New types get the ids of types that the --recipe removed first.
    """
    is_taken = from_ is not None or words is not None
    if (add is not None if is_taken else given.counts is None or add is None) or (from_ and words):
        raise MorphGraphError(
            "It is not clear which types to add. Give either word counts and --add, a tokeniser "
            "with --from, or a file of words with --words."
        )
    output.check_out(given.out)
    start = open_edited(given)
    if words is not None:
        listed = list(map(str.strip, decode_utf8(read_bytes(words), str(words)).splitlines()))
        extended, why = start.extend_by_words(listed, replace=replace)
        added = [text for text in extended.types if text not in start]
        asked = len({*listed} - {"", *why})
        line = "\n".join(
            [
                *(f"“{word}” {reason}" for word, reason in why.items()),
                f"{counted(len(added), 'type')} added for {counted(asked, 'word')} of one token",
            ]
        )
        given.end(start, extended, line, {"added": added, "not_one_token": why})
        return
    other = None if from_ is None else open_edited(changed(given, tokeniser=from_, recipe=None))
    with output.progress_bar("training") as advance:
        extended = start.extend(other or given.words, add, replace=replace, progress=advance)
    added = [text for text in extended.types if text not in start]
    given.end(start, extended, f"{counted(len(added), 'type')} added", {"added": added})
