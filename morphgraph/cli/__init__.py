"""The command line: ``morphgraph score | blame | knockout | rebpe | prune | train | …``.

Results go to stdout (tables, or JSON with ``--json``), progress and warnings to stderr. Errors that
the user can fix exit with code 2 and one message.
"""

import errno
import gc
import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from morphgraph.cli.output import discard_output, print_message
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.plugins import Registry

_MODULES = {
    "morphgraph.cli.score": ("score", "compare"),
    "morphgraph.cli.refining": ("blame", "knockout", "rebpe", "prune", "extend"),
    "morphgraph.cli.using": ("segment", "vocabulary", "export"),
    "morphgraph.cli.train": ("train",),
    "morphgraph.cli.data": ("count", "reference"),
    "morphgraph.cli.evaluating": ("evaluate", "app"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
_CALLABLE: Any = Callable
_OF_PLUGINS = Registry("morphgraph.commands", _CALLABLE)


class _Commands(TyperGroup):
    """Our commands, each loaded when it is asked for, and those of plug-ins."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return [*_MODULE_OF, *(name for name in _OF_PLUGINS if name not in _MODULE_OF)]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        if cmd_name in _MODULE_OF:
            return _command(cmd_name, getattr(import_module(_MODULE_OF[cmd_name]), cmd_name))
        if cmd_name not in _OF_PLUGINS:
            return None
        command = _command(cmd_name, _OF_PLUGINS[cmd_name])
        command.rich_help_panel = "Commands of plug-ins"
        return command


def _command(name: str, made: Any) -> Any:
    """Return a function, or a `typer.Typer` with commands of its own, as a command."""
    if not isinstance(made, typer.Typer):
        function, made = made, typer.Typer(add_completion=False)
        made.command(name=name)(function)
    return typer.main.get_command(made)


program = typer.Typer(
    name="morphgraph",
    help="Look inside a BPE tokeniser, see where it cuts across morphemes, and knock out the "
    "merges that are to blame.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    cls=_Commands,
)


def _print_version(asked: bool) -> None:
    if asked:
        from morphgraph.core import __version__

        print(f"morphgraph {__version__}")
        raise typer.Exit


@program.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


_GRACE = 3.0
"""Seconds from Ctrl-C to the end of the program, whatever it is doing."""


@contextmanager
def _ends_when_interrupted() -> Iterator[None]:
    """Let Ctrl-C end the program even in a kernel, where Python cannot react to it.

    Commands that handle Ctrl-C themselves may take as long as they need.
    """
    if os.name != "posix":
        yield
        return
    usual, (heard, told) = signal.default_int_handler, os.pipe()
    os.set_blocking(told, False)

    def listen() -> None:
        with open(heard, "rb", 0) as signals:  # noqa: PTH123 - not a path
            while number := signals.read(1):
                if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is usual:
                    time.sleep(_GRACE)
                    os._exit(130)

    Thread(target=listen, daemon=True).start()
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(told)


def _run() -> None:
    """Run the command, and flush its output while errors can still be reported."""
    try:
        program(prog_name="morphgraph")
    except SystemExit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def main() -> None:
    """Run the command line; an error that the user can fix is one line and exit code 2."""
    # Types are arbitrary text; a terminal or pipe that cannot show one gets its code instead.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Loaded data are large and stay; repeated garbage collection of them is slow.
    gc.set_threshold(500_000, 10, 10)
    warnings.showwarning = lambda message, *about, **more: print_message(str(message))
    try:
        with _ends_when_interrupted():
            _run()
    except MorphGraphError as error:
        print_message(f"morphgraph: {error}")
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        discard_output(sys.stdout)
        print_message(
            "morphgraph: the output cannot be written: no space left. Make room, and run it again."
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
