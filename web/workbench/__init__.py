"""The Workbench: a text, a word or a type in one picture, and a panel with one button."""
