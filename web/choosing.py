"""Choose methods: which are compared, with which parameters, and how each is made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from pydantic.fields import FieldInfo
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.families import Part
from morphgraph.reference.predictions import Predictions, read_predictions
from morphgraph.refine.learning import has_seen, kept_from, unseen_by
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.segment.method import METHODS, OnlyMarked, bounds, values_of
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.copies import copies_of
from web.inputs import open_file
from web.jobs import retry_beside
from web.making import (
    EDITED,
    START,
    TRAINED,
    fits_types,
    is_available,
    make_beside,
    make_if_quick,
    needs_counts,
    words_kept,
)
from web.state import Session, session

METHODS.load()
_TRAINED_HERE = [TRAINED] if TRAINED in METHODS.trained else []
DEFAULT_METHODS = (START, "bpe", "dropout", "trimmed", *_TRAINED_HERE, "flota", "rebpe")
"""What is compared until somebody chooses; what is slow joins once it is made."""
_PLACE = "compare"
"""The beginning of the keys of the fields of methods."""
WEIGHTED = {"types": "once", "tokens": "by frequency"}
"""How often each word counts, by the weighting."""
_MOST = 8
"""The limit of files with segmentations."""
_BASELINE, _REFUSED = "compare baseline", "compare refused"


@dataclass(frozen=True)
class PickedMethod:
    """A chosen method, ``made`` if it has been, and the tokeniser it is based on, if any.

    ``split``: the words that it was not learned from, where it learns.
    """

    name: str
    settings: Mapping[str, Any]
    label: str
    made: Segmenter | Predictions | None = None
    base: BpeTokeniser | None = None
    split: Part | None = None

    @property
    def title(self) -> str:
        """Its title, without settings."""
        return METHODS[self.name].title if self.name in METHODS else self.label

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that are not the usual ones."""
        fields = METHODS[self.name].fields if self.name in METHODS else {}
        return {k: v for k, v in self.settings.items() if v != fields[k].default}


def choose_methods(current: Session, field: DeltaGenerator) -> list[PickedMethod]:
    """Show the method field and return the chosen methods, with messages for those that fail.

    ``field``: where methods are chosen, possibly collapsed. `make_next` makes the slow ones.
    """
    _follow_methods(current)
    names = chosen_methods(current)
    key = f"{_PLACE}_methods {current.chosen_elsewhere}"

    def choose() -> None:
        retry_beside()
        choose_these(current, st.session_state[key], elsewhere=False)

    st.session_state[key] = names
    field.multiselect(
        "Methods",
        _offered(current),
        key=key,
        format_func=lambda name: METHODS[name].title if name in METHODS else name,
        on_change=choose,
        help="Methods run on the open tokeniser with its edits. Those that learn from the "
        "reference start from it without edits, and do not see the words kept aside. Tokenisers "
        "trained in Build and copies in the drawer are listed too.",
    )
    ui.show_deferred_error(_REFUSED)
    picked = []
    for name in names:
        try:
            picked.append(pick(current, name))
        except MorphGraphError as error:
            st.warning(ui.plain(str(error)), icon=":material/warning:")
    return picked


def pick(current: Session, name: str) -> PickedMethod:
    """Return a chosen method, made if that is quick; may raise `MorphGraphError`."""
    settings = _settings(name)
    if name.startswith("file "):
        return PickedMethod(name, {}, _label(current, name, {}), _files()[name[len("file ") :]])
    segmenter = make_if_quick(current, name, settings)
    made_on = None if segmenter is None else segmenter.tokeniser
    base = current.study.tokeniser if name in METHODS.offered else made_on
    split = words_kept(current, name)
    if base is not None:
        split = kept_from(base, current.study.benchmark)
    return PickedMethod(name, settings, _label(current, name, settings), segmenter, base, split)


def baseline_among(names: Sequence[str]) -> int:
    """Return the place of the method that others are tested against."""
    wanted = (st.session_state.get(_BASELINE, ""), START, "bpe")
    return next((names.index(name) for name in wanted if name in names), 0)


def use_as_baseline(name: str) -> None:
    """Test other methods against this one."""
    st.session_state[_BASELINE] = name


def chosen_methods(current: Session) -> list[str]:
    """Return the chosen methods; at first, the defaults that can be made."""
    offered = _offered(current)
    if current.chosen is not None:
        return [name for name in current.chosen if name in offered]
    return [name for name in DEFAULT_METHODS if name in offered and is_available(current, name)]


def choose_these(current: Session, names: Sequence[str], *, elsewhere: bool = True) -> None:
    """Choose methods, and what is before the edits once there are some: then it can be removed.

    Chosen ``elsewhere``, they need a new field: one that nobody sees keeps its old choice, and
    would tell it with the next click.
    """
    current.chosen_elsewhere += elsewhere
    current.chosen = [*([] if current.study.graph.history else [START]), *names]


def _offered(current: Session) -> list[str]:
    before = [START] if current.study.graph.history else []
    copies = (f"copy {name}" for name in copies_of(current))
    models = (f"model {name}" for name in current.models)
    files = (f"file {name}" for name in _files())
    return [*_known_methods(current), *before, *copies, *models, *files]


def _label(current: Session, name: str, settings: Mapping[str, Any]) -> str:
    if name == "bpe":
        edited = current.study.graph.history
        return EDITED if edited else method_on(current.study.tokeniser, name).name
    if name not in METHODS:
        return name if name == START else name.partition(" ")[2]
    return METHODS[name].label(PickedMethod(name, settings, "").changed)


def _known_methods(current: Session) -> list[str]:
    learning = METHODS.learning if current.study.benchmark.reference.has_gold else []
    names = [*METHODS.offered, *_TRAINED_HERE, *learning]
    return sorted(names, key=lambda name: METHODS[name].needs in ("vocabulary", "segmenter"))


def drop_method(name: str) -> None:
    """Remove a method from the chosen ones."""
    retry_beside()
    current = session()
    choose_these(current, [other for other in chosen_methods(current) if other != name])


def set_field(name: str, key: str, value: Any) -> None:
    """Set a parameter of a method; one that is refused leads to a message."""
    retry_beside()
    if name in METHODS and key in _fields(name):
        with ui.deferred_error(_REFUSED):
            kind = values_of(METHODS[name].fields[key])
            given = METHODS[name].settings({**_settings(name), key: kind(value)})
            ui.set_value(f"{_PLACE}_{name}_{key}", dict(given)[key])


def fields_of(one: PickedMethod) -> list[dict[str, Any]]:
    """Describe the fields of a method to a browser."""
    described = []
    for key, field in _fields(one.name).items():
        least, most = _limits(field)
        about = {"key": key, "value": one.settings[key], "help": field.description}
        about |= {"is_switch": values_of(field) is bool, "step": _step(field)}
        described.append({**about, "least": least, "most": most})
    return described


def lacking_counts(current: Session) -> str:
    """Name the methods that lack word counts, with a verb; empty if none does."""
    lacking = [
        METHODS[name].title
        for name in DEFAULT_METHODS
        if needs_counts(name) and fits_types(current, name) and not is_available(current, name)
    ]
    return " and ".join(lacking) + (" need" if len(lacking) > 1 else " needs") if lacking else ""


def _follow_methods(current: Session) -> None:
    """Synchronise with the address the methods that need no file and no edits, by name."""
    known, names = _known_methods(current), chosen_methods(current)
    here = ",".join(name for name in names if name in METHODS)

    def read(asked: str) -> str:
        return ",".join(name for name in asked.split(",") if name in known) or here

    asked = current.address.follow("methods", here, reads=read)
    if asked != here:
        others = [name for name in names if name not in METHODS]
        chosen = dict.fromkeys([*asked.split(","), *others])
        choose_these(current, sorted(chosen, key=lambda name: name != START))


def _fields(name: str) -> dict[str, FieldInfo]:
    """Return the parameters of a method that can be set here: merges leave no marker."""
    fields = METHODS[name].fields.items() if name in METHODS else ()
    if name in METHODS.learning:
        return {key: field for key, field in fields if key == "threshold"}
    return {key: f for key, f in fields if not any(isinstance(m, OnlyMarked) for m in f.metadata)}


def _settings(name: str) -> dict[str, Any]:
    fields = _fields(name).items()
    return {key: ui.value_now(f"{_PLACE}_{name}_{key}", field.default) for key, field in fields}


def parameter_field(
    place: DeltaGenerator, key: str, name: str, field: FieldInfo, **options: Any
) -> Any:
    """Show a switch or bounded number for a parameter."""
    label = name.replace("_", " ").capitalize()
    options |= {"key": key, "first": field.default, "help": field.description}
    if values_of(field) is bool:
        return ui.setting(place.toggle, label, **options)
    options = {"step": _step(field), "width": 155, **options}
    return ui.setting(place.number_input, label, *_limits(field), **options)


def scope_and_weighting(place: str, gold: GoldSet, **options: Any) -> tuple[Scope, Weighting]:
    """Choose on which boundaries and by which weights to score, where gold leaves a choice."""

    def choose(label: str, name: str, offered: Sequence[Any]) -> Any:
        key = f"{place}_{name}"
        named = {"format_func": lambda one: WEIGHTED.get(one, one), **options}
        return ui.segments(label, offered, key=key, **named) if len(offered) > 1 else offered[0]

    scopes = [one for one in SCOPES if gold.has_gold(one).any()]
    weightings = [one for one in WEIGHTINGS if one in gold.weightings]
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


def upload_method() -> None:
    """Show fields for model files and for segmentations, which are added to the chosen methods."""
    model = (
        "A model that Build trained, a tokenizer.json (BPE, WordPiece, Unigram), a "
        "SentencePiece model, or a list of types."
    )
    program = (
        "One word per line, as another program segmented it: `word⇥un break able`, "
        "`un|break|able`, `word⇥un @@break @@able` (SIGMORPHON), or what Morfessor saves or "
        "prints. It is scored as it is: it has no vocabulary, and a word that it lacks is not cut."
    )

    def take(name: str, data: bytes) -> None:
        add_model(name, load_segmenter({name: data}))

    def take_file(name: str, data: bytes) -> None:
        predictions, known = read_predictions(data, name=name), _files()
        others = [one for one, other in known.items() if other.checksum != predictions.checksum]
        name = ui.unique_name(name.rsplit(".", 1)[0], others)
        known[name] = predictions
        ui.forget_oldest(known, _MOST)
        _choose_too(session(), f"file {name}")

    kinds = ["json", "txt", "model", "tiktoken", "gguf"]
    open_file("Model", f"{_PLACE} model", take, type=kinds, help=model)
    open_file("Segmentations of another program", f"{_PLACE} file", take_file, help=program)


def _files() -> dict[str, Predictions]:
    known: dict[str, Predictions] = st.session_state.setdefault("predictions to score", {})
    return known


def _choose_too(current: Session, name: str) -> None:
    chosen = [other for other in chosen_methods(current) if other != name]
    choose_these(current, [*chosen, name])


def add_model(name: str, model: Segmenter) -> None:
    """Add a model read from a file to the list of methods, and choose it."""
    current = session()
    name = ui.unique_name(name, current.models)
    current.keep_model(name, model)
    _choose_too(current, f"model {name}")


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


def make_next(current: Session, picked: Iterable[PickedMethod], place: DeltaGenerator) -> None:
    """Make the slow methods, one after the other, beside the page, which then shows them, too."""
    for one in picked:
        if one.made is None:
            with place:
                stop = partial(drop_method, one.name)
                error = make_beside(current, one.name, one.settings, stop)
                if error is None:
                    return
                st.warning(ui.plain(str(error)), icon=":material/warning:")
