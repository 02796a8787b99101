"""Methods of segmentation: one file each; `method` lists them by name."""
