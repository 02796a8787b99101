"""Which words are compared: typed ones, or some of the reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from morphgraph.refine.study import Study
from morphgraph.score.comparison import most_disputed
from morphgraph.tokeniser.segmentation import Segmenter
from web.languages import words_in_another_language
from web.session import Session, remembered

Gold = tuple[str, ...] | None
TYPED, DRAWN = "type or paste", "from the reference"
_HOW = ("most wrong gaps", "most blame", "at random", "with an affix", "most disputed")
_MOST = 1000
_LOOKED_AT = 5000
"""Words of the reference among which the most disputed are looked for."""
_EXAMPLES = "undesirable unhappily antiaircraft"
_LONGEST = 100_000
_IN_ADDRESS = 1000
"""Characters of text that the page's address holds, so that it can be shared."""


def choose_words(current: Session, segmenters: Sequence[Segmenter]) -> tuple[list[str], list[Gold]]:
    """The texts, and the gold morphs of those that are in the reference.

    ``segmenters``: the methods that are compared, for words on which they differ.
    """
    study = current.study
    with remembered(compare_source=TYPED if "words" in st.query_params else DRAWN):
        source = st.segmented_control("Words", [TYPED, DRAWN], key="compare_source", required=True)
    if source == TYPED:
        texts = _typed()
    else:
        return _drawn(current, segmenters)
    words_in_another_language(current, [word for text in texts for word in text.split()])
    known = _gold_of(study)
    return texts, [known.get(text) for text in texts]


def _typed() -> list[str]:
    asked = st.query_params.get("words")
    in_lines = st.query_params.get("lines") == "1"
    with remembered(compare_text=asked or _EXAMPLES, compare_lines=in_lines):
        left, right = st.columns([6, 2], vertical_alignment="bottom")
        text = left.text_area(
            "Words or sentences", key="compare_text", height=100, max_chars=_LONGEST
        )
        lines = right.toggle(
            "Each line is a text", key="compare_lines", help="Else each word is compared alone."
        )
    texts = [t.strip() for t in text.splitlines()] if lines else text.split()
    texts = list(dict.fromkeys(t for t in texts if t))
    if len(texts) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(texts):,} are compared.")
    if text and len(text) <= _IN_ADDRESS:
        _address(words=text, lines=str(int(lines)))
    else:
        st.caption(f"The page's address holds no text of more than {_IN_ADDRESS:,} characters.")
        _address()
    return texts[:_MOST]


def _drawn(current: Session, segmenters: Sequence[Segmenter]) -> tuple[list[str], list[Gold]]:
    study = current.study
    left, middle, right = st.columns([6, 2, 2], vertical_alignment="bottom")
    with remembered(**_asked(st.query_params.get("draw", ""))):
        how = left.segmented_control("Draw those", _HOW, key="compare_how", required=True)
        count = int(middle.number_input("How many", 1, _MOST, step=10, key="compare_count"))
        entries = study.benchmark.reference.entries
        if how == "at random":
            seed = int(right.number_input("Seed", 0, key="compare_seed"))
            order: Sequence[int] = np.random.default_rng(seed).permutation(len(entries)).tolist()
        elif how == "with an affix":
            affix = right.text_input("Morph", key="compare_affix", max_chars=50).strip()
            order = [i for i, entry in enumerate(entries) if affix in entry.morphs]
        elif how == "most blame":
            order = _most_blamed(study)
        elif how == "most disputed":
            order = _most_disputed(current, segmenters)
        else:
            order = study.worst_order()
        detail = {_HOW[2]: "compare_seed", _HOW[3]: "compare_affix"}.get(how or "")
        more = [str(st.session_state[detail])] if detail else []
        _address(draw=",".join([str(_HOW.index(how or _HOW[0])), str(count), *more]))
    chosen = [int(number) for number in order[:count]]
    return [entries[i].word for i in chosen], [entries[i].morphs for i in chosen]


def _most_disputed(current: Session, segmenters: Sequence[Segmenter]) -> list[int]:
    """Words that the methods cut differently, among so many of the reference."""
    entries = current.study.benchmark.reference.entries
    chosen = np.sort(np.random.default_rng(0).permutation(len(entries))[:_LOOKED_AT])
    key = ("disputed", *(segmenter.signature() for segmenter in segmenters))
    found: list[int] = current.once(
        key, lambda: most_disputed(segmenters, [entries[i].word for i in chosen])
    )
    if len(entries) > _LOOKED_AT:
        st.caption(f"Among {_LOOKED_AT:,} of {len(entries):,} words, drawn at random.")
    return [int(chosen[number]) for number in found]


def _asked(draw: str) -> dict[str, Any]:
    """The settings in an address that somebody shared; the usual ones for what is amiss."""
    how, count, more = (*draw.split(",", 2), "", "", "")[:3]
    kind = int(how) if len(how) == 1 and how.isdecimal() and int(how) < len(_HOW) else 0
    count = count if len(count) < 9 else ""
    return {
        "compare_how": _HOW[kind],
        "compare_count": min(max(int(count), 1), _MOST) if count.isdecimal() else 50,
        "compare_seed": int(more) if kind == 2 and more[:9].isdecimal() and len(more) < 9 else 0,
        "compare_affix": more[:50] if kind == 3 and more else "un",
    }


def _address(**parameters: str) -> None:
    """Keep the words of this page in its address."""
    for name in ("words", "lines", "draw"):
        if name in parameters:
            st.query_params[name] = parameters[name]
        elif name in st.query_params:
            del st.query_params[name]


def _most_blamed(study: Study) -> list[int]:
    """Words in which the merges most to blame closed a gold boundary, worst merges first."""
    blamed = study.blame()
    segmentation = study.now.segmentation
    closed, gold = segmentation.closed_by, study.benchmark.morphemic.boundary
    gaps = np.flatnonzero((closed >= 0) & (gold == 1))
    order = gaps[np.argsort(-blamed.ratio[closed[gaps]], kind="stable")]
    return list(dict.fromkeys(study.benchmark.words.word_of_atom[order].tolist()))


def _gold_of(study: Study) -> dict[str, tuple[str, ...]]:
    return {entry.word: entry.morphs for entry in reversed(study.benchmark.reference.entries)}
