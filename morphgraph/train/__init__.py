"""Trainers, one file each, from word counts to a segmenter."""
