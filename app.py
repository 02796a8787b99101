"""The start page: a word, its segmentation, a click that improves it, and the next pages."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.limits import is_public
from morphgraph.core.text import counted, in_percent, shortened
from morphgraph.draw.fan import fan_around
from morphgraph.draw.word_lines import Culprit, WordLine, culprit_of, illustrative_word, lines_of
from morphgraph.graph.view import type_key
from morphgraph.reference.catalogue import SOURCES
from morphgraph.reference.language import language_code
from web import inputs
from web.aside import scored_words
from web.bootstrap import PAGES, open_reference, score_metrics, start, tokeniser_upload
from web.components import fan_graph, word_editor
from web.edits import knock_out_type, open_in_graph, show_message
from web.inputs import language_of_types
from web.sources import demo_name
from web.state import Session, keep_session
from web.views.type_card import type_card
from web.views.without_gold import offer_silver
from web.widgets import attempt, button, code, gain_colour, plain, set_value, value_now

DOORS = {
    "Workbench": (
        "Browse the merge graph, watch a word's tree grow, see which merges are to blame.",
        "Browse the graph",
    ),
    "Repair": (
        "BPE-knockout and ReBPE, step by step; then export what transformers loads.",
        "Run ReBPE",
    ),
    "Compare": (
        "Words as BPE and its remedies cut them, side by side: dropout, trimmed, Picky, FLOTA …",
        "Compare",
    ),
    "Build": (
        "Train BPE or one of its relatives, and run whole evaluations from one file.",
        "Train one",
    ),
}
"""The groups of pages, each with its purpose and what its first page does."""
_EXAMPLES = 3


def start_page(current: Session) -> None:
    """Show the first screen, links to other pages, and the upload of own files."""
    for warning in current.study.tokeniser.notices:
        st.warning(plain(warning), icon=":material/warning:")
    inputs.doubtful_reference(current)
    inputs.reference_in_another_language(current)
    has_gold = current.study.benchmark.reference.has_gold
    first_screen(current)

    for column, (title, (text, first)) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"#### {title}")
            st.caption(text)
            page, icon = list(PAGES[title].values())[title == "Workbench"]
            st.page_link(page, label=first, icon=icon)

    st.subheader("Open your own files")
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        tokeniser_upload(current)
    if has_gold:
        with right.container(border=True, height="stretch"):
            open_reference(current, "files")
            inputs.reference_read(current, "files")
    if not is_public():
        st.caption("Files stay on this machine.")


def ways_to_go_on(current: Session) -> None:
    """Offer a public gold, a silver one, or none."""
    st.title("What should it be compared with?", anchor=False)
    st.caption("No reference is open; all below works without one.")
    public, silver, none = st.columns(3)
    with public.container(border=True, height="stretch"):
        st.markdown("**:material/public: Gold: public, or your own**")
        st.caption(
            f"{_public_gold(current)} The licence is shown before anything is fetched. Files of "
            "your own are opened here, too."
        )
        options: dict[str, Any] = {"on_change": "rerun", "type": "primary", "key": "choose gold"}
        with st.popover("Choose", **options) as opening:
            if opening.open:
                open_reference(current, "files")
    with silver.container(border=True, height="stretch"):
        st.markdown("**:material/auto_fix_high: Make a silver one**")
        st.caption(
            "A program divides the commonest words into stems and affixes. Good for a first look."
        )
        offer_silver(current)
    with none.container(border=True, height="stretch"):
        st.markdown("**:material/arrow_forward: Go on without**")
        st.caption(
            "Look, edit and compare by what changes instead of by what is right. Gold can come "
            "later, and the edits stay."
        )
        st.page_link(PAGES["Workbench"]["Merge graph"][0], label="Go on", icon=":material/hub:")


def _public_gold(current: Session) -> str:
    language = language_of_types(current)
    sources = [s for s in SOURCES.values() if language in map(language_code, s.languages)]
    if not sources:
        return "The catalogue has word lists with morphs in many languages."
    lists = counted(len(sources), "public list", "public lists")
    return f"Looks like **{demo_name(language)}**: {lists} with morphs."


@st.fragment
def first_screen(current: Session) -> None:
    """Show the word and its worst merge; a fragment, so that typing redraws nothing else."""
    score_metrics(current, "start")
    if current.study.benchmark.reference.has_gold:
        st.title("Where does this tokeniser cut across morphemes?", anchor=False)
        st.write(
            "A tokeniser glues letters into tokens, one rule (a *merge*) at a time. Here its "
            "tokens stand under the morphs of a linguist (*gold*); a red line is a boundary that "
            "a token covers. Type any word or paste a text, remove the merge to blame, and every "
            "word changes."
        )
    else:
        ways_to_go_on(current)
        st.subheader("Type any word, or paste a text", anchor=False)
    with st.container(border=True, key="wide-first-look"):
        first_look(current)
    keep_session(current)


def first_look(current: Session) -> None:
    """Show a text to edit as chips, with its worst merge and the effect of its knockout."""
    study, key = current.study, f"first look {current.study_number}"
    if value_now(key, None) is None:
        set_value(key, illustrative_word(study, 0))
    before = value_now(key, "")
    text = current.address.remember("text", key, before, step=False)
    if text != before:
        st.session_state[f"{key} version"] = st.session_state.get(f"{key} version", 0) + 1
    with attempt():
        lines, worst = lines_of(study, text)
        words = [word for line in lines for word in line]
        is_text, chosen = len(words) > 1, st.session_state.get(f"{key} chosen")
        culprit = None
        if worst is not None:
            part = scored_words(current).part
            culprit = current.once(("culprit", worst), partial(culprit_of, study, worst, part))
        if chosen is None and is_text:
            chosen = culprit.type if culprit else words[0].tokens[0].type
        left, right = st.columns([7, 3] if is_text else [4, 5], gap="large")
        with left:
            word_editor(
                text,
                lines,
                key=f"editor {current.study_number}",
                version=st.session_state.get(f"{key} version", 0),
                figures=_figures(words) if is_text else (),
                chosen=chosen,
                on_text=lambda typed: set_value(key, typed),
                on_choose=lambda number: st.session_state.update({f"{key} chosen": number}),
            )
            if not is_text and chosen is None and study.has_blame:
                _verdict(culprit, any(word.morphs for word in words))
            _buttons(current, key, None if is_text or chosen is not None else culprit)
            show_message(current)
        with right:
            if chosen is not None and chosen < len(study.graph.types):
                type_card(current, chosen)
                if button("Open it in the merge graph", "hub", key="open chosen"):
                    open_in_graph(current, chosen)
            elif study.benchmark.reference.has_gold:
                _merges_behind(current, culprit)


def _figures(words: Sequence[WordLine]) -> list[tuple[str, str, str]]:
    """Return the figures of a text: value, label, and the value before the edits."""
    now = sum(len(word.tokens) for word in words)
    was = sum(len(word.was or word.tokens) for word in words)
    characters = sum(len(word.word) for word in words)
    known = sum(bool(word.morphs) for word in words)
    running = sum(len(word.word.split()) for word in words)
    covered = sum(len(token.segments) - 1 for word in words for token in word.tokens)
    gold = sum(len(word.morphs) - 1 for word in words if word.morphs)
    figures = [
        (f"{running:,}", "words", ""),
        (f"{now:,}", "tokens", f"{was:,}" if was != now else ""),
        (f"{now / running:.2f}", "tokens per word", ""),
        (f"{characters / max(now, 1):.2f}", "characters per token", ""),
    ]
    if known:
        figures.append((f"{known:,} of {len(words):,}", "words have gold", ""))
        figures.append((f"{covered:,} of {gold:,}", "boundaries covered", ""))
    return figures


def _verdict(culprit: Culprit | None, has_gold: bool) -> None:
    if culprit is None:
        unknown = "The reference has no gold for this, so its boundaries are not known."
        st.markdown("No token covers a gold boundary here." if has_gold else unknown)
        return
    joins = counted(int(culprit.joins), "join")
    wrong = f"It is wrong in {culprit.wrong_joins:,.0f} of its {joins}"
    shown = ", ".join(code(shortened(word, 40)) for word in culprit.examples[:_EXAMPLES])
    merge = plain(shortened(culprit.description, 80))
    rest = " …" if len(culprit.examples) > _EXAMPLES else ""
    st.markdown(
        f":red[**{merge}**] is the merge to blame for a red line. "
        f"{wrong}{': ' + shown if shown else ''}{rest}",
        help="A *join* is a gap that the merge closes in a word of the *reference*, the list of "
        "words that a linguist has cut. It is wrong where the reference has a boundary there; "
        "*blame* is the share of wrong joins.",
    )


def _buttons(current: Session, key: str, culprit: Culprit | None) -> None:
    def another() -> None:
        st.session_state.pop(f"{key} chosen", None)
        number = st.session_state.get(f"{key} version", 0) + 1
        st.session_state[f"{key} version"] = number
        set_value(key, illustrative_word(current.study, number))

    with st.container(horizontal=True, vertical_alignment="center"):
        if culprit is not None:
            label = f"Knock out “{plain(shortened(culprit.name, 30))}”"
            options: dict[str, Any] = {"primary": True, "key": "knock out the culprit"}
            options["help"] = "Removes the merge. Undo, on top, brings it back."
            button(label, "content_cut", knock_out_type, current, culprit.type, **options)
        button("Another word", "", another, key="another word")
        if culprit is not None and culprit.gain == culprit.gain:
            score = f"F1 would be {in_percent(culprit.f1)} ({100 * culprit.gain:+.2f})"
            st.markdown(f":{gain_colour(culprit.gain)}[**{score}**]")


def _merges_behind(current: Session, culprit: Culprit | None) -> None:
    study, shown = current.study, f"first shown {current.study_number}"
    if culprit is not None:
        st.session_state[shown] = culprit.type
    number = st.session_state.get(shown)
    if number is None or (culprit is None and study.graph.is_present(number)):
        return
    st.caption("The merge behind it" if culprit else "Where its parts go now")
    fan_graph(
        fan_around(study, number, rows=4, up=0 if culprit else 1),
        key="first look graph",
        view_key=f"first {current.study_number} {number}",
        selected=type_key(number),
        height="250px",
        least=0.5,
    )
    st.caption("Boxes are merges, ovals the types they make. Redder: more to blame.")
    if st.button("Open it in the merge graph", key="open culprit", type="tertiary"):
        open_in_graph(current, number)


start_page(start("Start"))
