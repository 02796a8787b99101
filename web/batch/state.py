"""Where the page of evaluations keeps runs and texts, and how it goes from tab to tab."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import streamlit as st
from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.progress import Run, runs_in, start_run
from morphgraph.core.demos import shipped_folder
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, write_atomically
from morphgraph.core.system import available_cores
from web.batch.checking import Checked, check_text, free_name
from web.storage import Draft, keep_draft, kept_drafts, state_folder
from web.widgets import forget_oldest, set_value

CONFIGURE, RUNS, COMPARE = "Configure", "Runs", "Compare"
VIEW = "batch_view"
CHOSEN = "batch_run"
SOURCE = "batch_source"
OWN = "batch own files"
REFUSED = "batch refused"
"""Keys of the open tab, the run by its name, what is edited, texts by name, what was refused."""
SETTINGS_FILE = "started.json"
_RECALLED = "batch drafts recalled"


@dataclass(frozen=True)
class Settings:
    """What a run was started with, so that it can be resumed alike; ``languages``: None for all."""

    workers: Annotated[int, Field(ge=1, le=1_000)]
    languages: list[str] | None = None
    folder: str | None = None


def runs_folder() -> Path:
    """The folder with the runs of this app."""
    return state_folder() / "runs"


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
    set_value(CHOSEN, name)
    set_value(VIEW, RUNS)


def add_source(wanted: str, text: str, taken: Collection[str] = ()) -> None:
    """One more text to start from, which is chosen; for callbacks, before the tabs are drawn."""
    own: dict[str, str] = st.session_state.setdefault(OWN, {})
    name = free_name(wanted, {*own, *taken}, "{} ({})")
    own[name] = text
    keep_draft(Draft(name, text, text))
    set_value(SOURCE, name)


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
    set_value(VIEW, CONFIGURE)


def start_settings(folder: Path) -> Settings:
    """What the run in a folder was started with; all languages and cores where that is unknown."""
    try:
        found: Settings = TypeAdapter(Settings).validate_python(
            parse_json(read_bytes(folder / SETTINGS_FILE), SETTINGS_FILE)
        )
    except (MorphGraphError, ValidationError):
        return Settings(available_cores())
    return found


def folder_of(source: str) -> Path:
    """Where relative paths start: beside what ships, else where the app was started."""
    return Path.cwd() if source in st.session_state[OWN] else shipped_folder()


def checked_text(source: str, text: str) -> Checked:
    """What a text comes to, looked at anew only where it or its surroundings may be different."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder = folder_of(source)
    kept: dict[object, Checked] = st.session_state.setdefault("batch checked", {})
    key = (text, file, str(folder))
    if key not in kept or kept[key].plan is None:
        kept[key] = check_text(text, file, folder)
        forget_oldest(kept, 4)
    return kept[key]
