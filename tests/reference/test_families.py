"""Families of words, and splits by them, against a naive union–find; what each source links."""

import json
from collections import Counter

import numpy as np
import pytest
from effort import examples
from hypothesis import event, given
from hypothesis import strategies as st
from refusals import refused
from small import gold_of

import morphgraph as mg
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import Entry
from morphgraph.reference.families import are_apart, families_of
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet

MORPHS = st.text("abABßSsİé𝒷-", min_size=1, max_size=3)


@st.composite
def golds(draw):
    """Entries with links, without, or some with; words with several analyses, bases of no entry."""
    written = draw(st.lists(st.lists(MORPHS, min_size=1, max_size=4), min_size=1, max_size=40))
    words = ["".join(morphs) for morphs in written]
    bases = st.lists(st.sampled_from([*words, "base", "Base", "b"]), max_size=2).map(tuple)
    linked = draw(st.sampled_from([st.none(), bases, st.none() | bases]))
    return [
        Entry(word, tuple(morphs), linked=draw(linked))
        for word, morphs in zip(words, written, strict=True)
    ]


def keys_of(entry):
    """What an entry has in common with others of its family."""
    stem = sorted(entry.morphs, key=lambda morph: -len(morph))[0].casefold()
    shared = {("stem", stem)} if entry.linked is None else {("word", w) for w in entry.linked}
    return shared | {("word", entry.word)}


def naive_families(entries):
    """Join what has a key in common until nothing has; by their smallest words."""
    groups = [(keys_of(entry), [entry]) for entry in entries]
    found = []
    for keys, members in groups:
        same = [group for group in found if group[0] & keys]
        found = [group for group in found if not group[0] & keys]
        for other_keys, others in same:
            keys, members = keys | other_keys, others + members
        found.append((keys, members))
    families = [members for _, members in found]
    return sorted(families, key=lambda family: min(entry.word for entry in family))


def naive_split(entries, share, seed):
    """The words kept aside: whole families, until these have the share of the entries."""
    families, wanted, kept = naive_families(entries), round(len(entries) * share), list[Entry]()
    for place in np.random.default_rng(seed).permutation(len(families)):
        small = len(families[place]) <= max(1, wanted / 4)
        if small and len(kept) < wanted:
            kept += families[place]
    return {entry.word for entry in kept}


def words_of(gold):
    return {*gold.texts}


@pytest.mark.slow
@examples(1000)
@given(
    entries=golds(),
    share=st.sampled_from([0.1, 0.2, 0.5, 0.8, 0.99]),
    seed=st.integers(0, 5),
    order=st.randoms(use_true_random=False),
)
def test_splits_of_random_golds(entries, share, seed, order):
    gold, families = gold_of(*entries), naive_families(entries)
    numbers = {id(entry): n for n, family in enumerate(families) for entry in family}
    assert families_of(entries).tolist() == [numbers[id(entry)] for entry in entries]
    assert gold.families == len(families)
    expected = naive_split(entries, share, seed)
    if not expected or expected == words_of(gold):
        event("one side would be empty")
        with pytest.raises(MorphGraphError, match="keep a share of"):
            gold.split(share, seed)
        return
    rest, kept = gold.split(share, seed)
    assert words_of(kept) == expected
    assert sorted([*rest.texts, *kept.texts]) == sorted(gold.texts)
    one, other = (set[tuple[str, str]]().union(*map(keys_of, side)) for side in (rest, kept))
    assert not one & other, "no stem and no linked base is on both sides"
    sizes = Counter(numbers[id(entry)] for entry in kept)
    wanted = round(share * len(gold))
    assert max(sizes.values()) <= max(1, wanted / 4)
    assert len(kept) - max(sizes.values()) < wanted, "reached with the last family"
    left = [len(family) for family in families if family[0] in list(rest)]
    assert len(kept) >= wanted or min(left) > max(1, wanted / 4), "or none that is left fits"
    shuffled = order.sample(entries, len(entries))
    for mine, again in zip((rest, kept), gold_of(*shuffled).split(share, seed), strict=True):
        assert Counter(mine.texts) == Counter(again.texts)
    assert are_apart(rest.parts, kept.parts)


@pytest.mark.parametrize(("share", "kept"), [(0.25, 2), (0.5, 4), (0.1, 1)])
def test_by_words_entries_of_a_word_stay_together_and_no_others(share, kept):
    words = [f"walk{number}" for number in range(8)] * 3
    gold = gold_of(*[Entry(word, ("walk", word[4:])) for word in words])
    drawn = set()
    for seed in range(9):
        rest, aside = gold.split(share, seed, "words")
        assert not words_of(rest) & words_of(aside)
        assert len(words_of(aside)) == kept
        drawn.add(tuple(sorted(words_of(aside))))
    assert len(drawn) > 1, "the seed draws"
    assert gold.families == 1
    with refused():
        gold.split(share)


def test_a_family_of_more_than_a_quarter_of_what_is_kept_aside_stays_with_the_rest():
    """Of 100 words, 20 are kept aside: five of a family may be, six may not."""
    others = [Entry(f"x{n:02}", (f"x{n:02}",)) for n in range(90)]
    for size, fits in ((5, True), (6, False)):
        family = [Entry(f"stem{n}", ("stem", str(n))) for n in range(size)]
        gold = gold_of(*family, *others, *(Entry(f"y{n}", (f"y{n}",)) for n in range(10 - size)))
        kept = [words_of(gold.split(0.2, seed)[1]) for seed in range(40)]
        assert {len(words & {"stem0", "stem1"}) for words in kept} == ({0, 2} if fits else {0})


def test_with_few_families_nothing_is_kept_aside_unless_one_asks():
    tokeniser = mg.load("demo:en")
    few, many = (
        gold_of(*(Entry(f"{chr(97 + n)}undo", (f"{chr(97 + n)}un", "do")) for n in range(families)))
        for families in (19, 20)
    )
    assert (few.families, many.families) == (19, 20)
    assert few.set_aside(0.2, 0) == (few, few)
    made = tokeniser.knock_out(few)
    assert made.is_held_in and made.on == "19 words it learned from"
    assert made.to_dict()["words"] == "all" and made.to_dict()["learned"] is None
    for made in (tokeniser.knock_out(many), tokeniser.rebpe(many, iterations=1)):
        assert not made.is_held_in and made.on == "4 words kept aside"
    found = tokeniser.knock_out(few, holdout=0.25)
    assert found.on == "5 words kept aside", "it was asked for"


@pytest.mark.parametrize(
    "given", [{"share": 1.5}, {"share": "0.2"}, {"seed": -1}, {"seed": 0.5}, {"by": "stems"}]
)
def test_what_is_no_split(given):
    with refused():
        mg.read_gold("demo:en").split(**given)


# What each source links: words, their bases, and a word of another family.
def useg(word, lemma, segments):
    annotation = json.dumps({"annot_name": "Test", "segmentation": []})
    return f"{word}\t{lemma}\tNOUN\t{segments}\t{annotation}"


def derinet(number, word, parent, cut):
    ends = ((0, cut), (cut, len(word)))
    parts = "|".join(f"End={b}&Morph={word[a:b]}&Start={a}&Type=Root" for a, b in ends)
    about = (number, f"{word}#N", word, "NOUN", "", parts, parent, "", "", "{}")
    return "\t".join(about)


SOURCES = {
    "morphynet-derivation": (
        ["Pose\tposieren\tN\tV\tier\tsuffix", "posieren\tposierend\tV\tJ\tend\tsuffix",
         "ír#Irish\tírás\tN\tN\tás\tsuffix", "tun\tvertun\tV\tV\tver\tprefix"],
        {"posieren": ("Pose",), "posierend": ("posieren",), "írás": ("ír",), "vertun": ("tun",)},
        3,
    ),
    "unimorph-derivation": (
        ["happy\tunhappy\tADJ:ADJ\tun-", "happy\thappiness\tADJ:N\t-ness"],
        {"unhappy": ("happy",), "happiness": ("happy",)},
        1,
    ),
    "morphynet-inflection": (
        ["go\tgoing\tV|V.PTCP;PRS\tgo|ing", "do\tundoing\tV|V.PTCP;PRS\tundo|ing",
         "do\tdoes\tV|PRS\tdo|es", "\tbeing\tV|PRS\tbe|ing", "\tsaying\tV|PRS\tsay|ing"],
        {"going": ("go",), "undoing": ("do",), "does": ("do",), "being": ("being",),
         "saying": ("saying",)},
        4,
    ),
    "unimorph": (
        ["go\tgoes\tV;PRS\tgo|es", "go\tgoing\tV;PTCP\tgo|ing", "do\tdoing\tV;PTCP\tdo|ing"],
        {"goes": ("go",), "going": ("go",), "doing": ("do",)},
        2,
    ),
    "unisegments": (
        [useg("dogs", "dog", "dog + s"), useg("doggy", "dog", "dogg + y"),
         useg("doggies", "doggy", "doggi + es"), useg("cats", "", "cat + s")],
        {"dogs": ("dog",), "doggy": ("dog",), "doggies": ("doggy",), "cats": None},
        2,
    ),
    "derinet": (
        [derinet("7.0", "kost", "", 2), derinet("7.1", "kostka", "7.0", 4),
         derinet("8.0", "kostem", "", 4), derinet("9.0", "dub", "8.0", 2)],
        {"kost": ("tree 7",), "kostka": ("tree 7", "tree 7"), "kostem": ("tree 8",),
         "dub": ("tree 9", "tree 8")},
        2,
    ),
    "plain": (["go ing", "do ing"], {"going": None, "doing": None}, 1),
    "celex": (
        ["undo\t((un)[V|.V],(do)[V])[V]", "doer\t((do)[V],(er)[N|V.])[N]"],
        {"undo": None, "doer": None},
        2,
    ),
    "sigmorphon2022": (
        ["undoing\tun @@do @@ing\t110", "doings\tdo @@ing @@s\t110"],
        {"undoing": None, "doings": None},
        1,
    ),
    "morpho-challenge": (
        ["undoing\tun:un_p do:do_V ing:+PCP1", "dogs\tdog:dog_N s:+PL"],
        {"undoing": None, "dogs": None},
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("format", SOURCES)
def test_what_a_source_links(format):
    lines, linked, families = SOURCES[format]
    reference = read_reference("\n".join([*lines, ""]).encode(), name="gold.txt", format=format)
    assert {entry.word: entry.linked for entry in reference.entries} == linked
    assert GoldSet.of(reference).families == families


def test_links_take_part_in_no_comparison_and_no_checksum():
    one, other = (Entry("dogs", ("dog", "s"), linked=base) for base in (("dog",), None))
    assert one == other and hash(one) == hash(other)
    signatures = [gold_of(each).signature_of("t") for each in (one, other)]
    assert signatures[0] == signatures[1]


@pytest.mark.parametrize("drop", [lambda gold: gold, lambda gold: gold.subset(np.arange(4))])
def test_a_part_has_families_of_its_own(drop):
    """A link that goes through a word that is left out no longer joins others."""
    chain = [Entry(word, (word,), linked=(base,)) for word, base in ("ab", "bc", "de", "ef", "cd")]
    gold = drop(gold_of(*chain))
    assert gold.families == (1 if len(gold) == 5 else 2)
