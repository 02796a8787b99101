"""What changes a tokeniser for the better: blame, knockout, annealing, reification, ReBPE."""
