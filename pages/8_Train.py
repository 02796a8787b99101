"""Train a tokeniser: where words come from, how they are prepared, the method, and the result.

A click on Stop asks Streamlit for another run of the page, and the next report of progress ends
this one; a method that reports none runs to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened
from morphgraph.corpus.counts import WordCounts, parse_word_counts, wordfreq_counts
from morphgraph.corpus.pipelines import PIPELINES
from morphgraph.corpus.text import read_text, text_columns
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import write_model
from morphgraph.tokeniser.hugging_face import to_tokenizer_json
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.train.trainers import TRAINERS, Trainer, train
from web.bootstrap import start
from web.inputs import content_of
from web.method_picker import parameter_field
from web.session import Session, Source, keep_model, trained_models, wordfreq_languages
from web.text import plain
from web.widgets import attempt, button, download, remembered, show_table

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from morphgraph.tokeniser.words import Segmenter

_ASKED = "train asked"
_SHOWN = "train shown"
_SOURCES = {
    "wordfreq": "wordfreq's counts",
    "counts": "a file of word counts",
    "text": "a file of text",
}
_EXAMPLES = "undesirable unaffordability don't co-operating 1234567 McDonald's"
_PARAMETERS = {
    name: field
    for trainer in TRAINERS.values()
    for name, field in trainer.parameters.model_fields.items()
}
Read = Callable[[Callable[[float], None]], WordCounts]


@dataclass(frozen=True)
class _Order:
    """What is to be trained."""

    read: Read
    source: str
    method: Trainer
    pipeline: str
    size: int
    least: int | None
    parameters: dict[str, Any]

    @property
    def label(self) -> str:
        settings = "".join(f", {key} {value:g}" for key, value in self.parameters.items())
        return f"{self.method.label}{settings} · {self.pipeline} · {self.size:,} · {self.source}"


def train_page(current: Session) -> None:
    """Settings, a button that trains, and what came out."""
    st.title("Train")
    st.caption(
        "Train a tokeniser of your own: choose where the words come from, what happens to them "
        "first, and the method. What you train stays, and other pages "
        "can use it."
    )
    order = _settings()
    _train(order)
    if trained_models():
        st.divider()
        _result(current)


# ------------------------------------------------------------------------------------- settings


def _settings() -> _Order | None:
    with remembered(
        train_source="wordfreq",
        train_language="en",
        train_method="bpe",
        train_size=8000,
        **{f"train_{name}": field.default for name, field in _PARAMETERS.items()},
        train_least=0,
    ):
        left, right = st.columns(2, gap="large")
        with left:
            read, source = _source()
        with right:
            method, pipeline, parameters = _method()
            row = st.columns(2)
            size = row[0].number_input(
                "Vocabulary size",
                10,
                500_000,
                step=1000,
                key="train_size",
                help="All types, the atoms included: the bytes alone are 256.",
            )
            usual = PIPELINES[pipeline].minimum_count
            least = row[1].number_input(
                "Least word count",
                0,
                step=1,
                key="train_least",
                help=f"Rarer words are left out; 0 for the pipeline's own, which is {usual}.",
            )
    if read is None:
        return None
    return _Order(read, source, method, pipeline, int(size), int(least) or None, parameters)


def _source() -> tuple[Read | None, str]:
    chosen = st.segmented_control(
        "Words from",
        list(_SOURCES),
        key="train_source",
        required=True,
        format_func=_SOURCES.__getitem__,
    )
    if chosen == "wordfreq":
        language = st.selectbox("Language", wordfreq_languages(), key="train_language")
        return (lambda _: wordfreq_counts(language)), f"wordfreq:{language}"
    if chosen == "counts":
        file = st.file_uploader(
            "Word counts",
            key="train counts",
            help="One word a line: the word, a tab or a space, and its count.",
        )
        if file is None:
            return None, ""
        return (lambda _, file=file: parse_word_counts(content_of(file), file.name)), file.name
    file = st.file_uploader(
        "Text",
        key="train text",
        help="Plain text, or a csv, tsv or parquet file with a column of text, in UTF-8.",
    )
    return (None, "") if file is None else _text(file)


def _text(file: UploadedFile) -> tuple[Read | None, str]:
    columns = None
    with attempt():
        columns = text_columns(content_of(file), file.name)
    if columns is None:
        return None, ""
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

    def read(progress: Callable[[float], None]) -> WordCounts:
        return read_text(content_of(file), file.name, column=column, progress=progress)

    return read, file.name


def _method() -> tuple[Trainer, str, dict[str, Any]]:
    name = st.selectbox(
        "Method", list(TRAINERS), key="train_method", format_func=lambda name: TRAINERS[name].label
    )
    method = TRAINERS[name]
    st.caption(plain(method.description))
    pipeline = st.selectbox(
        "Pipeline",
        method.pipelines,
        key=f"train pipeline {method.pipelines}",
        help="What happens to words before training, and in the trained tokeniser too.",
    )
    st.caption(plain(PIPELINES[pipeline].description))
    place = st.container()
    parameters = {
        name: parameter_field(place, f"{method.label}: {name}", f"train_{name}", field)
        for name, field in method.parameters.model_fields.items()
    }
    return method, pipeline, parameters


# ------------------------------------------------------------------------------------- training


def _ask(wanted: bool) -> None:
    st.session_state[_ASKED] = wanted


def _train(order: _Order | None) -> None:
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
    place.empty()  # at once: else the old button stays in sight until the training is over
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
        if not order.method.stoppable:
            st.caption(
                f"{plain(order.method.label)} trains in one go: it shows no progress, and a click "
                "on Stop takes effect after it."
            )
        with attempt():
            _run(order, bar)
            st.rerun()


def _run(order: _Order, bar: Any) -> None:
    """Train, and keep the model; an error that the user can mend is a `MorphGraphError`."""

    def report(what: str, start: float, end: float) -> Callable[[float], None]:
        shown = -1.0

        def advance(share: float) -> None:
            nonlocal shown
            if share >= shown + 0.01 or share == 1.0:
                shown = share
                bar.progress(start + (end - start) * min(share, 1.0), what)

        return advance

    started = time.perf_counter()
    counts = order.read(report("Reading the words …", 0.0, 0.1))
    segmenter = train(
        order.method.name,
        counts,
        order.size,
        pipeline=order.pipeline,
        parameters=order.parameters,
        minimum_count=order.least,
        progress=report(f"Training on {counted(len(counts), 'word')} …", 0.1, 1.0),
    )
    keep_model(order.label, segmenter)
    st.session_state[_SHOWN] = order.label
    st.session_state["train seconds"] = {
        **st.session_state.get("train seconds", {}),
        order.label: time.perf_counter() - started,
    }


# ------------------------------------------------------------------------------------- result


def _result(current: Session) -> None:
    models = trained_models()
    names = list(models)[::-1]
    if st.session_state.get(_SHOWN) not in models:
        st.session_state[_SHOWN] = names[0]
    label = st.selectbox("Trained in this session", names, key=_SHOWN)
    segmenter = models[label]
    columns = st.columns([2, 2, 6])
    columns[0].metric("Types |V|", f"{segmenter.vocabulary_size:,}")
    seconds = st.session_state.get("train seconds", {}).get(label)
    columns[1].metric("Seconds", "n/a" if seconds is None else f"{seconds:.1f}")
    with remembered(train_words=_EXAMPLES):
        given = columns[2].text_input(
            "Words to segment", key="train_words", help="Separated by spaces.", max_chars=2_000
        )
    with attempt():
        _examples(segmenter, given.split())
    with st.container(horizontal=True):
        name = f"{label.split(' · ')[0]}-{segmenter.vocabulary_size}".replace(" ", "-")
        download(
            "Download the model",
            lambda: write_model(segmenter),
            f"{name}.json",
            primary=True,
            help="It loads again as it is: morphgraph segment --model FILE.",
        )
        if type(segmenter) is Bte:
            tokeniser = segmenter.tokeniser
            download(
                "Download tokenizer.json",
                lambda: to_tokenizer_json(tokeniser)[0],
                "tokenizer.json",
                help="For Hugging Face's libraries.",
            )
            button(
                "Open it in the app",
                "hub",
                _open,
                current,
                segmenter,
                help="All other pages then show it, with the open reference.",
            )
        button(
            "Forget it",
            "delete",
            _forget,
            label,
            help="Frees memory; the model is lost.",
        )
    st.code(segmenter.signature(), language=None, wrap_lines=True)


def _forget(label: str) -> None:
    trained_models().pop(label, None)


def _examples(segmenter: Segmenter, words: list[str]) -> None:
    if not words:
        return
    encoded = segmenter.encode(words)
    found = segmenter.segment(encoded)
    tokens = [
        [shown_token(segmenter.token_text(encoded, *end)) for end in found.token_ends(number)]
        for number in range(len(words))
    ]
    show_table(
        {
            "word": words,
            "tokens": [" ".join(parts) for parts in tokens],
            "number": [len(parts) for parts in tokens],
        },
        column_config={
            "word": st.column_config.TextColumn(width="medium"),
            "tokens": st.column_config.TextColumn(width="large"),
            "number": st.column_config.NumberColumn(width="small"),
        },
    )


def _open(current: Session, segmenter: Bte) -> None:
    try:
        opened = segmenter.tokeniser.fork()
        file = (opened.name, to_tokenizer_json(opened)[0])
        current.open_tokeniser(opened, Source(opened.name, (file,)))
    except MorphGraphError as error:
        current.notice = str(error)
        return
    current.notice = f"{segmenter.tokeniser.name} is open."


train_page(start("Train"))
