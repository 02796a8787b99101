"""Tables to publish: CSV, LaTeX and Markdown."""
