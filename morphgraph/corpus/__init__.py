"""Word counts from files, text of any size and wordfreq, and the pipelines that prepare words."""
