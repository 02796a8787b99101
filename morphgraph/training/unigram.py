"""Train SentencePiece's Unigram on words that a pipeline prepared."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PreparedCorpus

_LONGEST_LINE = 1_000_000
LONGEST_TEXT = 5_000_000
"""Counts are scaled down for SentencePiece to this many characters of running text."""


def sentencepiece_model(prepared: PreparedCorpus, vocab_size: int) -> bytes:
    """Train SentencePiece's Unigram on prepared pieces; return the model file.

    The pipeline makes the pieces, so SentencePiece's own normalisation, marker and splits are
    switched off. It reads counts from a file in a temporary folder. Counts of more than
    `LONGEST_TEXT` characters in all are scaled down to that, each to 1 at least.
    """
    import sentencepiece

    model = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="morphgraph-") as folder:
        source = Path(folder) / "counts.tsv"
        with source.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{piece}\t{count}\n" for piece, count in _scaled(prepared.counts))
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(source),
                input_format="tsv",
                model_writer=model,
                model_type="unigram",
                vocab_size=vocab_size,
                hard_vocab_limit=False,
                character_coverage=1.0,
                required_chars="".join(prepared.alphabet),
                normalization_rule_name="identity",
                add_dummy_prefix=False,
                remove_extra_whitespaces=False,
                split_by_unicode_script=False,
                split_by_number=False,
                split_digits=False,
                max_sentence_length=_LONGEST_LINE,
                unk_id=0,
                bos_id=-1,
                eos_id=-1,
                pad_id=-1,
                num_threads=2,
                minloglevel=2,
            )
        except (RuntimeError, OSError, ValueError) as error:
            raise MorphGraphError(
                f"SentencePiece cannot train a Unigram of {vocab_size:,} types on these words "
                f"({_reason(error)}). Choose another size, or give more words."
            ) from error
    return model.getvalue()


def _scaled(counts: WordCounts) -> Iterator[tuple[str, int]]:
    """Scale the counts of a long text down; none becomes 0.

    To find its first types, SentencePiece writes out every occurrence of every word.
    """
    length = sum((len(piece) + 1) * count for piece, count in counts.items())
    for piece, count in counts.items():
        yield (
            piece,
            max(1, round(count * LONGEST_TEXT / length)) if length > LONGEST_TEXT else count,
        )


def _reason(error: BaseException) -> str:
    """Return the library's message, without the location in its source."""
    return str(error).rpartition("] ")[2].strip().rstrip(".")[:160] or "it does not say why"
