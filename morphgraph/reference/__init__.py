"""Gold segmentations: one reader per format, alignment, detection."""
