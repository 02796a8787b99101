"""Unpacking the archive of UniSegments, which people download themselves."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path
from typing import IO

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import new_folder
from morphgraph.core.limits import UNPACKING
from morphgraph.core.packed import decompressed, opened

_MEMBER = re.compile(
    r"(?:.*/)?(?P<set>[a-z]{3}-\w{1,40})/(?P<file>UniSegments-[\d.]{1,9}-(?P=set)\.useg|LICENSE\.TXT)",
    re.ASCII,
)
"""A data set's segmentations, or its licence; nothing else is unpacked, and to nowhere else."""
_ALLOWANCE = 10_000_000
"""An archive of any size may unpack to this many bytes."""


def unpack_unisegments(archive: Path, folder: Path) -> dict[str, Path]:
    """Unpack the data sets of an archive into a folder, and return the file of each, by name.

    The folder replaces an earlier one once all is there. `FileFormatError` if the archive is
    damaged, has no data set, or unpacks to far more than segmentations do.
    """
    name, found = str(archive), dict[str, Path]()
    with new_folder(folder, " with --out") as place, opened(archive, name) as file:
        stream = _Metered(file, name, archive.stat().st_size)
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:  # type: ignore[call-overload]
                for member in tar:
                    parts = _MEMBER.fullmatch(member.name)
                    # No link, and no file with holes, which are endless.
                    is_plain = member.isreg() and not member.issparse()
                    content = tar.extractfile(member) if parts and is_plain else None
                    if parts is None or content is None:
                        continue
                    target = Path(parts["set"], parts["file"])
                    (place / target).parent.mkdir(exist_ok=True)
                    with (place / target).open("wb") as copy:
                        shutil.copyfileobj(content, copy)
                    if target.suffix == ".useg":
                        found[parts["set"]] = folder / target
        except tarfile.TarError as error:
            problem = f"it is cut off, or no tar archive ({str(error)[:120]})"
            raise FileFormatError(name, "", problem, "Download it again.") from error
        if not found:
            fix = "Choose UniSegments-1.0-public.tar.gz."
            raise FileFormatError(name, "", "it has no data set of UniSegments", fix)
    return dict(sorted(found.items()))


class _Metered:
    """The content of an archive, decompressed up to a limit."""

    def __init__(self, file: IO[bytes], name: str, size: int) -> None:
        self.file, self.name, self.size = decompressed(file), name, size
        self.left = _ALLOWANCE + UNPACKING.value * size

    def read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            problem = f"it unpacks to more than {UNPACKING.value} times its {self.size:,} bytes"
            fix = f"Download it again, or set {UNPACKING.variable}."
            raise FileFormatError(self.name, "", problem, fix, quotes=False)
        return data
