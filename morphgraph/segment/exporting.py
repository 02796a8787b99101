"""Export segmenters as folders that ``AutoTokenizer`` loads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.files import check_folder
from morphgraph.segment.registry import METHODS
from morphgraph.segment.segmenter import Segmenter
from morphgraph.standalone.bte import Merging
from morphgraph.tokeniser.export import (
    Export,
    ExportedModel,
    export_model,
    save_folder,
    standalone_class,
    words_to_check,
)
from morphgraph.tokeniser.export_settings import source_settings


def exported_model(segmenter: Segmenter) -> ExportedModel:
    """Return the exported model of a segmenter, with the classes of its method and those below.

    `MorphGraphError` for a method without such a class.
    """
    made = segmenter.exported(False)
    code, model, one = {}, made.document["model"], segmenter
    while model is not None:
        code[model["type"]] = _standalone(one)
        model, one = model.get("of"), one.below
    return replace(made, code=code)


def _standalone(segmenter: Segmenter) -> str:
    entry = METHODS.get(segmenter.method)
    if entry is None or not entry.standalone:
        those = ", ".join(entry.title for entry in METHODS.values() if entry.standalone)
        raise MorphGraphError(
            f"{segmenter.name} cannot be exported for transformers. Export one of: {those}."
        )
    return entry.standalone


def merging_class(type_: object) -> type[Merging] | None:
    """Return the plain-Python class of a merge-based model of this type, or None."""
    entry = METHODS.get("bpe" if type_ in ("BPE", "BTE") else str(type_))
    kind = standalone_class(entry.standalone) if entry is not None and entry.standalone else None
    return kind if kind is not None and issubclass(kind, Merging) else None


def export_segmenter(
    segmenter: Segmenter, words: Sequence[str], settings: Mapping[str, Any] | None = None
) -> Export:
    """Return a segmenter as the files of a folder, comparing its ids for ``words`` with ours.

    `MorphGraphError` for a method that cannot be exported, and if ids differ. ``settings``: see
    `export_settings.source_settings`.
    """
    return export_model(exported_model(segmenter), words, settings)


def export_to(
    segmenter: Segmenter, folder: str | os.PathLike[str], words: Sequence[str] | None = None
) -> Export:
    """Write a folder that ``AutoTokenizer.from_pretrained`` loads.

    First its ids are compared with ours: on ``words``, by default 10,000 common ones, and on
    sentences made of them. `MorphGraphError` if they differ. An earlier export in the folder is
    replaced; other files of the same names are set aside, with a Python warning.
    """
    if not os.fspath(folder):
        raise MorphGraphError("An export needs a folder. Name one, or write “.” for this one.")
    path = Path(folder)
    check_folder(path)
    given = [] if words is None else check_list(words, "words")
    name = segmenter.below.name
    made = export_segmenter(
        segmenter, given or words_to_check((), name=name), source_settings(name)
    )
    if warning := segmenter.warning():
        warnings.warn(warning, stacklevel=3)
    for name, aside in save_folder(made.files, path).items():
        warnings.warn(f"{name} was there already: it is now {aside}", stacklevel=3)
    return made
