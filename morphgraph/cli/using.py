"""The commands that use, measure, compare and export tokenisers."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from morphgraph.cli import output
from morphgraph.cli.options import (
    AS_FOUND,
    GoldReading,
    Named,
    Whole,
    load_any,
    load_edited,
    segmenters_named,
    standard_input,
    with_options,
    word_counts,
)
from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.core.text import SHOWN_MARKER
from morphgraph.segment.method import METHODS, method_named, parse_method

if TYPE_CHECKING:
    from morphgraph.api.diff import TokeniserDiff
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter


@with_options
def segment(
    tokeniser: Named,
    word: Annotated[list[str] | None, typer.Argument()] = None,
    method: str | None = None,
    samples: Annotated[int, typer.Option(min=1, max=1000)] = 1,
    counts: str | None = None,
    sentences: bool = False,
    bare: bool = False,
    tree: bool = False,
    gold: str | None = None,
    read: GoldReading = AS_FOUND,
    as_json: bool = False,
) -> None:
    """Segment words, one result per line: the tokens, separated by spaces.

    tokeniser: Anything that segments: a BPE, WordPiece or Unigram tokeniser, a model that train
        saved or the trainer of Picky BPE's authors wrote, a list of types, or demo:en, demo:de,
        demo:nl.
    word: Words; read from standard input if none is given.
    method: {segmenting}, with parameters as in dropout(p=0.1, seed=3); the tokeniser's own if not
        given.
    samples: For dropout: this many lines for each word.
    sentences: Each argument or line is running text, not one word.
    tree: Draw the merge tree of each word in characters, with the ranks of its merges.
    gold: With --tree: also the blame of each merge, and the gold boundaries that it closes.
    """
    if gold is not None and not tree:
        raise MorphGraphError("--gold is for the blame in trees. Add --tree, or leave it out.")
    known = read.gold(gold)
    given = word or [line.rstrip("\r\n") for line in standard_input()]
    given = [each for each in given if each.strip()]
    if not given:
        raise MorphGraphError("There are no words to segment. Name some, or pipe one per line.")
    for position, each in enumerate(given, start=1):
        if not sentences and (len(each.split()) > 1 or each != each.strip()):
            raise MorphGraphError(
                f"Word {position}, “{each[:60]}”, has a space in it. Give one word per argument or "
                "line, or add --sentences."
            )
    name, parameters = parse_method(method) if method else (None, {})
    if name is not None:  # before they are keywords
        method_named(name, METHODS.segmenting).settings(parameters)
    segmenter = load_any(tokeniser, name, counts=counts, **parameters)
    if tree:
        _print_trees(segmenter, given, known, as_json=as_json)
        return
    encoded = segmenter.encode(given, bare=bare or sentences)
    if samples > 1 and segmenter.undrawn is segmenter:
        raise MorphGraphError(
            "--samples is for dropout: other methods give one result. Leave it out."
        )
    drawn = segmenter.samples(encoded, samples)
    rows: list[dict[str, Any]] = [
        {
            "word": text,
            "tokens": segmenter.token_texts(one, number),
            "ids": [segmenter.vocabulary_id(token) for _, token, _ in one.named_ends(number)],
            "splits": one.splits(number),
        }
        for number, text in enumerate(given)
        for one in drawn
    ]
    if as_json:
        output.print_json({"words": rows, "signature": segmenter.signature()})
        return
    for row in rows:  # a token of several words must not look like several tokens
        print(" ".join(token.replace(" ", SHOWN_MARKER) for token in row["tokens"]))


def _print_trees(
    segmenter: "Segmenter", words: list[str], gold: "GoldSet | None", *, as_json: bool
) -> None:
    from morphgraph.api.with_merges import Tokeniser

    trees = [Tokeniser(segmenter).tree(word, gold) for word in words]
    if as_json:
        output.print_json({"trees": [each.to_dict() for each in trees]})
    else:
        print("\n\n".join(map(str, trees)))


# ------------------------------------------------------------------------------ vocabulary


@with_options
def vocabulary(
    tokeniser: Annotated[list[str], typer.Argument()],
    frequencies: str | None = None,
    gold: str | None = None,
    read: GoldReading = AS_FOUND,
    recipe: Path | None = None,
    against: str | None = None,
    alpha: float = 2.5,
    list_: str | None = None,
    limit: Whole = 50,
    as_json: bool = False,
) -> None:
    """Measure vocabularies: useless types, compression of a corpus, morphs that are types.

    With --recipe one tokeniser is measured before its edits and after them.

    tokeniser: Anything with a vocabulary: tokenizer.json, vocab.json, a list of types, a
        SentencePiece model, a trained model, or demo:en, demo:de, demo:nl.
    frequencies: Word counts that types are counted in: FILE or wordfreq:LANG.
    against: Compare with this tokeniser instead: the types in both, and those in one only.
    alpha: The order of the Rényi efficiency, above 0.
    list_: Print the types behind a figure: never_used, unreachable (their own string is segmented
        differently), duplicates…; with --against shared_types, dropped_types, added_types.
    limit: At most this many in a list; 0 for all.
    """
    from morphgraph.score.vocabulary_figures import figure_called, list_behind
    from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth, check_alpha
    from morphgraph.tables.figures import figure_table, figures_json, signature
    from morphgraph.tables.model import frame_table
    from morphgraph.tables.terminal import report_of, text_of
    from morphgraph.tables.vocabularies import ComparedVocabularies

    check_alpha(alpha)
    if list_ is not None:
        figure = figure_called(list_)
        if not figure.has_list:
            raise MorphGraphError(f"There is no list behind “{figure.label}”. Use another --list.")
    segmenters = _segmenters([*filter(None, [against]), *tokeniser], recipe)
    known = NamedCounts(word_counts(frequencies), frequencies) if frequencies else None
    gold_set = read.gold(gold)
    entries = None if gold_set is None else gold_set.reference
    with output.progress_bar("counting"):
        healths = [
            VocabularyHealth(segmenter, known, entries, label=label)
            for label, segmenter in segmenters.items()
        ]
    if against and list_ is None:
        compared = [ComparedVocabularies(healths[0], one) for one in healths[1:]]
        if as_json:
            output.print_json({"compared": [each.to_dict() for each in compared]})
        else:
            print("\n\n".join(map(str, compared)))
        return
    if as_json:
        output.print_json(figures_json(healths, alpha, list_, limit))
        return
    if list_ is None:
        print(report_of(figure_table(healths, alpha)))
        return
    for health in healths[1:] if against else healths:
        table = list_behind(health, list_, baseline=healths[0])
        table = table.drop(columns="type_id")
        shown = table[: limit or None]
        print(f"{health.label}: {len(shown):,} of {len(table):,}")
        if len(shown):
            print(text_of(frame_table(shown)))
    print(signature(healths, alpha))


def _segmenters(sources: list[str], recipe: Path | None) -> "dict[str, Segmenter]":
    from morphgraph.segment.bte import Bte

    if recipe is not None:
        if len(sources) != 1:
            raise MorphGraphError("--recipe is for one tokeniser. Leave out all others.")
        edited = Bte(load_edited(sources[0], recipe))
        before = Bte(edited.tokeniser.fork())
        return {"before the edits": before, "after the edits": edited}
    return segmenters_named(sources)


# ------------------------------------------------------------------------------ diff

_LIMIT = re.compile(r"ids|special|cost=(\d+(?:\.\d+)?)%")


@with_options
def diff(
    before: Named,
    after: Named,
    text: Annotated[list[str] | None, typer.Argument()] = None,
    fail_on: str | None = None,
    as_json: bool = False,
) -> None:
    """Report what changes for texts and models when one tokeniser replaces another.

    before: Anything that segments: a file, a folder, or demo:en, demo:de, demo:nl.
    after: The tokeniser that replaces it, such as an edited one.
    text: Files with a text on each line; a sample of 1,000 sentences if there is none.
    fail_on: End with exit code 1 if a type has another id (ids), a special token is encoded
        differently (special), or tokens per word grow by more than a share (cost=2%), as in
        ids,special,cost=2%.
    """
    from morphgraph.api.diff import diff as compared
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.corpus.texts import texts_in_order

    limits = [*map(str.strip, fail_on.split(","))] if fail_on is not None else []
    for limit in limits:
        if not _LIMIT.fullmatch(limit):
            raise MorphGraphError(
                f"“{limit}” is not a limit of --fail-on. Use any of ids, special and cost=2%, "
                "separated by commas."
            )
    texts = [line for path in text or () for line, _ in texts_in_order(path) if line]
    one, other = (Tokeniser(load_any(source)) for source in (before, after))
    report = compared(one, other, texts if text else None)
    if as_json:
        output.print_json(report.to_dict())
    else:
        print(report)
    broken = [limit for limit in limits if _is_broken(report, limit)]
    if broken:
        output.print_message(f"limits exceeded: {', '.join(broken)}")
        raise typer.Exit(1)


def _is_broken(report: "TokeniserDiff", limit: str) -> bool:
    if limit.startswith("cost="):
        return report.cost > float(limit[5:-1]) / 100
    return bool(report.remapped if limit == "ids" else report.special)


# ------------------------------------------------------------------------------ export


@with_options
def export(
    tokeniser: Named,
    out: Path,
    recipe: Path | None = None,
    method: str | None = None,
    counts: str | None = None,
    gold: str | None = None,
    read: GoldReading = AS_FOUND,
    portable: bool = False,
    pattern: str | None = None,
    ids: Literal["dense", "keep", "reuse"] | None = None,
    ranks: bool = False,
    into: Path | None = None,
    as_json: bool = False,
) -> None:
    """Export for transformers: compare 10,000 words and 1,000 sentences, then write the files.

    What differs from the original is counted, here and in the folder's README.

    tokeniser: Anything that segments: a BPE, WordPiece or Unigram tokeniser, a trained model, a
        list of types, or demo:en, demo:de, demo:nl.
    out: Folder for the files; or one file: NAME.gguf for llama.cpp, NAME.tiktoken for tiktoken, or
        tekken.json for mistral-common. It is refused if these would segment differently.
    method: {offered}, on the tokeniser or on a vocabulary, with parameters as in flota(k=2); its
        merges, or a saved model's method, if not given.
    gold: Compare on the words of this gold segmentation first.
    portable: Leave only pair merges, so that every library reads it. rebpe and knockout have
        the same option, and use their gold for it.
    pattern: How text is cut, for a rank file of tiktoken or a GGUF file that does not say: a
        regular expression, or the name of an encoding that does the same, such as cl100k_base.
    ids: keep: types keep their ids, as with --portable; reuse: new types get the ids of removed
        ones first; dense: no gaps.
    ranks: Also write a rank file for tiktoken into the folder.
    into: The model's GGUF file. --out becomes a copy of it in which only the tokeniser differs;
        without --into a GGUF file has the vocabulary alone.
    """
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.formats.export import words_to_check
    from morphgraph.formats.hugging_face import id_counts
    from morphgraph.formats.ranks import to_ranks
    from morphgraph.segment.models import export_to, writer_named
    from morphgraph.tables.edits import export_report

    known = read.gold(gold)
    is_file = writer_named(out) is not None
    if not is_file:
        output.check_out(out.parent if into or out.suffix == ".gguf" else out)
    segmenter = _to_export(tokeniser, recipe, method, counts, portable, ids, pattern)
    edits = segmenter.editable
    told = {} if edits is None else {"ids": output.tell_ids(id_counts(edits), as_json)}
    if is_file:
        Tokeniser(segmenter).save(out)
        if as_json:
            output.print_json({"files": [out.name], "signature": segmenter.signature(), **told})
            return
        output.print_saved([out])
        print(segmenter.signature())
        return
    ranked = {}
    if ranks:
        if segmenter.editable is None:
            raise MorphGraphError(
                f"{segmenter.name} has no merges for a rank file. Leave out --ranks."
            )
        ranked["ranks.tiktoken"] = to_ranks(segmenter.editable)
    words = words_to_check(known.texts if known else (), name=tokeniser)
    with output.progress_bar("comparing"):
        exported = export_to(segmenter, out, words, ranked, into)
    if as_json:
        output.print_json({**exported.to_dict(), **told})
        return
    print(export_report(exported))
    output.print_saved([out / name for name in exported.files] or [out])
    print(exported.signature)


def _to_export(
    tokeniser: str,
    recipe: Path | None,
    method: str | None,
    counts: str | None,
    portable: bool,
    ids: Literal["dense", "keep", "reuse"] | None,
    pattern: str | None,
) -> "Segmenter":
    """Return what to export: a tokeniser as edited, or a method on it or on a vocabulary."""
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.models import load_segmenter
    from morphgraph.segment.segmenter import method_on

    name, parameters = parse_method(method) if method else (None, {})
    if name is not None and name in METHODS and METHODS[name].needs == "training":
        raise MorphGraphError(f"{name} has to be trained. Export a model that train {name} saved.")
    try:
        loaded = load_edited(tokeniser, recipe, pattern)
    except NoMergesError as error:
        if recipe is None:
            return load_segmenter(tokeniser, name, pattern=pattern, counts=counts, **parameters)
        fix = "Choose a BPE tokeniser, or leave out --recipe."
        raise NoMergesError(error.file, error.place, error.problem, fix) from error
    loaded.id_choice = ids
    if portable:
        from morphgraph.refine.portable_edits import preview_portable

        loaded.graph.apply(preview_portable(loaded.graph))
    return method_on(loaded, name, parameters, counts) if name else Bte(loaded)
