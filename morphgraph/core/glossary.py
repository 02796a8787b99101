"""The terms of the field, each in a sentence with an example: docs/glossary.md, the app's helps."""

from typing import NamedTuple


class Term(NamedTuple):
    """What a term means, and an example of it."""

    meaning: str
    example: str


GLOSSARY = {
    "type": Term(
        "An item of the vocabulary, with an id.", "`able` is one, whether or not a text has it."
    ),
    "token": Term(
        "One occurrence of a type in a segmented text.", "*table, able* may have `able` twice."
    ),
    "atom": Term(
        "A type that no merge makes: a character, or a byte.", "`a`, or `Ġ` for the space."
    ),
    "merge": Term(
        "A rule learned in training that joins neighbouring tokens into one.",
        "`ab + le → able`, at rank 352.",
    ),
    "tuple merge": Term(
        "A merge of three or more parts, such as a knockout leaves.", "`un + d + o → undo`."
    ),
    "rank": Term(
        "The place of a merge in the list; the lowest goes first.", "Rank 17 wins over rank 352."
    ),
    "merge graph": Term(
        "All types and merges, each merge between its parts and what it makes.",
        "`ab` and `le` lead to a merge, which leads to `able`.",
    ),
    "morph": Term("A smallest part of a word that has a meaning.", "*un, desir, able*."),
    "gold": Term(
        "Words with their morphs, taken as correct.", "`undesirable⇥un desir able`, in a file."
    ),
    "silver": Term(
        "Words segmented by a program, where there is no gold.",
        "Morfessor makes it from word counts.",
    ),
    "gold boundary": Term(
        "A gap between letters that the gold keeps open.", "Between *un* and *desir*."
    ),
    "split": Term("A gap that the tokeniser keeps open.", "`und | es` splits *undes*."),
    "join": Term(
        "A gap in the reference's words that a merge closed.",
        "`ab + le` closes that of *b* and *l*.",
    ),
    "wrong join": Term("A join on a gold boundary.", "`un + d` in *undesirable*."),
    "blame": Term(
        "The share of a merge's joins that are wrong.", "3 of 4 joins wrong is a blame of 75 %."
    ),
    "precision": Term(
        "The share of splits that are gold boundaries.", "Two of three splits right: 67 %."
    ),
    "recall": Term(
        "The share of gold boundaries that are split.", "One of two boundaries found: 50 %."
    ),
    "F1": Term(
        "The harmonic mean of precision and recall, over all words.", "67 % and 50 % give 57 %."
    ),
    "family": Term(
        "Words that share a stem, so that learning one tells about the others.",
        "*care, careful, uncaring*.",
    ),
    "kept aside": Term(
        "Words not learned from, in whole families, to be scored on.",
        "A fifth of the gold, unless you ask for another share.",
    ),
    "knockout": Term(
        "The removal of a type; merges that used it use its parts.",
        "Without `und`, `und + o` is `un + d + o`.",
    ),
    "cascade": Term(
        "A knockout that also removes every type made from this one.", "With `und` goes `undo`."
    ),
    "annealing": Term(
        "Adding merges that hardly ever cross a gold boundary.",
        "`able` if *abl* and *e* are one morph.",
    ),
    "repair": Term(
        "New parts for a tuple merge that can no longer apply.", "`a + b + c` becomes `ab + c`."
    ),
    "reification": Term(
        "Making a pair inside tuple merges a separate merge.", "From `x + a + y`, `a + y`."
    ),
    "portable": Term(
        "With pair merges alone, so that every library reads it.", "`un + d + o` becomes `un + do`."
    ),
    "vocabulary": Term("All types, written V; |V| is how many there are.", "8,000 in the demos."),
    "baseline": Term("The method that others are compared with.", "BPE as it was loaded."),
}
"""Terms in an order in which they can be read."""


def glossed(term: str) -> str:
    """Return a term with what it means.

    >>> glossed("blame")
    "Blame: The share of a merge's joins that are wrong."
    """
    return f"{term.capitalize()}: {GLOSSARY[term].meaning}"
