"""Run a pipeline part by part in the separate process of `tokeniser.confined`.

Before each part the process reports its place.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.isolated import report_place
from morphgraph.tokeniser.known_parts import PARTS_OF_TEXT, parts_in_order
from morphgraph.tokeniser.preprocess import Preprocessor


class _Steps:
    """The parts of a normaliser or pre-tokeniser, run in sequence."""

    def __init__(self, key: str, pipeline: Any) -> None:
        from tokenizers import Tokenizer

        model = {"type": "BPE", "vocab": {}, "merges": []}
        self.most, self._steps = 0, list[tuple[str, Any]]()
        for name, part in parts_in_order(pipeline, key):
            place = f"field {name}"
            report_place(place)
            document = {"version": "1.0", "added_tokens": [], "model": model, key: part}
            try:
                built = getattr(Tokenizer.from_str(json.dumps(document)), key)
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
        for part in self._each():
            part.normalize(work)
            self._check(len(work.normalized))

    def pre_tokenize(self, work: Any) -> None:
        for part in self._each():
            part.pre_tokenize(work)
            self._check(sum(len(piece) for piece, *_ in work.get_splits("original", "char")))

    def _each(self) -> Iterator[Any]:
        for place, part in self._steps:
            self._place = place
            report_place(place)
            yield part

    def _check(self, characters: int) -> None:
        if characters > self.most:
            problem = f"makes {characters:,} characters, the limit is {self.most:,}"
            raise FileFormatError("", self._place, problem, "")


def made_of_text(parts: bytes, do: str, text: str, bounds: list[list[int]], most: int) -> bytes:
    """Serve a request of `confined`, as JSON; `FileFormatError` beyond ``most`` characters."""
    steps, preprocessor = _built(parts)
    for some in steps.values():
        some.most = most
    if do in ("normalize_str", "pre_tokenize_str"):
        made = getattr(steps[PARTS_OF_TEXT[do == "pre_tokenize_str"]], do)(text)
    else:
        made = getattr(preprocessor, do)(text, *(slice(*span) for span in bounds))
    return json.dumps(made).encode()


@lru_cache(maxsize=2)
def _built(parts: bytes) -> tuple[dict[str, _Steps], Preprocessor]:
    held = json.loads(parts)
    steps = {key: _Steps(key, held[key]) for key in PARTS_OF_TEXT}
    own: dict[str, Any] = {key: steps[key] for key in steps if held[key] is not None}
    return steps, Preprocessor(**own, byte_level=b'"ByteLevel"' in parts)
