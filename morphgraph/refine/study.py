"""A study: one tokeniser under one reference, with everything about it kept up to date.

It answers what a person asks while editing: how good is it now, what is this merge to blame for,
what would its knockout change. Results are kept per state of the graph, so asking twice is free.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from morphgraph.core.cache import Cache
from morphgraph.core.text import counted, from_to, shortened, signed, visible
from morphgraph.corpus.counts import WordCounts
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.reference.families import Part
from morphgraph.refine.blame import Blame, blame
from morphgraph.refine.portable_edits import preview_keeping
from morphgraph.score.boundaries import Array, Benchmark, BoundaryScore, BoundaryTally, cuts_of
from morphgraph.score.comparison import RIGHT_SPLIT, marked_word
from morphgraph.score.gold_set import Flags, Scope, Weighting
from morphgraph.score.vocabulary_health import compress
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.merging import MergeSegmentation, segment, segment_after
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Segmentation

Gaps = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StudyState:
    """How the words are segmented and scored in one state of the graph."""

    segmentation: MergeSegmentation
    scores: list[BoundaryScore]
    tally: BoundaryTally
    blames: dict[tuple[Weighting, Scope, Part | None], Blame] = field(default_factory=dict)
    blaming: Lock = field(default_factory=Lock)

    def score(self, scope: Scope, weighting: Weighting) -> BoundaryScore:
        """The score of a scope and weighting."""
        return next(s for s in self.scores if (s.scope, s.weighting) == (scope, weighting))

    @property
    def correct_gaps(self) -> Array:
        """Per word, up to a constant, how many gaps are as in the gold; 0 without gold."""
        return (self.tally.hits - self.tally.wrong) * self.tally.weight

    @property
    def wrong_gaps(self) -> Array:
        """Per word, wrong splits and missed boundaries; 0 without gold."""
        return (self.tally.wrong + self.tally.missed) * self.tally.weight


@dataclass(frozen=True)
class ChangedWord:
    """A word whose segmentation changed; ``gain`` is how many of its gaps became right.

    ``number``: its place in the reference.
    """

    word: str
    gold: str
    before: str
    after: str
    gain: int
    number: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Example:
    """A word in which a merge closed a gap, ``at`` characters from its start.

    ``number``: its place in the reference.
    """

    word: str
    gold: str
    number: int
    at: int


@dataclass(frozen=True)
class Preview:
    """What an edit would change: the graph, the segmentation, the score, how many words.

    ``portable``: the edit that would then leave only pair merges, if asked for. ``also``: the
    types that go along, as they are shown.
    """

    change: Change
    portable: Change | None
    also: list[str]
    segmentation: MergeSegmentation
    before: BoundaryScore
    after: BoundaryScore
    tokens_before: int
    changed_words: int

    @property
    def steps(self) -> list[Mapping[str, Any]]:
        """The edits, for `MergeGraph.replay`."""
        return [change.step for change in (self.change, self.portable) if change is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the cost of the knockout as JSON data.

        ``tuple_merges``: pair merges that get more parts, and keep them.
        """
        words, tokens = len(self.segmentation.words), self.segmentation.token_count
        new = () if self.portable is None else self.portable.added_types
        places = np.flatnonzero(np.isin(self.segmentation.token_at, new))
        split = 0 if self.portable else sum(len(e.old_parts) == 2 for e in self.change.rewired)
        return {
            "types": len(self.change.step["types"]),
            "also": self.also,
            "tuple_merges": split,
            "f1": [self.before.f1, self.after.f1],
            "tokens_per_word": [
                n / words if words else math.nan for n in (self.tokens_before, tokens)
            ],
            "changed_words": self.changed_words,
            "words": words,
            "new_types": len(new),
            "words_with_new": len(np.unique(self.segmentation.words.word_of_atom[places])),
        }

    def cost(self) -> list[str]:
        """Say what the knockout costs, in lines."""
        figures = self.to_dict()
        first = ", ".join(f"“{shortened(visible(text), 20)}”" for text in self.also[:10])
        more = ", …" if len(self.also) > 10 else ""
        before, after = figures["tokens_per_word"]
        lines = [
            f"{counted(figures['types'], 'type goes', 'types go')}, and "
            + counted(len(self.also), "other that it takes along", "others that they take along")
            + (f": {first}{more}" if first else ""),
            counted(figures["tuple_merges"], "merge gets", "merges get") + " more than two parts",
        ]
        if figures["words"]:
            lines.append(
                (f"F1 {from_to(*figures['f1'])}, " if self.before.f1 == self.before.f1 else "")
                + f"{before:.3f} → {after:.3f} tokens per word "
                f"({signed(100 * (after / before - 1))} %), {self.changed_words:,} of "
                + counted(figures["words"], "word changes", "words change")
            )
        if figures["new_types"]:
            lines.append(
                counted(figures["new_types"], "type is new", "types are new")
                + f", through which others are formed; {figures['words_with_new']:,} of the "
                f"{counted(figures['words'], 'word')} looked at have one as a token"
            )
        return lines


class Study:
    """A tokeniser that is edited, under one benchmark.

    ``start`` is the state before any edit, ``before_last`` the one before the last edit, ``now``
    the present one. What is known of states is in the tokeniser's cache.
    """

    def __init__(self, tokeniser: BpeTokeniser, benchmark: Benchmark) -> None:
        self.tokeniser = tokeniser
        self._first = self._encoded = benchmark

    @property
    def cache(self) -> Cache:
        """What was derived from states, by this study and others of the same tokeniser."""
        return self.tokeniser.cache

    @property
    def benchmark(self) -> Benchmark:
        """The reference, encoded with the present alphabet.

        When an edit has changed the alphabet, states of before are looked at with the atoms of now.
        """
        tokeniser, first, alphabet = self.tokeniser, self._first, self.tokeniser.alphabet
        if self._encoded.alphabet != alphabet:
            ids = tuple(map(self.graph.id_of, alphabet))
            question = "benchmark", first.identity, alphabet, ids
            self._encoded = (
                first
                if first.alphabet == alphabet
                else self.cache.get(
                    self.graph.family, question, lambda: first.encoded_for(tokeniser)
                )
            )
        return self._encoded

    @property
    def graph(self) -> MergeGraph:
        """The graph that edits apply to."""
        return self.tokeniser.graph

    @property
    def start(self) -> StudyState:
        """The state before any edit."""
        return self.state_after(0)

    @property
    def now(self) -> StudyState:
        """The present state."""
        return self.state_after(len(self.graph.history))

    @property
    def before_last(self) -> StudyState:
        """The state before the last edit."""
        return self.state_after(max(0, len(self.graph.history) - 1))

    def state_after(self, edits: int) -> StudyState:
        """The state after the first ``edits`` edits."""
        benchmark, state = self.benchmark, self.graph.numbered_after(edits)
        return self.cache.get(
            state, ("study", benchmark.identity), lambda: self._state_after(edits, benchmark)
        )

    def score(
        self,
        part: Part | None = None,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        edits: int | None = None,
    ) -> BoundaryScore:
        """The score on a part of the words, or on all, now or after ``edits``."""
        edits = len(self.graph.history) if edits is None else edits
        state, then = self.graph.numbered_after(edits), self.state_after(edits)
        if part is not None:
            question, words = ("scores", self.benchmark.identity, part), then.segmentation
            make = partial(self.benchmark.scores, words, self._mask(part))
            then = replace(then, scores=self.cache.get(state, question, make))
        score = then.score(scope, weighting)
        if (scope, weighting) == ("morphemic", "types"):
            self.cache.get(state, ("F1", self.benchmark.identity, part), lambda: score.f1)
        return score

    def _mask(self, part: Part | None) -> Flags | None:
        return None if part is None else self.benchmark.mask(part)

    def _state_after(self, edits: int, benchmark: Benchmark) -> StudyState:
        done = len(self.graph.history)
        graph = self.graph if edits == done else self.graph.earlier(done - edits)
        # Mostly it is one edit on from a state that is known.
        before: StudyState | None = None
        if edits:
            state, question = self.graph.numbered_after(edits - 1), ("study", benchmark.identity)
            before = self.cache.known(state, question, None)
        if before is None:
            segmentation = segment(graph, benchmark.words)
        else:
            change = self.graph.history[edits - 1]
            segmentation = segment_after(graph, before.segmentation, change)
        gold, weight = benchmark.cuts("morphemic"), benchmark.weight("morphemic", "types")
        tally = BoundaryTally(cuts_of(segmentation), gold, weight)
        if before is not None:  # what is equal is in memory once
            tally.weight, tally.relevant = before.tally.weight, before.tally.relevant
        return StudyState(segmentation, benchmark.scores(segmentation), tally)

    def f1_after_edits(self, part: Part | None = None) -> list[float]:
        """F1 before any edit and after each, morphemic over types; then after those undone.

        After an edit that is undone: as it was when last looked at, else NaN. ``part``: on these
        words only.
        """
        graph, benchmark, among = self.graph, self.benchmark, self._mask(part)
        question = "F1", benchmark.identity, part
        done, later = len(graph.history), len(graph.undone)
        states = [graph.numbered_after(edits) for edits in range(done + later + 1)]
        f1 = [self.cache.known(state, question, math.nan) for state in states]
        before: MergeSegmentation | None = None
        if any(map(math.isnan, f1[: done + 1])):
            for edits, then in enumerate(graph.states_onward()):
                if not math.isnan(f1[edits]):
                    before = None
                    continue
                before = (
                    segment(then, benchmark.words)
                    if before is None
                    else segment_after(then, before, graph.history[edits - 1])
                )
                score = benchmark.scores(before, among)[0].f1
                f1[edits] = self.cache.get(states[edits], question, partial(float, score))
        return f1

    # --------------------------------------------------------------------------------- blame

    @property
    def has_blame(self) -> bool:
        """Whether there is gold that merges can be judged by."""
        return self.benchmark.reference.has_gold

    def blame(
        self,
        weighting: Weighting = "types",
        scope: Scope = "morphemic",
        state: StudyState | None = None,
        part: Part | None = None,
    ) -> Blame:
        """N, B and R of all merges in the present state, or another one; by a part of the words."""
        state = state or self.now
        key = (weighting, scope, part)
        with state.blaming:
            if key not in state.blames:
                settings: Any = {"weighting": weighting, "scope": scope, "among": self._mask(part)}
                state.blames[key] = blame(self.benchmark, state.segmentation, **settings)
            return state.blames[key]

    # --------------------------------------------------------------------------------- words

    def number_of(self, text: str) -> int | None:
        """The number of a word in the reference, the first one spelt so; None if it has none."""
        return self.benchmark.numbers.get(text)

    def marked(self, word: int, segmentation: Segmentation) -> str:
        """A word with its gaps marked: ``|`` right split, ``·`` wrong split, ``‿`` missed boundary.

        Without gold, ``·`` is any split. Atoms outside the alphabet are shown as their characters.
        """
        text = self.benchmark.words.texts[word]
        return marked_word(text, segmentation.splits(word), self.gold_positions(word))

    def gold_positions(self, word: int) -> list[int]:
        """Return the gold boundaries of a word: the numbers of characters to their left."""
        words = self.benchmark.words
        start, end = words.word_offsets[word : word + 2]
        position, gold = words.gap_position[start:end], self.benchmark.gold_gaps()[start:end]
        boundaries: list[int] = position[(gold == 1) & (position > 0)].tolist()
        return boundaries

    def gold_text(self, word: int) -> str:
        """The morphs of a word, with ``|`` between them."""
        return RIGHT_SPLIT.join(self.benchmark.reference.entries[word].morphs)

    def changed_words(
        self,
        since: StudyState,
        then: StudyState | None = None,
        *,
        order: Literal["better", "worse"] = "better",
        limit: int = 200,
    ) -> tuple[list[ChangedWord], int]:
        """Words segmented differently than in an earlier state, and how many there are in all.

        ``then``: the state they are looked at in, by default the present one.
        """
        now = then or self.now
        changed = now.segmentation.changed_words(since.segmentation)
        gain = now.correct_gaps - since.correct_gaps
        by_gain = np.argsort((-gain if order == "better" else gain)[changed], kind="stable")
        words = changed[by_gain[:limit]].tolist()
        return [self._changed(word, since, now, gain) for word in words], len(changed)

    def _changed(self, word: int, since: StudyState, now: StudyState, gain: Array) -> ChangedWord:
        before, after = (self.marked(word, state.segmentation) for state in (since, now))
        text = self.benchmark.words.texts[word]
        return ChangedWord(text, self.gold_text(word), before, after, int(gain[word]), word)

    def _changed_in(self, part: Part | None, now: Segmentation, before: Segmentation) -> Gaps:
        changed, among = now.changed_words(before), self._mask(part)
        return changed if among is None else changed[among[changed]]

    def better_worse_same(
        self, since: StudyState, part: Part | None = None
    ) -> tuple[int, int, int]:
        """How many changed words have more, fewer and as many right gaps as in another state."""
        changed = self._changed_in(part, self.now.segmentation, since.segmentation)
        gain = (self.now.correct_gaps - since.correct_gaps)[changed]
        return int((gain > 0).sum()), int((gain < 0).sum()), int((gain == 0).sum())

    def better_worse_after(self, preview: Preview, part: Part | None = None) -> tuple[int, int]:
        """How many words would have more, and fewer, right gaps after what was previewed."""
        gold, weight = self.benchmark.cuts("morphemic"), self.benchmark.weight("morphemic", "types")
        after, now = preview.segmentation, self.now
        state = StudyState(after, [], BoundaryTally(cuts_of(after), gold, weight))
        changed = self._changed_in(part, after, now.segmentation)
        gain = (state.correct_gaps - now.correct_gaps)[changed]
        return int((gain > 0).sum()), int((gain < 0).sum())

    def worst_order(self) -> list[int]:
        """The words with wrong gaps now, those with the most first, then the most frequent."""
        wrong = self.now.wrong_gaps
        order = np.lexsort((np.arange(len(wrong)), -self.benchmark.token_weights, -wrong))
        return [int(word) for word in order if wrong[word] > 0]

    def worst_words(self, limit: int = 200) -> list[ChangedWord]:
        """Words with the most wrong gaps now, the most frequent first; these are ``-gain``."""
        now, gain = self.now, -self.now.wrong_gaps
        return [self._changed(word, now, now, gain) for word in self.worst_order()[:limit]]

    # --------------------------------------------------------------------------------- one type

    def examples(self, number: int, limit: int = 8) -> tuple[list[Example], list[Example]]:
        """Words in which a type's merges were applied rightly, and wrongly; frequent ones first."""
        words, weight = self.benchmark.words, self.benchmark.token_weights
        owner, positions, gaps = words.word_of_atom, words.gap_position, []
        for chosen in self._gaps_closed_by(number):
            ranked = chosen[np.argsort(-weight[owner[chosen]], kind="stable")]
            shown: dict[int, int] = {}
            for gap in ranked:
                shown.setdefault(int(owner[gap]), int(gap))
                if len(shown) >= limit:
                    break
            gaps.append(
                [
                    Example(words.texts[n], self.gold_text(n), n, max(0, int(positions[gap])))
                    for n, gap in shown.items()
                ]
            )
        return gaps[0], gaps[1]

    def example_counts(self, number: int) -> tuple[int, int]:
        """In how many words a type's merges were applied rightly, and wrongly."""
        owner = self.benchmark.words.word_of_atom
        right, wrong = (len(np.unique(owner[gaps])) for gaps in self._gaps_closed_by(number))
        return right, wrong

    def _gaps_closed_by(self, number: int) -> tuple[Gaps, Gaps]:
        """The gaps that a type's merges closed: those inside morphs, and gold boundaries."""
        blamed = self.blame()
        closed = self.now.segmentation.closed_by
        gaps = np.zeros(0, np.int64)
        for merge in self.graph.incoming(number):
            place = blamed.place(merge)
            if place is not None:
                gaps = np.union1d(gaps, np.flatnonzero(closed == place))
        is_gold = self.benchmark.gold_gaps()[gaps] == 1
        return gaps[~is_gold], gaps[is_gold]

    def preview(
        self,
        types: Iterable[str],
        *,
        cascade: bool = False,
        portable: bool = False,
        reuse: bool = False,
        part: Part | None = None,
    ) -> Preview:
        """Return what knocking types out would change, without doing it; see `preview_of`."""
        graph = self.graph
        change = graph.preview_cascade(types) if cascade else graph.preview_knockout(types)
        return self.preview_of(change, portable=portable, reuse=reuse, part=part)

    def preview_of(
        self,
        change: Change,
        *,
        portable: bool = False,
        reuse: bool = False,
        part: Part | None = None,
    ) -> Preview:
        """Return what a change would do, without making it.

        ``portable``, ``reuse``: leave only pair merges then, as `preview_keeping` does. ``part``:
        the words that are scored, and counted if they change; all by default.
        """
        graph, now = self.graph, self.now
        edited = graph.after(change)
        after, then = segment_after(edited, now.segmentation, change), None
        if portable:
            then = preview_keeping(edited, reuse=reuse)
            after = segment(edited.after(then), now.segmentation.words)
        removed = (*change.removed_types, *(then.removed_types if then else ()))
        asked, names = set(change.step.get("types", ())), self.tokeniser.readable_types
        return Preview(
            change,
            then,
            [names[number] for number in removed if graph.types[number] not in asked],
            after,
            self.score(part),
            self.benchmark.score(after, "morphemic", "types", self._mask(part)),
            now.segmentation.token_count,
            len(self._changed_in(part, after, now.segmentation)),
        )

    def tokens_per_word(self, counts: WordCounts, change: Change | None = None) -> float:
        """Tokens per word of counted words, now or after a change."""
        graph = self.graph if change is None else self.graph.after(change)
        return compress(Bte(replace(self.tokeniser, graph=graph)), counts).fertility
