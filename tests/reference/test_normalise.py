"""The normal form of words, and the way back to the surface."""

from unicodedata import category, normalize

from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st

from morphgraph.reference.align import normalise, normalise_with_cuts

letters = st.one_of(
    st.sampled_from("aé\u0301\u0300ßﬁﬃİΣσΑώ가각\u1100\u1161\u11a8ㄱㅏﾊﾞ´½ñ\u00adĲЙй"),
    st.characters(exclude_categories=["Cs"]),
)


def whole(text):
    bare = "".join(c for c in normalize("NFD", text) if not category(c).startswith("M"))
    return normalize("NFKC", bare).lower()


@examples(600)
@given(st.text(letters, max_size=8))
@example("ΟΔΟΣ")
@example("\u1100\u1161\u11a8")
@example("ㄱㅏ")
def test_equals_the_definition_on_the_whole_string(text):
    assert normalise(text) == whole(text)
    assert normalise_with_cuts(text)[0] == normalise(text)


@examples(600)
@given(st.text(letters, min_size=1, max_size=8))
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
