"""What every tokeniser does, however it segments: texts, types, scores, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from morphgraph.api.engine import Engine, Gold, table_of
from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.files import write_file
from morphgraph.core.text import base_name, shortened, visible
from morphgraph.methods import METHODS
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.segment.method import Parameters, Value, method_of
from morphgraph.segment.models import export_to
from morphgraph.segment.segmenter import method_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from morphgraph.corpus.counts import WordCounts
    from morphgraph.formats.export import Export
    from morphgraph.tables.scores import TokeniserScore
    from morphgraph.tables.vocabulary import MeasuredCorpus


class BaseTokeniser:
    """A vocabulary, how text is prepared for it, and a way to segment.

    It never changes: what edits or trains returns another one. Two are equal if vocabulary, merges,
    method and preprocessing are; names do not matter.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __repr__(self) -> str:
        """Return one line; never the vocabulary."""
        return f"<{type(self).__name__} {visible(self.name)}: {self._engine.described(len(self))}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseTokeniser):
            return NotImplemented
        return self._engine is other._engine or self._engine.state == other._engine.state

    def __hash__(self) -> int:
        return hash(self._engine.state)

    def __deepcopy__(self, _: object) -> Self:
        return self

    # ------------------------------------------------------------------------- types

    @property
    def name(self) -> str:
        """What it was loaded from or trained as.

        >>> tokeniser.name
        'demo:en'
        """
        return self._engine.name

    @property
    def signature(self) -> str:
        """Method, name and checksums of the file and of all edits, as scores show them.

        >>> tokeniser.method("flota", k=2).signature.partition("@")[0]
        'FLOTA(k=2):demo:en'
        """
        return self._engine.segmenter.signature()

    @property
    def types(self) -> tuple[str, ...]:
        """All types, special and added tokens included, in order of their ids.

        >>> len(tokeniser), tokeniser.types[:3], "Ġund" in tokeniser
        (8000, ('<unk>', '!', '"'), True)
        """
        return tuple(self._engine.texts.ids)

    def __len__(self) -> int:
        return len(self._engine.texts.ids)

    def __contains__(self, type: object) -> bool:
        return type in self._engine.texts.ids

    def id_of(self, type: str) -> int:
        """Return the id of a type, spelled as in the vocabulary; else a `MorphGraphError`.

        >>> tokeniser.id_of("able")
        609
        """
        if type not in self:
            raise MorphGraphError(
                f"“{shortened(str(type))}” is not a type of {self.name}. Spell it as in the "
                "vocabulary, with its marker."
            )
        return self._engine.texts.ids[type]

    def type_of(self, id: int) -> str:
        """Return the type of an id; else a `MorphGraphError`.

        >>> tokeniser.type_of(609)
        'able'
        """
        known = self._engine.texts.types
        if id not in known:
            raise MorphGraphError(
                f"{self.name} has no type of the id {id!r}. Its ids go from {min(known):,} to "
                f"{max(known):,}."
            )
        return known[id]

    # ------------------------------------------------------------------------- texts and words

    def encode(self, text: str, *, special_tokens: bool = True) -> list[int]:
        """Return the ids that the `tokenizers` library gives a text by the tokeniser's file.

        Nothing is put before the text, cut off, or padded. ``special_tokens``: with those that the
        file's post-processor puts around a text. For what `tokenizers` has no model for, it is as
        the exported folder does. What draws at random draws the same each time, by its seed.

        >>> tokeniser.encode("Any text, 2026")
        [33, 1498, 2182, 12, 684, 16, 18, 22]
        """
        return self._engine.texts.encode(text, special_tokens)

    def decode(self, ids: Sequence[int], *, special_tokens: bool = False) -> str:
        """Return the text of ids by the file's decoder; ``special_tokens``: with special ones.

        >>> tokeniser.decode(tokeniser.encode("Any text, 2026"))
        'Any text, 2026'
        """
        return self._engine.texts.decode(ids, special_tokens)

    def tokenize(self, text: str, *, special_tokens: bool = True) -> list[str]:
        """Return the tokens of `encode`, named as the `tokenizers` library names them.

        >>> tokeniser.tokenize("undesirable"), tokeniser.tokenize(" undesirable")
        (['und', 'es', 'ir', 'able'], ['Ġund', 'es', 'ir', 'able'])
        """
        return self._engine.texts.tokenize(text, special_tokens)

    def segment(self, words: Sequence[str]) -> list[list[str]]:
        """Return the types of each of many words, as they stand in running text.

        They are spelled as in the vocabulary. A character outside the alphabet stands for itself.

        >>> tokeniser.segment(["undesirable", "houses"])
        [['Ġund', 'es', 'ir', 'able'], ['Ġhouses']]
        """
        return self._engine.segment(check_list(words, "words"))

    def method(
        self,
        method: str | Parameters,
        *,
        counts: WordCounts | Mapping[str, float] | str | os.PathLike[str] | None = None,
        **parameters: Value | None,
    ) -> Self:
        """Return the same vocabulary with another way to segment: ``flota``, ``dropout``, ….

        ``method``: its name in `METHODS`, with its ``parameters``; or these as an instance of its
        class, which a type checker checks. ``counts``: word counts, a file of them or
        ``wordfreq:en``, for methods that need some. Errors: `MorphGraphError`.

        >>> tokeniser.method("flota", k=2).segment(["undesirable"])
        [['Ġund', 'able']]
        >>> from morphgraph.segment.flota import FlotaParameters
        >>> tokeniser.method(FlotaParameters(k=2)) == tokeniser.method("flota", k=2)
        True
        """
        if isinstance(method, Parameters):
            if parameters:
                listed = ", ".join(parameters)
                raise MorphGraphError(f"{listed}: parameters are given twice. Leave these out.")
            parameters = dict(method)
            method = method_of(method)
        if method in METHODS.learning:
            raise MorphGraphError(
                f"{METHODS[method].title} learns from gold and gives another tokeniser. Use "
                "knock_out or rebpe."
            )
        engine = self._engine
        base = engine.segmenter.editable or engine.base
        made = method_on(engine.segmenter, method, parameters, counts)
        return type(self)(Engine(made, base))

    # ------------------------------------------------------------------------- scores

    def score(
        self,
        gold: Gold,
        *,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        metrics: Sequence[str] = (),
    ) -> TokeniserScore:
        """Score the segmentation against gold: precision, recall, F1 and others, with intervals.

        ``gold``: whatever `read_gold` takes. ``scope``: ``morphemic`` or ``whole-word`` boundaries;
        ``weighting``: over word ``types`` or ``tokens``; ``metrics``: names of scores, the usual
        ones by default.

        >>> round(tokeniser.score(gold).f1, 4)
        0.4807
        """
        from morphgraph.tables.scores import TokeniserScore

        label = base_name(self.name)
        return TokeniserScore(table_of({label: self._engine}, gold, scope, weighting, metrics))

    def measure(
        self,
        *texts: str | os.PathLike[str],
        column: str | None = None,
        language_column: str | None = None,
        parallel: bool = False,
        base: str | None = None,
        unit: Literal["words", "lines"] | None = None,
    ) -> MeasuredCorpus:
        """Measure texts of any size: tokens per word, characters and bytes per token, and so on.

        ``texts``: files, folders, patterns or addresses, as ``morphgraph count`` reads them;
        ``column``: the one with the text. By file, or by what ``language_column`` says.
        ``parallel``: the same lines in several languages, relative to those of ``base``. ``unit``:
        whether ``words`` are segmented, or ``lines`` as whole texts, as parallel ones are.

        >>> int(tokeniser.measure("text.txt").to_frame().loc["all", "tokens"])
        7
        """
        from morphgraph.score.corpus_measures import measure_corpus
        from morphgraph.tables.vocabulary import MeasuredCorpus

        found = measure_corpus(
            {base_name(self.name): self._engine.segmenter},
            texts,
            column=column,
            language_column=language_column,
            parallel=parallel,
            base=base,
            unit=unit,
        )
        return MeasuredCorpus(found)

    # ------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as one file that `load` reads: by merges a ``tokenizer.json``, else a model.

        Errors: `MorphGraphError` for methods that cannot be saved.

        >>> tokeniser.method("flota", k=2).save("flota.json")
        >>> mg.load("flota.json") == tokeniser.method("flota", k=2)
        True
        """
        write_file(Path(path), self._engine.saved())

    def export(
        self, folder: str | os.PathLike[str], *, words: Sequence[str] | None = None
    ) -> Export:
        """Write a folder that ``AutoTokenizer.from_pretrained`` loads.

        First its ids are compared with ours: on ``words``, or else on 10,000 common ones, and on
        sentences made of them. `MorphGraphError` if they differ. An earlier export in the folder is
        replaced; other files of the same names are set aside, which is a Python warning.

        >>> made = tokeniser.export("folder", words=["undesirable"])
        >>> made.kind, "tokenizer_config.json" in made.files
        ('tokenizer.json', True)
        """
        return export_to(self._engine.segmenter, folder, words)
