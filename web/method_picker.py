"""Choose methods to compare or score, and set their parameters."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from pydantic.fields import FieldInfo
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.methods import METHODS
from morphgraph.segment.method import OnlyMarked, bounds, parse_method, split_methods
from morphgraph.segment.models import uploaded_segmenter
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.segment.training import train
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import spelled
from web.hosting import is_public
from web.inputs import content_of
from web.sources import wordfreq_frequencies
from web.state import START, Chosen, Session, session
from web.text import plain
from web.training import train_in_turn
from web.waiting import Tell, Waiting
from web.widgets import (
    attempt,
    choice,
    set_value,
    setting,
    unique_name,
    value_now,
)

DEFAULT_METHODS = {
    "compare": (START, "bpe", "dropout", "trimmed", "picky", "flota"),
    "scores": (START, "bpe"),
}
"""The default methods of each page that offers a choice; they join as soon as possible."""
_TRAINED = "picky"
"""Trained on demand: listed after trimmed BPE, with those that need only a tokeniser."""
_BYTES = 256


@dataclass(frozen=True)
class PickedMethod:
    """A chosen method: its name, settings and label.

    ``made``: None until it is made; ``base``: the tokeniser it is based on, if any.
    """

    name: str
    settings: Mapping[str, Any]
    label: str
    made: Segmenter | None
    base: BpeTokeniser | None

    @property
    def title(self) -> str:
        """Its title, without settings."""
        return METHODS[self.name].title if self.name in METHODS else self.label

    @property
    def spelled_settings(self) -> str:
        """Its settings in one line, without those that are 0 or off and have no effect."""
        return ", ".join(
            f"{key} = {spelled(value)}" for key, value in self.settings.items() if value
        )


def _known_methods() -> list[str]:
    """Return the names of all methods that can be chosen."""
    names = METHODS.offered
    place = names.index("trimmed") + 1
    return [*names[:place], _TRAINED, *names[place:]]


def choose_methods(
    current: Session, place: str, field: DeltaGenerator, *, wait: bool = True
) -> list[PickedMethod]:
    """Show the method field and return the chosen methods, with messages for those that fail.

    ``place``: one of `DEFAULT_METHODS`, whose choices are kept apart; ``field``: where methods are
    chosen, possibly collapsed; ``wait``: make all of them now; otherwise `make_method` makes the
    slow ones.
    """
    edited = bool(current.study.graph.history)
    models = (f"model {name}" for name in current.models)
    names = [*_known_methods(), *([START] if edited else []), *models]
    chosen = chosen_methods(current, place)
    chosen.offer(names, lambda name: _is_available(current, name))
    _follow_methods(current, place)
    key = f"{place}_methods"

    def choose() -> None:
        chosen.names = list(st.session_state[key])

    st.session_state[key] = chosen.names
    field.multiselect(
        "Methods",
        names,
        key=key,
        format_func=lambda name: METHODS[name].title if name in METHODS else name,
        on_change=choose,
        help="On the open tokeniser as it is now. Train others, or open model files, to add "
        "them here.",
    )
    found = []
    for name in chosen.names:
        settings = _settings(name, place)
        try:
            made = None
            if wait or not _takes_long(current, name, settings):
                made = make_method(current, place, name, settings)
            label = _label(current, name, settings, edited)
            is_on_open = name in METHODS.offered
            made_on = None if made is None else made.tokeniser
            base = current.study.tokeniser if is_on_open else made_on
            found.append(PickedMethod(name, settings, label, made, base))
        except MorphGraphError as error:
            field.warning(plain(str(error)), icon=":material/warning:")
    return found


def chosen_methods(current: Session, place: str) -> Chosen:
    """Return the chosen methods of a page, from whichever record of them takes precedence."""
    return current.chosen.setdefault(place, Chosen([], list(DEFAULT_METHODS[place])))


def lacking_counts(current: Session, place: str) -> str:
    """Name the methods that lack word counts, with a verb; empty if none does."""
    lacking = [METHODS[n].title for n in DEFAULT_METHODS[place] if not _is_available(current, n)]
    return " and ".join(lacking) + (" need" if len(lacking) > 1 else " needs") if lacking else ""


def choose_method(current: Session, place: str) -> Segmenter:
    """Choose one method and its settings, and return it for the open tokeniser.

    Methods that need word counts are left out; the first is the tokeniser's own merges.
    """
    names = [
        name for name in METHODS.offered if METHODS[name].standalone and not METHODS[name].counts
    ]
    name = choice(
        st.selectbox,
        "Method",
        names,
        key=f"{place}_method",
        format_func=lambda name: METHODS[name].title,
        help="Its own merges, or another way to segment by the same vocabulary.",
    )
    settings = _settings(name, place)
    with st.container(horizontal=True):
        method_fields(PickedMethod(name, settings, METHODS[name].title, None, None), place)
    return method_on(current.study.tokeniser, name, settings)


def _follow_methods(current: Session, place: str) -> None:
    """Synchronise the chosen methods with the address, which wins on arrival and after Back.

    The address leaves out methods that need a file or edits; their choice is kept.
    """
    chosen = chosen_methods(current, place)
    named = [name for name in chosen.names if name in METHODS]
    here = ",".join(_spelled(name, _settings(name, place)) for name in named)
    asked = current.address.follow("methods", here, reads=lambda asked: _as_set(asked) or here)
    if asked == here:
        return
    given = _requested(asked)
    start, models = (
        [name for name in chosen.names if name not in METHODS and (name == START) is is_start]
        for is_start in (True, False)
    )
    chosen.take([*start, *given, *models])
    for name, parameters in given.items():
        for key, field in _fields(name).items():
            set_value(f"{place}_{name}_{key}", _within(parameters.get(key), field))


def _as_set(text: str) -> str:
    """Return the methods of an address with all their settings."""
    return ",".join(
        _spelled(
            name, {key: _within(given.get(key), field) for key, field in _fields(name).items()}
        )
        for name, given in _requested(text).items()
    )


def drop_method(place: str, name: str) -> None:
    """Remove a method from the chosen ones of a page."""
    chosen = chosen_methods(session(), place)
    chosen.names = [other for other in chosen.names if other != name]


def _label(current: Session, name: str, settings: Mapping[str, Any], edited: bool) -> str:
    """Return a method's name in tables, with settings that are not defaults."""
    if name not in METHODS:
        return name.removeprefix("model ")
    if name == "bpe":
        title = method_on(current.study.tokeniser, name).name
        return f"{title} now" if edited else title
    fields = METHODS[name].fields
    given = {key: value for key, value in settings.items() if value != fields[key].default}
    return METHODS[name].label(given)


def _requested(text: str) -> dict[str, Mapping[str, Any]]:
    """Parse the methods and settings of a shared address, ignoring any others."""
    found: dict[str, Mapping[str, Any]] = {}
    for part in split_methods(text)[:20]:
        try:
            name, parameters = parse_method(part)
        except MorphGraphError:
            continue
        if name in _known_methods():
            found.setdefault(name, parameters)
    return found


def _spelled(name: str, parameters: Mapping[str, Any]) -> str:
    listed = ", ".join(
        f"{k}={spelled(value)}" for k, value in parameters.items() if value is not False
    )
    return f"{name}({listed})" if listed else name


def _fields(name: str) -> dict[str, FieldInfo]:
    """Return the parameters of a method that can be set here."""
    fields = METHODS[name].fields if name in METHODS else {}
    return {
        key: field
        for key, field in fields.items()
        if not any(isinstance(each, OnlyMarked) for each in field.metadata)  # by merges: no marker
    }


def _settings(name: str, place: str) -> dict[str, Any]:
    """Return the current parameters of a method, wherever their fields are drawn."""
    return {
        key: value_now(f"{place}_{name}_{key}", field.default)
        for key, field in _fields(name).items()
    }


def method_fields(picked: PickedMethod, place: str, *, titled: bool = False) -> None:
    """Show a field for each parameter of a method; ``titled``: prefixed by the method's name."""
    for key, field in _fields(picked.name).items():
        label = f"{picked.title}: {key}" if titled else key
        widget = f"{place}_{picked.name}_{key}"
        parameter_field(st.container(), label, widget, field, picked.settings[key])


def parameter_field(
    place: DeltaGenerator, label: str, key: str, field: FieldInfo, first: Any
) -> Any:
    """Show a switch or bounded number for a parameter, ``first`` at first."""
    if isinstance(field.default, bool):
        return setting(place.toggle, label, key=key, first=first, help=field.description)
    return setting(
        place.number_input,
        label,
        *_limits(field),
        step=0.05 if isinstance(field.default, float) else 1,
        key=key,
        first=first,
        help=field.description,
        width=155,
    )


def _limits(field: FieldInfo) -> tuple[Any, Any]:
    """Return the smallest and largest number; None where a browser cannot represent it."""
    kind, limits = type(field.default), bounds(field)
    least, most = limits.get("ge"), limits.get("le")
    return None if least is None else kind(least), None if most is None else kind(most)


def _within(value: Any, field: FieldInfo) -> Any:
    """Return a given value if it is valid, else the default."""
    kind = type(field.default)
    if not isinstance(value, int | float):
        return field.default
    least, most = _limits(field)
    value = value if least is None else max(value, least)
    return kind(value if most is None else min(value, most))


def upload_model(place: str) -> None:
    """Show a field for model files, which are added to the methods of a page."""
    file = st.file_uploader(
        "Model",
        type=["json", "txt", "model"],
        key=f"{place} model",
        help="A model that Train saved, a tokenizer.json (BPE, WordPiece, Unigram), a "
        "SentencePiece model, or a list of types.",
    )
    if file is None or st.session_state.get(f"{place} uploaded") == file.file_id:
        return  # already read, and possibly removed since
    with attempt():
        read = uploaded_segmenter(content_of(file), file.name)
        st.session_state[f"{place} uploaded"] = file.file_id
        add_model(file.name, read, [place])


def add_model(name: str, model: Segmenter, places: Sequence[str]) -> None:
    """Add a model read from a file to the lists, and choose it on the pages ``places``."""
    current = session()
    name = unique_name(name, current.models)
    current.keep_model(name, model)
    for place in places:
        chosen_methods(current, place).names.append(f"model {name}")


def make_method(current: Session, place: str, name: str, settings: Mapping[str, Any]) -> Segmenter:
    """Make a method for the open tokeniser, or return it from the cache.

    ``place``: the page, which drops the method if its training is stopped.
    """
    if name.startswith("model "):
        return current.models[name.removeprefix("model ")]
    asked, tokeniser = _identity(current, name, settings), current.study.tokeniser

    def make() -> Segmenter:
        if name == START:
            return method_on(tokeniser.fork(), "bpe")
        if name == _TRAINED:
            return _picky(current, place, asked, **settings)
        counts = _counts(current)[0] if METHODS[name].counts else None
        # A copy, as it is cached for other sessions while edits continue.
        return method_on(tokeniser.copy(), name, settings, counts)

    return current.study.cache.get(*asked, make)


def _identity(
    current: Session, name: str, settings: Mapping[str, Any]
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Return everything that identifies a method; word counts are identified by checksum."""
    digest = _counts(current)[1] if _needs_counts(name) else b""
    question = ("method", name, *settings.items())
    if name == _TRAINED:
        return (digest, current.study.graph.loaded_type_count), question
    tokeniser = current.study.tokeniser
    files = tokeniser.name, tokeniser.checksum, *tokeniser.learned_from  # it tells them
    return (digest, tokeniser.numbered, *files), question


def _takes_long(current: Session, name: str, settings: Mapping[str, Any]) -> bool:
    """Whether `make_method` still has to count words or train for this method."""
    if not _needs_counts(name) or _counts(current)[0] is None:
        return False
    return _identity(current, name, settings) not in current.study.cache


def _needs_counts(name: str) -> bool:
    return name == _TRAINED or (name in METHODS and METHODS[name].counts)


def _picky(current: Session, place: str, key: Hashable, threshold: float) -> Segmenter:
    """Train Picky BPE on demand."""
    counts, size = _counts(current)[0], current.study.graph.loaded_type_count
    if counts is None:
        raise MorphGraphError(
            "Picky BPE is trained on word counts. Choose word frequencies for the reference on the "
            "page Scores."
        )
    visitor = current.store.folder.name
    waiting = Waiting(st.empty(), lambda _: drop_method(place, _TRAINED))
    said = f"Training Picky BPE on {len(counts):,} words"
    make = partial(_trained_picky, counts, size, threshold, visitor)
    model = waiting.do(key, said, make)
    waiting.clear()
    return model


def _trained_picky(
    counts: WordCounts, size: int, threshold: float, visitor: str, tell: Tell
) -> Segmenter:
    """Train Picky BPE with this many types; in a public app, through the training queue."""
    if not is_public():
        given = {"threshold": threshold}
        return train("picky", counts, size, pipeline="plain", parameters=given, progress=tell)
    options = ["--method", f"picky(threshold={threshold})", "--pipeline", "plain"]
    options += ["--vocab-size", str(size)]
    listed = "".join(f"{word}\t{count}\n" for word, count in counts.items())
    return train_in_turn(
        visitor,
        options,
        f"picky-plain-{size}",
        lambda said, share: tell(share, said),
        ("--counts", "counts.tsv", listed.encode("utf-8", "surrogatepass")),
    )


def _is_available(current: Session, name: str) -> bool:
    """Whether a method can be a default: word counts are available if it needs them."""
    if not _needs_counts(name):
        return True
    has_room = name != _TRAINED or current.study.graph.loaded_type_count > _BYTES
    return has_room and _counts(current)[0] is not None


Counted = tuple[WordCounts | None, bytes]
"""Word counts, if available, and their checksum."""


def _counts(current: Session) -> Counted:
    """Return word counts for methods that need them: the frequencies of the open reference."""

    def make() -> Counted:
        known = current.study.benchmark.frequencies
        if current.frequency_language:
            return _counts_of_language(current.frequency_language)
        return _rounded(known) if known else (None, b"")

    return current.once(("word counts",), make, of_files=True)


@st.cache_resource(show_spinner=False, max_entries=6)
def _counts_of_language(language: str) -> Counted:
    return _rounded(wordfreq_frequencies(language))


def _rounded(known: Mapping[str, float]) -> Counted:
    counts = WordCounts(list(known), [max(0, round(number)) for number in known.values()])
    return counts, _digest(counts)


def _digest(counts: WordCounts) -> bytes:
    listed = "\n".join(f"{word}\t{count}" for word, count in counts.items())
    return hashlib.sha256(listed.encode("utf-8", "surrogatepass")).digest()
