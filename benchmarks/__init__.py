"""What the benchmarks share: real data, timing in turns, processes and their memory, the app."""

import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil

ROOT = Path(__file__).resolve().parent.parent
__path__ += map(str, ROOT.glob("plugins/*/benchmarks"))
GERMAN_BPE = "tokenizers/oscar-de-40k"
GERMAN_GOLD = "references/morphynet/deu.derivational.v1.tsv"
ENGLISH_GOLD = "references/sigmorphon2022/eng.word.dev.tsv"
HUNGARIAN_GOLD = "references/sigmorphon2022/hun.word.dev.tsv"
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Variables that keep the `tokenizers` library to one thread, if set before it is imported."""


def data(path: str) -> Path:
    """Return a file of the public data; exit with a message if their folder is missing."""
    folder = Path(os.environ.get("MORPHGRAPH_DATA", ROOT / ".." / "shared" / "data")).resolve()
    if not folder.is_dir():
        sys.exit("Set MORPHGRAPH_DATA to the folder of public data.")
    return folder / path


def in_turns(rounds: int, contestants: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of each contestant; one round more comes first."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds + 1):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(found[1:]) for name, found in seconds.items()}


def measured(command: Sequence[object], **environment: str) -> dict[str, Any]:
    """Run a command of ours; return the JSON that it prints last, and what the command took.

    ``seconds`` and ``cpu_seconds`` are those of all its processes, ``megabytes`` is the peak memory
    of the first, and ``together`` the largest sum over all: what each has to itself or shares in
    part (Pss), seen every 0.1 seconds. What the command prints under these names is kept.
    """
    started, before = time.perf_counter(), os.times()
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks = [0.0, 0.0]
    watching = threading.Thread(target=_watch, args=(process.pid, peaks))
    watching.start()
    printed, _ = process.communicate()
    seconds, after = time.perf_counter() - started, os.times()
    watching.join()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}.")
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    took = {"seconds": seconds, "cpu_seconds": used, "megabytes": peaks[0], "together": peaks[1]}
    printed_json = json.loads(printed[printed.index("{") :]) if "{" in printed else {}
    return {**took, "command_seconds": seconds, **printed_json}


def _watch(first: int, peaks: list[float]) -> None:
    """Keep the peak memory of a process, and of it with its descendants, until it has ended."""
    with suppress(psutil.Error, OSError):
        process = psutil.Process(first)
        while process.status() != psutil.STATUS_ZOMBIE:
            peaks[0] = max(peaks[0], peak_megabytes(first))
            total = 0.0
            for one in (process, *process.children(recursive=True)):
                with suppress(psutil.Error, OSError):
                    total += one.memory_full_info().pss / 1e6
            peaks[1] = max(peaks[1], total)
            time.sleep(0.1)


def peak_megabytes(process: int | str = "self") -> float:
    """Return a process's peak resident memory; unlike `ru_maxrss`, not that of its parent."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def apart(function: Callable[..., dict[str, Any]], *arguments: object, **environment: str) -> Any:
    """Run a function of a benchmark in a new process; return its result as `measured` does."""
    told = json.dumps([function.__module__, function.__name__, *arguments], default=str)
    return measured(["-m", "benchmarks", "apart", told], **environment)


@contextmanager
def running_app() -> Iterator[tuple[str, psutil.Process]]:
    """Run the app on a free port, without storing anything; yield its address and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "web" / "serve.py")]
    command += ["--server.headless", "true", "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none"]
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "MORPHGRAPH_STATE": state},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(300):
                with suppress(OSError), urlopen(f"{url}/_stcore/health", timeout=2):
                    break
                time.sleep(0.1)
            else:
                sys.exit("The app did not start.")
            yield url, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(timeout=10)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table; a column is its title, and how its numbers are written if need be.

    >>> table(["work", "seconds {:.2f}"], [("read", 0.1), ("write", "none")])
    | work  | seconds |
    | ----- | ------- |
    | read  | 0.10    |
    | write | none    |
    """
    titles, signs, forms = zip(*(column.partition(" {") for column in columns), strict=True)
    forms = [sign.strip() + form or "{}" for sign, form in zip(signs, forms, strict=True)]
    cells = [list(titles)]
    for row in rows:
        pairs = zip(row, forms, strict=True)
        cells.append([each if isinstance(each, str) else form.format(each) for each, form in pairs])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")


def processor() -> str:
    """Return the name of this machine's processor, and how many cores it has."""
    told: dict[str, str] = {}
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        told = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    model = told.get("model name") or platform.machine()
    family = f" (family {told['cpu family']})" if "cpu family" in told else ""
    return f"{model}{family}, {os.cpu_count()} cores"
