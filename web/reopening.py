"""A reload loses nothing: what is open is stored for this browser, and opened again.

The browser is identified by a cookie. A second cookie, set by a tab as it closes or reloads,
identifies the returning tab: two tabs with different tokenisers stay separate.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import streamlit as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.segment.models import write_model
from morphgraph.tokeniser.recipe import check_steps
from morphgraph.tokeniser.tokeniser import LearnedFrom
from web.components import hidden_component
from web.hosting import is_public
from web.sources import Source, uploaded_model
from web.state import Session, forget_session
from web.storage import BrowserStore, days_kept, keep_recipe, state_folder
from web.text import plain

_BROWSER, _TAB = "morphgraph", "morphgraph-tab"
_KNOWN_TAB = "tab of the page"
_COMPONENT = "morphgraph-browser"
_LEFT_BEHIND = 60
"""The lifetime in seconds of a closing tab's cookie; a reload takes less."""

Steps = list[dict[str, Any]]


class _Part(BaseModel):
    """A `Source` with the checksums of its files."""

    model_config = ConfigDict(extra="forbid")
    name: str
    files: list[tuple[str, str]] = []
    format: str | None = None
    encoding: str | None = None


class _Run(BaseModel):
    """A run of ReBPE: the number of the edit made by each phase, None if it made none."""

    model_config = ConfigDict(extra="forbid")
    settings: ReBPESettings
    edits_before: int = Field(ge=0)
    phases: list[int | None]
    position: int


class _Record(BaseModel):
    """Everything that a tab has open.

    The last ``undone`` edits of ``steps`` are undone; ``models``: the checksums of model files;
    ``doing``: the work in progress.
    """

    model_config = ConfigDict(extra="forbid")
    version: Literal[1] = 1
    tokeniser: _Part
    reference: _Part
    frequencies: _Part | None
    chose_frequencies: bool
    steps: Steps
    undone: int = Field(ge=0)
    run: _Run | None
    models: dict[str, str] = {}
    doing: str = ""
    recipes: dict[str, Steps]
    learned: dict[str, list[LearnedFrom]] = {}


# ------------------------------------------------------------------------------------- keeping


def keep_session(current: Session) -> None:
    """Store what is open if it has changed; report a failure once, until storing succeeds."""
    current.note_edits()
    if _state_of(current) == current.kept_as:
        return
    keep_recipe(current.study.tokeniser)
    graph = current.study.graph
    untouched = current.language == "en" and not (
        graph.history or graph.undone or current.models or current.doing
    )
    if not untouched or current.kept_as:  # otherwise there is nothing worth storing
        try:
            record = _record_of(current)
            if record is None:
                return
            current.store.keep_record(record.model_dump_json().encode())
        except (MorphGraphError, OSError) as error:
            _warn_unkept(current, error)
            return
    current.kept_as, current.unkept = _state_of(current), ""


def _state_of(current: Session) -> tuple[Any, ...]:
    """Return everything a record depends on, including models not yet stored."""
    graph, run = current.study.graph, current.run
    ran = (run.settings, run.edits_before, len(run.all_phases), len(run.phases)) if run else ()
    models = [(name, current.model_files.get(name)) for name in current.models]
    edits = (*current.state(), len(graph.undone))
    return (current.study_number, edits, ran, models, current.doing)


def _warn_unkept(current: Session, error: Exception) -> None:
    """Say why a reload would lose what is open: at once, and in the sidebar while this lasts."""
    why = _why_unkept(error)
    if why != current.unkept:
        st.toast(f"Nothing is kept now. {plain(why)}", icon=":material/warning:")
    current.unkept = why


def _why_unkept(error: Exception) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    if not isinstance(cause, OSError):
        return str(error)
    problem = (cause.strerror or "it cannot be written").lower()
    if is_public():
        return f"The server cannot write: {problem}."
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{state_folder()}: {problem}. Make room there."
    fix = "Start the app with another folder in the variable MORPHGRAPH_STATE."
    return f"{state_folder()}: {problem}. {fix}"


@contextmanager
def doing(current: Session, what: str) -> Iterator[None]:
    """Record long work in progress, so that a visitor returning after a crash is told.

    A click on Stop or an error is no crash.
    """
    current.doing = what
    keep_session(current)
    try:
        yield
    finally:
        current.doing = ""
        keep_session(current)


def _record_of(current: Session) -> _Record | None:
    """Return the record of what is open, storing its files; None if it cannot be reopened."""
    graph, store = current.study.graph, current.store
    kept = {kind: _kept_part(store, source) for kind, source in current.sources.items()}
    tokeniser, reference = kept.get("tokeniser"), kept.get("reference")
    if tokeniser is None or reference is None:
        return None
    return _Record(
        tokeniser=tokeniser,
        reference=reference,
        frequencies=kept.get("frequencies"),
        chose_frequencies=current.chose_frequencies,
        steps=_steps(graph),
        undone=len(graph.undone),
        run=_run_of(current.run),
        models=_kept_models(current),
        doing=current.doing,
        recipes=current.recipes,
        learned=current.learned,
    )


def _kept_part(store: BrowserStore, source: Source | None) -> _Part | None:
    if source is None:
        return None
    files = [(name, store.keep_file(data)) for name, data in source.files]
    return _Part(name=source.name, files=files, format=source.format, encoding=source.encoding)


def _kept_models(current: Session) -> dict[str, str]:
    """Return the checksums of models' files by name, each file written only once."""
    known = current.model_files
    for name, model in current.models.items():
        if name not in known:
            try:
                known[name] = current.store.keep_file(write_model(model))
            except MorphGraphError:
                known[name] = ""
    return {name: known[name] for name in current.models if known[name]}


def _steps(graph: MergeGraph) -> Steps:
    """Return all edits as JSON, including undone ones at the end."""
    changes = [*graph.history, *reversed(graph.undone)]
    steps: Steps = json.loads(json.dumps([dict(change.step) for change in changes]))
    return steps


def _run_of(run: ReBPERun | None) -> _Run | None:
    if run is None or run.is_stale:
        return None
    changes = [*run.graph.history, *reversed(run.graph.undone)]
    phases: list[int | None] = []
    for phase in run.all_phases[1:]:
        place = next((n for n, change in enumerate(changes) if change is phase.change), None)
        if place is None and not phase.change.is_empty:
            break
        phases.append(place)
    if not phases:
        return None
    return _Run(
        settings=run.settings,
        edits_before=run.edits_before,
        phases=phases,
        position=len(run.phases),
    )


# ------------------------------------------------------------------------------------- opening


def reopen(current: Session) -> bool:
    """Open what this browser had open at its last visit; return whether there was anything."""
    cookies = st.context.cookies
    tab = st.session_state.get(_KNOWN_TAB, cookies.get(_TAB))
    current.store = BrowserStore.of(cookies.get(_BROWSER), tab)
    current.store.touch()
    data = current.store.record()
    if data is None:
        return False
    try:
        with st.spinner("Opening what was open here…"):
            _open(current, _Record.model_validate_json(data, strict=False))
    except ValidationError:
        return False
    except MorphGraphError as error:
        current.notice = f"What was open here cannot be opened again: {error}"
        return False
    return True


def _open(current: Session, record: _Record) -> None:
    opened = _source(current.store, record.tokeniser)
    gold = _source(current.store, record.reference)
    counts = _source(current.store, record.frequencies) if record.frequencies else None
    current.open({"tokeniser": opened, "reference": gold, "frequencies": counts})
    tokeniser = current.study.tokeniser
    for steps in (record.steps, *record.recipes.values()):
        check_steps(steps, "What was kept")
    current.recipes, current.learned = record.recipes, record.learned
    tokeniser.learned_from.extend(record.learned.get(tokeniser.checksum, []))
    current.chose_frequencies = record.chose_frequencies
    for name, checksum in record.models.items():
        data = current.store.file(checksum)
        if data is not None:
            current.models[name] = uploaded_model({name: data})
    _make_edits(current, record)
    if record.doing:
        current.notice = (
            f"{record.doing} was interrupted, as when the app or this page is closed. All that was "
            "done before is here; start it again to continue."
        )


def _source(store: BrowserStore, part: _Part) -> Source:
    files = []
    for name, checksum in part.files:
        data = store.file(checksum)
        if data is None:
            raise FileFormatError(name, "", "it is no longer kept", "Open it once more.")
        files.append((name, data))
    return Source(part.name, tuple(files), part.format, part.encoding)


def _make_edits(current: Session, record: _Record) -> None:
    """Repeat the edits, those of a ReBPE run by running it again."""
    graph = current.study.graph
    run = _run_again(current, record.steps, record.run) if record.run else None
    if run is None:
        graph.replay(record.steps)
    for _ in range(min(record.undone, len(graph.history))):
        graph.undo()
    if run is not None and record.run is not None:
        run.go_to(record.run.position)
        current.run = run
        for name, value in setting_values(run.settings).items():
            st.session_state[f"kept rebpe_{name}"] = value


def _run_again(current: Session, steps: Steps, kept: _Run) -> ReBPERun | None:
    """Repeat a run; if the result differs, undo all edits and return None."""
    study, done = current.study, kept.edits_before
    study.graph.replay(steps[:done])
    run = ReBPERun(study.tokeniser, study.benchmark, kept.settings)
    for place in kept.phases:
        if place is not None and place > done:
            study.graph.replay(steps[done:place])  # edits by hand, between two phases
            done = place
        phase = run.step()
        edits = [] if phase is None or phase.change.is_empty else [dict(phase.change.step)]
        if phase is None or json.loads(json.dumps(edits)) != (
            [] if place is None else steps[place : place + 1]
        ):
            while study.graph.history:
                study.graph.undo()
            study.graph.forget_undone()
            return None
        done += len(edits)
    study.graph.replay(steps[done:])
    return run


def setting_values(settings: ReBPESettings) -> dict[str, Any]:
    """Return the values of the stepper's switches and fields for some settings, by name."""
    return {
        **dict(settings),
        "minimum": settings.minimum_vocabulary,
        "maximum": settings.maximum_vocabulary or 0,
        "holdout": round(100 * settings.holdout),
    }


# ------------------------------------------------------------------------------------- the browser


def known_browser(current: Session) -> None:
    """Set the cookie that identifies the browser; each page does so first.

    A page that outlived the app's process names its tab, and what that had open is opened.
    """
    _cookies()(
        key=_COMPONENT,
        data={"browser": current.store.token, "tab": current.store.tab},
        on_tab_change=_back_in_tab,
    )


def _back_in_tab() -> None:
    """Open what the tab named by the page had open, replacing what another one had."""
    st.session_state[_KNOWN_TAB] = st.session_state[_COMPONENT]["tab"]
    forget_session()


@cache
def _cookies() -> Callable[..., Any]:
    body = f"""  const keep = (name, value, seconds) => {{
    const how = "path=/; samesite=strict" + (location.protocol === "https:" ? "; secure" : "");
    document.cookie = `${{name}}=${{value}}; ${{how}}; max-age=${{seconds}}`;
  }};
  keep("{_BROWSER}", data.browser, {days_kept() * 86_400});
  // Of another tab, which is on its way back, it stays.
  if (document.cookie.split("; ").includes(`{_TAB}=${{data.tab}}`)) keep("{_TAB}", "", 0);
  const tab = (globalThis.morphgraphTab ??= data.tab);
  if (tab !== data.tab) setTriggerValue("tab", tab);
  if (leave) removeEventListener("pagehide", leave);
  leave = () => keep("{_TAB}", tab, {_LEFT_BEHIND});
  addEventListener("pagehide", leave);"""
    return hidden_component("browser", "let leave = null;", body)
