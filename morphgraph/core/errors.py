"""The one exception base of the library, and the error of a file that cannot be used."""


class MorphGraphError(Exception):
    """Anything that went wrong in a way the user can act on.

    Half characters in the message, from the name or content of a file, are shown by their code.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))


class FileFormatError(MorphGraphError):
    """A file that cannot be read as what it should be.

    The message names the file, the place in it, what is wrong and what to do:

    >>> print(FileFormatError("gold.tsv", "line 3", "the word is empty", "Remove the line."))
    gold.tsv, line 3: the word is empty. Remove the line.
    """

    def __init__(self, file: str, place: str, problem: str, fix: str) -> None:
        self.file, self.place, self.problem, self.fix = file, place, problem, fix
        where = f"{file}, {place}" if place else file
        super().__init__(f"{where}: {problem}. {fix}")


class NoMergesError(FileFormatError):
    """A tokeniser or vocabulary that is sound, but has no merges, where these are needed."""
