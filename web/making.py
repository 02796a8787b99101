"""Make methods of the open tokeniser: at once, or beside the page what is trained or learned."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from morphgraph.core.cache import Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.families import Part
from morphgraph.refine.learning import Learner
from morphgraph.segment.method import METHODS
from morphgraph.segment.segmenter import Segmenter, method_on
from web.aside import scored_words, sides
from web.copies import copied
from web.jobs import Tell, train_in_turn, watch_beside
from web.state import Session

START, EDITED = "before the edits", "BPE, edited"
"""The method that is the tokeniser without its edits, and the name of the tokeniser with them."""
TRAINED = "picky"
"""The method that is trained on demand."""


def make_method(current: Session, name: str, settings: Mapping[str, Any]) -> Segmenter:
    """Return a method for the open tokeniser."""
    if name.startswith("model "):
        return current.models[name.removeprefix("model ")]
    if name.startswith("copy "):
        made_of = copied(current, name.removeprefix("copy "))
        return current.once(("method", Same(made_of)), lambda: method_on(made_of, "bpe"))

    def make() -> Segmenter:
        return _maker(current, name, settings)(lambda *_: None)

    return current.once(_key(current, name, settings), make, of_files=_of_files(name))


def _maker(current: Session, name: str, settings: Mapping[str, Any]) -> Callable[[Tell], Segmenter]:
    """Return what makes a method of the tokeniser as it is now, while edits go on."""
    tokeniser = current.study.tokeniser
    if name == TRAINED:
        return _trainer(current, name, settings)
    if name in METHODS.learning:
        method, (rest, _) = METHODS[name], sides(current)
        learner = Learner(tokeniser.fork(), method, method.settings(settings))
        return lambda _: learner.learn(rest)
    if name == START:
        name, made_on, corpus = "bpe", tokeniser.fork(), None
    else:
        made_on, corpus = tokeniser.copy(), current.corpus() if METHODS[name].counts else None
    return lambda _: method_on(made_on, name, settings, corpus.counts if corpus else None)


def make_if_quick(current: Session, name: str, settings: Mapping[str, Any]) -> Segmenter | None:
    """Return a method; None while it takes long, and is made beside the page."""
    return None if takes_long(current, name, settings) else make_method(current, name, settings)


def make_beside(
    current: Session, name: str, settings: Mapping[str, Any], on_stop: Callable[[], object]
) -> MorphGraphError | None:
    """Make a method beside the page, which shows it then; return the error that ended it."""
    work, cache = _work(current, name, settings), current.study.cache

    def prepare() -> Callable[[Tell], Segmenter]:
        make = _maker(current, name, settings)
        return lambda tell: cache.get(*work, partial(make, tell))

    verb = "Learning" if name in METHODS.learning else "Making"
    return watch_beside(work, f"{verb} {METHODS[name].title}", prepare, on_stop)


def _key(current: Session, name: str, settings: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return "method", name, *settings.items(), words_kept(current, name)


def _of_files(name: str) -> bool:
    """Whether a method is the same after any edit."""
    return name == TRAINED or name in METHODS.learning


def words_kept(current: Session, name: str) -> Part | None:
    """Return the words that a method does not learn from, if it learns."""
    return scored_words(current, learning=True).part if name in METHODS.learning else None


def needs_counts(name: str) -> bool:
    return name == TRAINED or (name in METHODS and METHODS[name].counts)


def takes_long(current: Session, name: str, settings: Mapping[str, Any]) -> bool:
    """Whether `make_method` still has to count words or train for this method."""
    lacks_counts = needs_counts(name) and current.corpus() is None
    if lacks_counts or not (needs_counts(name) or _of_files(name)):
        return False
    return _work(current, name, settings) not in current.study.cache


def _work(
    current: Session, name: str, settings: Mapping[str, Any]
) -> tuple[Hashable, tuple[Hashable, ...]]:
    """Return by which state and question the result is cached."""
    return current.state(of_files=_of_files(name)), _key(current, name, settings)


def fits_types(current: Session, name: str) -> bool:
    return name != TRAINED or current.study.graph.loaded_size > 256  # bytes


def is_available(current: Session, name: str) -> bool:
    has_counts = not needs_counts(name) or current.corpus() is not None
    return has_counts and fits_types(current, name)


def _trainer(
    current: Session, name: str, settings: Mapping[str, Any]
) -> Callable[[Tell], Segmenter]:
    corpus, size = current.corpus(), current.study.graph.loaded_size
    if corpus is None:
        raise MorphGraphError(
            f"{METHODS[name].title} is trained on word counts. Choose word frequencies in the "
            "bar, in the menu of the reference."
        )
    counts, visitor = corpus.counts, current.store.folder.name
    options: dict[str, Any] = {"pipeline": "plain", "parameters": settings}
    return lambda tell: train_in_turn(visitor, name, counts, size, tell, **options)
