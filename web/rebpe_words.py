"""One word through a whole run of ReBPE."""

import pandas as pd
import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.rebpe_charts import phase_label
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.refine.tracing import FollowedWord, follow
from web.session import Session
from web.text import plain
from web.tree_view import number_of, word_trees

_LONGEST = 200


def followed_word(current: Session, run: ReBPERun) -> None:
    """The tokens of one word after each phase, and its merge trees at two of them."""
    study = current.study
    text = _word(current)
    if not text:
        return
    number = number_of(study, text)
    try:
        words = study.benchmark.words if number is not None else study.tokeniser.encode([text])
    except MorphGraphError as error:
        st.error(plain(str(error)))
        return
    followed = current.once(
        ("follow", text, len(run.phases), id(run)), lambda: follow(run, words, number or 0)
    )
    tokeniser = study.tokeniser
    tokens = [
        " ".join(tokeniser.token_text(words, atom, type_) for atom, type_ in entry.tokens)
        for entry in followed
    ]
    frame = pd.DataFrame(
        {
            "phase": [phase_label(entry.phase) for entry in followed],
            "tokens": tokens,
            "changed": ["" if i == 0 or t == tokens[i - 1] else "●" for i, t in enumerate(tokens)],
        }
    )
    if number is not None:
        st.markdown(f"Gold: **{plain(study.gold_text(number))}**")
    st.dataframe(frame, hide_index=True, height=min(35 * (len(frame) + 1) + 3, 300))
    if len(followed) > 1:
        _trees(current, run, text if number is None else number, followed)
    else:
        word_trees(
            current, text if number is None else number, [("now", study.graph)], "rebpe tree"
        )


def _word(current: Session) -> str:
    study = current.study
    left, right = st.columns([1, 1])
    typed = left.text_input(
        "Follow a word",
        key=f"rebpe word {current.study_number}",
        placeholder="any word",
        max_chars=_LONGEST,
    ).strip()
    worst = [word.word for word in study.worst_words(100)]
    picked = right.selectbox(
        "or one of the worst",
        worst,
        index=None,
        key=f"rebpe worst {current.study_number}",
        placeholder="choose a word",
        disabled=bool(typed),
    )
    if typed and len(typed.split()) > 1:
        st.warning("Give one word, without spaces.")
        return ""
    if typed or picked:
        return typed or str(picked)
    changed, _ = study.changed_words(study.start, limit=1)
    if changed:
        return changed[0].word
    return worst[0] if worst else study.benchmark.words.texts[0]


def _trees(current: Session, run: ReBPERun, word: int | str, followed: list[FollowedWord]) -> None:
    """The merge trees after two of the phases, side by side: the start and now, at first."""
    labels = [phase_label(entry.phase) for entry in followed]
    left, right = st.columns(2)
    key = f"{current.study_number} {len(labels)}"
    places = range(len(labels))
    before = left.select_slider(
        "Merge tree after", places, 0, format_func=labels.__getitem__, key=f"rebpe tree a {key}"
    )
    after = right.select_slider(
        "beside the one after",
        places,
        len(labels) - 1,
        format_func=labels.__getitem__,
        key=f"rebpe tree b {key}",
    )
    states = [(labels[i], current.graph_after(followed[i].edits)) for i in (before, after)]
    word_trees(current, word, states[:1] if before == after else states, "rebpe tree")
