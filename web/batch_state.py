"""Where the page of evaluations keeps runs, and how it goes from one of its tabs to another."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

from morphgraph.batch.background import Run, runs_in, start_run
from morphgraph.batch.store import write_atomically
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.reading import parse_json, read_bytes
from morphgraph.core.threads import available_cores
from web import autosave
from web.batch_drafts import Draft, keep_draft, kept_drafts

CONFIGURE, RUNS, COMPARE = "Configure", "Runs", "Compare"
VIEW = "batch_view"
CHOSEN = "batch_run"
SOURCE = "batch_source"
OWN = "batch own files"
"""Keys of what is open: the tab, the run by its name, what is edited; and of texts by name."""

SETTINGS_FILE = "started.json"
_RECALLED = "batch drafts recalled"


@dataclass(frozen=True)
class Settings:
    """What a run was started with, so that it can be resumed alike; ``languages``: None for all."""

    workers: int
    languages: list[str] | None = None
    folder: str | None = None


def runs_folder() -> Path:
    """The folder with the runs of this app."""
    return autosave.folder() / "runs"


def known_runs() -> list[Run]:
    """The runs of this app, the one that was changed last first."""
    return runs_in(runs_folder())


def begin(text: str, name: str, settings: Settings) -> Run:
    """Start or resume a run, keep what it was started with, and show it."""
    run = start_run(
        text,
        runs_folder(),
        name,
        workers=settings.workers,
        languages=settings.languages,
        folder=None if settings.folder is None else Path(settings.folder),
    )
    write_atomically(run.folder / SETTINGS_FILE, json.dumps(asdict(settings)).encode())
    show_run(name)
    return run


def show_run(name: str) -> None:
    """Open a run in its tab; for callbacks, before the tabs are drawn."""
    st.session_state[CHOSEN] = st.session_state[f"kept {CHOSEN}"] = name
    st.session_state[VIEW] = st.session_state[f"kept {VIEW}"] = RUNS


def add_source(wanted: str, text: str, taken: Collection[str] = ()) -> None:
    """One more text to start from, which is chosen; for callbacks, before the tabs are drawn."""
    own: dict[str, str] = st.session_state.setdefault(OWN, {})
    name, number = wanted, 1
    while name in own or name in taken:
        number += 1
        name = f"{wanted} ({number})"
    own[name] = text
    keep_draft(Draft(name, text, text))
    st.session_state[SOURCE] = st.session_state[f"kept {SOURCE}"] = name


def text_key(source: str) -> str:
    """The key of the editor with a text, by its name."""
    return f"batch text {source}"


def recall_drafts() -> None:
    """In a new session, own files and edits that an earlier one left."""
    if _RECALLED in st.session_state:
        return
    own: dict[str, str] = st.session_state.setdefault(OWN, {})
    for draft in kept_drafts():
        if draft.original is not None:
            own.setdefault(draft.name, draft.original)
        st.session_state.setdefault(f"kept {text_key(draft.name)}", draft.text)
    st.session_state[_RECALLED] = True  # last: a run may be interrupted


def show_editor() -> None:
    """Open the tab with the editor; for callbacks."""
    st.session_state[VIEW] = st.session_state[f"kept {VIEW}"] = CONFIGURE


def settings_of(folder: Path) -> Settings:
    """What the run in a folder was started with; all languages and cores where that is unknown."""
    usual = Settings(available_cores())
    try:
        found = parse_json(read_bytes(folder / SETTINGS_FILE), SETTINGS_FILE)
    except MorphGraphError:
        return usual
    if not isinstance(found, dict):
        return usual
    workers, languages, start = (found.get(key) for key in ("workers", "languages", "folder"))
    return Settings(
        workers if isinstance(workers, int) and 1 <= workers <= 1_000 else usual.workers,
        _texts(languages),
        start if isinstance(start, str) else None,
    )


def _texts(given: object) -> list[str] | None:
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [str(one) for one in given]
    return None
