"""Where the tasks of a command run: on this machine, or at a scheduler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Annotated, Any

import typer

from morphgraph.core.errors import MorphGraphError

SchedulerOption = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler instead, or its file.")
]


def check_one_place(workers: int | None, scheduler: str | None) -> None:
    """Refuse both options together."""
    if workers is not None and scheduler is not None:
        raise MorphGraphError("Tasks run in one place. Give one of --workers and --scheduler.")


def cluster_for(
    workers: int, scheduler: str | None, memory: int | None = None
) -> Callable[[], AbstractContextManager[Any]]:
    """Return a function that opens a client; ``memory``: bytes per worker on this machine."""
    from morphgraph.batch.cluster import at_address, local_cluster

    if scheduler is not None:
        return partial(at_address, scheduler)
    return partial(local_cluster, workers, memory)
