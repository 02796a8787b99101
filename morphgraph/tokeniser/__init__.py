"""Tokenisers: words, preprocessing, vocabulary, merges, and file formats."""
