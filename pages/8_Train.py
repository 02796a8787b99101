"""Train a tokeniser: the source of words, their preparation, the method, and the result.

A click on Stop requests another run of the page, and the next report of progress ends this one; a
method that reports none runs to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.limits import PUBLIC_TYPES, is_public
from morphgraph.core.text import counted, shortened
from morphgraph.corpus.counts import WordCounts, parse_word_counts, wordfreq_counts
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.corpus.text import read_text, text_columns
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.methods import METHODS
from morphgraph.score.comparison import Comparison
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import Method
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.training import TrainingClock, train, training_of
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import spelled
from web.bootstrap import start
from web.choosing import chosen_methods, parameter_field
from web.components import comparison_table
from web.inputs import content_of
from web.jobs import train_in_turn
from web.sources import Source, wordfreq_languages
from web.state import Session, doing
from web.widgets import attempt, button, download, plain, remembered, setting

_ASKED, _SHOWN, _COMPARES = "train asked", "train shown", "train compares"
_SECONDS = "train seconds"
_SOURCES = {
    "wordfreq": "wordfreq's counts",
    "counts": "a file of word counts",
    "text": "a file of text",
}
_EXAMPLES = "undesirable unaffordability don't co-operating 1234567 McDonald's"
Progress = Callable[[float], None]


@dataclass(frozen=True)
class _Words:
    """The words to train on; ``given`` and ``file``: as `train_in_turn` takes them."""

    source: str
    read: Callable[[Progress], WordCounts]
    given: tuple[str, ...] = ()
    file: tuple[str, str, bytes] | None = None


@dataclass(frozen=True)
class _Order:
    """What is to be trained."""

    words: _Words
    method: Method
    pipeline: str
    size: int
    least: int | None
    parameters: dict[str, Any]

    @property
    def options(self) -> list[str]:
        """The order as options of ``morphgraph train``."""
        settings = ", ".join(f"{name}={spelled(value)}" for name, value in self.parameters.items())
        options = [*self.words.given, "--method", f"{self.method.name}({settings})"]
        options += ["--pipeline", self.pipeline, "--vocab-size", str(self.size)]
        return options if self.least is None else [*options, "--min-count", str(self.least)]

    @property
    def label(self) -> str:
        settings = "".join(f", {key} {value:g}" for key, value in self.parameters.items())
        kind = f"{self.method.title}{settings} · {self.pipeline} · {self.size:,}"
        return f"{kind} · {self.words.source}"


def train_page(current: Session) -> None:
    """Show settings, a button that trains, and the result."""
    st.title("Train")
    _train(current, _settings())
    if current.models:
        _result(current)
    else:
        st.caption("What you train appears here, beside the open tokeniser.")
        _examples(current, [])


def _settings() -> _Order | None:
    first = {"train_source": "wordfreq", "train_language": "en", "train_method": "bpe"}
    most = PUBLIC_TYPES.value if is_public() else 500_000
    with remembered(**first, train_size=8000):
        with st.container(key="cards-train"):
            name = st.radio(
                "Method",
                METHODS.trained,
                key="train_method",
                horizontal=True,
                format_func=lambda name: METHODS[name].title,
                captions=[plain(training_of(name)[1].description) for name in METHODS.trained],
            )
        method, training = training_of(name)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            words = _source()
            said = "All types, the atoms included: the bytes alone are 256."
            how: dict[str, Any] = {"step": 1000, "key": "train_size", "width": 180, "help": said}
            size = st.number_input("Vocabulary size", 10, most, **how)
            place = st.container(horizontal=True, width="content")
            parameters = {}
            for name, field in training.parameters.model_fields.items():
                label, key = f"{method.title}: {name}", f"train_{name}"
                parameters[name] = parameter_field(place, label, key, field, field.default)
            with st.popover("Preparation", icon=":material/tune:"):
                pipeline = st.selectbox(
                    "Pipeline",
                    training.pipelines,
                    key=f"train pipeline {training.pipelines}",
                    help="What happens to words before training, and in the trained tokeniser too.",
                )
                st.caption(plain(PIPELINES[pipeline].description))
                usual = PIPELINES[pipeline].minimum_count
                said = f"Rarer words are left out; 0 for the pipeline's own: {usual}."
                how = {"step": 1, "key": "train_least", "first": 0, "help": said}
                least = setting(st.number_input, "Least word count", 0, **how)
    if words is None:
        return None
    return _Order(words, method, pipeline, int(size), int(least) or None, parameters)


def _source() -> _Words | None:
    chosen = st.segmented_control(
        "Words from",
        list(_SOURCES),
        key="train_source",
        required=True,
        format_func=_SOURCES.__getitem__,
        width="content",
    )
    if chosen == "wordfreq":
        language = st.selectbox("Language", wordfreq_languages(), key="train_language", width=130)
        source = f"wordfreq:{language}"
        return _Words(source, lambda _: wordfreq_counts(language), ("--counts", source))
    if chosen == "counts":
        said = "One word a line: the word, a tab or a space, and its count."
        file = st.file_uploader("Word counts", key="train counts", help=said)
    else:
        said = "Plain text, or a csv, tsv or parquet file with a column of text, in UTF-8."
        file = st.file_uploader("Text", key="train text", help=said)
    if file is None:
        return None
    return _counted(file) if chosen == "counts" else _text(file)


def _counted(file: Any) -> _Words:
    def read(_: Progress) -> WordCounts:
        return parse_word_counts(content_of(file), file.name)

    return _Words(file.name, read, file=("--counts", file.name, file.getvalue()))


def _text(file: Any) -> _Words | None:
    columns = None
    with attempt():
        columns = text_columns(content_of(file), file.name)
    if columns is None:
        return None
    column = None
    if columns:
        usual = next((n for n, name in enumerate(columns) if name.lower() == "text"), 0)
        column = st.selectbox(
            "Column",
            columns,
            index=usual,
            key=f"train column {file.file_id}",
            format_func=lambda name: shortened(name, 60),
        )

    def read(progress: Progress) -> WordCounts:
        return read_text(content_of(file), file.name, column=column, progress=progress)

    given = () if column is None else ("--column", column)
    return _Words(file.name, read, given, ("--text", file.name, file.getvalue()))


def _ask(wanted: bool) -> None:
    st.session_state[_ASKED] = wanted


def _train(current: Session, order: _Order | None) -> None:
    place = st.empty()
    if order is None or not st.session_state.pop(_ASKED, False):
        with place.container():
            st.button(
                "Train",
                icon=":material/model_training:",
                type="primary",
                disabled=order is None,
                on_click=_ask,
                args=(True,),
                help=None if order else "Choose a file first.",
            )
        return
    place.empty()  # otherwise the old button remains visible during training
    with st.container():
        left, right = st.columns([8, 2], vertical_alignment="center")
        bar = left.progress(0.0, "Reading the words …")
        right.button(
            "Stop",
            icon=":material/stop:",
            width="stretch",
            on_click=_ask,
            args=(False,),
            key="train stop",
            help="That leaves no words.",
        )
        if not training_of(order.method.name)[1].stoppable and not is_public():
            st.caption(
                f"{plain(order.method.title)} trains in one go: it shows no progress, and a click "
                "on Stop takes effect after it."
            )
        with attempt():
            with doing(current, f"The training of {order.label}"):
                _run(current, order, bar)
            st.rerun()


def _run(current: Session, order: _Order, bar: Any) -> None:
    """Train and keep the model; an error that the user can fix is a `MorphGraphError`."""

    def report(what: str, before: str, start: float, end: float) -> Callable[[float], None]:
        shown, line = -1.0, TrainingClock(what, before)

        def advance(share: float) -> None:
            nonlocal shown
            said = line(share)
            if share >= shown + 0.01 or share in (0.0, 1.0):
                shown = share
                bar.progress(start + (end - start) * min(share, 1.0), said)

        return advance

    started = time.perf_counter()
    if is_public():
        name = f"{order.method.name}-{order.pipeline}-{order.size}"
        visitor = current.store.folder.name

        def tell(said: str, share: float) -> None:
            bar.progress(share, said)

        segmenter = train_in_turn(visitor, order.options, name, tell, order.words.file)
    else:
        counts = order.words.read(report("Reading the words", "Reading the words …", 0.0, 0.1))
        words = counted(len(counts), "word")
        segmenter = train(
            order.method.name,
            counts,
            order.size,
            pipeline=order.pipeline,
            parameters=order.parameters,
            minimum_count=order.least,
            progress=report(f"Training on {words}", f"Preparing {words} …", 0.1, 1.0),
        )
    current.keep_model(order.label, segmenter)
    st.session_state[_SHOWN] = order.label
    took = st.session_state.get(_SECONDS, {})
    st.session_state[_SECONDS] = {**took, order.label: time.perf_counter() - started}


def _result(current: Session) -> None:
    models = current.models
    names = list(models)[::-1]
    if st.session_state.get(_SHOWN) not in models:
        st.session_state[_SHOWN] = names[0]
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    label = left.selectbox("Trained in this session", names, key=_SHOWN)
    segmenter = models[label]
    tokeniser = segmenter.editable

    def compare() -> None:
        chosen_methods(current, "compare").take(["bpe", f"model {label}"])
        st.session_state[_COMPARES] = True

    with right.container(horizontal=True, vertical_alignment="bottom"):
        st.metric("Types", f"{segmenter.vocabulary_size:,}", width="content")
        seconds = st.session_state.get(_SECONDS, {}).get(label)
        if seconds is not None:
            st.metric("Seconds", f"{seconds:.1f}", width="content")
    with st.container(horizontal=True):
        how = {"key": "train compare", "help": "Word by word, on the page Segmentations."}
        button("Compare with the open one", "compare_arrows", compare, primary=True, **how)
        if tokeniser is not None:
            said = "All other pages then show it, with the open reference."
            button("Open it", "hub", _open, current, tokeniser, help=said)
        _downloads(segmenter, label)
        said = "Frees memory; the model is lost."
        button("Forget it", "delete", current.forget_model, label, help=said)
    warning = current.once(("capitals", Same(segmenter)), segmenter.warning, of_files=True)
    if warning:
        st.warning(plain(warning), icon=":material/match_case:")
    if st.session_state.pop(_COMPARES, False):
        st.switch_page("pages/9_Segmentations.py")
    _examples(current, [segmenter])
    with st.expander("Signature"):
        st.code(segmenter.signature(), language=None, wrap_lines=True)


def _downloads(segmenter: Segmenter, label: str) -> None:
    with st.popover("Download", icon=":material/download:"):
        name = f"{label.split(' · ')[0]}-{segmenter.vocabulary_size}".replace(" ", "-")
        download(
            "Download the model",
            lambda: write_model(segmenter),
            f"{name}.json",
            key="train model",
            help="It loads again as it is: morphgraph segment --model FILE.",
        )
        if (tokeniser := segmenter.editable) is not None:
            download(
                "Download tokenizer.json",
                lambda: to_tokenizer_json(tokeniser)[0],
                "tokenizer.json",
                key="train tokenizer.json",
                help="For Hugging Face's libraries.",
            )


def _examples(current: Session, trained: list[Segmenter]) -> None:
    study = current.study
    with remembered(train_words=_EXAMPLES):
        words = st.text_input(
            "Words to segment", key="train_words", help="Separated by spaces.", max_chars=2_000
        ).split()
    if not words:
        return
    numbers = [study.number_of(word) for word in words]
    entries = study.benchmark.reference.entries
    gold = [None if number is None else entries[number].morphs for number in numbers]
    labels = [*("trained" for _ in trained), f"open: {study.tokeniser.name}"]
    with attempt():
        compared = Comparison([*trained, Bte(study.tokeniser)], words, gold, labels=labels)
        for column, title in zip(st.columns(1 + len(labels)), ["gold", *labels], strict=True):
            column.markdown(f"**{plain(shortened(title, 40))}**")
        comparison_table(labels, list(enumerate(compared.rows)), key="train examples")


def _open(current: Session, tokeniser: BpeTokeniser) -> None:
    try:
        opened = tokeniser.fork()
        file = (opened.name, to_tokenizer_json(opened)[0])
        current.open_tokeniser(opened, Source(opened.name, (file,)))
    except MorphGraphError as error:
        current.notice = str(error)
        return
    current.notice = f"{tokeniser.name} is open."


train_page(start("Train"))
