"""Measure texts of any size by the tokenisers of the page: by file or language, and parity."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st

from morphgraph.core.errors import MorphGraphError, unquoted
from morphgraph.core.text import base_name, counted
from morphgraph.draw.charts import lorenz_lines
from morphgraph.score.corpus_measures import CorpusMeasures, measure_corpus
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import Table, text_frame
from morphgraph.tables.vocabulary import UNITS, corpus_csv, corpus_table, parity_table
from morphgraph.tables.writing import to_latex
from web.hosting import is_public, only_this_machine
from web.inputs import content_of
from web.state import Session
from web.text import plain
from web.widgets import attempt, downloads, remembered, show_table

_ASKED = "corpus asked"
_ROWS = 420
_SKIP = "Leave out bad lines"
_TABLES = "For csv, tsv, JSON lines and Parquet: a column, or field."


def show_corpus_measures(
    current: Session, tokenisers: Callable[[], Mapping[str, Segmenter]], alpha: float
) -> None:
    """Ask for texts, and show the tokenisers' measures.

    Not in a public app: the decompressed size of an upload, and the time it takes, have no limit.
    """
    if is_public():
        return
    with st.expander(
        "A corpus: tokens by file or language, parity of languages",
        icon=":material/library_books:",
        on_change="rerun",
        key="corpus measured",
    ) as shown:
        if not shown.open:
            return
        files, path = _texts()
        options = {**_options(), "alpha": alpha}
        names = [(file.name, file.file_id) for file in files]
        segmenters = tokenisers()
        by = [(label, each.signature()) for label, each in segmenters.items()]
        order = repr((path, names, options, by))
        asked, click = st.session_state.get(_ASKED, ("", ""))
        if st.button(
            "Measure", icon=":material/straighten:", disabled=not (files or path), type="primary"
        ):
            # The files of a path may have changed since an earlier click.
            asked, click = st.session_state[_ASKED] = order, token_hex(8)
        if asked == order:
            with attempt():
                _show(
                    current.once(
                        ("corpus measures", click),
                        lambda: _measured(segmenters, files, path, options),
                    )
                )


def _texts() -> tuple[Sequence[Any], str]:
    """Return the uploaded files, or the path given instead."""
    files = st.file_uploader(
        "Texts",
        accept_multiple_files=True,
        key="corpus files",
        help="Plain text, csv, tsv, JSON lines or Parquet, or these as gz, bz2, xz or zst.",
    )
    path = ""
    if only_this_machine():
        path = st.text_input(
            "Or a path on this machine",
            key="corpus path",
            placeholder="A file, a folder, or a pattern such as corpus/*.jsonl.zst",
        ).strip()
    return files, path


def _options() -> dict[str, Any]:
    with (
        remembered(
            corpus_parallel=False,
            corpus_base="",
            corpus_language="",
            corpus_column="",
            corpus_skip=False,
        ),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        column = st.text_input(
            "Column with the text",
            key="corpus_column",
            placeholder="found by its name",
            width=200,
            help=_TABLES,
        )
        language = st.text_input(
            "Column with the language",
            key="corpus_language",
            placeholder="none: by file",
            width=200,
            help=_TABLES,
        )
        parallel = st.toggle(
            "Parallel text",
            key="corpus_parallel",
            help="The same lines in several languages: a file for each, or a column that says "
            "which. Lines are segmented as whole texts then.",
        )
        base = ""
        if parallel:
            base = st.text_input(
                "Base language", key="corpus_base", placeholder="the first", width=160
            )
        skip = st.toggle(_SKIP, key="corpus_skip", help="Otherwise the first one is an error.")
    return {
        "column": column.strip() or None,
        "language_column": language.strip() or None,
        "parallel": parallel,
        "base": base.strip() or None,
        "bad_lines": "skip" if skip else "stop",
    }


def _measured(
    segmenters: Mapping[str, Segmenter], files: Sequence[Any], path: str, options: dict[str, Any]
) -> CorpusMeasures:
    bar = st.progress(0.0, "Measuring …")
    options = {**options, "progress": lambda share: bar.progress(min(share, 1.0), "Measuring …")}
    try:
        if path:
            with unquoted(Path(path), asked=True):
                found = measure_corpus(segmenters, [str(Path(path).expanduser())], **options)
                # The path may be somebody else's: its content is not revealed.
                return replace(found, first_bad=())
        with TemporaryDirectory(prefix="morphgraph-corpus-") as folder:
            try:
                paths = [_kept(file, Path(folder), number) for number, file in enumerate(files)]
                found = measure_corpus(segmenters, paths, **options)
                bad = (line.replace(f"{folder}/", "") for line in found.first_bad)
                return replace(found, first_bad=tuple(bad))
            except MorphGraphError as error:
                said = str(error).replace(f"{folder}/", "")
                raise MorphGraphError(said.replace("--bad-lines skip", f"“{_SKIP}”")) from error
    finally:
        bar.empty()


def _kept(file: Any, folder: Path, number: int) -> Path:
    """Store an upload as a file; only a plain name becomes a part of its path."""
    name = re.sub(r"[^\w.-]", "_", base_name(file.name)).lstrip(".") or "text"
    path = folder / name
    path = folder / f"{number}-{name}" if path.exists() else path
    path.write_bytes(content_of(file))
    return path


def _show(measured: CorpusMeasures) -> None:
    _table(corpus_table(measured), "corpus table")
    st.caption(plain(UNITS[measured.unit]))
    if measured.bad:
        left_out = f"Left out: {counted(measured.bad, 'line')}."
        st.warning(plain(" ".join([left_out, "; ".join(measured.first_bad)])))
    if measured.base is not None:
        left, right = st.columns([11, 9], gap="large")
        with left:
            st.subheader("Parity of languages", anchor=False)
            _table(parity_table(measured), "parity table")
            st.caption(
                "The Gini coefficient of what languages cost in tokens: 0 if all cost the same. "
                "It is twice the area between the curve and the diagonal."
            )
        with right:
            st.plotly_chart(
                lorenz_lines(
                    {name: measured.lorenz(name) for name in measured.tokenisers},
                    {name: measured.cheapest_first(name) for name in measured.tokenisers},
                ),
                key="lorenz curve",
            )
    st.code(measured.signature, language=None, wrap_lines=True)
    downloads(
        {
            "corpus.csv": lambda: corpus_csv(measured),
            "corpus.tex": lambda: to_latex(corpus_table(measured), "corpus"),
        }
    )


def _table(table: Table, key: str) -> None:
    frame, _ = text_frame(table)
    titles = [column.title for column in (*table.names, *table.columns)]
    numbers = [str(number) for number in range(len(table.names), len(titles))]
    show_table(
        frame,
        _ROWS,
        key=f"{key} {titles}",
        column_config={
            number: st.column_config.TextColumn(
                titles[int(number)],
                alignment="right" if number in numbers else "left",
                # The row's label stays visible if the table is wider than the screen.
                pinned=number == "0",
            )
            for number in frame.columns
        },
    )
