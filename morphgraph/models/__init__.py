"""Language models and their tokenisers: transplanting, training, under-trained types."""
