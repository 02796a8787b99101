"""What each format tells beside the morphs: kinds, processes, underlying morphemes."""

import pytest

from morphgraph.reference.readers import read_reference


def one(line, **options):
    (entry,) = read_reference(line.encode(), **options).entries
    return entry


def kinds(entry):
    return entry.kinds and " ".join(kind.value if kind else "none" for kind in entry.kinds)


@pytest.mark.parametrize(
    ("line", "told", "processes", "underlying"),
    [
        (
            "methodically\t(((method)[N],(ical)[A|N.])[A],(ly)[B|A.])[B]",
            "free suffix suffix",
            ("derivation",),
            None,
        ),
        (
            "keizerskroon\t((keizer)[N],(s)[N|N.N],(kroon)[N])[N]",
            "free interfix free",
            ("compound",),
            None,
        ),
        (
            "kelderverdieping\t((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]",
            "free prefix free suffix",
            ("derivation", "compound"),
            None,
        ),
        ("kroon\t(kroon)[N]", "free", (), None),
        ("lopen\t((loop)[N])[V]", "free", (), ("loop",)),
        # an interfix directly before a suffix is one; so is one inside a node of its own
        ("abcd\t((ab)[N],(c)[A|N.x],(d)[A|Nx.])[A]", "free suffix suffix", ("derivation",), None),
        ("abcd\t((ab)[N],((c)[N])[A|N.x],(d)[N])[A]", "free interfix free", ("compound",), None),
        # the interfix is dropped by the alignment, and its kind with it
        (
            "kelderkroon\t((kelder)[N],(s)[N|N.N],(kroon)[N])[N]",
            "free free",
            ("compound",),
            ("kelder", "s", "kroon"),
        ),
        (
            "hand-hole\t((hand)[N],(hole)[N])[N]",
            "free hyphen free",
            ("compound",),
            ("hand", "hole"),
        ),
        ("xyyes\t((no)[N],(yes)[N])[N]", "none free", ("compound",), ("no", "yes")),
    ],
)
def test_celex(line, told, processes, underlying):
    entry = one(line)
    assert (kinds(entry), entry.processes, entry.underlying) == (told, processes, underlying)


@pytest.mark.parametrize(
    ("line", "told", "underlying"),
    [
        ("waffnen\tentwaffnen\tV\tV\tent\tprefix", "prefix free", None),
        ("Pose\tposieren\tN\tV\tier\tsuffix", "free suffix none", ("Pose", "ier")),
        ("légaliser\tillégaliser\tV\tV\tin\tprefix", "prefix free", ("in", "légaliser")),
        ("tenger\tÍr-tenger\tN\tN\tír#X\tprefix", "prefix hyphen free", ("ír", "tenger")),
    ],
)
def test_morphynet_derivation(line, told, underlying):
    entry = one(line)
    assert (kinds(entry), entry.underlying) == (told, underlying)
    assert entry.processes == ("derivation",)


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
def test_sigmorphon(flags, processes):
    entry = one("officiates\toffice @@ate @@s" + flags)
    assert entry.processes == processes
    # 6 + 3 + 1 letters, "offici" skips its i
    assert entry.morphs == ("offici", "ate", "s") and entry.underlying == ("office", "ate", "s")
    assert entry.kinds is None


def test_inflections():
    entry = one("désengager\tdésengageraient\tV|COND;3;PL\tdésengager|eraient")
    assert entry.processes == ("inflection",) and entry.kinds is None
    assert entry.underlying == ("désengager", "eraient")
    assert one("eat\teating\tV|V.PTCP;PRS\teat|ing").underlying is None


@pytest.mark.parametrize(
    ("line", "told", "underlying"),
    [
        ("unbreakable\tun- break -able", "prefix free suffix", None),
        ("keizerskroon\tkeizer -s- kroon", "free interfix free", None),
        ("un-American\tun- American", "prefix free", None),
        ("co-op\tco - op", "free hyphen free", None),
        ("hand-hole\thand hole", "free hyphen free", ("hand", "hole")),
        ("subsidised\tsubside -y -ise -ed", "free suffix suffix", ("subside", "y", "ise", "ed")),
    ],
)
def test_plain_marks(line, told, underlying):
    entry = read_reference(f"{line}\nmarker\tmark -er".encode()).entries[0]
    assert (kinds(entry), entry.underlying, entry.processes) == (told, underlying, None)


def test_plain_without_marks_tells_no_kinds():
    assert one("unbreakable\tun break able").kinds is None
    assert one("co-op\tco- op").kinds is None


def test_plain_with_a_column_of_kinds():
    reference = read_reference(
        b"word\tkinds\tmorphs\n"
        b"unfits\tprefix Free none\tun fit s\n"
        b"undo\t\tun do\n"
        b"subsidised\tfree suffix suffix suffix\tsubside y ise ed\n"
        b"redo\tprefix\tre do\n"
        b"refit\tprefix root\tre fit\n"
    )
    assert [kinds(entry) for entry in reference.entries] == [
        "prefix free none",
        None,
        "free suffix suffix",
    ]
    assert not reference.has_whole_words
    assert [(s.reason, s.first_line) for s in reference.skipped] == [
        ("not one kind for each morph", 5),
        ("a kind that is not one of free, prefix, suffix, interfix, hyphen, none", 6),
    ]


def test_plain_the_column_of_kinds_beats_marks():
    reference = read_reference(b"word\tmorphs\tkinds\nundo\tun- do\tfree free\nredo\tre- do\t")
    assert [kinds(entry) for entry in reference.entries] == ["free free", None]
    # the whole words still follow from the marks
    assert [entry.whole_words for entry in reference.entries] == [("undo",), ("redo",)]
