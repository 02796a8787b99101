"""What can stand in the file of an evaluation, to look up while one edits it."""

from __future__ import annotations

import streamlit as st

from web.batch_fields import parts_of_file
from web.session import remembered
from web.text import plain


def what_can_stand_here() -> None:
    """A part of the file to choose, and its fields."""
    with st.expander("Configuration reference", icon=":material/help:"):
        parts = parts_of_file()
        with remembered(batch_part=next(iter(parts))):
            part = st.selectbox("Part of the file", list(parts), key="batch_part")
        meaning, fields = parts[part]
        st.caption(plain(meaning))
        st.dataframe(
            {
                "field": [field.name for field in fields],
                "what can stand there": [field.values for field in fields],
                "if left out": [field.default for field in fields],
                "meaning": [field.meaning for field in fields],
            },
            hide_index=True,
            height=38 + 35 * min(len(fields), 12),
            key=f"batch fields {part}",
            column_config={
                "field": st.column_config.TextColumn(width=150, pinned=True),
                "what can stand there": st.column_config.TextColumn(width=300),
                "if left out": st.column_config.TextColumn(width=150),
                "meaning": st.column_config.TextColumn(width=400),
            },
        )
