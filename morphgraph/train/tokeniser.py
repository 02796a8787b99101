"""From word counts to a tokeniser file."""

from collections.abc import Callable, Sequence
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import prepare
from morphgraph.tokeniser.hugging_face import byte_level_document
from morphgraph.train.bpe import train_bpe

_BYTES = 256


def train_tokeniser(
    counts: WordCounts,
    vocabulary_size: int,
    *,
    minimum_count: int = 0,
    special: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> tuple[dict[str, Any], int]:
    """Train byte-level BPE with the Ġ marker: a ``tokenizer.json`` as data, and how many merges.

    Words are cut first as the file's pre-tokeniser will cut them, by GPT-2's pattern.
    ``vocabulary_size`` counts the special tokens, the 256 bytes and the merged types; fewer come
    out if the words have no more pairs to merge.
    """
    smallest = _BYTES + len(special)
    if vocabulary_size < smallest:
        raise MorphGraphError(
            f"A vocabulary of {vocabulary_size:,} types has no room for the {smallest:,} bytes and "
            f"special tokens. Ask for more than {smallest:,}."
        )
    for text in special:
        if not text or special.count(text) > 1:
            raise MorphGraphError(
                f"The special token “{text}” is empty or repeated. Give each a name of its own, "
                "such as “<unk>”."
            )
    prepared = prepare("plain", counts)
    trained = train_bpe(
        prepared.counts,
        vocab_size=vocabulary_size,
        minimum_count=minimum_count,
        alphabet=prepared.alphabet,
        reserved=len(special),
        progress=progress,
    )
    clashing = set(special).intersection(trained.vocabulary)
    if clashing:
        raise MorphGraphError(
            f"The special token “{min(clashing)}” is also a trained type. Name it so that it is "
            "no text, such as “<unk>”."
        )
    document = byte_level_document(trained.vocabulary, trained.merges, special)
    return document, len(trained.merges)
