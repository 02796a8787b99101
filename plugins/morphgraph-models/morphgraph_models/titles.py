"""Data sets of titles to classify, drawn as those of Hofmann et al. 2022 (§4, Appendix A.1).

``python -m morphgraph_models.titles titles.csv --out folder`` writes ``train.csv``, ``dev.csv`` and
``test.csv`` for the task ``classification``.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes, write_files
from morphgraph_models.downstream.examples import read_labelled

_PREFIXES = """
anti auto bi co counter de dis ex extra fore hyper in inter intra mal mega meta micro mid mini mis
mono multi neo non out over poly post pre pro proto pseudo quasi re semi sub super tele trans tri
ultra un under uni
"""
PREFIXES = tuple(_PREFIXES.split())
"""Productive prefixes of English. The paper has those of Crystal 1997."""
SHARES = {"train": 0.6, "dev": 0.2, "test": 0.2}

Titles = list[tuple[str, str]]
"""Titles with their label."""


def share_of_prefixed(title: str, prefixes: Sequence[str] = PREFIXES) -> float:
    """Return the share of words that begin with a prefix and go on.

    >>> share_of_prefixed("unsupervised learning of pre nonlinear maps")
    0.3333333333333333
    """
    is_prefixed = [any(w.startswith(p) and w != p for p in prefixes) for w in title.split()]
    return sum(is_prefixed) / len(is_prefixed) if is_prefixed else 0.0


def drawn_titles(
    titles: Iterable[tuple[str, str]],
    per_label: int,
    *,
    labels: int = 20,
    prefixes: Sequence[str] = PREFIXES,
    seed: int = 0,
) -> dict[str, Titles]:
    """Draw titles of the most frequent labels; return those of train, dev and test.

    Titles are in lower case, of three to ten words, each once. Of each label ``per_label`` are
    drawn without replacement, weighted by `share_of_prefixed`; those without a prefix come after
    all others (ours). Languages are not told apart: give English titles. `MorphGraphError` for too
    few titles or labels.
    """
    known = dict.fromkeys((" ".join(text.lower().split()), label) for text, label in titles)
    fitting = [(text, label) for text, label in known if 3 <= len(text.split()) <= 10]
    sizes = Counter(label for _, label in fitting)
    most = sorted(sizes, key=lambda label: (-sizes[label], label))[:labels]
    few = [label for label in most if sizes[label] < per_label]
    if few or len(most) < labels:
        raise MorphGraphError(
            f"Of {len(most)} labels, {len(most) - len(few)} have {per_label:,} titles of three to "
            "ten words. Give more titles, or ask for fewer."
        )
    random = np.random.default_rng(seed)
    drawn: Titles = []
    for label in most:
        texts = [text for text, each in fitting if each == label]
        weights = np.array([share_of_prefixed(text, prefixes) for text in texts])
        # Ordered so, the first n are a weighted sample without replacement (Efraimidis & Spirakis).
        keys = np.log1p(-random.random(len(texts))) / np.maximum(weights, 1e-9)
        drawn += [(texts[place], label) for place in np.argsort(-keys)[:per_label].tolist()]
    drawn = [drawn[place] for place in random.permutation(len(drawn)).tolist()]
    ends = np.rint(np.cumsum([0, *SHARES.values()]) * len(drawn)).astype(int).tolist()
    return {part: drawn[ends[n] : ends[n + 1]] for n, part in enumerate(SHARES)}


def main(
    file: Annotated[
        Path, typer.Argument(help="Titles with labels: csv, tsv, JSON lines, Parquet.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for train.csv, dev.csv and test.csv.")],
    text: Annotated[str, typer.Option(help="The column with titles.")] = "text",
    label: Annotated[str, typer.Option(help="The column with labels.")] = "label",
    per_label: Annotated[int, typer.Option(min=5, help="ArXiv-S has 100, ArXiv-L 1,000.")] = 1000,
    labels: Annotated[int, typer.Option(min=2, help="The most frequent ones.")] = 20,
    prefixes: Annotated[
        Path | None, typer.Option(help="A file with one per line; ours if not given.")
    ] = None,
    seed: int = 0,
) -> None:
    """Draw a data set of titles, those with many prefixed words above all."""
    chosen = PREFIXES
    if prefixes is not None:
        chosen = tuple(decode_utf8(read_bytes(prefixes), str(prefixes)).lower().split())
    pairs = zip(*read_labelled([str(file)], [text], label), strict=True)
    parts = drawn_titles(pairs, per_label, labels=labels, prefixes=chosen, seed=seed)
    written = {}
    for part, titles in parts.items():
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows([("text", "label"), *titles])
        written[out / f"{part}.csv"] = table.getvalue().encode()
    write_files(written, " with --out")


if __name__ == "__main__":
    try:
        typer.run(main)
    except MorphGraphError as error:
        raise SystemExit(f"morphgraph: {error}") from error
