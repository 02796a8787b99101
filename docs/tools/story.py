"""Build the story in ``docs/story``: its pictures are the app's own components, its figures real.

Run: ``python -m docs.tools.story``. A page that is opened as a file may neither fetch nor load
modules, so the components become a classic script, and so do the data and the merges.
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import morphgraph as mg
from docs.tools import DOCS
from docs.tools.scenarios import BLOCK, PAGE, states
from morphgraph.core.files import demo_tokeniser_path
from morphgraph.core.text import in_percent
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.draw.charts import phase_colour
from morphgraph.draw.cutting import cutting_tables
from morphgraph.draw.fan import fan_around
from morphgraph.draw.merge_tree import describe_tree
from morphgraph.draw.merge_tree_svg import to_svg
from morphgraph.draw.word_lines import line_in, rows_through
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine import KnockoutSettings
from morphgraph.refine.knockout import choose_types
from morphgraph.refine.rebpe_run import ReBPERun, follow_phases
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.uncertainty import bootstrap_intervals
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.preprocess import shown_token
from web.components import sources

STORY = DOCS / "story"
LANGUAGES = {"en": "English", "de": "German", "nl": "Dutch"}
WORD, CULPRIT, BLAMELESS = "carries", "ies", "er"
SHOWN = ("carries", "unbelievable", "underestimating", "playgrounds")
COMPONENTS = {
    "fan": ("panzoom", "shared", "elements", "picture"),
    "tree": ("shared", "elements", "picture", "player"),
    "run": ("shared", "elements", "picture", "chips", "player", "phases"),
    "rows": ("shared", "elements", "chips"),
}
"""The components of the story, and what each shares, as in `web.components`."""
_PHASES = {"start": "start", "anneal": "add", "knockout": "knock out", "reify": "build"}
_CHANGES = {
    "annealed": "added",
    "removed": "knocked out",
    "split": "rebuilt from parts",
    "repaired": "mended",
    "created": "built anew",
}
"""A run in plain words."""
_MILLION = 1_000_000

_ENGINE = "const story = { components: {}, merges: {} };\n" + sources("segment")["js"]

Data = dict[str, Any]


def built() -> dict[str, str]:
    """Return the text of every file that is built, by its name."""
    english, *others = (_Language(code) for code in LANGUAGES)
    told = {"languages": [other.summary() for other in others], "scenario": _scenario()}
    data = {**english.story(), **told}
    return {
        "components.js": _ENGINE + "".join(map(_component, COMPONENTS)),
        "data.js": f"story.data = {_json(data)};\n",
        **{f"merges-{code}.js": _merges(code) for code in LANGUAGES},
    }


def _scenario() -> Data:
    """Return the merges of scenario 2a, and what ReBPE makes of it after the first knockout."""
    lines = next(block[1] for block in BLOCK.finditer(PAGE.read_text("utf-8")) if block[3] == "2a")
    phases = [row for row, _ in states(lines)][2:]
    told = [f"{named} ({change}) gives {cut}" for named, change, cut, *_ in phases]
    merges = ", ".join(lines.split("\n")).rstrip(", ")
    return {"merges": merges, "told": "; ".join(told).replace("`", "")}


def _component(name: str) -> str:
    """Return a component as a classic script."""
    parts = sources(name, *COMPONENTS[name])
    script = parts["js"].replace("export default ", "return ")
    styles = {"html": parts["html"], "css": parts["css"]}
    return (
        f"story.components.{name} = {_json(styles)};\n"
        f"story.components.{name}.show = (() => {{\n{script}}})();\n"
    )


def _merges(code: str) -> str:
    """Return the merges of a demo tokeniser, packed, as a script."""
    tables = cutting_tables(load_tokeniser(f"demo:{code}"))
    assert tables is not None
    return f'story.merges.{code} = "{b64encode(tables.packed).decode()}";\n'


def _document(code: str) -> Data:
    document: Data = json.loads(demo_tokeniser_path(code).read_bytes())
    return document


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _figure(study: Study) -> dict[str, str]:
    """Return F1 in %, and its 95 % interval."""
    f1 = study.now.tally.f1
    [interval] = bootstrap_intervals([f1])
    numbers = {"f1": f1.value, "low": interval.low, "high": interval.high}
    return {name: f"{100 * number:.2f}" for name, number in numbers.items()}


class _Language:
    """What the story tells of a demo tokeniser and its gold."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.tokeniser = load_tokeniser(f"demo:{code}")
        self.gold = mg.read_gold(f"demo:{code}")
        self.seen, self.kept = self.gold.split()
        self.study = Study(self.tokeniser, Benchmark.on(self.gold, self.tokeniser))
        self.names = self.tokeniser.readable_types
        self.blame = self.study.blame()

    # ------------------------------------------------------------------------- all six steps

    def story(self) -> Data:
        tally = self.study.now.tally
        focus = self.names.index(CULPRIT)
        right, wrong = rows_through(self.study, focus)
        if right:
            raise AssertionError(f"the story says that each join of {CULPRIT} is wrong")
        self.wrong = [row.word for row in wrong]
        after = {name: self._without([name]) for name in (CULPRIT, BLAMELESS)}
        to_blame = choose_types(self.tokeniser, self.blame, KnockoutSettings())
        every = self._without(to_blame)
        del every["fan"], after[BLAMELESS]["fan"]
        return {
            "types": len(self.names),
            "merges": self.study.graph.merge_count,
            "signs": len(self.names) - self.study.graph.merge_count,
            "words": int((tally.weight > 0).sum()),
            "precision": in_percent(tally.precision.value, 0),
            "recall": in_percent(tally.recall.value, 0),
            "start": _figure(self.study),
            "births": list(self._births()),
            "tree": self._tree(),
            "shown": {word: self._line(word, self.study.graph) for word in SHOWN},
            "fan": fan_around(self.study, focus, rows=7).to_dict(),
            "fan_after": after[CULPRIT].pop("fan"),
            "rows": [{**asdict(row), "word": ""} for row in wrong],
            "blame": {name: self._blame_of(name) for name in ("er", "es", "ies", "ers")},
            "to_blame": len(to_blame),
            "without": after,
            "without_all": every,
            "run": self._run(),
        }

    def _tree(self) -> Data:
        tree = describe_tree(self.tokeniser, self.tokeniser.encode([WORD]), 0)
        # Numbered as in the list beside it, by turns rather than ranks.
        turns = (replace(one, rank=one.step, tooltip=one.description) for one in tree.merges)
        tree = replace(tree, merges=tuple(turns))
        return {theme: [to_svg(tree, theme, has_legend=False)] for theme in ("light", "dark")}

    def _births(self) -> Iterator[Data]:
        """Yield the merges of the word: how often each pair stood side by side, and where."""
        counts = wordfreq_counts(self.code)
        tree = describe_tree(self.tokeniser, self.tokeniser.encode([WORD]), 0)
        for merge in sorted(tree.merges, key=lambda merge: merge.step):
            assert merge.rank is not None
            parts = tuple(map(tree.label, merge.children))
            before = self._after_merges(merge.rank)
            text = merge.label.lstrip("␣")
            known = [(word, count) for word, count in counts.items() if text in word]
            encoded = before.encode([word for word, _ in known])
            counted, total = Counter[str](), 0
            segmented = segment(before.graph, encoded)
            for number, (word, count) in enumerate(known):
                tokens = [before.readable_types[token] for token in segmented.tokens(number)]
                times = sum(pair == parts for pair in pairwise(tokens))
                total += times * count
                if times:
                    counted[word] = count
            yield {
                "parts": parts,
                "whole": merge.label,
                "rank": merge.rank,
                "count": round(total * _MILLION / counts.total),
                "words": [word for word, _ in counted.most_common(2)],
            }

    def _after_merges(self, number: int) -> Any:
        """Return the tokeniser as it was after its first merges."""
        document = _document(self.code)
        document["model"]["merges"] = document["model"]["merges"][:number]
        return from_tokenizer_json(json.dumps(document).encode(), self.code)

    def _blame_of(self, name: str) -> Data:
        (merge,) = self.study.graph.incoming(self.names.index(name))
        joins, wrong = map(int, self.blame.counts(merge))
        return {"joins": joins, "wrong": wrong, "share": in_percent(wrong / joins, 0)}

    def _without(self, types: Sequence[str]) -> Data:
        """Return what the knockout of types does; the tokeniser stays as it is."""
        study, before = self.study, self.study.now
        study.graph.apply(study.graph.preview_knockout(types))
        better, worse, _ = study.better_worse_same(before)
        shown = []
        for order, limit in (("better", 5), ("worse", 2)):
            changed, _ = study.changed_words(before, order=order, limit=limit)
            gained = [one.word for one in changed if (one.gain > 0) == (order == "better")]
            states = {"before": study.graph.original(), "after": study.graph}
            both = [{n: self._line(word, g) for n, g in states.items()} for word in gained]
            shown.append(both if len(types) == 1 else [])
        lasts = [self._line(word, study.graph)["tokens"][-1] for word in self.wrong]
        covering = [token for token in lasts if token.endswith(CULPRIT)]
        effect = {
            **_figure(study),
            "better": better,
            "worse": worse,
            "changed": shown[0] or shown[1],
            "covered": len(covering),
            "cover": max(covering, key=len, default=""),
            "fan": fan_around(study, self.names.index(CULPRIT), rows=7).to_dict(),
        }
        study.graph.undo()
        return effect

    def _line(self, word: str, graph: MergeGraph, study: Study | None = None) -> Data:
        return _columns(asdict(line_in(study or self.study, word, graph)))

    # ------------------------------------------------------------------------- ReBPE

    def _repaired(self) -> ReBPERun:
        repaired = self.tokeniser.fork()
        sides = (Benchmark.on(gold, repaired) for gold in (self.seen, self.kept))
        run = ReBPERun(repaired, next(sides), scored=next(sides))
        run.finish()
        if not run.converged:
            raise AssertionError("the story says that nothing changes any more")
        return run

    def _run(self) -> Data:
        run = self._repaired()
        before, after = (Study(each, run.scored) for each in (self.tokeniser, run.tokeniser))
        learned = run.benchmark
        example = self._mended(before, after)["after"]["word"]

        def look(graph: MergeGraph) -> tuple[float, list[Data]]:
            score = learned.score(segment(graph, learned.words), "morphemic", "types")
            return score.f1, [self._line(word, graph, after) for word in (WORD, example)]

        looks = follow_phases(run, look)
        last = max(n for n, phase in enumerate(run.phases) if phase.counts) + 1
        points = []
        for phase, (on_seen, _) in list(zip(run.phases, looks, strict=True))[:last]:
            counts = phase.counts.items()
            changes = ", ".join(f"{number:,} {_CHANGES[kind]}" for kind, number in counts)
            kind = phase_colour(phase)
            name = _PHASES[kind]
            point = {
                "label": f"round {phase.iteration}: {name}" if phase.iteration else name,
                "kind": kind,
                "iteration": phase.iteration,
                "f1": round(100 * phase.score.f1, 2),
                "value": f"{100 * phase.score.f1:.1f}",
                "said": changes or ("as it was" if phase.kind == "start" else "nothing to change"),
                "undone": False,
                "beside": round(100 * on_seen, 2),
            }
            points.append(point)
        (seen_start, _), *_, (seen_end, _) = looks
        if WORD not in self.seen.texts:
            raise AssertionError(f"the story says that {WORD} is a seen word")
        return {
            "points": points,
            "names": _PHASES,
            "words": [lines for _, lines in looks[:last]],
            "rounds": run.phases[last - 1].iteration,
            "seen": len(self.seen),
            "held": len(self.kept),
            "start": _figure(before),
            "end": _figure(after),
            "seen_start": f"{100 * seen_start:.2f}",
            "seen_end": f"{100 * seen_end:.2f}",
            "gain": f"{100 * (after.now.tally.f1.value - before.now.tally.f1.value):.0f}",
            "seen_gain": f"{100 * (seen_end - seen_start):.0f}",
        }

    def _mended(self, before: Study, after: Study) -> Data:
        """Return the most frequent word kept aside that is as in the gold now, and was not."""
        was, now = before.now.tally, after.now.tally
        fixed = now.is_exact & (was.missed > 0) & (now.relevant > 0)
        frequent = after.benchmark.token_weights
        number = max(fixed.nonzero()[0].tolist(), key=lambda n: (frequent[n], -n))
        word = after.benchmark.words.texts[number]
        return {
            "before": self._line(word, before.graph, before),
            "after": self._line(word, after.graph, after),
        }

    def summary(self) -> Data:
        """Return what the story tells of a further language."""
        run = self._repaired()
        before, after = (Study(each, run.scored) for each in (self.tokeniser, run.tokeniser))
        worst = int(self.blame.arrays.merge_ids[self.blame.order[0]])
        joins, wrong = map(int, self.blame.counts(worst))
        parts = [self.names[part] for part in self.study.graph.merge(worst).parts]
        return {
            "code": self.code,
            "name": LANGUAGES[self.code],
            "parts": parts,
            "joins": joins,
            "wrong": wrong,
            "held": len(run.scored.words),
            "start": _figure(before),
            "end": _figure(after),
            "example": self._mended(before, after),
        }


def _columns(line: Data) -> Data:
    """Return what the columns of letters need: a word, its morphs and its tokens."""
    tokens = ["".join(token["segments"]) for token in line["tokens"]]
    return {
        "word": line["word"],
        "morphs": line["morphs"],
        "tokens": list(map(shown_token, tokens)),
    }


def main() -> None:
    """Write the built files."""
    folder = STORY / "built"
    folder.mkdir(exist_ok=True)
    for name, text in built().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
