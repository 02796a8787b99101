"""Language models and their tokenisers: transplanting, training, under-trained types."""

from morphgraph.models.transplanting import transplant
from morphgraph.models.undertrained_types import undertrained

__all__ = ["transplant", "undertrained"]
