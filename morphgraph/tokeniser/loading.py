"""Load a BPE tokeniser from a file, a folder, uploaded files, or a demo by its name."""

import os
from collections.abc import Mapping
from pathlib import Path

from morphgraph.core.demos import demo_tokeniser_path
from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.files import check_is_there, read_bytes
from morphgraph.tokeniser.hugging_face import from_tokenizer_json, from_vocabulary_and_merges
from morphgraph.tokeniser.sentencepiece_models import from_sentencepiece, is_sentencepiece
from morphgraph.tokeniser.tokeniser import Tokeniser

_CHOICES = "Give a tokenizer.json, or vocab.json and merges.txt together."


def load_tokeniser(source: str | os.PathLike[str]) -> Tokeniser:
    """Load a BPE tokeniser from a file, a folder, or a demo by its name (``demo:en``).

    A file is a ``tokenizer.json``, a SentencePiece BPE model, or a ``vocab.json`` or ``merges.txt``
    with the other one beside it; a folder holds these. Errors: `FileFormatError`.
    """
    if str(source).startswith("demo:"):
        path = demo_tokeniser_path(str(source).removeprefix("demo:"))
        return from_tokenizer_json(read_bytes(path), str(source))
    check_is_there(source)
    *_, path = files = tokeniser_files(source)
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir, never raises
        raise FileFormatError(str(path), "", "the folder holds no tokeniser", _CHOICES)
    if path.suffix == ".txt":
        vocabulary = _vocabulary_beside(path)
        if len(files) == 1 and _lists_types(path):
            problem = "this is a list of types, which has no merges"
            raise NoMergesError(str(path), "", problem, "Choose a BPE tokeniser.")
        return from_vocabulary_and_merges(
            read_bytes(vocabulary), read_bytes(path), str(vocabulary), str(path)
        )
    return _from_one_file(read_bytes(path), str(path))


def tokeniser_files(source: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The files that a tokeniser is read from: one, or a ``vocab.json`` and its ``merges.txt``.

    A folder that holds none of them is given back as it is.
    """
    path = Path(source)
    if os.path.isdir(path):  # noqa: PTH112
        names = ("tokenizer.json", "tokeniser.bte.json", "vocab.json", "tokenizer.model")
        path = next((path / name for name in names if (path / name).is_file()), path)
    if path.suffix == ".txt":
        vocabulary = _vocabulary_beside(path)
        return (vocabulary, path) if os.path.isfile(vocabulary) else (path,)  # noqa: PTH113
    merges = path.with_name(path.name.replace("vocab", "merges")).with_suffix(".txt")
    if "vocab" in path.name and os.path.isfile(merges):  # noqa: PTH113 - no error if too long
        return path, merges
    return (path,)


def _from_one_file(data: bytes, name: str) -> Tokeniser:
    if is_released(data):
        problem = "this is a model of Picky BPE, which is not cut by its merges alone"
        raise NoMergesError(name, "", problem, "Choose a BPE tokeniser.")
    read = from_sentencepiece if is_sentencepiece(data, name) else from_tokenizer_json
    return read(data, name)


def _vocabulary_beside(merges: Path) -> Path:
    return merges.with_name(merges.name.replace("merges", "vocab")).with_suffix(".json")


def _lists_types(path: Path) -> bool:
    """Whether a text file has one type a line, and not two parts of a merge."""
    lines = [line for line in read_bytes(path).splitlines() if line.strip()]
    merges = sum(len(line.split(b" ")) == 2 for line in lines)
    return merges < len(lines) / 2


def load_uploaded_tokeniser(files: Mapping[str, bytes]) -> Tokeniser:
    """Load a BPE tokeniser from the contents of one or two uploaded files, by name.

    Errors: `FileFormatError`.
    """
    merges = [name for name in files if name.lower().endswith(".txt")]
    documents = [name for name in files if name not in merges]
    if len(documents) == 1 and not merges:
        return _from_one_file(files[documents[0]], documents[0])
    if len(documents) == 1 and len(merges) == 1:
        return from_vocabulary_and_merges(
            files[documents[0]], files[merges[0]], documents[0], merges[0]
        )
    listed = ", ".join(files) or "no file"
    raise FileFormatError(listed, "", "this is not one tokeniser", _CHOICES)


def is_released(data: bytes) -> bool:
    """Whether a file's content looks like a model that the trainer of Picky BPE's authors wrote."""
    fields = (b'"tokens"', b'"id2int"', b'"merges"', b'"splits"')
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return start == b"{" and all(name in data for name in fields)
