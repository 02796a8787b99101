"""What a notebook imports by `import morphgraph as mg`: one class, `Tokeniser`, and functions."""
