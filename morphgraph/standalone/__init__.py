"""Plain Python that ships, file by file, in exported folders; it imports nothing of ours."""
