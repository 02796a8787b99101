"""Compute the tables and pictures of docs/how/rebpe-scenarios.md, and other drawings of the demo.

Run: ``python -m docs.tools.scenarios``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import morphgraph as mg
from docs.tools import DOCS, from_template, markdown_table
from morphgraph.core.files import demo_tokeniser_path
from morphgraph.draw import Theme
from morphgraph.draw.fan import fan_around
from morphgraph.draw.merge_tree import MergeTree, describe_tree
from morphgraph.draw.merge_tree_svg import to_svg
from morphgraph.formats.loading import load_tokeniser
from morphgraph.graph.view import type_key
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun, changed_merges
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.tokeniser.merging import segment, unreachable_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser

PAGE = DOCS / "how" / "rebpe-scenarios.md"
GOLD = [("_bruids", ["_bruid", "s"]), ("_bruid", ["_bruid"])]
HEAD = ["", "changed", "`_bruids`", "`_bruid`", "out of reach"]
BLOCK = re.compile(
    r"(?<=```\n)((?:.+ \+ .+\n)+)(```\n\n<!-- from scenario (\w+) -->\n)(?:.*\n)*?(?=<!-- end)"
)
PAINT = re.compile(r'\b(fill|stroke)="(#\w+)"')
THEMES: tuple[Theme, Theme] = ("light", "dark")
_VERBS = {"removed": "out", "split": "split", "repaired": "repaired", "created": "new"}


def tokeniser_of(lines: str) -> BpeTokeniser:
    """Return the tokeniser of a merge list, one merge a line, whose atoms are characters."""
    merges = [tuple(line.split(" + ")) for line in lines.splitlines()]
    atoms = dict.fromkeys("".join(part for merge in merges for part in merge))
    return tokeniser_of_types("scenario", [*dict.fromkeys([*atoms, *map("".join, merges)])], merges)


def tokens(tokeniser: BpeTokeniser, word: str) -> str:
    """Return a word's tokens, with spaces between."""
    segmentation = segment(tokeniser.graph, tokeniser.encode([word]))
    return " ".join(tokeniser.types[token] for _, token in segmentation.token_ends(0))


def states(lines: str) -> Iterator[tuple[list[str], MergeTree]]:
    """Yield what each phase of ReBPE without annealing comes to, and the tree of the first word."""
    tokeniser = tokeniser_of(lines)
    gold = mg.read_gold(GOLD)
    run = ReBPERun(tokeniser, Benchmark.on(gold, tokeniser), ReBPESettings(anneal=False))
    for phase in chain(run.phases[:1], run):
        named = "start" if phase.kind == "start" else f"{phase.kind} {phase.iteration}"
        changes = []
        for each in changed_merges(tokeniser.graph, phase.change):
            parts = " + ".join(tokeniser.types[part] for part in each.after or each.before)
            if each.kind in _VERBS and parts not in " ".join(changes):
                changes.append(f"{_VERBS[each.kind]}: `{parts}`")
        lost = [f"`{tokeniser.types[number]}`" for number in unreachable_types(tokeniser.graph)]
        cut = [f"`{tokens(tokeniser, word)}`" for word, _ in GOLD]
        tree = describe_tree(tokeniser, tokeniser.encode(["_bruids"]), 0, gold={5}, title=named)
        if phase.kind == "start" or not phase.change.is_empty:
            yield [named, ", ".join(changes), *cut, ", ".join(lost)], tree


def computed(lines: str, name: str) -> tuple[str, str]:
    """Return the Markdown below a merge list, and its picture: start, first knockout, end."""
    if "_" not in lines:
        tokeniser = tokeniser_of(lines)
        if "ab" in tokeniser.graph:
            tokeniser.graph.knockout(["ab"])
        lost = [f"`{tokeniser.types[number]}`" for number in unreachable_types(tokeniser.graph)]
        return f"\nOut of reach: {', '.join(lost) or 'nothing'}.\n\n", ""
    rows, trees = zip(*states(lines), strict=True)
    chosen = [trees[place] for place in sorted({0, 1, len(trees) - 1})]
    told = "before, after the first knockout, and in the end"
    picture = f"![Merge trees of _bruids {told}](../images/scenario-{name}.svg)"
    return f"\n{markdown_table([HEAD, *rows])}\n\n{picture}\n\n", adaptive(chosen)


def adaptive(trees: Sequence[MergeTree]) -> str:
    """Return trees as SVG whose colours follow the reader's choice of light or dark."""
    light, dark = (to_svg(trees, theme=theme, has_legend=False) for theme in THEMES)
    pairs = zip(PAINT.findall(light), PAINT.findall(dark), strict=True)
    rules = {f'[{kind}="{one}"]{{{kind}:{other}}}' for (kind, one), (_, other) in pairs}
    style = f"<style>@media (prefers-color-scheme:dark){{{''.join(sorted(rules))}}}</style>"
    return light.replace("<rect", f"{style}<rect", 1)


def fan(focus: str) -> str:
    """Return the picture of the site's home: a type, and what is made with it."""
    tokeniser = load_tokeniser(demo_tokeniser_path("en"))
    study = Study(tokeniser, Benchmark.on(mg.read_gold("demo:en"), tokeniser))
    number = tokeniser.graph.ids[focus]
    drawn = fan_around(study, number, rows=8)
    left = min(each.left for each in drawn.vertices) - 5
    width = max(each.right for each in drawn.vertices) - left + 5
    top = min(each.y for each in drawn.vertices) - 20
    height = max(each.y for each in drawn.vertices) - top + 20
    return from_template(
        "fan.svg",
        box=[round(place) for place in (left, top, width, height)],
        about=f"What {focus} is used for",
        focus=type_key(number),
        **drawn.to_dict(),
    )


def repaired() -> dict[str, str]:
    """Return the pictures of the home and of the pages on knockout and merge trees, by name."""
    gold, tokeniser = mg.read_gold("demo:en"), mg.load("demo:en")
    plain = tokeniser.tree("undesirable", gold=gold).tree
    edited = tokeniser.knock_out_types(["ks"]).tokeniser
    before, after = (each.tree("textbooks", gold=gold).tree for each in (tokeniser, edited))
    pair = [replace(before, title="before"), replace(after, title="without ks")]
    trees = {"tree-undesirable": adaptive([plain]), "tree-knockout": adaptive(pair)}
    return {"fan-ies": fan("ies"), **trees}


def built() -> tuple[str, dict[str, str]]:
    """Return the page with all that is computed, and its pictures by name."""
    pictures: dict[str, str] = {}

    def fill(found: re.Match[str]) -> str:
        lines, marks, name = found.groups()
        text, pictures[name] = computed(lines, name)
        return lines + marks + text

    return BLOCK.sub(fill, PAGE.read_text("utf-8")), pictures


if __name__ == "__main__":
    page, drawn = built()
    PAGE.write_text(page, "utf-8")
    named = {f"scenario-{name}": picture for name, picture in drawn.items() if picture}
    for name, picture in (named | repaired()).items():
        (DOCS / "images" / f"{name}.svg").write_text(picture, "utf-8")
