"""Drawings made from plain data: plotly figures, graph scenes and merge trees."""
