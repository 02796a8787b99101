"""What to know about the open reference: lines that were skipped, few words, another language."""

from collections.abc import Sequence

import streamlit as st

from morphgraph.core.demos import DEMOS
from morphgraph.core.text import counted, shortened
from morphgraph.reference.language import clash, language_of
from web.session import Session
from web.text import plain

_FEW = 10
"""A reference with fewer words than this is likely to have been read wrongly."""
_REASONS = 3
"""So many reasons for skipped lines stand in a warning."""


def skipped_lines(current: Session) -> None:
    """How many lines of the reference were skipped, by reason."""
    skipped = current.study.benchmark.reference.skipped
    if not skipped:
        return
    total = sum(skip.count for skip in skipped)
    with st.expander(
        counted(total, "line of the reference was", "lines of the reference were") + " skipped"
    ):
        st.dataframe(
            {
                "reason": [skip.reason for skip in skipped],
                "lines": [skip.count for skip in skipped],
                "first line": [skip.first_line for skip in skipped],
            },
            hide_index=True,
        )


def doubtful_reference(current: Session) -> None:
    """Warn of a reference that has next to no words, or of which most lines were skipped."""
    reference = current.study.benchmark.reference
    # A line may hold several analyses; two sheets of a workbook have the same line numbers.
    used = len({(entry.line, entry.word) for entry in reference.entries})
    total = used + sum(skip.count for skip in reference.skipped)
    if total > 2 * used:
        why = "; ".join(f"{skip.count:,} × {skip.reason}" for skip in reference.skipped[:_REASONS])
        more = "; …" if len(reference.skipped) > _REASONS else ""
        message = f"Only {used:,} of {counted(total, 'line')} could be used: {why}{more}."
    elif len(reference) < _FEW:
        message = f"The reference has only {counted(len(reference), 'word')}."
    else:
        return
    st.warning(
        f"{plain(message)} If that is not what the file holds, choose its format and encoding.",
        icon=":material/warning:",
    )


_MARKERS = "Ġ▁␣ "
_LANGUAGES_OF_WORDFREQ = "wordfreq:"


def reference_in_another_language(current: Session) -> None:
    """Warn where the reference is of another language than the tokeniser, or its frequencies."""
    study = current.study
    reference = study.benchmark.reference
    words = [entry.word for entry in reference.entries]
    name = plain(shortened(reference.name, 60))
    found: tuple[str, str] = current.once(
        ("language of the types",), lambda: clash(words, _whole_words(current))
    )
    _warn(found, f"The words of {name}", "the types of the tokeniser")
    source = study.benchmark.frequency_source
    code = source.removeprefix(_LANGUAGES_OF_WORDFREQ)
    if code == source:
        return
    spoken: str = current.once(("language of the reference",), lambda: language_of(words))
    if spoken and spoken != code:
        st.warning(
            f"The words of {name} are {_named(spoken)}, but the word frequencies are those of "
            f"{plain(source)}. Choose frequencies of the same language.",
            icon=":material/translate:",
        )


def words_in_another_language(current: Session, words: Sequence[str]) -> None:
    """Warn where words to be compared are of another language than the gold."""
    reference = current.study.benchmark.reference
    gold = [entry.word for entry in reference.entries]
    found: tuple[str, str] = current.once(("language of words", *words), lambda: clash(words, gold))
    _warn(found, "These words", f"the gold of {plain(shortened(reference.name, 60))}")


def _warn(found: tuple[str, str], words: str, others: str) -> None:
    one, two = found
    if not two:
        return
    what = f"are {_named(one)}" if one else f"are hardly ever {_named(two)}"
    st.warning(
        f"{words} {what}, but {others} {'is' if others.startswith('the gold') else 'are'} "
        f"{_named(two)}: scores then say little. Open a tokeniser and a reference of one language.",
        icon=":material/translate:",
    )


def _whole_words(current: Session) -> list[str]:
    """The types that begin a word, without the marker; all of them where none is marked."""
    names = current.study.tokeniser.readable_types
    marked = [name for name in names if name[:1] in _MARKERS and len(name) > 1]
    return [name.strip(_MARKERS).removesuffix("</w>") for name in marked or names]


def _named(code: str) -> str:
    return DEMOS.get(code, code)
