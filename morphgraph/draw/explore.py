"""The scene around a type of a study: blame as colour, the last edit highlighted."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from morphgraph.core.text import ratio_text, shortened
from morphgraph.draw.layout import Position
from morphgraph.draw.scene import Scene, scene_of
from morphgraph.graph.change import Change, Merge
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.type_atoms import TypeAtoms
from morphgraph.graph.view import Neighbourhood, merge_key, neighbourhood, type_key
from morphgraph.refine.blame import Blame
from morphgraph.refine.reify import preview_reification
from morphgraph.refine.study import Study

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
    last edit removed stay as ghosts, with their merges that were shown; so the focus may be a type
    that is gone, and is shown with all that made it. Merges that the last
    edit changed are preferred, then those applied most often.
    """
    graph = study.graph
    change = graph.history[-1] if graph.history else None
    rewired = {entry.merge for entry in change.rewired} if change else set()
    rewired |= change.added_merges.keys() if change else set()
    importance = _applications(study.blame())
    drawn = previous or {}
    ghosts = [n for n in change.removed_types if type_key(n) in drawn] if change and shown else []
    gone = {
        number: merge
        for number, merge in (change.removed_merges.items() if change else ())
        if number in shown and merge.result in ghosts
    }
    used: list[int] = []
    if not graph.is_present(focus):
        # What made it, and what was made with it, belong around it still.
        removal = next((c for c in reversed(graph.history) if focus in c.removed_types), Change({}))
        made = {n: m for n, m in removal.removed_merges.items() if m.result == focus}
        gone = made | gone
        used = [entry.merge for entry in removal.rewired if focus in entry.old_parts]
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
        keep=shown or used,
        ghosts=ghosts,
        gone=gone,
    )
    values = _describe(study, around, gone=gone)
    left_out = around.left_out_merges
    if shown:
        left_out += sum(merge_key(merge) not in around.digraph for merge in used)
    changed = [merge_key(merge) for merge in rewired if graph.has_merge(merge)]
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


@dataclass(frozen=True)
class Stages:
    """Chosen types before they are knocked out, after it, and after reification.

    ``knockout`` and ``reification`` are the two changes; neither has been made.
    """

    before: Scene
    knocked_out: Scene
    reified: Scene
    knockout: Change
    reification: Change


def stages(study: Study, types: Sequence[str], *, limit: int = 40) -> Stages:
    """What knocking types out, and reifying what became of the merges that used them, would do.

    Only tuple merges that this knockout makes are repaired and reified. The scenes show the same
    merges at the same places, as many as ``limit`` vertices allow, those applied most often first;
    colour is blame as it is now. Source: Bauwens & de Lhoneux 2026, Figure 1.
    """
    graph = study.graph.copy()
    importance = _applications(study.blame())
    knockout = graph.preview_knockout(types)
    numbers = [graph.ids[text] for text in types]
    affected = [entry.merge for entry in knockout.rewired]
    positions: dict[str, Position] = {}
    shown: list[int] = [*knockout.removed_merges, *affected]

    def scene(changed: Collection[int], ghosts: Collection[int]) -> Scene:
        nonlocal shown
        names = [*study.tokeniser.readable_types]
        names += [study.tokeniser.readable(text) for text in graph.types[len(names) :]]
        around = neighbourhood(
            graph,
            numbers[0],
            up=0,
            down=0,
            limit=limit,
            importance=importance,
            names=names,
            keep=shown,
            ghosts=ghosts,
        )
        for _, attributes in around.digraph.nodes(data=True):
            attributes["frontier"] = False  # what is not shown is not the point here
        drawn = scene_of(
            around.digraph,
            focus=type_key(numbers[0]),
            values=_describe(study, around, graph),
            changed=[merge_key(merge) for merge in changed],
            previous=positions,
        )
        shown = [int(key[1:]) for key in around.digraph if key.startswith("m")]
        positions.update(drawn.positions())
        return drawn

    before = scene((), numbers)
    graph.apply(knockout)
    knocked_out = scene(affected, numbers)
    blacklist = {merge.parts for merge in knockout.removed_merges.values()}
    atoms = TypeAtoms(study.tokeniser.suffix)
    reification = preview_reification(graph, blacklist, atoms=atoms, among=set(affected))
    graph.apply(reification)
    in_view = set(shown)
    new = [e.merge for e in reification.reified if not in_view.isdisjoint(e.tuple_merges)]
    shown += new
    changed = {entry.merge for entry in reification.rewired} | set(new)
    return Stages(before, knocked_out, scene(changed, numbers), knockout, reification)


def _applications(blamed: Blame) -> dict[int, float]:
    """How often each merge was applied: by this, merges are chosen to be shown."""
    return dict(zip(blamed.arrays.merge_ids.tolist(), blamed.applied.tolist(), strict=True))


def _describe(
    study: Study,
    around: Neighbourhood,
    graph: MergeGraph | None = None,
    gone: Mapping[int, Merge] | None = None,
) -> dict[str, float]:
    """Write tooltips into the digraph; the blame ratio of each vertex, NaN if never applied.

    ``gone``: merges of it that the graph no longer has.
    """
    graph, blamed = graph or study.graph, study.blame()
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
            number = max(producers, key=lambda merge: _blame_of(blamed, merge))
        merge = gone[number] if gone and is_gone else graph.merge(number)
        *parts, result = (_name(study, graph, number) for number in (*merge.parts, merge.result))
        described = shortened(f"{' + '.join(parts)} → {result}", _LONGEST)
        tooltip = f"{described}\nrank {merge.rank:,}"
        if is_gone:
            attributes["tooltip"] = f"{tooltip}\nknocked out"
            continue
        position = blamed.position.get(number)
        if position is not None and study.benchmark.texts:
            applied, crossed = blamed.applied[position], blamed.blamed[position]
            values[key] = ratio = blamed.shown_ratio(position)
            tooltip += f"\nN {applied:,.0f}, B {crossed:,.0f}, R {ratio_text(ratio)}"
        attributes["tooltip"] = tooltip
    return values


def _blame_of(blamed: Blame, merge: int) -> tuple[float, float, float]:
    """By what a merge is the worst of those that make a type; one without blame comes last."""
    position = blamed.position.get(merge)
    if position is None:
        return (-1.0, 0.0, 0.0)
    return (blamed.ratio[position], blamed.blamed[position], -position)


def _name(study: Study, graph: MergeGraph, number: int) -> str:
    """A type as people read it, also one that only a copy of the study's graph has."""
    names = study.tokeniser.readable_types
    return names[number] if number < len(names) else study.tokeniser.readable(graph.types[number])


def first_focus(study: Study) -> int:
    """A type worth looking at first: of those with R ≥ 0.5, the one that closed most boundaries."""
    blamed = study.blame()
    if len(blamed.arrays) == 0:
        return study.graph.type_ids()[0]
    groups = (blamed.candidates(0.5), blamed.order, [0])
    chosen = next(group for group in groups if len(group))
    return int(blamed.arrays.results[max(chosen, key=lambda position: blamed.blamed[position])])
