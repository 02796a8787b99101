"""The optional libraries for training, and a guard against look-ups on a model hub."""

from __future__ import annotations

import hashlib
import json
import os
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from morphgraph.core.errors import MorphGraphError

_NEEDED = ("torch", "transformers", "accelerate", "sacrebleu")


def require_libraries() -> None:
    """Raise if a library for training is missing, and forbid look-ups on a model hub.

    `MorphGraphError` names what to install. Call this before the first import of transformers.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MorphGraphError(
            f"Training models needs libraries that are not installed: {', '.join(missing)}. "
            'Install them with pip install "morphgraph[models]".'
        )
    os.environ.update(dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"), "1"))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


STEPS_FILE = "steps.json"
"""The file beside checkpoints that records the progress of training."""


def steps_in(folder: Path) -> tuple[int, int] | None:
    """Return the steps done and the total in a training folder, None if unknown."""
    try:
        latest = max(folder.rglob(STEPS_FILE), key=lambda path: path.stat().st_mtime)
        done, total = json.loads(latest.read_text())
        return int(done), int(total)
    except (OSError, ValueError, TypeError):
        return None


def training_version() -> str:
    """Return a checksum of the training code and of the libraries that it uses."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for name in _NEEDED:
        try:
            digest.update(f"{name}=={version(name)}\n".encode())
        except PackageNotFoundError:
            digest.update(f"no {name}\n".encode())
    return digest.hexdigest()[:12]
