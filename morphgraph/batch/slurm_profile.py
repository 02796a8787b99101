"""How to get workers from SLURM: a profile, read from YAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from morphgraph.batch.yaml_reading import Strict, check, load_yaml
from morphgraph.core.files import read_bytes

_RUNNER_FIELDS = {"mode", "memory", "interface", "local_directory", "shared_directory"}


def walltime_seconds(walltime: str) -> int:
    """The seconds of a time limit as SLURM writes them; `ValueError` if it is not one.

    Minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
    days-hours:minutes:seconds (man page of sbatch, option --time).

    >>> walltime_seconds("90"), walltime_seconds("01:30:00"), walltime_seconds("1-12")
    (5400, 5400, 129600)
    """
    days, dash, rest = walltime.rpartition("-")
    parts = rest.split(":")
    if not re.fullmatch(r"(\d+-)?\d+(:\d\d?){0,2}", walltime, re.ASCII):
        raise ValueError(f"“{walltime}” is not a time limit. Write it as HH:MM:SS or D-HH:MM:SS")
    numbers = [int(part) for part in parts]
    if dash:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, [*numbers, 0][:2]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def _seconds(time: str) -> int:
    """The seconds of a number with its unit."""
    from dask.utils import parse_timedelta

    return round(parse_timedelta(time))


def _of_form(pattern: str, problem: str) -> AfterValidator:
    def check_form(text: str) -> str:
        if not re.fullmatch(pattern, text.strip(), re.ASCII):
            raise ValueError(f"“{text}” is no {problem}")
        return text

    return AfterValidator(check_form)


def _walltime(text: str) -> str:
    walltime_seconds(text)
    return text


Walltime = Annotated[str, AfterValidator(_walltime)]
Lifetime = Annotated[
    str,
    _of_form(
        r"\d+(\.\d+)?\s*(s|seconds?|m|minutes?|h|hours?|d|days?)",
        "time. Write a number and s, m, h or d, as in 55m",
    ),
]
Memory = Annotated[
    str,
    _of_form(
        r"(?=.*[1-9])\d+(\.\d+)?\s*[KMGT]i?B",
        "amount of memory. Write it as 8GB or 500MB",
    ),
]
Word = Annotated[str, Field(pattern=r"^[\w.,:@%+=/-]+$")]
Folder = Annotated[str, Field(pattern=r"^[\w./@%+=:~${}-]+$")]
Line = Annotated[str, Field(pattern=r"^[^\r\n]+$")]


class SlurmProfile(Strict):
    """How to get workers from SLURM.

    In mode ``cluster`` each job asks for `cores` and `memory` and starts `processes` workers (one
    a core by default); there are between `minimum_jobs` and `maximum_jobs` of them, as needed. In
    mode ``runner`` the allocation is made already, and the same command runs in all its tasks;
    `memory` is then what one worker may use.
    """

    mode: Literal["cluster", "runner"] = "cluster"
    queue: Word | None = None
    account: Word | None = None
    cores: int = Field(default=1, ge=1, le=10_000)
    processes: int | None = Field(default=None, ge=1, le=10_000)
    memory: Memory | None = None
    walltime: Walltime = "01:00:00"
    lifetime: Lifetime | None = None
    lifetime_stagger: Lifetime | None = None
    minimum_jobs: int = Field(default=0, ge=0, le=100_000)
    maximum_jobs: int = Field(default=1, ge=1, le=100_000)
    interface: Word | None = None
    local_directory: Folder | None = None
    log_directory: Folder | None = None
    shared_directory: Folder | None = None
    prologue: tuple[Line, ...] = Field(default=(), strict=False)
    directives: tuple[Line, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _fits_together(self) -> SlurmProfile:
        if self.mode == "runner":
            useless = sorted(self.model_fields_set - _RUNNER_FIELDS)
            if useless:
                named = ", ".join(useless)
                raise ValueError(f"mode runner has no {named}. Say that in the job's own script")
            return self
        if self.memory is None:
            raise ValueError("mode cluster needs memory. Add what one job may use, as in 8GB")
        if self.shared_directory is not None:
            raise ValueError("mode cluster has no shared_directory. Leave it out")
        if self.worker_processes > self.cores:
            raise ValueError(
                f"{self.processes} processes do not fit on {self.cores} cores. Ask for more cores"
            )
        if self.minimum_jobs > self.maximum_jobs:
            raise ValueError("minimum_jobs is more than maximum_jobs. Raise maximum_jobs")
        lifetime, stagger = self.lifetimes
        if stagger >= lifetime:
            raise ValueError("lifetime_stagger is as long as lifetime. Make it shorter")
        if lifetime + stagger >= walltime_seconds(self.walltime):
            raise ValueError(
                f"walltime {self.walltime} ends before workers have closed, after lifetime and "
                "lifetime_stagger. Make walltime longer or lifetime shorter"
            )
        return self

    @property
    def worker_processes(self) -> int:
        """Workers of one job."""
        return self.processes or self.cores

    @property
    def lifetimes(self) -> tuple[int, int]:
        """Seconds after which workers close, and how much sooner or later each may."""
        walltime = walltime_seconds(self.walltime)
        lifetime = _seconds(self.lifetime) if self.lifetime else int(0.9 * walltime)
        if self.lifetime_stagger is not None:
            return lifetime, _seconds(self.lifetime_stagger)
        return lifetime, min(int(0.05 * walltime), max(0, (walltime - lifetime) // 2))


def read_slurm_profile(path: Path) -> SlurmProfile:
    """Read a profile from YAML; `FileFormatError` with line and field of what does not fit."""
    name = str(path)
    content, lines = load_yaml(read_bytes(path), name)
    return check(SlurmProfile, content, lines, name)
