"""Plain Python that ships, file by file, inside exported folders; it imports nothing of ours."""
