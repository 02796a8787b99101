"""A tokeniser for other programs: `tokenizers` and `transformers`, checked before it leaves."""
