"""What is small is done by plain Python: no command loads what it can do without."""

import subprocess
import sys
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graph_of, segment_plain, tied_graphs, with_words

from morphgraph.formats.loading import load_tokeniser
from morphgraph.kernels import resampling, worth_loading
from morphgraph.score import metrics, uncertainty
from morphgraph.score.outcome import Strings
from morphgraph.tokeniser import merging
from morphgraph.tokeniser.merging import segment

pytestmark = pytest.mark.slow

HEAVY = (
    *("dask", "distributed", "networkx", "numba", "pandas"),
    *("plotly", "pyarrow", "scipy", "streamlit", "transformers"),
)

COMMANDS = (
    "--help",
    "--version",
    "score --help",
    "rebpe --help",
    "reference show demo:en",
    "segment demo:en undesirable",
    "segment demo:en --json undesirable Ärger don't",
    "blame demo:en demo:en",
    "blame demo:en demo:en --json",
    "score demo:en demo:en",
)


def test_what_commands_load():
    code = (
        "import sys\n"
        "from morphgraph.cli import main\n"
        f"for command in {COMMANDS}:\n"
        "    sys.argv = ['morphgraph', *command.split()]\n"
        "    try:\n        main()\n"
        "    except SystemExit as done:\n        assert not done.code, (command, done.code)\n"
        f"    loaded = [name for name in {HEAVY} if name in sys.modules]\n"
        "    assert not loaded, (command, loaded)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_help_does_not_load_numpy():
    code = (
        "import sys, typer\n"
        "from morphgraph.cli import program\n"
        "group = typer.main.get_command(program)\n"
        "assert all(group.get_command(None, name) for name in group.list_commands(None))\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_are_used_once_they_are_loaded():
    assert "numba" in sys.modules and worth_loading(1)
    with patch.dict(sys.modules):
        del sys.modules["numba"]
        assert not worth_loading(2000)
        assert worth_loading(1_000_000)


@cache
def demo():
    return load_tokeniser("demo:en")


def assert_same(graph, found):
    with patch.object(merging, "worth_loading", lambda atoms: False):
        plain = segment(graph, found.words)
    assert plain.closed_by.dtype == found.closed_by.dtype
    assert plain.closed_by.tolist() == found.closed_by.tolist()
    assert plain.token_at.tolist() == found.token_at.tolist()
    assert plain.arrays is found.arrays


@given(with_words())
def test_segmenting_as_the_kernel(drawn):
    merges, words = drawn
    graph = graph_of(merges)
    assert_same(graph, segment_plain(graph, words))
    removable = [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]
    graph.knockout(removable[::2])
    assert_same(graph, segment_plain(graph, words))


def test_words_one_by_one_are_soon_cut_by_the_kernel():
    tokeniser = load_tokeniser("demo:en")
    with patch.object(merging, "_segment_few", wraps=merging._segment_few) as few:
        for _ in range(20):
            segment(tokeniser.graph, tokeniser.encode(["undesirable"]))
    assert 0 < few.call_count < 5


@given(tied_graphs(), st.lists(st.text("abc", max_size=20), max_size=4))
def test_segmenting_by_merges_that_tie_as_the_kernel(graph, words):
    assert_same(graph, segment_plain(graph, words))


@given(st.lists(st.text("undoäß…ª'1 ", max_size=8), max_size=5), st.booleans())
def test_segmenting_texts_as_the_kernel(words, bare):
    tokeniser = demo()
    assert_same(tokeniser.graph, segment(tokeniser.graph, tokeniser.encode(words, bare=bare)))


@given(st.integers(1, 200), st.integers(0, 2**32), st.integers(0, 5))
def test_draws_as_the_kernel(entries, seed, first):
    drawn, plain = np.empty((3, entries)), np.empty((3, entries))
    resampling.draw_counts(seed, first, drawn)
    uncertainty.plain_counts(seed, first, plain)
    assert (drawn == plain).all()


LISTS = st.lists(
    st.lists(st.text("abä", min_size=1, max_size=3), max_size=4), min_size=3, max_size=3
)


@given(LISTS, LISTS)
def test_sequences_as_the_kernel(gold, found):
    both = Strings.of(gold), Strings.of(found)
    kernel = metrics.longest_common(*both).tolist()
    with patch.object(metrics, "worth_loading", lambda atoms: False):
        assert metrics.longest_common(*both).tolist() == kernel
