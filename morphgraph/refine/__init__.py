"""Improvements of a tokeniser: blame, knockout, annealing, reification, ReBPE."""
