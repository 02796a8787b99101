"""What the segmenters of all methods have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from morphgraph.tokeniser.words import Segmenter

if TYPE_CHECKING:
    from morphgraph.tokeniser.export import Export


class MethodSegmenter(Segmenter):
    """A segmenter of a method that has an entry."""

    def export(
        self, folder: str | os.PathLike[str], *, words: Sequence[str] | None = None
    ) -> Export:
        """Write a folder that ``AutoTokenizer.from_pretrained`` loads.

        First its ids are compared with ours: on ``words``, or else on 10,000 common ones, and on
        sentences made of them. `MorphGraphError` if they differ. An earlier export in the folder is
        replaced; other files of the same names are set aside, which is a Python warning.
        """
        from morphgraph.segment.models import export_to

        return export_to(self, folder, words)
