"""The exported form of a segmenter, which its method makes and an export writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Words


@dataclass(frozen=True)
class ExportedModel:
    """The exported form of a segmenter, as its method makes it.

    ``name``, ``method``, ``signature``: of the segmenter. ``document``: laid out as
    ``tokenizer.json``; its field ``model`` is as the exported class reads it: ``type`` is a name in
    `exported.methods`, and ``vocab`` has the id of each type. ``plain``: that field as the
    `tokenizers` library reads it, if it may give the same ids. ``id_map``: old ids to new ones.
    ``reason``: why it has this form, unless `export_model` finds out. ``ids``: our ids of words, or
    of bare texts. ``files``: more files. ``differs``: one more comparison with ours, which
    describes any difference. ``tokeniser``: whose edits it has, if it segments by merges alone;
    ``encode``: words, or bare texts, as its atoms.
    """

    name: str
    method: str
    signature: str
    document: dict[str, Any]
    id_map: Mapping[int, int]
    reason: str
    ids: Callable[[Sequence[str], bool], list[list[int]]]
    plain: Mapping[str, Any] | None = None
    leading_space: bool = False
    symbols: Sequence[str] = ()
    merges: int = 0
    tuple_merges: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)
    differs: Callable[[Any, Any, Sequence[str]], str] | None = None
    code: Mapping[str, str] = field(default_factory=dict)
    tokeniser: BpeTokeniser | None = None
    encode: Callable[[tuple[str, ...], bool], Words] | None = None
