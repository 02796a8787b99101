"""Results of several runs side by side, and how far they are apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from morphgraph.batch.report_data import IDENTITY, LOST, RESULT_COLUMNS, complete

if TYPE_CHECKING:
    import pandas as pd

COMBINATION = (*IDENTITY, "metric")
"""What names a row of a comparison."""


def value_column(run: str) -> str:
    """The column with the values of a run."""
    return f"value: {run}"


def difference_column(run: str) -> str:
    """The column with the differences of a run to the first."""
    return f"difference: {run}"


def compare_runs(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Values of several runs, one row for each combination, scope, weighting and metric.

    ``runs``: results by the name of the run. The columns: those of `COMBINATION`, ``value: NAME``
    for each run, the mean over its seeds, and ``difference: NAME`` to the first for each other
    one. Rows come in the order in which the runs have them. NaN where a run has no value.
    """
    import pandas as pd

    means = {name: _means(results) for name, results in runs.items()}
    rows = list(dict.fromkeys(row for values in means.values() for row in values))
    frame = pd.DataFrame(rows, columns=list(COMBINATION))
    frame["vocab_size"] = frame["vocab_size"].astype("Int64")
    values = {
        name: pd.Series([found.get(row, float("nan")) for row in rows], dtype="float64")
        for name, found in means.items()
    }
    for name, column in values.items():
        frame[value_column(name)] = column
    columns = list(values.items())
    for name, column in columns[1:]:
        frame[difference_column(name)] = column - columns[0][1]
    return frame


def _means(results: pd.DataFrame) -> dict[tuple[object, ...], float]:
    """The mean over seeds of each combination, in the order in which they come."""
    import pandas as pd

    frame = complete(results, RESULT_COLUMNS, "results")
    frame = frame[~frame["metric"].isin(LOST)]
    texts = [name for name in COMBINATION if name != "vocab_size"]
    keys = frame[list(COMBINATION)].astype({"vocab_size": "Int64"})
    keys[texts] = keys[texts].astype(object).where(keys[texts].notna(), "")
    seeds = frame["seed"].astype("Int64")
    once = pd.concat([keys, seeds, frame["value"].astype(float)], axis=1).drop_duplicates()
    grouped = once.groupby(list(COMBINATION), sort=False, dropna=False, as_index=False).mean(
        numeric_only=True
    )
    named = (grouped[name].tolist() for name in COMBINATION)
    rows = (
        tuple(None if pd.isna(part) else part for part in row) for row in zip(*named, strict=True)
    )
    return dict(zip(rows, grouped["value"].tolist(), strict=True))
