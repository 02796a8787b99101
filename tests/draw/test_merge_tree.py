"""Merge trees: what they say, where things stand, and that the picture is safe XML."""

import json
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import small_document, small_reference, small_tokeniser
from strategies import bpe_of, with_words

from morphgraph.draw.merge_tree import (
    BETWEEN_TOKENS,
    STACK,
    MergeTree,
    TreeGap,
    TreeLeaf,
    TreeMerge,
    TreeSpan,
    aligned_layouts,
    describe_tree,
    lay_out,
    printable,
    visible_in_xml,
    wrapped_rows,
)
from morphgraph.draw.merge_tree_svg import to_svg
from morphgraph.draw.merge_tree_text import in_characters
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark

NAMESPACE = "{http://www.w3.org/2000/svg}"
ELEMENTS = {NAMESPACE + name for name in ("svg", "title", "desc", "g", "rect", "path", "text")}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True, "trim_offsets": True}


def tree_of(merges, word, gold=None, alphabet=""):
    tokeniser = small_tokeniser(merges, alphabet) if alphabet else bpe_of(merges)
    return describe_tree(tokeniser, tokeniser.encode([word]), 0, gold=gold)


def parsed(svg):
    return ElementTree.fromstring(svg)


def elements(svg, name):
    return list(parsed(svg).iter(NAMESPACE + name))


# --------------------------------------------------------------------------------- what is said


@pytest.fixture
def study():
    """“und” is knocked out, so that “undo” is made of three parts, across two boundaries."""
    merges = [("u", "n"), ("un", "d"), ("und", "o"), ("e", "s")]
    tokeniser = small_tokeniser(merges, "undoes")
    tokeniser.graph.knockout(["und"])
    reference = small_reference("un d o es", "undo s", "un do")
    return Study(tokeniser, Benchmark.build(tokeniser, reference))


def test_by_hand(study):
    """A tuple merge that closes two gold boundaries, a split on the third, and its blame.

    undo is applied in each of the three words: 2 + 2 + 2 joins, of which 2 + 0 + 1 on boundaries.
    un: 3 joins, es: 1, none of them on a boundary.
    """
    words = study.benchmark.words
    tree = describe_tree(
        study.tokeniser, words, 0, blame=study.blame(), gold={1, 2, 3}, title="by hand"
    )
    assert [leaf.label for leaf in tree.leaves] == list("undoes")
    assert [m.description for m in tree.merges] == ["u + n → un", "un + d + o → undo", "e + s → es"]
    assert [m.children for m in tree.merges] == [(0, 1), (6, 2, 3), (4, 5)]
    assert [(m.first, m.last) for m in tree.merges] == [(0, 1), (0, 3), (4, 5)]
    assert [m.rank for m in tree.merges] == [0, 2, 3]
    assert [m.ratio for m in tree.merges] == [0.0, 0.5, 0.0]
    assert [m.closes for m in tree.merges] == [0, 2, 0]
    assert tree.roots == (7, 8)
    assert tree.gaps == (TreeGap(1, "missed", 7), TreeGap(2, "missed", 7), TreeGap(3, "hit"))
    spans = ((0, 1, "un"), (2, 2, "d"), (3, 3, "o"), (4, 5, "es"))
    assert tree.morphs == tuple(TreeSpan(*span) for span in spans)
    assert tree.characters == ()


def test_by_hand_without_gold(study):
    tree = describe_tree(study.tokeniser, study.benchmark.words, 0)
    assert tree.gaps == (TreeGap(3, "split"),)
    assert (tree.morphs, tree.has_gold) == ((), False)
    assert all(math.isnan(merge.ratio) for merge in tree.merges)
    whole = describe_tree(study.tokeniser, study.benchmark.words, 1, gold=set())
    assert whole.gaps == (TreeGap(3, "wrong"),), "a split inside a morph"
    assert whole.morphs == (TreeSpan(0, 4, "undos"),)


IN_CHARACTERS = """\
rank     R
   2  0.50  undo  × un | d | o
   0  0.00  ├─ un
            │  ├─ u
            │  └─ n
            ├─ d
            └─ o
   3  0.00  es
            ├─ e
            └─ s"""


def test_by_hand_in_characters(study):
    words = study.benchmark.words
    tree = describe_tree(study.tokeniser, words, 0, blame=study.blame(), gold={1, 2, 3})
    assert in_characters(tree) == IN_CHARACTERS
    undefined = replace(tree, merges=(replace(tree.merges[0], ratio=math.nan), *tree.merges[1:]))
    assert in_characters(undefined) == IN_CHARACTERS.replace("0  0.00  ├─ un", "0   n/a  ├─ un")
    unblamed = in_characters(describe_tree(study.tokeniser, words, 0)).splitlines()
    assert unblamed[:3] == ["rank", "   2  undo", "   0  ├─ un"]


def test_a_deep_tree_in_characters():
    word = "a" + 1_099 * "b"
    pairs = [(word[:length], "b") for length in range(1, 1_100)]
    lines = in_characters(tree_of(pairs, word)).splitlines()
    assert (len(lines), lines[1].split()) == (2_200, ["1,098", word])


def test_bytes_stand_under_their_character():
    """ü is C3 BC: its first byte is merged with the t before it."""
    merges = [("t", "Ã"), ("Ġ", "a")]
    tokeniser = small_tokeniser(merges, "Ġat¼n", pre_tokenizer=BYTES | {"add_prefix_space": True})
    words = tokeniser.encode(["atün"])
    tree = describe_tree(tokeniser, words, 0, gold={2})
    assert [leaf.label for leaf in tree.leaves] == ["␣", "a", "t", "⟨C3⟩", "⟨BC⟩", "n"]
    assert [leaf.is_part for leaf in tree.leaves] == [False] * 3 + [True] * 2 + [False]
    assert tree.characters == (TreeSpan(3, 4, "ü"),)
    assert [m.description for m in tree.merges] == ["t + ⟨C3⟩ → t⟨C3⟩", "␣ + a → ␣a"]
    # The gold boundary at|ün is closed; a split between the bytes of ü counts in no score.
    assert tree.gaps[:1] == (TreeGap(1, "wrong"),)
    assert tree.gaps[1:] == (TreeGap(2, "missed", 6), TreeGap(3, "split"), TreeGap(4, "wrong"))
    assert tree.morphs == (TreeSpan(1, 2, "at"), TreeSpan(3, 5, "ün"))


def test_a_merge_of_letters_from_the_right_is_told_from_the_left():
    """Without marks, the whole line would run from the right, its arrow against the reading."""
    tokeniser = small_tokeniser([("ك", "ت")], "كت")
    tree = describe_tree(tokeniser, tokeniser.encode(["كت"]), 0)
    [merge] = tree.merges
    bare = "".join(char for char in merge.description if char.isprintable())
    assert bare == "ك + ت → كت"
    assert merge.description.startswith("\u200e")
    assert merge.description.endswith(" → \u2068كت\u2069")


def test_unknown_characters_are_shown_as_they_are():
    document = small_document([("a", "b")], "ab", unk_token="<unk>")
    document["model"]["vocab"]["<unk>"] = 3
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "t.json")
    tree = describe_tree(tokeniser, tokeniser.encode(["ab\u0301日"]), 0)
    assert [leaf.label for leaf in tree.leaves] == ["a", "b", "◌\u0301", "日"]
    assert [leaf.is_unknown for leaf in tree.leaves] == [False, False, True, True]


def test_what_is_left_out_is_named_beside_the_atom_before_it():
    tokeniser = small_tokeniser([("a", "b")], "abc")
    tree = describe_tree(tokeniser, tokeniser.encode(["éa日ébcx"]), 0)
    assert [leaf.label for leaf in tree.leaves] == ["a", "b", "c"]
    assert [leaf.tooltip.partition("left out: ")[2] for leaf in tree.leaves] == ["é 日 é", "", "x"]


@given(st.text())
def test_what_is_visible_can_be_written(text):
    assert visible_in_xml(text).isprintable()
    assert " " not in visible_in_xml(text)
    assert printable(text).isprintable()
    if text.isprintable() and " " not in text:
        assert visible_in_xml(text) == text


# --------------------------------------------------------------------------------- where it stands


def check_layout(tree, layout):
    """Nothing overlaps, parents stand in the middle, lines between what they separate."""
    tuples = [k for k, merge in enumerate(tree.merges) if len(merge.children) > 2]
    stacks = {len(tree.leaves) + k for k in tuples}
    by_level = {}
    for vertex, box in enumerate(layout.boxes):
        stack = STACK if vertex in stacks else 0
        edges = (box.x - box.width / 2, box.x + box.width / 2 + stack)
        assert edges[0] >= -0.1
        assert edges[1] <= layout.width + 0.1
        by_level.setdefault(box.level, []).append(edges)
        children = tree.children(vertex)
        assert (box.level == 0) == (not children)
        if children:
            ends = layout.boxes[children[0]].x + layout.boxes[children[-1]].x
            assert box.x == pytest.approx(ends / 2, abs=0.2)
            assert box.level > max(layout.boxes[child].level for child in children)
    for boxes in by_level.values():
        assert all(b[0] - a[1] >= 6 for a, b in pairwise(sorted(boxes)))
    leaves = layout.boxes[: len(tree.leaves)]
    assert [box.x for box in leaves] == sorted(box.x for box in leaves)
    for leaf in range(len(leaves) - 1):
        assert leaves[leaf].x < layout.gap(leaf) < leaves[leaf + 1].x


@examples(200)
@given(with_words())
def test_nothing_overlaps_and_parents_are_in_the_middle(drawn):
    merges, words = drawn
    for word in words:
        tree = tree_of(merges, word)
        check_layout(tree, lay_out(tree))


@examples(100)
@given(with_words(), st.integers(0, 8))
def test_trees_of_a_word_stand_on_one_axis(drawn, fewer):
    """As with the merges of before and after an edit: each atom at one place, nothing overlaps."""
    merges, words = drawn
    for word in filter(None, words):
        trees = [tree_of(some, word, alphabet=word) for some in (merges, merges[:fewer])]
        layouts = aligned_layouts(trees)
        places = [[box.x for box in lay.boxes[: len(word)]] for lay in layouts]
        assert places[0] == places[1]
        for tree, layout in zip(trees, layouts, strict=True):
            check_layout(tree, layout)
        for row in wrapped_rows(trees, 150):
            assert [leaf.label for leaf in row[0].leaves] == [leaf.label for leaf in row[1].leaves]


# --------------------------------------------------------------------------------- the picture


@pytest.mark.parametrize("widest", [340, 686])
def test_the_legend_makes_no_picture_wider_than_asked_for(study, widest):
    tree = describe_tree(study.tokeniser, study.benchmark.words, 0, blame=study.blame(), gold={1})
    assert int(parsed(to_svg(tree, "light", widest)).get("width", "")) <= widest


def widths_of(tree):
    return lay_out(tree).width


@examples(100)
@given(with_words(), st.floats(30, 600))
def test_rows_hold_every_token_once_and_keep_to_the_width(case, widest):
    """The rows one after the other say the same as the tree, vertex by vertex."""
    merges, words = case
    word = "".join(words) or "a"
    tree = tree_of(merges, word, gold=set(range(1, len(word), 2)), alphabet=word)
    rows = [row for (row,) in wrapped_rows([tree], widest)]
    for row in rows:
        assert len(row.roots) == 1 or widths_of(row) <= widest + 1e-6
        for merge, vertex in zip(row.merges, range(len(row.leaves), 10**6), strict=False):
            below = [row.leaves[n].label for n in range(merge.first, merge.last + 1)]
            assert "".join(below) == merge.label
            assert "".join(row.label(child) for child in merge.children) == row.label(vertex)
    assert [leaf for row in rows for leaf in row.leaves] == list(tree.leaves)
    shown = [row.label(root) for row in rows for root in row.roots]
    assert shown == [tree.label(root) for root in tree.roots]
    described = sorted(merge.description for row in rows for merge in row.merges)
    assert described == sorted(merge.description for merge in tree.merges)
    kinds = [gap.kind for row in rows for gap in row.gaps]
    assert kinds == [gap.kind for gap in tree.gaps]
    for row in rows:
        for gap in row.gaps:
            assert (gap.kind == "missed") == (gap.merge is not None)
            if gap.merge is not None:
                assert row.children(gap.merge)
    # No row could have taken the next token too.
    tokens = [widths_of(row) for (row,) in wrapped_rows([tree], 0)]
    assert len(tokens) == len(tree.roots)
    done = 0
    for row in rows[:-1]:
        done += len(row.roots)
        assert widths_of(row) + BETWEEN_TOKENS + tokens[done] > widest - 1e-6


def test_a_morph_that_goes_on_in_the_next_row_is_in_both(study):
    tree = tree_of([("a", "b"), ("c", "d")], "abcd", gold=set())
    tree = replace(tree, morphs=(TreeSpan(0, 3, "abcd"),), title="now")
    (first,), (second,) = wrapped_rows([tree], 80)
    assert first.morphs == (TreeSpan(0, 1, "abcd …"),)
    assert second.morphs == (TreeSpan(0, 1, "… abcd"),)
    assert (first.title, second.title) == ("now", "")
    svg = to_svg(tree, "light", 112)
    assert [t.text for t in elements(svg, "text")].count("ab") == 1
    assert elements(svg, "desc")[0].text == "now: Tokens: ab cd. Gold: abcd."


NASTY = st.text(max_size=6) | st.sampled_from(
    [
        *("</text><script>alert(1)</script>", "<![CDATA[", "]]>", "&lt;&#0;&quot;", "<?xml?>"),
        *("\x00\x01\x0b\x1f\x7f\x85", "\ufffe\uffff\ufdd0", "\u202e\u2066\u200d\ufeff"),
        *("a\u0300\u0301", '" onload="alert(1)', "<!--", "𐀀🧩", "\u2028\u2029\r\n\t"),
    ]
)


@st.composite
def nasty_trees(draw):
    """A tree of pair merges from the left, every string in it from outside."""
    count = draw(st.integers(1, 5))
    labels, flags = NASTY.map(visible_in_xml), st.booleans()
    leaves = [
        TreeLeaf(draw(labels), printable(draw(NASTY)), draw(flags), draw(flags))
        for _ in range(count)
    ]
    merges = []
    for k in range(count - 1):
        told = (draw(labels), printable(draw(NASTY)) + "\nline", "")
        ratio = draw(st.sampled_from([math.nan, 0.0, 0.3, 1.0]))
        ends = ((count + k - 1 if k else 0, k + 1), 0, k + 1)
        merges.append(TreeMerge(*told, k, ratio, *ends, 0, k, k))
    spans = (TreeSpan(0, count - 1, draw(labels)),)
    roots = (count + len(merges) - 1,)
    title, word = draw(NASTY), draw(NASTY)
    return MergeTree(word, tuple(leaves), tuple(merges), roots, (), spans, spans, True, title)


@examples(150)
@given(nasty_trees(), st.sampled_from(["light", "dark"]))
def test_any_string_gives_xml_of_known_elements_only(tree, theme):
    svg = to_svg([tree, tree], theme)
    found = parsed(svg)
    assert {element.tag for element in found.iter()} <= ELEMENTS
    names = {name for element in found.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name]
    assert svg == to_svg([tree, tree], theme)
    groups = list(found.iter(f"{NAMESPACE}g"))
    vertices = range(len(tree.leaves) + len(tree.merges))
    shown = [group.findtext(f"{NAMESPACE}text") for group in groups]
    assert shown == [tree.label(vertex) for vertex in vertices] * 2


@pytest.mark.slow
def test_a_deep_tree_needs_no_recursion():
    leaves = tuple(TreeLeaf("a", "", False, False) for _ in range(600))
    merges = tuple(
        TreeMerge("a", "", "", k, 0.5, (k + 599 if k else 0, k + 1), 0, k + 1, 0, k, k)
        for k in range(599)
    )
    tree = MergeTree("a" * 600, leaves, merges, (1198,), (), (), (), False)
    assert lay_out(tree).levels == 599
    assert len(elements(to_svg(tree), "g")) == 1199
