"""Open files, as the app does and as the command does, and measure what each costs.

From each line of standard input, a kind, ways and a path, it prints JSON: for each way of
``public`` (as an upload on a public server), ``upload`` and ``command`` the error, the seconds of
the processor, which no other program changes, and how many bytes the process took at most beyond
what it had before.
"""

import contextlib
import ctypes
import gc
import io
import json
import logging
import os
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

logging.disable(logging.CRITICAL)  # there is no page to draw on

# Where it takes longer the library is imported before, as in an app that runs.
import openpyxl  # noqa: E402, F401
import pyarrow.parquet  # noqa: E402, F401
import sentencepiece.sentencepiece_model_pb2  # noqa: E402, F401
import tokenizers  # noqa: E402, F401

from morphgraph import cli  # noqa: E402
from morphgraph.batch.configuration import parse_evaluation  # noqa: E402
from morphgraph.core.errors import MorphGraphError  # noqa: E402
from morphgraph.core.files import demo_gold_path  # noqa: E402
from morphgraph.corpus.counting import read_text  # noqa: E402
from morphgraph.formats.loading import load_tokeniser  # noqa: E402
from morphgraph.score.boundaries import Benchmark  # noqa: E402
from web.sources import (  # noqa: E402
    Source,
    frequencies_of,
    reference_of,
    uploaded_model,
)


def memory(what):
    """``VmRSS`` or ``VmHWM`` of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(what + ":")]
    return int(line.split()[1]) * 1024


def measured(run, kind, path):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was free before would not be seen to be used
    Path("/proc/self/clear_refs").write_text("5")
    before, start = memory("VmRSS"), time.process_time()
    error = run(kind, path)
    seconds = time.process_time() - start
    grown = memory("VmHWM") - before
    return {"error": error, "seconds": seconds, "grown": grown}


def uploaded(kind, path):
    """What the upload fields call; the error's message."""
    data = path.read_bytes()
    source = Source(path.name, ((path.name, data),))
    try:
        if kind == "tokeniser":
            model = uploaded_model({path.name: data})
            Benchmark.build(getattr(model, "tokeniser", model), reference_of(Source("demo:en")))
        elif kind == "reference":
            reference_of(source)
        elif kind == "frequencies":
            frequencies_of(source)
        elif kind == "text":
            read_text(data, path.name)
        else:
            parse_evaluation(data, path.name)
    except MorphGraphError as error:
        return str(error)
    return ""


def uploaded_in_public(kind, path):
    """The same on a public server."""
    os.environ["MORPHGRAPH_PUBLIC"] = "1"
    try:
        return uploaded(kind, path)
    finally:
        del os.environ["MORPHGRAPH_PUBLIC"]


def commanded(kind, path):
    """What the command prints on standard error, which must be one line and exit code 2."""
    gold = str(demo_gold_path("en"))
    out = str(path.parent / "out")
    arguments = {
        "tokeniser": ["score", path, gold],
        "reference": ["score", "demo:en", path],
        "frequencies": ["train", "bpe", path, "--vocab-size", "300", "--out", out],
        "text": ["train", "bpe", "--text", path, "--vocab-size", "300", "--out", out],
        "evaluation": ["evaluate", path, "--out", out],
    }[kind]
    sys.argv = ["morphgraph", *map(str, arguments)]
    printed = io.StringIO()
    code = 0
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
    lines = printed.getvalue().splitlines()
    return lines[-1] if code == 2 and lines else f"exit code {code}: {lines}"


if __name__ == "__main__":
    os.environ["MORPHGRAPH_THREADS"] = "1"
    Benchmark.build(load_tokeniser("demo:en"), reference_of(Source("demo:en")))
    print("ready", flush=True)
    ways = {"public": uploaded_in_public, "upload": uploaded, "command": commanded}
    for line in sys.stdin:
        kind, asked, name = line.rstrip("\n").split(" ", 2)
        costs = {way: measured(ways[way], kind, Path(name)) for way in asked.split(",")}
        print(json.dumps(costs), flush=True)
