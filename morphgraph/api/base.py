"""What every tokeniser does, however it segments: texts, types, scores, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from morphgraph.api.scoring import score_table
from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.files import json_bytes, write_file
from morphgraph.core.text import base_name, counted, shortened, visible
from morphgraph.formats.framing import framing, known_ids
from morphgraph.formats.hugging_face import to_document, to_tokenizer_json
from morphgraph.formats.recipe import LINEAGE_FIELD
from morphgraph.refine.learning import Entrant
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.segment.bte import file_ids
from morphgraph.segment.method import METHODS, Value
from morphgraph.segment.models import export_to, write_model, writer_named
from morphgraph.segment.segmenter import Segmenter, method_on, standard_segmenter
from morphgraph.standalone.piece_methods import let_decode_bytes, load
from morphgraph.tokeniser.pipeline import IDS_END
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, called

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCountsLike
    from morphgraph.formats.export import Export
    from morphgraph.tables.score_views import TokeniserScore

AnyToken = TypeVar("AnyToken", int, str)


class BaseTokeniser:
    """What a `Tokeniser` does without merges."""

    def __init__(self, segmenter: Segmenter, base: BpeTokeniser | None = None) -> None:
        """Wrap a segmenter; ``base``: the tokeniser with merges that it was made from."""
        self._segmenter = segmenter
        self._base = segmenter.editable if base is None else base

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what is computed on demand, which cannot be pickled."""
        return type(self), (self._segmenter, self._base)

    def __repr__(self) -> str:
        """Return one line; never the vocabulary."""
        segmenter = self._segmenter
        shown = f"{called(segmenter.name, segmenter.parameters)}, {counted(len(self), 'type')}"
        if segmenter.editable is not None:
            graph = segmenter.editable.graph
            shown += f", {counted(graph.merge_count, 'merge')}"
            shown += f", {counted(len(graph.history), 'edit')}" if graph.history else ""
        return f"<{type(self).__name__} {visible(self.name)}: {shown}>"

    def to_dict(self) -> dict[str, Any]:
        """Return its name, size and signature as JSON data.

        >>> tokeniser.to_dict()["vocab_size"], tokeniser.to_dict()["merges"]
        (8000, 7743)
        """
        merges = self._segmenter.editable
        size = {} if merges is None else {"merges": merges.graph.merge_count}
        return {
            "name": self.name,
            "vocab_size": len(self),
            **size,
            "signature": self.signature,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseTokeniser):
            return NotImplemented
        return self._segmenter is other._segmenter or self._state == other._state

    def __hash__(self) -> int:
        return hash(self._state)

    def __deepcopy__(self, _: object) -> Self:
        return self

    # ------------------------------------------------------------------------- types

    @property
    def name(self) -> str:
        """The name of the file that it was loaded from, or of its training.

        >>> tokeniser.name
        'demo:en'
        """
        below: Any = self._segmenter
        while hasattr(below, "below"):
            below = below.below
        return str(below.name)

    @property
    def signature(self) -> str:
        """Method, name and checksums of the file and of all edits, as scores show them.

        >>> tokeniser.method("flota", k=2).signature.partition("@")[0]
        'FLOTA(k=2):demo:en'
        """
        return self._segmenter.signature()

    @property
    def types(self) -> tuple[str, ...]:
        """All types, special and added tokens included, in order of their ids.

        >>> len(tokeniser), tokeniser.types[:3], "Ġund" in tokeniser
        (8000, ('<unk>', '!', '"'), True)
        """
        return tuple(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, type: object) -> bool:
        return type in self._ids

    def id_of(self, type: str) -> int:
        """Return the id of a type, spelled as in the vocabulary. Errors: `MorphGraphError`.

        >>> tokeniser.id_of("able")
        609
        """
        if type not in self:
            raise MorphGraphError(
                f"“{shortened(str(type))}” is not a type of {self.name}. Spell it as in the "
                "vocabulary, with its marker."
            )
        return self._ids[type]

    def type_of(self, id: int) -> str:
        """Return the type with an id. Errors: `MorphGraphError`.

        >>> tokeniser.type_of(609)
        'able'
        """
        if id not in self._types:
            raise MorphGraphError(
                f"{self.name} has no type with the id {id!r}. Its ids go from {min(self._types):,} "
                f"to {max(self._types):,}."
            )
        return self._types[id]

    # ------------------------------------------------------------------------- texts and words

    def encode(self, text: str, *, special_tokens: bool = True) -> list[int]:
        """Return the ids that the `tokenizers` library gives a text by the tokeniser's file.

        The text is not prefixed, truncated or padded. ``special_tokens``: with those that the
        file's post-processor puts around a text. For methods that `tokenizers` does not have, ids
        are those of the exported folder. Random methods draw the same each time, by their seed.

        >>> tokeniser.encode("Any text, 2026")
        [33, 1498, 2182, 12, 684, 16, 18, 22]
        """
        segmented, ends = self._segmented(text)
        ids: list[int] = self._numbers[segmented.token_at[ends]].tolist()
        return self._framed(ids, 0) if special_tokens else ids

    def decode(self, ids: Sequence[int], *, special_tokens: bool = False) -> str:
        """Return the text of ids by the file's decoder; ``special_tokens``: with special ones.

        Without a decoder, types are joined by spaces. Ids without a type are left out. Errors:
        `MorphGraphError` for values that are not ids.

        >>> tokeniser.decode(tokeniser.encode("Any text, 2026"))
        'Any text, 2026'
        """
        return str(self._library.decode(_ids(ids), skip_special_tokens=not special_tokens))

    def tokenize(self, text: str, *, special_tokens: bool = True) -> list[str]:
        """Return the tokens of `encode`, named as the `tokenizers` library names them.

        An added token is named as it stands in the text, with the white space that it takes.

        >>> tokeniser.tokenize("undesirable"), tokeniser.tokenize(" undesirable")
        (['und', 'es', 'ir', 'able'], ['Ġund', 'es', 'ir', 'able'])
        """
        segmented, ends = self._segmented(text)
        segmenter, added = self._segmenter, segmented.words.added
        shown = segmenter.unknown_id if segmenter.shows_unknown else None
        types = [
            added.get(atom)
            or (
                segmenter.types[token]
                if token != shown
                else segmenter.token_text(segmented.words, atom, token)
            )
            for atom, token in zip(ends.tolist(), segmented.token_at[ends].tolist(), strict=True)
        ]
        return self._framed(types, 1) if special_tokens else types

    def segment(self, words: Sequence[str]) -> list[list[str]]:
        """Return the types of each word, as in running text.

        Types are spelled as in the vocabulary. A character outside the alphabet stands for itself.
        If merges reach over it, as without an unknown token, it comes after their token.

        >>> tokeniser.segment(["undesirable", "houses"])
        [['Ġund', 'es', 'ir', 'able'], ['Ġhouses']]
        """
        segmenter = self._segmenter
        encoded = segmenter.encode(check_list(words, "words"))
        segmented = segmenter.segment(encoded)
        return [
            [
                text or segmenter.token_text(encoded, atom, token)
                if token in (UNKNOWN, segmenter.unknown_id) or atom in encoded.unknown
                else segmenter.types[token]
                for atom, token, text in segmented.named_ends(number)
            ]
            for number in range(len(encoded))
        ]

    def method(
        self,
        method: str,
        *,
        counts: WordCountsLike | None = None,
        **parameters: Value | None,
    ) -> Self:
        """Return the same vocabulary with another way to segment: ``flota``, ``dropout``, ….

        ``method``: its name in `METHODS`, with its ``parameters``. ``counts``: word counts, a file
        of them or ``wordfreq:en``, for methods that need some. Errors: `MorphGraphError`.

        >>> tokeniser.method("flota", k=2).segment(["undesirable"])
        [['Ġund', 'able']]
        """
        if method in METHODS.learning and method in METHODS:
            raise MorphGraphError(
                f"{METHODS[method].title} learns from gold and gives another tokeniser. Use learn."
            )
        return type(self)(method_on(self._segmenter, method, parameters, counts), self._base)

    # ------------------------------------------------------------------------- scores

    def score(
        self,
        gold: GoldSet,
        *,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        metrics: Sequence[str] = (),
    ) -> TokeniserScore:
        """Score the segmentation against gold: precision, recall, F1 and others, with intervals.

        ``gold``: what `read_gold` returns. ``scope``: ``morphemic`` or ``whole-word`` boundaries;
        ``weighting``: over word ``types`` or ``tokens``; ``metrics``: names of scores, the usual
        ones by default.

        >>> round(tokeniser.score(gold).f1, 4)
        0.4807
        """
        from morphgraph.tables.score_views import TokeniserScore

        entrant = Entrant(base_name(self.name), self._segmenter, self._base)
        return TokeniserScore(score_table([entrant], gold, scope, weighting, metrics))

    # ------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file that `load` reads.

        It is a ``tokenizer.json`` if the tokeniser segments by merges, else a model. Without edits
        the ``tokenizer.json`` is as it was read, or trained. A name that ends in
        ``.tiktoken`` makes it a rank file, and one like ``tekken.json`` a Tekken file. Errors:
        `MorphGraphError` for methods that cannot be saved, or merges that ranks cannot express.

        >>> tokeniser.method("flota", k=2).save("flota.json")
        >>> mg.load("flota.json") == tokeniser.method("flota", k=2)
        True
        """
        merges, write = self._segmenter.editable, writer_named(Path(path))
        if write is not None:
            data = write(self._merges(Path(path).name))
        elif merges is None:
            data = write_model(self._segmenter)
        elif merges.is_edited:
            data = to_tokenizer_json(merges, file_ids(merges))[0]
        else:
            data = json_bytes(merges.document, merges.name)
        write_file(Path(path), data)

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        words: Sequence[str] | None = None,
        into: str | os.PathLike[str] | None = None,
    ) -> Export:
        """Write a folder that ``AutoTokenizer.from_pretrained`` loads, or a GGUF file.

        First its ids are compared with ours: on ``words``, or else on 10,000 common ones, and on
        sentences made of them. Errors: `MorphGraphError` if they differ. An earlier export in the
        folder is replaced; other files of the same names are set aside, with a Python warning. A
        name that ends in ``.gguf`` makes a file for llama.cpp. With ``into``, a model, it is a copy
        of the model in which only the tokeniser differs and types keep their ids; without, it is
        the vocabulary alone.

        >>> made = tokeniser.export("folder", words=["undesirable"])
        >>> made.kind, "tokenizer_config.json" in made.files
        ('tokenizer.json', True)
        >>> tokeniser.export("demo.gguf", words=["undesirable"]).kind
        'GGUF'
        """
        return export_to(self._segmenter, folder, words, into=into)

    # ------------------------------------------------------------------------- inside

    def _merges(self, what: str) -> BpeTokeniser:
        """Return the tokeniser whose merges ``what`` needs; else a `MorphGraphError`."""
        editable = self._segmenter.editable
        if editable is None:
            raise MorphGraphError(
                f"{what} needs a tokeniser that segments by merges alone, but this one segments "
                f"by {self._segmenter.name}. Use one that was loaded or trained as BPE."
            )
        return editable

    def _segmented(self, text: str) -> tuple[Segmentation, npt.NDArray[np.int64]]:
        """Return a text, and where its tokens end; what is outside the alphabet may be none."""
        if not isinstance(text, str):
            raise MorphGraphError(f"{shortened(repr(text))} is not a text. Give a string.")
        segmented = self._segmenter.segment(self._segmenter.encode([text], bare=True))
        ends = np.flatnonzero((segmented.token_at >= 0) & (segmented.token_at != UNKNOWN))
        return segmented, ends[self._numbers[segmented.token_at[ends]] >= 0]

    def _framed(self, tokens: list[AnyToken], form: Literal[0, 1]) -> list[AnyToken]:
        """Put special tokens around those of a text; ``form``: as ids (0) or names (1)."""
        return [e for part in self._frame for e in (tokens if part is None else [part[form]])]

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The id of each type, in order of ids: those of the file, or of an exported folder."""
        return dict(sorted(known_ids(self._document).items(), key=lambda known: known[1]))

    @cached_property
    def _types(self) -> dict[int, str]:
        return {number: text for text, number in self._ids.items()}

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64]:
        """The id of each type by the segmenter's own number of it, or -1."""
        return np.array([self._ids.get(text, -1) for text in self._segmenter.types], np.int64)

    @cached_property
    def _frame(self) -> list[Any]:
        """What the post-processor makes of a text, see `framing`."""
        return framing(self._document.get("post_processor"))

    @cached_property
    def _library(self) -> Any:
        """A tokeniser of the library that has the types and the decoder, and no merges."""
        library, merges = load(self._document), self._segmenter.editable
        if merges is None or merges.is_edited:
            # As in an exported folder, types that are bytes are glued to characters.
            let_decode_bytes(library, self._document["model"]["vocab"])
        return library

    @cached_property
    def _document(self) -> Mapping[str, Any]:
        """All of it, laid out as ``tokenizer.json``."""
        below: Any = self._segmenter
        while below.editable is None:
            try:
                document: Mapping[str, Any] = below.exported(False).document
                return document
            except MorphGraphError:
                # It cannot be exported; its types are those of what it stands on.
                below = below.below
                if isinstance(below, SubwordVocabulary):
                    raise
                below = standard_segmenter(below)
        return to_document(below.editable, file_ids(below.editable))[0]

    @cached_property
    def _state(self) -> State:
        """The identity of vocabulary, merges, method and preprocessing, by which equality goes."""
        segmenter = self._segmenter
        return State.of(segmenter.method, dict(segmenter.parameters), _nameless(self._document))


def _ids(given: Any) -> list[int]:
    """Return ids as numbers; `MorphGraphError` for anything else."""
    fix = "Give a list of whole numbers, such as encode returns."
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise MorphGraphError(f"{shortened(repr(given))} is not a list of ids. {fix}")
    ids = []
    for place, each in enumerate(given, start=1):
        try:
            number = -1 if isinstance(each, bool | np.bool_) else index(each)
        except TypeError:
            number = -1
        if not 0 <= number < IDS_END:
            raise MorphGraphError(f"Entry {place:,}, {shortened(repr(each))}, is not an id. {fix}")
        ids.append(number)
    return ids


def _nameless(value: Any) -> Any:
    """Return a document without what only says where it came from."""
    # Types are keys of numbers and lists there, never of texts.
    if not isinstance(value, dict):
        return value
    return {
        key: _nameless(inner)
        for key, inner in value.items()
        if not (key in ("name", "checksum") and isinstance(inner, str))
        and not (key == LINEAGE_FIELD and isinstance(inner, dict))
    }
