"""Writing a file, with an error that says what to do."""

from pathlib import Path

from morphgraph.core.errors import MorphGraphError


def write_file(path: Path, data: bytes) -> None:
    """Write a file, and the folders above it; `MorphGraphError` if that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        problem = (error.strerror or "it cannot be written").lower()
        raise MorphGraphError(f"{path}: {problem}. Choose another place.") from error
