"""Pipelines in a separate process: those of unknown parts, and any for a long text.

The `tokenizers` library runs whatever a file specifies in native code, which holds the interpreter
and cannot be interrupted. So this process runs known parts alone (`tokeniser.parts`); others run in
`core.isolated`, within limits on time, memory and the characters that they make.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.isolated import ProcessEndedError, report_place, run_isolated
from morphgraph.core.limits import (
    GROWN_CHARACTERS,
    PIPELINE_MEMORY,
    PIPELINE_SECONDS,
    TEXT_GROWTH,
)
from morphgraph.tokeniser.parts import PARTS_OF_TEXT, PartError, library_of, parts_in_order
from morphgraph.tokeniser.preprocess import WHOLE, Piece, Preprocessor

LONG_TEXT = 30_000
"""Characters for which quadratic time is a second or two."""
_SPARE = 1_000
"""The number of characters that any text may become."""
_as_bytes = lru_cache(maxsize=2)(str.encode)
"""The same parts are sent with every word."""


def _apply(parts: str, do: str, text: str, *spans: slice) -> Any:
    """Apply a method of `Preprocessor` or of the library's parts to a text, in the process.

    `PartError` if it exceeds the limits; `RuntimeError` if a part fails.
    """
    text.encode()  # lone surrogates are found here
    most = min(_SPARE + TEXT_GROWTH.value * len(text), GROWN_CHARACTERS.value)
    bounds = [[span.start, span.stop] for span in spans]
    limits = {"seconds": PIPELINE_SECONDS, "memory": PIPELINE_MEMORY}
    function, sent = f"{__name__}:{applied.__name__}", _as_bytes(parts)
    try:
        return json.loads(run_isolated(function, sent, do, text, bounds, most, **limits))
    except FileFormatError as error:
        place, problem, limit = error.place, error.problem, TEXT_GROWTH
    except ProcessEndedError as error:
        place, limit = error.place or "its pipeline", error.limit or PIPELINE_MEMORY
        problem = f"needs more than {limit.value:,} bytes of memory, or fails"
        if limit is PIPELINE_SECONDS:
            problem = f"takes more than {limit.value:,} seconds"
    raise PartError(place, problem, limit.variable, text)


@dataclass(frozen=True)
class IsolatedPart:
    """A proxy for a normaliser or pre-tokeniser of the library; ``parts``: both, as JSON."""

    parts: str
    key: str

    def normalize_str(self, text: str) -> str:
        """Return the normalised text."""
        return str(_apply(self.parts, "normalize_str", text))

    def pre_tokenize_str(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pieces of a text, each with its span."""
        return [(piece, (a, b)) for piece, (a, b) in _apply(self.parts, "pre_tokenize_str", text)]

    def as_json(self) -> Any:
        """Return the part as in the file."""
        return json.loads(self.parts)[self.key]


class IsolatedPreprocessor(Preprocessor):
    """A pipeline from a file: in the process unless its parts are known, and the text short."""

    def _is_here(self, text: str) -> bool:
        is_harmless = self.is_known and len(text) <= LONG_TEXT
        return is_harmless or self.sentencepiece is not None

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of a text."""
        if self._is_here(text):
            return super().pieces(text)
        return _as_pieces(_apply(self.parts, "pieces", text))

    def pieces_of_part(
        self, text: str, raw: slice = WHOLE, normalised: slice = WHOLE
    ) -> list[Piece]:
        """Return the pieces of a part of a text."""
        if self._is_here(text):
            return super().pieces_of_part(text, raw, normalised)
        return _as_pieces(_apply(self.parts, "pieces_of_part", text, raw, normalised))

    def span_of_part(self, text: str, raw: slice, normalised: slice) -> tuple[int, int]:
        """Return the span in the text of a part of its normalised form."""
        if self._is_here(text):
            return super().span_of_part(text, raw, normalised)
        start, end = _apply(self.parts, "span_of_part", text, raw, normalised)
        return start, end


def _as_pieces(listed: Any) -> list[Piece]:
    return [[(text, start, end) for text, start, end in piece] for piece in listed]


# ------------------------------------------------------------------------- in the process


class _Steps:
    """The parts of a normaliser or pre-tokeniser, run in sequence."""

    def __init__(self, key: str, pipeline: Any) -> None:
        self.most, self._steps = 0, list[tuple[str, Any]]()
        for name, part in parts_in_order(pipeline, key):
            place = f"field {name}"
            report_place(place)
            try:
                built = getattr(library_of({key: part}), key)
            except Exception as error:
                raise ValueError(f"the library cannot build {name}: {error}") from error
            self._steps.append((place, built))

    def normalize_str(self, text: str) -> str:
        from tokenizers import NormalizedString

        work = NormalizedString(text)
        self.normalize(work)
        return str(work.normalized)

    def pre_tokenize_str(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        from tokenizers import PreTokenizedString

        work = PreTokenizedString(text)
        self.pre_tokenize(work)
        return [(piece, span) for piece, span, _ in work.get_splits("original", "char")]

    def normalize(self, work: Any) -> None:
        self._run("normalize", work, lambda: len(work.normalized))

    def pre_tokenize(self, work: Any) -> None:
        def characters() -> int:
            return sum(len(piece) for piece, *_ in work.get_splits("original", "char"))

        self._run("pre_tokenize", work, characters)

    def _run(self, do: str, work: Any, count: Callable[[], int]) -> None:
        for place, part in self._steps:
            report_place(place)
            getattr(part, do)(work)
            if (characters := count()) > self.most:
                problem = f"makes {characters:,} characters; the limit is {self.most:,}"
                raise FileFormatError("", place, problem, "")


def applied(parts: bytes, do: str, text: str, bounds: list[list[int]], most: int) -> bytes:
    """Serve a request of `_apply`; `FileFormatError` beyond ``most`` characters."""
    steps, preprocessor = _steps_of(parts)
    for some in steps.values():
        some.most = most
    if do in ("normalize_str", "pre_tokenize_str"):
        result = getattr(steps[PARTS_OF_TEXT[do == "pre_tokenize_str"]], do)(text)
    else:
        result = getattr(preprocessor, do)(text, *(slice(*span) for span in bounds))
    return json.dumps(result).encode()


@lru_cache(maxsize=2)
def _steps_of(parts: bytes) -> tuple[dict[str, _Steps], Preprocessor]:
    held = json.loads(parts)
    steps = {key: _Steps(key, held[key]) for key in PARTS_OF_TEXT}
    own: dict[str, Any] = {key: steps[key] for key in steps if held[key] is not None}
    return steps, Preprocessor(**own, byte_level=b'"ByteLevel"' in parts)
