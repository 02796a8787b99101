"""Tables of what edits do: scores before and after, and the phases of ReBPE."""

from collections.abc import Iterable, Mapping, Sequence

from morphgraph.core.text import count_text, counted, percent
from morphgraph.formats.checks import CHECK_COLUMNS, Check
from morphgraph.formats.export import Export
from morphgraph.refine.rebpe_run import Phase
from morphgraph.score.boundaries import BoundaryScore
from morphgraph.tables.model import Cell, Column, Row, Table, plain_table, table_of_texts
from morphgraph.tables.terminal import text_of

_SHARES = ("precision", "recall", "f1")
_SHARE_COLUMNS = tuple(
    Column(title, "written", key=key)
    for title, key in zip(("precision %", "recall %", "F1 %"), _SHARES, strict=True)
)
ScorePairs = Sequence[tuple[BoundaryScore, ...]]
"""Scores of each scope and weighting, those before an edit and after it, or alone."""


def checks_table(checks: Iterable[Check]) -> Table:
    """Return the checks of an export."""
    rows = [check.cells for check in checks]
    return table_of_texts(CHECK_COLUMNS, rows, title="Checks", texts={*CHECK_COLUMNS} - {"number"})


def export_report(export: Export) -> str:
    """Return what was compared before an export, its form and its checks, in lines."""
    compared = f"{counted(export.checked_words, 'word')} and "
    compared += counted(export.checked_sentences, "sentence")
    alike = "the same ids" if export.is_as_original else "cut as here"
    merges = f", {counted(export.merges, 'merge')}, {counted(export.tuple_merges, 'tuple merge')}"
    lines = [
        f"{compared}: {alike} ({export.seconds:.1f} s)",
        f"form: {export.kind} ({export.reason})",
        counted(export.vocab_size, "type") + merges * bool(export.merges),
    ]
    return "\n".join([*lines, *([text_of(checks_table(export.checks))] if export.checks else [])])


def change_table(blocks: Mapping[str, ScorePairs], signatures: Sequence[str] = ()) -> Table:
    """Return scores before and after an edit, a block for each set of words.

    >>> same = BoundaryScore("morphemic", "types", 6, 8, 12)
    >>> [cell.value for cell in change_table({"all words": [(same, same)]}).rows[0].cells][:3]
    ['75.00 → 75.00', '50.00 → 50.00', '60.00 → 60.00']
    """
    rows = []
    for block, pairs in enumerate(blocks.values()):
        for pair in pairs:
            after = pair[-1]
            cells = [" → ".join(percent(getattr(each, key)) for each in pair) for key in _SHARES]
            counts = (after.true_positives, after.predicted, after.relevant)
            cells += map(count_text, counts)
            names = (str(after.scope), str(after.weighting))
            rows.append(Row(names, tuple(map(Cell, cells)), block=block))
    counted = (Column(each, "written") for each in ("true positives", "predicted", "relevant"))
    return Table(
        "Scores before and after",
        (Column("scope"), Column("over")),
        (*_SHARE_COLUMNS, *counted),
        tuple(rows),
        blocks=tuple(blocks),
        signatures=tuple(signatures),
    )


def phases_table(phases: Sequence[Phase]) -> Table:
    """Return the phases of ReBPE: sizes and scores after each, and the merges that it changed."""
    columns = [
        Column("iteration", "written"),
        Column("phase"),
        Column("|V|", "count"),
        Column("merges", "count"),
        *(Column(title, "percent") for title in ("precision", "recall", "F1")),
        Column("changed merges"),
        Column("s", "number"),
    ]
    rows = [
        (
            phase.iteration,
            phase.kind,
            phase.vocabulary_size,
            phase.merges,
            *(getattr(phase.score, key) for key in _SHARES),
            ", ".join(f"{number:,} {kind}" for kind, number in phase.counts.items()),
            phase.seconds,
        )
        for phase in phases
    ]
    return plain_table("Phases", columns, rows, names=2, bold="")
