"""Our own Streamlit components, each of files here that share its name.

Clicks are numbered in the browser and acknowledged from here, so fast clicks are neither lost nor
handled twice. What a callback is given arrives before the script runs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from morphgraph.core.text import counted, from_to
from morphgraph.draw.blame_spread import BlameSpread
from morphgraph.draw.cutting import cutting_tables
from morphgraph.draw.fan_layout import Fan
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.merge_tree_svg import to_svg
from morphgraph.draw.overview import Overview
from morphgraph.draw.word_lines import WordLine, WordRow
from morphgraph.refine.knockout import ThresholdPoint
from morphgraph.score.comparison import ComparedWord, SegmentedWord
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_PANZOOM = Path(__file__).parents[2] / "assets" / "panzoom" / "panzoom.min.js"
"""Panzoom (MIT), which ships with the app, its licence beside it."""
_KINDS = ("css", "js")


@dataclass(frozen=True, slots=True)
class Click:
    """A click on a vertex; ``sequence`` increases with each click on a mounted graph.

    A double click arrives as two clicks and one ``"double"``, so a page can ignore either kind.
    """

    sequence: int
    key: str
    kind: Literal["click", "double"]


OnClicks = Callable[[list[Click]], None]


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
        match entry:  # numbers may arrive as floats: JSON knows no integers
            case {
                "sequence": int() | float() as number,
                "key": str() as key,
                "kind": "click" | "double" as kind,
            } if number > ack:
                clicks.append(Click(int(number), key, kind))
    clicks.sort(key=lambda click: click.sequence)
    return clicks, max([ack, *(click.sequence for click in clicks)])


def sources(file: str, *shares: str) -> dict[str, str]:
    """Return the HTML, CSS and script of a component, from its files here and others it shares."""

    def text(name: str) -> str:
        path = _PANZOOM if name == "panzoom.js" else Path(__file__).with_name(name)
        return path.read_text(encoding="utf-8") + "\n" if path.exists() else ""

    joined = {kind: "".join(text(f"{one}.{kind}") for one in (*shares, file)) for kind in _KINDS}
    return {"html": text(f"{file}.html"), **joined}


@cache
def component(name: str, file: str, *shares: str) -> Callable[..., Any]:
    """Return the component of a name, from its files here and others that it shares."""
    options: dict[str, Any] = {**sources(file, *shares)}
    mount: Callable[..., Any] = st.components.v2.component(f"morphgraph.{name}", **options)
    return mount


def _clickable(
    mount: Callable[..., Any], key: str, on_event: OnClicks | None, data: dict[str, Any]
) -> None:
    """Show a component with the number of the last click handled, and hand new clicks on."""
    ack_key = f"{key}:ack"

    def pending() -> None:
        state = st.session_state.get(key)
        clicks, ack = new_clicks(state and state.get("pending"), st.session_state.get(ack_key, 0))
        st.session_state[ack_key] = ack
        if clicks and on_event is not None:
            on_event(clicks)

    ack = st.session_state.get(ack_key, 0)
    mount(key=key, data={**data, "ack": ack}, on_pending_change=pending)


def _state_of(key: str) -> Mapping[str, Any]:
    return st.session_state.get(key) or {}


def telling(key: str, name: str, kind: Any, action: Callable[[Any], object]) -> Callable[[], None]:
    """Return a callback that hands on what a component says, if it is of the right kind."""

    def changed() -> None:
        value = _state_of(key).get(name)
        if isinstance(value, kind):
            action(value)

    return changed


def fan_graph(
    fan: Fan,
    *,
    key: str,
    view_key: str,
    selected: str | None = None,
    height: str = "420px",
    least: float = 0.8,
    on_event: OnClicks | None = None,
) -> None:
    """Draw a fan and report clicks on its vertices.

    ``selected`` is the vertex to outline. ``view_key`` identifies the subject: pan and zoom by hand
    are kept for it; otherwise all is shown as large as it fits, or at scale ``least`` its centre.
    ``height``: any CSS length. Hovering over a type highlights its words in a `word_rows` on the
    same page.
    """
    data = {"view_key": view_key, "selected": selected, "height": height, "least": least}
    graph = component("fan_graph", "fan", "panzoom", "shared", "elements", "picture")
    _clickable(graph, key, on_event, {"fan": fan.to_dict(), **data})


Region = tuple[int, int, int, int]
"""The first column and row of a map of types, and the last ones."""


def type_overview(
    overview: Overview,
    number: int,
    name: str,
    region: Region | None,
    *,
    key: str,
    on_choose: Callable[[Region | None], None],
) -> None:
    """Show all types by length and blame, with one marked, and a region to drag.

    ``on_choose`` gets the region that was dragged or clicked; None where it was taken away.
    """

    def handle(clicks: list[Click]) -> None:
        match [int(place) for place in re.findall(r"-?\d+", clicks[-1].key)]:
            case [left, low, right, high]:
                on_choose((left, low, right, high))
            case _:
                on_choose(None)

    at = {"at": list(overview.place(number)), "name": name, "region": region and list(region)}
    mount = component("type_overview", "overview", "shared")
    _clickable(mount, key, handle, {**overview.to_dict(), **at})


def tree_picture(
    trees: Sequence[MergeTree],
    *,
    key: str,
    file_name: str = "merge-tree",
    on_event: OnClicks | None = None,
    chosen: int | None = None,
) -> None:
    """Show merge trees that can be played merge by merge, downloaded as SVG and PNG, and copied.

    ``on_event`` gets clicks on merges; their keys are those of types in the merge graph. Without
    it, merges cannot be clicked. ``chosen``: the type that is outlined.
    """
    # Pictures for wide pages, narrow ones and phones; only those that differ.
    drawn = {
        theme: list(
            dict.fromkeys(
                to_svg(trees, theme, widest, has_legend=False)  # pointing explains
                for widest in (1032, 686, 340)
            )
        )
        for theme in ("light", "dark")
    }
    options = {"file_name": file_name, "clickable": on_event is not None, "chosen": chosen}
    mount = component("merge_tree", "tree", "shared", "elements", "picture", "player")
    _clickable(mount, key, on_event, {**drawn, **options})


def in_chart(share: float) -> float | None:
    """Return a share in %, as charts here draw it; None for NaN."""
    return None if share != share else 100 * share


def threshold_line(
    points: Sequence[ThresholdPoint],
    threshold: float,
    f1: float,
    *,
    learned: Sequence[ThresholdPoint] = (),
    ahead: Mapping[str, str],
    best: float | None,
    key: str,
    on_choose: Callable[[float], None],
) -> None:
    """Show scores over thresholds, one on a line to drag; a `blame_spread` follows it.

    ``f1``: the present score; ``learned``: the scores on the words learned from; ``best``: the
    threshold that is marked as best. ``ahead``: the ``gain`` at the chosen one, its ``sign`` (up,
    down or empty) and the ``rest`` of what is said.
    """

    def stopped(number: float) -> None:
        if 0 <= number < len(points):
            on_choose(points[int(number)].threshold)

    def shown(point: ThresholdPoint, seen: float) -> dict[str, Any]:
        line = f"{counted(point.removed, 'type goes', 'types go')}."
        if point.f1 == point.f1:
            line += f" F1 {from_to(f1, point.f1)}"
        scores = {"precision": point.precision, "recall": point.recall, "f1": point.f1}
        scores["learned"] = seen
        drawn = {name: in_chart(score) for name, score in scores.items()}
        return {"threshold": point.threshold, "said": line, **drawn}

    data = {
        "points": [
            shown(point, seen.f1 if seen else math.nan)
            for point, seen in zip_longest(points, learned)
        ],
        "chosen": _nearest(points, threshold),
        "best": None if best is None else _nearest(points, best),
        "now": in_chart(f1),
        "ahead": dict(ahead),
    }
    mount = component("threshold_line", "curve", "shared", "elements", "picture")
    mount(key=key, data=data, on_chosen_change=telling(key, "chosen", int | float, stopped))


def blame_spread(
    spread: BlameSpread, threshold: float, *, key: str, on_choose: Callable[[int], None]
) -> None:
    """Show which merges go, and how blame is spread over all; ``on_choose`` gets a type's id."""

    def handle(clicks: list[Click]) -> None:
        on_choose(int(clicks[-1].key))

    data = {"spread": spread.to_dict(), "threshold": round(100 * threshold)}
    _clickable(component("blame_spread", "spread", "shared", "elements"), key, handle, data)


def _nearest(points: Sequence[ThresholdPoint], threshold: float) -> int:
    return min(range(len(points)), key=lambda n: abs(points[n].threshold - threshold))


def run_line(
    points: Sequence[Mapping[str, Any]],
    chosen: int,
    word: dict[str, Any] | None = None,
    *,
    key: str,
    on_choose: Callable[[int], None],
    on_word: Callable[[str], object] = str,
) -> None:
    """Show a run as a line to play, step and scrub; ``chosen``: the point shown.

    A point has a ``label``, its ``kind`` (start, anneal, knockout, repair, reify or portable), its
    ``iteration``, ``f1`` (`in_chart`) and its ``value`` as text, what is ``said`` of it, whether it
    is ``undone``, and another F1 ``beside``. ``on_choose`` gets the point reached by hand or by
    playing, ``on_word`` a typed word. ``word``: see `word_over_phases`; None keeps the rows shown
    before.
    """
    component("run_line", "run", "shared", "elements", "picture", "chips", "player", "phases")(
        key=key,
        data={"points": points, "chosen": chosen, "word": word},
        on_chosen_change=telling(key, "chosen", int | float, lambda n: on_choose(int(n))),
        on_word_change=telling(key, "word", str, on_word),
        on_playing_change=lambda: None,
    )


def is_playing(key: str) -> bool:
    """Return whether the `run_line` of a key is playing."""
    return _state_of(key).get("playing") is True


def word_text(
    tokeniser: BpeTokeniser,
    text: str,
    lines: Sequence[Sequence[WordLine]],
    *,
    key: str,
    chosen: tuple[str, int | None] | None = None,
    on_text: Callable[[str], object],
    on_choose: Callable[[str, int | None], object],
    on_another: Callable[[], object],
) -> None:
    """Show a text as chips, to be typed in place; ``lines``: how its words are cut.

    Words are cut in the browser as they are typed, where it can do so; ``lines`` then say the rest.
    ``chosen``: a word, which is framed, and a type in it; ``on_choose`` gets both, the type only of
    a token that was clicked. ``on_another``: what the button for another text does.
    """
    state = tokeniser.numbered
    tables = tokeniser.cache.get(state, "cutting tables", lambda: cutting_tables(tokeniser))
    if tables is not None:  # in an element of its own, which is sent again only if it has changed
        component("tables", "tables", "hidden", "segment")(key=f"{key} tables", data=tables.packed)

    def said() -> None:
        match _state_of(key).get("said"):
            case {"text": str() as typed, "word": str() as word, "type": type_}:
                on_text(typed)
                if word:
                    on_choose(word, int(type_) if isinstance(type_, int | float) else None)

    match _state_of(key).get("said"):
        case {"sequence": int() | float() as heard}:
            pass
        case _:
            heard = 0
    data = {
        "text": text,
        "lines": [asdict(word) for line in lines for word in line],
        "state": tables.state if tables else state.digest,
        "whole": bool(tokeniser.several_words),
        "chosen": chosen and list(chosen),
        "heard": heard,
    }
    mount = component("word_text", "text", "segment", "shared", "elements", "chips")
    mount(key=key, data=data, on_said_change=said, on_another_change=on_another)


def word_over_phases(
    word: str, examples: Sequence[str], lines: Sequence[tuple[str, WordLine]]
) -> dict[str, Any]:
    """Return a word over the phases of a run; those with the same tokens share a row."""
    rows: list[dict[str, Any]] = []
    for number, (label, line) in enumerate(lines):
        tokens = list(map(asdict, line.tokens))
        segments = [token["segments"] for token in tokens]
        if not rows or segments != [token["segments"] for token in rows[-1]["tokens"]]:
            rows.append({"label": label, "phases": [], "tokens": tokens})
        rows[-1]["phases"].append(number)
        if len(rows[-1]["phases"]) > 1:
            rows[-1]["label"] = f"{lines[rows[-1]['phases'][0]][0]} – {label}"
    morphs = list(lines[0][1].morphs) if lines else []
    return {"text": word, "examples": list(examples), "morphs": morphs, "rows": rows}


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Words under a title; those ``changed`` by an edit show what they were, others the gold."""

    title: str
    count: str
    rows: Sequence[WordRow]
    more: str = ""
    kind: Literal["right", "changed"] = "right"


def word_rows(
    groups: Sequence[WordGroup],
    *,
    key: str,
    height: str,
    on_choose: Callable[[int], None],
    on_closer: Callable[[int, int], None] | None = None,
) -> None:
    """Show words; hovering over one highlights its path in a `fan_graph` on the same page.

    ``on_choose`` gets the number of the clicked word, ``on_closer`` that and the type that covers
    its boundary, if this was clicked. ``height``: a maximum CSS length, beyond which words scroll.
    """

    def handle(clicks: list[Click]) -> None:
        match [int(number) for number in clicks[-1].key.split(":")]:
            case [word, closer] if on_closer:
                on_closer(word, closer)
            case [word]:
                on_choose(word)

    shown = [{**asdict(group), "rows": list(map(asdict, group.rows))} for group in groups]
    mount = component("word_rows", "rows", "shared", "elements", "chips")
    _clickable(mount, key, handle, {"groups": shown, "height": height})


def comparison_grid(
    heads: Sequence[Mapping[str, Any]],
    figures: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ComparedWord]],
    columns: Sequence[int | None],
    *,
    key: str,
    typed: str = "",
    said: str = "",
    notes: Mapping[str, str] | None = None,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None],
    on_ask: Callable[[str, list[Any]], None],
) -> None:
    """Show numbered words by methods, under the methods' figures.

    ``heads``: of each method its ``name`` and ``title``, what is ``told`` below that, what it
    ``does``, its ``fields`` of parameters, whether it ``can_be_baseline``, and what is to be said
    if it has ``seen`` the words. ``figures``: rows with a ``label``, a ``help``, and for each
    method a cell of ``text`` and ``mark``, which may be ``is_best``. ``columns``: the index of the
    cell under each head, None if it is pending; ``typed`` stands in the field for words, ``said``
    below the grid, and ``notes`` below words; ``chosen`` is the cell to outline. ``on_choose`` gets
    the clicked row and column, ``on_ask`` what is asked for: ``words`` and a text; or ``set``,
    ``base`` or ``drop``, and the method's name, then a parameter and its value.
    """

    def handle(clicks: list[Click]) -> None:
        for click in clicks:
            # That of a cell is none, nor is what nobody wrote here.
            with suppress(ValueError, TypeError):
                asked, *given = json.loads(click.key)
                on_ask(asked, given)
        number, comma, column = clicks[-1].key.partition(",")
        if comma and number.isdecimal() and column.isdecimal():
            on_choose(int(number), int(column))

    def cell(shown: SegmentedWord) -> dict[str, Any]:
        return {
            "pieces": [[p.text, p.boundary, "dropped" * p.dropped] for p in shown.pieces],
            "tokens": " ".join(map(shown_token, shown.tokens)),
            "count": len(shown.tokens),
            "exact": bool(shown.exact),
            "known": shown.exact is not None,
        }

    table = [
        {
            "number": number,
            "text": row.text,
            "gold": None if row.gold is None else list(row.gold),
            "note": (notes or {}).get(row.text, ""),
            "cells": [None if place is None else cell(row.cells[place]) for place in columns],
        }
        for number, row in rows
    ]
    marked = None if chosen is None else f"{chosen[0]},{chosen[1]}"
    data = {"heads": heads, "figures": figures, "rows": table, "chosen": marked}
    mount = component("comparison", "compare", "shared", "elements", "picture", "chips")
    _clickable(mount, key, handle, {**data, "typed": typed, "said": said})


def page_frame(
    page: str, title: str, *, key: str, height: int = 900, on_event: OnClicks | None = None
) -> None:
    """Show a web page unchanged in a frame whose scripts cannot access the app.

    ``on_event`` gets what is clicked, sent by the page as ``postMessage({ clicked: KEY })``.
    """
    data = {"page": page, "title": title, "height": height}
    _clickable(component("frame", "frame", "shared"), key, on_event, data)
