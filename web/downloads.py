"""Tables to take away, in one row of buttons."""

from collections.abc import Callable, Mapping

import streamlit as st

_KINDS = {
    ".csv": ("CSV", "text/csv"),
    ".tex": ("LaTeX", "application/x-tex"),
    ".md": ("Markdown", "text/markdown"),
    ".html": ("Web page", "text/html"),
}


def downloads(files: Mapping[str, Callable[[], str | bytes]], note: str | None = None) -> None:
    """A button for each file, by its name; its content is made when it is pressed.

    ``note``: what the buttons give, as a tooltip.
    """
    with st.container(horizontal=True):
        for name, make in files.items():
            label, mime = _KINDS[name[name.rindex(".") :]]
            st.download_button(
                label,
                make,
                file_name=name,
                mime=mime,
                icon=":material/download:",
                key=f"download {name}",
                on_click="ignore",
                help=note,
            )
