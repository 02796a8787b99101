"""The command that measures texts: measure."""

from typing import Annotated, Any, Literal

import typer
from pydantic import Field

from morphgraph.cli import output
from morphgraph.cli.options import Whole, segmenters_named, with_options, workers_at
from morphgraph.segment.method import Parameters


class CorpusSettings(Parameters):
    """How texts are read and measured.

    column: The column, or field, with the text.
    language_column: The column, or field, with the language.
    parallel: The same lines in several languages, one file each.
    base: With parallel: the language that others are relative to.
    unit: Segment words, or lines as whole texts; lines with parallel.
    bad_lines: What to do with an unreadable line: stop or skip.
    memory: For words and counts, over all workers: 64M or more.
    workers: How many processes; one if not given.
    scheduler: Instead of workers here: the address of a dask scheduler, or its file.
    """

    column: str | None = None
    language_column: str | None = None
    parallel: bool = False
    base: str | None = None
    unit: Literal["words", "lines"] | None = None
    bad_lines: Literal["stop", "skip"] = "stop"
    memory: str = "512M"
    workers: int | None = Field(default=None, ge=1)
    scheduler: str | None = None


@with_options
def measure(
    tokeniser: Annotated[list[str], typer.Argument()],
    *,
    corpus: list[str],
    set_: CorpusSettings,
    alpha: float = 2.5,
    limit: Whole = 50,
    as_json: bool = False,
) -> None:
    """Measure texts of any size: tokens per word, bytes per token, the parity of languages.

    tokeniser: Anything with a vocabulary: tokenizer.json, vocab.json, a list of types, a
        SentencePiece model, a trained model, or demo:en, demo:de, demo:nl.
    corpus: The texts: files, patterns, folders, as count reads them; may be repeated.
    set_: How they are measured, as in column=text,parallel
    alpha: The order of the Rényi efficiency, above 0.
    limit: At most this many files or languages; 0 for all.
    """
    from morphgraph.corpus.counting import parse_memory
    from morphgraph_corpora.measured import MeasuredCorpus
    from morphgraph_corpora.measures import measure_corpus

    options: dict[str, Any] = {**dict(set_), "alpha": alpha, "memory": parse_memory(set_.memory)}
    workers, scheduler = options.pop("workers"), options.pop("scheduler")
    segmenters = segmenters_named(tokeniser)
    with output.progress_line("measuring") as tell:
        options["progress"] = lambda share: tell(f"measuring: {share:.0%}", share)
        with workers_at(workers, scheduler) as (run, there):
            place = {} if run is None else {"run": run, "workers": there}
            measured = MeasuredCorpus(measure_corpus(segmenters, corpus, **place, **options))
    output.print_left_out(measured.measures)
    if as_json:
        output.print_json(measured.to_dict())
    else:
        print(measured.report(limit=limit))
