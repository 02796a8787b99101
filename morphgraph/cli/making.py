"""Commands that make a tokeniser, and that open the app."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from morphgraph.cli.options import (
    JsonOption,
    word_counts,
)
from morphgraph.cli.output import (
    print_json,
    progress_bar,
    write,
)


def train(
    counts: Annotated[
        str, typer.Option(help="Word counts: FILE (word⇥count a line) or wordfreq:LANG.")
    ],
    vocab_size: Annotated[int, typer.Option(help="Size of the vocabulary, the bytes included.")],
    out: Annotated[Path, typer.Option(help="Where to write the tokenizer.json.")],
    minimum_count: Annotated[
        int, typer.Option("--min-count", help="Merge no pair that is rarer than this.")
    ] = 0,
    special: Annotated[
        list[str] | None, typer.Option(help="A special token, placed first; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a byte-level BPE tokeniser from word counts."""
    import time

    from morphgraph.train.tokeniser import train_tokeniser

    started = time.perf_counter()
    with progress_bar("training") as advance:
        document, merges = train_tokeniser(
            word_counts(counts),
            vocab_size,
            minimum_count=minimum_count,
            special=special or [],
            progress=advance,
        )
    write(out, json.dumps(document, ensure_ascii=False, indent=1).encode())
    report = {
        "saved": str(out),
        "vocab_size": len(document["model"]["vocab"]),
        "merges": merges,
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        print_json(report)
    else:
        print(f"{report['vocab_size']:,} types, {merges:,} merges: saved {out}")


def open_app(
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8501,
    headless: Annotated[
        bool, typer.Option("--headless", help="Do not open a browser window.")
    ] = False,
) -> None:
    """Open the app in the browser."""
    import os

    from morphgraph.files.demos import app_folder

    folder = app_folder()
    os.chdir(folder)
    # Everything else is in .streamlit/config.toml, which Streamlit reads from this folder.
    options = {"server.port": port, "server.headless": str(headless).lower()}
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py")]
    command += [item for name, value in options.items() for item in (f"--{name}", str(value))]
    os.execv(sys.executable, command)
