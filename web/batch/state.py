"""Where the batch page stores runs and texts, and how it switches between tabs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import streamlit as st
from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.run import Run, runs_in, start_run
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, shipped_folder, write_file, writing
from morphgraph.core.limits import PUBLIC_WORKERS
from morphgraph.core.system import available_cores
from morphgraph.core.text import shortened, visible
from web.batch.checking import Checked, check_text, free_name
from web.hosting import is_public
from web.queue import UPLOADS, join_queue
from web.state import own_folder
from web.storage import check_room, make_private
from web.widgets import forget_oldest, set_value

CONFIGURE, RUNS = "Configure", "Runs"
VIEW = "batch_view"
CHOSEN = "batch_run"
SOURCE = "batch_source"
REFUSED = "batch refused"
"""Keys of the open tab, the run's name, the edited text, and the refused one."""
SETTINGS_FILE = "started.json"
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Settings:
    """The settings with which a run was started, and will be resumed."""

    workers: Annotated[int, Field(ge=1, le=1_000)]
    folder: str | None = None


def runs_folder() -> Path:
    """Return the folder of this app's runs; in public mode, of this browser's."""
    return own_folder() / "runs"


def uploads_folder() -> Path:
    """Return the folder of files that a visitor of a public app opened for evaluations."""
    return own_folder() / UPLOADS


def keep_upload(name: str, data: bytes) -> None:
    """Store a visitor's file for evaluations, replacing one of the same name."""
    if not _FILE.fullmatch(name):
        raise MorphGraphError(
            f"“{shortened(visible(name), 60)}” cannot be named in an evaluation. Use unaccented "
            "letters a–z, digits, dots, dashes and underscores in its name."
        )
    check_room(own_folder(), len(data))
    make_private(own_folder())
    make_private(uploads_folder())
    write_file(uploads_folder() / name, data)


def known_runs() -> list[Run]:
    """Return the runs of this app, the last changed first."""
    return runs_in(runs_folder())


def begin(text: str, name: str, settings: Settings) -> Run:
    """Start or resume a run, store its settings, and show it.

    In public mode it is queued.
    """
    with writing(own_folder(), " with MORPHGRAPH_STATE"):
        make_private(own_folder())
    if is_public():
        check_room(own_folder())
        settings = Settings(PUBLIC_WORKERS.value, str(uploads_folder()))
        run = join_queue(text, runs_folder(), name)
    else:
        run = start_run(
            text,
            runs_folder(),
            name,
            workers=settings.workers,
            folder=None if settings.folder is None else Path(settings.folder),
        )
    write_file(run.folder / SETTINGS_FILE, json.dumps(asdict(settings)).encode())
    show_run(name)
    return run


def show_run(name: str) -> None:
    """Callback: open a run in its tab, before the tabs are drawn."""
    set_value(CHOSEN, name)
    set_value(VIEW, RUNS)


def add_source(wanted: str, text: str, taken: Collection[str] = ()) -> None:
    """Callback: add and choose a text to start from, before the tabs are drawn."""
    own = own_sources()
    name = free_name(wanted, {*own, *taken}, "{} ({})")
    own[name] = text
    set_value(SOURCE, name)


def own_sources() -> dict[str, str]:
    """Return the texts opened in this session, by name, as they were opened."""
    own: dict[str, str] = st.session_state.setdefault("batch own files", {})
    return own


def edited_texts() -> dict[str, str]:
    """Return the texts edited in this session, by name, with their edits."""
    edited: dict[str, str] = st.session_state.setdefault("batch edited texts", {})
    return edited


def show_editor() -> None:
    """Callback: open the tab with the editor."""
    set_value(VIEW, CONFIGURE)


def start_settings(folder: Path) -> Settings:
    """Return the settings of the run in a folder; all cores if they are unknown."""
    try:
        found: Settings = TypeAdapter(Settings).validate_python(
            parse_json(read_bytes(folder / SETTINGS_FILE), SETTINGS_FILE)
        )
    except (MorphGraphError, ValidationError):
        return Settings(available_cores())
    return found


def folder_of(source: str) -> Path:
    """Return the base of relative paths: beside shipped files, or the app's working folder.

    In public mode it is the folder of the visitor's own files, which no path can leave.
    """
    if is_public():
        return uploads_folder()
    return Path.cwd() if source in own_sources() else shipped_folder()


def checked_text(source: str, text: str) -> Checked:
    """Check a text, again only if it or its surroundings may have changed."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder = folder_of(source)
    kept: dict[object, Checked] = st.session_state.setdefault("batch checked", {})
    key = (text, file, str(folder))
    if key not in kept or kept[key].plan is None:
        kept[key] = check_text(text, file, folder, confined=is_public())
        forget_oldest(kept, 4)
    return kept[key]
