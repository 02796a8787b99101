"""Streamlit components of our own: the merge graph, merge trees, the table of the comparison."""
