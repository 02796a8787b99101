"""The central object: words, preprocessing, vocabulary, merges applied; every format in and out."""
