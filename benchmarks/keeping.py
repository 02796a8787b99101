"""What a portable knockout loses and keeps, in the tokenisers of language models."""

import random
import time

import numpy as np

from benchmarks import data, table
from benchmarks.ranks import RANKED, some_texts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.graph.keeping import Keeping
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.portable_edits import preview_keeping
from morphgraph.tokeniser.merging import MergeSegmentation, segment

FILES = {
    "GPT-2": RANKED["GPT-2"],
    "Qwen 2.5": RANKED["Qwen 2.5"],
    "DeepSeek-V3": ("tokenizers/deepseek-v3", ""),
    "o200k": RANKED["o200k"],
}


class AtOnce(Keeping):
    """The rule before: a type stays only if two tokens are there when its merge had its turn."""

    def _settle(self, type_: int) -> bool:
        is_pair = super()._settle(type_)
        if is_pair and self.made[type_][0] != self.homes[type_][1]:
            self._lose(type_)
            return False
        return is_pair


def lost_before(graph: MergeGraph) -> int:
    """Return how many types the rule before gives up, of which it lost a few more in fact."""
    plan = AtOnce(graph, ())
    plan.settle()
    plan.finish()
    return len(set(plan.affected).difference(plan.made))


def changed(before: MergeSegmentation, after: MergeSegmentation, removed: set[int]) -> int:
    """Return how many texts in which no removed type took part are cut otherwise."""
    words, arrays = before.words, before.arrays
    is_merged = before.closed_by >= 0
    gone = np.isin(arrays.results, list(removed))
    touched = np.zeros(len(words), bool)
    touched[words.word_of_atom[is_merged][gone[before.closed_by[is_merged]]]] = True
    other = np.zeros(len(words), bool)
    other[words.word_of_atom[before.token_at != after.token_at]] = True
    return int((other & ~touched).sum())


def keeping(lists: int = 200, types: int = 100, texts: int = 1_200) -> None:
    """Knock out random lists of types, and count what is lost before and now."""
    rows = []
    for name, (path, pattern) in FILES.items():
        tokeniser = load_tokeniser(data(path), pattern=pattern or None)
        graph, sums, slowest = tokeniser.graph, np.zeros(6, np.int64), 0.0
        words = segment(graph, tokeniser.encode(some_texts(texts), bare=True))
        removable = [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]
        for seed in range(lists):
            edited = graph.copy()
            gone = edited.knockout(random.Random(seed).sample(removable, types)).removed_types
            figures = [lost_before(edited)]
            for reuse in (False, True):
                started = time.perf_counter()
                change = preview_keeping(edited, reuse=reuse)
                slowest = max(slowest, time.perf_counter() - started)
                after = segment(edited.after(change), words.words)
                figures.append(len(change.removed_types))
                figures.append(changed(words, after, {*gone, *change.removed_types}))
            sums += [*figures, len(change.added_types)]
        before, now, others, with_ids, others_then, new = sums.tolist()
        rows.append(
            [
                name,
                f"{before:,}",
                f"{now:,}",
                f"{1 - now / before:.1%}",
                f"{others:,}",
                f"{with_ids:,}",
                f"{1 - with_ids / before:.1%}",
                f"{others_then / lists / texts:.3%}",
                f"{new / lists:.0f}",
                f"{slowest:.1f} s",
            ]
        )
    print(f"{lists} lists of {types} types, {texts:,} texts\n")
    titles = ["tokeniser", "lost before", "lost", "avoided", "other texts changed"]
    titles += ["lost, ids reused", "avoided", "other texts changed", "new types a list", "slowest"]
    table(titles, rows)
