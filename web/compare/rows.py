"""Which words the grid shows: where methods differ, the worst, any, or what one types."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import counted
from morphgraph.reference.predictions import Predictions
from morphgraph.refine.learning import has_seen
from morphgraph.score.comparison import Comparison, worst_words
from web import choosing
from web import widgets as ui
from web.choosing import PickedMethod
from web.compare.figures import MethodScores
from web.making import START
from web.state import Session

_WORDS, _WAY = "compare_text", "compare_way"
_DIFFER, _WORST, _RANDOM = "differ", "worst", "random"
_MOST, _LONGEST = 1000, 100_000


def choose_rows(current: Session) -> str:
    """Show how words of the reference are chosen; none is while others are typed."""
    current.address.remember("words", _WORDS, "")
    ways = {_DIFFER: "Where they differ"} if len(choosing.chosen_methods(current)) > 1 else {}
    if current.study.benchmark.reference.has_gold:
        ways[_WORST] = "Worst"
    ways[_RANDOM] = "Random"
    now, first = ui.value_now(_WAY, None), next(iter(ways))
    st.session_state[_WAY] = None if typed_texts() else now if now in ways else first
    way = ui.setting(
        st.segmented_control,
        "Rows",
        ways,
        key=_WAY,
        first=None,
        format_func=ways.__getitem__,
        on_change=partial(type_words, ""),
        label_visibility="collapsed",
    )
    return way or first


def type_words(text: str) -> None:
    """Compare these words, or sentences if there is a line break; with none, the reference's."""
    ui.set_value(_WORDS, text[:_LONGEST])


def typed_words() -> str:
    """Return what was typed."""
    return str(ui.value_now(_WORDS, ""))


def typed_texts() -> list[str]:
    """Return the words or sentences that were typed."""
    text = typed_words()
    texts = map(str.strip, text.splitlines()) if "\n" in text else text.split()
    return [text for text in dict.fromkeys(texts) if text]


def texts_to_compare() -> list[str]:
    """Return what was typed, with a message on what is not compared."""
    texts = typed_texts()
    if len(texts) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(texts):,} are compared.")
    return texts[:_MOST]


def rows_of_reference(
    current: Session, compared: MethodScores, way: str, methods: Iterable[str]
) -> tuple[list[int], str]:
    """Return the places of the words that are shown, and how many there are.

    ``methods``: the names of all that are chosen, also of those that are still made. What differs
    stays as it was first drawn for these methods, whatever is edited or made since; what differs by
    then is added.
    """
    words, comparison = len(compared.scored), compared.comparison
    if way == _RANDOM or (way == _DIFFER and len(compared.outcomes) < 2):  # others are still made
        return np.random.default_rng(0).permutation(words).tolist(), counted(words, "word")
    if way == _WORST:
        outcome = compared.outcomes[compared.baseline]
        wrong = worst_words(outcome, compared.scope).tolist()
        return wrong, f"{len(wrong):,} of {counted(words, 'word')} cut wrongly"
    differ = current.once(("disputed", Same(compared)), comparison.disputed, of_files=True)
    names = [name for name in methods if name != START]
    key = (current.state(of_files=True), Same(compared.scored))
    first = ui.kept_last("words that differ", (*key, *names), lambda: differ)
    known = set(first)
    order = [*first, *(number for number in differ if number not in known)]
    return order, f"{len(differ):,} of {counted(words, 'word')} differ"


def typed_rows(
    current: Session, compared: MethodScores, texts: Sequence[str]
) -> tuple[Comparison, list[int | None]]:
    """Return typed words by the methods, and the place of each method's cells, if it has any.

    A file with segmentations has none if it has none of the words.
    """
    entries = current.study.benchmark.reference.entries
    known = {entry.word: entry.morphs or None for entry in reversed(entries)}

    def knows(one: PickedMethod) -> bool:
        model = one.made
        return not isinstance(model, Predictions) or any(text in model.by_word for text in texts)

    able = [place for place, one in enumerate(compared.picked) if knows(one)]
    ready = [compared.picked[place].made for place in able]
    labels = [compared.labels[place] for place in able]
    gold = [known.get(text) for text in texts]
    key = ("typed", *map(Same, ready), *labels, tuple(texts), tuple(gold))

    def make() -> Comparison:
        return Comparison([one for one in ready if one is not None], texts, gold, labels=labels)

    places = [able.index(place) if place in able else None for place in range(len(compared.picked))]
    return current.once(key, make), places


def seen_words(current: Session, compared: MethodScores, texts: Sequence[str]) -> list[str]:
    """Return those of typed words that a method was learned from."""
    gold, seen = current.study.benchmark, list[str]()
    for one in compared.picked:
        if one.base is not None and one.split is not None and has_seen(one.base, gold):
            kept = choosing.kept_words(current, gold, one.split).numbers
            seen += [text for text in texts if text in gold.numbers and text not in kept]
    return seen
