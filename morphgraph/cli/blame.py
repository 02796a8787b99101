"""The command that lists merges by blame."""

from typing import Annotated, Any

import typer

from morphgraph.cli.options import BlameOptions, ThresholdOption, with_options
from morphgraph.cli.output import print_json, print_table
from morphgraph.core.text import counted


@with_options
def blame(
    given: BlameOptions,
    threshold: ThresholdOption = 0.0,
    limit: Annotated[int, typer.Option(min=0, help="At most this many merges; 0 for all.")] = 50,
) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N."""
    import numpy as np

    from morphgraph.refine.blame import blame as blame_merges
    from morphgraph.refine.blame import blame_columns
    from morphgraph.tokeniser.merging import segment

    loaded, benchmark = given.load()
    how: dict[str, Any] = {
        "weighting": given.weighting,
        "scope": given.scope,
        "tuples_once": given.tuples_once,
    }
    found = blame_merges(benchmark, segment(loaded.graph, benchmark.words), **how)
    positions = found.candidates(threshold)
    settings = f"{given.weighting} {given.scope}" + " tuples once" * given.tuples_once
    signature = benchmark.signature(loaded, blame=settings)
    columns = blame_columns(loaded, found, positions[: limit or None])
    del columns["merge_id"]
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    merges = [dict(zip(columns, row, strict=True)) for row in rows]
    if given.as_json:
        print_json(
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
    print_table(list(forms), shown, left={1, 2}, keys=2)
    print(f"{len(positions):,} of {counted(len(found.arrays), 'merge')} have R ≥ {threshold}")
    print(signature)
