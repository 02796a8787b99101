"""Measure texts of any size by the tokenisers of the page; under-trained types of a model."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st

import morphgraph as mg
from morphgraph.core.errors import MorphGraphError, unquoted
from morphgraph.core.limits import is_public
from morphgraph.core.text import base_name, counted
from morphgraph.score.corpus_measures import CorpusMeasures, measure_corpus
from morphgraph.score.vocabulary_health import NamedCounts
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.corpora import UNITS, corpus_csv, corpus_table, parity_table
from morphgraph.tables.writing import to_latex
from web.guard import only_this_machine
from web.inputs import content_of
from web.state import Session
from web.widgets import (
    attempt,
    button,
    chart,
    downloads,
    plain,
    setting,
    show_model,
)

_ASKED = "corpus asked"
_ROWS = 11
_SKIP = "Leave out bad lines"
_TABLES = "For csv, tsv, JSON lines and Parquet: a column, or field."


def show_corpus_measures(
    current: Session, tokenisers: Callable[[], Mapping[str, Segmenter]], alpha: float
) -> None:
    """Ask for texts, which have no limit, so not in a public app; show their measures."""
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
        if button("Measure", "straighten", primary=True, disabled=not (files or path)):
            # The files of a path may have changed since an earlier click.
            asked, click = st.session_state[_ASKED] = order, token_hex(8)
        if asked == order:
            make = partial(_measured, segmenters, files, path, options)
            with attempt():
                _show(current.once(("corpus measures", click), make))


def _texts() -> tuple[Sequence[Any], str]:
    said = "Plain text, csv, tsv, JSON lines or Parquet, or these as gz or zst."
    files = st.file_uploader("Texts", accept_multiple_files=True, key="corpus files", help=said)
    path = ""
    if only_this_machine():
        example = "A file, a folder, or a pattern such as corpus/*.jsonl.zst"
        path = st.text_input("Or a path on this machine", key="corpus path", placeholder=example)
    return files, path.strip()


def _options() -> dict[str, Any]:
    def field(label: str, name: str, usual: str, width: int = 200, **how: Any) -> str | None:
        how |= {"key": f"corpus_{name}", "first": "", "placeholder": usual, "width": width}
        return str(setting(st.text_input, label, **how)).strip() or None

    with st.container(horizontal=True, vertical_alignment="bottom"):
        column = field("Column with the text", "column", "found by its name", help=_TABLES)
        language = field("Column with the language", "language", "none: by file", help=_TABLES)
        said = (
            "The same lines in several languages: a file for each, or a column that says "
            "which. Lines are segmented as whole texts then."
        )
        how: dict[str, Any] = {"key": "corpus_parallel", "first": False, "help": said}
        parallel = setting(st.toggle, "Parallel text", **how)
        base = field("Base language", "base", "the first", 160) if parallel else None
        how = {"key": "corpus_skip", "first": False, "help": "Otherwise the first is an error."}
        skip = setting(st.toggle, _SKIP, **how)
    return {
        "column": column,
        "language_column": language,
        "parallel": parallel,
        "base": base,
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
    show_model(corpus_table(measured), _ROWS, key="corpus table")
    st.caption(plain(UNITS[measured.unit]))
    if measured.bad:
        left_out = f"Left out: {counted(measured.bad, 'line')}."
        st.warning(plain(" ".join([left_out, "; ".join(measured.first_bad)])))
    if measured.base is not None:
        st.subheader("Parity of languages", anchor=False)
        show_model(parity_table(measured), _ROWS, key="parity table")
        st.caption("The Gini coefficient of what languages cost in tokens: 0 if all cost the same.")
    st.code(measured.signature, language=None, wrap_lines=True)
    downloads(
        {
            "corpus.csv": lambda: corpus_csv(measured),
            "corpus.tex": lambda: to_latex(corpus_table(measured)),
        }
    )


def model_rows(current: Session, corpus: NamedCounts | None) -> None:
    """Ask for a folder and show its under-trained types, if their plug-in is installed.

    Only if nobody else reaches the app.
    """
    models: Any = getattr(mg, "models", None)
    if models is None or not only_this_machine():
        return
    with st.expander(
        "A model on this machine: its under-trained types",
        icon=":material/memory:",
        on_change="rerun",
        key="model rows",
    ) as shown:
        if not shown.open:
            return
        example = "config.json, weights in safetensors and the tokeniser are in it"
        name = st.text_input("Folder of a model", key="model folder", placeholder=example).strip()
        if not name:
            return
        with attempt():
            folder = Path(name).expanduser()
            files = sorted(folder.iterdir()) if folder.is_dir() else []
            state = tuple((path.name, path.stat().st_mtime_ns) for path in files if path.is_file())

            def make() -> Any:
                with st.spinner("Examining the model's rows…"), unquoted(folder, asked=True):
                    return models.undertrained(folder, corpus)

            found = current.once(("undertrained", str(folder), state), make)
            _show_untrained(_ranked(found) if found.unused else found)


def _ranked(found: Any) -> Any:
    usual, names = found.ranked_by.removeprefix("input_"), found.rankings
    by = st.selectbox(
        "Ranked by",
        list(names),
        index=list(names).index(usual),
        format_func=lambda name: names[name] + " (Land & Bartolo)" * (name == usual),
        key="model rows ranking",
    )
    return found.ranked(by)


def _show_untrained(found: Any) -> None:
    table = found.table()
    st.caption(
        plain(
            f"{counted(len(table.rows), 'type')}, the 2 % with the lowest "
            f"{found.ranked_by.replace('_', ' ')}. {counted(found.unused, 'row')} taken for "
            f"unused: {found.unused_are}."
        )
    )
    show_model(table, _ROWS, key="model rows table")
    chart(found.chart(), "model rows chart")
    downloads(
        {
            "undertrained.csv": found.csv,
            "undertrained.html": found.page,
        }
    )
