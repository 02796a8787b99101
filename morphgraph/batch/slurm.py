"""Workers on a cluster that SLURM manages: as jobs that come and go, or within one allocation.

A profile says which, and with what; it is read from YAML.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from morphgraph.batch.cluster import (
    COMMON_SETTINGS,
    close_http,
    connected,
    quiet,
    silencing_variables,
    wait_for_worker,
    worker_environment,
)
from morphgraph.batch.yaml_reading import LIFETIME, MEMORY, WALLTIME, Strict, check, load_yaml
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import read_bytes

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

# ------------------------------------------------------------------------------ profiles

_RUNNER_FIELDS = {"mode", "memory", "interface", "local_directory", "shared_directory"}


def walltime_seconds(walltime: str) -> int:
    """The seconds of a time limit as SLURM writes them.

    Minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
    days-hours:minutes:seconds (man page of sbatch, option --time).

    >>> walltime_seconds("90"), walltime_seconds("01:30:00"), walltime_seconds("1-12")
    (5400, 5400, 129600)
    """
    days, dash, rest = walltime.rpartition("-")
    numbers = list(map(int, rest.split(":")))
    if not dash and len(numbers) < 3:
        numbers.insert(0, 0)  # without days and hours it begins with minutes
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


Walltime = Annotated[str, Field(pattern=WALLTIME)]
Lifetime = Annotated[str, Field(pattern=LIFETIME)]
Memory = Annotated[str, Field(pattern=MEMORY)]
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
        from dask.utils import parse_timedelta

        walltime = walltime_seconds(self.walltime)
        lifetime = round(parse_timedelta(self.lifetime)) if self.lifetime else int(0.9 * walltime)
        if self.lifetime_stagger is not None:
            return lifetime, round(parse_timedelta(self.lifetime_stagger))
        return lifetime, min(int(0.05 * walltime), max(0, (walltime - lifetime) // 2))


def read_slurm_profile(path: Path) -> SlurmProfile:
    """Read a profile from YAML; `FileFormatError` with line and field of what does not fit."""
    name = str(path)
    content, lines = load_yaml(read_bytes(path), name)
    return check(SlurmProfile, content, lines, name)


# ------------------------------------------------------------------------------ jobs

_OF_JOBS = {"queue", "account", "cores", "memory", "walltime", "interface"}
_OF_JOBS |= {"local_directory", "log_directory"}
"""Fields of a profile that dask-jobqueue has by the same name."""
_ASK_SLURM = 60
_START = 300
_LAST_WORKERS = 60
_TRIES = 3


def job_script(profile: SlurmProfile) -> str:
    """What is handed to sbatch, but for the address of the scheduler and the worker's name."""
    import dask

    _needs_jobqueue()
    from dask_jobqueue.slurm import SLURMJob

    with dask.config.set(COMMON_SETTINGS):
        options = _job_options(profile)
        return str(SLURMJob("tcp://scheduler:8786", name="morphgraph", **options).job_script())  # type: ignore[no-untyped-call]


@contextmanager
def slurm_cluster(profile: SlurmProfile) -> Generator[Client]:
    """Connect to workers that SLURM runs, as a profile says.

    In mode ``cluster`` this comes back at once, while jobs wait in the queue. `MorphGraphError`
    without dask-jobqueue, without SLURM, or if SLURM does not accept such jobs.
    """
    _needs_jobqueue()
    with _jobs(profile) if profile.mode == "cluster" else _allocation(profile) as client:
        yield client


def _needs_jobqueue() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue.slurm  # noqa: F401
    except ImportError as error:
        problem = "Jobs of SLURM need the package dask-jobqueue, which is not installed"
        raise MorphGraphError(f"{problem}. Run: pip install 'morphgraph[cluster]'") from error
    finally:
        # Its import takes Ctrl-C for itself.
        with suppress(ValueError, TypeError):
            signal.signal(signal.SIGINT, before)


def _job_options(profile: SlurmProfile) -> dict[str, Any]:
    """The profile in the words of dask-jobqueue."""
    lifetime, stagger = profile.lifetimes
    exports = worker_environment(profile.cores // profile.worker_processes)
    for key, value in COMMON_SETTINGS.items():
        if ".worker." in key:  # dask reads settings of workers from such variables
            exports["DASK_" + key.replace(".", "__").replace("-", "_").upper()] = str(value)
    arguments = ["--nthreads", "1", "--no-dashboard"]
    arguments += ["--lifetime", f"{lifetime}s", "--lifetime-stagger", f"{stagger}s"]
    return {
        **profile.model_dump(include=_OF_JOBS),
        "processes": profile.worker_processes,
        "job_name": "morphgraph",
        "python": shlex.quote(sys.executable),
        "worker_extra_args": arguments,
        "job_extra_directives": list(profile.directives),
        "job_script_prologue": [
            *(f"export {name}={shlex.quote(value)}" for name, value in exports.items()),
            *profile.prologue,
        ],
    }


def _scheduler_options(profile: SlurmProfile) -> dict[str, Any]:
    return {"dashboard": False, "dashboard_address": ":0", "interface": profile.interface}


@contextmanager
def _jobs(profile: SlurmProfile) -> Generator[Client]:
    """Workers in jobs that come and go."""
    import dask
    from distributed import Client
    from distributed.security import Security

    _check_accepted(profile)
    with ExitStack() as stack:
        stack.enter_context(quiet())
        stack.enter_context(dask.config.set(COMMON_SETTINGS))
        try:
            cluster = _cluster_class()(
                **_job_options(profile),
                silence_logs=logging.CRITICAL,
                scheduler_options=_scheduler_options(profile),
                # Jobs read it from files that they and their owner alone can read.
                security=Security.temporary(),  # type: ignore[no-untyped-call]
                shared_temp_directory=profile.shared_directory or str(Path.cwd()),
            )
        except (OSError, RuntimeError, ValueError) as error:
            problem = f"The scheduler for jobs of SLURM does not start ({error})"
            raise MorphGraphError(
                f"{problem}. Check interface and shared_directory of the profile."
            ) from error
        stack.enter_context(cluster)
        client: Client = stack.enter_context(Client(cluster, set_as_default=False))  # type: ignore[no-untyped-call]
        close_http(client)
        cluster.adapt(
            minimum_jobs=profile.minimum_jobs,
            maximum_jobs=profile.maximum_jobs,
            # Tasks take minutes, so as many jobs as there may be, and none given back too soon.
            target_duration="1s",
            wait_count=30,
            # A job is only given back as a whole.
            worker_key=_job_of if profile.worker_processes > 1 else None,
        )
        yield client


def _job_of(worker: Any) -> str:
    """The name of the job of several workers that one is in."""
    return str(worker.name).rpartition("-")[0]


def _check_accepted(profile: SlurmProfile) -> None:
    """Ask SLURM whether it would take such a job."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        problem = "There is no command sbatch here, so no jobs of SLURM can be started"
        raise MorphGraphError(f"{problem}. Run this on a login node of the cluster.")
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as script:
        script.write(job_script(profile))
        script.flush()
        try:
            asked = subprocess.run(
                [sbatch, "--test-only", script.name],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_ASK_SLURM,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            problem = f"SLURM does not answer within {_ASK_SLURM} s"
            raise MorphGraphError(f"{problem}. Try again later.") from error
        except OSError as error:
            problem = f"{sbatch} cannot be run ({error.strerror})"
            raise MorphGraphError(f"{problem}. Check the installation of SLURM.") from error
    if asked.returncode != 0:
        said = " ".join((asked.stderr or asked.stdout).split())[:500] or "no reason given"
        problem = f"SLURM does not accept jobs of this profile: {said}"
        raise MorphGraphError(f"{problem.rstrip('.')}. Correct the profile.")


@functools.cache
def _cluster_class() -> Any:
    """SLURMCluster that submits again what was refused for a moment, and jobs that ended."""
    import dask
    from dask_jobqueue.slurm import SLURMCluster, SLURMJob

    class PatientJob(SLURMJob):
        async def _submit_job(self, script_filename: str) -> str:
            for attempt in range(1, _TRIES):
                with suppress(RuntimeError):
                    return str(await super()._submit_job(script_filename))  # type: ignore[no-untyped-call]
                await asyncio.sleep(5 * attempt)
            return str(await super()._submit_job(script_filename))  # type: ignore[no-untyped-call]

    class RefillingCluster(SLURMCluster):
        job_cls = PatientJob

        def _update_worker_status(self, op: str, msg: Any) -> None:
            gone = self.scheduler_info["workers"][msg]["name"] if op == "remove" else ""
            super()._update_worker_status(op, msg)  # type: ignore[no-untyped-call]
            name = str(gone).rpartition("-")[0]
            if name in self.workers and "group" in self.worker_spec.get(name, {}):
                wait = dask.config.get("distributed.deploy.lost-worker-timeout")
                seconds = dask.utils.parse_timedelta(wait)
                loop = asyncio.get_running_loop()
                loop.call_later(seconds, self._forget, name, self.workers[name])

        def _forget(self, name: str, job: Any) -> None:
            """Let a job of several workers be replaced once all of them are gone."""
            spec = self.worker_spec.get(name, {})
            members = {f"{name}{suffix}" for suffix in spec.get("group", ())}
            here = {str(known["name"]) for known in self.scheduler_info["workers"].values()}
            # Another job may have taken its place, for another worker that was lost.
            if self.workers.get(name) is job and not members & here:
                closing: Any = self.workers.pop(name)
                self._futures.add(asyncio.ensure_future(closing.close()))

    return RefillingCluster


# ------------------------------------------------------------------------------ one allocation


class _Role:
    """The role of this process within its allocation; it has one for good."""

    runner: Any = None
    security: Security | None = None


@contextmanager
def slurm_role(profile: SlurmProfile) -> Generator[None]:
    """In mode ``runner``: go on in one process only, and serve in all others until it is done.

    Put it around anything that only one process may do, `slurm_cluster` included. The others are
    scheduler and workers: they leave by `SystemExit` when the one that goes on leaves this block.
    """
    if profile.mode != "runner" or _Role.runner is not None:
        yield
        return
    _needs_jobqueue()
    runner = _Role.runner = _start_runner(profile)
    try:
        yield
    finally:
        with quiet(), suppress(Exception):
            _dismiss(runner)


def _dismiss(runner: Any) -> None:
    """End scheduler and workers; first all workers have to be there to hear it."""
    address = str(runner.scheduler_address)
    deadline = time.monotonic() + _LAST_WORKERS
    try:
        with connected(address, address, _LAST_WORKERS, _Role.security) as client:
            client.wait_for_workers(runner.world_size - 2, _LAST_WORKERS)
            # A worker is known some time before the nanny that started it has its answer.
            while time.monotonic() < deadline:
                states = client.run(lambda dask_worker: dask_worker.status.name, nanny=True)
                if {*states.values()} == {"running"}:
                    return
                time.sleep(0.1)
    finally:
        runner.close()


@contextmanager
def _allocation(profile: SlurmProfile) -> Generator[Client]:
    """Workers in the other tasks of this step of a job."""
    with slurm_role(profile), quiet():
        address = str(_Role.runner.scheduler_address)
        with connected(address, address, _START, _Role.security) as client:
            wait_for_worker(client, address, _START)
            yield client


def _start_runner(profile: SlurmProfile) -> Any:
    import dask
    from dask_jobqueue.slurm import SLURMRunner
    from distributed.core import rpc

    file = _scheduler_file(profile)
    number = int(os.environ["SLURM_PROCID"])
    security = _Role.security = _credentials(file.with_suffix(".pem"), makes=number == 0)
    if number == 1:
        _wait_for_file(file)
    # A scheduler whose client is gone ends by itself.
    settings = {**COMMON_SETTINGS, "distributed.scheduler.idle-timeout": "30 minutes"}
    handler = signal.getsignal(signal.SIGINT)
    with quiet(), dask.config.set(settings):
        if number != 1:
            # This process only serves: it says nothing, and its end comes as Ctrl-C.
            logging.disable(logging.CRITICAL)
            os.environ.update(silencing_variables())
            signal.signal(signal.SIGINT, lambda *_: sys.exit())
        runner = SLURMRunner(  # type: ignore[no-untyped-call]
            # Braces are its own placeholders.
            scheduler_file=str(file).replace("{", "{{").replace("}", "}}"),
            scheduler_options={
                **_scheduler_options(profile),
                "protocol": "tls",
                "security": security,
            },
            worker_class="distributed.nanny.Nanny",
            worker_options={
                "nthreads": 1,
                "protocol": "tls",
                "security": security,
                "memory_limit": profile.memory,
                "local_directory": profile.local_directory,
                "interface": profile.interface,
                "death_timeout": _START,
                "env": worker_environment(1),
                "silence_logs": logging.CRITICAL,
            },
        )
    signal.signal(signal.SIGINT, handler)
    # It has one without credentials, to end the scheduler by.
    arguments = security.get_connection_args("client")  # type: ignore[no-untyped-call]
    ender: Any = rpc(runner.scheduler_address, connection_args=arguments)  # type: ignore[no-untyped-call]
    runner.scheduler_comm = ender
    return runner


def _credentials(file: Path, *, makes: bool) -> Security:
    """What all tasks of a step know each other by: one of them makes it, for its owner alone."""
    from distributed.security import Security

    if makes:
        made = Security.temporary()  # type: ignore[no-untyped-call]
        text = f"{made.tls_scheduler_key}{made.tls_scheduler_cert}"
        atexit.register(file.unlink, missing_ok=True)
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(text)
        part.rename(file)  # whoever sees it sees all of it
    _wait_until(file.is_file, file)
    names = ("tls_ca_file", "tls_scheduler_cert", "tls_worker_cert", "tls_client_cert")
    return Security(require_encryption=True, **dict.fromkeys(names, str(file)))  # type: ignore[no-untyped-call]


def _scheduler_file(profile: SlurmProfile) -> Path:
    """Where the scheduler writes its address: a name of its own for each step and restart."""
    try:
        tasks, number, job = (
            int(os.environ[name]) for name in ("SLURM_NTASKS", "SLURM_PROCID", "SLURM_JOB_ID")
        )
    except (KeyError, ValueError) as error:
        problem = f"Mode runner needs the variable {error.args[0]}, which srun sets"
        raise MorphGraphError(f"{problem}. Start the command by srun within a job.") from error
    if tasks < 3:
        problem = (
            f"Mode runner needs at least 3 tasks (scheduler, evaluation, workers), not {tasks}"
        )
        raise MorphGraphError(f"{problem}. Use srun --ntasks with 3 or more.")
    step, restart = (os.environ.get(f"SLURM_{name}", "0") for name in ("STEP_ID", "RESTART_COUNT"))
    folder = Path(os.path.expandvars(profile.shared_directory or ".")).expanduser().absolute()
    if not folder.is_dir():
        problem = f"the folder {folder} for the scheduler's address is not there"
        raise MorphGraphError(f"Task {number}: {problem}. Correct shared_directory.")
    return folder / f"morphgraph-scheduler-{job}-{step}-{restart}.json"


def _wait_for_file(file: Path) -> None:
    """Wait until the scheduler has written its address in full."""

    def is_whole() -> bool:
        with suppress(OSError, ValueError):
            json.loads(file.read_text(encoding="utf-8"))
            return True
        return False

    _wait_until(is_whole, file)


def _wait_until(is_there: Callable[[], bool], file: Path) -> None:
    """Wait for what the scheduler writes to a file."""
    deadline = time.monotonic() + _START
    while not is_there():
        if time.monotonic() > deadline:
            problem = f"The scheduler has not written {file} within {_START} s"
            fix = "Name a folder that all nodes see as shared_directory."
            raise MorphGraphError(f"{problem}. {fix}")
        time.sleep(0.2)
