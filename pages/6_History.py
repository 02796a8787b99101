"""The edits made, to be undone, saved and replayed; and a link to export the edited tokeniser."""

import streamlit as st

from web.bootstrap import start
from web.history import edit_list, recipe_upload, save_buttons

current = start("History")
st.title("History")
edit_list(current)
save_buttons(current)
recipe_upload(current)
