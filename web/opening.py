"""What is open, and how something else is opened: demos, files, references, none."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from morphgraph.core.files import DEMOS
from morphgraph.core.limits import is_public
from morphgraph.core.text import counted, shortened
from morphgraph.formats.tokeniser_files import SETTINGS, fitting_name
from morphgraph.segment.segmenter import Segmenter
from web import inputs
from web.choosing import add_model
from web.jobs import stop_all
from web.sources import demo_name, uploaded_model
from web.state import Session
from web.storage import days_kept
from web.views.without_gold import without_gold
from web.widgets import deferred_error, plain, show_deferred_error

_FIELD, _NOT_DELETED = "tokeniser", "data not deleted"
_ADDED, _UPLOADS = "models opened as tokenisers", "uploads of tokenisers"
_GENERIC = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer.model", "model.json")
_LONGEST = 20


def name_of(current: Session, kind: str) -> str:
    """Return the name of what is open; where a file's says nothing, the number of types."""
    tokeniser, gold = current.study.tokeniser, current.study.benchmark.reference
    source = current.sources.get(kind)
    demo = source.list_of("demo") if source else ""
    if kind == "reference":
        name = demo_name(demo) if demo else gold.name
        return f"{name}, {counted(len(gold), 'word')}" if gold.has_gold else "no reference"
    size = current.study.graph.loaded_type_count
    if tokeniser.name.lower() in _GENERIC:
        return f"{size:,} types"
    return f"{demo_name(demo)} {size // 1000}k" if demo else tokeniser.name


def what_is_open(current: Session) -> None:
    """Show the open tokeniser and reference; a click on one opens others."""
    for kind in ("tokeniser", "reference"):
        name = name_of(current, kind)
        label = f"**{plain(in_the_middle(name))}**"
        key = f"open {kind} {current.study_number}"
        said = {"help": f"{name}: open another {kind}", "on_change": "rerun"}
        with st.popover(label, type="tertiary", key=key, **said) as opening:  # type: ignore[arg-type]
            if opening.open:  # drawn only then, as most never are
                open_another(current, kind)


def in_the_middle(name: str, length: int = _LONGEST) -> str:
    """Shorten a name in its middle, as versions and sizes stand at the end.

    >>> in_the_middle("deepseek-v3-base-tokeniser", 14)
    'deepsee…keniser'
    """
    half = length // 2
    return name if len(name) <= length else f"{name[:half].rstrip()}…{name[-half:].lstrip()}"


def open_another(current: Session, kind: str) -> None:
    """Offer files, demos, and public references."""
    if is_public():
        own_data(current)
    with st.container(horizontal=True):
        for code in DEMOS:
            key, is_open = f"demo {code} as {kind}", code == current.language
            tip = "A tokeniser of 8,000 types and its gold list. Your edits are kept."
            if st.button(demo_name(code), key=key, disabled=is_open, help=tip):
                current.open_demo(code)
                st.rerun()
    if current.address.page == "Start":
        st.caption("Open your own files further down on this page.")
        return
    (open_reference(current, "bar") if kind == "reference" else tokeniser_upload(current))
    with st.expander("Word frequencies", icon=":material/bar_chart:"):
        inputs.frequency_choice(current, "bar")


def own_data(current: Session) -> None:
    """Say what a shared server keeps of a visitor, and offer to delete it."""

    def delete() -> None:
        with deferred_error(_NOT_DELETED):
            stop_all(current.store.folder / "runs")
            current.store.forget()
            st.session_state.clear()

    st.caption(
        "A server that you share: what you open comes back in this browser alone, and is deleted "
        f"{counted(days_kept(), 'day')} after your last visit."
    )
    with st.popover("Delete my data", icon=":material/delete:", type="tertiary"):
        st.write("Files, edits, models, texts and runs of this browser are deleted at once.")
        st.button("Delete all", type="primary", on_click=delete)
    show_deferred_error(_NOT_DELETED)


def open_reference(current: Session, place: str) -> None:
    """Open a reference from a file or from the catalogue."""
    inputs.reference_upload(current, place)
    with st.expander("Public references", icon=":material/cloud_download:"):
        inputs.catalogue_panel(current, place)
    with st.expander("Go on without gold", icon=":material/arrow_forward:"):
        without_gold(current)


def tokeniser_upload(current: Session) -> None:
    """Open a tokeniser from one file or two; one without merges becomes a method elsewhere."""
    uploaded = st.file_uploader(
        "Tokeniser",
        accept_multiple_files=True,
        key=inputs.upload_key(_FIELD),
        help="A Hugging Face tokenizer.json, vocab.json and merges.txt together, with the settings "
        "beside them (tokenizer_config.json, added_tokens.json, …), a SentencePiece model, "
        "tiktoken's ranks, a GGUF file, a model that Train saved, or one type a line.",
    )
    if not uploaded:
        return
    files = _last_upload(uploaded)
    with inputs.attempt_opening(_FIELD, files):
        contents = {file.name: inputs.content_of(file) for file in files}
        missing = _other_half(contents)
        if missing:
            st.info(missing)
            return
        model = uploaded_model(contents)
        if model.editable is None:
            _use_as_model(model, files[0].name, files[0].file_id)
            return
        inputs.open_as_tokeniser(current, contents)
        inputs.clear_upload(_FIELD)
        st.rerun()


def _last_upload(files: Sequence[Any]) -> list[Any]:
    """Return the latest simultaneous uploads, with the half that waited for one of them."""
    before: dict[str, int] = st.session_state.get(_UPLOADS, {})
    newest = max(before.values(), default=0) + 1
    numbers = {file.file_id: before.get(file.file_id, newest) for file in files}
    st.session_state[_UPLOADS] = numbers
    last = [file for file in files if numbers[file.file_id] == max(numbers.values())]
    if len(last) == 1:
        # Settings belong to what was chosen before them, or is now.
        name, others = last[0].name, [file for file in files if file is not last[0]]
        fitting = [fitting_name(name)] if name not in SETTINGS else [file.name for file in others]
        last += {f.name: f for f in others if f.name in (*fitting, *SETTINGS)}.values()
    return last


def _other_half(contents: Mapping[str, bytes]) -> str:
    mains = [name for name in contents if name not in SETTINGS]
    if len(mains) != 1 or not mains[0].endswith("vocab.json"):
        return ""
    other = plain(fitting_name(mains[0]))
    return f"Add {other} to the same field: the two belong together."


def _use_as_model(model: Segmenter, name: str, file: str) -> None:
    """Add a model that merges alone do not define to the methods, and say where to find it."""
    if st.session_state.get(_ADDED) != file:
        st.session_state[_ADDED] = file
        add_model(name, model)
    st.success(
        f"{plain(shortened(name, 60))} holds {model.vocabulary_size:,} types for "
        f"{plain(model.name)}, which does not segment by merges alone, so it has no merge graph to "
        "look at or edit. It is now among the methods of Compare; the open tokeniser stays "
        "open.",
        icon=":material/check_circle:",
    )
