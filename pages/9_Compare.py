"""Every remedy side by side: one word or a thousand, against the gold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, percent, ratio_text, shortened
from morphgraph.score.comparison import ComparedWord, Comparison, most_disputed
from morphgraph.score.uncertainty import Interval
from morphgraph.tables.comparison import comparison_csv, comparison_html, comparison_latex
from morphgraph.tokeniser.words import Segmenter
from web.bootstrap import start
from web.components import comparison_table
from web.method_picker import START, choose_methods
from web.reopening import keep_session
from web.scoreboard import partial_gold, words_in_another_language
from web.session import Session
from web.views.trees import one_cell
from web.widgets import attempt, choice, downloads, one_page, remembered, right_aligned, show_table

_PAGE = 50
_FIRST = (START, "bpe", "dropout", "trimmed", "picky", "flota")
_ALL, _DISAGREE, _BETTER = "all", "methods disagree", "one beats another"


@st.fragment
def compare_page(current: Session) -> None:
    """The whole page; a fragment, so that a choice draws nothing else anew."""
    st.title("Compare")
    st.caption(
        "The same words by every method, against the gold. The page's address holds words, methods "
        "and parameters, to be shared with who has the same tokeniser and reference open."
    )
    words, methods = st.container(), st.container()
    with methods:  # the methods may decide which words are drawn
        segmenters, labels = choose_methods(current, "compare", _FIRST)
    with words:
        texts, gold = choose_words(current, segmenters)
    if not texts or not segmenters:
        st.info("Choose words and at least one method.")
        return
    with attempt():
        comparison = _compared(current, segmenters, labels, texts, gold)
        chosen = _filtered(comparison)
        _table(comparison, chosen)
        st.caption(
            "Green chips are whole morphs, red ones cross a gold boundary (the red line inside). "
            "Between chips, a solid green line is a split on a gold boundary, a broken violet one "
            "a split inside a morph. ✓ marks words cut just as in the gold; the number counts "
            "tokens. Click a cell to see how it came about."
        )
        cell = _chosen_cell(comparison)
        if cell is not None:
            one_cell(current, comparison, *cell)
        _summaries(comparison)
        if any(known is not None for known in gold):
            partial_gold(current.study.benchmark.reference.partial_note)
        _downloads(comparison, [comparison.rows[number] for number in chosen])
        keep_session(current)


def _compared(
    current: Session,
    segmenters: list[Segmenter],
    labels: list[str],
    texts: list[str],
    gold: list[tuple[str, ...] | None],
) -> Comparison:
    """The comparison, made once for the same words and methods."""
    key = (
        "comparison",
        tuple(segmenter.signature() for segmenter in segmenters),
        tuple(map(id, segmenters)),  # a model file states its own checksum
        tuple(labels),
        tuple(texts),
        tuple(gold),
    )
    return current.once(key, lambda: Comparison(segmenters, texts, gold, labels=labels))


def _chosen_cell(comparison: Comparison) -> tuple[int, int] | None:
    """Where the word and method that were clicked are now; None if one of them is not there."""
    text, label = st.session_state.get("compare cell", (None, None))
    if text not in comparison.texts or label not in comparison.labels:
        return None
    return comparison.texts.index(text), comparison.labels.index(label)


def _filtered(comparison: Comparison) -> list[int]:
    """Numbers of the rows to show."""
    left, one, other, count = st.columns([6, 3, 3, 2], vertical_alignment="bottom")
    several = len(comparison.segmenters) > 1
    kinds = [_ALL, _DISAGREE, _BETTER] if several else [_ALL]
    asked = st.query_params.get("show")
    which = left.segmented_control(
        "Show",
        kinds,
        default=asked if asked in kinds else _ALL,
        required=True,
        key=f"compare filter {several}",
    )
    st.query_params["show"] = which or _ALL
    everything = list(range(len(comparison.rows)))
    chosen = everything
    if which == _DISAGREE:
        chosen = comparison.disagreeing()
    elif which == _BETTER:
        numbers = range(len(comparison.labels))
        names = comparison.labels.__getitem__
        better = one.selectbox("Better", numbers, format_func=names, key="compare better")
        worse = other.selectbox("than", numbers, index=1, format_func=names, key="compare worse")
        chosen = comparison.better(int(better or 0), int(worse or 0))
    count.markdown(f"**{len(chosen):,}** of {counted(len(everything), 'word')}")
    return chosen


def _table(comparison: Comparison, chosen: list[int]) -> None:
    shown = [
        (number, comparison.rows[number]) for number in one_page(chosen, _PAGE, "compare page")
    ]
    if not shown:
        st.info("No word matches.")
        return

    def choose(row: int, column: int) -> None:
        if row < len(comparison.texts) and column < len(comparison.labels):
            st.session_state["compare cell"] = (comparison.texts[row], comparison.labels[column])

    comparison_table(
        comparison.labels,
        shown,
        key="comparison",
        chosen=_chosen_cell(comparison),
        on_choose=choose,
    )


def _summaries(comparison: Comparison) -> None:
    st.subheader("Summary of these words", anchor=False)
    rows = [
        {
            "method": found.label,
            "precision %": percent(found.precision),
            "recall %": percent(found.recall),
            "F1 %": percent(found.f1),
            "95 % interval of F1": _span(found.interval),
            "exact %": percent(found.exact),
            "tokens per word": ratio_text(found.fertility),
            "types": f"{found.vocabulary_size:,}",
            "signature": shortened(found.signature, 80),
        }
        for found in comparison.summaries
    ]
    frame = pd.DataFrame(rows)
    show_table(frame, column_config=right_aligned(frame.columns[1:-1]))
    st.code(comparison.signature, language=None, wrap_lines=True)
    if len(rows) < 2:
        return
    st.markdown("**Words that two methods cut alike, in %**")
    matrix = pd.DataFrame(
        [[percent(value, 1) for value in row] for row in comparison.agreement],
        index=list(comparison.labels),
        columns=list(comparison.labels),
    )
    st.dataframe(matrix, column_config=right_aligned(matrix.columns))


def _span(interval: Interval) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}"


def _downloads(comparison: Comparison, rows: list[ComparedWord]) -> None:
    downloads(
        {
            "comparison.csv": lambda: comparison_csv(comparison, rows),
            "comparison.tex": lambda: comparison_latex(comparison, rows),
            "comparison.html": lambda: comparison_html(
                comparison, rows, "Comparison of segmentations"
            ),
        },
        "The rows that are shown, on all pages.",
    )


# ------------------------------------------------------------------------------------- words


Gold = tuple[str, ...] | None
TYPED, DRAWN = "type or paste", "from the reference"
_HOW = ("most wrong gaps", "most blame", "at random", "with an affix", "most disputed")
_MOST = 1000
# Words of the reference among which the most disputed are looked for.
_LOOKED_AT = 5000
_EXAMPLES = "undesirable unhappily antiaircraft"
_LONGEST = 100_000
# Characters of text that the page's address holds, so that it can be shared.
_IN_ADDRESS = 1000


def choose_words(current: Session, segmenters: Sequence[Segmenter]) -> tuple[list[str], list[Gold]]:
    """The texts, and the gold morphs of those that are in the reference.

    ``segmenters``: the methods that are compared, for words on which they differ.
    """
    study = current.study
    source = choice(
        st.segmented_control,
        "Words",
        [TYPED, DRAWN],
        key="compare_source",
        first=TYPED if "words" in st.query_params else DRAWN,
        required=True,
    )
    if source == DRAWN:
        return _drawn(current, segmenters)
    texts = _typed()
    words_in_another_language(current, [word for text in texts for word in text.split()])
    known = {entry.word: entry.morphs for entry in reversed(study.benchmark.reference.entries)}
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
            "Each line is a text",
            key="compare_lines",
            help="Otherwise each word is compared alone.",
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
            order = study.blamed_order()
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
    found = current.once(key, lambda: most_disputed(segmenters, [entries[i].word for i in chosen]))
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


compare_page(start("Compare"))
