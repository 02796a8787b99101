"""Choose what to compare or score: methods with their parameters, models, and references."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from pydantic.fields import FieldInfo
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import DEMOS
from morphgraph.core.isolated import VISITOR
from morphgraph.core.limits import is_public
from morphgraph.reference.entry import Reference
from morphgraph.reference.families import Part
from morphgraph.reference.predictions import Predictions, read_predictions
from morphgraph.reference.readers import read_reference
from morphgraph.refine.learning import Learner, has_seen, kept_from, unseen_by
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.segment.method import (
    METHODS,
    OnlyMarked,
    bounds,
    parse_method,
    split_methods,
    values_of,
)
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.segment.training import train
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import called
from web import widgets as ui
from web.aside import scored_words, sides
from web.copies import copied, copies_of
from web.inputs import clear_upload, open_file
from web.jobs import Tell, Waiting, made_beside, retry_beside, train_in_turn, watch_beside
from web.sources import Source, frequencies_of, reference_of
from web.state import Session, session

START, EDITED = "before the edits", "BPE, edited"
"""The method that is the tokeniser without its edits, and the name of the tokeniser with them."""
METHODS.load()
DEFAULT_METHODS = (START, "bpe", "dropout", "trimmed", "picky", "flota", "rebpe")
"""What is compared until somebody chooses; what is trained or learned, where it is waited for."""
_WAITED = "trained methods waited for"
_PLACE = "compare"
"""Where methods are chosen, on Segmentations and Scores alike: the beginning of their keys."""
WEIGHTED = {"types": "once", "tokens": "by frequency"}
"""How often each word counts, by the weighting."""
_TRAINED = "picky"
"""The method of `DEFAULT_METHODS` that is trained on demand."""
_MOST = 8
"""The limit of references, and of segmentations, beside the open one."""
_OPEN = "open"
_REFERENCES, _PREDICTIONS = "scores_references", "scores_predictions"
_MORE, _ADDED = "references to score on", "scores reference"


@dataclass(frozen=True)
class PickedMethod:
    """A chosen method, ``made`` if it has been, and the tokeniser it is based on, if any.

    ``split``: the words that it was not learned from, where it learns.
    """

    name: str
    settings: Mapping[str, Any]
    label: str
    made: Segmenter | None = None
    base: BpeTokeniser | None = None
    split: Part | None = None

    @property
    def title(self) -> str:
        """Its title, without settings."""
        return METHODS[self.name].title if self.name in METHODS else self.label


def choose_methods(
    current: Session, field: DeltaGenerator, *, with_trained: bool = False
) -> list[PickedMethod]:
    """Show the method field and return the chosen methods, with messages for those that fail.

    ``field``: where methods are chosen, possibly collapsed. `make_next` makes the slow ones.
    ``with_trained``: those of the defaults that are trained or learned are waited for here.
    """
    if with_trained:
        st.session_state[_WAITED] = True
    _follow_methods(current)
    names = chosen_methods(current)
    key = f"{_PLACE}_methods"

    def choose() -> None:
        retry_beside()
        choose_these(current, st.session_state[key])

    st.session_state[key] = names
    field.multiselect(
        "Methods",
        _offered(current),
        key=key,
        format_func=lambda name: METHODS[name].title if name in METHODS else name,
        on_change=choose,
        help="On the open tokeniser as it is now; what learns from the reference, on it as it was "
        "before the edits, without the words kept aside. Train others, open model files, or keep "
        "copies on History and export, to add them here.",
    )
    picked = []
    for name in names:
        settings = _settings(name)
        try:
            if _takes_long(current, name, settings):
                made = made_beside(_work(current, name, settings))
            else:
                made = make_method(current, name, settings)
            made_on = None if made is None else made.tokeniser
            base = current.study.tokeniser if name in METHODS.offered else made_on
            split = _split(current, name)
            if base is not None:
                split = kept_from(base, current.study.benchmark)
            label = _label(current, name, settings)
            picked.append(PickedMethod(name, settings, label, made, base, split))
        except MorphGraphError as error:
            field.warning(ui.plain(str(error)), icon=":material/warning:")
    return picked


def chosen_methods(current: Session) -> list[str]:
    """Return the chosen methods, the same on all pages; at first, the defaults that can be made.

    Of these, what is trained or learned joins once it was waited for on some page.
    """
    offered = _offered(current)
    if current.chosen is not None:
        return [name for name in current.chosen if name in offered]

    def is_ready(name: str) -> bool:
        is_quick = st.session_state.get(_WAITED, False) or not _of_files(name)
        return is_quick and _is_available(current, name)

    return [name for name in DEFAULT_METHODS if name in offered and is_ready(name)]


def choose_these(current: Session, names: Sequence[str]) -> None:
    """Choose methods, and what is before the edits once there are some: then it can be removed."""
    current.chosen = [*([] if current.study.graph.history else [START]), *names]


def _offered(current: Session) -> list[str]:
    before = [START] if current.study.graph.history else []
    copies = (f"copy {name}" for name in copies_of(current))
    models = (f"model {name}" for name in current.models)
    return [*_known_methods(current), *before, *copies, *models]


def _label(current: Session, name: str, settings: Mapping[str, Any]) -> str:
    if name == "bpe":
        edited = current.study.graph.history
        return EDITED if edited else method_on(current.study.tokeniser, name).name
    if name not in METHODS:
        return name.removeprefix("copy ").removeprefix("model ")
    fields = METHODS[name].fields.items()
    usual = {key: field.default for key, field in fields}
    return METHODS[name].label({k: v for k, v in settings.items() if v != usual[k]})


def _known_methods(current: Session) -> list[str]:
    learning = METHODS.learning if current.study.benchmark.reference.has_gold else []
    names = [*METHODS.offered, _TRAINED, *learning]
    return sorted(names, key=lambda name: METHODS[name].needs in ("vocabulary", "segmenter"))


def drop_method(name: str) -> None:
    """Remove a method from the chosen ones."""
    retry_beside()
    current = session()
    names = st.session_state.get(f"{_PLACE}_methods", chosen_methods(current))
    choose_these(current, [other for other in names if other != name])


def lacking_counts(current: Session) -> str:
    """Name the methods that lack word counts, with a verb; empty if none does."""
    lacking = [
        METHODS[name].title
        for name in DEFAULT_METHODS
        if _needs_counts(name) and _has_room(current, name) and not _is_available(current, name)
    ]
    return " and ".join(lacking) + (" need" if len(lacking) > 1 else " needs") if lacking else ""


def choose_method(tokeniser: BpeTokeniser, place: str) -> Segmenter:
    """Choose one method that needs no word counts, and return it for a tokeniser."""
    names = [n for n in METHODS.offered if METHODS[n].standalone and not METHODS[n].counts]
    name = ui.choice(
        st.selectbox,
        "Method",
        names,
        key=f"{place}_method",
        format_func=lambda name: METHODS[name].title,
        help="Its own merges, or another way to segment by the same vocabulary.",
    )
    settings = _settings(name, place)
    with st.container(horizontal=True):
        method_fields(PickedMethod(name, settings, METHODS[name].title), place)
    return method_on(tokeniser, name, settings)


def _follow_methods(current: Session) -> None:
    """Synchronise with the address the methods that need no file and no edits."""
    known, names = _known_methods(current), chosen_methods(current)
    here = _addressed({n: _settings(n) for n in names if n in METHODS})
    asked = current.address.follow(
        "methods", here, reads=lambda asked: _addressed(_requested(asked, known)) or here
    )
    if asked == here:
        return
    given = _requested(asked, known)
    others = [name for name in names if name not in METHODS]
    choose_these(current, sorted([*given, *others], key=lambda name: name != START))
    for name, parameters in given.items():
        for key, value in parameters.items():
            ui.set_value(f"{_PLACE}_{name}_{key}", value)


def _requested(text: str, known: Collection[str]) -> dict[str, dict[str, Any]]:
    methods: dict[str, dict[str, Any]] = {}
    for part in split_methods(text)[:20]:
        with suppress(MorphGraphError):
            name, given = parse_method(part)
            if name in known:
                settings = dict(METHODS[name].settings(given))
                methods.setdefault(name, {key: settings[key] for key in _fields(name)})
    return methods


def _addressed(methods: Mapping[str, Mapping[str, Any]]) -> str:
    return ",".join(
        called(name, {key: value for key, value in given.items() if value is not False})
        for name, given in methods.items()
    )


def _fields(name: str) -> dict[str, FieldInfo]:
    """Return the parameters of a method that can be set here: merges leave no marker."""
    fields = METHODS[name].fields.items() if name in METHODS else ()
    if name in METHODS.learning:
        return {key: field for key, field in fields if key == "threshold"}
    return {key: f for key, f in fields if not any(isinstance(m, OnlyMarked) for m in f.metadata)}


def _settings(name: str, place: str = _PLACE) -> dict[str, Any]:
    fields = _fields(name).items()
    return {key: ui.value_now(f"{place}_{name}_{key}", field.default) for key, field in fields}


def method_fields(picked: PickedMethod, place: str = _PLACE, *, titled: bool = False) -> None:
    """Show a field for each parameter of a method; ``titled``: prefixed by the method's name."""
    for key, field in _fields(picked.name).items():
        label = f"{picked.title}: {key}" if titled else key
        widget = f"{place}_{picked.name}_{key}"
        parameter_field(st.container(), label, widget, field, picked.settings[key])


def parameter_field(
    place: DeltaGenerator, label: str, key: str, field: FieldInfo, first: Any, **options: Any
) -> Any:
    """Show a switch or bounded number for a parameter, ``first`` at first."""
    options |= {"key": key, "first": first, "help": field.description}
    if values_of(field) is bool:
        return ui.setting(place.toggle, label, **options)
    options = {"step": _step(field), "width": 155, **options}
    return ui.setting(place.number_input, label, *_limits(field), **options)


def scope_and_weighting(place: str, *golds: GoldSet, **how: Any) -> tuple[Scope, Weighting]:
    """Choose on which boundaries and by which weights to score, where golds leave a choice."""

    def choose(label: str, name: str, offered: Sequence[Any]) -> Any:
        key = f"{place}_{name}"
        named = {"format_func": lambda one: WEIGHTED.get(one, one), **how}
        return ui.segments(label, offered, key=key, **named) if len(offered) > 1 else offered[0]

    scopes = [one for one in SCOPES if any(gold.has_gold(one).any() for gold in golds)]
    weightings = [one for one in WEIGHTINGS if any(one in gold.weightings for gold in golds)]
    scope = choose("Gold boundaries", "scope", scopes or SCOPES)
    return scope, choose("Each word counts", "weighting", weightings)


def scoring_now(place: str, gold: GoldSet) -> tuple[Scope, Weighting]:
    """Return what was chosen by `scope_and_weighting`, as far as gold supports it."""
    scope: Scope = ui.value_now(f"{place}_scope", "morphemic")
    weighting: Weighting = ui.value_now(f"{place}_weighting", "types")
    scope = scope if gold.reference.has_whole_words else "morphemic"
    return scope, weighting if weighting in gold.weightings else "types"


def _step(field: FieldInfo) -> Any:
    return 0.05 if values_of(field) is float else 1


def _limits(field: FieldInfo) -> tuple[Any, Any]:
    """Return the smallest and largest number; None where a browser cannot represent it."""
    kind, limits = values_of(field), bounds(field)
    least, most = limits.get("ge"), limits.get("le")
    if kind is float and "lt" in limits:
        most = limits["lt"] - _step(field)
    return None if least is None else kind(least), None if most is None else kind(most)


def upload_model() -> None:
    """Show a field for model files, which are added to the chosen methods."""
    tip = (
        "A model that Train saved, a tokenizer.json (BPE, WordPiece, Unigram), a "
        "SentencePiece model, or a list of types."
    )

    def take(name: str, data: bytes) -> None:
        add_model(name, load_segmenter({name: data}))

    open_file(
        "Model",
        f"{_PLACE} model",
        take,
        type=["json", "txt", "model", "tiktoken", "gguf"],
        help=tip,
    )


def add_model(name: str, model: Segmenter) -> None:
    """Add a model read from a file to the list of methods, and choose it."""
    current = session()
    name = ui.unique_name(name, current.models)
    current.keep_model(name, model)
    choose_these(current, [*chosen_methods(current), f"model {name}"])


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
    if name == _TRAINED:
        return _trainer(current, name, settings)
    if name in METHODS.learning:
        return _learner(current, name, settings)
    if name == START:
        name, made_on, corpus = "bpe", tokeniser.fork(), None
    else:
        made_on, corpus = tokeniser.copy(), current.corpus() if METHODS[name].counts else None
    return lambda _: method_on(made_on, name, settings, corpus.counts if corpus else None)


def make_next(current: Session, picked: Iterable[PickedMethod], place: DeltaGenerator) -> None:
    """Make the slow methods, one after the other, beside the page, which then shows them, too."""
    for one in picked:
        if one.made is None:
            with place:
                error = _make_beside(current, one)
                if error is None:
                    return
                st.warning(ui.plain(str(error)), icon=":material/warning:")


def _make_beside(current: Session, one: PickedMethod) -> MorphGraphError | None:
    work, cache = _work(current, one.name, one.settings), current.study.cache

    def prepare() -> Callable[[Tell], Segmenter]:
        make = _maker(current, one.name, one.settings)
        return lambda tell: cache.get(*work, partial(make, tell))

    title = f"{'Learning' if one.name in METHODS.learning else 'Making'} {one.title}"
    return watch_beside(work, title, prepare, partial(drop_method, one.name))


def _key(current: Session, name: str, settings: Mapping[str, Any]) -> tuple[Hashable, ...]:
    return "method", name, *settings.items(), _split(current, name)


def _of_files(name: str) -> bool:
    """Whether a method is the same after any edit."""
    return name == _TRAINED or name in METHODS.learning


def _split(current: Session, name: str) -> Part | None:
    """Return the words that a method does not learn from, if it learns."""
    return scored_words(current, learning=True).part if name in METHODS.learning else None


def _needs_counts(name: str) -> bool:
    return name == _TRAINED or (name in METHODS and METHODS[name].counts)


def _takes_long(current: Session, name: str, settings: Mapping[str, Any]) -> bool:
    """Whether `make_method` still has to count words or train for this method."""
    lacks_counts = _needs_counts(name) and current.corpus() is None
    if lacks_counts or not (_needs_counts(name) or _of_files(name)):
        return False
    return _work(current, name, settings) not in current.study.cache


def _work(
    current: Session, name: str, settings: Mapping[str, Any]
) -> tuple[Hashable, tuple[Hashable, ...]]:
    """Return by which state and question the result is cached."""
    return current.state(of_files=_of_files(name)), _key(current, name, settings)


def _has_room(current: Session, name: str) -> bool:
    return name != _TRAINED or current.study.graph.loaded_type_count > 256  # bytes


def _is_available(current: Session, name: str) -> bool:
    has_counts = not _needs_counts(name) or current.corpus() is not None
    return has_counts and _has_room(current, name)


def kept_words(current: Session, gold_set: GoldSet, part: Part | None) -> GoldSet:
    """Return the words of a part of gold, computed once; all without one."""
    if part is None:
        return gold_set
    key = ("kept aside", Same(gold_set), part)
    return current.once(key, lambda: gold_set.split(*part[1:])[1], of_files=True)


def unseen_words(current: Session, picked: Iterable[PickedMethod], gold_set: GoldSet) -> GoldSet:
    """Return the words that chosen methods are scored on: those that none learned from, or all.

    What is still being learned counts, so that no figure changes once it joins.
    """
    bases, opened = [one.base for one in picked if one.base], current.study.benchmark
    part = unseen_by(bases, gold_set)
    is_opened = gold_set.reference.checksum == opened.reference.checksum
    if is_opened and not any(has_seen(base, gold_set) for base in bases):
        part = next((one.split for one in picked if one.base is None and one.split), part)
    return kept_words(current, gold_set, part)


def _learner(
    current: Session, name: str, settings: Mapping[str, Any]
) -> Callable[[Tell], Segmenter]:
    method, (rest, _) = METHODS[name], sides(current)
    learner = Learner(current.study.tokeniser.fork(), method, method.settings(settings))
    return lambda _: learner.learn(rest)


def _trainer(
    current: Session, name: str, settings: Mapping[str, Any]
) -> Callable[[Tell], Segmenter]:
    corpus, size = current.corpus(), current.study.graph.loaded_type_count
    if corpus is None:
        raise MorphGraphError(
            f"{METHODS[name].title} is trained on word counts. Choose word frequencies for the "
            "reference on the page Scores."
        )
    counts, visitor = corpus.counts, current.store.folder.name
    options: dict[str, Any] = {"pipeline": "plain", "parameters": settings}

    def make(tell: Tell) -> Segmenter:
        if is_public():
            return train_in_turn(visitor, name, counts, size, tell, **options)
        return train(name, counts, size, progress=tell, **options)

    return make


def choose_references(
    current: Session, files: DeltaGenerator, waiting: Waiting
) -> dict[str, GoldSet]:
    """Return the chosen references with their word weights; at first, the open one.

    ``files``: where to add more; ``waiting``: shows progress while a large one is read.
    """
    opened = current.study.benchmark.reference.name
    more: dict[str, Reference] = st.session_state.setdefault(_MORE, {})
    with files:  # run first, so that what is added can be chosen
        _upload_reference(more, opened, waiting)
    labels = {_OPEN: opened} if current.study.benchmark.reference.has_gold else {}
    labels |= {f"demo {code}": f"demo:{code}" for code in DEMOS if code != current.language}
    labels |= {f"file {name}": name for name in more}
    chosen = ui.choice(
        st.multiselect,
        "References",
        labels,
        key=_REFERENCES,
        first=[one for one in labels if one == _OPEN],
        format_func=labels.__getitem__,
        help="Scores of different references are never mixed: each has rows of its own.",
    )
    return {name: _gold_set(current, name, more) for name in chosen}


def remove_reference(name: str | None) -> None:
    """Remove a reference from those scored on, or (None) cancel the upload being read."""
    if name is None:
        clear_upload(_ADDED)
    others = [other for other in ui.value_now(_REFERENCES, []) if other != name]
    ui.set_value(_REFERENCES, others)


def _gold_set(current: Session, name: str, more: dict[str, Reference]) -> GoldSet:
    """Return a reference as a gold set, the same object each time, so that results are cached."""
    kind, _, rest = name.partition(" ")
    if kind == "demo":
        return _demo_gold_set(rest)
    known = current.study.benchmark
    given: tuple[Any, ...] = (known.reference, known.frequencies, known.frequency_source)
    key: tuple[Hashable, ...] = ("gold_set", _OPEN)
    if kind == "file":
        given = (more[rest],)
        key = ("gold_set", name, Same(more[rest]))
    return current.once(key, lambda: GoldSet.of(*given), of_files=True)


@st.cache_resource
def _demo_gold_set(code: str) -> GoldSet:
    counts = Source(f"wordfreq:{code}")
    return GoldSet.of(reference_of(Source(f"demo:{code}")), frequencies_of(counts), counts.name)


def _upload_reference(more: dict[str, Reference], opened: str, waiting: Waiting) -> None:
    def take(name: str, data: bytes) -> None:
        VISITOR.set(session().store.folder.name)  # which a fragment does not have from its page

        def read(tell: Tell) -> Reference:
            reference = read_reference(data, name=name)
            tell(1.0)
            return reference

        reference = waiting.do(("read", name, hash(data)), f"Reading {name}", read)
        name = ui.unique_name(name, [*more, opened])
        more[name] = replace(reference, name=name)
        ui.forget_oldest(more, _MOST)
        _choose_too(_REFERENCES, f"file {name}", [_OPEN])

    tip = "It is added to the list and stays closed: edits and blame stay with the open one."
    open_file("One more gold list", _ADDED, take, help=tip)


def _choose_too(key: str, name: str, usual: list[str]) -> None:
    st.session_state[key] = list(dict.fromkeys([*ui.value_now(key, usual), name]))


def choose_predictions(files: DeltaGenerator) -> dict[str, Predictions]:
    """Return the chosen segmentation files by name; ``files``: where to add some."""
    known: dict[str, Predictions] = st.session_state.setdefault("predictions to score", {})
    with files:  # run first, so that what is added can be chosen
        _upload_predictions(known)
    if not known:
        return {}
    tip = (
        "Their segmentations are scored as they are: they have no vocabulary, and a word "
        "that a file lacks is not cut."
    )
    chosen = ui.choice(
        st.multiselect, "Other programs", known, key=_PREDICTIONS, first=list(known), help=tip
    )
    return {name: known[name] for name in chosen}


def _upload_predictions(known: dict[str, Predictions]) -> None:
    st.caption(
        "A word a line, as another program cut it: `word⇥un break able`, `un|break|able`, "
        "`word⇥un @@break @@able` (SIGMORPHON), or what Morfessor saves or prints."
    )

    def take(name: str, data: bytes) -> None:
        predictions = read_predictions(data, name=name)
        others = [one for one, other in known.items() if other.checksum != predictions.checksum]
        name = ui.unique_name(name.rsplit(".", 1)[0], others)
        known[name] = predictions
        ui.forget_oldest(known, _MOST)
        _choose_too(_PREDICTIONS, name, [])

    open_file("Segmentations", "predictions", take)
    for name, predictions in known.items():
        st.caption(f"{ui.plain(name)}: {len(predictions):,} words.")
        for skip in predictions.skipped:
            message = f"{skip.count:,} × {skip.reason}, first on line {skip.first_line:,}."
            st.warning(ui.plain(message))
