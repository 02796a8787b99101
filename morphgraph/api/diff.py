"""What breaks where one tokeniser takes the place of another: texts, ids, prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.text import counted, percent, shortened, signed, visible, without_nan
from morphgraph.formats.chat_template import sample_prompts
from morphgraph.formats.export import sentences_to_check, words_to_check
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.score.text_comparison import Ints, Replacement, compare_tokens
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import Column, Table, plain_table
from morphgraph.tables.result import Result
from morphgraph.tokeniser.merging import derive
from morphgraph.tokeniser.preprocess import readable_bytes, shown_token

if TYPE_CHECKING:
    from morphgraph.api.with_merges import Tokeniser

_ROUND_TRIP = 2**17
"""The characters of the texts whose ids are decoded and encoded again."""
_MOST_CHANGES = 20


@dataclass(frozen=True)
class TokenChange:
    """Types that replace others, in readable form: how often, where first, and why.

    ``cause``: a merge that is lost or new; empty unless both tokenisers only merge.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    count: int
    example: str
    cause: str


@dataclass(frozen=True, repr=False)
class TokeniserDiff(Result):
    """What changes on some texts when one tokeniser replaces another.

    Types are in readable form. ``before``, ``after``: signatures. ``tokens``: their numbers;
    ``changed_tokens``: the number before without the same id at the same place after.
    ``changes``: the commonest changes in how text is cut. ``lost``, ``new``: types that are tokens
    only before or only after, with their counts. ``remapped``: types with another id, and both ids.
    ``special``: added tokens that are encoded differently; ``prompts``: those of the chat template,
    None if there is none. ``returned``: the number of texts whose ids before were decoded, and
    encoded after; ``not_returned``: how many of them changed; ``behind``: the types that did not
    return, with their counts.

    >>> edited = tokeniser.knock_out_types(["und"]).tokeniser
    >>> found = mg.diff(tokeniser, edited, ["undesirable houses", "two houses"])
    >>> found.changed_texts, found.tokens, found.changes[0].cause
    (2, (9, 10), 'lost: u + nd → und')
    """

    before: str
    after: str
    texts: int
    changed_texts: int
    words: int
    tokens: tuple[int, int]
    changed_tokens: int
    changes: tuple[TokenChange, ...]
    lost: tuple[tuple[str, int], ...]
    new: tuple[tuple[str, int], ...]
    remapped: tuple[tuple[str, int, int], ...]
    special: tuple[str, ...]
    prompts: tuple[str, ...] | None
    returned: int
    not_returned: int
    behind: tuple[tuple[str, int], ...]

    @property
    def cost(self) -> float:
        """How much tokens per word grow, as a share; NaN without tokens.

        >>> mg.diff(tokeniser, tokeniser, ["two houses"]).cost
        0.0
        """
        return self.tokens[1] / self.tokens[0] - 1 if self.tokens[0] else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return all figures and lists as JSON data.

        >>> mg.diff(tokeniser, tokeniser, ["two houses"]).to_dict()["tokens_per_word"]
        [2.0, 2.0]
        """
        per_word = [number / self.words if self.words else None for number in self.tokens]
        more = {"tokens_per_word": per_word, "cost": self.cost}
        return dict(without_nan({**asdict(self), **more}))

    def table(self) -> Table:
        """Return the figures, and below them the commonest changes.

        >>> mg.diff(tokeniser, tokeniser, ["two houses"]).table().rows[0].names
        ('texts whose ids change',)
        """
        fertility = " → ".join(f"{n / (self.words or float('nan')):.4f}" for n in self.tokens)
        prompts = "no chat template" if self.prompts is None else _first(self.prompts)
        returned = f"{_share(self.not_returned, self.returned)}; types: {_first(self.behind)}"
        rows = [
            ("texts whose ids change", _share(self.changed_texts, self.texts)),
            ("tokens whose ids change", _share(self.changed_tokens, self.tokens[0])),
            ("tokens per word", f"{fertility} ({signed(100 * self.cost)} %)"),
            ("types that are no longer tokens", _first(self.lost)),
            ("types that were not tokens before", _first(self.new)),
            ("types with another id", _first(self.remapped)),
            ("special tokens encoded differently", _first(self.special)),
            ("prompts encoded differently", prompts),
            ("round trips of ids before that change", returned),
        ]
        for each in self.changes:
            tokens = f"{' '.join(each.before)} → {' '.join(each.after)}"
            told = filter(None, (f"{each.count:,}", each.cause, f"“{shortened(each.example, 60)}”"))
            rows.append((tokens, "; ".join(told)))
        columns = [Column("what changes"), Column("how much")]
        return plain_table("Changes", columns, rows, signatures=(self.before, self.after))

    def __repr__(self) -> str:
        texts = counted(self.texts, "text")
        return f"<TokeniserDiff: the ids of {self.changed_texts:,} of {texts} change>"


def _share(number: int, of: int) -> str:
    return f"{number:,} of {of:,}, {percent(number / of if of else float('nan'))} %"


def _first(listed: Sequence[Any]) -> str:
    """Return the number of texts, or of what has one first, and some of them."""
    some = [each if isinstance(each, str) else each[0] for each in listed[:5]]
    return f"{len(listed):,}" + (f": {', '.join(some)}" + ", …" * (len(listed) > 5)) * bool(some)


def diff(before: Tokeniser, after: Tokeniser, texts: Sequence[str] | None = None) -> TokeniserDiff:
    """Report what changes for texts and models when one tokeniser replaces another.

    ``texts``: by default 1,000 sentences of common words. Errors: `MorphGraphError`.

    >>> edited = tokeniser.knock_out_types(["und"]).tokeniser
    >>> found = mg.diff(tokeniser, edited, ["undesirable houses"])
    >>> found.changes[0].before, found.changes[0].after
    (('und',), ('u', 'nd'))
    """
    from morphgraph.api.functions import _entrant

    both = (before, after)
    for name, tokeniser in zip(("before", "after"), both, strict=True):
        _entrant(name, tokeniser)
    sample = sentences_to_check(words_to_check((), name=before.name)) if texts is None else texts
    if not (texts := check_list(sample, "texts")):
        raise MorphGraphError("There are no texts. Give some, or leave out texts to use a sample.")
    segmenters = [each._segmenter.undrawn for each in both]
    ids = [each._numbers for each in both]
    names = [_Names(each) for each in both]
    compared = compare_tokens(segmenters, ids, texts)

    changes = list[TokenChange]()
    for change, times in compared.changes.most_common():
        was, now = (tuple(n[id_] for id_ in side) for n, side in zip(names, change, strict=True))
        if was != now and len(changes) < _MOST_CHANGES:  # not just with another id
            text, part = compared.examples[change]
            cause = _cause(segmenters, ids, change, part)
            changes.append(TokenChange(was, now, times, texts[text], cause))
    emitted = [
        Counter({each[known[n]]: int(total[n]) for n in np.flatnonzero(total)})
        for each, known, total in zip(names, ids, compared.emitted, strict=True)
    ]
    one, other = (own.ids_in(e._document) for own, e in zip(segmenters, both, strict=True))
    lengths = zip(texts, accumulate(map(len, texts), initial=0), strict=False)
    some = [text for text, start in lengths if start < _ROUND_TRIP]
    sent = one(some, True)
    again = other(after._library.decode_batch(sent, skip_special_tokens=False), True)
    lost = [pair for pair in zip(sent, again, strict=True) if pair[0] != pair[1]]
    behind = Counter(id_ for was, now in lost for id_ in (Counter(was) - Counter(now)).elements())
    added = [token["content"] for e in both for token in e._document.get("added_tokens") or []]
    cut = zip(added, one(added, True), other(added, True), strict=True)
    special = [text for text, was, now in cut if was != now]
    special += ["around a text"] * (before._frame != after._frame)
    old = sample_prompts(settings_beside(before.name))
    new = sample_prompts(settings_beside(after.name)) or old
    old_ids = dict(zip(old, one([*old.values()], True), strict=True))
    new_ids = dict(zip(new, other([*new.values()], True), strict=True))
    return TokeniserDiff(
        before.signature,
        after.signature,
        len(texts),
        int(compared.is_changed.sum()),
        sum(len(text.split()) for text in texts),
        (emitted[0].total(), emitted[1].total()),
        sum(len(side[0]) * times for side, times in compared.changes.items()),
        tuple(changes),
        tuple(pair for pair in emitted[0].most_common() if pair[0] not in emitted[1]),
        tuple(pair for pair in emitted[1].most_common() if pair[0] not in emitted[0]),
        tuple(
            (names[0][id_], id_, after._ids[text])
            for text, id_ in before._ids.items()
            if after._ids.get(text, id_) != id_
        ),
        tuple(dict.fromkeys(special)),
        tuple(e for e in new if old_ids.get(e) != new_ids[e]) if new else None,
        len(some),
        len(lost),
        tuple((names[0][id_], times) for id_, times in behind.most_common()),
    )


class _Names(dict[int, str]):
    """The types of a tokeniser in readable form, by id."""

    def __init__(self, tokeniser: Tokeniser) -> None:
        self._types = tokeniser._types
        self._in_bytes = tokeniser._segmenter.preprocessor.byte_level

    def __missing__(self, id_: int) -> str:
        text = self._types[id_]
        shown = shown_token(readable_bytes(text) if self._in_bytes else text)
        return self.setdefault(id_, visible(shown))


def _cause(both: Sequence[Segmenter], ids: Sequence[Ints], change: Replacement, part: str) -> str:
    """Return the first merge in the tokens of a change that the other tokeniser has not."""
    cases = zip(both, both[::-1], ids, change, ("lost", "new"), strict=True)
    for segmenter, other, known, side, word in cases:
        if segmenter.editable is None or other.editable is None:
            return ""
        own, graph, others = segmenter.editable, segmenter.editable.graph, other.editable.graph
        derivation = derive(graph, own.encode([part], bare=True), 0)
        vertices, wanted = derivation.vertices, {*np.flatnonzero(np.isin(known, side)).tolist()}
        below = [root for root in derivation.roots if vertices[root].type in wanted]
        for number in below:
            below.extend(vertices[number].children)
        for vertex in map(vertices.__getitem__, sorted(below)):
            text = graph.types[vertex.type]
            alike = others.incoming(others.ids[text]) if text in others else ()
            if vertex.merge is not None:
                line = graph.describe(vertex.merge)
                if line not in map(others.describe, alike):
                    return f"{word}: {graph.describe(vertex.merge, own.readable_types)}"
    return "another order, or other pieces"
