"""Exported methods give in plain Python the same tokens as here."""

import json
from dataclasses import replace

from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import WORDS, well_formed
from tokenizers import pre_tokenizers

from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.export import code_for, standalone_method
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.flota import First
from morphgraph.segment.models import exported_model
from morphgraph.segment.segmenter import Segmenter
from morphgraph.standalone.piece_methods import load, plug_in
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary
from morphgraph_remedies.adaptbpe import AdaptBPE
from morphgraph_remedies.litetoken import LiteToken
from morphgraph_remedies.picky import Picky, train_picky
from morphgraph_remedies.scaffold import Scaffold, train_scaffold
from morphgraph_remedies.vocabulary_methods import Least, Suffix

TEXTS = ["", "abc", "  ab, ca-b c'a  bb", "äb cà ababab", "cab" * 9]


@st.composite
def edited(draw: st.DrawFn) -> BpeTokeniser:
    """With merges of pairs; a type may be knocked out, so that there are longer ones."""
    merges = draw(well_formed(widest=2))
    types = dict.fromkeys(["a", "b", "c", *("".join(parts) for parts in merges)])
    tokeniser = tokeniser_of_types("t", types, merges)
    removable = made_by_merges(tokeniser)
    if removable and draw(st.booleans()):
        tokeniser.graph.knockout([draw(st.sampled_from(removable))])
    return tokeniser


def made_by_merges(tokeniser: BpeTokeniser) -> list[str]:
    graph = tokeniser.graph
    return [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]


def check(segmenter: Segmenter, texts: list[str]) -> None:
    made = exported_model(segmenter)
    document = json.loads(json.dumps(made.document))
    library, method = load(document), standalone_method(replace(made, document=document))
    plug_in(library, method)
    found = [library.encode(text, add_special_tokens=False).ids for text in texts]
    assert found == made.ids(texts, True)


@examples(200)
@given(tokeniser=edited(), texts=st.lists(WORDS, max_size=5), data=st.data())
def test_the_same_tokens(tokeniser: BpeTokeniser, texts: list[str], data: st.DataObject) -> None:
    if not tokeniser.graph.has_tuples:
        counts = WordCounts(["abcab", "cab", *texts], [2, 3, *[1] * len(texts)])
        check(AdaptBPE.by_counts(tokeniser, counts, merges=3), [*TEXTS, *texts])
    some = [text for text in made_by_merges(tokeniser) if data.draw(st.booleans())]
    lite = LiteToken(tokeniser, some)
    check(lite, [*TEXTS, *texts])
    assert len(exported_model(lite).document["model"]["vocab"]) == lite.vocabulary_size


@examples(200)
@given(
    words=st.lists(st.text("abc", min_size=1, max_size=8), min_size=3, max_size=12),
    threshold=st.sampled_from([0.3, 0.6, 0.9, 1.0]),
    texts=st.lists(WORDS, max_size=5),
)
def test_picky_and_scaffold(words: list[str], threshold: float, texts: list[str]) -> None:
    counts = {word: 1 + n % 4 for n, word in enumerate(words)}
    picky = train_picky(counts, vocab_size=14, threshold=threshold)
    scaffold = train_scaffold(counts, vocab_size=9)
    made = [tokeniser_of_types("t", each.types, each.merges) for each in (picky, scaffold)]
    for segmenter in (
        Picky.of_training(made[0], picky),
        Scaffold(made[1], scaffold.scaffolds),
    ):
        check(segmenter, [*TEXTS, *texts, *words])
        assert (
            len(exported_model(segmenter).document["model"]["vocab"]) == segmenter.vocabulary_size
        )


@examples(200)
@given(
    marker=st.sampled_from(["##", "Ġ", "▁", ""]),
    types=st.lists(st.text("abc-,'1_", min_size=1, max_size=4), min_size=1, max_size=12),
    texts=st.lists(WORDS, max_size=5),
)
def test_from_the_right_and_by_number(marker: Marker, types: list[str], texts: list[str]) -> None:
    marked = [f"{marker}{text}" for text in types[::2]]
    cut = pre_tokenizers.BertPreTokenizer()
    known = tuple(dict.fromkeys([*marked, *types[1::2], "[UNK]"]))
    vocabulary = SubwordVocabulary(known, marker, Preprocessor(pre_tokenizer=cut), unknown="[UNK]")
    for kind in (Suffix, Least):
        check(kind(vocabulary), [*TEXTS, *texts])
        check(First(kind(vocabulary), 1), [*TEXTS, *texts])


def test_the_files_of_an_export_stand_alone() -> None:
    types = ["a", "b", "c", "ab", "abc"]
    lite = LiteToken(tokeniser_of_types("t", types, ["ab", ("ab", "c")]), ["abc"])
    code = {name: text.decode() for name, text in code_for(exported_model(lite)).items()}
    assert "from .merges import Merged, Merging" in code["remerging.py"]
    assert "from .remerging import Remerging" in code["methods.py"]
    assert not any("from morphgraph" in text for text in code.values())
