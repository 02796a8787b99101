"""Our own Streamlit components: merge trees, the comparison table, embedded pages.

Each is three files here that share its name. Clicks are numbered in the browser and acknowledged
from here, so fast clicks are neither lost nor handled twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from morphgraph.draw.colours import Theme
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.merge_tree_svg import to_svg
from morphgraph.draw.word_lines import WordLine
from morphgraph.score.comparison import ComparedWord, SegmentedWord
from morphgraph.tokeniser.preprocess import shown_token

_WIDTHS = (1032, 686)
"""The preferred widths of a picture, on wide and narrow pages."""


# ------------------------------------------------------------------------------------- clicks


@dataclass(frozen=True, slots=True)
class Click:
    """A click on a vertex; ``sequence`` increases with each click on a mounted graph.

    A double click arrives as two clicks and one ``"double"``, so a page can ignore either kind.
    """

    sequence: int
    key: str
    kind: Literal["click", "double"]


def click_handler(
    key: str, on_event: Callable[[list[Click]], None] | None
) -> tuple[Callable[[], None], int]:
    """Return a component's callback for clicks, and the number of the last one handled.

    ``on_event`` receives new clicks, in order.
    """
    ack_key = f"{key}:ack"

    def pending() -> None:
        state = st.session_state.get(key)
        clicks, ack = new_clicks(state and state.get("pending"), st.session_state.get(ack_key, 0))
        st.session_state[ack_key] = ack
        if clicks and on_event is not None:
            on_event(clicks)

    return pending, st.session_state.get(ack_key, 0)


def new_clicks(pending: Any, ack: int) -> tuple[list[Click], int]:
    """Return the clicks of a pending list that come after ``ack``, and the new ``ack``.

    Invalid entries are ignored: the list comes from the browser.

    >>> new_clicks([{"sequence": 1, "key": "t5", "kind": "click"},
    ...             {"sequence": 2, "key": "m3", "kind": "click"}], ack=1)
    ([Click(sequence=2, key='m3', kind='click')], 2)
    >>> new_clicks(None, ack=2)
    ([], 2)
    """
    clicks = []
    for entry in pending if isinstance(pending, list) else []:
        if not isinstance(entry, Mapping):
            continue
        sequence, key, kind = (entry.get(name) for name in ("sequence", "key", "kind"))
        # Numbers may arrive as floats: JSON knows no integers.
        if not isinstance(sequence, int | float) or not isinstance(key, str):
            continue
        if sequence > ack and kind in ("click", "double"):
            clicks.append(Click(int(sequence), key, kind))
    clicks.sort(key=lambda click: click.sequence)
    return clicks, max([ack, *(click.sequence for click in clicks)])


# --------------------------------------------------------------------------------- trees and tables


def tree_picture(
    trees: Sequence[MergeTree],
    *,
    key: str,
    file_name: str = "merge-tree",
    on_event: Callable[[list[Click]], None] | None = None,
    offers: Mapping[str, str] | None = None,
) -> None:
    """Show merge trees that can be played merge by merge, and downloaded as SVG and PNG.

    ``on_event`` runs before the script does, with new clicks on merges; their keys are those of
    types in the merge graph. Without it, merges cannot be clicked. ``offers``: the choices on
    clicking a merge, as labels by the letter that replaces ``t`` in its key.
    """
    pending, ack = click_handler(key, on_event)
    component("merge_tree", "tree", shares=("elements", "player"))(
        key=key,
        data={
            "light": _drawn(trees, "light"),
            "dark": _drawn(trees, "dark"),
            "file_name": file_name,
            "clickable": on_event is not None,
            "offers": dict(offers or {}),
            "ack": ack,
        },
        on_pending_change=pending,
    )


def _drawn(trees: Sequence[MergeTree], theme: Theme) -> list[str]:
    """Return the picture for each width, widest first; only one if all are equal."""
    return list(dict.fromkeys(to_svg(trees, theme, widest) for widest in _WIDTHS))


def comparison_table(
    labels: Sequence[str],
    rows: Sequence[tuple[int, ComparedWord]],
    *,
    key: str,
    columns: Sequence[int | None] | None = None,
    first: float = 1.0,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
) -> None:
    """Show numbered rows by methods; ``on_choose`` gets the clicked row and column.

    It runs before the script does. ``chosen`` is the cell to outline. ``columns``: the index of the
    cell under each label, None if it is pending; ``first``: the relative width of the column of
    words.
    """
    order = range(len(labels)) if columns is None else columns

    def handle(clicks: list[Click]) -> None:
        number, _, column = clicks[-1].key.partition(",")
        if on_choose is not None and number.isdecimal() and column.isdecimal():
            on_choose(int(number), int(column))

    pending, ack = click_handler(key, handle)
    component("comparison", "compare")(
        key=key,
        data={
            "labels": list(labels),
            "first": first,
            "rows": [_row(number, row, order) for number, row in rows],
            "chosen": None if chosen is None else f"{chosen[0]},{chosen[1]}",
            "ack": ack,
        },
        on_pending_change=pending,
    )


def _row(number: int, row: ComparedWord, order: Iterable[int | None]) -> dict[str, Any]:
    return {
        "number": number,
        "text": row.text,
        "gold": list(row.gold) if row.gold is not None else None,
        "cells": [None if place is None else _cell(row.cells[place]) for place in order],
    }


def _cell(cell: SegmentedWord) -> dict[str, Any]:
    return {
        "pieces": [[p.text, p.boundary, p.dropped] for p in cell.pieces],
        "tokens": " ".join(map(shown_token, cell.tokens)),
        "count": len(cell.tokens),
        "exact": bool(cell.exact),
        "known": cell.exact is not None,
    }


def word_editor(
    text: str,
    lines: Sequence[Sequence[WordLine]],
    *,
    key: str,
    version: int = 0,
    on_text: Callable[[str], None] | None = None,
) -> None:
    """Show words as chips under a field that edits them; ``on_text`` gets the typed text.

    It runs before the script does. When ``version`` changes, the field takes ``text``; otherwise
    the typed text stays.
    """

    def changed() -> None:
        state = st.session_state.get(key)
        typed = state and state.get("text")
        if isinstance(typed, str) and on_text is not None:
            on_text(typed)

    component("word_editor", "words", shares=("elements", "chips"))(
        key=key,
        data={
            "text": text,
            "version": version,
            "lines": [[_word(word) for word in line] for line in lines],
        },
        on_text_change=changed,
    )


def _word(line: WordLine) -> dict[str, Any]:
    return {
        "word": line.word,
        "morphs": list(line.morphs),
        "tokens": [
            {
                "segments": list(chip.segments),
                "tooltip": chip.tooltip,
                "culprit": chip.is_culprit,
                "morph": chip.is_morph,
            }
            for chip in line.tokens
        ],
    }


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A phase on the line of a run.

    ``kind`` is start, anneal, knockout, repair or reify; ``f1`` in %, NaN if undefined; ``said``: a
    one-line description; ``undone``: whether it was undone.
    """

    label: str
    kind: str
    iteration: int
    f1: float
    said: str
    undone: bool = False


@dataclass(frozen=True, slots=True)
class WordRows:
    """A word after each of the first phases of a run, each with the phase's name.

    ``examples``: other words to choose.
    """

    word: str
    examples: Sequence[str]
    lines: Sequence[tuple[str, WordLine]]


def run_line(
    points: Sequence[RunPoint],
    chosen: int,
    rows: WordRows | None = None,
    *,
    key: str,
    on_choose: Callable[[int], None],
    on_word: Callable[[str], None] | None = None,
) -> None:
    """Show a run as a line to play, step and scrub; ``chosen``: the point shown.

    ``on_choose`` gets the point reached by hand or by playing, ``on_word`` a typed word; both run
    before the script does. ``rows``: a word in rows of chips; None keeps the rows shown before.
    """

    def stopped() -> None:
        number = (st.session_state.get(key) or {}).get("chosen")
        if isinstance(number, int | float):
            on_choose(int(number))

    def typed() -> None:
        word = (st.session_state.get(key) or {}).get("word")
        if isinstance(word, str) and on_word is not None:
            on_word(word)

    component("run_line", "run", shares=("elements", "chips", "player"))(
        key=key,
        data={
            "points": [
                {
                    "label": point.label,
                    "kind": point.kind,
                    "iteration": point.iteration,
                    "f1": None if point.f1 != point.f1 else point.f1,
                    "value": "n/a" if point.f1 != point.f1 else f"{point.f1:.1f}",
                    "said": point.said,
                    "undone": point.undone,
                }
                for point in points
            ],
            "chosen": chosen,
            "word": rows and _rows(rows),
        },
        on_chosen_change=stopped,
        on_word_change=typed,
        on_playing_change=lambda: None,
    )


def is_playing(key: str) -> bool:
    """Return whether the `run_line` of a key is playing."""
    return (st.session_state.get(key) or {}).get("playing") is True


def _rows(given: WordRows) -> dict[str, Any]:
    """Group phases with the same tokens into one row."""
    rows: list[dict[str, Any]] = []
    seen: list[str] = []
    for number, (label, line) in enumerate(given.lines):
        tokens = ["".join(chip.segments) for chip in line.tokens]
        if not rows or tokens != seen:
            rows.append({"label": label, "phases": [], "tokens": _word(line)["tokens"]})
        rows[-1]["phases"].append(number)
        if len(rows[-1]["phases"]) > 1:
            rows[-1]["label"] = f"{given.lines[rows[-1]['phases'][0]][0]} – {label}"
        seen = tokens
    morphs = list(given.lines[0][1].morphs) if given.lines else []
    return {"text": given.word, "examples": list(given.examples), "morphs": morphs, "rows": rows}


def page_frame(
    page: str,
    title: str,
    *,
    key: str,
    height: int = 900,
    on_event: Callable[[list[Click]], None] | None = None,
) -> None:
    """Show a web page unchanged in a frame whose scripts cannot access the app.

    ``on_event`` gets what is clicked, sent by the page as ``postMessage({ clicked: KEY })``.
    """
    pending, ack = click_handler(key, on_event)
    component("frame", "frame")(
        key=key,
        data={"page": page, "title": title, "height": height, "ack": ack},
        on_pending_change=pending,
    )


# ------------------------------------------------------------------------------------- making them


@cache
def component(
    name: str, file: str, before: str = "", shares: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Return the component of a name, from its files here; ``before`` precedes its script.

    ``shares``: names of style sheets and scripts shared with other components.
    """

    def text(name: str) -> str:
        path = Path(__file__).with_name(name)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    made: Callable[..., Any] = st.components.v2.component(
        f"morphgraph.{name}",
        html=text(f"{file}.html"),
        css="".join(text(f"{one}.css") for one in (*shares, file)),
        js=before + "".join(text(f"{one}.js") for one in ("shared", *shares, file)),
    )
    return made


def hidden_component(name: str, before: str, body: str) -> Callable[..., Any]:
    """Return an invisible component whose function runs ``body`` with its ``data``."""
    script = f"""{before}
export default function ({{ data, parentElement, setTriggerValue }}) {{
  // Take the element out of the flow of the page; a screen reader finds what is in it.
  const element = (parentElement.host ?? parentElement).closest(".stElementContainer");
  const size = {{ position: "absolute", width: "1px", height: "1px" }};
  if (element) Object.assign(element.style, size, {{ overflow: "hidden", clipPath: "inset(50%)" }});
{body}
}}
"""
    made: Callable[..., Any] = st.components.v2.component(f"morphgraph.{name}", js=script)
    return made
