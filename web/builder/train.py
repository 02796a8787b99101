"""Train a tokeniser: the method, the words, their preparation, and the result in place."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.limits import PUBLIC_TYPES, is_public
from morphgraph.core.text import counted, duration
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.segment.method import METHODS, Method
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.training import TrainingClock, training_of
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.choosing import choose_these, parameter_field
from web.jobs import Tell, Waiting, train_in_turn, until_done
from web.making import TRAINED
from web.sources import Source
from web.state import Session, keep_session
from web.views.words_from import WordSource, words_from

_ASKED, _TIMES, _FAILED, _TOLD = (f"train {what}" for what in ("asked", "times", "failed", "told"))
_FIRST = [name for name in (TRAINED, "bpe") if name in METHODS.trained]
_EXAMPLES, _LONG, _SAMPLE = 3, 8, 10_000
_PACE_NOW, _PACE = "train pace", 0.0002
"""Seconds that a type takes, until this session has trained one."""


@dataclass(frozen=True)
class _Order:
    """What is to be trained."""

    words: WordSource
    method: Method
    pipeline: str
    size: int
    least: int | None
    parameters: dict[str, Any]

    @property
    def label(self) -> str:
        settings = "".join(f", {key} {value:g}" for key, value in self.parameters.items())
        kind = f"{self.method.title}{settings} · {self.pipeline} · {self.size:,}"
        return f"{kind} · {self.words.name}"


@dataclass(frozen=True)
class _Made:
    """What was trained, with some of its words cut, and how long it took."""

    model: Segmenter
    examples: list[list[str]]
    tokens_per_word: float
    seconds: float


def train_panel(current: Session) -> None:
    """Show settings, a button that trains, and the result."""
    st.title("Train a tokeniser", anchor=False)
    order = _settings()
    _train(current, order)
    if current.models:
        with st.container(border=True, key="trained"):
            _result(current)
    else:
        st.caption("What you train appears here, to open, compare or download.")


def _does(name: str) -> str:
    return training_of(name)[1].description


def _settings() -> _Order | None:
    several = METHODS.able("several")  # for the command line
    most = PUBLIC_TYPES.value if is_public() else 500_000
    method, training = training_of(_choose([n for n in METHODS.trained if n not in several]))
    fields = training.parameters.model_fields
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = words_from("train")
        options: dict[str, Any] = {"step": 1000, "key": "train_size", "first": 8000, "width": 150}
        size = int(ui.setting(st.number_input, "Types", 10, most, **options))
        place = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        parameters = {}
        for name, field in fields.items():
            if name == "types":  # the vocabulary size
                continue
            key = f"train_{method.name}_{name}"
            parameters[name] = parameter_field(place, key, name, field)
        with st.popover("Preparation", icon=":material/tune:"):
            pipeline = st.selectbox(
                "Pipeline",
                training.pipelines,
                key=f"train pipeline {training.pipelines}",
                help="What happens to words before training, and in the trained tokeniser too.",
            )
            st.caption(ui.plain(PIPELINES[pipeline].description))
            usual = PIPELINES[pipeline].minimum_count
            tip = f"Rarer words are left out; 0 for the pipeline's own: {usual}."
            options = {"step": 1, "key": "train_least", "first": 0, "help": tip}
            least = int(ui.setting(st.number_input, "Least word count", 0, **options)) or None
    if words is None:
        return None
    return _Order(words, method, pipeline, size, least, parameters)


def _choose(offered: list[str]) -> str:
    """Choose a method: two that most people want, or one of the others."""
    others = [name for name in offered if name not in _FIRST]
    more = f"{len(others)} more"
    titles = {name: METHODS[name].title for name in _FIRST} | {more: more}
    examples = ", ".join(METHODS[name].title for name in others[:3])
    does = (re.sub(r" \(.*\)", "", _does(name)) for name in _FIRST)
    captions = [*map(ui.plain, does), ui.plain(f"{examples} …")]
    with st.container(key="cards-train"):
        chosen: str = ui.choice(
            st.radio,
            "Method",
            titles,
            key="train_method",
            first="bpe",
            horizontal=True,
            format_func=titles.__getitem__,
            captions=captions,
        )
    if chosen in _FIRST:
        return chosen
    title: Any = {"format_func": lambda name: METHODS[name].title, "key": "train_other"}
    other: str = ui.choice(st.selectbox, "Which", others, **title)
    st.caption(ui.plain(_does(other)))
    return other


@st.fragment
def _train(current: Session, order: _Order | None) -> None:
    """Train what was asked for, or offer to; a fragment, which is redrawn meanwhile."""
    asked = order is not None and _ASKED in st.session_state
    tip = None if order else "Choose what to train on first."
    options: dict[str, Any] = {"primary": True, "disabled": order is None or asked, "help": tip}
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.button("Train", "model_training", st.session_state.update, {_ASKED: True}, **options)
        if order is not None and order.words.is_known:
            pace = st.session_state.get(_PACE_NOW, _PACE)
            st.caption(f"about {duration(1 + pace * order.size)}")
    ui.show_deferred_error(_FAILED)
    current.doing = f"The training of {order.label}" if order and asked else ""
    keep_session(current)
    if order is None or not asked:
        return
    waiting = Waiting(st.empty(), lambda _: st.session_state.pop(_ASKED, None))
    make = partial(_made, order, current.store.folder.name)
    with ui.deferred_error(_FAILED), until_done(_ASKED):
        run = waiting.do(("train", order.label), f"Training {order.label}", make)
        current.keep_model(order.label, run.model)
        st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1
        st.session_state[_PACE_NOW] = run.seconds / order.size
        told: dict[str, _Made] = st.session_state.setdefault(_TOLD, {})
        told[order.label] = run
        ui.forget_oldest(told, 12)
    st.rerun()


def _made(order: _Order, visitor: str, tell: Tell) -> _Made:
    """Return what was trained, with a few of the words that it was trained on."""
    tell(0.0, "Reading the words …")
    counts = order.words.read()
    read = counted(len(counts), "word")
    line = TrainingClock(f"Training on {read}", f"Preparing {read} …")

    def advance(share: float, message: str = "") -> None:
        tell(min(share, 1.0), message or line(share))

    options: dict[str, Any] = {"pipeline": order.pipeline, "parameters": order.parameters}
    options["minimum_count"] = order.least
    began = time.monotonic()
    model = train_in_turn(visitor, order.method.name, counts, order.size, advance, **options)
    seconds = time.monotonic() - began
    words = [word for word, _ in islice(counts.items(), _SAMPLE)]
    cut = model.segment(model.encode(words))
    long = (number for number, word in enumerate(words) if len(word) >= _LONG and word.isalpha())
    several = islice((some for some in map(cut.tokens, long) if len(some) > 1), _EXAMPLES)
    examples = [[shown_token(model.types[token]) for token in some] for some in several]
    return _Made(model, examples, cut.token_count / len(words), seconds)


def _result(current: Session) -> None:
    models = current.models
    names = list(models)[::-1]
    # A field for each training, as the newest is shown then: a choice written into one field is
    # lost where the browser sends the old one before it is told of that.
    key = f"train shown {st.session_state.get(_TIMES)}"
    hidden: Any = "visible" if len(names) > 1 else "collapsed"
    label = st.selectbox("Trained in this session", names, key=key, label_visibility=hidden)
    segmenter = models[label]
    tokeniser, run = segmenter.editable, st.session_state.get(_TOLD, {}).get(label)
    caption = f"**{counted(segmenter.vocabulary_size, 'type')}**"
    if run is not None and run.model is segmenter:
        caption += f" · {run.seconds:.1f} s · {run.tokens_per_word:.2f} tokens per word"
    st.markdown(caption)
    if run is not None and run.examples:
        shown = ((f":gray-background[{ui.plain(token)}]" for token in one) for one in run.examples)
        st.markdown("\u2003 ".join(map("\u2009".join, shown)))
    with st.container(horizontal=True):
        if tokeniser is not None:
            tip = "All pages then show it, with the open reference."
            ui.button("Open it", "hub", _open, current, tokeniser, primary=True, help=tip)
        options: dict[str, Any] = {"key": "train compare", "help": "Word by word, in Compare."}
        if ui.button("Put it beside BPE", "compare_arrows", **options):
            choose_these(current, ["bpe", f"model {label}"])
            st.switch_page("pages/2_Compare.py")
        _downloads(segmenter, label)
    warning = current.once(("capitals", Same(segmenter)), segmenter.warning, of_files=True)
    if warning:
        st.warning(ui.plain(warning), icon=":material/match_case:")


def _downloads(segmenter: Segmenter, label: str) -> None:
    with st.popover("Download", icon=":material/download:"):
        name = f"{label.split(' · ')[0]}-{segmenter.vocabulary_size}".replace(" ", "-")
        tip = "It loads again: morphgraph segment FILE."
        ui.download("Download the model", lambda: write_model(segmenter), f"{name}.json", help=tip)
        if (tokeniser := segmenter.editable) is not None:
            file, tip = "tokenizer.json", "For Hugging Face's libraries."
            ui.download(f"Download {file}", lambda: to_tokenizer_json(tokeniser)[0], file, help=tip)
        st.code(segmenter.signature(), language=None, wrap_lines=True)


def _open(current: Session, tokeniser: BpeTokeniser) -> None:
    try:
        opened = tokeniser.fork()
        file = (opened.name, to_tokenizer_json(opened)[0])
        current.open_tokeniser(opened, Source(opened.name, (file,)))
    except MorphGraphError as error:
        current.notice = str(error)
        return
    current.notice = f"{tokeniser.name} is open."
