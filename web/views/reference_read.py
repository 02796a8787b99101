"""Summary of an uploaded reference: its words, skipped lines, and kind of gold."""

import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import FORMATS
from web.state import Session
from web.text import plain

_READ = "reference that was read"


def confirm_reference(current: Session, place: str) -> None:
    """Rerun the page; ``place`` then confirms the reference just opened."""
    st.session_state[_READ] = place, current.study.benchmark.reference.checksum
    st.rerun()


def reference_read(current: Session, place: str) -> bool:
    """Confirm a reference opened here until the message is closed.

    Returns whether the message is shown.
    """
    reference = current.study.benchmark.reference
    if st.session_state.get(_READ) != (place, reference.checksum):
        return False
    with st.container(border=True, key="reference-read"):
        left, right = st.columns([9, 1], wrap=False, vertical_alignment="top")
        left.markdown(
            f"**:material/check_circle: {plain(shortened(reference.name, 60))} is open.**"
        )
        left.markdown("\n".join(f"- {plain(line)}" for line in reference_summary(reference)))
        right.button(
            "Close", key="close what was read", on_click=st.session_state.pop, args=(_READ, None)
        )
    return True


def reference_summary(reference: Reference) -> list[str]:
    """Describe a gold list: its contents, its kind, and what was skipped and why."""
    words = len({entry.word for entry in reference.entries})
    entries = counted(len(reference), "entry", "entries")
    read = f"Read: {counted(words, 'word')} in {entries}, as {FORMATS[reference.format]}"
    read += ", with counts of its own." if reference.has_counts else "."
    skipped = [
        f"{skip.count:,} × {skip.reason} (first on line {skip.first_line:,})"
        for skip in reference.skipped
    ]
    whole = sum(entry.whole_words is not None for entry in reference.entries)
    kind = "Gold: morphemic boundaries"
    if whole:
        kind += ", and whole-word boundaries" + (
            f" of {whole:,} entries" * (whole < len(reference))
        )
    else:
        kind += " only: it does not tell free morphemes from bound ones"
    if reference.partial:
        kind += f"; partial ({reference.partial})"
    aligned = sum(entry.underlying is not None for entry in reference.entries)
    lines = [read, f"{kind}."]
    if aligned:
        lines.append(f"Aligned: {counted(aligned, 'entry', 'entries')} of underlying morphemes.")
    lines.append(f"Skipped: {'; '.join(skipped)}." if skipped else "Skipped: nothing.")
    return lines
