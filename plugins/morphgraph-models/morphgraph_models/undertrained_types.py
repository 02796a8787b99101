"""Under-trained types: those with short rows, or rows close to those of unused types.

A type that is rarely a token gets little gradient, so its rows stay near those of types that never
occur. Source: Land & Bartolo 2024, whose program ranks by the cosine distance from the mean of
unused rows if input and output share one matrix, else by the norm of input rows; Chizhov et al.
2024, §5, who compare norms with frequency.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from morphgraph.core.errors import MorphGraphError, check_choice
from morphgraph.core.text import base_name, counted
from morphgraph.corpus.counts import to_word_counts
from morphgraph.score.vocabulary_comparison import compared
from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter, standard_segmenter
from morphgraph.tables.model import Table, frame_table
from morphgraph.tables.terminal import text_of
from morphgraph.tables.writing import frame_csv
from morphgraph_models.checkpoint import BUFFER, StoredTensor, read_checkpoint
from morphgraph_models.model_vocabulary import ModelVocabulary, read_model_vocabulary
from morphgraph_models.rows import as_floats, check_rows, vocabulary_matrices
from morphgraph_models.settings import STANDS_OUT

TYPE_KINDS: Mapping[str, str] = {
    "padding": "a row without a type",
    "special": "a special or added token",
    "reserved": "reserved, by its name",
    "partial": "part of a character",
    "unreachable": "never produced: its own string is segmented differently",
    "step": "a step on the way to another type",
    "never_used": "no token of the corpus",
    "ordinary": "an ordinary type",
}
"""The kinds of rows; the first that applies counts."""

RANKINGS: Mapping[str, str] = {
    "norm": "norm of the input row",
    "cosine": "cosine distance of the input row from unused rows",
    "euclidean": "Euclidean distance of the input row from unused rows",
}
"""What types can be ranked by, in ascending order."""

_SURELY_UNUSED = ("padding", "reserved", "unreachable")
_RESERVED = re.compile(r"\W*(unused|reserved|madeupword|dummy)[\w-]*\d\W*", re.IGNORECASE)

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class UndertrainedTypes:
    """The rows of a model's vocabulary: their norms, and their distances from unused rows.

    ``tied``: the output projection is the input embedding. ``unused``: the number of rows taken as
    unused; ``unused_are``: a description of them. ``ranked_by``: the column that ranks types,
    lowest first. ``frame``: a row for each id, with ``id``, ``type`` in readable form, ``kind``
    (see `TYPE_KINDS`), ``count`` (tokens in the corpus; NaN without one), and for ``input`` and,
    where stored separately, ``output``: ``norm``, ``cosine`` and ``euclidean``, the distances from
    the mean of the unused rows, NaN where there are none. ``against``: the name of another
    tokeniser, if one was given; then ``only_here`` says “yes” of types that it does not have.
    """

    name: str
    tied: bool
    unused: int
    unused_are: str
    ranked_by: str
    frame: pd.DataFrame
    against: str = ""

    def standing_out(self, share: float = STANDS_OUT) -> pd.DataFrame:
        """Return the lowest-ranking share of types, lowest first, without padding."""
        types = self.frame[self.frame["kind"] != "padding"]
        ranked = types.sort_values(self.ranked_by, kind="stable")
        return ranked.head(int(np.ceil(share * len(types)))).reset_index(drop=True)

    def by_kind(self, share: float = STANDS_OUT) -> pd.DataFrame:
        """Return a row for each kind: its types, those that stand out, and means."""
        values = [name for name in self.frame.columns if name.startswith(("input", "output"))]
        grouped = self.frame.groupby("kind", sort=False)
        kinds = grouped[values].mean()
        kinds.insert(0, "rows", grouped.size())
        kinds.insert(1, "stand_out", self.standing_out(share).groupby("kind").size())
        kinds["stand_out"] = kinds["stand_out"].fillna(0).astype("int64")
        return kinds.reindex([kind for kind in TYPE_KINDS if kind in kinds.index]).reset_index()

    def ranked(self, by: str) -> Self:
        """Return the same, ranked by another of `rankings`."""
        return replace(self, ranked_by=f"input_{by}")

    @property
    def rankings(self) -> Mapping[str, str]:
        """What types can be ranked by, with descriptions: distances only from unused rows."""
        return RANKINGS if self.unused else {"norm": RANKINGS["norm"]}

    def table(self) -> Table:
        """Return the types that stand out, with their kinds in words."""
        chosen = self.standing_out()
        return frame_table(chosen.assign(kind=chosen["kind"].map(TYPE_KINDS)))

    def csv(self) -> bytes:
        """Return the table of all rows."""
        return frame_csv(self.frame)

    def chart(self) -> Any:
        """Return a plotly figure of all rows against frequency."""
        from morphgraph_models.undertrained_chart import undertrained_points

        return undertrained_points(self.frame, self.ranked_by, TYPE_KINDS, self.against)

    def page(self) -> str:
        """Return the chart as a stand-alone page (HTML)."""
        page: str = self.chart().to_html(include_plotlyjs=True, full_html=True)
        return page

    def to_dict(self, share: float = STANDS_OUT, limit: int = 0) -> dict[str, Any]:
        """Return kinds, and at most ``limit`` types that stand out, as JSON data; 0 for all."""
        about = ("tied", "unused", "unused_are", "ranked_by")
        return {
            "model": self.name,
            **{name: getattr(self, name) for name in about},
            "rows": len(self.frame),
            "kinds": self.by_kind(share).to_dict("records"),
            "types": self.standing_out(share)[: limit or None].to_dict("records"),
        }

    def report(self, share: float = STANDS_OUT, limit: int = 0) -> str:
        """Return the same in lines, as the terminal shows it."""
        chosen = self.standing_out(share)
        shown = chosen[["type", *chosen.columns.drop("type")]][: limit or None]
        told = f"{len(shown):,} of {counted(len(chosen), 'type')}, lowest {self.ranked_by} first:"
        unused = f"{counted(self.unused, 'row')} taken for unused: {self.unused_are}"
        types = [told, text_of(frame_table(shown))] if len(shown) else []
        return "\n".join([text_of(frame_table(self.by_kind(share))), unused, *types])

    def __repr__(self) -> str:
        return (
            f"<UndertrainedTypes: {counted(len(self.frame), 'row')}, {self.unused:,} unused "
            f"({self.unused_are}), ranked by {self.ranked_by}>"
        )


def undertrained(
    model: str | os.PathLike[str],
    frequencies: str | NamedCounts | None = None,
    *,
    tokenizer: str | os.PathLike[str] | None = None,
    padded: bool = False,
    by: str | None = None,
    against: str | os.PathLike[str] | None = None,
) -> UndertrainedTypes:
    """Look for types that a model has hardly learned: norms, and distances from unused rows.

    ``model``: a folder of `transformers` with weights in safetensors. ``frequencies``: a file of
    word counts, or ``wordfreq:en``, or counts with a name, whose words are segmented to count
    types. ``tokenizer``: the model's, if it is not in its folder. ``padded``: rows beyond its ids
    are padding, however many.

    The rows taken as unused are those without a type, of reserved types, and of types that can
    never be produced; failing those, those of types that are no token of the corpus. ``by``: rank
    types by ``norm``, ``cosine`` or ``euclidean``; by default as Land & Bartolo's program does, by
    the cosine distance where one matrix is input and output, else by the norm. ``against``: another
    tokeniser; types that it does not have are marked, as dropped and added ones are in Chizhov et
    al. 2024, Figures 3 and 5. Errors: `MorphGraphError`.

    >>> mg.models.undertrained("no model")
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.FileFormatError: no model: there is no such folder. Check the path.
    """
    if by is not None:
        check_choice("by", by, tuple(RANKINGS))
    if isinstance(frequencies, str):
        corpus: NamedCounts | None = NamedCounts(to_word_counts(frequencies), frequencies)
    else:
        corpus = frequencies
    checkpoint = read_checkpoint(model)
    rows, matrices, _ = vocabulary_matrices(checkpoint)
    vocabulary = read_model_vocabulary(tokenizer or checkpoint.folder)
    check_rows(rows, vocabulary, padded)
    texts, kinds, counts = _described(vocabulary, corpus, rows)
    columns: dict[str, Any] = {"id": np.arange(rows), "type": texts, "kind": kinds, "count": counts}
    if against is not None:
        columns["only_here"] = _only_here(vocabulary, rows, load_segmenter(against))
    unused = np.flatnonzero(np.isin(kinds, _SURELY_UNUSED))
    unused_are = "without a type, reserved or never produced"
    if not len(unused) and corpus is not None:
        unused = np.flatnonzero((counts == 0) & (kinds != "special"))
        unused_are = "no token of the corpus"
    tensors = {each.role: each.tensor for each in reversed(matrices)}  # the first of each role
    for role in ("input", "output"):
        if role in tensors:
            figures = _row_figures(tensors[role], rows, unused)
            columns |= {
                f"{role}_{name}": each for name, each in zip(RANKINGS, figures, strict=True)
            }
    tied = "output" not in tensors
    if by is None:
        by = "cosine" if tied and len(unused) else "norm"
    elif by != "norm" and not len(unused):
        raise MorphGraphError(
            f"{checkpoint.folder} has no row that is known to be unused, so there are no "
            "distances. Rank by the norm, or give word counts."
        )
    return UndertrainedTypes(
        str(checkpoint.folder),
        tied,
        len(unused),
        unused_are if len(unused) else "none are known",
        f"input_{by}",
        pd.DataFrame(columns),
        "" if against is None else base_name(str(against)),
    )


def _described(
    vocabulary: ModelVocabulary, corpus: NamedCounts | None, rows: int
) -> tuple[Sequence[str], npt.NDArray[np.str_], Values]:
    """Return the readable type, the kind and the count of each row."""
    health = VocabularyHealth(standard_segmenter(vocabulary.loaded), corpus)
    inventory, compression = health.inventory, health.compression
    counts = np.full(rows, np.nan if compression is None else 0.0)
    texts = [""] * rows
    kinds = np.full(rows, "padding", "U11")
    for text, number in vocabulary.ids.items():
        texts[number], kinds[number] = text, "special"
    unreachable = set(health.unreachable or ())
    for number, body in inventory.bodies.items():
        row = vocabulary.loaded.vocabulary_id(number)
        if row is None:
            continue
        texts[row] = inventory.texts[number]
        count = 0.0 if compression is None else float(compression.counts[number])
        counts[row] = np.nan if compression is None else count
        used_in = 0 if inventory.graph is None else len(inventory.graph.outgoing(number))
        is_step = used_in == 1 if compression is None else used_in > 0 and not count
        for kind, holds in (
            ("partial", body is None),
            ("unreachable", number in unreachable),
            ("step", is_step),
            ("never_used", compression is not None and not count),
            ("ordinary", True),
        ):
            if holds:
                kinds[row] = kind
                break
    for row, text in enumerate(texts):
        if _RESERVED.fullmatch(text):
            kinds[row] = "reserved"
    return texts, kinds, counts


def _only_here(vocabulary: ModelVocabulary, rows: int, against: Segmenter) -> npt.NDArray[np.str_]:
    """Return “yes” for each row whose type another tokeniser does not have."""
    told = np.full(rows, "", "U3")
    both = VocabularyHealth(against), VocabularyHealth(standard_segmenter(vocabulary.loaded))
    for number in compared(*both)["added_types"].inventory.spelled:
        if (row := vocabulary.loaded.vocabulary_id(number)) is not None:
            told[row] = "yes"
    return told


def _row_figures(
    tensor: StoredTensor, rows: int, unused: npt.NDArray[np.int64]
) -> tuple[Values, Values, Values]:
    """Return the norm of each row, and its distances from the mean of ``unused`` rows."""
    stored = tensor.row_bytes(rows)
    step = max(1, BUFFER // stored.shape[1])

    def numbers(chosen: Any) -> Values:
        return as_floats(stored[chosen], tensor.dtype).astype(np.float64)

    norms, cosine, euclidean = (np.full(rows, np.nan) for _ in range(3))
    mean = None
    if len(unused):
        parts = (unused[at : at + step] for at in range(0, len(unused), step))
        mean = sum(numbers(part).sum(axis=0) for part in parts) / len(unused)
    for start in range(0, rows, step):
        span = slice(start, start + step)
        block = numbers(span)
        norms[span] = np.linalg.norm(block, axis=1)
        if mean is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                both = norms[span] * np.linalg.norm(mean)
                cosine[span] = 1 - (block @ mean) / both
            euclidean[span] = np.linalg.norm(block - mean, axis=1)
    return norms, cosine, euclidean
