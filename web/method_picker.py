"""Which methods are compared or scored, and how they are set."""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from pydantic.fields import FieldInfo
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.models import uploaded_segmenter
from morphgraph.segment.parameters import OnlyMarked, bounds
from morphgraph.segment.registry import METHODS, method_on, parse_method, split_methods
from morphgraph.tokeniser.words import Segmenter, spelled
from morphgraph.train.trainers import train
from web.inputs import content_of
from web.session import Session, keep_model, trained_models
from web.text import plain
from web.widgets import attempt, forget_oldest, primed, remembered

START = "before the edits"
_TRAINED = "picky"
"""Trained on demand: it stands among those that need a tokeniser only, behind trimmed BPE."""
_BYTES = 256
_MOST_PICKY = 8
_picky_models: dict[tuple[bytes, int, float], Segmenter] = {}
"""Those trained on demand in all sessions, the newest last."""
_lock = threading.Lock()


def _known_methods() -> list[str]:
    """The names of all methods that can be chosen."""
    names = METHODS.offered
    place = names.index("trimmed") + 1
    return [*names[:place], _TRAINED, *names[place:]]


def choose_methods(
    current: Session, place: str, first: Sequence[str], files: DeltaGenerator | None = None
) -> tuple[list[Segmenter], list[str]]:
    """The chosen methods and their labels; messages for what cannot be made.

    ``place``: a name of the page, which keeps the choices of pages apart; ``first``: the methods
    that are chosen at first, those of them that there are and that have the word counts they need;
    ``files``: where model files are added.
    """
    models = trained_models()
    above = st.container()  # the upload comes first in time, so that its model can be chosen
    with files or st.expander("Add a model file", icon=":material/upload_file:"):
        _upload(place)
    with above:
        return _chosen(current, models, place, first)


def _chosen(
    current: Session, models: Mapping[str, Segmenter], place: str, first: Sequence[str]
) -> tuple[list[Segmenter], list[str]]:
    edited = bool(current.study.graph.history)
    names = [*_known_methods(), *([START] if edited else []), *(f"model {name}" for name in models)]
    asked = st.query_params.get("methods")
    possible = [name for name in first if _has_what_it_needs(current, name)]
    begin, given = _asked(asked, possible) if asked else (possible, {})
    key = f"{place}_methods"
    added = st.session_state.pop(f"{place} new models", [])
    with remembered(**{key: begin}):
        kept = [*st.session_state[key], *added]
        if edited and START in first and not st.session_state.get(f"{place} start offered"):
            kept = [START, *kept]  # beside what is edited, when it first is
        st.session_state[f"{place} start offered"] = edited
        st.session_state[key] = [name for name in dict.fromkeys(kept) if name in names]
        chosen = st.multiselect(
            "Methods",
            names,
            key=key,
            format_func=lambda name: METHODS[name].title if name in METHODS else name,
            help="On the open tokeniser as it is now. Train others, or open model files, to add "
            "them here.",
        )
    settings = _settings(chosen, given, place)
    st.query_params["methods"] = ",".join(
        _spelled(name, settings.get(name, {})) for name in chosen if name in METHODS
    )
    made, labels = [], []
    for name in chosen:
        try:
            made.append(_make(current, name, settings.get(name, {}), models))
            labels.append(_label(name, settings.get(name, {}), made[-1], edited))
        except MorphGraphError as error:
            st.warning(plain(str(error)), icon=":material/warning:")
    return made, labels


def _label(name: str, settings: Mapping[str, Any], segmenter: Segmenter, edited: bool) -> str:
    """A method's name in tables, with settings that are not the usual ones; a model's own."""
    if name not in METHODS:
        return name.removeprefix("model ")
    if name == "bpe":
        return f"{segmenter.name} now" if edited else segmenter.name
    fields = METHODS[name].fields
    given = {key: value for key, value in settings.items() if value != fields[key].default}
    return METHODS[name].label(given)


def _asked(text: str, first: Sequence[str]) -> tuple[Sequence[str], dict[str, Mapping[str, Any]]]:
    """The methods of an address that somebody shared; others are left out."""
    names: list[str] = []
    given: dict[str, Mapping[str, Any]] = {}
    for part in split_methods(text)[:20]:
        try:
            name, parameters = parse_method(part)
        except MorphGraphError:
            continue
        if name in _known_methods() and name not in names:
            names.append(name)
            given[name] = parameters
    return names or first, given


def _spelled(name: str, parameters: Mapping[str, Any]) -> str:
    listed = ", ".join(
        f"{k}={spelled(value)}" for k, value in parameters.items() if value is not False
    )
    return f"{name}({listed})" if listed else name


def _settings(
    chosen: list[str], given: Mapping[str, Mapping[str, Any]], place: str
) -> dict[str, dict[str, Any]]:
    """A number field for each parameter of the chosen methods."""
    fields = [
        (name, key, field)
        for name in chosen
        if name in METHODS
        for key, field in METHODS[name].fields.items()
        if not any(isinstance(each, OnlyMarked) for each in field.metadata)  # by merges: no marker
    ]
    found: dict[str, dict[str, Any]] = {}
    if not fields:
        return found
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    for name, key, field in fields:
        widget = f"{place}_{name}_{key}"
        label = f"{METHODS[name].title}: {key}"
        with remembered(**{widget: _within(given.get(name, {}).get(key), field)}):
            found.setdefault(name, {})[key] = parameter_field(row, label, widget, field)
    return found


def parameter_field(place: DeltaGenerator, label: str, key: str, field: FieldInfo) -> Any:
    """What sets a parameter of a method: a switch, or a number within its bounds."""
    if isinstance(field.default, bool):
        return place.toggle(label, key=key, help=field.description)
    least, most = _limits(field)
    return place.number_input(
        label,
        least,
        most,
        step=0.05 if isinstance(field.default, float) else 1,
        key=key,
        help=field.description,
        width=155,
    )


def _limits(field: FieldInfo) -> tuple[Any, Any]:
    """The least and the largest number; None where a browser has no room for it."""
    kind, limits = type(field.default), bounds(field)
    least, most = limits.get("ge"), limits.get("le")
    return None if least is None else kind(least), None if most is None else kind(most)


def _within(value: Any, field: FieldInfo) -> Any:
    """A value that somebody gave, if it fits; the default if it is none."""
    kind = type(field.default)
    if not isinstance(value, int | float):
        return field.default
    least, most = _limits(field)
    value = value if least is None else max(value, least)
    return kind(value if most is None else min(value, most))


def _upload(place: str) -> None:
    file = st.file_uploader(
        "Model",
        type=["json", "txt", "model"],
        key=f"{place} model",
        help="A model that Train saved, a tokenizer.json (BPE, WordPiece, Unigram), a "
        "SentencePiece model, or a list of types.",
    )
    if file is None or st.session_state.get(f"{place} uploaded") == file.file_id:
        return  # read already; if it was forgotten since, it stays so
    with attempt():
        read = uploaded_segmenter(content_of(file), file.name)
        st.session_state[f"{place} uploaded"] = file.file_id
        add_model(file.name, read, [place])


def add_model(name: str, model: Segmenter, places: Sequence[str]) -> None:
    """Add a model that was read from a file to the lists, and choose it on the pages ``places``."""
    name = primed(name, trained_models())
    keep_model(name, model)
    for place in places:
        st.session_state.setdefault(f"{place} new models", []).append(f"model {name}")


def _make(
    current: Session, name: str, parameters: Mapping[str, Any], models: Mapping[str, Segmenter]
) -> Segmenter:
    study = current.study
    if name.startswith("model "):
        return models[name.removeprefix("model ")]

    def make() -> Segmenter:
        if name == START:
            return method_on(study.tokeniser.fork(), "bpe")
        if name == _TRAINED:
            return _picky(current, **parameters)
        return method_on(study.tokeniser, name, parameters, _counts(current))

    return current.once(("method", name, tuple(parameters.items())), make)


def _picky(current: Session, threshold: float) -> Segmenter:
    """Picky BPE, trained on the spot if no session has asked for the same before."""
    counts, size = _counts(current), current.study.graph.loaded_type_count
    if counts is None:
        raise MorphGraphError(
            "Picky BPE is trained on word counts. Choose word frequencies for the reference on the "
            "page Scores."
        )
    place = st.empty()
    shown = -1.0

    def advance(share: float) -> None:
        nonlocal shown
        if share >= shown + 0.02:
            shown = share
            place.progress(min(share, 1.0), f"Training Picky BPE on {len(counts):,} words…")

    model = trained_picky(counts, size, threshold, advance)
    place.empty()
    return model


def trained_picky(
    counts: WordCounts, size: int, threshold: float, progress: Callable[[float], None]
) -> Segmenter:
    """Picky BPE of so many types, trained when it is first asked for on these very counts."""
    listed = "\n".join(f"{word}\t{count}" for word, count in counts.items())
    digest = hashlib.sha256(listed.encode("utf-8", "surrogatepass")).digest()
    wanted = (digest, size, threshold)
    with _lock:
        found = _picky_models.pop(wanted, None)
    if found is None:
        given = {"threshold": threshold}
        found = train("picky", counts, size, pipeline="plain", parameters=given, progress=progress)
    with _lock:
        _picky_models[wanted] = found
        forget_oldest(_picky_models, _MOST_PICKY)
    return found


def _has_what_it_needs(current: Session, name: str) -> bool:
    """Whether a method can be among the first ones: there are word counts, if it needs them."""
    if name not in METHODS or not (METHODS[name].counts or name == _TRAINED):
        return True
    has_room = name != _TRAINED or current.study.graph.loaded_type_count > _BYTES
    return has_room and _counts(current) is not None


def _counts(current: Session) -> WordCounts | None:
    """Word counts for methods that need some: the frequencies of the open reference."""
    key = ("word counts",)
    if key not in current.computed:
        known = current.study.benchmark.frequencies or {}
        numbers = [max(0, round(number)) for number in known.values()]
        current.computed[key] = WordCounts(list(known), numbers) if known else None
    counts: WordCounts | None = current.computed[key]
    return counts
