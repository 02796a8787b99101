"""The page Build: training and whole evaluations."""
