"""Profiles and job scripts of SLURM, and real workers from stand-ins for its commands."""

import itertools
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import psutil
import pytest

from morphgraph.batch.slurm import (
    SlurmProfile,
    job_script,
    read_slurm_profile,
    slurm_cluster,
    walltime_seconds,
)
from morphgraph.core.errors import FileFormatError, MorphGraphError

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "evaluations" / "slurm"


def profile_file(folder: Path, text: str) -> Path:
    """A profile on disk."""
    file = folder / "profile.yaml"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


FULL = """\
    mode: cluster
    queue: batch
    account: lab-42
    cores: 4
    processes: 2
    memory: 8GiB
    walltime: 01:00:00
    lifetime: 55m
    lifetime_stagger: 4m
    minimum_jobs: 1
    maximum_jobs: 8
    interface: lo
    local_directory: $TMPDIR/workers
    prologue:
      - module load python
    directives:
      - --constraint=fast
    """


def test_the_job_script_says_what_the_profile_says(tmp_path: Path) -> None:
    lines = job_script(read_slurm_profile(profile_file(tmp_path, FULL))).splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert [line for line in lines if line.startswith("#SBATCH")] == [
        "#SBATCH -J morphgraph",
        "#SBATCH -p batch",
        "#SBATCH -A lab-42",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --mem=8G",
        "#SBATCH -t 01:00:00",
        "#SBATCH --constraint=fast",
    ]
    exports = [line for line in lines if line.startswith("export ")]
    assert "export OMP_NUM_THREADS=2" in exports and "export MORPHGRAPH_THREADS=2" in exports
    assert "export DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE=False" in exports
    assert lines.index("module load python") > lines.index(exports[-1])
    worker = lines[-1].split()
    assert worker[:4] == [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "tcp://scheduler:8786",
    ]
    options = dict(itertools.pairwise(worker))
    assert options["--nworkers"] == "2"
    assert options["--memory-limit"] == "4.00GiB"
    # The last one counts.
    assert options["--nthreads"] == "1"
    assert (options["--lifetime"], options["--lifetime-stagger"]) == ("3300s", "240s")
    assert options["--local-directory"] == "$TMPDIR/workers"
    assert options["--interface"] == "lo"


def test_the_job_script_is_one_that_a_shell_can_read(tmp_path: Path) -> None:
    file = tmp_path / "job.sh"
    file.write_text(job_script(read_slurm_profile(profile_file(tmp_path, FULL))))
    assert subprocess.run(["bash", "-n", str(file)], check=False).returncode == 0


def test_without_a_lifetime_workers_close_before_the_walltime_ends() -> None:
    assert SlurmProfile(memory="1GB", walltime="10:00:00").lifetimes == (32400, 1800)
    assert SlurmProfile(memory="1GB", walltime="01:00:00", lifetime="50m").lifetimes == (3000, 180)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30", 1800),
        ("90:05", 5405),
        ("02:00:00", 7200),
        ("1-0", 86400),
        ("1-2:30", 95400),
        ("2-00:00:07", 172807),
    ],
)
def test_time_limits_are_read_as_slurm_reads_them(written: str, seconds: int) -> None:
    assert walltime_seconds(written) == seconds


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("cores: 2\n", "line 1", "needs memory"),
        ("memory: 1GB\nmode: array\n", "line 2, field mode", "Use one of: cluster, runner"),
        ("memory: 1GB\nquue: a\n", "line 2, field quue", "did you mean “queue”?"),
        ("memory: lots\n", "line 1, field memory", "Write it as 8GB"),
        ("memory: 1GB\ncores: two\n", "line 2, field cores", "integer"),
        ("memory: 1GB\ncores: 0\n", "line 2, field cores", "greater than or equal to 1"),
        ("memory: 1GB\nwalltime: soon\n", "line 2, field walltime", "HH:MM:SS"),
        ("memory: 1GB\nlifetime: 55\n", "line 2, field lifetime", "string"),
        ("memory: 1GB\nlifetime: '55'\n", "line 2, field lifetime", "as in 55m"),
        ("memory: 1GB\nwalltime: 01:00:00\nlifetime: 2h\n", "line 1", "walltime 01:00:00 ends"),
        (
            "memory: 1GB\nwalltime: 01:00:00\nlifetime: 58m\nlifetime_stagger: 3m\n",
            "line 1",
            "walltime 01:00:00 ends before workers have closed",
        ),
        ("memory: 1GB\nlifetime: 5m\nlifetime_stagger: 6m\n", "line 1", "Make it shorter"),
        ("memory: 1GB\ncores: 2\nprocesses: 3\n", "line 1", "do not fit on 2 cores"),
        ("memory: 1GB\nminimum_jobs: 3\n", "line 1", "Raise maximum_jobs"),
        ('memory: 1GB\nqueue: "a\\nrm x"\n', "line 2, field queue", "pattern"),
        ('memory: 1GB\nqueue: "a\\n"\n', "line 2, field queue", "pattern"),
        ("memory: 1GB\nlocal_directory: /a; rm x\n", "line 2, field local_directory", "pattern"),
        ('memory: 1GB\ndirectives:\n  - "-x\\nrm y"\n', "line 3, field directives[0]", "pattern"),
        ("mode: runner\nqueue: batch\n", "line 1", "mode runner has no queue"),
        ("memory: [\n", "line", "not YAML"),
        ("", "", "empty"),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(
    tmp_path: Path, text: str, place: str, part: str
) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_slurm_profile(file)
    assert caught.value.file == str(file)
    assert caught.value.place.startswith(place)
    assert part in str(caught.value)


def test_a_profile_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        read_slurm_profile(tmp_path / "none.yaml")
    with pytest.raises(FileFormatError, match="it is a folder"):
        read_slurm_profile(tmp_path)


def test_the_examples_are_profiles_of_each_mode() -> None:
    cluster, runner = (read_slurm_profile(file) for file in sorted(EXAMPLES.glob("*.yaml")))
    assert (cluster.mode, cluster.lifetimes) == ("cluster", (3300, 240))
    assert (runner.mode, runner.shared_directory) == ("runner", "$HOME")


def test_without_dask_jobqueue_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    monkeypatch.setitem(sys.modules, "dask_jobqueue.slurm", None)
    with (
        pytest.raises(MorphGraphError, match=r"pip install 'morphgraph\[cluster\]'"),
        slurm_cluster(SlurmProfile(memory="1GB")),
    ):
        pass


def test_without_slurm_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(MorphGraphError, match="no command sbatch here"),
        slurm_cluster(SlurmProfile(memory="1GB")),
    ):
        pass


STAND_INS = {
    # Runs the job here; a folder of job scripts, and of the pids of those that run, by number.
    "sbatch": """\
        import pathlib, shutil, subprocess, sys
        folder = pathlib.Path(__file__).parent / "jobs"
        if "Q" in pathlib.Path(sys.argv[-1]).read_text().split("#SBATCH -p ")[1][:1]:
            sys.exit("sbatch: error: invalid partition specified: Q")
        if "--test-only" in sys.argv:
            sys.exit(0)
        number = len(list(folder.glob("*.sh"))) + 1
        job = folder / f"{number}.sh"
        shutil.copy(sys.argv[-1], job)
        with open(folder / f"{number}.out", "wb") as out:
            started = subprocess.Popen(
                ["bash", str(job)], stdout=out, stderr=out, start_new_session=True
            )
        (folder / f"{number}.pid").write_text(str(started.pid))
        print("Submitted batch job", number)
        """,
    "scancel": """\
        import os, pathlib, signal, sys
        job = pathlib.Path(__file__).parent / "jobs" / f"{sys.argv[1]}.pid"
        os.killpg(int(job.read_text()), signal.SIGTERM)
        """,
}


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of jobs of a stand-in for SLURM, which runs them on this machine."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    for name, text in STAND_INS.items():
        command = tmp_path / name
        command.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield folder
    for file in folder.glob("*.pid"):
        for process in _group(int(file.read_text())):
            process.kill()


def _group(leader: int) -> list[psutil.Process]:
    """The processes of a job."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (OSError, psutil.Error):
            continue
    return found


def small_profile(folder: Path, **changes: Any) -> SlurmProfile:
    """A profile for this machine."""
    given = {
        "queue": "batch",
        "memory": "1GB",
        "interface": "lo",
        "local_directory": str(folder),
        **changes,
    }
    return SlurmProfile(**given)


def test_tasks_run_in_jobs(tmp_path: Path, jobs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    profile = small_profile(tmp_path, maximum_jobs=2)
    with slurm_cluster(profile) as client:
        found = client.gather(client.map(lambda number: (number**2, os.getpid()), range(4)))
    assert [square for square, _ in found] == [0, 1, 4, 9]
    assert os.getpid() not in {pid for _, pid in found}
    submitted = (jobs / "1.sh").read_text()
    assert "#SBATCH -p batch\n" in submitted and "--lifetime 3240s" in submitted
    assert 1 <= len(list(jobs.glob("*.sh"))) <= 2
    end = time.monotonic() + 20
    leaders = [int(file.read_text()) for file in jobs.glob("*.pid")]
    while any(_group(leader) for leader in leaders):
        assert time.monotonic() < end, "jobs go on after the run"
        time.sleep(0.2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_corpus_is_measured_in_jobs(
    tmp_path: Path, jobs: Path, morphgraph: Callable[..., Any]
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "en.txt").write_text("the dogs run home\n")
    profile = f"""\
        queue: batch
        memory: 1GB
        interface: lo
        local_directory: {tmp_path}
        maximum_jobs: 1
        """
    measure = "vocabulary", "--corpus", tmp_path / "texts", "--json"
    found = morphgraph(*measure, "--slurm", profile_file(tmp_path, profile))
    assert all(line.startswith("measuring") for line in found.err.splitlines()), found.err
    assert found.json == morphgraph(*measure).json
    assert list(jobs.glob("*.sh"))


@pytest.mark.slow
def test_tasks_move_on_when_a_job_of_two_workers_ends(tmp_path: Path, jobs: Path) -> None:
    def long(number: int) -> tuple[int, int]:
        time.sleep(0.5)
        return number, os.getppid()

    profile = small_profile(
        tmp_path, cores=2, lifetime="5s", lifetime_stagger="1s", minimum_jobs=1, maximum_jobs=1
    )
    quick = {"distributed.deploy.lost-worker-timeout": "1s"}
    with dask.config.set(quick), slurm_cluster(profile) as client:
        futures = client.map(long, range(30), pure=False)
        # Results are fetched as they come; nobody needs the worker after that.
        finished = distributed.as_completed(futures, loop=client.loop)
        del futures
        found = sorted(future.result() for future in finished)
    assert [number for number, _ in found] == list(range(30))
    # A second job took over, which nobody had asked for by hand.
    assert len(list(jobs.glob("*.sh"))) >= 2
    assert len({parent for _, parent in found}) >= 2


def test_jobs_that_slurm_refuses_are_an_error_with_its_reason(tmp_path: Path, jobs: Path) -> None:
    with (
        pytest.raises(MorphGraphError, match="invalid partition specified: Q"),
        slurm_cluster(small_profile(tmp_path, queue="Q")),
    ):
        pass
    assert not list(jobs.glob("*.sh"))


RUNNER = """\
    import sys
    from pathlib import Path
    from morphgraph.batch.slurm import slurm_cluster, slurm_role
    from morphgraph.batch.slurm import SlurmProfile

    if __name__ == "__main__":
        profile = SlurmProfile(mode="runner", interface="lo", memory="1GB")
        with slurm_role(profile):
            with Path("went-on").open("a") as file:
                file.write("once\\n")
            if sys.argv[1] == "connect":
                with slurm_cluster(profile) as client:
                    print(client.gather(client.map(lambda number: number**2, range(5))))
    """


def run_step(folder: Path, tasks: int, argument: str) -> list[subprocess.CompletedProcess[str]]:
    """What srun does: the same command in several tasks that know their number."""
    file = folder / "step.py"
    file.write_text(textwrap.dedent(RUNNER))
    common = {**os.environ, "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": str(tasks)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(file), argument],
            cwd=folder,
            env={**common, "SLURM_PROCID": str(number)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(tasks)
    ]
    ended = []
    try:
        for process in processes:
            out, err = process.communicate(timeout=60)
            ended.append(subprocess.CompletedProcess([], process.returncode, out, err))
    finally:
        for process in processes:
            process.kill()
    return ended


@pytest.mark.slow
def test_in_an_allocation_one_task_goes_on_and_the_others_serve_it(tmp_path: Path) -> None:
    ended = run_step(tmp_path, 4, "connect")
    assert [(task.returncode, task.stdout, task.stderr) for task in ended] == [
        (0, "", ""),
        (0, "[0, 1, 4, 9, 16]\n", ""),
        (0, "", ""),
        (0, "", ""),
    ]
    assert (tmp_path / "went-on").read_text() == "once\n"
    assert not [*tmp_path.glob("*.json"), *tmp_path.glob("*.pem"), *tmp_path.glob("*.part")]


@pytest.mark.slow
def test_the_others_leave_when_nothing_is_left_to_do(tmp_path: Path) -> None:
    ended = run_step(tmp_path, 3, "nothing")
    assert [(task.returncode, task.stderr) for task in ended] == [(0, "")] * 3
    assert (tmp_path / "went-on").read_text() == "once\n"


def test_an_allocation_that_does_not_do_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = SlurmProfile(mode="runner")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    with pytest.raises(MorphGraphError, match="by srun"), slurm_cluster(profile):
        pass
    for name, value in {"JOB_ID": "7", "NTASKS": "2", "PROCID": "0"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    with pytest.raises(MorphGraphError, match="at least 3 tasks"), slurm_cluster(profile):
        pass


def test_an_interface_that_is_not_there_is_named(tmp_path: Path, jobs: Path) -> None:
    with (
        pytest.raises(MorphGraphError, match="'ib99' is not a valid network interface"),
        slurm_cluster(small_profile(tmp_path, interface="ib99")),
    ):
        pass
