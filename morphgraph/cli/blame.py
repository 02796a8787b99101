"""The command that lists merges by blame."""

from typing import Annotated

import typer

from morphgraph.cli.options import (
    BareOption,
    Drawn,
    EncodingOption,
    FirstOption,
    ForeignOption,
    FormatOption,
    FrequenciesOption,
    JoinOption,
    JsonOption,
    ReferenceOption,
    SampleOption,
    SampleSeedOption,
    ScopeOption,
    ThresholdOption,
    TokeniserOption,
    TuplesOption,
    WeightingOption,
    check_threshold,
    load_benchmark,
    one_of,
)
from morphgraph.cli.output import print_json, print_table
from morphgraph.core.text import counted


def blame(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    join: JoinOption = False,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    scope: ScopeOption = "morphemic",
    weighting: WeightingOption = "types",
    tuples_once: TuplesOption = False,
    threshold: ThresholdOption = 0.0,
    limit: Annotated[int, typer.Option(min=0, help="At most this many merges; 0 for all.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N."""
    import numpy as np

    from morphgraph.refine.blame import blame as blame_merges
    from morphgraph.refine.blame import blame_columns
    from morphgraph.score.boundaries import or_none
    from morphgraph.tokeniser.merging import segment

    check_threshold(threshold)
    loaded, benchmark = load_benchmark(
        tokenizer,
        reference,
        format_,
        frequencies,
        include_foreign,
        first_analysis,
        bare,
        Drawn(join, sample, sample_seed),
        encoding,
    )
    segmentation = segment(loaded.graph, benchmark.words)
    found = blame_merges(
        benchmark,
        segmentation,
        weighting=one_of(weighting, "--weighting", ("types", "tokens")),
        scope=one_of(scope, "--scope", ("morphemic", "whole-word")),
        tuples_once=tuples_once,
    )
    positions = found.candidates(threshold)
    settings = f"{weighting} {scope}" + (" tuples once" if tuples_once else "")
    signature = benchmark.signature(loaded, blame=settings)
    columns = blame_columns(loaded, found, positions[: limit or None])
    table = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if as_json:
        names = [name for name in table if name != "merge_id"]
        print_json(
            {
                "merges": [
                    dict(zip(names, row, strict=True))
                    for row in zip(*(table[name] for name in names), strict=True)
                ],
                "threshold": threshold,
                "candidates": len(positions),
                "merges_in_all": len(found.arrays),
                "dropout_rate": or_none(found.dropout_rate(positions)),
                "signature": signature,
            }
        )
        return
    shown = [
        [f"{rank:,}", merge, type_, f"{n:,.0f}", f"{b:,.0f}", f"{r:.3f}"]
        for rank, merge, type_, n, b, r in zip(
            *(table[name] for name in ("rank", "merge", "type", "N", "B", "R")), strict=True
        )
    ]
    print_table(["rank", "merge", "type", "N", "B", "R"], shown, left={1, 2}, keys=2)
    print(f"{len(positions):,} of {counted(len(found.arrays), 'merge')} have R ≥ {threshold}")
    print(signature)
