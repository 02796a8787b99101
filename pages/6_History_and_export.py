"""Each edit with its effect on F1, to undo or redo; and what can be exported."""

from functools import partial
from itertools import pairwise
from typing import Any

import streamlit as st

from morphgraph.core.text import counted, percent, shortened, signed
from morphgraph.formats.export import Export, words_to_check
from morphgraph.formats.export_files import FILES
from morphgraph.formats.hugging_face import id_choice
from morphgraph.formats.recipe import read_recipe, replay, write_recipe
from morphgraph.graph.view import to_graphml, to_networkx
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter, write_model
from morphgraph.tables.edits import checks_table
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.aside import scored_words
from web.bootstrap import score_metrics, start
from web.choosing import choose_method
from web.copies import EXPORTED, copied, copies_of, copy_field, copy_list
from web.edits import go_to_edit, make_portable, never_formed_note
from web.inputs import content_of
from web.state import Session

_FOLDER, _CHECKED = "morphgraph-tokeniser", "checked export"
_FORMS = {
    "A tokeniser for transformers": "To train or run a model with it. Its ids are compared with "
    "this app's first.",
    "A model of morphgraph": "To open it here again, or to segment with it on the command line.",
    "A recipe: the edits alone": "To make the same edits again, here, on the command line or in a "
    "batch; small enough to send.",
    "The merge graph as GraphML": "To analyse it with networkx, Gephi or R.",
}
"""What can be exported, and its use."""
_NAMES = {
    "knockout": "knock out",
    "cascade": "knock out, and what is made from it",
    "portable": "only pair merges",
}
_FOR_THE_LIBRARY = """
from transformers import AutoTokenizer  # or tokenizers.Tokenizer.from_file(".../tokenizer.json")

tokenizer = AutoTokenizer.from_pretrained("morphgraph-tokeniser")
"""
_WITH_OUR_CLASS = """
from transformers import AutoTokenizer

# The folder brings its own class, in short Python files that you can read first.
tokenizer = AutoTokenizer.from_pretrained("morphgraph-tokeniser", trust_remote_code=True)
"""


def page(current: Session) -> None:
    """Show the edits, and below them what to export."""
    score_metrics(current, "history")
    edit_list(current)
    never_formed_note(current)
    st.subheader("Copies", anchor=False)
    copy_list(current)
    copy_field(current, "history")
    export(current)


def edit_list(current: Session) -> None:
    """Show edits, oldest first, undone ones last; a click on one returns to its state."""
    study = current.study
    graph, names = study.graph, study.tokeniser.readable_types
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Edits", anchor=False, width="content")
        st.space("stretch")
        with st.popover("Replay a recipe", icon=":material/play_arrow:"):
            _recipe_upload(current)
    changes = [*graph.history, *reversed(graph.undone)]
    if not changes:
        st.info("No edits yet. Knock out a type in the merge graph, or run ReBPE.")
        return
    words = scored_words(current)
    done, f1 = len(graph.history), study.f1_after_edits(words.part)
    scores = {
        "F1 %": [percent(value) for value in f1],
        "ΔF1": ["", *(signed(100 * (after - before)) for before, after in pairwise(f1))],
    }
    key = f"edits {current.study_number} {graph.state} {len(changes)} {done}"

    def go() -> None:
        cells = st.session_state[key].selection.cells
        if cells:
            go_to_edit(current, int(cells[0][0]))

    states = ["now" if n == done else "undone" if n > done else "" for n in range(len(f1))]
    merges = [", ".join(f"{n:,} {kind}" for kind, n in c.counts().items()) for c in changes]
    types = [(change.removed_types or change.added_types)[:20] for change in changes]
    ui.show_table(
        {
            "step": list(range(len(changes) + 1)),
            "state": states,
            "edit": ["as opened", *(_NAMES.get(c.edit, c.edit) for c in changes)],
            **(scores if study.benchmark.reference.has_gold else {}),
            "merges": ["", *merges],
            "types": ["", *(shortened(", ".join(names[t] for t in some), 120) for some in types)],
        },
        8,
        key=key,
        placeholder="–",
        on_select=go,
        selection_mode="single-cell",
        column_config={
            "merges": ui.TEXT(help="Split: a knockout gave them other parts."),
            "F1 %": ui.TEXT(alignment="right", help=words.help or None),
            "ΔF1": ui.TEXT(alignment="right", help="Of this edit, in percentage points."),
        },
    )
    on = f"F1 is on {words.said}. " if words.said else ""
    st.caption(f"{on}Click an edit to go there: what comes after it is undone, and can be redone.")


def _recipe_upload(current: Session) -> None:
    tip = "Its edits are added to yours, all or none."
    key = f"recipe upload {current.study_number}"
    file = st.file_uploader("Recipe", type=["json"], key=key, help=tip)
    if ui.button("Replay", "play_arrow", disabled=file is None) and file is not None:
        with ui.attempt():
            recipe = read_recipe(content_of(file), file.name)
            changes = replay(current.study.tokeniser, recipe, file.name)
            current.notice = f"{counted(len(changes), 'edit')} replayed."
            st.rerun()


def export(current: Session) -> None:
    """Show what can be exported, the use of each kind, and the chosen file."""
    tokeniser = current.study.tokeniser
    st.subheader("Export", anchor=False)
    left, right = st.columns([2, 3], gap="large")
    captions = _FORMS.values()
    with left:
        if copies := copies_of(current):
            chosen = ui.choice(
                st.selectbox,
                "Of which state",
                ["", *copies],
                key=EXPORTED,
                format_func=lambda name: name or "as it is now",
            )
            tokeniser = copied(current, chosen) if chosen else tokeniser
        form = ui.choice(st.radio, "What to export", _FORMS, key="export_form", captions=captions)
    save = partial(ui.download, primary=True)
    with right:
        if form.startswith("A tokeniser"):
            _tokeniser(current, tokeniser)
        elif form.startswith("A model"):
            model = partial(write_model, Bte(tokeniser))
            save("Download the model", model, f"{_FOLDER}.json", help="morphgraph segment FILE")
        elif form.startswith("A recipe"):
            options: dict[str, Any] = {"disabled": not tokeniser.graph.history}
            options["help"] = "To be replayed here or with morphgraph knockout --recipe."
            save("Recipe", partial(write_recipe, tokeniser), "recipe.json", **options)
        else:
            names = tokeniser.readable_types
            graph = partial(to_networkx, tokeniser.graph, names=names)
            save("Download GraphML", lambda: to_graphml(graph()), "merge-graph.graphml")


def _tokeniser(current: Session, tokeniser: BpeTokeniser) -> None:
    reference = current.study.benchmark.reference
    segmenter = choose_method(tokeniser, "export")
    # The check is repeated after another edit, or with another reference.
    key = (segmenter.signature(), reference.checksum)
    place = st.empty()
    if st.session_state.get(_CHECKED) != key:
        with place.container():
            if segmenter.editable is not None and tokeniser.graph.tuple_merges():
                _offer_pairs(current, tokeniser)
            tip = (
                "Compares the ids of 10,000 words, the reference's first, and of 1,000 sentences. "
                "It takes a second or two."
            )
            if not ui.button("Check and prepare", "fact_check", primary=True, help=tip):
                return

    def make() -> Export:
        words = [entry.word for entry in reference.entries]
        with st.spinner("Comparing 10,000 words and 1,000 sentences…"):
            return export_segmenter(segmenter, words_to_check(words, name=tokeniser.name))

    with ui.attempt():
        if warning := current.once(("capitals", *key), segmenter.warning):
            st.warning(ui.plain(warning), icon=":material/match_case:")
        export = current.once(("export", *key), make)
        st.session_state[_CHECKED] = key
        with place.container():
            _result(export, keeps_ids=id_choice(tokeniser) == "keep")


def _offer_pairs(current: Session, tokeniser: BpeTokeniser) -> None:
    merges = counted(len(tokeniser.graph.tuple_merges()), "merge")
    st.write(
        f"It has {merges} of more than two parts, so it becomes a **folder for `transformers`** "
        "with a small tokeniser class: a `tokenizer.json` has pairs only."
    )
    tip = (
        "Tuple merges become pairs, or what they make goes where that is to blame. Then it is a "
        "tokenizer.json that every library reads, and all types keep their ids. An edit, which "
        "can be undone."
    )
    is_open = tokeniser is current.study.tokeniser
    if is_open and ui.button("Leave only pair merges", "conversion_path", help=tip):
        make_portable(current)
        ui.run_again()


def _result(made: Export, *, keeps_ids: bool) -> None:
    is_file = made.kind == "tokenizer.json"
    form = "a `tokenizer.json`" if is_file else "a folder for `transformers`"
    same = made.is_as_original
    show, icon = (st.success, "check_circle") if same else (st.warning, "warning")
    show(
        f"**{counted(made.checked_words, 'word')} and "
        f"{counted(made.checked_sentences, 'sentence')}: {'the same ids' if same else 'cut'}** "
        f"as in this app, compared in {made.seconds:.1f} s.  \n"
        f"It is {form}: {ui.plain(made.reason)}."
        + ("" if same else f"  \nThe original: {ui.plain(made.checks[-1].explanation)}."),
        icon=f":material/{icon}:",
    )
    ui.download(
        "Download the archive",
        lambda: ui.zipped({f"{_FOLDER}/{name}": data for name, data in made.files.items()}),
        f"{_FOLDER}.zip",
        primary=True,
        help="One zip archive with all the files below.",
    )
    ui.show_model(checks_table(made.checks), key="export checks")
    code = _FOR_THE_LIBRARY if is_file else _WITH_OUR_CLASS
    st.code(code.strip(), language="python", wrap_lines=True)
    ui.show_table(
        {
            "file": list(made.files),
            "what it is": [FILES[name] for name in made.files],
            "size": [f"{len(data) / 1000:,.1f} kB" for data in made.files.values()],
        },
        column_config={"size": ui.TEXT(alignment="right")},
    )
    kept = "All types keep their ids, and removed ones their entries, which nothing produces"
    dense = "Ids are dense: what was removed leaves no hole"
    st.caption(
        f"{kept if keeps_ids else dense}. ids.json maps the old ids to the new ones; the README "
        "shows how to reuse a model's embeddings with it."
    )
    st.code(made.signature, language=None, wrap_lines=True)


page(start("History and export"))
