"""How a word comes to be segmented, merge by merge, now and before edits."""

import streamlit as st

from web.bootstrap import start
from web.tree_page import tree_page

current = start("Merge tree")
st.title("Merge tree")
tree_page(current)
