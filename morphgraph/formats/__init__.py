"""Every file of a tokeniser, in and out."""
