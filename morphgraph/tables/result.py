"""What all results have in common: a table that prints and saves itself."""

import os
from pathlib import Path
from typing import Any

from morphgraph.core.files import check_ending, write_file
from morphgraph.tables.model import Table
from morphgraph.tables.terminal import report_of
from morphgraph.tables.writing import WRITERS, to_html, without_formulas


class Result:
    """A result that prints itself: `str` gives the report that the command line shows."""

    def table(self) -> Table:
        """Return the one table, which writes itself as text, CSV, LaTeX or Markdown."""
        raise NotImplementedError

    def report(self, width: int | None = None) -> str:
        """Return it as the terminal shows it, ``width`` characters wide.

        >>> tokeniser.thresholds(gold, thresholds=[0.5]).report(80).splitlines()[0]
        'threshold  types removed  precision %  recall %   F1 %'
        """
        return report_of(self.table(), width)

    def save(self, path: str | os.PathLike[str]) -> Any:
        """Write the table to a file: .csv, .tex or .md.

        >>> tokeniser.thresholds(gold, thresholds=[0.5]).save("thresholds.csv")
        """
        file = Path(path)
        check_ending(file, *WRITERS)
        write_file(file, WRITERS[file.suffix](self.table()))

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return without_formulas(to_html(self.table()))
