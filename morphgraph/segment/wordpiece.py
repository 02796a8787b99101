"""Segmenters over a vocabulary: WordPiece, and greedy longest match for any marker."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import document_field
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PreparedCorpus, recounted
from morphgraph.formats.export import LOSES_MARKS
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.hugging_face import library_numbers
from morphgraph.formats.recipe import read_lineage
from morphgraph.segment.method import Method, Parameters, Training
from morphgraph.segment.segmenter import Inventory, Segmenter
from morphgraph.segment.training import Asked, check_vocabulary_size, train_bpe, with_pipeline
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words, called

if TYPE_CHECKING:
    from morphgraph.kernels.trie import Trie


class VocabularySegmenter(Segmenter):
    """The base of segmenters that look up substrings in a vocabulary."""

    vocabulary: SubwordVocabulary

    def __init__(self, vocabulary: SubwordVocabulary) -> None:
        super().__init__(vocabulary)
        self.vocabulary = vocabulary

    @property
    def unknown_id(self) -> int:
        return self.vocabulary.unknown_id

    def inventory(self) -> Inventory:
        vocabulary = self.vocabulary
        preprocessor, present = vocabulary.preprocessor, range(len(vocabulary.types))
        return Inventory.of(
            vocabulary.types,
            present,
            vocabulary.special | {token.content for token in preprocessor.added},
            preprocessor.suffix or vocabulary.marker,
            preprocessor,
            [vocabulary.readable(number) for number in present],
        )

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types in whose place another one is found."""
        ends = self.forgiving.last_tokens(self._paths(inventory))
        return [number for number, end in ends.items() if end != number]

    def _paths(self, inventory: Inventory) -> dict[int, list[int]]:
        """Return the atoms of each type, after an unknown one if it stands inside a word."""
        vocabulary = self.vocabulary
        paths = {}
        for number, text in inventory.spelled.items():
            written, has = vocabulary.types[number], number in inventory.marked
            if inventory.is_byte(number, written):
                continue
            marks = vocabulary.marker
            inside = has if marks == "##" else marks in ("Ġ", "▁") and not has
            shown = text if marks == "##" else written
            paths[number] = [UNKNOWN] * inside + vocabulary.path(shown)
        return paths

    def exported(self, unchanged: bool) -> ExportedModel:
        return vocabulary_model(self)

    def document(self) -> dict[str, Any]:
        model = self.vocabulary.document()
        return {"method": self.method, "parameters": dict(self.parameters), "model": model}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        vocabulary = SubwordVocabulary.from_document(document_field(document, "model", dict))
        parameters = document_field(document, "parameters", dict)
        try:
            segmenter = cls(vocabulary, **parameters)
        except TypeError:
            segmenter = None
        if segmenter is None or dict(segmenter.parameters) != parameters:
            problem = f"it does not hold those of {cls.method}"
            raise FileFormatError("model", "field parameters", problem, "Save it again.")
        return segmenter

    def warning(self) -> str:
        """Warn of a vocabulary that has letters but none of their capitals; else empty."""
        vocabulary = self.vocabulary
        letters = (c for c in vocabulary.atoms if c.islower() and len(c.upper()) == 1)
        capitals = {c.upper() for c in letters if c.upper() != c}
        # Those in the names of special types are no letters.
        alone = replace(vocabulary, in_text=frozenset())
        unknown = alone.encode(sorted(capitals), bare=True).unknown
        if not capitals or len(unknown) < len(capitals):
            return ""
        return (
            "The vocabulary has no capital letter, so words with one become unknown. Train on "
            "counts with capitals, or use lower case only."
        )


def vocabulary_model(
    segmenter: VocabularySegmenter, plain: Mapping[str, Any] | None = None
) -> ExportedModel:
    """Return the exported model of a vocabulary segmenter, with the ids of the file.

    ``plain``: the same as a model of the `tokenizers` library, without its vocabulary if that is
    types and ids; None if it has no such model.
    """
    vocabulary = segmenter.vocabulary
    held = segmenter.document()
    file = dict(held["model"].pop("file", None) or {})
    settings = file.pop("model", {})
    prepared = vocabulary.preprocessor.sentencepiece
    preprocessor = held["model"]["preprocessor"]
    ids = {text: int(vocabulary.vocabulary_id(n) or 0) for n, text in enumerate(vocabulary.types)}
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": preprocessor["normalizer"],
        "pre_tokenizer": preprocessor["pre_tokenizer"],
        "post_processor": None,
        "decoder": None,
        **file,
        "model": {
            "type": segmenter.method,
            "vocab": ids,
            "unk_token": vocabulary.unknown,
            "sentencepiece": settings.get("sentencepiece") or (prepared and prepared.settings()),
            "method": held,
        },
    }
    # A file without a decoder is decoded without one; here, nobody has left it out.
    if vocabulary.marker == "##" and not vocabulary.file_model and document["decoder"] is None:
        document["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    lineage = read_lineage(settings, vocabulary.name)
    first = ids if lineage is None else lineage.ids
    reason = f"{segmenter.name} is not a model of the tokenizers library"
    if plain is not None and prepared is not None and prepared.charsmap:
        reason, plain = LOSES_MARKS, None
    if plain is not None:
        reason = "the tokenizers library has such a model"
        plain = _without_added({"vocab": ids, **plain}, document, vocabulary)
    return ExportedModel(
        vocabulary.name,
        called(segmenter.name, segmenter.parameters),
        segmenter.signature(),
        document,
        {first[text]: new for text, new in ids.items() if text in first},
        reason,
        segmenter.ids_in(document),
        plain,
        leading_space=vocabulary.preprocessor.leading_space,
    )


def _without_added(
    plain: Mapping[str, Any], document: Mapping[str, Any], vocabulary: SubwordVocabulary
) -> Mapping[str, Any]:
    """Leave out added tokens that the file's model lacks, unless the library renumbers them then.

    They would be pieces of its model otherwise, found spelled out in a text.
    """
    added = document["added_tokens"] or []
    only_added = {token["content"] for token in added} - vocabulary.in_text
    held, listed = plain["vocab"], document["model"]["vocab"]
    rest = {text: number for text, number in listed.items() if text not in only_added}
    numbers = library_numbers(rest, added)
    same = all(listed.get(text) == number for text, number in numbers.items())
    if vocabulary.file_model.get("type") != plain["type"] or not same or not rest:
        return plain
    if isinstance(held, Mapping):
        return {**plain, "vocab": rest}
    pairs = [pair for pair in held if pair[0] in rest]
    return {**plain, "vocab": pairs} if pairs == held[: len(pairs)] else plain


class Greedy(VocabularySegmenter):
    """Takes the longest matching type from the left; an unmatched character is unknown.

    At the start of a piece, types that the vocabulary's marker allows there; later, those that it
    allows inside a word. A character ``<0x..>`` of a byte fallback is its own type.

    >>> greedy = Greedy(SubwordVocabulary(("▁un", "do", "▁", "d")))
    >>> words = greedy.encode(["▁undone"])
    >>> found = greedy.segment(words)
    >>> [greedy.token_text(words, *end) for end in found.token_ends(0)]
    ['▁un', 'do', 'n', 'e']
    """

    method = "greedy"
    name = "Greedy"

    def segment(self, words: Words) -> Segmentation:
        return _leftmost_longest(self.vocabulary, words, self.unknown_id)


GREEDY = Method(
    "greedy",
    "Greedy",
    "The longest type from the left.",
    Greedy,
    "vocabulary",
    source="Wu et al. 2016",
    standalone="morphgraph.standalone.lookup:Greedy",
)


class WordPieceParameters(Parameters):
    """The type and conditions of words that WordPiece gives up."""

    unknown: str | None = Field(
        default=None,
        description="The unknown token; the vocabulary's own, else [UNK], if not given.",
    )
    longest_word: int | None = Field(
        default=None,
        ge=1,
        description="Longer pieces are one unknown token; the file's own, else 100, if not given.",
    )


_LONGEST_WORD = 100


class WordPiece(VocabularySegmenter):
    """Greedy longest match from the left, with ``##`` before types inside a word, if anything.

    A piece that cannot be finished, or has more than ``longest_word`` characters, is one
    ``unknown`` token, as in Hugging Face's `WordPiece`; where the vocabulary lacks that type, its
    id is `UNKNOWN`. Source: Wu et al. 2016; Devlin et al. 2019, the released tokeniser.

    >>> wordpiece = WordPiece(SubwordVocabulary(("un", "##do", "[UNK]"), "##"))
    >>> found = wordpiece.segment(wordpiece.encode(["undo", "undone"]))
    >>> found.tokens(0), found.tokens(1)
    ([0, 1], [2])
    """

    method = "wordpiece"
    name = "WordPiece"

    def __init__(
        self,
        vocabulary: SubwordVocabulary,
        unknown: str | None = None,
        longest_word: int | None = None,
    ) -> None:
        if longest_word is None:
            longest_word = vocabulary.file_model.get("max_input_chars_per_word") or _LONGEST_WORD
        WordPieceParameters(unknown=unknown, longest_word=longest_word)
        super().__init__(vocabulary)
        self.unknown = unknown or vocabulary.unknown or "[UNK]"
        self.longest_word: int = longest_word

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"unknown": self.unknown, "longest_word": self.longest_word}

    @property
    def unknown_id(self) -> int:
        """The type for a piece that cannot be finished."""
        return self.vocabulary.ids.get(self.unknown, UNKNOWN)

    def segment(self, words: Words) -> Segmentation:
        trie = self.vocabulary.full_trie
        return _leftmost_longest(self.vocabulary, words, self.unknown_id, trie, self.longest_word)

    @property
    def forgiving(self) -> Greedy:
        """Return the same look-up without giving up words that are unknown in part or too long."""
        return Greedy(self.vocabulary)

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types in whose place another one is found, and of too long ones."""
        paths, longest = self._paths(inventory), self.longest_word
        ends = self.forgiving.last_tokens(paths)
        return [n for n, end in ends.items() if end != n or len(paths[n]) > longest]

    def exported(self, unchanged: bool) -> ExportedModel:
        plain = {
            "type": "WordPiece",
            "unk_token": self.unknown,
            "continuing_subword_prefix": "##" if self.vocabulary.marker == "##" else "",
            "max_input_chars_per_word": self.longest_word,
        }
        return vocabulary_model(self, plain)

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the readable text of a token; an unknown one stands for a piece: its own name."""
        if token == self.unknown_id:
            return self.unknown
        return super().token_text(words, atom, token)


def wordpiece_vocabulary(
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Asked = None,
) -> SubwordVocabulary:
    """Train WordPiece as Hugging Face's trainer does, which merges by pair counts as BPE does.

    `train_bpe` makes the merges, with one character standing for each atom: those inside a word
    differ from those that start one, unless spaces are atoms (``characters``).
    """
    counts, apart = prepared.counts, prepared.kind == "unmarked"
    if not apart:  # in use, a ▁ of a text is a piece of its own
        counts = WordCounts.from_mapping(recounted(counts.items(), re.compile("▁|[^▁]+").findall))
    letters = sorted({c for word in counts.words for c in word} | {*prepared.alphabet})
    free = (c for c in map(chr, range(0xF0000, 0x110000)) if c not in set(letters))
    inner = dict(zip(letters, free if apart else letters, strict=False))
    to_inner, from_inner = str.maketrans(inner), str.maketrans({v: k for k, v in inner.items()})
    words = [word[0] + word[1:].translate(to_inner) for word in counts.words]
    trained = train_bpe(
        WordCounts(words, counts.counts),
        vocab_size=vocab_size,
        alphabet={*prepared.alphabet, *(inner[c] for c in prepared.alphabet)},
        reserved=1,
        progress=watch,
        enough=enough,
    )
    if enough is not None and enough():
        vocab_size = 1 + len(trained.vocabulary)
    check_vocabulary_size(vocab_size, len(trained.alphabet) + 1)
    starts = {*inner.values()} if apart else set()
    types = [
        ("##" if text[0] in starts else "") + text.translate(from_inner)
        for text in trained.vocabulary
    ]
    vocabulary = SubwordVocabulary(
        tuple(dict.fromkeys(("[UNK]", *types))),
        "##" if apart else "",
        special=frozenset({"[UNK]"}),
        unknown="[UNK]",
        name=f"{name}-{vocab_size}",
    )
    return with_pipeline(vocabulary, prepared)


def _trained(*given: Any, **more: Any) -> WordPiece:
    return WordPiece(wordpiece_vocabulary(*given, **more))


WORDPIECE = Method(
    "wordpiece",
    "WordPiece",
    "The longest type from the left, with ## inside words; what it cannot finish is unknown.",
    WordPiece,
    "vocabulary",
    WordPieceParameters,
    source="Wu et al. 2016; Devlin et al. 2019",
    training=Training(
        "The longest match from the left, ## inside words, as in BERT (Wu et al. 2016).",
        _trained,
        atoms="unmarked",
    ),
    standalone="morphgraph.standalone.lookup:Greedy",
)
WORDPIECE_PRIME = Method(
    "wordpiece-prime",
    "WordPiece′",
    "WordPiece in which every space is a token of its own.",
    None,
    "training",
    source="Gow-Smith et al. 2022",
    training=Training(
        "WordPiece in which every space is a token of its own, without ## (after Gow-Smith et al. "
        "2022, who leave it open).",
        _trained,
        unmarked=True,
        atoms="characters",
    ),
)


def _leftmost_longest(
    vocabulary: SubwordVocabulary,
    words: Words,
    unknown: int,
    trie: Trie | None = None,
    longest_word: int | None = None,
) -> Segmentation:
    from morphgraph.kernels.trie import leftmost_longest

    most = min(longest_word or 0, len(words.atoms))
    settings = vocabulary.spelled_forms, unknown, longest_word is not None, most
    pieces = words.atoms, words.piece_offsets
    return Segmentation(words, *leftmost_longest(*pieces, trie or vocabulary.trie, *settings))
