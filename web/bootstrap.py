"""What surrounds every page: configuration, styles, the session, the sidebar, the bar of scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.files import DEMOS
from morphgraph.core.isolated import VISITOR
from morphgraph.core.limits import is_public
from morphgraph.core.text import count_text, counted, percent, shortened
from morphgraph.formats.tokeniser_files import SETTINGS, fitting_name
from morphgraph.score.boundaries import BoundaryScore
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.segment.bte import Bte
from morphgraph.segment.segmenter import Segmenter
from web import inputs
from web.aside import Scored, scored_words
from web.choosing import add_model, kept_words
from web.jobs import keep_queue_moving, stop_all
from web.sharing import follow_edits, make_shared_edits
from web.sources import demo_name, uploaded_model
from web.state import Session, keep_session, known_browser, session
from web.storage import days_kept
from web.views.palette import offer_palette
from web.views.without_gold import without_gold
from web.widgets import button, deferred_error, plain, show_deferred_error

_ASSETS = Path(__file__).resolve().parent.parent / "assets"
_OWN = "own files"
_NOT_DELETED = "data not deleted"
_FIELD = "tokeniser"
_ADDED, _UPLOADS = "models opened as tokenisers", "uploads of tokenisers"
PAGES = {
    "": {"Start": ("app.py", ":material/home:")},
    "Explore": {
        "Merge graph": ("pages/1_Merge_graph.py", ":material/hub:"),
        "Merge tree": ("pages/2_Merge_tree.py", ":material/account_tree:"),
        "Vocabulary": ("pages/10_Vocabulary.py", ":material/menu_book:"),
    },
    "Repair": {
        "Repair": ("pages/1_Repair.py", ":material/build:"),
        "History and export": ("pages/6_History_and_export.py", ":material/history:"),
    },
    "Compare": {
        "Segmentations": ("pages/9_Segmentations.py", ":material/compare_arrows:"),
        "Scores": ("pages/5_Scores.py", ":material/monitoring:"),
    },
    "Build": {
        "Train": ("pages/8_Train.py", ":material/model_training:"),
        "Batch": ("pages/11_Batch.py", ":material/batch_prediction:"),
    },
}
"""The pages by task: file and icon of each."""


def start(title: str) -> Session:
    """Configure the page and show the sidebar; return the session."""
    st.set_page_config(
        page_title=f"{title} · morphgraph",
        page_icon=_ASSETS / "icon.svg",
        layout="wide",
        initial_sidebar_state=240,
        menu_items={},
    )
    st.logo(_ASSETS / "logo.svg", icon_image=_ASSETS / "icon.svg")
    st.html(_ASSETS / "style.css")
    if is_public():
        keep_queue_moving()
    current = session()
    VISITOR.set(current.store.folder.name)
    current.doing = ""  # it is in the page that is left, or begins again below
    current.address.arrive(title)
    own = current.language  # a demo in the address replaces another; own files stay open
    asked = current.address.follow("demo", own, among=DEMOS if own else ())
    if asked != own:
        current.open_demo(asked)
    make_shared_edits(current)
    known_browser(current)
    keep_session(current)
    with st.sidebar:
        sidebar(current)
    _page_tabs(title)
    if current.notice:
        st.toast(plain(current.notice), icon="↩️")
        current.notice = ""
    return current


def sidebar(current: Session) -> None:
    """Show the pages, what is open, and the other demos; nothing here depends on edits."""
    names = {name: page for pages in PAGES.values() for name, (page, _) in pages.items()}
    offer_palette(current, names)
    for group, pages in PAGES.items():
        if group:
            st.caption(group)
        for label, (page, icon) in pages.items():
            st.page_link(page, label=label, icon=icon)
    st.divider()
    study, gold = current.study, current.study.benchmark.reference
    codes = list(DEMOS) if current.language else [*DEMOS, _OWN]
    chosen = st.selectbox(
        "Demo",
        codes,
        index=codes.index(current.language or _OWN),
        format_func=demo_name,
        key=f"demo {current.study_number}",
        help="A tokeniser of 8,000 types and a gold list. Open your own files on the start page. "
        "Edits are kept when you open something else.",
    )
    if chosen not in (current.language, _OWN):
        current.open_demo(chosen)
        st.rerun()
    st.caption(
        f"**Tokeniser** {plain(shortened(study.tokeniser.name))}  \n"
        f"**{'Reference' if gold.has_gold else 'No reference:'}** {plain(shortened(gold.name))}, "
        f"{counted(len(gold), 'word')}"
    )
    if current.unkept:
        st.warning(
            f"What you do is not kept for your next visit, nor for a reload of this page: "
            f"{plain(current.unkept)} Download what you need: History and export has the recipe.",
            icon=":material/warning:",
        )
    if is_public():
        _own_data(current)


def _page_tabs(title: str) -> None:
    """Show the groups of pages at the bottom; the style sheet hides them but on a phone."""
    with st.container(horizontal=True, key="page-tabs"):
        for group, pages in PAGES.items():
            _, icon = next(iter(pages.values()))
            place: Any = st
            if group:
                name = f"page-tab{'-here' * (title in pages)} {group}"
                place = st.popover(group, icon=icon, type="tertiary", key=name)
            for label, (page, icon) in pages.items():
                place.page_link(page, label=label, icon=icon)


def _own_data(current: Session) -> None:
    def delete() -> None:
        with deferred_error(_NOT_DELETED):
            stop_all(current.store.folder / "runs")
            current.store.forget()
            st.session_state.clear()

    st.divider()
    st.caption(
        "A server that you share: what you open comes back in this browser alone, and is deleted "
        f"{counted(days_kept(), 'day')} after your last visit."
    )
    with st.popover("Delete my data", icon=":material/delete:", type="tertiary"):
        st.write("Files, edits, models, texts and runs of this browser are deleted at once.")
        st.button("Delete all", type="primary", on_click=delete)
    show_deferred_error(_NOT_DELETED)


def score_bar(place: str) -> DeltaGenerator:
    """Return the container of the bar; it keeps what it showed where nothing is drawn in it."""
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "medium"}
    return st.container(key=f"score-bar-{place}", **row)


def score_metrics(
    current: Session,
    place: str,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    *,
    learning: bool = False,
) -> None:
    """Show a slim sticky bar: what is open, its scores, undo and redo; ``place``: the page.

    ``learning``: the page learns, so that figures are over the words kept aside already.
    """
    study = current.study
    graph, note = study.graph, study.benchmark.reference.partial_note
    has_gold = study.benchmark.reference.has_gold
    size, before_size = study.tokeniser.vocabulary_size, graph.loaded_type_count
    words = scored_words(current, learning=learning and has_gold)
    now = study.score(words.part, scope, weighting)
    start = study.score(words.part, scope, weighting, edits=0)
    figures: dict[str, list[str]] = {}
    with score_bar(place):
        what_is_open(current, place)
        if note:
            label = "silver" if study.benchmark.reference.is_silver else "partial gold"
            st.badge(label, icon=":material/info:", color="orange", help=note)
        st.space("stretch")
        for name, label, meaning in (
            ("f1", "F1 %", "The harmonic mean of precision and recall."),
            ("precision", "Precision %", "The share of splits that are on a gold boundary."),
            ("recall", "Recall %", "The share of gold boundaries that are split."),
            ("types", "Types", "|V|: how many types the vocabulary has."),
        ):
            gain, value, delta = 0.0, f"{size:,}", f"{size - before_size:+,}"
            if name != "types":
                share, before = getattr(now, name), getattr(start, name)
                gain, value = 100 * (share - before), percent(share) if has_gold else "–"
                delta = f"{gain:+.2f}" if name == "f1" and gain == gain else ""
                if not has_gold:
                    meaning += " It needs a reference."
                elif graph.history:
                    meaning = f"{percent(before)} before the first edit. {meaning}"
                meaning = f"{words.help} {meaning}".strip()
            colour: Any = "normal" if gain else "off"
            options: dict[str, Any] = {"delta": delta if graph.history and delta else None}
            with st.container(key=f"figure-{name}-{place}", width="content"):
                options |= {"delta_color": colour, "help": meaning, "width": "content"}
                st.metric(label, value, **options)
            gained = f"{gain:+.2f}" if graph.history and gain == gain else ""
            figures[label] = [value, delta if name == "types" else gained]
            if name == "f1":  # a place of its own, so that what follows it keeps its place
                seen_or_not = "seen" if words.said else "unseen"
                with st.container(key=f"figure-{seen_or_not}-{place}", width="content"):
                    if words.said:
                        st.caption(f"on {words.said}")
        with st.container(horizontal=True, width="content", key=f"score-actions-{place}"):
            edit_buttons(current, place)
            follow_edits(current)
            tip = "All figures, and what is counted"
            with st.popover("Menu", icon=":material/more_vert:", type="tertiary", help=tip):
                with st.container(key=f"menu-actions-{place}"):
                    edit_buttons(current, f"{place} menu")
                st.table(pd.DataFrame(figures, ["now", "gain"]).T, border="horizontal")
                if has_gold:
                    _what_is_counted(current, now, words)
    if inputs.reference_read(current, place):
        inputs.doubtful_reference(current)


def _what_is_counted(current: Session, score: BoundaryScore, words: Scored) -> None:
    study, part = current.study, words.part
    gold_set = kept_words(current, study.benchmark, part)
    gold = counted(score.relevant, "gold boundary", "gold boundaries")
    right = f"{count_text(score.true_positives)} right of {counted(score.predicted, 'split')}"
    on = f"{words.said}: " if words.said else ""
    st.caption(f"{on}{score.scope} boundaries over word {score.weighting}: {right}, {gold}")
    if words.is_learned and part is not None:
        seen = study.score(part.other, score.scope, score.weighting)
        st.caption(f"F1 {percent(seen.f1)} on the words learned from.")
    st.markdown("**Signature**")
    tokenised = Bte(study.tokeniser).signature()
    signature = gold_set.signature_of(tokenised, scores=f"{score.scope} {score.weighting}")
    st.code(signature, language=None, wrap_lines=True)
    st.caption("All that these scores depend on. Quote it, so that others can reproduce them.")


def edit_buttons(current: Session, place: str) -> None:
    """Show undo and redo side by side in a horizontal container, or by name in a menu."""
    graph, in_menu = current.study.graph, place.endswith("menu")
    for label, edits, action, keys in (
        ("Undo", graph.history, current.undo, "Ctrl+Z"),
        ("Redo", graph.undone, current.redo, "Ctrl+Shift+Z"),
    ):
        name = label.lower()
        options: dict[str, Any] = {"key": f"{name} {place}", "type": "tertiary"}
        options |= {"help": f"{label} an edit: {len(edits):,} to {name}", "disabled": not edits}
        if not in_menu:
            options["shortcut"] = keys
        elif edits:
            types = [str(one) for one in edits[-1].step.get("types", ())]
            names = (
                current.study.tokeniser.readable(types[0]) if len(types) == 1 else edits[-1].edit
            )
            label = f"{label}: {plain(shortened(names, 20))}"
        button(label, name, action, **options)


_GENERIC = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer.model", "model.json")


def _telling_name(current: Session) -> str:
    """Return the name of the open tokeniser, or its size where a file's name says nothing."""
    tokeniser = current.study.tokeniser
    is_generic = tokeniser.name.lower() in _GENERIC
    return f"{tokeniser.vocabulary_size:,} types" if is_generic else tokeniser.name


def what_is_open(current: Session, place: str) -> None:
    """Show the open tokeniser and reference; a click on one replaces them."""
    gold = current.study.benchmark.reference
    opened = gold.name if gold.has_gold else "none"
    for kind, name in (("tokeniser", _telling_name(current)), ("reference", opened)):
        # Drawn only when opened, as most never are.
        with st.popover(
            f"{kind} **{plain(shortened(name, 20))}**",
            type="tertiary",
            key=f"open {kind} {place} {current.study_number}",
            on_change="rerun",
            help=f"{name}: open another {kind}",
        ) as opening:
            if not opening.open:
                continue
            if kind == "reference" and gold.has_gold:
                st.caption(counted(len(gold), "word"))
            if place == "start":
                st.caption("Open your own files further down on this page.")
            elif kind == "reference":
                open_reference(current, place)
            else:
                tokeniser_upload(current)
            st.caption("Or a demo: a tokeniser of 8,000 types and its gold list.")
            with st.container(horizontal=True):
                for code in DEMOS:
                    key, is_open = f"demo {code} as {kind} {place}", code == current.language
                    if st.button(demo_name(code), key=key, disabled=is_open):
                        current.open_demo(code)
                        st.rerun()


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
        "look at or edit. It is now among the methods of Segmentations and Scores; the open "
        "tokeniser stays open.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        for label, (page, icon) in PAGES["Compare"].items():
            st.page_link(page, label=label, icon=icon)
