"""The command that segments words."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    BareOption,
    JsonOption,
    TokeniserOption,
    load_bpe,
    standard_input,
)
from morphgraph.cli.output import print_json
from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.methods import METHODS
from morphgraph.segment.method import parse_method

if TYPE_CHECKING:
    from morphgraph.segment.segmenter import Segmenter


def segment(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words; from standard input if none is given.")
    ] = None,
    tokenizer: TokeniserOption = "demo:en",
    method: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(METHODS.segmenting)}, with parameters as in "
            "dropout(p=0.1, seed=3); a saved model's own if not given."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A model that train --method saved or Picky BPE's authors' trainer wrote, or a "
            "tokeniser or vocabulary for --method."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help="For dropout: this many lines for each word.")
    ] = 1,
    counts: Annotated[
        str | None,
        typer.Option(help="For trimmed: word counts, FILE or wordfreq:LANG."),
    ] = None,
    sentences: Annotated[
        bool,
        typer.Option("--sentences", help="Each argument or line is running text, not one word."),
    ] = False,
    bare: BareOption = False,
    as_json: JsonOption = False,
) -> None:
    """Segment words, one result a line: the tokens, separated by spaces."""
    from morphgraph.segment.models import load_segmenter

    given = words or [line.rstrip("\r\n") for line in standard_input()]
    given = [word for word in given if word.strip()]
    if not given:
        raise MorphGraphError("There are no words to segment. Name some, or pipe one per line.")
    for position, word in enumerate(given, start=1):
        if not sentences and (len(word.split()) > 1 or word != word.strip()):
            raise MorphGraphError(
                f"Word {position}, “{word[:60]}”, has a space in it. Give one word per argument or "
                "line, or add --sentences."
            )
    chosen = method or model or counts or samples > 1
    if chosen:
        name, parameters = parse_method(method) if method else (None, {})
        segmenter = load_segmenter(model or tokenizer, name, counts=counts, **parameters)
    else:
        segmenter = _by_its_own_method(tokenizer)
    encoded = segmenter.encode(given, bare=bare or sentences)
    if samples > 1 and segmenter.undrawn is segmenter:
        raise MorphGraphError("--samples is for dropout; all other methods give one result.")
    found = segmenter.samples(encoded, samples)
    rows: list[dict[str, Any]] = []
    for number, word in enumerate(given):
        for segmentation in found:
            ends = list(segmentation.token_ends(number))
            rows.append(
                {
                    "word": word,
                    "tokens": [segmenter.token_text(encoded, atom, token) for atom, token in ends],
                    "ids": [segmenter.vocabulary_id(token) for _, token in ends],
                    "splits": segmentation.splits(number),
                }
            )
    if as_json:
        signed = {"signature": segmenter.signature()} if chosen else {}
        print_json({"words": rows, **signed})
        return
    for row in rows:
        print(" ".join(row["tokens"]))


def _by_its_own_method(tokenizer: str) -> "Segmenter":
    """Return a tokeniser with its merges, or the method of one without."""
    from morphgraph.segment.models import load_segmenter
    from morphgraph.segment.segmenter import standard_segmenter

    try:
        return standard_segmenter(load_bpe(tokenizer))
    except NoMergesError:
        return load_segmenter(tokenizer)
