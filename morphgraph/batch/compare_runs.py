"""Results of several runs side by side: how far they are apart, and as a table for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from morphgraph.batch.cell_rows import column_of
from morphgraph.batch.results import IDENTITY, LOST, RESULT_COLUMNS, complete
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


_NO_SCOPE = "no scope"


def scope_name(scope: str) -> str:
    """What people call a scope; figures of vocabularies and facts have none."""
    return scope or _NO_SCOPE


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
    columns = [name for name in found.columns if name.startswith(value_column(""))]
    baseline = found[value_column(first)]
    same = [(found[n] == baseline) | (found[n].isna() & baseline.isna()) for n in columns]
    differs = ~same[0]
    for one in same[1:]:
        differs |= ~one
    return found[differs.astype(bool)]


def rows_of(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of a comparison that a run has (`COMBINATION`), with the signature of each."""
    from morphgraph.batch.results import LOST

    names = [*COMBINATION, "signature"]
    found = results.loc[(~results["metric"].isin(LOST)).astype(bool), names].drop_duplicates()
    texts = [name for name in names if name != "vocab_size"]
    found[texts] = found[texts].astype(object).where(found[texts].notna(), "")
    return found.astype({"vocab_size": "Int64"})


def _keys(frame: pd.DataFrame) -> list[tuple[object, ...]]:

    columns = (
        frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in COMBINATION
    )
    return list(zip(*columns, strict=True))


def presence(compared: pd.DataFrame, runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Whether each run has each row of a comparison, be its value defined or not."""
    import pandas as pd

    keys = _keys(compared)
    found = {}
    for name, results in runs.items():
        own = set(_keys(rows_of(results)))
        found[name] = [key in own for key in keys]
    return pd.DataFrame(found, index=compared.index, dtype=bool)


def signatures_in(shown: pd.DataFrame, runs: Mapping[str, pd.DataFrame]) -> list[str]:
    """The distinct signatures of rows that are shown, in the order of the runs."""
    wanted = set(_keys(shown))
    found: dict[str, None] = {}
    for results in runs.values():
        rows = rows_of(results)
        signatures = rows["signature"].tolist()
        for key, signature in zip(_keys(rows), signatures, strict=True):
            if signature and key in wanted:
                found[str(signature)] = None
    return list(found)


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
    from morphgraph.batch.results import COLUMN_TITLES, name_text

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


def varying(compared: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The columns that distinguish rows."""
    return [name for name in names if compared[name].nunique(dropna=False) > 1]


def shown_comparison(
    compared: pd.DataFrame, runs: Sequence[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """A comparison as texts, the titles of its columns, and what is the same in all rows.

    Columns are called by numbers: names, values of the first run, then those of each other run
    with its difference to the first. Shares are in percent.
    """
    import pandas as pd

    from morphgraph.batch.results import COLUMN_TITLES, name_text

    identity = [name for name in COMBINATION if name != "metric"]
    apart = varying(compared, identity) if len(compared) > 1 else []
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
