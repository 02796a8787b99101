"""Byte-tuple encoding for `transformers`: BPE whose merges may have more than two parts.

``AutoTokenizer.from_pretrained(folder, trust_remote_code=True)`` loads it from the files beside it.
"""

import json
import os
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from .bte import Merging, load, plug_in

FILE = "tokeniser.bte.json"


class BTETokenizer(PreTrainedTokenizerFast):
    """A tokeniser of the `tokenizers` library with merging in Python, from one JSON file.

    The file is laid out as ``tokenizer.json``, but for merges of any number of parts.
    """

    vocab_files_names = {"bte_file": FILE}  # noqa: RUF012 - as the base class has it
    _tokenizer: Any

    def __init__(self, bte_file: str | None = None, **settings: Any) -> None:
        if bte_file is None:
            raise ValueError(f"The file {FILE} is missing. Download the whole folder again.")
        document = json.loads(Path(bte_file).read_text("utf-8"))
        # The base class copies a tokeniser that it is given; one that is there already, it keeps.
        self._tokenizer, merging = load(document)
        self._model: dict[str, Any] = document["model"]
        super().__init__(**settings)
        self._plug_in(merging)

    def _plug_in(self, merging: Merging) -> None:
        self._merging = merging
        self._own_pre_tokenizer = plug_in(self._tokenizer, merging)

    def _to_json(self) -> str:
        """The file again, with what was added since it was read; Python's part cannot be saved."""
        plugged = self._tokenizer.pre_tokenizer
        self._tokenizer.pre_tokenizer = self._own_pre_tokenizer
        try:
            document = json.loads(self._tokenizer.to_str())
        finally:
            self._tokenizer.pre_tokenizer = plugged
        return json.dumps({**document, "model": self._model}, ensure_ascii=False, indent=1)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_tokenizer", "_merging", "_own_pre_tokenizer", "_model"):
            del state[name]
        return {**state, "document": self._to_json()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        document = json.loads(state.pop("document"))
        self.__dict__.update(state)
        self._model = document["model"]
        self._tokenizer, merging = load(document)
        self._tokenizer.encode_special_tokens = self.split_special_tokens
        self._plug_in(merging)

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        """The ids of a text in which nothing is an added token, for chat templates."""
        library: Tokenizer = self._tokenizer
        if library.normalizer is not None:
            text = library.normalizer.normalize_str(text)
        own = self._own_pre_tokenizer
        pieces = [text] if own is None else [piece for piece, _ in own.pre_tokenize_str(text)]
        return [token.id for piece in pieces for token in self._merging(piece)]

    def _save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        file_names: tuple[str, ...],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
    ) -> tuple[str, ...]:
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        path = Path(save_directory) / (prefix + FILE)
        path.write_text(self._to_json(), "utf-8")
        return (*file_names, str(path))

    def train_new_from_iterator(self, *_: Any, **__: Any) -> Any:
        """Not possible: the result of training would have pairs only."""
        raise NotImplementedError("Train a BPE tokeniser, and edit its merges with morphgraph.")
