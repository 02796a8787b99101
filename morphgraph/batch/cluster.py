"""Where tasks run: workers on this machine, a scheduler by its address, or jobs of SLURM."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from morphgraph.batch.local_cluster import at_address, local_cluster
from morphgraph.batch.slurm import slurm_cluster
from morphgraph.batch.slurm_profile import SlurmProfile, read_slurm_profile
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.threads import available_cores

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def open_cluster(
    *,
    workers: int | None = None,
    memory: int | None = None,
    scheduler: str | None = None,
    slurm: SlurmProfile | Path | None = None,
    scratch: Path | None = None,
) -> Generator[Client]:
    """Connect to where tasks run: SLURM if there is a profile, a scheduler if there is an address.

    Otherwise it is `workers` processes on this machine, one a core by default. `memory` (bytes of
    a worker) and `scratch` are for those only. `slurm` is a profile or its file. Errors: see
    `local_cluster`, `at_address` and `slurm.slurm_cluster`.
    """
    if slurm is not None and scheduler is not None:
        problem = f"tasks can run at {scheduler} or in jobs of SLURM, not both"
        raise MorphGraphError(f"{problem}. Leave out one of the two.")
    if slurm is not None:
        profile = read_slurm_profile(slurm) if isinstance(slurm, Path) else slurm
        chosen = slurm_cluster(profile)
    elif scheduler is not None:
        chosen = at_address(scheduler)
    else:
        chosen = local_cluster(workers or available_cores(), memory, scratch)
    with chosen as client:
        yield client
