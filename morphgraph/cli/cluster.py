"""Where a command's tasks run: on this machine, at a scheduler, or under SLURM."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from morphgraph.core.errors import MorphGraphError

SchedulerOption = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler instead, or its file.")
]
SlurmOption = Annotated[
    Path | None, typer.Option(help="SLURM instead: a YAML file with its profile.")
]
Opened = Callable[[], AbstractContextManager[Any]]


def check_one_place(workers: int | None, scheduler: str | None, slurm: Path | None) -> None:
    """Refuse more than one of these options."""
    if sum(option is not None for option in (workers, scheduler, slurm)) > 1:
        raise MorphGraphError(
            "Tasks run in one place. Give one of --workers, --scheduler and --slurm."
        )


def cluster_for(
    workers: int, scheduler: str | None, slurm: Path | None, memory: int | None = None
) -> tuple[AbstractContextManager[Any], Opened]:
    """What to hold while tasks run, and what opens a client for them.

    ``memory``: the most bytes of a worker on this machine.
    """
    from morphgraph.batch.cluster import at_address, local_cluster

    if slurm is not None:
        from morphgraph.batch.slurm import read_slurm_profile, slurm_cluster, slurm_role

        profile = read_slurm_profile(slurm)
        return slurm_role(profile), partial(slurm_cluster, profile)
    if scheduler is not None:
        return nullcontext(), partial(at_address, scheduler)
    return nullcontext(), partial(local_cluster, workers, memory)
