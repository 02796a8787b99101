"""LADEC, Morpho Challenge, UniSegments and DeriNet on small samples in their true shape."""

import json

import pytest
from plain_writing import read, skipped, told
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.reference.entry import MorphemeKind, join_references
from morphgraph.reference.readers import read_reference

# LADEC

LADEC = (
    '"id_master","c1","c2","stim","obs","nparses","correctParse","note"',
    '1,"air","craft","aircraft",1,1,"yes","a ""flying"", machine"',
    '2,"bus","stops","busstop",2,1.0,yes,',
    '3,"dice","box","dicebox",3,2,"yes",',
    '4,"die","cebox","dicebox",4,2,"no",',
    '5,"ear","ring","earring",5,1,"no",',
    '6,"ice","cream","ice cream",6,1,"yes",',
    '7,"","foot","foot",7,1,"yes",',
    '8,"tooth","brush"',
    '9,"T","shirt","T-shirt",9,1,"YES",',
    '10,"a","b","ab",9,"NA","yes",',
)


def test_ladec():
    reference = read(*LADEC)
    assert reference.format == "ladec"
    assert [(entry.line, *told(entry)) for entry in reference.entries] == [
        (2, "air craft", "free free", "air craft", None, ("compound",)),
        (3, "bus stop", "free free", "bus stop", "bus stops", ("compound",)),
        (10, "T - shirt", "free hyphen free", "T- shirt", "T shirt", ("compound",)),
    ]
    assert skipped(reference) == [
        ("several parses (nparses is not 1)", 2, 4),
        ("not the correct parse (correctParse is not yes)", 2, 5),
        ("word with a space", 1, 7),
        ("fewer than two constituents", 1, 8),
        ("fewer columns than in the header", 1, 9),
    ]


def test_ladec_with_other_separators_and_without_its_header():
    for separator in ";\t":
        lines = [line.replace(",", separator) for line in LADEC[:1]]
        row = separator.join(["1", "air", "craft", "aircraft", "1", "1", "yes", ""])
        assert read(*lines, row).entries[0].morphs == ("air", "craft")
    with refused(FileFormatError, "line 1"):
        read(*LADEC[1:3], format="ladec", name="x.csv")
    with refused(FileFormatError):
        read(LADEC[0])


# DagoBERT


def test_dagobert():
    sentence = "|||A .|||My ___ .|||B ."
    reference = read(
        f"AskReddit|||uncomfortableness|||comfortable{sentence}",
        f"AskReddit|||uncomfortableness|||comfortable{sentence} Again .",
        f"de|||anti-hero|||hero{sentence}",
        f"de|||walkable|||walk{sentence}",
        f"de|||happiness|||happy{sentence}",
        f"de|||happy|||happy{sentence}",
    )
    assert reference.format == "dagobert"
    derived = ("derivation",)
    long = ("un comfortable ness", "prefix free suffix", "uncomfortableness", None, derived)
    assert [(entry.line, *told(entry)) for entry in reference.entries] == [
        (1, *long),
        (2, *long),
        (3, "anti - hero", "prefix hyphen free", "anti-hero", "anti- hero", derived),
        (4, "walk able", "free suffix", "walkable", None, derived),
    ]
    assert len(reference.first_analyses()) == 3
    assert skipped(reference) == [("its base is no part of it, or all of it", 2, 5)]


# Morpho Challenge


INFLECTION, DERIVATION, COMPOUND = ("inflection",), ("derivation",), ("compound",)
MORPHO_CHALLENGE = [
    ("accompanied\tac:ac_p compani:company_N ed:+PAST", "ac compani ed", "prefix free suffix",
     "accompanied", "ac company ed", INFLECTION + DERIVATION),
    ("dog\tdog:dog_N", "dog", "free", "dog", None, ()),
    ("sheep\tsheep:sheep_N ~:+PL", "sheep", "free", "sheep", None, INFLECTION),
    ("footstools\tfoot:foot_N stool:stool_N s:+PL", "foot stool s", "free free suffix",
     "foot stools", None, INFLECTION + COMPOUND),
    ("baker's\tbak:bake_V er:er_s 's:+GEN", "bak er 's", "free suffix suffix",
     "baker's", "bake er 's", INFLECTION + DERIVATION),
    # no morpheme behind the colon: of no known kind, so the whole words are not known
    ("arbetsrum\tarbet:arbete_N s:~ rum:rum_N", "arbet s rum", "free none free",
     None, "arbete rum", COMPOUND),
    ("e-mail\te:e_N -:~ mail:mail_N", "e - mail", "free hyphen free",
     "e- mail", "e mail", COMPOUND),
    # colons in the word, with and without a backslash
    ("hyy:n\thyy\\::hyy n:+GEN", "hyy: n", "free suffix", "hyy:n", "hyy n", INFLECTION),
    ("hyy:n\thyy::hyy n:+GEN", "hyy: n", "free suffix", "hyy:n", "hyy n", INFLECTION),
    # Finnish derivation, and a base form without a label
    ("ajaja\taja:ajaa ja:+DV-JA", "aja ja", "free suffix", "ajaja", "ajaa ja", DERIVATION),
]  # fmt: skip


@pytest.mark.parametrize("case", MORPHO_CHALLENGE)
def test_morpho_challenge(case):
    line, *expected = case
    reference = read(f"dog\tdog:dog_N\n{line}")
    assert reference.format == "morpho-challenge"
    assert told(reference.entries[1]) == tuple(expected)


def test_morpho_challenge_alternatives_are_entries():
    reference = read(
        "ablatives\tablative:ablative_A s:+PL, ablat:ablate_V ive:ive_s s:+PL",
        "dogs\tdog:dog_N s:+PL, dog s:+3SG",
        "x",
        "a b\ta:a_N b:b_N",
        "sheep\t~:+PL",
        "Up\tu:u_N p:p_N",
        "a:b\ta:a_N :x b:b_N",
    )
    assert [(entry.line, entry.morphs) for entry in reference.entries] == [
        (1, ("ablative", "s")),
        (1, ("ablat", "ive", "s")),
        (6, ("U", "p")),
    ]
    assert skipped(reference) == [
        ("a morph without a colon", 2, 2),
        ("not two columns", 1, 3),
        ("word with a space", 1, 4),
        ("no morphs", 1, 5),
    ]


def test_morpho_challenge_in_windows_1252():
    text = "häuser\thäus:haus_N er:+PL\r\ndog\tdog:dog_N\r\n"
    for encoding in ("windows-1252", "utf-8"):
        for chosen in (None, "morpho-challenge"):
            reference = read_reference(text.encode(encoding), format=chosen)
            assert reference.format == "morpho-challenge"
            assert reference.entries[0].morphs == ("häus", "er")
    # neither other formats, nor other content, nor a named encoding
    for data, options in (
        (text.encode("windows-1252"), {"format": "plain"}),
        (text.encode("windows-1252"), {"encoding": "utf-8"}),
        ("häuser\thäus er".encode("windows-1252"), {}),
        ("häuser\thäus er".encode("windows-1252"), {"format": "morpho-challenge"}),
        (text.encode("windows-1252") + b"\x81", {}),  # 0x81 is no character of windows-1252
    ):
        with refused(FileFormatError):
            read_reference(data, **options)


def test_words_with_colons_do_not_make_a_file_morpho_challenge():
    assert read("a:b\ta: b", "c:d\tc: d", "ef\te f").format == "plain"
    assert read("ab\ta:x b:y", "abc\ta:x bc", format="plain").format == "plain"


# UniSegments


def unisegments(form, segments, *items, **more):
    """A line of UniSegments; items are like "0-2,5 root cat", with - for no type or morpheme."""
    segmentation = []
    for item in items:
        places, kind, morpheme = item.split()
        bounds = [part.split("-") for part in places.split(",")]
        span = [letter for part in bounds for letter in range(int(part[0]), int(part[-1]) + 1)]
        named = (("morpheme", morpheme), ("span", span), ("type", kind))
        segmentation.append({name: value for name, value in named if value != "-"})
    annotation = {"annot_name": "Test", "segmentation": segmentation, **more}
    dumped = json.dumps(annotation, ensure_ascii=False, sort_keys=True)
    return f"{form}\t{form}\tNOUN\t{segments}\t{dumped}"


# Segments, items; kinds, whole words, underlying morphemes.
UNISEGMENTS = [
    ("un + count + able", ("0-1 prefix un", "2-6 root count", "7-10 suffix able"),
     "prefix free suffix", "uncountable", None),
    ("Arbeit + s + zimmer", ("0-5 root Arbeit", "6 interfix s", "7-12 root Zimmer"),
     "free interfix free", "Arbeit s zimmer", "Arbeit s Zimmer"),
    # a stem may be a compound: no whole words
    ("дом + ами", ("0-2 stem STEM", "3-5 ending INS.PL"), "free suffix", None, "STEM INS.PL"),
    # letters of no morpheme, and one without its name
    ("cran + berry", ("4-8 root -",), "none free", None, None),
    # one morpheme in two pieces: around the root, and the root around an infix
    ("ge + mach + t", ("0-1,6 circumfix ge-t", "2-5 root mach"),
     "prefix free suffix", "gemacht", "ge-t mach"),
    ("hand + ge + mach + t", ("4-5,10 circumfix ge-t", "6-9 root mach", "0-3 root Hand"),
     "free prefix free suffix", "hand gemacht", "Hand ge-t mach"),
    ("b + um + ilib + ako", ("0,3-6 root bilib", "1-2 infix um", "7-9 root ako"),
     "free infix none free", "bumilib ako", "bilib um ako"),
    # a letter of two morphemes
    ("ab + c + d", ("0-2 root abc", "2,2,3 suffix cd"), "free suffix none", "abcd", "abc cd"),
    # two with the same letters, a circumfix in one piece, a type without a kind
    ("du", ("0-1 root de", "0-1 root le"), "free", "du", "de"),
    ("a + bc", ("0 circumfix a", "1-2 root bc"), "none free", None, None),
    ("a + bc", ("0 clitic a", "1-2 root bc"), "none free", None, None),
    ("a + o + b", ("0 root a", "1 connector o", "2 root b"), "free interfix free", "a o b", None),
    ("e + - + mail", ("0 root e", "2-5 root mail"), "free hyphen free", "e- mail", None),
    ("cat", (), None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("segments", "items", "kinds", "whole", "underlying"), UNISEGMENTS)
def test_unisegments(segments, items, kinds, whole, underlying):
    reference = read(unisegments(segments.replace(" + ", ""), segments, *items))
    (entry,) = reference.entries
    assert reference.format == "unisegments"
    assert told(entry) == (segments.replace(" + ", " "), kinds, whole, underlying, None)


def test_malformed_annotations_are_as_good_as_none():
    segmentation = '[7, {"span": 3}, {"span": ["0", 1.5]}, {"type": 5, "span": [2]}]'
    for about in ("{}", f'{{"segmentation": {segmentation}}}'):
        (entry,) = read(f"cat\tcat\t\tca + t\t{about}").entries
        assert told(entry) == ("ca t", None, None, None, None)


def test_unisegments_skips():
    good = unisegments("cats", "cat + s", "0-2 root cat", "3 suffix s")
    start = "cats\tcat\tNOUN\tcat + s\t"
    reference = read(
        good,
        start + '{"segmentation": [',
        start + "[]",
        start + '{"segmentation": {}}',
        start + '{"a": ' + "[" * 9_000 + "}",
        start + '{"a": ' + "9" * 5_000 + "}",
        "cats\tcat\tNOUN\tcat + z\t{}",
        "cats\tcat\tNOUN\tcats + \t{}",
        "Costa Rica\tx\tPROPN\tCosta Rica\t{}",
        "cats\tcat",
        "cats\tcat\tNOUN\t\t{}",
        format="unisegments",
    )
    assert [entry.word for entry in reference.entries] == ["cats"]
    assert reference.entries[0].kinds == (MorphemeKind.FREE, MorphemeKind.SUFFIX)
    assert skipped(reference) == [
        ("annotation that is not a JSON object", 4, 2),
        ("segments that do not concatenate to the form", 2, 7),
        ("segmentation in the annotation that is not a list", 1, 4),
        ("word with a space", 1, 9),
        ("fewer than five columns", 1, 10),
        ("no morphs", 1, 11),
    ]


def test_unisegments_layers_are_told_apart():
    def line(form, segments, layer):
        return unisegments(form, segments, annot_name=layer)

    lines = (
        line("undoing", "un + doing", "A"),
        line("undoing", "un + do + ing", "B"),
        line("undoing", "undo + ing", "A"),
        line("doing", "do + ing", "B"),
        "cat\tcat\tNOUN\tcat\t{}",
    )
    reference = read(*lines)
    assert [" ".join(entry.morphs) for entry in reference.entries] == [
        "un doing", "undo ing", "do ing", "cat"]  # fmt: skip
    assert skipped(reference) == [("of another layer", 1, 2)]
    assert reference.layers == (("A", 2), ("B", 2), ("", 1))
    reference = read(*lines, layer="B")
    assert [" ".join(entry.morphs) for entry in reference.entries] == ["un do ing", "do ing"]
    assert skipped(reference) == [("of another layer", 3, 1)]
    with refused(FileFormatError):
        read(*lines, layer="C")


def test_the_first_layer_with_types_of_a_word_counts():
    bare, typed = ("0-1 - un", "2-3 - do"), ("0-1 prefix un", "2-3 root do")
    reference = read(
        unisegments("undo", "un + do", *bare, annot_name="A"),
        unisegments("undo", "u + ndo", "0 prefix u", "1-3 root ndo", annot_name="B"),
        unisegments("undo", "un + do", *typed, annot_name="C"),
        unisegments("redo", "re + do", *bare, annot_name="A"),
        unisegments("redo", "red + o", annot_name="B"),
    )
    assert [(entry.line, entry.morphs) for entry in reference.entries] == [
        (2, ("u", "ndo")), (4, ("re", "do"))]  # fmt: skip
    assert skipped(reference) == [("of another layer", 3, 1)]


@pytest.mark.parametrize(
    ("name", "layer", "is_copy"),
    [
        ("UniSegments-1.0-deu-MorphyNet.useg", "x", True),
        ("gold.useg", "?TODO", True),
        ("gold.useg", "MorphyNet", True),
        ("UniSegments-1.0-deu-DerivBaseDE.useg", "DErivBase-2.0", False),
    ],
)
def test_known_faults_of_the_part_made_from_morphynet_are_named(name, layer, is_copy):
    line = unisegments("undo", "un + do", "0-1 prefix un", "2-3 root do", annot_name=layer)
    reference = read(line, name=name)
    note = reference.partial_note
    assert ("one letter too short" in note) == ("one affix a word" in note) == is_copy
    assert ("MorphyNet's own files" in join_references([reference, reference]).faults) == is_copy


# DeriNet


def derinet(lemma, *morphs):
    """A line of DeriNet; morphs are like "0-2 Prefix vy", with - for no type."""
    parts = []
    for morph in morphs:
        places, kind, text = morph.split()
        start, _, end = places.partition("-")
        named = f"End={end}&Morph={text}&Start={start}"
        parts.append(named if kind == "-" else f"{named}&Type={kind}")
    about = ("7.0", f"{lemma}#N", lemma, "NOUN", "Loanword=False", "|".join(parts))
    return "\t".join((*about, "7.1", "Type=Derivation", "", '{"techlemma": "x"}'))


# Lemma and morphs; morphs, kinds, whole words.
DERINET = [
    ("vybrat", ("0-2 Prefix vy", "2-4 Root br", "4-5 Suffix a", "5-6 Suffix t"),
     "vy br a t", "prefix free suffix suffix", "vybrat"),
    # a compound; letters without a morph, as where roots alone are marked
    ("dvojhlas", ("0-3 Root dvo", "3-4 Interfix j", "4-8 Root hlas"),
     "dvo j hlas", "free interfix free", "dvo j hlas"),
    ("Vybraný", ("2-4 Root br",), "Vy br aný", "none free none", None),
    # types that leave the kind open, and none
    ("kosti", ("0-4 Root kost", "4-5 Inflective i"), "kost i", "free none", None),
    ("kosti", ("0-4 - kost", "4-5 - i"), "kost i", None, None),
    ("kost", ("0-4 Root kost",), "kost", "free", "kost"),
]  # fmt: skip


@pytest.mark.parametrize(("lemma", "items", "morphs", "kinds", "whole"), DERINET)
def test_derinet(lemma, items, morphs, kinds, whole):
    reference = read(derinet(lemma, *items), "", derinet("dub"))
    assert reference.format == "derinet"
    (entry,) = reference.entries
    assert told(entry)[:3] == (morphs, kinds, whole)
    assert skipped(reference) == [("no segmentation", 1, 3)]


def test_derinet_skips():
    good = derinet("kosti", "0-4 Root kost", "4-5 Suffix i")
    reference = read(
        "# a comment",
        good,
        good.replace("Start=4", "Start=3"),
        good.replace("End=5", "End=99999999999"),
        good.replace("End=5&", ""),
        good.replace("End=5&", "End=5a&"),
        good.replace("End=5&", "&"),
        good.replace("kosti", "kost i"),
        good.partition("\t7.1")[0],
    )
    assert [entry.line for entry in reference.entries] == [2]
    assert skipped(reference) == [
        ("segmentation not well-formed", 3, 5),
        ("fewer than ten columns", 2, 1),
        ("morphs that overlap, or are outside the word", 2, 3),
        ("word with a space", 1, 8),
    ]
