"""The scene around a type of a study: blame as colour, the last edit highlighted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from morphgraph.draw.layout import Position
from morphgraph.draw.scene import Scene, scene_of
from morphgraph.evaluate.tables import ratio_text
from morphgraph.graph.view import Neighbourhood, merge_key, neighbourhood, type_key
from morphgraph.refine.study import Study
from morphgraph.text import shortened

_LONGEST = 200
"""Characters of a name that are sent to the browser."""

_CHANGED = 1e15
"""Importance of merges that the last edit changed: above all counts."""


@dataclass(frozen=True)
class View:
    """A scene, the merges in it (ids), and how many merges did not fit."""

    scene: Scene
    merges: frozenset[int]
    left_out_merges: int


def view_around(
    study: Study,
    focus: int,
    *,
    up: int = 1,
    down: int = 2,
    limit: int = 60,
    previous: Mapping[str, Position] | None = None,
    shown: Collection[int] = (),
) -> View:
    """The neighbourhood of a type as a scene, as much as possible of the ``previous`` one kept.

    Merges ``shown`` before an edit stay in it, in their new form, and types of the picture that the
    last edit removed stay as ghosts; so the focus may be a type that is gone. Merges that the last
    edit changed are preferred, then those applied most often.
    """
    graph = study.graph
    blamed = study.blame()
    change = graph.history[-1] if graph.history else None
    rewired = {entry.merge for entry in change.rewired} if change else set()
    importance = dict(zip(map(int, blamed.arrays.merge_ids), blamed.applied.tolist(), strict=True))
    drawn = previous or {}
    ghosts = [n for n in change.removed_types if type_key(n) in drawn] if change and shown else []
    if not graph.is_present(focus):
        ghosts.append(focus)
    for merge in rewired:
        if merge in importance:
            importance[merge] += _CHANGED
    around = neighbourhood(
        graph,
        focus,
        up=up,
        down=down,
        limit=limit,
        importance=importance,
        names=study.tokeniser.readable_types,
        keep=shown,
        ghosts=ghosts,
    )
    values = _describe(study, around)
    left_out = around.left_out_merges
    if not graph.is_present(focus):
        # What was made with a type that is gone belongs around it still.
        entries = change.rewired if change else ()
        used = [entry.merge for entry in entries if focus in entry.old_parts]
        left_out += sum(merge_key(merge) not in around.digraph for merge in used)
    changed = [merge_key(merge) for merge in rewired]
    scene = scene_of(
        around.digraph,
        focus=type_key(focus),
        values=values,
        changed=changed,
        previous=previous,
        left_out=left_out,
    )
    merges = frozenset(int(key[1:]) for key in around.digraph if key.startswith("m"))
    return View(scene, merges, left_out)


def _describe(study: Study, around: Neighbourhood) -> dict[str, float]:
    """Write tooltips into the digraph; the blame ratio of each vertex, NaN if never applied."""
    graph, blamed = study.graph, study.blame()
    values: dict[str, float] = {}
    for key, attributes in around.digraph.nodes(data=True):
        number = int(key[1:])
        if key.startswith("t"):
            attributes["label"] = shortened(attributes["label"], _LONGEST)
            producers = graph.incoming(number)
            if attributes.get("ghost"):
                attributes["tooltip"] = f"{attributes['label']}\nknocked out"
                continue
            if not producers:
                kind = "special token" if graph.types[number] in study.tokeniser.special else "atom"
                attributes["tooltip"] = f"{attributes['label']}\n{kind}"
                continue
            number = int(blamed.arrays.merge_ids[blamed.worst_producer(graph, number)])
        merge = graph.merge(number)
        position = blamed.position[number]
        applied, crossed = blamed.applied[position], blamed.blamed[position]
        ratio = blamed.shown_ratio(position)
        values[key] = ratio
        described = graph.describe(number, study.tokeniser.readable_types)
        attributes["tooltip"] = (
            f"{shortened(described, _LONGEST)}\nrank {merge.rank:,}\n"
            f"N {applied:,.0f}, B {crossed:,.0f}, R {ratio_text(ratio)}"
        )
    return values


def first_focus(study: Study) -> int:
    """A type worth looking at first: of those with R ≥ 0.5, the one that closed most boundaries."""
    blamed = study.blame()
    if len(blamed.arrays) == 0:
        return study.graph.type_ids()[0]
    chosen = blamed.candidates(0.5)
    if len(chosen) == 0:
        chosen = blamed.order
    if len(chosen) == 0:
        return int(blamed.arrays.results[0])
    return int(blamed.arrays.results[max(chosen, key=lambda position: blamed.blamed[position])])
