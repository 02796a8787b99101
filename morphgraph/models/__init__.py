"""Language models on a new tokeniser: embeddings carried over, training, and what comes of it."""
