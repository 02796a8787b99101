"""Unigram: the most probable segmentation, with independent tokens."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PIPELINES, PreparedCorpus
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.loading import load_vocabulary
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.method import Method, Parameters, Training
from morphgraph.segment.training import with_pipeline
from morphgraph.segment.wordpiece import VocabularySegmenter, vocabulary_model
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary, check_scores
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words

if TYPE_CHECKING:
    from morphgraph.kernels.trie import Trie

UNKNOWN_PENALTY = 10.0
"""How much lower than the smallest log-probability an unknown character's is."""


class UnigramParameters(Parameters):
    """The precision of Unigram's sums, and the type of unknown characters."""

    unknown: str | None = Field(
        default=None,
        description="The type for unknown characters; the vocabulary's own if not given.",
    )
    single: bool | None = Field(
        default=None, description="Sums in single precision; as the vocabulary says if not given."
    )


class BestPath(VocabularySegmenter):
    """The base of segmenters by Viterbi: the path with the largest sum of the scores of its tokens.

    Earlier starts win ties. A run of unknown characters is one token if there is a type for it.
    """

    shows_unknown = True
    _scores: npt.NDArray[np.floating[Any]]
    _unknown_score: Any

    def segment(self, words: Words) -> Segmentation:
        return Segmentation(words, *self._found(words, words.piece_offsets))

    def _found(
        self, words: Words, piece_offsets: npt.NDArray[np.int64], atoms: slice = slice(None)
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        from morphgraph.kernels.trie import best_path

        numbers = words.atoms[atoms]
        closed_by, token_at = best_path(
            numbers,
            piece_offsets,
            self._is_continued(numbers),
            self._trie,
            self.vocabulary.spelled_forms,
            self._scores,
            self.unknown_id,
            self._unknown_score,
            self.unknown_id != UNKNOWN,
        )
        if self.vocabulary.byte_fallback and self.vocabulary.unknown in self.vocabulary.in_text:
            self._spell_out(piece_offsets, closed_by, token_at)
        return closed_by, token_at

    def _spell_out(
        self,
        piece_offsets: npt.NDArray[np.int64],
        closed_by: npt.NDArray[np.int32],
        token_at: npt.NDArray[np.int32],
    ) -> None:
        """Make bytes of the unknown token's own text beside others, which the library fuses."""
        ids = self.vocabulary.ids
        spelled = [ids[BYTES[byte]] for byte in str(self.vocabulary.unknown).encode()]
        fused = {self.unknown_id, *map(ids.__getitem__, BYTES)}
        for end in np.flatnonzero(token_at == self.unknown_id).tolist():
            piece = np.searchsorted(piece_offsets, end, "right")
            first, last = piece_offsets[piece - 1 : piece + 1].tolist()
            start, after = end, end + 1
            while start > first and closed_by[start - 1] >= 0:
                start -= 1
            while after < last and closed_by[after] >= 0:
                after += 1
            beside = [
                *token_at[max(first, start - 1) : start],
                *token_at[after : min(after + 1, last)],
            ]
            times, rest = divmod(end + 1 - start, len(spelled))
            if not rest and (times > 1 or not fused.isdisjoint(beside)):
                token_at[start : end + 1], closed_by[start:end] = spelled * times, -1

    def _is_continued(self, atoms: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
        """Return 1 for each atom that is a byte, but the last one of its character."""
        is_continued = np.zeros(len(atoms), np.uint8)
        if self.vocabulary.byte_fallback:
            bytes_ = [self.vocabulary.atoms[text] for text in BYTES[0x80:0xC0]]
            is_continued[:-1] = np.isin(atoms[1:], bytes_)
        return is_continued

    @property
    def _trie(self) -> Trie:
        return self.vocabulary.trie

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the readable text of a token; for an unknown one, its original characters."""
        if token == UNKNOWN or token != self.unknown_id:
            return super().token_text(words, atom, token)
        if self.vocabulary.byte_fallback:
            return str(self.vocabulary.unknown)
        # Where it begins is in the segmentation of its piece.
        number = np.searchsorted(words.piece_offsets, atom, "right") - 1
        start, end = words.piece_offsets[number : number + 2].tolist()
        _, token_at = self._found(words, np.array([0, end - start]), slice(start, end))
        before = np.flatnonzero(token_at[: atom - start] != INSIDE_TOKEN) + 1
        first = start + int(before.max(initial=0))
        return "".join(self.vocabulary.atom_text(words, i) for i in range(first, atom + 1))


class Unigram(BestPath):
    """Viterbi over the log-probabilities of the types; ties are broken as in the libraries.

    ``log_probabilities``, ``unknown``: the vocabulary's own by default. A run of unknown characters
    is one token, and each costs the smallest log-probability less ten; with a byte fallback they
    are bytes ``<0x..>`` instead. ``single``: sums are rounded to single precision, as in
    SentencePiece, else double, as in Hugging Face's `Unigram`. Source: Kudo 2018. `MorphGraphError`
    for log-probabilities that are missing or not finite.

    >>> vocabulary = SubwordVocabulary(("a", "b", "ab", "ba"))
    >>> unigram = Unigram(vocabulary, [-1.0, -1.0, -1.5, -3.0])
    >>> [vocabulary.types[t] for t in unigram.segment(unigram.encode(["aba"])).tokens(0)]
    ['ab', 'a']
    """

    method = "unigram"
    name = "Unigram"

    @property
    def _trie(self) -> Trie:
        return self.vocabulary.full_trie

    def __init__(
        self,
        vocabulary: SubwordVocabulary,
        log_probabilities: Sequence[float] | None = None,
        unknown: str | None = None,
        single: bool | None = None,
    ) -> None:
        UnigramParameters(unknown=unknown, single=single)
        scores = vocabulary.scores if log_probabilities is None else log_probabilities
        if scores is None:
            raise MorphGraphError(
                f"The vocabulary “{vocabulary.name}” has no log-probabilities. Choose a Unigram "
                "tokenizer.json or a SentencePiece model."
            )
        check_scores(scores, vocabulary.types)
        # One vocabulary holds everything that the result depends on, and so does its checksum.
        super().__init__(
            replace(
                vocabulary,
                unknown=vocabulary.unknown if unknown is None else unknown,
                scores=tuple(float(score) for score in scores),
                single=vocabulary.single if single is None else single,
            )
        )
        kind = np.float32 if self.vocabulary.single else np.float64
        if np.abs(np.array(scores, np.float64)).max() > np.finfo(kind).max:
            raise MorphGraphError(
                "A log-probability is too large for single precision. Give one from −10³⁸ to 10³⁸."
            )
        self._scores = np.array(scores, kind)
        self._unknown_score = kind(self._scores.min() - UNKNOWN_PENALTY)

    @property
    def log_probabilities(self) -> Sequence[float]:
        """The log-probability of each type."""
        return self.vocabulary.scores or ()

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"unknown": self.vocabulary.unknown, "single": self.vocabulary.single}

    def exported(self, unchanged: bool) -> ExportedModel:
        """Return its exported model, also for the `tokenizers` library if ids have no gaps."""
        vocabulary, scores = self.vocabulary, self.log_probabilities
        plain = {
            "type": "Unigram",
            "unk_id": None if vocabulary.unknown is None else vocabulary.unknown_id,
            "vocab": [list(pair) for pair in zip(vocabulary.types, scores, strict=True)],
            "byte_fallback": vocabulary.byte_fallback,
        }
        is_dense = vocabulary.file_ids is None
        return vocabulary_model(self, plain if is_dense else None)


def unigram_vocabulary(
    prepared: PreparedCorpus, vocab_size: int, name: str, watch: Callable[[float], None]
) -> SubwordVocabulary:
    """Train Unigram (Kudo 2018) with SentencePiece; return types and log-probabilities."""
    name = f"{name}-{vocab_size}"
    model = sentencepiece_model(prepared, vocab_size)
    watch(0.99)
    marker: Marker = "▁" if PIPELINES[prepared.pipeline].marked else ""
    vocabulary = replace(load_vocabulary({name: model}), marker=marker, name=name)
    if "▁" not in vocabulary.ids:
        # The token for a space has no competitor, so its score does not matter.
        scores = vocabulary.scores or ()
        vocabulary = replace(
            vocabulary, types=(*vocabulary.types, "▁"), scores=(*scores, min(scores))
        )
    return with_pipeline(vocabulary, prepared)


_LONGEST_LINE = 1_000_000
LONGEST_TEXT = 5_000_000
"""Counts are scaled down for SentencePiece to this many characters of running text."""


def sentencepiece_model(prepared: PreparedCorpus, vocab_size: int) -> bytes:
    """Train SentencePiece's Unigram on prepared pieces; return the model file.

    The pipeline makes the pieces, so SentencePiece's own normalisation, marker and splits are off.
    It reads counts from a file in a temporary folder.
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
            # Without the location in its source.
            reason = str(error).rpartition("] ")[2].strip().rstrip(".")[:160]
            raise MorphGraphError(
                f"SentencePiece cannot train a Unigram of {vocab_size:,} types on these words "
                f"({reason or 'it does not say why'}). Choose another size, or give more words."
            ) from error
    return model.getvalue()


def _scaled(counts: WordCounts) -> Iterator[tuple[str, int]]:
    """Scale the counts of a long text down; none becomes 0.

    To find its first types, SentencePiece writes out every occurrence of every word.
    """
    length = sum((len(piece) + 1) * count for piece, count in counts.items())
    for piece, count in counts.items():
        yield piece, min(count, max(1, round(count * LONGEST_TEXT / length)))


def _trained(*given: Any) -> Unigram:
    return Unigram(unigram_vocabulary(*given))


def _training(description: str, *, unmarked: bool = False) -> Training:
    return Training(
        description, _trained, unmarked=unmarked, atoms="characters", stoppable=False, seconds=15.0
    )


UNIGRAM = Method(
    "unigram",
    "Unigram",
    "The most probable sequence of types.",
    Unigram,
    "vocabulary",
    UnigramParameters,
    source="Kudo 2018",
    training=_training(
        "The most probable of all segmentations (Kudo 2018), trained by SentencePiece."
    ),
    standalone="morphgraph.standalone.lookup:Unigram",
)
UNIGRAM_PRIME = Method(
    "unigram-prime",
    "Unigram′",
    "Unigram in which every space is a token of its own.",
    None,
    "training",
    source="Gow-Smith et al. 2022",
    training=_training(
        "Unigram in which every space is a token of its own (Gow-Smith et al. 2022).", unmarked=True
    ),
)
