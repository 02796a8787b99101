"""Words as lines of chips: the morphs of the gold, the tokens, and what crosses a boundary."""

from collections.abc import Iterable
from dataclasses import dataclass

from morphgraph.core.text import counted
from morphgraph.draw.merge_tree import MergeTree, TreeMerge, describe_tree
from morphgraph.refine.study import Study


@dataclass(frozen=True, slots=True)
class TokenChip:
    """A token; ``segments``: its text, cut at the gold boundaries that it covers."""

    segments: tuple[str, ...]
    tooltip: str
    type: int
    is_culprit: bool = False


@dataclass(frozen=True, slots=True)
class WordLine:
    """A word with its tokens; ``morphs`` are empty where no gold segmentation is known."""

    word: str
    morphs: tuple[str, ...]
    tokens: tuple[TokenChip, ...]


@dataclass(frozen=True, slots=True)
class Culprit:
    """The merge most to blame for the gold boundaries that some words cover.

    ``type``: the id of what it makes, which can be knocked out; ``description``: ``at + ing →
    ating``. ``examples``: gold segmentations of words in which it closed a boundary, the most
    frequent first. ``f1`` and ``gain``: after its knockout, and the difference to now.
    """

    type: int
    name: str
    description: str
    joins: float
    wrong_joins: float
    examples: tuple[str, ...]
    f1: float
    gain: float

    @property
    def sentence(self) -> str:
        """How often it was wrong: ``Wrong in 14 of 14 joins``."""
        return f"Wrong in {self.wrong_joins:,.0f} of {counted(int(self.joins), 'join')}"


def lines_of(study: Study, text: str) -> tuple[list[list[WordLine]], Culprit | None]:
    """The words of each line of a text, as they stand in running text, and the worst merge of all.

    Gold segmentations are those of the reference's words that are spelt alike. No culprit: nothing
    that can be knocked out covers a gold boundary.
    """
    trees = [[_tree(study, word) for word in line.split()] for line in text.splitlines()]
    worst = _worst_merge(study, [tree for line in trees for tree in line])
    found = [[_line(study, tree, worst) for tree in line if tree.leaves] for line in trees]
    return found, _culprit(study, worst) if worst else None


def next_word(study: Study, after: str) -> str:
    """Another word in which a token covers a gold boundary: those with the most wrong gaps first.

    Behind the last such word the first one follows; ``after`` itself if there is none.
    """
    texts = study.benchmark.words.texts
    order = study.worst_order()
    start = next((i + 1 for i, word in enumerate(order) if texts[word] == after), 0)
    for word in [*order[start:], *order[:start]]:
        if texts[word] != after and _worst_merge(study, [_tree(study, texts[word])]):
            return texts[word]
    return after


def _tree(study: Study, text: str) -> MergeTree:
    number = study.number_of(text)
    if number is None:
        words, number, gold = study.tokeniser.encode([text]), 0, None
    else:
        words = study.benchmark.words
        start, end = (int(offset) for offset in words.word_offsets[number : number + 2])
        gold = {at for at in range(end - start) if study.benchmark.morphemic.boundary[start + at]}
    return describe_tree(study.tokeniser, words, number, blame=study.blame(), gold=gold)


def _worst_merge(study: Study, trees: Iterable[MergeTree]) -> TreeMerge | None:
    """Of the merges that closed a gold boundary here, the one with the highest R, then B."""
    blamed = study.blame()
    closing = [
        merge
        for tree in trees
        for merge in tree.merges
        if merge.closes and study.graph.is_removable(merge.type)
    ]
    return max(
        closing,
        key=lambda m: (m.ratio, blamed.blamed[blamed.position[m.merge]], -m.rank),
        default=None,
    )


def _line(study: Study, tree: MergeTree, worst: TreeMerge | None) -> WordLine:
    types = {len(tree.leaves) + i: merge for i, merge in enumerate(tree.merges)}
    covered = {gap.leaf: gap.merge for gap in tree.gaps if gap.kind == "missed"}
    chips = []
    for root in tree.roots:
        merge = types.get(root)
        first, last = (root, root) if merge is None else (merge.first, merge.last)
        segments, culprit = [""], False
        for leaf in range(first, last + 1):
            segments[-1] += tree.leaves[leaf].label
            if leaf in covered and leaf < last:
                segments.append("")
                closed_by = types[covered[leaf] or 0]
                culprit |= worst is not None and closed_by.merge == worst.merge
        chips.append(_chip(study, tree, root, merge, tuple(segments), culprit))
    return WordLine(tree.word, tuple(span.label for span in tree.morphs), tuple(chips))


def _chip(
    study: Study,
    tree: MergeTree,
    root: int,
    merge: TreeMerge | None,
    segments: tuple[str, ...],
    is_culprit: bool,
) -> TokenChip:
    return TokenChip(segments, "", -1, is_culprit)


def _culprit(study: Study, worst: TreeMerge) -> Culprit:
    place = study.blame().position[worst.merge]
    preview = study.preview([study.graph.types[worst.type]])
    _, wrong = study.examples(worst.type, 12)
    return Culprit(
        worst.type,
        worst.label,
        worst.description,
        float(study.blame().applied[place]),
        float(study.blame().blamed[place]),
        tuple(dict.fromkeys(example.gold for example in wrong)),
        preview.after.f1,
        preview.after.f1 - preview.before.f1,
    )
