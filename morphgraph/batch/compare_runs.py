"""Results of several runs side by side: how far they are apart, and as a table for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from morphgraph.batch.cell_rows import column_of
from morphgraph.batch.results import (
    COLUMN_TITLES,
    IDENTITY,
    LOST,
    RESULT_COLUMNS,
    complete,
    name_text,
)
from morphgraph.core.text import shortened, signed, visible
from morphgraph.tables.model import Form, value_text

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
    every = _together(runs)
    frame = every.drop_duplicates("row")[list(COMBINATION)].reset_index(drop=True)
    once = every.drop_duplicates(["run", "row", "seed", "value"])
    for name in runs:
        means = once[once["run"] == name].groupby("row")["value"].mean()
        frame[value_column(name)] = means.reindex(frame.index)
    for name in list(runs)[1:]:
        gap = frame[value_column(name)] - frame[value_column(next(iter(runs)))]
        frame[difference_column(name)] = gap
    return frame


def _together(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """All results that are there, each with its ``run`` and the number of its ``row``."""
    import pandas as pd

    kinds = {"vocab_size": "Int64", "seed": "Int64", "value": "float64"}
    texts = [*(name for name in COMBINATION if name != "vocab_size"), "signature"]
    parts = []
    for run, results in (runs or {"": pd.DataFrame()}).items():
        frame = complete(results, RESULT_COLUMNS, "results")[[*kinds, *texts]]
        frame = frame[~frame["metric"].isin(LOST).astype(bool)].astype(kinds)
        frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), "")
        parts.append(frame.assign(run=run))
    every = pd.concat(parts, ignore_index=True)
    return every.assign(row=every.groupby(list(COMBINATION), sort=False, dropna=False).ngroup())


def scope_name(scope: str) -> str:
    """What people call a scope; figures of vocabularies and facts have none."""
    return scope or "no scope"


def filtered(
    compared: pd.DataFrame,
    first: str,
    *,
    metrics: Collection[str],
    scopes: Collection[str],
    only_different: bool,
) -> pd.DataFrame:
    """The rows of a comparison that are asked for.

    ``only_different``: without those in which every run has the value of the ``first``, or none
    has any.
    """
    keep = compared["metric"].isin(metrics) & compared["scope"].isin(scopes)
    found = compared[keep.astype(bool)]
    if not only_different:
        return found
    values = found[[name for name in found.columns if name.startswith(value_column(""))]]
    baseline = found[value_column(first)]
    differs = values.ne(baseline, axis=0) & ~(values.isna() & baseline.isna().to_numpy()[:, None])
    return found[differs.any(axis=1)]


def presence(compared: pd.DataFrame, runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Whether each run has each row of a comparison, be its value defined or not."""
    import pandas as pd

    rows = _together(runs).groupby("run")["row"].agg(set)
    found = {name: compared.index.isin(rows.get(name, set())) for name in runs}
    return pd.DataFrame(found, index=compared.index, dtype=bool)


def signatures_in(shown: pd.DataFrame, runs: Mapping[str, pd.DataFrame]) -> list[str]:
    """The distinct signatures of some rows of a comparison, in the order of the runs."""
    every = _together(runs)
    found = every.loc[every["row"].isin(shown.index), "signature"]
    return [str(signature) for signature in dict.fromkeys(found) if signature]


def nothing_shared(compared: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    """A sentence for each run that has no row in common with the first: in what they differ."""
    first, *others = there.columns
    return [
        f"“{shortened(visible(run), 60)}” and “{shortened(visible(first), 60)}” have no row in "
        f"common: {_why(compared[there[first]], compared[there[run]])}."
        for run in others
        if not (there[first] & there[run]).any()
    ]


def _why(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """In which columns rows differ that have nothing in common, and by what."""
    found = []
    for name in COMBINATION:
        a, b = (list(dict.fromkeys(map(name_text, part[name]))) for part in (ours, theirs))
        if not set(a) & set(b):
            found.append(f"{COLUMN_TITLES.get(name, name).lower()} ({_few(a)} / {_few(b)})")
    if not found:
        return "each value occurs in both, but never the same ones together"
    *most, last = found
    return f"they differ in {', '.join(most)}{' and ' if most else ''}{last}"


def _few(texts: Sequence[str]) -> str:
    shown = ", ".join(shortened(text, 40) or "none" for text in texts[:2])
    return f"{shown}, …" if len(texts) > 2 else shown


def shown_comparison(
    compared: pd.DataFrame, runs: Sequence[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """A comparison as texts, the titles of its columns, and what is the same in all rows.

    Columns are called by numbers: names, values of the first run, then those of each other run
    with its difference to the first. Shares are in percent.
    """
    import pandas as pd

    identity = [name for name in COMBINATION if name != "metric"]
    apart = [name for name in identity if compared[name].nunique(dropna=False) > 1]
    same = {
        COLUMN_TITLES[name]: name_text(compared[name].iloc[0])
        for name in identity
        if name not in apart and len(compared)
    }
    metrics = list(compared["metric"])
    columns: list[list[str]] = [[shortened(name_text(v), 80) for v in compared[n]] for n in apart]
    titles = [COLUMN_TITLES[name] for name in apart]
    kinds = [column_of(metric) for metric in metrics]
    labels = [shortened(visible(kind.header), 80) for kind in kinds]
    columns.append(
        [f"{a}{' %' * (k.form == 'percent')}" for a, k in zip(labels, kinds, strict=True)]
    )
    titles.append("Metric")
    for number, run in enumerate(runs):
        values = compared[value_column(run)]
        columns.append([value_text(k.form, v) for k, v in zip(kinds, values, strict=True)])
        titles.append(visible(run))
        if number:
            gaps = compared[difference_column(run)]
            columns.append([_difference(k.form, d) for k, d in zip(kinds, gaps, strict=True)])
            titles.append(f"Δ {visible(run)}")
    frame = pd.DataFrame({str(number): column for number, column in enumerate(columns)})
    constants = [f"{title.lower()} {text}" for title, text in same.items() if text]
    return frame, titles, constants


def _difference(form: Form, value: float) -> str:
    """A difference with its sign; of shares in percentage points, of counts in whole numbers."""
    if form == "percent":
        return signed(100 * value)
    if form == "count" and float(value).is_integer():
        return signed(value, 0)
    return signed(value, 3)
