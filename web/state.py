"""All that the app keeps of a visitor: what is where, and which wins.

====================  =====================  ==============================  =======================
What                  In the address         In the session                  On disk
====================  =====================  ==============================  =======================
demo                  ``demo``               ``sources``                     the tab's record
own files             no                     ``sources``                     files, by checksum
edits, also undone    no                     ``study.graph``, ``recipes``    record
named copies          no                     ``copies``                      record
run of ReBPE          ``phase``, ``word``    ``run``, its settings           record
models                no                     ``models``                      files, by checksum
gold lists before     no                     ``gold_files``                  no
chosen methods        ``methods``            ``chosen``, fields of settings  no
type in the middle    ``type``               ``focus``, ``selected``         no
words that are shown  ``text``, ``word``,    their fields                    no
                      ``words``, ``lines``
threshold of blame    ``threshold``          its line                        no
other fields          no                     ``st.session_state``, and       no
                                             ``kept …`` across pages
tables, pictures      no                     `app_cache`, of all sessions    no
who it is             no                     ``store``                       two cookies; no name
====================  =====================  ==============================  =======================

The address wins on arrival at a page and after Back and Forward; the session wins at any other
time, and the address follows it (`Address`). The disk (`web.storage`) wins only where there is no
session: on a visit, a reload, a start of the app; then the address wins over it, but for a demo
where own files are open. Edits are never lost by opening something else: the recipe of each
tokeniser is kept by its checksum, and replayed when it is opened again.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Annotated, Any, Literal, TypeVar

import streamlit as st
from pydantic import BaseModel, Field, ValidationError

from morphgraph.core.cache import Cache, Same
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import is_public
from morphgraph.core.text import counted
from morphgraph.formats.recipe import check_steps
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.reference.entry import Reference
from morphgraph.reference.families import Part
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.vocabulary_health import NamedCounts, corpus_of
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.components import component
from web.sources import Source, frequencies_of, reference_of, tokeniser_of, uploaded_model
from web.storage import BrowserStore, days_kept, state_folder
from web.widgets import forget_oldest, plain, set_value, value_now

_KEY, _KNOWN_TAB, _COMPONENT = "morphgraph session", "tab of the page", "morphgraph-browser"
_COOKIES = {"browser": "morphgraph", "tab": "morphgraph-tab"}
MOST_MODELS = 12
"""The limit of models in a session; a further one replaces the oldest."""
T = TypeVar("T")
Steps = list[dict[str, Any]]


@st.cache_resource(show_spinner=False)
def app_cache() -> Cache:
    """The results derived from what any session has open."""
    return Cache(entries=20_000, size=500_000_000, seconds=20.0)


@dataclass
class Address:
    """The address of one tab, as far as Python knows it: Back, Forward and a copy restore a page.

    Each step that Back undoes has a number, assigned by an element in the browser: it numbers the
    address being left, then adds an address with the next number. So an address that Python wrote
    since the last arrival belongs to a click, however late the browser is; any other is Back,
    Forward or a link.

    ``arrived``: the step of the address last loaded or returned to; ``since`` the first step after
    it, ``newest`` the last one; ``shown`` the parameters followed since then; ``now`` those of the
    present run, and ``stepped`` whether it has made its step.
    """

    page: str = ""
    arrived: str = ""
    since: int = 1
    newest: int = 0
    shown: dict[str, str] = field(default_factory=dict)
    now: set[str] = field(default_factory=set)
    stepped: bool = False

    def arrive(self, page: str) -> None:
        """Begin a run of a whole page; an address that Python did not write is an arrival."""
        self.now, self.stepped = set(), False
        step = st.query_params.get("step", "")
        written = step.isdecimal() and self.since <= int(step) <= self.newest
        if page == self.page and (written or step == self.arrived):
            return
        self.page, self.arrived = page, step
        number = re.fullmatch(r"(?:before)?(\d{1,9})", step)
        self.newest = max(self.newest, int(number[1]) if number else 0)
        self.since = self.newest + 1
        self.shown.clear()

    def follow(
        self,
        name: str,
        value: str,
        *,
        among: Container[str] | None = None,
        reads: Callable[[str], str] = str,
        step: bool = True,
    ) -> str:
        """Return ``value``, or what the address asks for instead.

        The address decides on arrival, and after Back and Forward; otherwise it takes ``value``. A
        changed value is a ``step`` that Back undoes, or not, as while typing; a run makes at most
        one step. Call this in every run, where its element is visible: one in a popover is inactive
        until that is opened. As anybody can write anything into an address, ``among`` lists the
        values it may take, and ``reads`` is how the page parses it.
        """
        if name in self.now:  # in a fragment's run, which is never an arrival
            self.now, self.stepped = set(), False
        self.now.add(name)
        held = _held(value)
        if name not in self.shown:
            # Python wrote this address, from which empty values were omitted.
            asked = st.query_params.get(name, "" if self.arrived else None)
            is_fit = asked is not None and (among is None or asked in among)
            read = reads(asked) if asked is not None and is_fit else value
            if _held(read) != held:
                value, held = read, _held(read)
        elif step and held != self.shown[name] and not self.stepped:
            self.newest += 1
            self.stepped = True
        self.shown[name] = held
        now = str(self.newest) if self.newest >= self.since else self.arrived
        data = {"name": name, "value": held, "step": now, "arrived": self.arrived}
        element = component("address", "address", "hidden")
        element(key=f"address {name}", data={**data, "since": self.since})
        return value

    def remember(self, name: str, key: str, first: str, **options: Any) -> str:
        """Let a remembered field follow the address (see `follow`), and return its value."""
        value = value_now(key, first)
        asked = self.follow(name, value, **options)
        if asked != value:
            set_value(key, asked)
        return asked


def _held(value: str) -> str:
    """Return a value as an address holds it; empty if it cannot, as if it is very long."""
    value = value.encode("utf-8", "ignore").decode()
    return value if len(value) <= 1500 else ""


@dataclass(eq=False)
class Session:
    """The open tokeniser and reference as a study, and what the pages remember.

    ``selected`` and ``focus`` are type ids; ``recipes`` the edits of tokenisers that were edited in
    this browser, by checksum, and ``copies`` those that were kept of them, by name; ``models``
    those trained or opened, by a name that says how, and ``model_files`` the checksums of those on
    disk; ``gold_files`` the gold lists that were opened from files, by name; ``store`` where all
    this is kept for the next visit, ``kept_as`` the state that was kept last, and ``unkept`` why it
    could not be; ``asked`` what the run of ReBPE was asked to do; ``doing`` what long work is being
    done; ``prepared`` the number of the study of which the next pages are computed, and ``idle``
    what will do so.
    """

    study: Study
    address: Address = field(default_factory=Address)
    chose_frequencies: bool = False
    focus: int | None = None
    selected: int | None = None
    models: dict[str, Segmenter] = field(default_factory=dict)
    model_files: dict[str, str] = field(default_factory=dict)
    gold_files: dict[str, Reference] = field(default_factory=dict)
    chosen: list[str] | None = None
    chosen_elsewhere: int = 0
    recipes: dict[str, Steps] = field(default_factory=dict)
    copies: dict[str, dict[str, Steps]] = field(default_factory=dict)
    sources: dict[str, Source | None] = field(default_factory=dict)
    store: BrowserStore = field(default_factory=BrowserStore)
    kept_as: tuple[Any, ...] = ()
    run: ReBPERun | None = None
    asked: str = ""
    just_asked: bool = False
    notice: str = ""
    doing: str = ""
    unkept: str = ""
    study_number: int = 0
    prepared: int = 0
    idle: Timer | None = None

    @property
    def language(self) -> str:
        """The language of the open demo; empty if something else is open."""
        opened = self.sources.get("tokeniser")
        return opened.list_of("demo") if opened and opened == self.sources.get("reference") else ""

    def open_demo(self, language: str) -> None:
        """Open a demo's tokeniser, its gold list, and the language's frequencies."""
        demo = Source(f"demo:{language}")
        self.open(demo, demo, Source(f"wordfreq:{language}"))

    def open(self, tokeniser: Source, reference: Source, frequencies: Source | None) -> None:
        """Open all of these."""
        counts = (frequencies_of(frequencies), frequencies.name) if frequencies else (None, "")
        self._set(tokeniser_of(tokeniser), reference_of(reference), *counts)
        self.chose_frequencies = False
        self._note(tokeniser=tokeniser, reference=reference, frequencies=frequencies)

    def open_tokeniser(self, tokeniser: BpeTokeniser, source: Source | None = None) -> None:
        """Open another tokeniser with the same reference."""
        old = self.study.benchmark
        self._set(tokeniser, old.reference, old.frequencies, old.frequency_source)
        self._note(tokeniser=source)

    def open_reference(self, reference: Reference, source: Source | None = None) -> None:
        """Open another reference with the same tokeniser, which keeps its edits.

        Chosen frequencies stay, unless the reference has counts of its own; those that came with a
        demo or a reference are dropped, as they may be of another language.
        """
        old = self.study.benchmark
        keep = self.chose_frequencies and not reference.has_counts
        counts = (old.frequencies, old.frequency_source) if keep else (None, "")
        self._set(self.study.tokeniser, reference, *counts)
        self._note(reference=source, **({} if keep else {"frequencies": None}))

    def go_without_gold(self, language: str) -> None:
        """Open a language's commonest words, with their frequencies, in place of gold."""
        words, counts = Source(f"words:{language}"), Source(f"wordfreq:{language}")
        known = frequencies_of(counts)
        self._set(self.study.tokeniser, reference_of(words), known, counts.name)
        self.chose_frequencies = False
        self._note(reference=words, frequencies=counts)

    def use_frequencies(
        self, frequencies: Mapping[str, float] | None, name: str, source: Source | None = None
    ) -> None:
        """Weight tokens by other frequencies; None for only the reference's own."""
        view = self.focus, self.selected
        self._set(self.study.tokeniser, self.study.benchmark.reference, frequencies, name)
        self.focus, self.selected = view
        self.chose_frequencies = frequencies is not None
        self._note(frequencies=source)

    def _note(self, **sources: Source | None) -> None:
        self.sources |= {kind: source and source.shared() for kind, source in sources.items()}

    def _set(
        self,
        tokeniser: BpeTokeniser,
        reference: Reference,
        counts: Mapping[str, float] | None,
        counted_in: str,
    ) -> None:
        if self.study is not None:
            self.note_edits()
        steps = self.recipes.get(tokeniser.checksum)
        if steps and not tokeniser.graph.history:  # it was edited when it was last open
            tokeniser.graph.replay(steps)
            one, more = "edit of this tokeniser was", "edits of this tokeniser were"
            self.notice = f"Your {counted(len(steps), one, more)} restored."
        tokeniser.cache = app_cache()
        ids = tuple(map(tokeniser.graph.id_of, tokeniser.alphabet))
        key = ("benchmark", tokeniser.alphabet, ids, Same(reference), Same(counts), counted_in)
        build = partial(Benchmark.build, tokeniser, reference, counts, counted_in)
        self.study = Study(tokeniser, tokeniser.cache.get(tokeniser.as_loaded, key, build))
        self.study_number += 1
        self.asked, self.run = "", None
        self.focus = self.selected = None

    def note_edits(self) -> None:
        """Record the open tokeniser's edits once it has been edited; undoing all leaves none."""
        tokeniser = self.study.tokeniser
        known = self.recipes.pop(tokeniser.checksum, None)
        if tokeniser.graph.history or known is not None:
            self.recipes[tokeniser.checksum] = tokeniser.graph.recipe()
        forget_oldest(self.recipes, 20)

    def once(
        self, key: tuple[Hashable, ...], make: Callable[[], T], *, of_files: bool = False
    ) -> T:
        """Return the result of ``make``, computed once for a key and state over all sessions.

        It may depend only on the open files, the edits and the key; ``of_files``: not on the edits.
        """
        return self.study.cache.get(self.state(of_files=of_files), key, make)

    def corpus(self) -> NamedCounts | None:
        """Return the open word frequencies as a corpus."""
        return self.once(("corpus",), partial(corpus_of, self.study.benchmark), of_files=True)

    def state(self, edits: int | None = None, *, of_files: bool = False) -> tuple[Hashable, ...]:
        """The identity of the files and edits, or of the files, by which results are cached."""
        tokeniser = self.study.tokeniser
        names = tokeniser.name, tokeniser.checksum
        files = (tokeniser.as_loaded, *names, self.study.benchmark.identity)
        if of_files:
            return files
        done = tokeniser.graph.history[:edits]
        states = (tokeniser.graph.numbered_after(number) for number in range(1, len(done) + 1))
        learned = (str(change.step.get("learned", "")) for change in done)
        return *files, *states, *learned, *(change.edit for change in done)

    def graph_after(self, edits: int) -> MergeGraph:
        """Return the open graph as it was after this number of edits."""
        graph = self.study.graph
        if edits == len(graph.history):
            return graph
        undone = len(graph.history) - edits
        return self.study.cache.get(self.state(edits), "graph", lambda: graph.earlier(undone))

    def keep_model(self, name: str, model: Segmenter) -> None:
        """Add a model, replacing one of the same name."""
        self.models.pop(name, None)
        self.model_files.pop(name, None)
        forget_oldest(self.models, MOST_MODELS - 1)
        self.models[name] = model

    def ask(self, what: str) -> None:
        """Ask the stepper of ReBPE for a phase or a full run; empty to stop."""
        self.asked, self.just_asked = what, bool(what)

    def undo(self) -> None:
        """Undo the last edit, if there is one."""
        self.asked = ""
        if self.study.graph.history:
            self.study.graph.undo()

    def redo(self) -> None:
        """Redo the last undone edit, if there is one."""
        self.asked = ""
        if self.study.graph.undone:
            self.study.graph.redo()


def session() -> Session:
    """Return this user's session: a new one has open what an earlier visit had, else a demo."""
    current = st.session_state.get(_KEY)
    if current is None:
        current = Session(None)  # type: ignore[arg-type]  # the next lines open one
        if not _reopen(current):
            current.open_demo("en")
        st.session_state[_KEY] = current
    return current


def own_folder() -> Path:
    """Return the folder for texts and evaluation runs; per browser in public mode."""
    return session().store.folder if is_public() else state_folder()


@dataclass(frozen=True)
class _Run:
    """A run of ReBPE: the number of the edit made by each phase, None if it made none.

    ``kept``: the words that are kept aside; None if it learns from all.
    """

    settings: ReBPESettings
    kept: Part | None
    edits_before: Annotated[int, Field(ge=0)]
    phases: list[int | None]
    position: int


class _Record(BaseModel, extra="forbid"):
    """Everything that a tab has open; of files the checksums, by which they are on disk.

    The last ``undone`` edits of ``steps`` are undone.
    """

    version: Literal[1] = 1
    tokeniser: Source
    reference: Source
    frequencies: Source | None
    chose_frequencies: bool
    steps: Steps
    undone: int = Field(ge=0)
    run: _Run | None
    models: dict[str, str] = {}
    doing: str = ""
    recipes: dict[str, Steps]
    copies: dict[str, dict[str, Steps]] = {}


def keep_session(current: Session) -> None:
    """Store what is open if it has changed; report a failure once, until storing succeeds."""
    current.note_edits()
    graph, run = current.study.graph, current.run
    ran = (run.settings, run.edits_before, len(run.all_phases), len(run.phases)) if run else ()

    def state() -> tuple[Any, ...]:
        models = [(name, current.model_files.get(name)) for name in current.models]
        edits = (*current.state(), len(graph.undone))
        copies = [(checksum, list(some)) for checksum, some in current.copies.items() if some]
        return current.study_number, edits, ran, models, copies, current.doing

    if state() == current.kept_as:
        return
    used = graph.history or graph.undone or current.models or current.doing or current.copies
    if used or current.language != "en" or current.kept_as:  # there is something worth storing
        try:
            record = _record_of(current)
            if record is None:
                return
            current.store.keep_record(record.model_dump_json().encode())
        except (MorphGraphError, OSError) as error:
            why = _why_unkept(error)
            if why != current.unkept:
                st.toast(f"Your work is no longer saved. {plain(why)}", icon=":material/warning:")
            current.unkept = why  # said on every page, while this lasts
            return
    current.kept_as, current.unkept = state(), ""


def _why_unkept(error: Exception) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    if not isinstance(cause, OSError):
        return str(error)
    reason = f"{(cause.strerror or 'it cannot be written').lower()}."
    if is_public():
        return f"The server cannot write: {reason}"
    is_full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "Start the app with another folder in the variable MORPHGRAPH_STATE."
    return f"{state_folder()}: {reason} {'Make room there.' if is_full else fix}"


def _record_of(current: Session) -> _Record | None:
    """Return the record of what is open, storing its files; None if it cannot be reopened."""
    graph, store = current.study.graph, current.store

    def kept(kind: str) -> Source | None:
        source = current.sources.get(kind)
        if source is None:
            return None
        files = ((name, store.keep_file(data).encode()) for name, data in source.files)
        return replace(source, files=tuple(files))

    tokeniser, reference, frequencies = map(kept, ("tokeniser", "reference", "frequencies"))
    if tokeniser is None or reference is None:
        return None
    known = current.model_files
    for name, model in current.models.items():
        if name not in known:  # each file is written only once
            known[name] = ""
            with suppress(MorphGraphError):
                known[name] = store.keep_file(write_model(model))
    changes = [*graph.history, *reversed(graph.undone)]
    return _Record(
        tokeniser=tokeniser,
        reference=reference,
        frequencies=frequencies,
        chose_frequencies=current.chose_frequencies,
        steps=as_json(changes),
        undone=len(graph.undone),
        run=_record_of_run(current.run, changes) if current.run else None,
        models={name: known[name] for name in current.models if known[name]},
        doing=current.doing,
        recipes=current.recipes,
        copies=current.copies,
    )


def _record_of_run(run: ReBPERun, changes: Sequence[Change]) -> _Run | None:
    if run.is_stale:
        return None
    places, phases = {id(change): n for n, change in enumerate(changes)}, list[int | None]()
    for phase in run.all_phases[1:]:
        place = places.get(id(phase.change))
        if place is None and not phase.change.is_empty:
            break
        phases.append(place)
    if not phases:
        return None
    kept = next(iter(run.scored.parts), None)
    return _Run(run.settings, kept, run.edits_before, phases, len(run.phases))


def as_json(changes: Iterable[Change]) -> Steps:
    """Return edits as they are stored."""
    steps: Steps = json.loads(json.dumps([dict(change.step) for change in changes]))
    return steps


def _reopen(current: Session) -> bool:
    cookies = st.context.cookies
    tab = st.session_state.get(_KNOWN_TAB, cookies.get(_COOKIES["tab"]))
    current.store = BrowserStore.of(cookies.get(_COOKIES["browser"]), tab)
    with suppress(OSError):  # the day of this visit, if anything is stored
        os.utime(current.store.folder)
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
    def with_files(kept: Source) -> Source:
        files = [(name, current.store.file(sum_.decode())) for name, sum_ in kept.files]
        for name, data in files:
            if data is None:
                raise FileFormatError(name, "", "it is no longer kept", "Open it once more.")
        return replace(kept, files=tuple((name, data or b"") for name, data in files))

    counts = record.frequencies and with_files(record.frequencies)
    current.open(with_files(record.tokeniser), with_files(record.reference), counts)
    graph = current.study.graph
    copies = [steps for some in record.copies.values() for steps in some.values()]
    for steps in (record.steps, *record.recipes.values(), *copies):
        check_steps(steps, "What was kept")
    current.recipes, current.copies = record.recipes, record.copies
    current.chose_frequencies = record.chose_frequencies
    for name, checksum in record.models.items():
        data = current.store.file(checksum)
        if data is not None:
            current.models[name] = uploaded_model({name: data})
    current.run = _run_again(current, record.steps, record.run) if record.run else None
    if current.run is None:
        graph.replay(record.steps)
    for _ in range(min(record.undone, len(graph.history))):
        graph.undo()
    if current.run is not None and record.run is not None:
        current.run.go_to(record.run.position)
    if record.doing:
        current.notice = (
            f"{record.doing} was interrupted, perhaps because the app or this page was closed. "
            "What it had done is kept; start it again to continue."
        )


def _run_again(current: Session, steps: Steps, kept: _Run) -> ReBPERun | None:
    """Repeat the edits and a run among them; if it differs, undo all and return None."""
    graph, done = current.study.graph, kept.edits_before
    graph.replay(steps[:done])
    rest = scored = current.study.benchmark
    if kept.kept is not None:
        rest, scored = rest.split(*kept.kept[1:])
    run = ReBPERun(current.study.tokeniser, rest, kept.settings, scored)
    for place in kept.phases:
        if place is not None and place > done:
            graph.replay(steps[done:place])  # edits by hand, between two phases
            done = place
        phase = run.step()
        edits = as_json([] if phase is None or phase.change.is_empty else [phase.change])
        if phase is None or edits != ([] if place is None else steps[place : place + 1]):
            while graph.history:
                graph.undo()
            graph.forget_undone()
            return None
        done += len(edits)
    graph.replay(steps[done:])
    return run


def known_browser(current: Session) -> None:
    """Set the cookie that identifies the browser; each page does so first.

    A second cookie names a tab as it closes or reloads. A page that outlived the app's process
    names its tab, and what that had open is opened, in place of what another one had.
    """

    def back_in_tab() -> None:
        tab = st.session_state[_COMPONENT]["tab"]
        st.session_state.clear()
        st.session_state[_KNOWN_TAB] = tab

    own = {"browser": current.store.token, "tab": current.store.tab, "names": _COOKIES}
    data = {**own, "seconds": days_kept() * 86_400}
    shares = ("hidden", "shared", "elements", "picture", "charts")
    element = component("browser", "browser", *shares)
    element(key=_COMPONENT, data=data, on_tab_change=back_in_tab)
