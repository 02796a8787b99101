"""Open and decompress files packed by gzip, bzip2, xz or Zstandard."""

import bz2
import errno
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from morphgraph.core.errors import FileFormatError, require
from morphgraph.core.files import check_size
from morphgraph.core.limits import FILE_BYTES

ZIP_START = b"PK\x03\x04"
_STARTS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}


def compression_of(start: bytes) -> str:
    """Return a file's compression format, from its first bytes; ``""`` if there is none."""
    return next((name for sign, name in _STARTS.items() if start.startswith(sign)), "")


@contextmanager
def opened(place: Path | bytes, name: str) -> Iterator[IO[bytes]]:
    """Open a file, or its bytes, as it is stored; errors call it by ``name``."""
    try:
        with io.BytesIO(place) if isinstance(place, bytes) else place.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise gone(name) from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise  # what is written meanwhile has no room
        if isinstance(error, OSError) and error.strerror is not None:
            fix = "Check the file and its disk."
            raise FileFormatError(name, "", error.strerror.lower(), fix) from error
        problem = f"it is cut off or damaged ({str(error).lower()[:120]})"
        raise FileFormatError(name, "", problem, "Copy or download the file again.") from error


def unpacked(data: bytes, name: str) -> bytes:
    """Return the content of a file, decompressed if need be; what is too large is refused."""
    if compression_of(data[:6]):
        with opened(data, name) as file:
            data = decompressed(file).read(FILE_BYTES.value + 1)
    check_size(name, len(data))
    return data


def only_member(data: bytes, name: str) -> bytes:
    """Return the content of the only file in a zip archive; what is too large is refused."""
    with opened(data, name) as file:
        archive = zipfile.ZipFile(file)
        # macOS adds files of its own.
        names = [n for n in archive.namelist() if not n.endswith("/") and n[:9] != "__MACOSX/"]
        if len(names) != 1:
            problem = f"it is a zip archive or an Excel file of {len(names):,} files, not text"
            raise FileFormatError(name, "", problem, "Unpack it, and choose a file in it.")
        try:
            with archive.open(names[0]) as member:
                content = member.read(FILE_BYTES.value + 1)
        except (RuntimeError, NotImplementedError) as error:
            problem = f"the zip archive cannot be unpacked ({str(error)[:120]})"
            raise FileFormatError(name, "", problem, "Unpack it yourself.") from error
    check_size(name, len(content))
    return content


def decompressed(file: IO[bytes]) -> IO[bytes]:
    """Return the content of a file, which is at its start, decompressed if need be."""
    packing = compression_of(file.read(6))
    file.seek(0)
    if packing == "gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if packing == "bz2":
        return bz2.BZ2File(file)
    if packing == "xz":
        return lzma.LZMAFile(file)
    if packing == "zst":
        require("A text packed by Zstandard", "pyarrow")
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"))
    return file


def gone(name: str) -> FileFormatError:
    """Return the error for a file that was there before."""
    return FileFormatError(name, "", "it is not there any more", "Check the path.")
