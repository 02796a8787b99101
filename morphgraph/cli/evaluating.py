"""The commands that run for long: evaluate, and app, which opens the app."""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli import output
from morphgraph.cli.options import with_options
from morphgraph.core.errors import MorphGraphError, require
from morphgraph.core.files import app_folder, configuration_path, shipped_configurations
from morphgraph.core.limits import PUBLIC_SECONDS, PUBLIC_UPLOAD
from morphgraph.core.system import lower_priority
from morphgraph.core.text import counted, duration

if TYPE_CHECKING:
    from morphgraph.batch.plan import Plan


@with_options
def evaluate(
    configuration: Annotated[str | None, typer.Argument()] = None,
    out: Path | None = None,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    languages: str | None = None,
    folder: Path | None = None,
    confined: bool = False,
    quick: bool = False,
    dry_run: bool = False,
    list_: bool = False,
    schema: bool = False,
    as_json: bool = False,
) -> None:
    """Run a full evaluation from one file: scores of a whole grid, and a report.

    Exit code 0: all is done; 1: some cells failed; 2: it cannot run; 130: stopped.

    configuration: A YAML file, or the name of one that ships; see --list.
    out: Folder of the run; one that was started before is resumed.
    workers: Processes on this machine; one a core by default.
    languages: Only these languages of the file, separated by commas.
    folder: Where relative paths in the file start; by default its own folder.
    confined: For untrusted configurations: read files in --folder only, within the limits of the
        public app.
    quick: A trial in minutes: one language, small inputs, and the ends of each grid.
    dry_run: Only show the plan and its estimated cost.
    list_: List the evaluations that ship, by name.
    schema: Print the JSON schema of configurations.
    """
    if schema:
        from morphgraph.batch.configuration import schema_text

        print(schema_text())
        return
    if list_:
        _print_shipped()
        return
    if configuration is None:
        raise MorphGraphError(
            "There is nothing to evaluate. Name a YAML file or an evaluation that ships (--list)."
        )
    chosen = None if languages is None else [name.strip() for name in languages.split(",")]
    if dry_run:
        from morphgraph.batch.plan import read_plan

        path = configuration_path(configuration)
        plan = read_plan(path, chosen, folder, confined=confined, quick=quick)
        _print_plan(plan, out, workers)
        return
    if out is None:
        raise MorphGraphError("The run needs a folder. Add --out DIR.")
    from morphgraph.api.functions import evaluate as run

    # What ran is no secret, but a server's paths are of no use to its visitors.
    arguments = ["evaluate", "configuration.yaml"] if confined else sys.argv[1:]
    with (
        _time_limit(out) if confined else nullcontext(),
        _stopping_on_request(out),
        output.progress_line() as tell,
    ):
        outcome = run(
            configuration,
            out,
            workers=workers,
            scheduler=scheduler,
            languages=chosen,
            folder=folder,
            confined=confined,
            quick=quick,
            progress=lambda now: tell(f"{now.state}: {now.summary()}", now.share, now.state),
            command=["morphgraph", *arguments],
        )
    if as_json:
        output.print_json(outcome.to_dict())
    else:
        print(outcome)
    sys.exit(130 if outcome.stopped else int(bool(outcome.failures)))


@contextmanager
def _time_limit(out: Path) -> Iterator[None]:
    """Lower this process's priority, and ask a run to stop after some seconds, saying why."""
    from threading import Timer

    from morphgraph.batch.run import stop_run

    seconds = PUBLIC_SECONDS.value
    why = f"It was stopped after {duration(seconds)}, the limit here. What is done is kept."
    timer = Timer(seconds, stop_run, (out, why))
    timer.daemon = True
    timer.start()
    lower_priority()
    try:
        yield
    finally:
        timer.cancel()


def _stopping_on_request(out: Path) -> AbstractContextManager[None]:
    """Let Ctrl-C or a termination signal stop a run resumably; twice ends it at once."""
    from morphgraph.batch.run import stop_path

    asked = False

    # It stays the handler: with Python's own, the program would end within seconds.
    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked or not stop_path(out).parent.is_dir():
            raise KeyboardInterrupt
        asked = True
        try:
            stop_path(out).touch()
        except OSError as error:  # as on a full disk
            raise KeyboardInterrupt from error
        output.print_message("stopping; press Ctrl-C again to end at once")

    return output.on_termination(ask, signal.SIGINT, signal.SIGTERM)


def _print_shipped() -> None:
    from morphgraph.batch.configuration import parse_evaluation

    rows = []
    for name, text in shipped_configurations().items():
        try:
            evaluation, _ = parse_evaluation(text, name)
        except MorphGraphError:  # what ships is valid where all that it names is installed
            rows.append([name, "", "needs a plug-in that is not installed"])
            continue
        title = evaluation.title or evaluation.name
        rows.append([name, f"{len(evaluation.languages):,}", title])
    output.print_table(["name", "languages", "what"], rows, {"what"})
    print("Run one with: morphgraph evaluate NAME --out DIR")


def _print_plan(plan: "Plan", out: Path | None, workers: int | None) -> None:
    from morphgraph.batch.cluster import Schedule
    from morphgraph.batch.store import Store

    tasks = plan.tasks
    missing = Schedule(tasks, Store(out or Path("no such folder")), None).missing
    left = {task.key for task in missing}
    rows = []
    for kind in dict.fromkeys(task.kind for task in tasks):
        of_kind = [task for task in tasks if task.kind == kind]
        to_do = [task for task in of_kind if task.key in left]
        cost = sum(task.cost for task in to_do)
        rows.append([kind, f"{len(of_kind):,}", f"{len(to_do):,}", duration(cost)])
    output.print_table(["tasks", "all", "to do", "may take"], rows, ())
    for why in plan.left_out:
        print(f"left out  {why}")
    for task in plan.cells:
        print(f"{'  to do' if task.key in left else '   done'}  {task.label}")
    count = min(workers or os.cpu_count() or 1, max(1, len(missing)))
    total = sum(task.cost for task in missing) / count
    print(
        f"{counted(len(plan.cells), 'cell')}; about {duration(total)} with "
        f"{counted(count, 'worker')} on one machine, as a rough guess"
    )


# ------------------------------------------------------------------------------ the app

_PORT = 8501


@with_options
def app(
    port: int | None = None,
    headless: bool = False,
    public: bool = False,
    address: str = "127.0.0.1",
    host: list[str] | None = None,
    allow_frame: bool = False,
) -> None:
    """Open the app in the browser, or with --public serve it to others: see docs/hosting.md.

    port: The port to listen on: 8501, or the next that is free.
    headless: Do not open a browser window.
    public: Serve many visitors, isolated from each other and this machine.
    address: The address to listen on; by default only this machine can connect.
    host: A name that visitors reach it by, as behind a proxy; may be repeated.
    allow_frame: Allow other web pages to show it in a frame.
    """
    require("The app", "streamlit", "pyvis")
    folder = app_folder()
    os.chdir(folder)
    # Everything else is in .streamlit/config.toml, which Streamlit reads from this folder.
    port = port or (_PORT if public else _free_port(address))  # the public port is the proxy's
    options = {"server.address": address, "server.port": port}
    # Else Streamlit checks for a screen, and installs for whoever seems to sit at this machine.
    if headless or public:
        options["server.headless"] = "true"
    if public:
        options["server.maxUploadSize"] = PUBLIC_UPLOAD.value
    asked = {"PUBLIC": "1" * public, "HOST": " ".join(host or ()), "ALLOW_FRAME": "1" * allow_frame}
    os.environ |= {f"MORPHGRAPH_{name}": value for name, value in asked.items() if value}
    shown = f"[{address}]" if ":" in address else address
    output.print_message(f"morphgraph: http://{shown}:{port} (Ctrl-C ends it)")
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "web" / "serve.py")]
    command += [item for name, value in options.items() for item in (f"--{name}", str(value))]
    os.execv(sys.executable, command)


def _free_port(address: str) -> int:
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in range(_PORT, _PORT + 100):
        # Bind like servers, so that remnants of a closed one's connections do not matter.
        with suppress(OSError), socket.create_server((address, port), family=kind):
            return port
    return _PORT
