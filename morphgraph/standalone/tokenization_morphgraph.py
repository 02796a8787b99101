"""A tokeniser for `transformers` with a method in Python: BPE with tuple merges, FLOTA, ….

``AutoTokenizer.from_pretrained(folder, trust_remote_code=True)`` loads it from the files beside it,
of which ``methods.py`` is written for each folder.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Self

from tokenizers import PreTokenizedString, Tokenizer
from transformers import PreTrainedTokenizerFast

from .methods import METHODS
from .piece_methods import WORTH_KERNELS, Pieces, load, method_of, plug_in

BTE_FILE = "tokeniser.bte.json"
METHOD_FILE = "tokeniser.method.json"
KERNELS = "2"
"""The version of the kernels that matches these files: an entry point of what brings them."""


class MorphGraphTokenizer(PreTrainedTokenizerFast):
    """A tokeniser of the `tokenizers` library with a method in Python, from one JSON file.

    The file is laid out as ``tokenizer.json``, but for its field ``model``.
    """

    vocab_files_names = {  # noqa: RUF012 - as the base class has it
        "bte_file": BTE_FILE,
        "method_file": METHOD_FILE,
    }
    _tokenizer: Any

    def __init__(
        self, bte_file: str | None = None, method_file: str | None = None, **settings: Any
    ) -> None:
        file = method_file or bte_file
        if file is None:
            raise ValueError(
                f"The file {METHOD_FILE} or {BTE_FILE} is missing. Download the whole folder again."
            )
        # The base class copies a tokeniser that it is given, but keeps one that is already there.
        self._read(Path(file).read_text("utf-8"))
        super().__init__(**settings)
        self._plug_in()

    def _read(self, text: str) -> None:
        document = json.loads(text)
        self._tokenizer = load(document)
        self._model: dict[str, Any] = document["model"]

    def _plug_in(self) -> None:
        self._method = method_of(self._model, METHODS, kernel_for)
        self._own = plug_in(self._tokenizer, self._method)

    def train(self, mode: bool = True) -> Self:
        """Draw at random, as after loading, if the method does; ``mode`` False: as `eval`."""
        self._drawing.training = mode
        return self

    @property
    def _drawing(self) -> Pieces:
        """The method that may draw, below those that build on it."""
        method: Pieces = self._method
        while method.inner is not None:
            method = method.inner
        return method

    def eval(self) -> Self:
        """Switch randomness off: the same text gets the same tokens."""
        return self.train(False)

    def _encode_plus(self, text: Any, text_pair: Any = None, *rest: Any, **settings: Any) -> Any:
        texts = list(_strings((text, text_pair)))
        if sum(map(len, texts)) >= WORTH_KERNELS:
            self._method.fill(piece for each in texts for piece in self._pieces(each))
        self._drawing.turn += 1
        return super()._encode_plus(text, text_pair, *rest, **settings)

    def _pieces(self, text: str) -> list[str]:
        """Return the parts of a text that the library does not split, if without added tokens."""
        library: Tokenizer = self._tokenizer
        if library.normalizer is not None:
            text = library.normalizer.normalize_str(text)
        own = self._own.pre_tokenizer
        return [text] if own is None else [piece for piece, _ in own.pre_tokenize_str(text)]

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        """Return the ids of a text without added tokens, for chat templates."""
        work = PreTokenizedString(text)
        library: Tokenizer = self._tokenizer
        if library.normalizer is not None:
            work.normalize(library.normalizer.normalize)
        library.pre_tokenizer.pre_tokenize(work)
        ids: list[int] = work.to_encoding(0, None).ids
        return ids

    def _to_json(self) -> str:
        """Return the file with later additions; the Python part cannot be saved by the library."""
        library, own = self._tokenizer, self._own
        plugged = library.pre_tokenizer, library.decoder, library.normalizer
        library.pre_tokenizer, library.decoder, library.normalizer = own
        try:
            document = json.loads(library.to_str())
        finally:
            library.pre_tokenizer, library.decoder, library.normalizer = plugged
        whole = {**document, "model": self._model}
        return json.dumps(whole, ensure_ascii=False, separators=(",\n", ": "))

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_tokenizer", "_method", "_own", "_model"):
            del state[name]
        drawing = self._drawing.training, self._drawing.turn
        return {**state, "document": self._to_json(), "drawing": drawing}

    def __setstate__(self, state: dict[str, Any]) -> None:
        text, drawing = state.pop("document"), state.pop("drawing")
        self.__dict__.update(state)
        self._read(text)
        self._tokenizer.encode_special_tokens = self.split_special_tokens
        self._plug_in()
        self._drawing.training, self._drawing.turn = drawing

    def _save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        file_names: tuple[str, ...],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
    ) -> tuple[str, ...]:
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        name = BTE_FILE if self._model["type"] in ("BPE", "BTE") else METHOD_FILE
        path = Path(save_directory) / (prefix + name)
        partial = path.with_name(f"{path.name}.partial")  # the old one stays if the disk is full
        try:
            partial.write_text(self._to_json(), "utf-8")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        return (*file_names, str(path))

    def train_new_from_iterator(self, *_: Any, **__: Any) -> Any:
        """Not supported: the result of training would be of another method."""
        raise NotImplementedError("Train a BPE tokeniser, and edit its merges with morphgraph.")


def kernel_for(model: Mapping[str, Any]) -> Any:
    """Return a function that segments lists of pieces by kernels; None if not installed."""
    for kernels in entry_points(group="morphgraph.piece_kernels", name=KERNELS):
        with suppress(ImportError):
            return kernels.load()(model)
    return None


def _strings(texts: Any) -> Iterator[str]:
    """Yield the strings in nested lists."""
    if isinstance(texts, str):
        yield texts
    elif isinstance(texts, list | tuple):
        for each in texts:
            yield from _strings(each)
