"""From morphemes to surface morphs by their normal form, hyphens, and whole words."""

from unicodedata import category, normalize

from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from morphgraph.reference.align import (
    Alignment,
    _align_batch,
    align_morphemes,
    normalise,
    normalise_with_cuts,
    separate_hyphens,
    whole_words,
)


def align(word, *morphemes):
    return align_morphemes([word], [morphemes])[0]


def test_hand_derived():
    assert align("subsidised", "subside", "y", "ise", "ed").morphs == ("subsid", "is", "ed")
    assert align("élégance", "elegant", "nce") == Alignment(("éléga", "nce"), (0, 1))
    assert align("Häuser", "Haus", "er") == Alignment(("Häus", "er"), (0, 1))
    assert align("désengageraient", "désengager", "eraient").morphs == ("désengag", "eraient")
    # Straßen: ß is not ss, so all of "Strass" after "Stra" is unmatched and stays on its left
    assert align("Straßen", "Strasse", "n").morphs == ("Straße", "n")
    assert align("office", "oﬀ", "ice").morphs == ("off", "ice")
    assert align("oﬃce", "off", "ice").morphs == ("oﬃ", "ce")  # ﬃ cannot be divided
    assert align("biztos", "bízik", "t") == Alignment(("biz", "tos"), (0, 1))


def test_characters_without_a_morpheme():
    assert align("ország", "úr", "ság") == Alignment(("or", "szág"), (-1, 1))
    assert align("went", "go", "ed").sources == (-1, 1)
    assert align("xyz", "ab") == Alignment(("xyz",), (-1,))


def test_dropped_and_empty_morphemes_vanish():
    assert align("ab", "a", "", "b") == Alignment(("a", "b"), (0, 2))
    assert align("abs", "a", "", "bs", "x") == Alignment(("a", "bs"), (0, 2))


letters = st.sampled_from("aabéßﬁ\u0301A")
texts = st.text(letters, min_size=1, max_size=8)


@examples(400)
@given(st.lists(st.tuples(texts, st.lists(st.text(letters, max_size=4), max_size=4)), max_size=4))
def test_morphs_are_the_word_in_order(batch):
    aligned = align_morphemes([w for w, _ in batch], [m for _, m in batch])
    for (word, morphemes), (morphs, sources) in zip(batch, aligned, strict=True):
        assert "".join(morphs) == word
        assert all(morphs)
        assert len(sources) == len(morphs)
        matched = [s for s in sources if s >= 0]
        assert matched == sorted(set(matched))
        assert all(s >= 0 for s in sources[1:])
        assert all(s < len(morphemes) for s in sources)


@examples(300)
@given(st.lists(st.text(st.sampled_from("aabéñßC"), max_size=4), min_size=1, max_size=5))
def test_the_short_cut_equals_the_alignment(parts):
    word = "".join(parts)
    if word:
        assert align_morphemes([word], [parts]) == _align_batch([word], [parts])


@examples(200)
@given(st.lists(st.text(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=4))
def test_case_and_accents_do_not_matter(parts):
    plain = align_morphemes(["x".join(parts)], [parts])[0]
    loud = align_morphemes(["X".join(parts).upper()], [[p.replace("a", "á") for p in parts]])[0]
    assert loud.sources == plain.sources
    assert [normalise(m) for m in loud.morphs] == list(plain.morphs)


def test_hyphens_between_morphs():
    assert separate_hyphens(align("hand-hole", "hand", "hole")).morphs == ("hand", "-", "hole")
    assert separate_hyphens(Alignment(("a", "-b"), (0, 1))) == Alignment(
        ("a", "-", "b"), (0, -1, 1)
    )
    assert separate_hyphens(Alignment(("co", "-", "op"), (0, 1, 2))).sources == (0, 1, 2)
    # at the edges of the word, and inside a morph, a hyphen stays where it is
    assert separate_hyphens(Alignment(("-ig",), (0,))).morphs == ("-ig",)
    assert separate_hyphens(Alignment(("a-b", "c-"), (0, 1))).morphs == ("a-b", "c-")


def test_whole_words():
    assert whole_words(Alignment(("a", "b", "c"), (0, 1, 2)), (0, 1, 1)) == ("a", "bc")
    # what was skipped at the start is glued to the first morpheme that matched
    assert whole_words(Alignment(("x", "b", "c"), (-1, 1, 2)), (0, 1, 2)) == ("xb", "c")
    # a dropped morpheme does not join its neighbours: it kept its own number
    assert whole_words(Alignment(("a", "c"), (0, 2)), (0, 1, 2)) == ("a", "c")
    assert whole_words(Alignment(("un", "-", "b", "c"), (0, -1, 1, 2)), (0, 0, 1)) == ("un-b", "c")
    assert whole_words(Alignment(("xyz",), (-1,)), (0, 1)) == ("xyz",)


# The normal form of words, and the way back to the surface


any_letters = st.one_of(
    st.sampled_from("aé\u0301\u0300ßﬁﬃİΣσΑώ가각\u1100\u1161\u11a8ㄱㅏﾊﾞ´½ñ\u00adĲЙй"),
    st.characters(exclude_categories=["Cs"]),
)


def whole(text):
    bare = "".join(c for c in normalize("NFD", text) if not category(c).startswith("M"))
    return normalize("NFKC", bare).lower()


@examples(600)
@given(st.text(any_letters, max_size=8))
@example("ΟΔΟΣ")
@example("\u1100\u1161\u11a8")
@example("ㄱㅏ")
def test_equals_the_definition_on_the_whole_string(text):
    assert normalise(text) == whole(text)
    assert normalise_with_cuts(text)[0] == normalise(text)


@examples(600)
@given(st.text(any_letters, min_size=1, max_size=8))
def test_cuts_ascend_over_the_whole_surface(text):
    normal, cuts = normalise_with_cuts(text)
    assert len(cuts) == len(normal) + 1
    assert cuts[-1] == len(text) and (not normal or cuts[0] == 0)
    assert list(cuts) == sorted(cuts)


@examples(400)
@given(st.text(st.sampled_from("aéßﬁＡñ\u0301"), min_size=1, max_size=8))
def test_a_cut_between_characters_divides_the_normal_form_there(text):
    normal, cuts = normalise_with_cuts(text)
    for at, cut in enumerate(cuts):
        inside = at > 0 and cuts[at - 1] == cut
        if not inside and normalise(text[:cut]) != normal[:at]:
            # only behind a ligature, whose letters cannot be divided
            assert len(normalise(text[cut - 1])) > 1 or category(text[cut - 1])[0] == "M"


def test_examples():
    assert normalise("ÉLÉGANCE") == "elegance"
    assert list(normalise_with_cuts("ne\u0301e")[1]) == [0, 1, 3, 4]  # the accent stays left
    assert list(normalise_with_cuts("oﬃce")[1]) == [0, 1, 2, 2, 2, 3, 4]
    assert normalise("Straße") == "straße"
    assert normalise("ΟΔΟΣ") == "οδος"
