"""What is copied, file by file, into the folder of an exported tokeniser."""
