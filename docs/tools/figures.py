"""Draw the pictures of docs/results.md from the tables below them.

Run: ``python -m docs.tools.figures``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from docs.tools import DOCS

PAGE = DOCS / "results.md"
CELL = re.compile(r"([\d.]+) \[([\d.]+), ([\d.]+)\](?: / [\d.]+)?( ○)?")
KINDS = {"BPE": "bpe", "BPE-knockout": "knockout", "knockout": "knockout", "ReBPE": "rebpe"}
STYLE = """\
text{font:13px sans-serif;fill:#33394a}.small{font-size:11px}.title{font-weight:bold}
.grid{stroke:#e4e7ee}.base{stroke:#33394a;stroke-dasharray:3 3}.paper{fill:#fff}
.mark{fill:#445069;stroke:#445069;stroke-width:1.6}.knockout{fill:#a80f2e;stroke:#a80f2e}
.rebpe{fill:#6a3fd9;stroke:#6a3fd9}.portable{fill:#118a5f;stroke:#118a5f}.hollow{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#dfe2ea}.grid{stroke:#343945}.base{stroke:#dfe2ea}
.paper,.hollow{fill:#16171a}.mark:not(.hollow){fill:#a9b3c9}.mark{stroke:#a9b3c9}
.knockout,.mark.knockout{fill:#ff6f83;stroke:#ff6f83}.rebpe,.mark.rebpe{fill:#b79bff;stroke:#b79bff}
.portable,.mark.portable{fill:#46d39a;stroke:#46d39a}}"""


class Mark(NamedTuple):
    """A value with its interval, and how it is drawn."""

    value: float
    low: float
    high: float
    kind: str = ""
    hollow: bool = False

    @classmethod
    def of(cls, cell: str, kind: str = "") -> "Mark | None":
        """Read a cell, as in ``59.5 [57.3, 61.5] ○``."""
        found = CELL.fullmatch(cell)
        return found and cls(*map(float, found.groups()[:3]), kind, bool(found[4]))


def rows_below(picture: str) -> list[dict[str, str]]:
    """Return the rows of the first table below a picture of the page, by column."""
    text = PAGE.read_text("utf-8").partition(f"images/{picture}.svg)")[2]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines is not None
    head, _, *others = (
        [cell.strip() for cell in line[1:-1].split("|")] for line in lines[0].splitlines()
    )
    return [dict(zip(head, cells, strict=True)) for cells in others]


def picture(width: float, height: float, about: str, parts: Iterator[str]) -> str:
    """Return a drawing whose colours follow the reader's choice of light or dark."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    paper = f'<rect class="paper" width="{width:g}" height="{height:g}"/>'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}><title>{about}</title>'
    return "\n".join([start, f"<style>{STYLE}</style>", paper, *parts, "</svg>\n"])


def text(x: float, y: float, said: str, anchor: str = "middle", kind: str = "") -> str:
    """Return a line of text."""
    named = f' class="{kind}"' * bool(kind)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(said)}</text>'


def line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    """Return a straight line."""
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def steps(low: float, high: float) -> range:
    """Return round numbers between two, few enough to be read."""
    step = next(step for step in (5, 10, 20) if (high - low) / step <= 6)
    return range(-(-int(low) // step) * step, int(high) + 1, step)


def dots(
    labels: Sequence[str], panels: Mapping[str, Sequence[Sequence[Mark]]], baseline: int, about: str
) -> str:
    """Draw a row for each label, and a panel beside the other for each list of their marks.

    ``baseline``: the row whose first value is a line through its panel; -1 for none.
    """
    left, high, wide, top = 6.6 * max(map(len, labels)) + 12, 24, 900 / len(panels), 42
    bottom = top + high * len(labels)

    def parts() -> Iterator[str]:
        for row, label in enumerate(labels):
            yield text(left - 8, top + high * (row + 0.5) + 4, label, "end")
        for place, (title, lists) in enumerate(panels.items()):
            every = [each for marks in lists for each in marks]
            low, most = min(each.low for each in every) - 1, max(each.high for each in every) + 1
            start, scale = left + place * wide + 8, (wide - 22) / (most - low)

            def at(value: float, start: float = start, low: float = low, s: float = scale) -> float:
                return start + (value - low) * s

            yield text(start + wide / 2 - 10, 24, title, kind="title")
            for value in steps(low, most):
                yield line(at(value), top - 6, at(value), bottom, "grid")
                yield text(at(value), bottom + 16, f"{value}", kind="small")
            if baseline >= 0:
                x = at(lists[baseline][0].value)
                yield line(x, top - 6, x, bottom, "base")
            for row, marks in enumerate(lists):
                y = top + high * (row + 0.5)
                for each in marks:
                    drawn = f'class="mark {each.kind}{" hollow" * each.hollow}"'
                    x = at(each.value)
                    yield f'<path {drawn} d="M{at(each.low):.1f} {y}H{at(each.high):.1f}"/>'
                    if each.kind == "knockout" and len(marks) > 1:
                        yield f'<path {drawn} d="M{x:.1f} {y - 6}l5 6l-5 6l-5 -6z"/>'
                    else:
                        yield f'<circle {drawn} cx="{x:.1f}" cy="{y}" r="4"/>'

    return picture(left + 900 + 8, bottom + 28, about, parts())


def methods() -> str:
    """Draw F1 of each method in each language."""
    rows = rows_below("methods")
    languages = [name for name in rows[0] if name not in ("Method", "morph F1")][:-1]
    panels = {
        language: [
            [mark] if (mark := Mark.of(row[language], KINDS.get(row["Method"], ""))) else []
            for row in rows
        ]
        for language in languages
    }
    labels = [row["Method"] for row in rows]
    return dots(labels, panels, labels.index("BPE"), "F1 of boundaries, by method and language")


def memorised() -> str:
    """Draw F1 before and after learning, on words kept aside in either way."""
    rows = rows_below("memorised")
    labels = [" · ".join([row["Language"], row["Reference"], row["tokeniser"]]) for row in rows]
    panels = {}
    for by in ("by words", "by families"):
        kinds = {f"{name}, {by}": KINDS[name] for name in ("BPE", "knockout", "ReBPE")}
        panels[by] = [
            [
                mark._replace(hollow=kind == "bpe")
                for column, kind in kinds.items()
                if (mark := Mark.of(row[column], kind))
            ]
            for row in rows
        ]
    return dots(labels, panels, -1, "F1 of BPE (ring), knockout (diamond) and ReBPE (dot)")


def languages() -> str:
    """Draw what each method gains against what it costs, for each reference."""
    found = []
    for row in rows_below("languages"):
        before, tokens = Mark.of(row["BPE, F1"]), Mark.of(row["tokens per word"])
        for name in ("BPE-knockout", "ReBPE", "ReBPE, portable"):
            after, then = Mark.of(row[f"{name}, F1"]), Mark.of(row[name])
            if before and tokens and after and then:
                cost = 100 * (then.value / tokens.value - 1)
                found.append((row["Language"], name, cost, after.value - before.value))
    _, _, costs, gains = zip(*found, strict=True)
    low, high, least, most = min(costs) - 4, max(costs) + 2, min(gains) - 2, max(gains) + 2
    left, top, wide, tall = 56, 36, 800, 440

    def at(cost: float, gain: float) -> tuple[float, float]:
        x = left + (cost - low) / (high - low) * wide
        return x, top + (most - gain) / (most - least) * tall

    def parts() -> Iterator[str]:
        for cost in steps(low, high):
            yield line(at(cost, 0)[0], top, at(cost, 0)[0], top + tall, "grid")
            yield text(
                at(cost, 0)[0], top + tall + 18, f"{cost:+} %".replace("-", "−") if cost else "0"
            )
        for gain in steps(least, most):
            yield line(left, at(0, gain)[1], left + wide, at(0, gain)[1], "grid")
            yield text(left - 8, at(0, gain)[1] + 4, f"{gain:+}" if gain else "0", "end")
        yield text(left, 20, "F1 gained on words kept aside, points", "start", "title")
        yield text(left + wide, top + tall + 40, "tokens per word of running text", "end", "title")
        for place, name in enumerate(("BPE-knockout", "ReBPE", "ReBPE, portable")):
            kind, x = KINDS.get(name, "portable"), left + wide - 350 + 122 * place
            yield f'<circle class="mark {kind}" cx="{x}" cy="16" r="4"/>'
            yield text(x + 10, 20, name, "start")
        for language, name, cost, gain in found:
            x, y = at(cost, gain)
            kind = KINDS.get(name, "portable")
            told = f"{language}, {name}: {gain:+.1f} points, {cost:+.1f} % tokens"
            yield f'<circle class="mark {kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5">'
            yield f"<title>{escape(told)}</title></circle>"
            if name == "ReBPE" and (cost < -11 or gain > 24):  # those that stand alone
                yield text(x - 9, y + 4, language, "end", "small")

    return picture(left + wide + 16, top + tall + 52, "What is gained, and what it costs", parts())


DRAWN = methods, languages, memorised

if __name__ == "__main__":
    for make in DRAWN:
        (DOCS / "images" / f"{make.__name__}.svg").write_text(make(), "utf-8")
