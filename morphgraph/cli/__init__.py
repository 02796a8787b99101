"""The command line: ``morphgraph score | blame | knockout | rebpe | prune | train | …``.

Results go to stdout (tables, or JSON with ``--json``), progress and warnings to stderr. Errors that
the user can fix exit with code 2 and one message.
"""

import ast
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
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from morphgraph.cli.output import discard_output, print_message
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.plugins import Registry

_CALLABLE: Any = Callable
COMMANDS = Registry("morphgraph.commands", _CALLABLE)
"""All commands, by functions, or by a `typer.Typer` with commands of its own."""


class _Commands(TyperGroup):
    """All commands: each is loaded when it is asked for, and none to list them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS.places]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = COMMANDS.get(cmd_name)
        if command is not None and not isinstance(command, typer.Typer):
            function, command = command, typer.Typer(add_completion=False)
            command.command(name=cmd_name)(function)
        return command and typer.main.get_command(command)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in COMMANDS.places and args[0] not in COMMANDS:
            raise typer.Exit(2)  # as the warning that says why is all that there is to say
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        summaries = ((name, self._summary(name, place)) for name, place in COMMANDS.places.items())
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, summary in summaries if summary])

    def _summary(self, name: str, place: str) -> str:
        """Return the first line of a command's docstring; "" if the command cannot be loaded."""
        module = find_spec(place.partition(":")[0])
        source = Path(module.origin).read_bytes() if module and module.origin else b""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return (ast.get_docstring(node) or "").partition("\n")[0]
        command = self.get_command(None, name)
        return command.help if command else ""


program = typer.Typer(
    name="morphgraph",
    help="Look inside a BPE tokeniser, see where it cuts across morphemes, and knock out the "
    "merges that are to blame.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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
