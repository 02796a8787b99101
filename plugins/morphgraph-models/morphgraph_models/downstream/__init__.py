"""Downstream tasks: models that are trained on the tokens of a tokeniser, and measured."""
