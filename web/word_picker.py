"""Choose words to compare: typed or pasted, whole texts, or words of the reference."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.score.comparison import most_disputed
from morphgraph.segment.segmenter import Segmenter
from web.scoreboard import words_in_another_language
from web.state import Session
from web.text import plain
from web.widgets import remembered, set_value, setting, value_now

KnownMorphs = tuple[str, ...] | None
_SHORT = {
    "most wrong gaps": "{count} worst words",
    "most blame": "{count} most to blame",
    "at random": "{count} at random",
    "with an affix": "{count} with {affix}",
    "most disputed": "{count} most disputed",
}
"""How words of the reference are drawn, and the label of each way."""
_HOW = tuple(_SHORT)
_MOST = 1000
# The number of words of the reference searched for the most disputed ones.
_SEARCHED = 5000
_LONGEST = 100_000
# The limit of characters of text in the page's address, by which it can be shared.
_IN_ADDRESS = 1000
_WORDS, _LINES = "compare_text", "compare_lines"


def choose_words(
    current: Session,
    segmenters: Sequence[Segmenter],
    field: DeltaGenerator,
    drawn: DeltaGenerator,
    more: DeltaGenerator,
) -> tuple[list[str], list[KnownMorphs]]:
    """Return the texts, and the gold morphs of those that are in the reference.

    ``segmenters``: the compared methods, for words on which they differ. ``field``, ``drawn`` and
    ``more``: where words are typed, where they are drawn from the reference, and where whole texts
    are.
    """
    study = current.study
    texts = _typed(current, field, more)
    with drawn:
        found = _drawn(current, segmenters, is_used=not texts)
    if not texts:
        return found
    words_in_another_language(current, [word for text in texts for word in text.split()])
    known = {entry.word: entry.morphs for entry in reversed(study.benchmark.reference.entries)}
    return texts, [known.get(text) for text in texts]


def _typed(current: Session, field: DeltaGenerator, more: DeltaGenerator) -> list[str]:
    """Return typed or pasted input: whole texts if there are any, else words."""
    _follow_typed(current)
    lines = setting(
        more.text_area,
        "Texts, one a line",
        key=_LINES,
        first="",
        max_chars=_LONGEST,
        placeholder="sentences, to be compared in place of words",
    )
    with remembered(**{_WORDS: ""}):
        words = field.text_input(
            "Words",
            key=_WORDS,
            max_chars=_LONGEST,
            placeholder="Type or paste words",
            label_visibility="collapsed",
            icon=":material/search:",
            disabled=bool(lines.strip()),
        )
    text = lines if lines.strip() else words
    texts = [t.strip() for t in lines.splitlines()] if lines.strip() else words.split()
    texts = list(dict.fromkeys(t for t in texts if t))
    if len(texts) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(texts):,} are compared.")
    if texts and len(text) > _IN_ADDRESS:
        st.caption(f"The page's address holds no text of more than {_IN_ADDRESS:,} characters.")
    return texts[:_MOST]


def _follow_typed(current: Session) -> None:
    """Synchronise typed words with the address, which wins on arrival."""
    lines, words = value_now(_LINES, ""), value_now(_WORDS, "")
    text = lines if lines.strip() else words
    is_held = bool(text.strip()) and len(text) <= _IN_ADDRESS
    here = (text, "1" if lines.strip() else "") if is_held else ("", "")
    asked = current.address.follow("words", here[0]), current.address.follow("lines", here[1])
    if asked != here:
        set_value(_LINES, asked[0] if asked[1] else "")
        set_value(_WORDS, "" if asked[1] else asked[0])


def _forget_typed() -> None:
    """Clear typed words when words of the reference are requested."""
    set_value(_WORDS, "")
    set_value(_LINES, "")


def _drawn(
    current: Session, segmenters: Sequence[Segmenter], *, is_used: bool
) -> tuple[list[str], list[KnownMorphs]]:
    """Return words of the reference; none while other words are compared."""
    entries = current.study.benchmark.reference.entries
    _follow_drawn(current, is_used=is_used)
    how, count, affix = (
        value_now(f"compare_{name}", _USUAL[name]) for name in _USUAL if name != "seed"
    )
    label = _SHORT[how].format(count=count, affix=plain(affix)) if is_used else "The reference"

    def field(widget: Callable[..., Any], label: str, *given: Any, name: str, **how: Any) -> Any:
        return setting(widget, label, *given, key=f"compare_{name}", first=_USUAL[name], **how)

    with st.popover(label, key="compare draw open", help="Words of the reference"):
        how = field(st.radio, "Draw those", _HOW, name="how", on_change=_forget_typed)
        count = int(field(st.number_input, "How many", 1, _MOST, name="count", step=10))
        seed = 0
        if how == "at random":
            seed = int(field(st.number_input, "Seed", 0, name="seed"))
        elif how == "with an affix":
            affix = field(st.text_input, "Morph", name="affix", max_chars=50).strip()
    if not is_used:
        return [], []
    study = current.study
    if how == "at random":
        order: Sequence[int] = np.random.default_rng(seed).permutation(len(entries)).tolist()
    elif how == "with an affix":
        order = [i for i, entry in enumerate(entries) if affix in entry.morphs]
    elif how == "most blame":
        order = study.blamed_order()
    elif how == "most disputed":
        order = _most_disputed(current, segmenters)
    else:
        order = study.worst_order()
    chosen = [int(number) for number in order[:count]]
    return [entries[i].word for i in chosen], [entries[i].morphs for i in chosen]


def _most_disputed(current: Session, segmenters: Sequence[Segmenter]) -> list[int]:
    """Return words that the methods cut differently, among this many of the reference."""
    entries = current.study.benchmark.reference.entries
    chosen = np.sort(np.random.default_rng(0).permutation(len(entries))[:_SEARCHED])
    key = ("disputed", *map(Same, segmenters))
    found = current.once(key, lambda: most_disputed(segmenters, [entries[i].word for i in chosen]))
    if len(entries) > _SEARCHED:
        st.caption(f"Among {_SEARCHED:,} of {len(entries):,} words, drawn at random.")
    return [int(chosen[number]) for number in found]


def _follow_drawn(current: Session, *, is_used: bool) -> None:
    """Synchronise with the address how words are drawn; it wins on arrival."""
    now = {name: value_now(f"compare_{name}", usual) for name, usual in _USUAL.items()}
    here = _spelled(now) if is_used else ""
    asked = current.address.follow(
        "draw", here, reads=lambda draw: _spelled(_read(draw)) if draw else here
    )
    if asked != here:
        for name, value in _read(asked).items():
            set_value(f"compare_{name}", value)


def _spelled(drawn: Mapping[str, Any]) -> str:
    """Encode for the address how words are drawn."""
    how = drawn["how"]
    more = {"at random": [str(drawn["seed"])], "with an affix": [drawn["affix"].strip()]}
    return ",".join([str(_HOW.index(how)), str(int(drawn["count"])), *more.get(how, [])])


def _read(draw: str) -> dict[str, Any]:
    """Decode how words are drawn from a shared address; invalid values become defaults."""
    how, count, more = (*draw.split(",", 2), "", "", "")[:3]
    kind = int(how) if len(how) == 1 and how.isdecimal() and int(how) < len(_HOW) else 0
    count = count if len(count) < 9 else ""
    return {
        "how": _HOW[kind],
        "count": min(max(int(count), 1), _MOST) if count.isdecimal() else 50,
        "seed": int(more) if kind == 2 and more[:9].isdecimal() and len(more) < 9 else 0,
        "affix": more[:50] if kind == 3 and more else "un",
    }


_USUAL = _read("")
