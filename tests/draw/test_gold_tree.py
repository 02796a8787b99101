"""The gold's own tree of a word, from lines as CELEX writes them."""

import pytest

import morphgraph as mg
from morphgraph.draw.gold_tree import constituents
from morphgraph.reference.readers import read_reference

LINES = {
    "kelderverdieping": "((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]",
    "kelderkroon": "((kelder)[N],(s)[N|N.N],(kroon)[N])[N]",
    "lopen": "((loop)[N])[V]",
    "hand-hole": "((hand)[N],(hole)[N])[N]",
    "xyyes": "((no)[N],(yes)[N])[N]",
}


@pytest.mark.parametrize(
    ("word", "nodes"),
    [
        ("kelderverdieping", "kelder:N ver:V|.A diep:A verdiep:V ing:N|V. verdieping:N *:N"),
        ("kelderkroon", "kelder:N kroon:N *:N"),  # the interfix has no letters
        ("lopen", "lopen:N *:V"),
        ("hand-hole", "hand-:N hole:N *:N"),
        ("xyyes", "xy:N yes:N *:N"),  # letters of no morpheme
    ],
)
def test_constituents_by_hand(word, nodes):
    [entry] = read_reference(f"{word}\t{LINES[word]}\n".encode(), name="celex.txt").entries
    found = constituents(entry, range(1, len(word) + 1))
    shown = [f"{each.label}:{each.tag.split(']')[0][1:]}" for each in found]
    assert " ".join(shown) == nodes.replace("*", word)


def test_it_is_drawn_below_the_merge_tree():
    tokeniser = mg.load("demo:nl")
    gold = mg.read_gold("".join(f"{word}\t{tree}\n" for word, tree in LINES.items()).encode())
    picture = tokeniser.tree("kelderverdieping", gold=gold)
    [tree] = picture.gold
    labels = [leaf.label for leaf in tree.leaves]
    assert ["".join(labels[m.first : m.last + 1]) for m in tree.merges] == [
        "kelder", "ver", "diep", "verdiep", "ing", "verdieping", "kelderverdieping",
    ]  # fmt: skip
    # The marker is in no morpheme, and stands alone.
    assert [tree.label(root) for root in tree.roots] == ["␣", "kelderverdieping"]
    svg = picture.to_svg()
    assert all(f">[{tag}]<" in svg for tag in ("N", "V|.A", "A", "V", "N|V."))
    # Only merges can be played and clicked.
    assert svg.count("data-type") == len(picture.tree.merges)
    assert not tokeniser.tree("kelder", gold=gold).gold
    assert not tokeniser.tree("undo", gold=mg.read_gold({"undo": ["un", "do"]})).gold
