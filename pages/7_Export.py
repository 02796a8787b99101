"""The edited tokeniser, exported: what form it gets and why, the checks, and one archive."""

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.tokeniser.export import Export, words_to_check
from morphgraph.tokeniser.export_texts import FILES
from morphgraph.tokeniser.tokeniser import Tokeniser
from web.bootstrap import start
from web.session import Session
from web.text import plain
from web.widgets import attempt, download, recipe_button, show_table, zipped

_KEY = "checked export"
_FOLDER = "morphgraph-tokeniser"
_FOR_THE_LIBRARY = """
from transformers import AutoTokenizer  # or tokenizers.Tokenizer.from_file(".../tokenizer.json")

tokenizer = AutoTokenizer.from_pretrained("morphgraph-tokeniser")
"""
_WITH_OUR_CLASS = """
from transformers import AutoTokenizer

# The folder brings its own class, in two short Python files that you can read first.
tokenizer = AutoTokenizer.from_pretrained("morphgraph-tokeniser", trust_remote_code=True)
"""


def export_page(current: Session) -> None:
    """What is open, a button that checks and prepares, and then the archive."""
    st.title("Export")
    tokeniser, reference = current.study.tokeniser, current.study.benchmark.reference
    tuples = _numbers(tokeniser)
    # What a check depends on: after another edit, or with another reference, it is made again.
    key = (tokeniser.signature(), reference.checksum)
    place = st.empty()
    if st.session_state.get(_KEY) != key:
        with place.container():
            _forecast(tuples)
            with st.container(horizontal=True):
                pressed = st.button(
                    "Check and prepare",
                    icon=":material/fact_check:",
                    type="primary",
                    help="Compares the ids of 10,000 words, the reference's first, and of 500 "
                    "sentences. It takes a second or two.",
                )
                recipe_button(tokeniser, "before")
        if not pressed:
            return

    with attempt():
        made = _exported(key, tokeniser, [entry.word for entry in reference.entries])
        st.session_state[_KEY] = key
        with place.container():
            _result(made, tokeniser)


@st.cache_resource(max_entries=4, show_spinner="Comparing 10,000 words and 500 sentences…")
def _exported(key: tuple[str, str], _tokeniser: Tokeniser, _words: list[str]) -> Export:
    return export_segmenter(Bte(_tokeniser), words_to_check(_words, name=_tokeniser.name))


def _numbers(tokeniser: Tokeniser) -> int:
    """What is exported, in numbers; returns how many tuple merges there are."""
    graph = tokeniser.graph
    tuples = sum(merge.is_tuple for merge in graph.merges().values())
    size, at_first = tokeniser.vocabulary_size, len(tokeniser.vocabulary_ids)
    edits = len(graph.history)
    columns = st.columns([3, 3, 3, 3])
    columns[0].metric("Edits", f"{edits:,}")
    columns[1].metric(
        "Types in the vocabulary",
        f"{size:,}",
        delta=f"{size - at_first:+,} from {at_first:,}" if edits else None,
        delta_color="off",
    )
    columns[2].metric("Merges", f"{graph.merge_count:,}")
    columns[3].metric("Tuple merges", f"{tuples:,}", help="Merges of more than two parts.")
    return tuples


def _forecast(tuples: int) -> None:
    if tuples:
        st.write(
            "It becomes a **folder for `transformers`**: a `tokenizer.json` has only merges of two "
            "parts, so the folder brings a small tokeniser class along."
        )
    else:
        st.write(
            "Every merge is a pair, so it becomes a **`tokenizer.json`**, provided that the "
            "`tokenizers` library gives the same ids with it as this app. Otherwise it becomes a "
            "folder for `transformers` with its own tokeniser class."
        )


def _result(made: Export, tokeniser: Tokeniser) -> None:
    form = "a `tokenizer.json`" if made.kind == "tokenizer.json" else "a folder for `transformers`"
    st.success(
        f"**{counted(made.checked_words, 'word')} and "
        f"{counted(made.checked_sentences, 'sentence')}: the same ids** "
        f"as in this app, compared in {made.seconds:.1f} s.  \n"
        f"It is {form}: {plain(made.reason)}.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        download(
            "Download the archive",
            lambda: zipped({f"{_FOLDER}/{name}": data for name, data in made.files.items()}),
            f"{_FOLDER}.zip",
            primary=True,
            help="One zip archive with all the files below.",
        )
        recipe_button(tokeniser, "archive")
    st.subheader("Load it", anchor=False)
    code = _FOR_THE_LIBRARY if made.kind == "tokenizer.json" else _WITH_OUR_CLASS
    st.code(code.strip(), language="python")
    st.subheader("What is in the archive", anchor=False)
    show_table(
        {
            "file": list(made.files),
            "what it is": [FILES[name] for name in made.files],
            "size": [f"{len(data) / 1000:,.1f} kB" for data in made.files.values()],
        },
        column_config={
            "file": st.column_config.TextColumn(width="medium"),
            "what it is": st.column_config.TextColumn(width="large"),
            "size": st.column_config.TextColumn(width="small", alignment="right"),
        },
    )
    st.caption(
        "Ids are dense: what was removed leaves no hole. ids.json maps the old ids to the new "
        "ones; the README shows how to reuse a model's embeddings with it."
    )
    st.code(made.signature, language=None, wrap_lines=True)


export_page(start("Export"))
