"""The drawer at the right of every page: what was done, to travel along, and what to take along."""

import io
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import streamlit as st

from morphgraph.core.limits import is_public
from morphgraph.core.text import counted, in_percent, percent
from morphgraph.formats.export import Export, words_to_check
from morphgraph.formats.gguf import MAGIC
from morphgraph.formats.gguf_writing import gguf_blocks
from morphgraph.formats.recipe import write_recipe
from morphgraph.graph.view import to_graphml, to_networkx
from morphgraph.refine import learned_from
from morphgraph.refine.portable_edits import preview_portable
from morphgraph.refine.study import Study
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.tables.edits import checks_table
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.aside import scored_words, sides
from web.components import component
from web.copies import copy_field, copy_list
from web.edits import go_to_edit
from web.jobs import stop_all
from web.sharing import edits_in_address
from web.state import Session, as_json
from web.storage import days_kept
from web.tape import edit_said

_SHOWN, _CHECKED, _NOT_DELETED = (f"drawer {what}" for what in ("shown", "checked", "not deleted"))
_FOLDER, _MOST = "morphgraph-tokeniser", 200
PLAIN, TUPLES, GGUF = "Plain tokenizer.json", "With tuple merges", "Into your GGUF file"
_LOADED = """
from transformers import AutoTokenizer{also}

tokenizer = AutoTokenizer.from_pretrained("morphgraph-tokeniser"{trusted})
"""


def drawer_button(current: Session, title: str) -> None:
    """Show the button that opens the drawer of a page, and the drawer once it is open."""
    ui.button("History, export", "history", ui.open_dialog, title, "drawer", key="drawer button")
    st.session_state[_SHOWN] = current.study.graph.state
    if ui.dialog_now(title, "drawer") is not None:
        _drawer(current)


@st.dialog("What was done", position="right", on_dismiss=ui.close_dialog)
def _drawer(current: Session) -> None:
    if st.session_state.get(_SHOWN) != current.study.graph.state:
        st.rerun()  # the page below has to show another state, not the drawer alone
    _what_was_done(current)
    st.subheader("Export", anchor=False)
    _take_along(current)
    st.subheader("Copies", anchor=False)
    copy_list(current)
    if copy_field(current, "drawer"):
        st.rerun()
    _more(current)
    if is_public():
        _own_data(current)


# --------------------------------------------------------------------------- what was done


def _what_was_done(current: Session) -> None:
    """List edits, oldest first, with their gain; a click on one goes there."""
    study, graph = current.study, current.study.graph
    has_gold = study.benchmark.reference.has_gold
    changes = [*graph.history, *reversed(graph.undone)]
    words, done = scored_words(current), len(graph.history)
    f1 = study.f1_after_edits(words.part)
    gains = [float("nan"), *(100 * (after - before) for before, after in pairwise(f1))]

    with st.container(key="done", height=330 if len(changes) > 8 else "content", gap=None):
        for number in range(max(0, len(f1) - _MOST), len(f1)):
            edit = "start" if not number else edit_said(current, changes[number - 1])
            label, gain = ui.plain(edit), gains[number]
            if has_gold:
                told = f"**{gain:+.2f}**" if gain == gain else "–"
                label += f" :{ui.gain_colour(gain)}[{told}] {percent(f1[number])}"
            state = "now" if number == done else "undone" if number > done else "done"
            options: dict[str, Any] = {"type": "tertiary", "width": "stretch"}
            options["key"] = f"edit {number} {state}"
            ui.button(label, "", go_to_edit, current, number, **options)
    if not changes:
        st.caption("Nothing is edited yet: knock out a type in the Workbench, or run a remedy.")
        return
    on = f", all on the {words.said}" if words.part is not None else ""
    figures = f" The figures are F1 in %{on}." if has_gold else ""
    st.caption(f"Click a line to go back to that state.{figures}")


# --------------------------------------------------------------------------- export


def _take_along(current: Session) -> None:
    """Choose a form of the tokeniser, have it checked, and download it."""
    tokeniser = current.study.tokeniser
    tuples = len(tokeniser.graph.tuple_merges())
    captions = {PLAIN: _of_pairs(current, tuples)}
    if tuples:
        merges = counted(tuples, "merge")
        captions[TUPLES] = (
            f"Exactly what you see, with {merges} of more than two parts; transformers loads it "
            "with a class of its own."
        )
    model = _gguf_file(current)
    if model is not None:
        captions[GGUF] = "Pairs only, in a copy of the model that you opened; the weights stay."
    with st.container(key="cards-export"):
        form = ui.choice(
            st.radio,
            "Form",
            captions,
            key="export_form",
            captions=list(captions.values()),
            label_visibility="collapsed",
        )
    pairs = _pairs_only(current) if form in (PLAIN, GGUF) and tuples else tokeniser
    if form == GGUF:
        pairs = replace(pairs, id_choice="keep")
    with st.container(horizontal=True, vertical_alignment="center", key="take-along"):
        export = _checked(current, Bte(pairs), model if form == GGUF else None)
        _copy_link(current)
    if export is not None:
        _result(export)


def _of_pairs(current: Session, tuples: int) -> str:
    """Say who reads a plain file, and its F1 beside that of the tokeniser as it is."""
    readers = "Every library reads it: tokenizers, transformers and, after conversion, llama.cpp."
    if not tuples:
        return f"{readers} Exactly what you see."
    note = f"{readers} Pairs only, ids as they were."
    if not current.study.benchmark.reference.has_gold:
        return note
    plain = _pairs_only(current)
    words = scored_words(current, of=plain)
    f1 = Study(plain, current.study.benchmark).score(words.part).f1
    on = f" on the {words.said}" if words.part is not None else ""
    now = current.study.score(words.part).f1
    return f"{note} F1 {in_percent(f1)} instead of {in_percent(now)}{on}."


def _pairs_only(current: Session) -> BpeTokeniser:
    """Return a copy of the open tokeniser with only pair merges, chosen by the blame of gold."""

    def make() -> BpeTokeniser:
        tokeniser = current.study.tokeniser.fork()
        tokeniser.graph.replay(as_json(current.study.graph.history))
        rest = sides(current)[0].encoded_for(tokeniser)
        change = preview_portable(tokeniser.graph, rest)
        tokeniser.graph.apply(learned_from(change, rest) if rest.reference.has_gold else change)
        return tokeniser

    return current.once(("pairs only",), make)


def _gguf_file(current: Session) -> tuple[str, bytes] | None:
    """Return the file that the tokeniser was opened from, if it is a model in GGUF."""
    source = current.sources.get("tokeniser")
    if source is None or any(change.added_types for change in current.study.graph.history):
        return None  # a new type would have no weights
    return next((file for file in source.files if file[1].startswith(MAGIC)), None)


def _checked(current: Session, segmenter: Bte, model: tuple[str, bytes] | None) -> Export | None:
    """Compare the ids of what would be exported with ours at a click; return it if they were.

    ``model``: the file in GGUF that gets its merges.
    """
    reference = current.study.benchmark.reference
    key = (segmenter.signature(), reference.checksum, model is not None)
    # It stays where it is: a button that goes takes the focus with it, and Escape needs that.
    tip = "Compares the ids of 10,000 words, those of the reference first, and of 1,000 sentences."
    is_checked = st.session_state.get(_CHECKED) == key
    options: dict[str, Any] = {"key": "check export", "help": tip, "primary": not is_checked}
    ui.button(
        "Check and prepare", "fact_check", st.session_state.update, {_CHECKED: key}, **options
    )
    if not is_checked:
        return None

    words = partial(words_to_check, [e.word for e in reference.entries], name=segmenter.name)
    name, data = model or ("", b"")

    def in_gguf() -> Iterator[bytes]:
        return gguf_blocks(segmenter.tokeniser, words(), io.BytesIO(data), name)

    def make() -> Export:
        with st.spinner("Comparing 10,000 words and 1,000 sentences…"):
            if model is not None:
                in_gguf()
            return export_segmenter(segmenter, words())

    with ui.attempt():
        if warning := current.once(("capitals", *key), segmenter.warning):
            st.warning(ui.plain(warning), icon=":material/match_case:")
        export = current.once(("export", *key), make)
        files = {f"{_FOLDER}/{name}": data for name, data in export.files.items()}
        file = f"{_FOLDER}{'' if export.kind == 'tokenizer.json' else '-tuples'}.zip"
        tip = f"A zip archive: {', '.join(export.files)}."
        if model is not None:
            file, tip = f"{_FOLDER}.gguf", "For llama.cpp, in place of the model's own file."

        def content() -> bytes:
            return ui.zipped(files) if model is None else b"".join(in_gguf())

        ui.download("Download", content, file, primary=True, help=tip)
        return export
    del st.session_state[_CHECKED]  # it cannot be exported
    return None


def _result(export: Export) -> None:
    is_file, same = export.kind == "tokenizer.json", export.is_as_original
    compared = f"{counted(export.checked_words, 'word')} and "
    compared += counted(export.checked_sentences, "sentence")
    show, icon = (st.success, "check_circle") if same else (st.warning, "warning")
    show(
        f"**{compared}: {'the same ids' if same else 'cut'}** as in this app.  \n"
        f"It is {'a `tokenizer.json`' if is_file else 'a folder for `transformers`'}: "
        f"{ui.plain(export.reason)}."
        + ("" if same else f"  \nThe original: {ui.plain(export.checks[-1].explanation)}."),
        icon=f":material/{icon}:",
    )
    with st.expander("How it is loaded, and what was checked"):
        also = "  # or tokenizers.Tokenizer.from_file" if is_file else ""
        trusted = "" if is_file else ", trust_remote_code=True"
        code = _LOADED.format(also=also, trusted=trusted)
        st.code(code.strip(), language="python", wrap_lines=True)
        ui.show_model(checks_table(export.checks), key="export checks")
        st.code(export.signature, language=None, wrap_lines=True)


def _copy_link(current: Session) -> None:
    """Show a button that copies the address of this page with its edits."""
    edits = current.study.graph.history
    fits = not edits or bool(edits_in_address(current))
    tip = "Anyone who opens this link sees the same tokeniser with these edits."
    tip = tip if fits else "These edits are too long for a link. Download the recipe instead."
    data = {"label": "Copy link", "fits": fits, "tip": tip}
    component("link", "link", "elements")(key="copy link", data=data)


def _more(current: Session) -> None:
    """Offer the edits and the merge graph of what is open now."""
    tokeniser = current.study.tokeniser

    def graph() -> str | bytes:
        return to_graphml(to_networkx(tokeniser.graph, names=tokeniser.readable_types))

    with st.expander("More files"), st.container(horizontal=True):
        tip = (
            "The edits alone. To replay them, drop the file anywhere, or run morphgraph knockout "
            "--recipe."
        )
        off = not tokeniser.graph.history
        recipe = partial(write_recipe, tokeniser)
        ui.download("Recipe", recipe, "recipe.json", help=tip, disabled=off)
        ui.download("GraphML", graph, "merge-graph.graphml", help="For networkx, Gephi or R.")


def _own_data(current: Session) -> None:
    """Say what a shared server keeps of a visitor, and offer to delete it."""

    def delete() -> None:
        with ui.deferred_error(_NOT_DELETED):
            stop_all(current.store.folder / "runs")
            current.store.forget()
            st.session_state.clear()
            st.query_params.clear()

    st.caption(
        "A server that you share: what you open comes back in this browser alone, and is deleted "
        f"{counted(days_kept(), 'day')} after your last visit."
    )
    with st.popover("Delete my data", icon=":material/delete:", type="tertiary"):
        st.write("Files, edits, models, texts and runs of this browser are deleted at once.")
        st.button("Delete all", type="primary", on_click=delete)
    ui.show_deferred_error(_NOT_DELETED)
