"""What is open, and how something else is opened: files dropped anywhere, demos, public gold."""

import io
import zipfile
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.errors import GoldGivenError, MorphGraphError, TokeniserGivenError
from morphgraph.core.files import DEMOS
from morphgraph.core.limits import FILE_BYTES
from morphgraph.core.text import counted, shortened
from morphgraph.corpus.counts import parse_word_counts
from morphgraph.formats.recipe import read_recipe, replay
from morphgraph.formats.tokeniser_files import SETTINGS, fitting_name
from morphgraph.reference.readers import READERS
from morphgraph.tables.references import description_table
from web import batch, inputs
from web.choosing import add_model
from web.sources import Source, demo_name, frequencies_of, reference_of, uploaded_model
from web.state import Session
from web.widgets import forget_oldest, plain, show_model

_HALF, _REFUSED = "half of a tokeniser", "files refused"
_GENERIC = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer.model", "model.json")
_TOKENISERS = ("*.json", "*.model", "*.gguf", "*.tiktoken", "*merges*", "*vocab*", "*.bpe", "*.gz")
"""The names of what is a tokeniser, unless it turns out to be gold."""
_MOST_PACKED, _MOST_GOLD, _LONGEST = 50, 8, 20
_SAMPLE = 20_000
_HOW = {"format": "format", "encoding": "encoding", "separator": "sign", "exempt": "exempt"}
"""What can be said of the next file, each with the key of its field."""
_KINDS = (
    "A tokeniser (tokenizer.json, vocab.json with merges.txt, SentencePiece, tiktoken, Tekken, "
    "GGUF, one type per line), a model that Build saved, words with their morphs in any known "
    "format, word counts, a recipe, an evaluation, or a zip archive of these."
)


# --------------------------------------------------------------------------- what is open


def name_of(current: Session, kind: str) -> str:
    """Return the name of what is open; where a file's says nothing, the number of types."""
    tokeniser, gold = current.study.tokeniser, current.study.benchmark.reference
    source = current.sources.get(kind)
    demo = source.list_of("demo") if source else ""
    if kind == "reference":
        name = demo_name(demo) if demo else in_the_middle(gold.name)
        return f"{name}, {counted(len(gold), 'word')}" if gold.has_gold else "no reference"
    size = current.study.graph.loaded_size
    if tokeniser.name.lower() in _GENERIC:
        return f"{size:,} types"
    return f"{demo_name(demo)} {size // 1000}k" if demo else in_the_middle(tokeniser.name)


def in_the_middle(name: str) -> str:
    """Shorten a name in its middle, as versions and sizes stand at the end.

    >>> in_the_middle("deepseek-v3-base-tokeniser")
    'deepseek-v…-tokeniser'
    """
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[:half].rstrip()}…{name[-half:].lstrip()}"


def what_is_open(current: Session) -> None:
    """Show the open tokeniser and reference; a click on one opens others."""
    study = current.study
    for kind, name in (
        ("tokeniser", study.tokeniser.name),
        ("reference", study.benchmark.reference.name),
    ):
        key = f"open {kind} {current.study_number}"
        options: dict[str, Any] = {"help": f"{plain(name)}: open another", "on_change": "rerun"}
        label = f"**{plain(name_of(current, kind))}**"
        with st.popover(label, type="tertiary", key=key, **options) as opening:
            if opening.open:  # drawn only then, as most never are
                _others(current, kind)


def _others(current: Session, kind: str) -> None:
    with st.container(horizontal=True):
        for code in DEMOS:
            key, is_open = f"demo {code} as {kind}", code == current.language
            tip = "A tokeniser of 8,000 types and its gold list. Your edits are kept."
            if st.button(demo_name(code), key=key, disabled=is_open, help=tip):
                current.open_demo(code)
                st.rerun()
    open_reference(current, "bar")
    with st.expander("Word frequencies", icon=":material/bar_chart:"):
        inputs.frequency_choice(current)


def open_reference(current: Session, place: str) -> None:
    """Open any file, a reference of the catalogue, or go on without one."""
    files_field(current, place, "Choose a file, or drop one anywhere")
    with st.expander("How a list of words is read", icon=":material/translate:"):
        _how_to_read(place)
    with st.expander("Public references", icon=":material/cloud_download:"):
        inputs.catalogue_panel(current)
    with st.expander("Continue without gold", icon=":material/arrow_forward:"):
        inputs.without_gold(current)


def _how_to_read(place: str) -> None:
    """Choose a format and encoding, which are of the next file alone."""
    st.caption("For the next file. Detection is usually right.")
    left, right = st.columns(2)
    keys = {name: f"reading {key} {place}" for name, key in _HOW.items()}
    label: Any = {"format_func": lambda name: READERS[name].label, "placeholder": "detected"}
    left.selectbox("Format", READERS, index=None, key=keys["format"], **label)
    tip = "Never guessed: a wrong guess would change letters unnoticed."
    usual: Any = {"index": None, "placeholder": "UTF-8, or as marked", "help": tip}
    right.selectbox("Encoding", inputs.ENCODINGS, key=keys["encoding"], **usual)
    left.text_input("Sign between morphs", key=keys["separator"])
    tip = "Blame leaves them out, as lexicalised words; they are scored like any other."
    right.text_input("Exempt words", key=keys["exempt"], help=tip)


def what_was_read(current: Session) -> None:
    """Describe the open reference: what it holds, and which lines were skipped."""
    reference = current.study.benchmark.reference
    key = ("described", Same(reference))
    table = current.once(key, partial(description_table, reference), of_files=True)
    show_model(table, 6, key="reference-read table")
    st.caption(plain(" ".join(f"{note}." for note in table.notes) or "Nothing is skipped."))
    inputs.doubtful_reference(current)


# --------------------------------------------------------------------------- files


def drop_zone(current: Session) -> None:
    """Take files that are dropped anywhere: the window shows the field while one is dragged."""
    with st.container(key="drop-zone"):
        files_field(current, "anywhere", "Open a file of any kind")
    if refused := st.session_state.pop(_REFUSED, ""):
        st.toast(plain(refused), icon=":material/error:", duration="long")


def files_field(current: Session, place: str, label: str) -> None:
    """Show a field for files of any kind; it is empty again once they are opened or refused."""
    field = f"files {place}"
    files = st.file_uploader(
        label, accept_multiple_files=True, key=inputs.upload_key(field), help=_KINDS
    )
    if not files:
        return
    inputs.clear_upload(field)
    tokeniser, reference = current.study.tokeniser, current.study.benchmark.reference
    try:
        contents = {file.name: inputs.content_of(file) for file in files}
        current.notice = open_files(current, contents, _reading(place))
    except MorphGraphError as error:
        st.session_state[_REFUSED] = str(error)
    for key in _HOW.values():  # another file may need others
        st.session_state.pop(f"reading {key} {place}", None)
    opened = current.study
    if opened.tokeniser is tokeniser and opened.benchmark.reference is not reference:
        st.switch_page("pages/2_Compare.py")  # all figures on it, and what was read
    st.rerun()


def _reading(place: str) -> dict[str, Any]:
    """Return how the next list of words is read, if somebody has said so."""
    reading = {name: st.session_state.get(f"reading {key} {place}") for name, key in _HOW.items()}
    reading["exempt"] = tuple((reading["exempt"] or "").split())
    return {name: value for name, value in reading.items() if value}


def open_files(
    current: Session, contents: Mapping[str, bytes], reading: Mapping[str, Any] | None = None
) -> str:
    """Open files as what they are; return what was opened, in a sentence.

    ``reading``: how a list of words is read, if it is one. A half of a tokeniser waits for its
    other half. Raises `MorphGraphError`, with everything as it was, for what is of no kind.
    """
    files = {**st.session_state.pop(_HALF, {}), **_unpacked(contents)}
    kinds = {name: _kind(name, data, reading or {}) for name, data in files.items()}
    of_tokeniser = {name: files[name] for name, kind in kinds.items() if kind == "tokeniser"}
    others = [name for name in of_tokeniser if name not in SETTINGS]
    if len(others) == 1 and others[0].endswith("vocab.json"):
        st.session_state[_HALF] = of_tokeniser
        return f"Drop {fitting_name(others[0])} as well: it belongs to {others[0]}."
    told = []
    if of_tokeniser:
        told.append(_open_tokeniser(current, of_tokeniser))
    for kind, opening in _OPENINGS:
        for name in (name for name, found in kinds.items() if found == kind):
            read = dict(reading or {}) if kind == "gold" else {}
            told.append(opening(current, Source(name, ((name, files[name]),), **read)))
    return " ".join(told)


def _unpacked(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files with those in archives; a workbook is none, though it is packed, too."""
    files: dict[str, bytes] = {}
    for name, data in contents.items():
        if not (name.lower().endswith(".zip") and data.startswith(b"PK\x03\x04")):
            files[name] = data
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                listed = [one for one in archive.infolist() if not one.is_dir()]
                FILE_BYTES.check(sum(one.file_size for one in listed), name)
                if len(listed) > _MOST_PACKED:
                    raise MorphGraphError(f"{name} has {len(listed):,} files. Drop one of them.")
                for one in listed:
                    with archive.open(one) as packed:
                        files[one.filename.rpartition("/")[2]] = packed.read(one.file_size)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            raise MorphGraphError(f"{name} cannot be unpacked. Drop what is in it.") from error
    return files


def _kind(name: str, data: bytes, reading: Mapping[str, Any]) -> str:
    """Return tokeniser, gold, counts, recipe or evaluation."""
    if reading:
        return "gold"
    if name in SETTINGS:
        return "tokeniser"
    if name.endswith((".yaml", ".yml")):
        return "evaluation"
    if name.endswith(".json") and b'"steps"' in data[:_SAMPLE] + data[-_SAMPLE:]:
        try:
            read_recipe(data, name)
        except MorphGraphError:
            pass
        else:
            return "recipe"
    if any(fnmatch(name.lower(), pattern) for pattern in _TOKENISERS):
        return "tokeniser"
    try:
        parse_word_counts(data[:_SAMPLE].rpartition(b"\n")[0] or data, name)
    except MorphGraphError:
        pass
    else:
        return "counts"
    try:
        reference_of(Source(name, ((name, data),)))
    except TokeniserGivenError:
        return "tokeniser"
    except MorphGraphError as refused:
        try:
            uploaded_model({name: data})
        except MorphGraphError:
            raise refused from None
        return "tokeniser"
    return "gold"


def _open_tokeniser(current: Session, contents: Mapping[str, bytes]) -> str:
    """Open a tokeniser; one that does not segment by merges alone becomes a method."""
    name = next(iter([*(one for one in contents if one not in SETTINGS), *contents]))
    try:
        model = uploaded_model(contents)
    except GoldGivenError:
        files = ((name, contents[name]),)
        return _open_gold(current, Source(name, files))
    if model.editable is not None:
        inputs.open_as_tokeniser(current, contents)
        return f"{name} is open: {counted(model.vocabulary_size, 'type')}."
    add_model(name, model)
    return (
        f"{shortened(name, 60)} has {model.vocabulary_size:,} types for {model.name}, which does "
        "not segment by merges alone: it is now a method in Compare, and the open tokeniser stays."
    )


def _open_gold(current: Session, source: Source) -> str:
    reference = reference_of(source)
    current.open_reference(reference, source)
    current.gold_files[reference.name] = reference
    forget_oldest(current.gold_files, _MOST_GOLD)
    skipped = sum(skip.count for skip in reference.skipped)
    lines = f", {counted(skipped, 'line')} skipped" if skipped else ""
    return f"{source.name} is the reference: {counted(len(reference), 'word')}{lines}."


def _open_counts(current: Session, source: Source) -> str:
    counts = frequencies_of(source)
    current.use_frequencies(counts, source.name, source)
    return f"{source.name} weights words: {counted(len(counts), 'count')}."


def _open_evaluation(_: Session, source: Source) -> str:
    ((name, data),) = source.files
    batch.take(name, data)
    return f"{name} is an evaluation: it is in the editor of Build."


def _replay(current: Session, source: Source) -> str:
    ((name, data),) = source.files
    changes = replay(current.study.tokeniser, read_recipe(data, name), name)
    return f"{counted(len(changes), 'edit')} of {name} replayed."


_OPENINGS = (
    ("gold", _open_gold),
    ("counts", _open_counts),
    ("recipe", _replay),
    ("evaluation", _open_evaluation),
)
"""What opens each kind but tokenisers, in the order in which it is done."""
