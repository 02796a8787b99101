"""Each format on small samples."""

from itertools import chain, count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_writing import one, read, skipped, told
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.reference.celex import parse_tree
from morphgraph.reference.entry import Entry, MorphemeKind, pieces
from morphgraph.reference.readers import read_reference
from morphgraph.reference.source import Unusable
from tests.effort import examples

# CELEX


DERIVED, COMPOUND, BOTH = ("derivation",), ("compound",), ("derivation", "compound")
# The word and its tree; morphs, kinds, whole words, underlying morphemes and processes: those that
# the row is about.
CELEX = [
    ("methodically\t(((method)[N],(ical)[A|N.])[A],(ly)[B|A.])[B]",
     "method ical ly", "free suffix suffix", "methodically", None, DERIVED),
    ("keizerskroon\t((keizer)[N],(s)[N|N.N],(kroon)[N])[N]",
     "keizer s kroon", "free interfix free", "keizer s kroon", None, COMPOUND),
    ("kelderverdieping\t((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]",
     "kelder ver diep ing", "free prefix free suffix", "kelder verdieping", None, BOTH),
    ("kroon\t(kroon)[N]", "kroon", "free", "kroon", None, ()),
    ("lopen\t((loop)[N])[V]", "lopen", "free", "lopen", "loop", ()),
    # an interfix before a suffix counts as a suffix; so does one inside a node of its own
    ("abcd\t((ab)[N],(c)[A|N.x],(d)[A|Nx.])[A]",
     "ab c d", "free suffix suffix", "abcd", None, DERIVED),
    ("abcd\t((ab)[N],((c)[N])[A|N.x],(d)[N])[A]",
     "ab c d", "free interfix free", ..., None, COMPOUND),
    # a compound after a prefix is taken whole
    ("xabcd\t((x)[N|.N],((ab)[N],(cd)[N])[N])[N]", "x ab cd", ..., "xabcd"),
    # a compound before a suffix too, but not one before an interfix
    ("abcde\t(((ab)[N],(cd)[N])[N],(e)[A|N.])[A]", "ab cd e", ..., "abcde"),
    ("abcdsef\t(((ab)[N],(cd)[N])[N],(s)[N|N.N],(ef)[N])[N]", "ab cd s ef", ..., "ab cd s ef"),
    ("opbellen\t((op)[P],(bellen)[V])[V]", "op bellen", "prefix free", "opbellen", None, DERIVED),
    # aligned: the interfix is dropped, and its kind with it; its neighbours stay apart
    ("kelderkroon\t((kelder)[N],(s)[N|N.N],(kroon)[N])[N]",
     "kelder kroon", "free free", "kelder kroon", "kelder s kroon", COMPOUND),
    ("subsidised\t(((subside)[V],(y)[N|V.])[N],(ise)[V|N.],(ed)[A|V.])[A]",
     "subsid is ed", ..., "subsidised"),
    ("hand-hole\t((hand)[N],(hole)[N])[N]",
     "hand - hole", "free hyphen free", "hand- hole", "hand hole", COMPOUND),
    ("able-bodied\t(((able)[A],(body)[N])[A],(ed)[A|A.])[A]", "able - bodi ed", ..., "able-bodied"),
    ("xyyes\t((no)[N],(yes)[N])[N]", "xy yes", "none free", ..., "no yes", COMPOUND),
    # a hyphen is not a word, also where the tree lists it
    ("co-op\t((co)[N],(-)[N],(op)[N])[N]", "co - op", ..., "co- op"),
    # an affix on either side: a prefix if something follows, a suffix if something precedes
    ("bemannen\t((be)[V|.],(mann)[])[V]", "be mannen", ..., "bemannen"),
    ("entmannen\t((ent)[V|.],(mann)[N])[V]", "ent mannen", ..., "entmannen"),
    ("Supermann\t((super)[N|.],(Mann)[N])[N]", "Super mann", ..., "Supermann"),
    ("abcd\t((ab)[N],(cd)[N|.])[N]", "ab cd", ..., "abcd"),
    ("abcde\t((ab)[N],(c)[N|.],(de)[N])[N]", "ab c de", ..., "abcde"),
    ("abxcde\t((ab)[N],(x)[N|N.N],(c)[N|.],(de)[N])[N]", "ab x c de", ..., "abxcde"),
    # [P] where nothing follows is no prefix; affixes are segmented in turn as other nodes are
    ("hereupon\t((here)[B],((up)[B],(on)[P])[P])[B]",
     "here up on", "free free free", "here up on", None, COMPOUND),
    ("hereby\t((here)[B],(by)[P])[B]", "here by", ..., "here by"),
    ("opbellen\t(((op)[P])[P],(bellen)[V])[V]", "op bellen", "prefix free", ..., None, DERIVED),
    ("on\t(on)[P]", "on", "free", ..., None, ()),
    ("abcde\t(((ab)[N],(c)[P])[P],(de)[V])[V]", "ab c de", ..., "ab cde"),
    ("abcdef\t(((ab)[N],(cd)[N])[N|N.N],(ef)[N])[N]", "ab cd ef", ..., "ab cd ef"),
    ("xabc\t((x)[N|.N],((ab)[B],(c)[P])[P])[N]", "x ab c", ..., "xabc"),
    # a prefix joins an interfix that follows it
    ("xsab\t((x)[N|.N],(s)[N|N.N],(ab)[N])[N]", "x s ab", ..., "xs ab"),
]  # fmt: skip


@pytest.mark.parametrize("row", CELEX, ids=lambda row: row[0].partition("\t")[0])
def test_celex(row):
    check(one(row[0]), row[1:])


def check(entry, expected):
    found = told(entry)
    assert all(e in (..., f) for e, f in zip(expected, found, strict=False)), (found, expected)


CELEX_TAGS = ("N", "V", "P", "N|.V", "N|V.", "N|N.N", "V|.")
CELEX_TREES = st.recursive(
    st.sampled_from(CELEX_TAGS).map(lambda tag: (tag, [])),
    lambda nodes: st.tuples(st.sampled_from(CELEX_TAGS), st.lists(nodes, min_size=1, max_size=4)),
    max_leaves=9,
)


def naive_whole_words(tag, children, number):
    """The whole words of a node, each a list of its leaves' numbers, by the rule as it is put."""
    if not children:
        return [[next(number)]]

    def suffix(i):
        tag = children[i][0]
        is_interfix = "." in tag and "|." not in tag and not tag.endswith(".")
        return tag.endswith(".") or (is_interfix and i + 1 < len(children) and suffix(i + 1))

    def prefix(i):
        return "|." in children[i][0] or children[i][0] == "P"

    words = []
    for i, child in enumerate(children):
        own = naive_whole_words(*child, number)
        behind_prefix = i > 0 and prefix(i - 1)
        if behind_prefix or (i + 1 < len(children) and suffix(i + 1)):
            own = [list(chain(*own))]
        if i and (behind_prefix or suffix(i)):
            words[-1] += own.pop(0)
        words += own
    return words


@examples(400)
@given(CELEX_TREES)
def test_celex_whole_words_are_those_of_the_rule(tree):
    letters = map(chr, count(ord("a")))

    def written(tag, children):
        return f"({','.join(written(*each) for each in children) or next(letters)})[{tag}]"

    text = written(*tree)
    words = naive_whole_words(*tree, count())
    assert sorted(chain(*words)) == list(chain(*words))
    assert parse_tree(text)[-1].sizes == list(map(len, words))


def test_celex_separators_and_repeated_lemmas():
    tree = "((keizer)[N],(s)[N|N.N],(kroon)[N])[N]"
    many = f"17\\keizerskroon\\C\\{tree}\\N"
    for line in (many, f"17\tkeizerskroon\t{tree}", f"keizerskroon {tree}"):
        assert one(line, format="celex").word == "keizerskroon"
    assert len(read(f"keizerskroon\t{tree}", f"keizerskroon\t{tree}")) == 2


def test_celex_skips():
    lines = (
        *("kroon\t(kroon)[N]", "pizza\t(pizza)[F]", "a b\t((a)[N],(b)[N])[N]", "x\t((x)[N]"),
        *("x\t" + "(" * 9000, "y\t(y)", "z", "w\t()[N]"),
    )
    reference = read(*lines)
    assert reference.format == "celex" and [e.word for e in reference.entries] == ["kroon"]
    assert skipped(reference) == [
        ("tree not well-formed: a bracket is not closed", 2, 4),
        ("foreign word, tagged [F]", 1, 2),
        ("word with a space", 1, 3),
        ("tree not well-formed: no tag after a closing bracket", 1, 6),
        ("no tree of morphemes", 1, 7),
        ("no morphs", 1, 8),
    ]
    assert [e.word for e in read(*lines, include_foreign=True).entries] == ["kroon", "pizza"]


def test_celex_nests_as_deeply_as_a_line_is_long():
    depth = 1900
    deep = "(" * depth + "a" + ")[N]" * depth
    assert len(deep) > 9_000 and depth > 1_000
    assert one(f"a\t{deep}") == Entry("a", ("a",), ("a",))


@pytest.mark.parametrize(
    "tree",
    ["", "(", "(a", "(a)[N", "(a)[N]x", "(a)[N],(b)[N]", "((a)[N],)[N]", "((a)[N](b)[N])[N]",
     "(a(b)[N])[N]", "((a)[N]b)[N]", ")[N]", "(,(a)[N])[N]"],
)  # fmt: skip
def test_celex_malformed_trees(tree):
    with refused(Unusable):
        parse_tree(tree)


# MorphyNet, UniMorph, SIGMORPHON


@pytest.mark.parametrize(
    ("line", "morphs", "kinds", "underlying"),
    [
        ("waffnen\tentwaffnen\tV\tV\tent\tprefix", "ent waffnen", "prefix free", None),
        ("Pose\tposieren\tN\tV\tier\tsuffix", "pos ier en", "free suffix none", "Pose ier"),
        ("Adel\tAdelsheim\tN\tN\ts\tsuffix", "Adel s heim", ..., ...),
        ("professeur\tprofessoral\tN\tJ\tal\tsuffix", "professor al", ..., ...),
        ("légaliser\tillégaliser\tV\tV\tin\tprefix",
         "il légaliser", "prefix free", "in légaliser"),
        ("-scopia\tmicroscopia\tN\tN\tmicro\tprefix", "micro scopia", ..., ...),
        ("tenger\tÍr-tenger\tN\tN\tír#HungarianIrish\tprefix",
         "Ír - tenger", "prefix hyphen free", "ír tenger"),
        ("x\tx-förmig\tN\tJ\tförmig\tsuffix", "x - förmig", ..., ...),
        ("Linken-Wähler\tLinken-Wählerschaft\tN\tN\tschaft\tsuffix",
         "Linken-Wähler schaft", ..., ...),
    ],
)  # fmt: skip
def test_morphynet_derivation(line, morphs, kinds, underlying):
    entry = one(line)
    check(entry, (morphs, kinds, entry.word, underlying, ("derivation",)))


def test_morphynet_derivation_skips():
    reference = read(
        "Sattel\tSattelung\tN\tN\tung\tsuffix",
        "a\tb",
        "Bad Driburg\tBad Driburger\tN\tJ\ter\tsuffix",
        "шүүмжлэх\tшүүмжлэл\tV\tN\t\tsuffix",
        "a\tab\tV\tN\tb\tinfix",
        "-\tab\tV\tN\tb\tsuffix",
    )
    assert reference.format == "morphynet-derivation" and len(reference) == 1
    assert reference.partial == "one affix a word" in reference.partial_note
    assert skipped(reference) == [
        ("not six columns", 1, 2),
        ("word with a space", 1, 3),
        ("no affix", 1, 4),
        ("neither prefix nor suffix in the sixth column", 1, 5),
        ("no base", 1, 6),
    ]


@pytest.mark.parametrize(
    ("line", "morphs", "kinds"),
    [
        ("axial\tabaxial\tADJ:ADJ\tab-", "ab axial", "prefix free"),
        ("subside\tsubsidisation\tV:N\t-ation", "subsidis ation", "free suffix"),
        ("Pose\tposieren\tN:V\t-ier", "pos ier en", "free suffix none"),
    ],
)
def test_unimorph_derivations(line, morphs, kinds):
    reference = read(line)
    assert (reference.format, reference.partial) == ("unimorph-derivation", "one affix a word")
    entry = reference.entries[0]
    check(entry, (morphs, kinds, entry.word, ..., ("derivation",)))


def test_unimorph_derivation_skips():
    reference = read(
        "abandon\tabandonable\tV:ADJ\t-able",
        "a\tb",
        "ice cream\tice creamy\tN:ADJ\t-y",
        "foot\tfeet\tN:N\t-e-",
        "foot\tfeet\tN:N\tee",
        "-\tab\tV:N\t-b",
    )
    assert reference.format == "unimorph-derivation" and len(reference) == 1
    assert skipped(reference) == [
        ("an affix without a hyphen at just one end", 2, 4),
        ("not four columns", 1, 2),
        ("word with a space", 1, 3),
        ("no base", 1, 6),
    ]


def test_morphscore():
    reference = read(
        *(",full_word,pt1,rest", "0,walk,walk,", "1,cherished,cherish,ed", "2,co-ops,co-op,s"),
        *("3,sang,sing,ed", "4,a b,a, b", "5,go", "6,ab,,ab"),
    )
    assert (reference.format, reference.partial) == ("morphscore", "one boundary a word")
    assert reference.entries == (
        Entry("cherished", ("cherish", "ed")),
        Entry("co-ops", ("co-op", "s")),
    )
    assert reference.entries[0].line == 3 and not reference.has_whole_words
    assert skipped(reference) == [
        ("no boundary (pt1 or rest is empty)", 2, 2),
        ("parts that do not concatenate to the word", 1, 5),
        ("word with a space", 1, 6),
        ("fewer columns than in the header", 1, 7),
    ]
    assert read("rest;full_word;pt1", "ed;cherished;cherish").entries[0].morphs[1] == "ed"


def test_inflections():
    reference = read(
        "нэр\tнэрийн\tN|GEN;SG\tнэр|ийн",
        "désengager\tdésengageraient\tV|COND;3;PL\tdésengager|eraient",
        "go\twent\tV|PST\t-",
        "x",
    )
    assert reference.format == "morphynet-inflection"
    assert [e.morphs for e in reference.entries] == [("нэр", "ийн"), ("désengag", "eraient")]
    assert {(e.processes, e.kinds) for e in reference.entries} == {(("inflection",), None)}
    assert [e.underlying for e in reference.entries] == [None, ("désengager", "eraient")]
    assert reference.partial == reference.partial_note == ""
    assert not reference.has_whole_words
    assert skipped(reference) == [("no segmentation (-)", 1, 3), ("fewer than four columns", 1, 4)]

    reference = read("eat\teating\tV|V.PTCP;PRS\teat|ing", "eat\tate\tV|PST\t-")
    assert reference.format == "unimorph" and reference.entries == (
        Entry("eating", ("eat", "ing")),
    )
    assert skipped(reference) == [("no segmentation (-)", 1, 2)]


def test_sigmorphon():
    reference = read(
        "enthrallments\ten @@thrall @@ment @@s\t110",
        "officialates\toffice @@ial @@ate @@s\t110",
        "San Marinóért\tSan Marino @@ért\t100",
        "orejano\toreja @@-ano\t001",
        "need-fire\tneed @@fire\t001",
        "cat\tcat\t000",
        "dog",
    )
    assert [" ".join(e.morphs) for e in reference.entries] == [
        "en thrall ment s", "offic ial ate s", "orej ano", "need - fire", "cat",
    ]  # fmt: skip
    assert not reference.has_whole_words and reference.format == "sigmorphon2022"
    assert skipped(reference) == [("word with a space", 1, 3), ("fewer than two columns", 1, 7)]
    assert one("přesně\tpřes @@ně").morphs == ("přes", "ně")


@pytest.mark.parametrize(
    ("flags", "processes"),
    [
        ("\t110", ("inflection", "derivation")),
        ("\t001", ("compound",)),
        ("\t111", ("inflection", "derivation", "compound")),
        ("\t000", ()),
        ("", None),
        ("\t", None),
        ("\t12", None),
    ],
)
def test_processes_of_sigmorphon(flags, processes):
    entry = one("officiates\toffice @@ate @@s" + flags)
    assert entry.processes == processes
    # 6 + 3 + 1 letters, "offici" skips its i
    assert entry.morphs == ("offici", "ate", "s") and entry.underlying == ("office", "ate", "s")
    assert entry.kinds is None


# Plain


def test_plain_without_header():
    assert one("unbreakable\tun break able") == Entry("unbreakable", ("un", "break", "able"))
    assert one("unbreakable\tun break able\t12").count == 12.0
    assert one("unbreakable,un break able,1.5").count == 1.5
    assert one("unbreakable;un break able").morphs == ("un", "break", "able")
    assert one('"un,broken";"un ,broken"').morphs == ("un", ",broken")
    assert one("un|break|able") == Entry("unbreakable", ("un", "break", "able"))
    assert one("unbreakable\tun|break|able").morphs == ("un", "break", "able")
    assert one("subsidised\tsubside y ise ed").morphs == ("subsid", "is", "ed")
    assert one("unbreakable\tun break able\tunbreakable").whole_words == ("unbreakable",)


def test_plain_with_a_header_in_any_order():
    reference = read(
        "Frequency;Whole words;Segmentation;Form", "3;keizer s kroon;keizer s kroon;keizerskroon"
    )
    expected = Entry("keizerskroon", ("keizer", "s", "kroon"), ("keizer", "s", "kroon"), 3.0)
    assert reference.entries == (expected,) and reference.entries[0].line == 2
    assert reference.has_whole_words and reference.has_counts
    assert read("segmentation", "un|break|able").entries[0].word == "unbreakable"


@pytest.mark.parametrize(
    ("line", "morphs", "kinds", "whole", "underlying"),
    [
        ("unbreakable\tun- break -able",
         "un break able", "prefix free suffix", "unbreakable", None),
        ("keizerskroon\tkeizer -s- kroon",
         "keizer s kroon", "free interfix free", "keizer s kroon", None),
        ("absentminded\tabsent mind -ed", "absent mind ed", ..., "absent minded", None),
        ("methodically\tmethod -ic- -al -ly", "method ic al ly", ..., "methodically", None),
        ("co-op\tco - op", "co - op", "free hyphen free", "co- op", None),
        ("un-American\tun- American", "un- American", "prefix free", "un-American", None),
        ("un-American\tun- - American", "un - American", ..., "un-American", None),
        ("subsidised\tsubside -y -ise -ed",
         "subsid is ed", "free suffix suffix", "subsidised", "subside y ise ed"),
        ("keizerkroon\tkeizer -s- kroon", "keizer kroon", ..., "keizer kroon", ...),
        ("hand-hole\thand hole", "hand - hole", "free hyphen free", "hand- hole", "hand hole"),
    ],
)  # fmt: skip
def test_plain_marks_tell_bound_from_free(line, morphs, kinds, whole, underlying):
    entry = read(line, "marker\tmark -er").entries[0]
    check(entry, (morphs, kinds, whole, underlying, None))


def test_plain_without_marks_does_not_tell():
    for line, morphs in (
        ("co-op\tco - op", ("co", "-", "op")),
        ("co-op\tco- op", ("co-", "op")),
        ("Anti-|Antifa", ("Anti-", "Antifa")),
        # the source lists no hyphen here, and none of its morphemes has one
        ("hand-hole\thand hole", ("hand", "-", "hole")),
    ):
        entry = one(line)
        assert (entry.morphs, entry.whole_words, entry.kinds) == (morphs, None, None)


def test_plain_whole_words_column_beats_marks():
    reference = read(
        "word\tmorphs\twhole_words",
        "absentminded\tabsent mind -ed\tabsentminded",
        "unfit\tun- fit\t",
    )
    assert [e.whole_words for e in reference.entries] == [("absentminded",), None]


@pytest.mark.parametrize("between", ["+", "-", "·", "/", "##", " + ", "~ ", " • "])
@pytest.mark.parametrize("columns", ["\t", ";", ",", " ", ": ", "=", " | "])
def test_plain_with_any_separators(between, columns):
    lines = [
        columns.join((word, between.join(morphs.split())))
        for word, morphs in (("unbreakable", "un break able"), ("undo", "un do"), ("do", "do"))
    ]
    clear = columns != " " or " " not in between
    for header in (clear, False):
        reference = read(*["word" + columns + "segmentation"] * header, *lines)
        assert reference.format == "plain"
        assert [entry.morphs for entry in reference.entries] == [
            ("un", "break", "able"), ("un", "do"), ("do",)]  # fmt: skip


def test_plain_signs_that_do_not_divide():
    # marks, and letters of words
    marked = read("undo\tun- do", "doing\tdo -ing", "unmaking\tun- mak -ing")
    assert [entry.morphs for entry in marked.entries][2] == ("un", "mak", "ing")
    assert marked.entries[0].kinds == (MorphemeKind.PREFIX, MorphemeKind.FREE)
    hyphens = read("e-mail\te - mail", "co-op\tco - op", "x-rays\tx - ray s")
    assert [entry.morphs for entry in hyphens.entries] == [
        ("e", "-", "mail"), ("co", "-", "op"), ("x", "-", "ray", "s")]  # fmt: skip
    words = read("e-mails\te-mail+s", "co-op\tco-op", "undo\tun+do")
    assert [entry.morphs for entry in words.entries] == [
        ("e-mail", "s"), ("co-op",), ("un", "do")]  # fmt: skip


def test_plain_with_a_given_separator():
    lines = ("unXdo", "breakXable")
    with refused(FileFormatError):
        read(*lines)
    reference = read(*lines, separator="X")
    assert [entry.word for entry in reference.entries] == ["undo", "breakable"]
    reference = read("subsidised\tsubside_y_ise_ed", separator="_")
    assert reference.entries[0].morphs == ("subsid", "is", "ed")
    assert reference.entries[0].underlying == ("subside", "y", "ise", "ed")


def test_plain_skips():
    reference = read(
        *("unfit\tun fit\t3", "refit\tre fit\tmany", "x", "\tun fit\t1", "fit\t\t1"),
        *("un fit\tun fit", "a" * 201 + "\ta b", "a" * 10_001, "cat\t" + "a " * 201),
        *("refit\tre fit\tnan", "refits\tre fit s\t1_0", "refitted\tre fit ed\t-1"),
    )
    assert len(reference) == 1
    assert skipped(reference) == [
        ("count that is not a number", 4, 2),
        ("no column of morphs", 1, 3),
        ("no word", 1, 4),
        ("no morphs", 1, 5),
        ("word with a space", 1, 6),
        ("word longer than 200 characters", 1, 7),
        ("line longer than 10,000 characters", 1, 8),
        ("more than 200 morphemes", 1, 9),
    ]
    reference = read("word\tmorphs\twhole_words", "ab\ta b\tab", "cd\tc d\tc e")
    assert skipped(reference) == [("whole words that do not concatenate to the word", 1, 3)]


def test_plain_with_a_column_of_kinds():
    reference = read_reference(
        b"word\tkinds\tmorphs\n"
        b"unfits\tprefix Free none\tun fit s\n"
        b"undo\t\tun do\n"
        b"subsidised\tfree suffix suffix suffix\tsubside y ise ed\n"
        b"redo\tprefix\tre do\n"
        b"refit\tprefix root\tre fit\n"
    )
    kinds = [told(entry)[1] for entry in reference.entries]
    assert kinds == ["prefix free none", None, "free suffix suffix"]
    assert not reference.has_whole_words
    assert skipped(reference) == [
        ("not one kind for each morph", 1, 5),
        ("a kind that is not one of free, prefix, suffix, interfix, infix, hyphen, none", 1, 6),
    ]


def test_plain_the_column_of_kinds_beats_marks():
    reference = read_reference(b"word\tmorphs\tkinds\nundo\tun- do\tfree free\nredo\tre- do\t")
    assert [told(entry)[1] for entry in reference.entries] == ["free free", None]
    # the whole words still follow from the marks
    assert [entry.whole_words for entry in reference.entries] == [("undo",), ("redo",)]


def test_the_sibling_rule_on_flat_lists():
    names = {"p": "prefix", "f": "free", "s": "suffix", "i": "interfix", "-": "hyphen"}
    expected = "pfs 000, ff 01, fif 012, fisf 0001, fiisf 00001, ppf 000, fss 000, pif 001, sf 01"
    expected += ", fp 01, f-f 001, p-f 000, f-s 000"
    for kinds, words in map(str.split, expected.split(", ")):
        found = pieces([MorphemeKind(names[kind]) for kind in kinds])
        assert "".join(map(str, found)) == words, kinds
    assert pieces([]) == []


# Morfessor

SAVED = ("# Output from Morfessor Baseline 2.0.6", "12 un + break + able", "5 house + s", "1 word")
OWN = [("un", "break", "able"), ("house", "s"), ("word",)]


@pytest.mark.parametrize("options", [{}, {"separator": "+"}, {"separator": " + "}, {"format": ...}])
@pytest.mark.parametrize("comments", [0, 1])
def test_morfessor(options, comments):
    options = {"format": "morfessor"} if "format" in options else options
    reference = read(*SAVED[1 - comments :], **options)
    assert reference.format == "morfessor" and not reference.notice
    assert [(e.morphs, e.count) for e in reference.entries] == [*zip(OWN, (12, 5, 1), strict=True)]
    assert [e.word for e in reference.entries] == ["unbreakable", "houses", "word"]
    assert skipped(reference) == [("a comment (#)", 1, 1)] * comments
    bare = [line if line[0] == "#" else line.partition(" ")[2] for line in SAVED[1 - comments :]]
    reference = read(*bare, **options)
    assert [(e.morphs, e.count) for e in reference.entries] == [(morphs, None) for morphs in OWN]


@pytest.mark.parametrize(
    ("line", "morphs", "count"),
    [
        ("3\tun + do", "un do", 3),
        ("2.5 un + do", "un do", 2.5),
        ("3 co + - + op", "co - op", 3),
        ("3 c + + + +", "c + +", 3),
        ("3 +", "+", 3),
        ("3 12", "12", 3),
        ("3 2 + nd", "2 nd", 3),
        ("7 # + tag", "# tag", 7),
        ("undoes", "undoes", None),
    ],
)
def test_lines_of_morfessor(line, morphs, count):
    entry = read("1 un + do", "2 re + do", line).entries[2]
    assert (" ".join(entry.morphs), entry.count) == (morphs, count)


def test_morfessor_numbers_are_words_where_there_are_no_counts():
    reference = read("un + do", "2 + nd", "12", "3 + rd")
    assert [e.word for e in reference.entries] == ["undo", "2nd", "12", "3rd"]
    assert not reference.has_counts


def test_morfessor_skips_and_categories():
    reference = read("1 un + do", "2 un + break able", "9" * 17 + " re + do", "3 re + do")
    assert skipped(reference) == [("word with a space", 1, 2), ("count above 10¹⁵", 1, 3)]
    tagged = read("1 un/PRE + do/STM", "2 do/STM + ing/SUF", "1 x/ZZZ")
    assert [e.morphs for e in tagged.entries] == [("un", "do"), ("do", "ing"), ("x",)]


def test_a_word_in_front_is_no_morfessor():
    for between in (";", ",", "=", ": ", "\t", " "):
        reference = read(f"undo{between}un + do", f"redo{between}re + do")
        assert (reference.format, reference.entries[0].morphs) == ("plain", ("un", "do"))
    assert read("un,|do + ing").format == "morfessor"
    with refused(FileFormatError):
        read("12 words and numbers", "a + b is a sum", "1 + 2 = 3")
