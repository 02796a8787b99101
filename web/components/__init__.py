"""Streamlit components of our own: the merge graph, merge trees, the table of the comparison."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st


@cache
def component(name: str, file: str, before: str = "") -> Callable[..., Any]:
    """The component of the three files of a name here; ``before``: goes before its JavaScript."""
    html, css, js = (
        Path(__file__).with_name(f"{file}.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    made: Callable[..., Any] = st.components.v2.component(
        f"morphgraph.{name}", html=html, css=css, js=before + js
    )
    return made
