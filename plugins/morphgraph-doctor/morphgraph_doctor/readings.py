"""What programs make of the files of a tokeniser, ours among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from morphgraph.api.with_merges import Tokeniser
from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.isolated import VISITOR
from morphgraph.formats.framing import with_frame
from morphgraph.formats.opening import WHOLE
from morphgraph.formats.pipeline_parts import PATTERNS
from morphgraph.formats.tokeniser_files import TokeniserFiles
from morphgraph.segment.models import load_segmenter
from morphgraph.tokeniser.parts import parts_in_order
from morphgraph_doctor.programs import (
    GGUF,
    PAIR,
    PROGRAMS,
    TEKKEN,
    IdLists,
    ProgramError,
    ids_by,
    version_of,
)

OUR_NAME = f"morphgraph {__version__}"
_WITH_FRAME, _WITH_SPECIAL = (WHOLE, GGUF), (WHOLE, GGUF, TEKKEN)
"""Formats that say what is put around a text, and which special tokens are found in one."""
_SOME = 20_000
"""Types that are looked at here where `tokenizers` looks at all of the same file; it takes long."""


@dataclass
class ProgramReading:
    """What a program makes of a file.

    ``ask``: its answer for texts and for more of them, as `ids_by` gives it. ``document``: how it
    prepares texts, as far as is known. ``problem``: why there is no answer; else empty, with the
    answer in ``found``.
    """

    program: str
    file: str
    kind: str = ""
    ask: Callable[[Sequence[str], Sequence[str]], Mapping[str, Any]] | None = None
    document: Mapping[str, Any] | None = None
    sees_special: bool = True
    problem: str = ""
    found: Mapping[str, Any] = field(default_factory=dict)
    tokeniser: Tokeniser | None = None

    def read(self, texts: Sequence[str], more: Sequence[str]) -> None:
        """Ask for the ids of texts; a failure is its problem."""
        if self.ask is None:
            return
        try:
            self.found = self.ask(texts, more)
        except (ProgramError, MorphGraphError) as error:
            self.problem = f"it does not read this: {error}"
        else:
            self.document = self.found["parts"] or self.document

    def ids(self, texts: Sequence[str]) -> IdLists:
        """Return the ids of texts, without special tokens around them."""
        assert self.ask is not None
        ids: IdLists = self.ask(texts, ())["plain"]
        return ids


def own_reading(
    path: Path, file: str, kind: str, pattern: str | None
) -> ProgramReading | MorphGraphError:
    """Return what this library makes of a file, or of a folder in which the file decides."""
    try:
        tokeniser = Tokeniser(load_segmenter(path, pattern=pattern))
        document = tokeniser._document
    except MorphGraphError as error:
        return error
    encode = tokeniser._segmenter.undrawn.ids_in(document)
    frames = kind in _WITH_FRAME or path.is_dir()

    def ask(texts: Sequence[str], more: Sequence[str]) -> Mapping[str, Any]:
        plain = encode([*texts, *more], True)
        some = plain[: len(texts)]
        return {
            "plain": plain,
            "framed": with_frame(some, document.get("post_processor")) if frames else [],
            "decoded": tokeniser._library.decode_batch(some, skip_special_tokens=False),
            "parts": None,
        }

    sees = kind in _WITH_SPECIAL or path.is_dir()
    return ProgramReading(OUR_NAME, file, kind, ask, document, sees, tokeniser=tokeniser)


def readings_of(
    files: TokeniserFiles,
    kinds: Mapping[str, str],
    documents: Mapping[str, Any],
    document: Mapping[str, Any],
    folder: str,
) -> list[ProgramReading]:
    """Return a reading to ask for of each program and each file that it reads.

    ``kinds``: the formats of files; ``documents``: what we made of them; ``document``: the one that
    counts, from which programs are told what their files do not say; ``folder``: its path, for what
    reads folders; empty for a file. A program that is missing, or has nothing to read, has that as
    its problem.
    """
    found = list[ProgramReading]()
    special = {token["content"]: token["id"] for token in document.get("added_tokens") or []}
    merges = [name for name in files.names if name.endswith(".txt") and "merges" in name]
    for program, known in PROGRAMS.items():
        version = version_of(program)
        name = f"{program} {version}".strip()
        names = [file for file, kind in kinds.items() if kind in known.kinds]
        if program == "transformers" and folder:
            names = ["all files"]
        if not version or not names:
            problem = "nothing here is for it" if version else "it is not installed"
            found.append(ProgramReading(name, "", problem=problem))
            continue
        for file in names:
            kind, own = kinds.get(file, ""), documents.get(file)
            place = Path(files.place)
            path = Path(folder) if program == "transformers" else place / file
            told: dict[str, Any] = {"pattern": pattern_of(own or document), "special": special}
            told |= {"merges": place / merges[0]} if kind == PAIR else {}
            ask = partial(ids_by, program, path, told)
            found.append(ProgramReading(name, file, kind, ask, own, known.sees_special))
    return found


def read_all(
    readings: Iterable[ProgramReading], texts: Sequence[str], more: Sequence[str], shared: str
) -> None:
    """Ask all for the ids of texts, two programs at once beside our own.

    ``shared``: a file that another program reads, too, of which ours gets fewer texts.
    """

    def read(reading: ProgramReading) -> None:
        VISITOR.set(f"{reading.program} {reading.file}")
        reading.read(texts, more)

    others = [each for each in readings if each.tokeniser is None]
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(read, each) for each in others]
        for each in readings:
            if each.tokeniser is not None:
                each.read(texts, more[:_SOME] if each.file == shared else more)
        for one in asked:
            one.result()


def pattern_of(document: Mapping[str, Any]) -> str | None:
    """Return the regular expression by which a document cuts texts; None if it has none alone."""
    for _, part in parts_in_order(document.get("pre_tokenizer"), "pre_tokenizer"):
        if part.get("type") == "Split":
            text = (part.get("pattern") or {}).get("Regex")
            return text if isinstance(text, str) else None
        if part.get("type") == "ByteLevel" and part.get("use_regex", True):
            return PATTERNS["r50k_base"]
    return None
