"""How what a program makes of a file differs from the reference."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened, visible
from morphgraph.formats.framing import known_ids
from morphgraph_doctor.programs import ProgramError
from morphgraph_doctor.readings import ProgramReading
from morphgraph_doctor.stages import DECODER, FRAME, ProgramSide, mend_of, stage_of


@dataclass(frozen=True)
class Verdict:
    """What a program makes of a file, beside the reference.

    ``problem``: why it made nothing of it, else empty. ``differ``: how many of the ``texts``, which
    are samples and the types' own strings, have other ids, or are decoded otherwise; ``example``:
    the first of them, with the ids ``expected`` and ``found`` from where they part, or with what it
    is ``decoded`` to. ``stage``: the one at fault; ``mend``: what mends it.
    """

    program: str
    file: str
    problem: str = ""
    texts: int = 0
    differ: int = 0
    example: str = ""
    expected: tuple[int, ...] = ()
    found: tuple[int, ...] = ()
    decoded: str = ""
    stage: str = ""
    mend: str = ""

    def told(self, reference: str) -> str:
        """Return the result as one line; ``reference``: the name of the one that counts."""
        if self.problem:
            return self.problem
        if not self.differ:
            is_it = f"{self.program}, {self.file}" == reference
            return f"{'the reference' if is_it else 'equal'}: {self.texts:,} texts"
        ids = f"is {[*self.found[:6]]} instead of {[*self.expected[:6]]}"
        if not self.found and not self.expected:
            ids = f"is decoded to “{shortened(visible(self.decoded), 40)}”"
        first = f"“{shortened(visible(self.example), 40)}” {ids}"
        return f"{self.differ:,} of {self.texts:,} texts differ: {first}"


def verdict_of(
    reading: ProgramReading, reference: ProgramReading, texts: Sequence[str], samples: int
) -> Verdict:
    """Compare a reading with the reference; ``samples``: how many of the texts are no types."""
    program, file = reading.program, reading.file
    if not reading.found:
        return Verdict(program, file, reading.problem)
    one, other = (ProgramSide(each.ids, each.document) for each in (reference, reading))
    names = () if reading.sees_special and reference.sees_special else {*one.added, *other.added}
    read = texts[: len(reading.found["plain"])]
    known = [n for n, text in enumerate(read) if not any(name in text for name in names)]
    some = [*takewhile(lambda n: n < samples, known)]
    document = one.document or {"model": {}}
    # An unknown token is decoded otherwise everywhere.
    unknown = known_ids(document).get(document["model"].get("unk_token"))
    plain = reference.found["plain"]
    decoded = [n for n in some if unknown not in plain[n]]
    cases = (("plain", "", known), ("framed", FRAME, some), ("decoded", DECODER, decoded))
    for key, stage, numbers in cases:
        here, there = reference.found[key], reading.found[key]
        others = [n for n in numbers if here[n] != there[n]] if here and there else []
        if not others:
            continue
        first = others[0]
        with suppress(ProgramError, MorphGraphError):  # on a part of what it has read
            stage = stage or stage_of(texts[first], one, other)
        found = Verdict(
            program,
            file,
            texts=len(known),
            differ=len(others),
            example=texts[first],
            stage=stage,
            mend=mend_of(stage, program, reading.kind, document, reference.file) if stage else "",
        )
        if key == "decoded":
            return replace(found, decoded=there[first])
        pairs = zip(here[first], there[first], strict=False)
        same = len([*takewhile(lambda both: both[0] == both[1], pairs)])
        return replace(found, expected=(*here[first][same:],), found=(*there[first][same:],))
    return Verdict(program, file, texts=len(known))
