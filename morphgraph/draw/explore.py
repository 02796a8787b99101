"""The scene around a type: blame as colour, the last edit highlighted."""

from collections.abc import Mapping

from morphgraph.core.text import shortened
from morphgraph.draw.scene import Scene, scene_of
from morphgraph.graph.change import Change, Merge
from morphgraph.graph.view import Neighbourhood, merge_key, neighbourhood, type_key
from morphgraph.refine.blame import Blame
from morphgraph.refine.study import Study

_LONGEST = 200
"""The longest name, in characters, that is sent to the browser."""

_CHANGED = 1e15
"""Importance of merges that the last edit changed: above all counts."""


def scene_around(study: Study, focus: int, *, up: int = 1, down: int = 2, limit: int = 60) -> Scene:
    """Return the neighbourhood of a type as a scene of at most ``limit`` vertices.

    The focus may be a removed type, which is a ghost with all that made and used it. Merges that
    the last edit changed are preferred, then those applied most often.
    """
    graph = study.graph
    change = graph.history[-1] if graph.history else Change({})
    changed = {entry.merge for entry in change.rewired} | change.added_merges.keys()
    importance = _applications(study.blame())
    gone: dict[int, Merge] = {}
    used: list[int] = []
    if not graph.is_present(focus):
        # What made it, and what was made with it, are still its neighbours.
        removal = graph.removal_of(focus) or Change({})
        gone = {n: m for n, m in removal.removed_merges.items() if m.result == focus}
        used = [entry.merge for entry in removal.rewired if focus in entry.old_parts]
    for merge in changed & importance.keys():
        importance[merge] += _CHANGED
    around = neighbourhood(
        graph,
        focus,
        up=up,
        down=down,
        limit=limit,
        importance=importance,
        names=study.tokeniser.readable_types,
        keep=used,
        ghosts=[focus] if gone else [],
        gone=gone,
    )
    return scene_of(
        around.digraph,
        focus=type_key(focus),
        values=_describe(study, around, gone),
        changed=[merge_key(merge) for merge in changed if graph.has_merge(merge)],
        left_out=around.left_out_merges,
    )


def _applications(blamed: Blame) -> dict[int, float]:
    """Return how often each merge was applied, which ranks merges for display."""
    return dict(zip(blamed.arrays.merge_ids.tolist(), blamed.applied.tolist(), strict=True))


def _describe(study: Study, around: Neighbourhood, gone: Mapping[int, Merge]) -> dict[str, float]:
    """Write tooltips into the digraph; return blame ratios, NaN if never applied.

    ``gone``: merges in it that the graph no longer has.
    """
    graph, blamed, names = study.graph, study.blame(), study.tokeniser.readable_types
    values: dict[str, float] = {}
    for key, attributes in around.digraph.nodes(data=True):
        number = int(key[1:])
        is_gone = bool(attributes.get("ghost"))
        if key.startswith("t"):
            attributes["label"] = shortened(attributes["label"], _LONGEST)
            producers = graph.incoming(number)
            if is_gone or not producers:
                special = graph.types[number] in study.tokeniser.special
                kind = "knocked out" if is_gone else "special token" if special else "atom"
                attributes["tooltip"] = f"{attributes['label']}\n{kind}"
                continue
            number = blamed.worst_of(producers)
        merge = gone[number] if is_gone else graph.merge(number)
        *parts, result = (names[number] for number in (*merge.parts, merge.result))
        described = shortened(f"{' + '.join(parts)} → {result}", _LONGEST)
        tooltip = f"{described}\nrank {merge.rank:,}"
        if is_gone:
            attributes["tooltip"] = f"{tooltip}\nknocked out"
            continue
        position = blamed.place(number)
        if position is not None and study.benchmark.texts:
            values[key] = blamed.shown_ratio(position)
            tooltip += f"\n{blamed.described(number)}"
        attributes["tooltip"] = tooltip
    return values


def first_focus(study: Study) -> int:
    """Return a good first type: of those with R ≥ 0.5, the one that closed most boundaries."""
    blamed = study.blame()
    if len(blamed.arrays) == 0:
        return study.graph.type_ids()[0]
    groups = (blamed.candidates(0.5), blamed.order, [0])
    chosen = next(group for group in groups if len(group))
    return int(blamed.arrays.results[max(chosen, key=lambda position: blamed.blamed[position])])
