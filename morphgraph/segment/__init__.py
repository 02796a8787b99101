"""The segmentation methods, and their registry."""
