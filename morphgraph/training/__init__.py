"""Trainers, one per file, from word counts to a segmenter."""
