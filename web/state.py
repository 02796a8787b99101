"""All that the app keeps of a visitor: what is where, and which wins.

====================  =====================  ==============================  =======================
What                  In the address         In the session                  On disk
====================  =====================  ==============================  =======================
demo                  ``demo``               ``sources``                     the tab's record
own files             no                     ``sources``                     files, by checksum
edits, also undone    no                     ``study.graph``, ``recipes``    record; a recipe each
run of ReBPE          ``phase``, ``word``    ``run``, its settings           record
models                no                     ``models``                      files, by checksum
chosen methods        ``methods``            ``chosen``, fields of settings  no
type in the middle    ``type``               ``focus``, ``selected``         no
words that are shown  ``text``, ``word``,    their fields                    no
                      ``words``, ``lines``,
                      ``draw``, ``show``
threshold of blame    ``threshold``          its line                        no
other fields          no                     ``st.session_state``, and       no
                                             ``kept …`` across pages
tables, pictures      no                     `app_cache`, of all sessions    no
who it is             no                     ``store``                       two cookies; no name
====================  =====================  ==============================  =======================

The address wins on arrival at a page and after Back and Forward; the session wins at any other
time, and the address follows it (`web.address`). The disk wins only where there is no session: on
a visit, a reload, a start of the app (`web.reopening`, `web.storage`); then the address wins over
it, but for a demo where own files are open. Edits are never lost by opening something else: the
recipe of each tokeniser is kept by its checksum, and replayed when it is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from morphgraph.core.cache import Cache, Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.reference.entry import Reference
from morphgraph.reference.language import language_of
from morphgraph.refine.knockout import BlameSettings
from morphgraph.refine.learning import remember
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser, LearnedFrom
from web.address import Address
from web.hosting import is_public
from web.sources import Source, Sources, demo_sources, frequencies_of, reference_of, tokeniser_of
from web.storage import BrowserStore, state_folder
from web.widgets import forget_oldest

_KEY = "morphgraph session"
START = "before the edits"
"""The method that is the tokeniser without its edits."""
MOST_MODELS = 12
"""The limit of models in a session; a further one replaces the oldest."""
_RECIPES_KEPT = 20
T = TypeVar("T")


@st.cache_resource(show_spinner=False)
def app_cache() -> Cache:
    """The results derived from what any session has open."""
    return Cache(entries=20_000, size=500_000_000)


@dataclass
class Chosen:
    """The methods that a page compares, in order.

    ``waiting``: those that join once they can be made: initially all defaults of the page, later
    those that need edits or word counts.
    """

    names: list[str]
    waiting: list[str]

    def take(self, names: Iterable[str]) -> None:
        """Choose these; of waiting methods, only those that need edits can still join."""
        self.names = list(names)
        self.waiting = [name for name in self.waiting if name == START]

    def offer(self, offered: Collection[str], is_ready: Callable[[str], bool]) -> None:
        """Add waiting methods that can be made; others leave, or wait if allowed."""
        gone = [name for name in self.names if name not in offered]
        self.names = [name for name in self.names if name in offered]
        self.waiting += [name for name in gone if name == START]
        ready = [name for name in self.waiting if name in offered and is_ready(name)]
        if ready:
            self.waiting = [name for name in self.waiting if name not in ready]
            self.names = list(dict.fromkeys([*self.names, *ready]))
            self.names.sort(key=lambda name: (name != START, name.startswith("model ")))


@dataclass(eq=False)
class Session:
    """The open tokeniser and reference as a study, and what the pages remember.

    ``selected`` and ``focus`` are type ids; ``first_row``: the first merge of the focus that is
    drawn; ``recipes`` the edits of tokenisers that were edited in this browser, by checksum,
    ``learned`` the references that methods chose some of them by; ``sources`` where the
    tokeniser, the reference and the frequencies came from; ``models`` those trained or opened, by
    a name that says how, and ``model_files`` the checksums of those that are on disk; ``chosen``
    the methods of each page that compares some; ``store`` where this is kept for the next visit,
    ``kept_as`` the state that was kept last, and ``unkept`` why it could not be; ``run`` the run of
    ReBPE that the stepper shows, ``asked`` what it was asked to do; ``doing`` what long work is
    being done.
    """

    study: Study
    address: Address = field(default_factory=Address)
    chose_frequencies: bool = False
    focus: int | None = None
    selected: int | None = None
    first_row: int = 0
    models: dict[str, Segmenter] = field(default_factory=dict)
    model_files: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, Chosen] = field(default_factory=dict)
    recipes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    learned: dict[str, list[LearnedFrom]] = field(default_factory=dict)
    sources: Sources = field(default_factory=dict)
    store: BrowserStore = field(default_factory=BrowserStore)
    kept_as: tuple[Any, ...] = ()
    run: ReBPERun | None = None
    asked: str = ""
    just_asked: bool = False
    notice: str = ""
    doing: str = ""
    unkept: str = ""
    study_number: int = 0

    # ------------------------------------------------------------------------- what is open

    @property
    def language(self) -> str:
        """The language of the open demo; empty if something else is open."""
        opened = self.sources.get("tokeniser")
        if opened is None or opened.files or opened != self.sources.get("reference"):
            return ""
        return opened.name.removeprefix("demo:")

    @property
    def frequency_language(self) -> str:
        """The language of the wordfreq list that weights words.

        Empty for a file, whatever its name: results from a list are shared by all sessions.
        """
        source = self.sources.get("frequencies")
        return "" if source is None or source.files else source.name.removeprefix("wordfreq:")

    @property
    def reference_language(self) -> str:
        """The language of the reference's words if it is known, else empty."""
        words = [entry.word for entry in self.study.benchmark.reference.entries]
        return self.once(("language",), lambda: language_of(words), of_files=True)

    def open_demo(self, language: str) -> None:
        """Open a demo's tokeniser, its gold list, and the language's frequencies."""
        self.open(demo_sources(language))

    def open(self, sources: Sources) -> None:
        """Open all of these, which must include a tokeniser and a reference."""
        opened, gold, counts = map(sources.get, ("tokeniser", "reference", "frequencies"))
        assert opened is not None
        assert gold is not None
        tokeniser, reference = tokeniser_of(opened), reference_of(gold)
        frequencies = frequencies_of(counts) if counts else None
        self._set(tokeniser, reference, frequencies, counts.name if counts else "")
        self.chose_frequencies = False
        for kind, source in sources.items():
            self._note_source(kind, source)

    def open_tokeniser(self, tokeniser: BpeTokeniser, source: Source | None = None) -> None:
        """Open another tokeniser with the same reference."""
        old = self.study.benchmark
        self._set(tokeniser, old.reference, old.frequencies, old.frequency_source)
        self._note_source("tokeniser", source)

    def open_reference(self, reference: Reference, source: Source | None = None) -> None:
        """Open another reference with the same tokeniser, which keeps its edits.

        Chosen frequencies stay, unless the reference has counts of its own; those that came with a
        demo or a reference are dropped, as they may be of another language.
        """
        old = self.study.benchmark
        keep = self.chose_frequencies and not reference.has_counts
        known, known_from = (old.frequencies, old.frequency_source) if keep else (None, "")
        self._set(self.study.tokeniser, reference, known, known_from)
        self._note_source("reference", source)
        if not keep:
            self._note_source("frequencies", None)

    def use_frequencies(
        self,
        frequencies: Mapping[str, float] | None,
        name: str,
        source: Source | None = None,
    ) -> None:
        """Weight tokens by other frequencies; None for only the reference's own."""
        old = self.study.benchmark
        self._set(self.study.tokeniser, old.reference, frequencies, name, keep_view=True)
        self.chose_frequencies = frequencies is not None
        self._note_source("frequencies", source)

    def _note_source(self, kind: str, source: Source | None) -> None:
        self.sources[kind] = source and source.shared()

    def _set(
        self,
        tokeniser: BpeTokeniser,
        reference: Reference,
        frequencies: Mapping[str, float] | None,
        frequency_source: str,
        *,
        keep_view: bool = False,
    ) -> None:
        if self.study is None or tokeniser is not self.study.tokeniser:
            self._edit_again(tokeniser)
        tokeniser.cache = app_cache()
        ids = tuple(map(tokeniser.graph.id_of, tokeniser.alphabet))
        words = (tokeniser.alphabet, ids, Same(reference), Same(frequencies), frequency_source)
        benchmark = tokeniser.cache.get(
            tokeniser.as_loaded,
            ("benchmark", *words),
            lambda: Benchmark.build(tokeniser, reference, frequencies, frequency_source),
        )
        self.study = Study(tokeniser, benchmark)
        self.study_number += 1
        self.asked = ""
        self.run = None
        if not keep_view:
            self.focus = self.selected = None
            self.first_row = 0

    # ------------------------------------------------------------------------- edits

    def _edit_again(self, tokeniser: BpeTokeniser) -> None:
        """Repeat the edits that a tokeniser had when it was last open."""
        if self.study is not None:
            self.note_edits()
        steps = self.recipes.get(tokeniser.checksum)
        if steps and not tokeniser.graph.history:
            tokeniser.graph.replay(steps)
            tokeniser.learned_from.extend(self.learned.get(tokeniser.checksum, []))
            edits = counted(
                len(steps), "edit of this tokeniser was", "edits of this tokeniser were"
            )
            self.notice = f"Your {edits} made again."

    def note_edits(self) -> None:
        """Record the open tokeniser's edits once it has been edited; undoing all leaves none."""
        tokeniser = self.study.tokeniser
        known = self.recipes.pop(tokeniser.checksum, None)
        if tokeniser.graph.history or known is not None:
            self.recipes[tokeniser.checksum] = tokeniser.graph.recipe()
        forget_oldest(self.recipes, _RECIPES_KEPT)

    def note_learning(self, settings: BlameSettings) -> None:
        """Record that a method with these settings makes edits learned from the reference."""
        tokeniser = self.study.tokeniser
        if not tokeniser.graph.history:
            tokeniser.learned_from.clear()
        remember(tokeniser, self.study.benchmark, settings)
        self.learned[tokeniser.checksum] = list(dict.fromkeys(tokeniser.learned_from))

    def restore(self, steps: list[dict[str, Any]]) -> None:
        """Repeat edits stored by an earlier visit; show a notice if they do not fit."""
        if self.study.graph.history:
            self.notice = "There are new edits already. Undo them first."
            return
        try:
            self.study.graph.replay(steps)
        except MorphGraphError as error:
            self.notice = str(error)

    def once(
        self, key: tuple[Hashable, ...], make: Callable[[], T], *, of_files: bool = False
    ) -> T:
        """Return the result of ``make``, computed once for a key and state over all sessions.

        It may depend only on the open files, the edits and the key; ``of_files``: not on the edits.
        """
        return self.study.cache.get(self._files if of_files else self.state(), key, make)

    @property
    def _files(self) -> tuple[Hashable, ...]:
        tokeniser = self.study.tokeniser
        return (
            tokeniser.as_loaded,
            tokeniser.name,
            tokeniser.checksum,
            self.study.benchmark.identity,
        )

    def state(self, edits: int | None = None) -> tuple[Hashable, ...]:
        """The identity of the files and edits, by which results are cached."""
        graph = self.study.graph
        made = graph.history[:edits]
        states = (graph.numbered_after(number) for number in range(1, len(made) + 1))
        learned = self.study.tokeniser.learned_from
        return *self._files, *learned, *states, *(change.edit for change in made)

    def graph_after(self, edits: int) -> MergeGraph:
        """Return the open graph as it was after this number of edits."""
        graph = self.study.graph
        if edits == len(graph.history):
            return graph
        return self.study.cache.get(
            self.state(edits), "graph", lambda: graph.earlier(len(graph.history) - edits)
        )

    def keep_model(self, name: str, model: Segmenter) -> None:
        """Add a model to the session, replacing one of the same name."""
        self.forget_model(name)
        forget_oldest(self.models, MOST_MODELS - 1)
        self.models[name] = model

    def forget_model(self, name: str) -> None:
        """Remove a model from the session."""
        self.models.pop(name, None)
        self.model_files.pop(name, None)

    def ask(self, what: str) -> None:
        """Ask the stepper of ReBPE for a phase, an iteration or a full run; empty to stop."""
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


def drop_oldest(share: float, seconds: float) -> int:
    """Drop a share of derived results, least recently used first; return how many.

    Results used in the last ``seconds`` are kept.
    """
    return app_cache().drop(share, seconds)


def session(begin: Callable[[Session], bool] = lambda _: False) -> Session:
    """Return this user's session.

    For a new one, ``begin`` may open what an earlier visit had open and return whether it did;
    otherwise the English demo is opened.
    """
    found = st.session_state.get(_KEY)
    if found is None:
        found = Session(None)  # type: ignore[arg-type]  # the next lines open one
        if not begin(found):
            found.open_demo("en")
        st.session_state[_KEY] = found
    return found


def forget_session() -> None:
    """Callback: let the next run of the page begin a new session."""
    st.session_state.pop(_KEY, None)


def own_folder() -> Path:
    """Return the folder for texts and evaluation runs; per browser in public mode."""
    return session().store.folder if is_public() else state_folder()
