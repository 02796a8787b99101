"""The fan: what it shows around a type, and that no edge runs behind a label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_reference, small_tokeniser
from strategies import check_graph

from morphgraph.draw.fan import fan_around, stages
from morphgraph.draw.fan_layout import HEIGHT, Item, TypeOrigin, Use, lay_out_fans
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark

MERGES = [("a", "b"), ("ab", "c"), ("x", "y"), ("abc", "xy"), ("ab", "x"), ("abc", "abc")]


def points(edge, steps=24):
    """Places along an edge: the level stretch, the curve, the level stretch."""
    middle = (edge.bend + edge.level) / 2
    found = [(edge.x0 + (edge.bend - edge.x0) * n / 8, edge.y0) for n in range(9)]
    for n in range(steps + 1):
        t = n / steps
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        x = a * edge.bend + (b + c) * middle + d * edge.level
        found.append((x, (a + b) * edge.y0 + (c + d) * edge.y1))
    return found + [(edge.level + (edge.x1 - edge.level) * n / 8, edge.y1) for n in range(9)]


def check(items, edges):
    boxes = {
        i.id: (i.x - i.width / 2, i.x + i.width / 2, i.y - HEIGHT / 2, i.y + HEIGHT / 2)
        for i in items
    }
    assert len(boxes) == len(items)
    by_top = sorted(boxes.values(), key=lambda box: box[2])
    for n, (left, right, _, bottom) in enumerate(by_top):
        for other in by_top[n + 1 :]:
            if other[2] >= bottom:
                break
            assert other[0] >= right or other[1] <= left, "two labels overlap"
    for edge in edges:
        ways = (edge.x0, edge.bend, edge.level, edge.x1)
        assert list(ways) == pytest.approx(sorted(ways)), "an edge turns back"
        low, high = sorted((edge.y0, edge.y1))
        near = [b for b in boxes.values() if b[3] > low and b[2] < high + 0.01]
        near = [b for b in near if b[1] > edge.x0 and b[0] < edge.x1]
        for x, y in points(edge) if near else ():
            for left, right, top, bottom in near:
                inside = left + 0.2 < x < right - 0.2 and top + 0.2 < y < bottom - 0.2
                assert not inside, f"{edge} runs behind a label"


names = st.text("aé本m", min_size=1, max_size=30)


@st.composite
def sources(draw, ids, depth=3):
    flags = frozenset({"ghost"}) if draw(st.integers(0, 4)) == 0 and depth else frozenset()
    item = Item(new_id(ids), "t1", "type", draw(names), "", flags=flags)
    if flags:
        count = draw(st.integers(2, 5))
        parts = [draw(sources(ids, 0)) for _ in range(count)]
        return TypeOrigin(item, strands=parts)
    makers = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2])) if depth else 0):
        box = Item(new_id(ids), "m1", "merge", draw(names), "")
        parts = [draw(sources(ids, depth - 1)) for _ in range(draw(st.integers(2, 4)))]
        makers.append((box, parts))
    return TypeOrigin(item, makers)


@st.composite
def uses(draw, ids, lanes, depth=2):
    item = Item(new_id(ids), "m1", "merge", draw(names), "")
    if not draw(st.integers(0, 5)):
        return Use(item, lanes=tuple(range(lanes)) or None)
    result = Item(new_id(ids), "t1", "type", draw(names), "")
    following = []
    if depth:
        following = [draw(uses(ids, 0, depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    return Use(item, result, following, tuple(range(lanes)) or None)


def new_id(ids):
    ids.append(len(ids))
    return f"v{len(ids)}"


@given(st.data())
def test_no_edge_crosses_a_label_whatever_the_labels_are(data):
    ids = []
    blocks = []
    for _ in range(data.draw(st.integers(1, 2))):
        source = data.draw(sources(ids))
        rows = data.draw(st.integers(0, 12))
        blocks.append((source, [data.draw(uses(ids, len(source.strands))) for _ in range(rows)]))
    fan = lay_out_fans(blocks)
    check(fan.vertices, fan.edges)


@pytest.fixture
def study():
    tokeniser = small_tokeniser(MERGES, "abcxy")
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference("ab c", "abc xy")))


def look(study, text, **how):
    fan = fan_around(study, study.graph.ids[text], **how)
    check(fan.vertices, fan.edges)
    return fan


def shown(fan, *flags):
    """The labels with all of these flags, in the order drawn."""
    return [item.label for item in fan.vertices if set(flags) <= item.flags]


def lines(fan):
    label = {item.id: item.label for item in fan.vertices}
    return {(label[edge.source], label[edge.target]) for edge in fan.edges}


def test_a_type_with_its_parts_and_the_merges_that_use_it(study):
    fan = look(study, "abc")
    assert shown(fan) == ["ab", "c", "ab + c", "abc", "▪ + xy", "abcxy", "▪ + ▪", "abcabc"]
    assert shown(fan, "focus") == ["abc"]
    made = {("ab", "ab + c"), ("c", "ab + c"), ("ab + c", "abc")}
    used = {("abc", "▪ + xy"), ("▪ + xy", "abcxy"), ("abc", "▪ + ▪"), ("▪ + ▪", "abcabc")}
    assert lines(fan) == made | used
    deeper = look(study, "abc", down=2)
    assert {("a", "a + b"), ("b", "a + b"), ("a + b", "ab"), ("ab", "ab + c")} <= lines(deeper)
    higher = look(study, "ab", up=2)
    assert {("ab", "▪ + c"), ("▪ + c", "abc"), ("abc", "▪ + xy")} <= lines(higher)


def test_the_parts_of_a_removed_type_run_through_it(study):
    study.graph.knockout(["abc"])
    fan = look(study, "abc")
    assert shown(fan, "ghost") == ["abc"]
    assert shown(fan, "changed") == ["ab + c + xy", "ab + c + ab + c"]
    assert "ab + c" not in shown(fan), "its own merge is gone"
    strands = [edge for edge in fan.edges if edge.lane is not None]
    label = {item.id: item.label for item in fan.vertices}
    runs = {(label[e.source], label[e.target], e.lane) for e in strands}
    assert runs == {
        ("ab", "abc", 0),
        ("c", "abc", 1),
        *(("abc", "ab + c + xy", lane) for lane in (0, 1)),
        *(("abc", "ab + c + ab + c", lane) for lane in (0, 1)),
    }


def test_the_mark_of_an_edit_goes_with_the_next_one(study):
    study.graph.knockout(["abc"])
    study.graph.knockout(["xy"])
    fan = look(study, "abc")
    assert shown(fan, "ghost") == ["abc"]
    assert shown(fan, "changed") == ["ab + c + x + y"], "abcabc was changed by the edit before"
    study.graph.undo()
    study.graph.undo()
    assert shown(look(study, "abc"), "ghost") == []


def test_a_part_that_was_just_removed_stays_as_a_ghost(study):
    study.graph.knockout(["ab"])
    fan = look(study, "abc")
    assert shown(fan, "ghost") == ["ab"]
    assert {("a", "ab"), ("b", "ab"), ("ab", "a + b + c"), ("c", "a + b + c")} <= lines(fan)
    study.graph.knockout(["xy"])
    fan = look(study, "abc")
    assert shown(fan, "ghost") == []
    assert {("a", "a + b + c"), ("b", "a + b + c")} <= lines(fan)


def test_a_result_that_was_just_removed_is_followed_by_what_took_its_parts(study):
    study.graph.knockout(["abc"])
    fan = look(study, "ab")
    right = shown(fan)[shown(fan).index("ab") + 1 :]
    used = ["▪ + c", "abc", "▪ + c + xy", "abcxy", "▪ + c + ▪ + c", "abcabc", "▪ + x", "abx"]
    assert right == used
    assert shown(fan, "ghost") == ["▪ + c", "abc"]


def test_merges_that_do_not_fit_are_one_vertex():
    letters = "cdefghijklmnopqrstuv"
    tokeniser = small_tokeniser([("a", "b"), *(("ab", letter) for letter in letters)], letters)
    study = Study(tokeniser, Benchmark.build(tokeniser, small_reference("a b")))
    fan = look(study, "ab", rows=8)
    number = study.graph.ids["ab"]
    assert shown(fan)[-1] == "12 more merges"
    assert fan.vertices[-1].key == f"more{number}"
    whole = look(study, "ab", rows=124)
    heights = [item.y for item in whole.vertices if item.kind == "merge"][1:]
    assert len(heights) == 20
    assert heights[0] == -300 and heights[-1] > 300, "the middle stands beside the first screen"


def merges_of(fan):
    """The parts of each merge by its result, as its box tells them in full."""
    told = [item.about.split("\n")[0] for item in fan.vertices if item.kind == "merge"]
    return {result: parts for parts, result in (line.split(" → ") for line in told)}


def test_the_three_scenes():
    """Without ab: abc takes a b c, abcd takes a b c d.

    Repair: the lower abc is made of a b c first, so abcd takes abc d. Then b + c is created in abc;
    a + b was knocked out. No merge of other types is shown.
    """
    merges = [("a", "b"), ("ab", "c"), ("ab", "c", "d"), ("x", "y"), ("xy", "x")]
    tokeniser = small_tokeniser(merges, "abcdxy")
    benchmark = Benchmark.build(tokeniser, small_reference("a bc", "a bcd", "xyx"))
    scenes = stages(Study(tokeniser, benchmark), ["ab"])
    assert merges_of(scenes.before) == {"ab": "a + b", "abc": "ab + c", "abcd": "ab + c + d"}
    assert merges_of(scenes.knocked_out) == {"abc": "a + b + c", "abcd": "a + b + c + d"}
    assert merges_of(scenes.reified) == {"bc": "b + c", "abc": "a + bc", "abcd": "abc + d"}
    fans = (scenes.before, scenes.knocked_out, scenes.reified)
    assert [shown(fan, "ghost") for fan in fans] == [[], ["ab"], ["ab"]]
    changed = [[], ["a + b + c", "a + b + c + d"], ["b + c", "a + bc", "abc + d"]]
    assert [shown(fan, "changed") for fan in fans] == changed
    # Nothing was done to the study's own graph.
    assert not tokeniser.graph.history
    assert "ab" in tokeniser.graph
    # Doing it gives what was shown.
    tokeniser.graph.replay([scenes.knockout.step, scenes.reification.step])
    check_graph(tokeniser.graph)
    assert "bc" in tokeniser.graph
