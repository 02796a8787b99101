"""Pictures from plain data: plotly figures, graph scenes and merge trees."""
