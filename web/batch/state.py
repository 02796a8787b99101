"""Where the page of evaluations keeps runs and texts, and how it goes from tab to tab."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import streamlit as st
from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.background import Run, runs_in, start_run
from morphgraph.batch.store import write_atomically
from morphgraph.core.demos import shipped_folder
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes
from morphgraph.core.system import available_cores
from web import autosave
from web.batch.checking import Checked, check_text, same_languages

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

    workers: Annotated[int, Field(ge=1, le=1_000)]
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
    name = named_apart(wanted, {*own, *taken})
    own[name] = text
    keep_draft(Draft(name, text, text))
    st.session_state[SOURCE] = st.session_state[f"kept {SOURCE}"] = name


def named_apart(name: str, taken: Collection[str]) -> str:
    """A name that is not taken, the same with a number behind it otherwise.

    >>> named_apart("a", ["a", "a (2)"])
    'a (3)'
    """
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


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


def start_settings(folder: Path) -> Settings:
    """What the run in a folder was started with; all languages and cores where that is unknown."""
    try:
        found: Settings = TypeAdapter(Settings).validate_python(
            parse_json(read_bytes(folder / SETTINGS_FILE), SETTINGS_FILE)
        )
    except (MorphGraphError, ValidationError):
        return Settings(available_cores())
    return found


MOST_TEXTS = 20
LARGEST_DRAFT = 200_000
_NAME_LENGTH = 200
_FILE_BYTES = 20_000_000
_lock = threading.Lock()


@dataclass(frozen=True)
class Draft:
    """A text by its name; ``original``: what it was opened as, None for one that ships."""

    name: Annotated[str, Field(min_length=1, max_length=_NAME_LENGTH)]
    original: str | None
    text: str


def fits(text: str) -> bool:
    """Whether a text is small enough to be kept."""
    return len(text.encode("utf-8", "replace")) <= LARGEST_DRAFT


def kept_drafts() -> list[Draft]:
    """What is kept, the newest last; nothing if it cannot be read."""
    path = _path()
    try:
        if not path.is_file() or path.stat().st_size > _FILE_BYTES:
            return []
        found = parse_json(read_bytes(path), path.name)
    except (MorphGraphError, OSError):
        return []
    drafts = [_draft(one) for one in found] if isinstance(found, list) else []
    return [draft for draft in drafts if draft is not None][-MOST_TEXTS:]


def keep_draft(draft: Draft) -> None:
    """Keep a text in place of the earlier one of its name; one that is too large is not kept."""
    if not (fits(draft.text) and fits(draft.original or "")):
        return
    _replace(draft.name, draft)


def forget_draft(name: str) -> None:
    """Keep nothing under a name any more."""
    _replace(name, None)


def _replace(name: str, draft: Draft | None) -> None:
    with _lock:
        before = kept_drafts()
        after = [one for one in before if one.name != name]
        if draft is not None:
            after = [*after, draft][-MOST_TEXTS:]
        if after == before:
            return
        text = json.dumps([asdict(one) for one in after], ensure_ascii=False)
        try:
            write_atomically(_path(), text.encode("utf-8", "replace"))
        except (MorphGraphError, OSError):
            return


def _path() -> Path:
    return autosave.folder() / "drafts.json"


def _draft(given: object) -> Draft | None:
    try:
        found: Draft = TypeAdapter(Draft).validate_python(given)
    except ValidationError:
        return None
    return found if fits(found.text) and fits(found.original or "") else None


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
