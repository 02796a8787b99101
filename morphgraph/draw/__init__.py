"""Drawings made from plain data: plotly figures, graph scenes and merge trees.

Here are their colours, light and dark, how they are blended, and how a picture is saved.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file

Theme = Literal["light", "dark"]

#: The blame ratio's colours from 0 to 1 in equal steps, one scale for each theme: the higher the
#: blame, the further from the background. Lightness is monotone, so the scale survives greyscale.
BLAME_SCALE: Final[Mapping[Theme, tuple[str, ...]]] = {
    "light": ("#fff3cf", "#fed27f", "#fb9a4b", "#e0562f", "#a3122f"),
    "dark": ("#3a3420", "#5f4518", "#8a4414", "#b53a1c", "#d8263d"),
}

#: The other colours of a drawing, by role and theme.
SCENE_COLOURS: Final[Mapping[Theme, Mapping[str, str]]] = {
    "light": {
        "background": "#ffffff",
        "text": "#262730",
        "undefined": "#eceff3",  # fill where the blame ratio is undefined
        "line": "#aab2bf",  # edges and thin borders
        "changed": "#1668c7",
        "selected": "#7a3ff2",
    },
    "dark": {
        "background": "#0e1117",
        "text": "#fafafa",
        "undefined": "#2b303b",
        "line": "#596273",
        "changed": "#5ab4ff",
        "selected": "#c4a5ff",
    },
}


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the red, green and blue of a colour, 0 to 255.

    >>> rgb("#6078f0")
    (96, 120, 240)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def blended(first: str, second: str, share: float) -> str:
    """Return a mixture of two colours.

    >>> blended("#000000", "#ffffff", 0.5)
    '#808080'
    """
    parts = zip(rgb(first), rgb(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def blame_colour(ratio: float, theme: Theme) -> str:
    """Return the fill of a blame ratio; NaN is undefined.

    >>> blame_colour(0.0, "light"), blame_colour(float("nan"), "light")
    ('#fff3cf', '#eceff3')
    """
    if ratio != ratio:
        return SCENE_COLOURS[theme]["undefined"]
    scale = BLAME_SCALE[theme]
    place = min(1.0, max(0.0, ratio)) * (len(scale) - 1)
    step = min(len(scale) - 2, int(place))
    return blended(scale[step], scale[step + 1], place - step)


def ink_on(fill: str) -> str:
    """Return black or white, whichever is more legible on a fill (WCAG 2.1 luminance)."""
    linear = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in rgb(fill))
    )
    light = sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05
    return "#ffffff" if 1.05 / light > light / 0.05 else "#000000"


def save_picture(path: str | os.PathLike[str], suffix: str, picture: str) -> None:
    """Write a picture to a file, whose name must end in ``suffix``."""
    if Path(path).suffix != suffix:
        raise MorphGraphError(
            f"{path} does not end in {suffix}, the format of this picture. Add it."
        )
    write_file(Path(path), picture)
