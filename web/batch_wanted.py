"""What the text in the editor comes to, with the languages that are chosen beside it.

Callbacks look here too: they know what a browser sent last, which no run may have drawn yet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from morphgraph.batch.shipped import shipped_folder
from web.batch_checking import Checked, check_text, same_languages
from web.batch_state import OWN


def checked_as_wanted(source: str, text: str) -> tuple[Checked, list[str] | None]:
    """What a text comes to in the languages that are chosen, and these; None for all.

    What is missing for one language must not forbid to run the others.
    """
    first = checked_text(source, text, None)
    everything = list(first.languages)
    chosen = value_now(languages_key(first.languages), everything) if len(everything) > 1 else None
    wanted = None if chosen is None else same_languages(chosen, everything)
    return (first, None) if wanted is None else (checked_text(source, text, wanted), wanted)


def value_now(key: str, default: Any) -> Any:
    """The value of a widget, whether or not this run has drawn it."""
    return st.session_state.get(key, st.session_state.get(f"kept {key}", default))


def folder_of(source: str) -> Path:
    """Where relative paths start: beside what ships, else where the app was started."""
    return Path.cwd() if source in st.session_state[OWN] else shipped_folder()


def checked_text(source: str, text: str, languages: list[str] | None) -> Checked:
    """What a text comes to, looked at anew only where it or its surroundings may be different."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder = folder_of(source)
    kept: dict[object, Checked] = st.session_state.setdefault("batch checked", {})
    key = (text, file, str(folder), None if languages is None else tuple(languages))
    if key not in kept or kept[key].prepared is None:
        found = check_text(text, file, folder, languages)
        while len(kept) >= 4:
            del kept[next(iter(kept))]
        kept[key] = found
    return kept[key]


def languages_key(known: tuple[str, ...]) -> str:
    """The key of the choice among these languages."""
    return f"batch languages {known}"
