"""Where the page of evaluations keeps runs and texts, and how it goes from tab to tab."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import streamlit as st
from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.progress import Run, runs_in, start_run
from morphgraph.core.demos import shipped_folder
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, write_file, writing
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
"""Keys of the open tab, the run by its name, what is edited, what was refused."""
SETTINGS_FILE = "started.json"
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Settings:
    """What a run was started with, so that it can be resumed alike."""

    workers: Annotated[int, Field(ge=1, le=1_000)]
    folder: str | None = None


def runs_folder() -> Path:
    """The folder with the runs of this app; in public mode with those of this browser."""
    return own_folder() / "runs"


def uploads_folder() -> Path:
    """The folder with the files that a visitor of a public app opened for evaluations."""
    return own_folder() / UPLOADS


def keep_upload(name: str, data: bytes) -> None:
    """Keep a file of a visitor for evaluations, in place of an earlier one of its name."""
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
    """The runs of this app, the one that was changed last first."""
    return runs_in(runs_folder())


def begin(text: str, name: str, settings: Settings) -> Run:
    """Start or resume a run, keep what it was started with, and show it.

    In public mode it waits for its turn.
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
    """Open a run in its tab; for callbacks, before the tabs are drawn."""
    set_value(CHOSEN, name)
    set_value(VIEW, RUNS)


def add_source(wanted: str, text: str, taken: Collection[str] = ()) -> None:
    """One more text to start from, which is chosen; for callbacks, before the tabs are drawn."""
    own = own_sources()
    name = free_name(wanted, {*own, *taken}, "{} ({})")
    own[name] = text
    set_value(SOURCE, name)


def own_sources() -> dict[str, str]:
    """The texts that were opened in this session, by name, as they were then."""
    own: dict[str, str] = st.session_state.setdefault("batch own files", {})
    return own


def edited_texts() -> dict[str, str]:
    """The texts that were edited in this session, by name, as they are now."""
    edited: dict[str, str] = st.session_state.setdefault("batch edited texts", {})
    return edited


def show_editor() -> None:
    """Open the tab with the editor; for callbacks."""
    set_value(VIEW, CONFIGURE)


def start_settings(folder: Path) -> Settings:
    """What the run in a folder was started with; all cores where that is unknown."""
    try:
        found: Settings = TypeAdapter(Settings).validate_python(
            parse_json(read_bytes(folder / SETTINGS_FILE), SETTINGS_FILE)
        )
    except (MorphGraphError, ValidationError):
        return Settings(available_cores())
    return found


def folder_of(source: str) -> Path:
    """Where relative paths start: beside what ships, else where the app was started.

    In public mode that is the folder of the visitor's own files, which nothing leads out of.
    """
    if is_public():
        return uploads_folder()
    return Path.cwd() if source in own_sources() else shipped_folder()


def checked_text(source: str, text: str) -> Checked:
    """What a text comes to, looked at anew only where it or its surroundings may be different."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder = folder_of(source)
    kept: dict[object, Checked] = st.session_state.setdefault("batch checked", {})
    key = (text, file, str(folder))
    if key not in kept or kept[key].plan is None:
        kept[key] = check_text(text, file, folder, confined=is_public())
        forget_oldest(kept, 4)
    return kept[key]
