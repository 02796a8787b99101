"""Damaged references: entries that are sound and can be scored, or our own error."""

import io
from functools import cache
from itertools import product

import numpy as np
import pytest
from effort import share_of
from fuzz.cases import run_cases
from fuzz.mutations import mutated
from plain_writing import write_plain

from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.reference.readers import READERS, read_reference
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.flota_scores import FLOTA_METHODS, flota_score
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.tokeniser.merging import segment

pytestmark = pytest.mark.fuzz

CASES = share_of(5_000)
"""Damaged files, all formats together."""

PLAIN = "unbreakable\tun break able\t12\ndoing\tdo ing\t3\nnaïve\tnaïve\ncafés\tcafé s\t1\n"
MARKED = "word,segmentation,count\nunbreakable,un|break|able,12\nhouseboat,house|boat,3\n"
LISTS = "word,morphs,frequency\nundo,\"('un', 'do')\",3\nredo,\"['re' 'do']\",\n"
ONE_COLUMN = "un|break|able\nhouse|boat\nco|-|op\n"
CELEX = r"""methodically	(((method)[N],(ical)[A|N.])[A],(ly)[B|A.])[B]
keizerskroon	((keizer)[N],(s)[N|N.N],(kroon)[N])[N]
kelderverdieping	((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]
chauffeur	(chauffeur)[N][F]
1\abandonment\44\N\C\1\N\N\N\((abandon)[V],(ment)[N|V.])[N]
"""
DERIVATION = "waffnen\tentwaffnen\tV\tV\tent\tprefix\nlesen\tlesbar\tV\tADJ\tbar\tsuffix\n"
INFLECTION = (
    "нэр\tнэрийн\tN|GEN;SG\tнэр|ийн\ndésengager\tdésengageraient\tV|COND\tdésengager|eraient\n"
)
UNIMORPH = "eat\teating\tV|V.PTCP;PRS\teat|ing\ngo\twent\tV|PST\t-\nwalk\twalks\tV|PRS\twalk|s\n"
UNIMORPH_DERIVATION = "axial\tabaxial\tADJ:ADJ\tab-\nsubside\tsubsidisation\tV:N\t-ation\n"
MORPHSCORE = ",full_word,pt1,rest\n0,walk,walk,\n1,cherished,cherish,ed\n2,co-ops,co-op,s\n"
MORPHSCORE_2 = (
    "wordform,lemma,stem,preceding_part,following_part,word_freq_norm,data_split,unique\n"
    'undoing,do,do,un,ing,2.5e-06,train,unique,"He is ""undoing"" it"\n'
    "cats,cat,cat,,s,0.0001,test,unique,x\nCats,cat,cat,,s,0.0001,test,repeat,x\n"
)
SIGMORPHON = (
    "enthrallments\ten @@thrall @@ment @@s\t110\nsubsided\tsubside @@ed\t100\n"
    "houseboat\thouse @@boat\t001\n"
)

UNISEGMENTS = (
    "keizers\tkeizer\tNOUN\tkeizer + s\t"
    '{"annot_name": "x", "segmentation": [{"morpheme": "keizer", "span": [0, 1, 2, 3, 4, 5], '
    '"type": "root"}, {"morpheme": "s", "span": [6], "type": "suffix"}]}\n'
    "unwell\twell\tADJ\tun + well\t"
    '{"segmentation": [{"span": [0, 1], "type": "prefix"}, {"span": [2, 3, 4, 5], "type": "stem"}]}'
    "\n"
)
DERINET = (
    "7.3\tvybrat#V\tvybrat\tVERB\tLoanword=False\tEnd=2&Morph=vy&Start=0&Type=Prefix|"
    "End=4&Morph=br&Start=2&Type=Root\t7.1\tType=Derivation\t\t{}\n\n"
    "8.0\tkost#N\tkost\tNOUN\t\tEnd=4&Morph=kost&Start=0&Type=Root\t\t\t\t{}\n"
)
MORPHO_CHALLENGE = (
    "accompanied\tac:ac_p compani:company_N ed:+PAST\nsheep\tsheep:sheep_N, sheep:sheep_N ~:+PL\n"
    "hyy:n\thyy\\::hyy n:+GEN\n"
)
MORFESSOR = "# Morfessor 2.0.6\n12 un + break + able\n5 house + s\n1 word\n"
DAGOBERT = "a|||unkindness|||kind|||A .|||His ___ .|||B .\na|||Superman|||man||||||___||||||\n"
LADEC = (
    'id,"c1","c2","stim","nparses","correctParse"\n1,"air","craft","aircraft",1,"yes"\n'
    '2,"house","boat","houseboat",1,"yes"\n3,"ant","hill","anthill",2,"no"\n'
)


def morpholex():
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, word, segmentation, count in (
        ("1-1-1", "alliterate", "{<al<(litera)>ate>}", 3),
        ("0-2-1", "surefootedness", "{(sure)}{(foot)>ed>}>ness>", 4),
        ("0-1-1", "goodness", "{(good)}>ness>", 2),
    ):
        sheet = book.create_sheet(title)
        sheet.append(["Word", "POS", "Nmorph", "MorphoLexSegm"])
        sheet.append([word, "NN", count, segmentation])
        sheet.append(["true", "JJ", 1, "{(true)}"])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


SEEDS_BY_FORMAT = {
    "plain": (PLAIN.encode, MARKED.encode, ONE_COLUMN.encode, LISTS.encode),
    "celex": (CELEX.encode,),
    "morphynet-derivation": (DERIVATION.encode,),
    "morphynet-inflection": (INFLECTION.encode,),
    "unimorph": (UNIMORPH.encode,),
    "unimorph-derivation": (UNIMORPH_DERIVATION.encode,),
    "morphscore": (MORPHSCORE.encode,),
    "morphscore2": (MORPHSCORE_2.encode,),
    "sigmorphon2022": (SIGMORPHON.encode,),
    "unisegments": (UNISEGMENTS.encode,),
    "derinet": (DERINET.encode,),
    "morpho-challenge": (MORPHO_CHALLENGE.encode,),
    "morfessor": (MORFESSOR.encode,),
    "dagobert": (DAGOBERT.encode,),
    "ladec": (LADEC.encode,),
    "morpholex": (morpholex,),
}


@cache
def _scored_with():
    tokeniser = load_tokeniser("demo:en")
    return tokeniser, vocabulary_of(tokeniser)


def check_reference(reference, flota):
    """Every entry is sound, and scores can be computed."""
    assert reference.entries
    assert reference.format in READERS
    for entry in reference.entries:
        assert entry.word
        assert "".join(entry.morphs) == entry.word
        assert all(entry.morphs)
        if entry.whole_words is not None:
            assert "".join(entry.whole_words) == entry.word
        if entry.kinds is not None:
            assert len(entry.kinds) == len(entry.morphs)
        if entry.count is not None:
            assert entry.count >= 0 and np.isfinite(entry.count)
    tokeniser, vocabulary = _scored_with()
    benchmark = Benchmark.build(tokeniser, reference)
    for score in benchmark.scores(segment(tokeniser.graph, benchmark.words)):
        assert not 0 <= score.relevant < score.true_positives
        for value in (score.precision, score.recall, score.f1):
            assert np.isnan(value) or 0 <= value <= 1
    benchmark.signature(tokeniser)
    write_plain(reference)
    if flota:
        given = vocabulary, reference, standard_segmenter(tokeniser)
        for method, k in product(FLOTA_METHODS, (2, None)):
            assert not flota_score(method, k, *given).coverage > 1


def reader(format, **settings):
    """Read bytes as a format, or as what they look like, and check what comes out."""
    calls = iter(range(10**9))

    def read(data):
        reference = read_reference(data, name="gold.tsv", format=format, **settings)
        check_reference(reference, flota=next(calls) % 10 == 0)

    return read


SEEDS = {}
for _format, _makers in SEEDS_BY_FORMAT.items():
    for _number, _make in enumerate(_makers):
        SEEDS[f"{_format} {_number}, as it looks"] = _make, reader(None)
        SEEDS[f"{_format} {_number}, as told"] = _make, reader(_format)
SEEDS["celex with foreign words"] = CELEX.encode, reader("celex", include_foreign=True)
SEEDS["plain in another encoding"] = PLAIN.encode, reader("plain", encoding="windows-1252")
SEEDS["plain read as SIGMORPHON"] = PLAIN.encode, reader("sigmorphon2022")
EACH = -(-CASES // len(SEEDS))


@cache
def seed_of(name):
    return SEEDS[name][0]()


@cache
def donors():
    return tuple(make() for makers in SEEDS_BY_FORMAT.values() for make in makers)


@pytest.mark.timeout(120, method="thread")  # ends what hangs in a kernel, too
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_give_entries_or_our_error(name):
    data, read = seed_of(name), SEEDS[name][1]
    if name != "plain read as SIGMORPHON":
        read(data)
    outcome = run_cases(name, lambda seed: read(mutated(seed, data, donors())), EACH)
    # Else the damage would be too much, or too little, to try anything.
    assert outcome.read > EACH // 20, outcome
    assert outcome.refused > EACH // 50, outcome
