"""The checks of an export: how much differs from the tokeniser that it was made from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tokenizers import Tokenizer

from morphgraph.core.text import UNDEFINED, counted, percent, shortened, signed
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.hugging_face import REMOVED
from morphgraph.formats.recipe import lineage_of
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.standalone.piece_methods import load
from morphgraph.tokeniser.merging import segment, unreachable_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words

CHECK_COLUMNS = ("check", "number", "fine", "what it says")


@dataclass(frozen=True)
class Check:
    """A check of an export.

    ``number``: of what is not as before, None where there is nothing before. ``fine``: None, too,
    where the number is not to judge.
    """

    name: str
    number: int | None
    fine: bool | None
    explanation: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """As text, under `CHECK_COLUMNS`.

        >>> Check("types with another id", 1200, True, "ids.json maps them").cells
        ('types with another id', '1,200', 'yes', 'ids.json maps them')
        """
        number = "n/a" if self.number is None else f"{self.number:,}"
        return self.name, number, {True: "yes", False: "no", None: ""}[self.fine], self.explanation


def export_checks(
    model: ExportedModel,
    library: Tokenizer,
    words: Sequence[str],
    sentences: Sequence[str],
    ids: Sequence[Sequence[int]],
    *,
    needs_code: str,
    templates: tuple[str | None, str | None],
) -> list[Check]:
    """Return the checks of an exported model.

    ``library``: with the exported file; ``words`` in running text and bare ``sentences`` have these
    ``ids`` there, as here. ``needs_code``: why it needs our class; else empty. ``templates``: for
    chats, before and now. Segmentations are compared with those of the file that was opened, ids
    with those of the first in a chain.
    """
    tokeniser, id_map = model.tokeniser, model.id_map
    alike = counted(len(ids), "text has", "texts have") + " the ids that they have here"
    portable = f"stock tokenizers and transformers load it; {alike}"
    emitted, dead, decoded, changed = (
        [Check(name, None, None, "only for edited merges") for name in _OF_EDITS]
        if tokeniser is None or model.encode is None
        else _of_edits(
            tokeniser,
            library,
            [model.encode(tuple(words), False), model.encode(tuple(sentences), True)],
            ids,
        )
    )
    moved = sum(old != new for old, new in id_map.items())
    kept = "ids.json leads from old ids to new ones" if moved else "all have the ids that they had"
    if tokeniser is None:
        first = {old: library.id_to_token(new) for old, new in id_map.items()}
    else:
        first = {number: text for text, number in lineage_of(tokeniser).ids.items()}
    others = sum(library.id_to_token(number) != text for number, text in first.items())
    special, differ = _special(model.document if tokeniser is None else tokeniser.document, library)
    template, now = templates
    chats = "there is no chat template"
    if template != now:
        chats = "the chat template differs"
    elif template:
        chats = "the chat template is as before"
    return [
        Check(
            "merges that need our class", model.tuple_merges, not needs_code, needs_code or portable
        ),
        emitted,
        dead,
        Check("types with another id", moved, True, f"of {len(id_map):,} that are left; {kept}"),
        decoded,
        changed,
        Check(
            "special tokens encoded differently",
            differ,
            not differ and template == now,
            f"of {special:,}; {chats}",
        ),
        Check(
            "old ids that decode differently",
            others,
            not others,
            f"of {len(first):,}" + ("; with --ids keep all decode as before" if others else ""),
        ),
    ]


_OF_EDITS = (
    "removed types emitted",
    "types newly unreachable",
    "texts decoded differently",
    "words segmented differently",
)


def _of_edits(
    tokeniser: BpeTokeniser,
    library: Tokenizer,
    encoded: Sequence[Words],
    ids: Sequence[Sequence[int]],
) -> list[Check]:
    """Return the checks that compare with the file as it was opened, named as in `_OF_EDITS`.

    ``encoded``: words and sentences.
    """
    graph, decoder = tokeniser.graph, library.decoder
    loaded = graph.original() if tokeniser.is_edited else graph
    lineage = lineage_of(tokeniser)
    # What a link of a chain before this one removed may have kept its entry there.
    asked = {text for s in lineage.steps for key in ("types", "drop") for text in s.get(key, ())}
    removed = {
        text: number
        for text, number in lineage.ids.items()
        if text not in graph or (text in asked and graph.is_atom(graph.ids[text]))
    }
    own = [text if decoder is None else decoder.decode([text]) for text in removed]
    seen = {*chain(*ids), *chain(*(one.ids for one in library.encode_batch(own)))}
    # An entry that was kept has its name, or another one where a whole word would be emitted.
    entries = {number: {text, REMOVED.format(number)} for text, number in removed.items()}
    emitted = sum(library.id_to_token(number) in entries.get(number, ()) for number in seen)

    known = set(unreachable_types(loaded)) if tokeniser.is_edited else None
    dead = [] if known is None else [n for n in unreachable_types(graph) if n not in known]
    named = ", ".join(f"“{shortened(tokeniser.readable(graph.types[n]), 20)}”" for n in dead[:5])
    of_dead = "that their own strings no longer give"
    if dead:
        of_dead += f": {named}{', …' if len(dead) > 5 else ''}"

    before = [segment(loaded, one) for one in encoded]
    otherwise = None
    if decoder is not None:
        texts = library.decode_batch([list(one) for one in ids], skip_special_tokens=False)
        as_before = [
            decoder.decode(one) for segmentation in before for one in _types(graph, segmentation)
        ]
        otherwise = sum(now != then for now, then in zip(texts, as_before, strict=True))

    after, words = segment(graph, encoded[0]), len(encoded[0])
    changed = len(after.changed_words(before[0]))
    same = percent(1 - changed / words) if words else UNDEFINED
    more = signed(100 * after.tokens_added(before[0]), unit=" %")
    rows: list[tuple[int | None, bool | None, str]] = [
        (emitted, not emitted, f"of {len(removed):,}, in their own strings and in all texts"),
        (len(dead), not dead, of_dead),
        (otherwise, None if otherwise is None else not otherwise, f"of {len(ids):,}"),
        (changed, None, f"{same} % of {words:,} are unchanged; tokens {more}"),
    ]
    return [Check(name, *row) for name, row in zip(_OF_EDITS, rows, strict=True)]


def _types(graph: MergeGraph, segmentation: Segmentation) -> Iterator[list[str]]:
    """The tokens of each word, without what is outside the alphabet."""
    for word in range(len(segmentation.words)):
        yield [graph.types[token] for token in segmentation.tokens(word) if token != UNKNOWN]


def _special(before: Mapping[str, Any], library: Tokenizer) -> tuple[int, int]:
    """Return how many special tokens are found in texts, and how many of these otherwise now."""
    alone = load({**before, "model": {**before["model"], "vocab": {}, "merges": []}})
    alone.no_truncation()
    alone.no_padding()
    texts = ["", *(token.content for token in alone.get_added_tokens_decoder().values())]
    pairs = zip(alone.encode_batch(texts), library.encode_batch(texts), strict=True)
    same = [
        then.tokens == [library.id_to_token(number) for number in now.ids]
        for text, (then, now) in zip(texts, pairs, strict=True)
        if text in then.tokens or not text
    ]
    return len(same) - 1, same.count(False)
