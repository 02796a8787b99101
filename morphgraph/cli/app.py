"""The command that opens the app."""

import os
import socket
import sys
from contextlib import suppress
from typing import Annotated

import typer

from morphgraph.cli.output import print_message
from morphgraph.core.errors import require
from morphgraph.core.files import app_folder
from morphgraph.core.limits import PUBLIC_UPLOAD

_PORT = 8501


def open_app(
    port: Annotated[
        int | None,
        typer.Option(help="The port to listen on: 8501, or the next that is free."),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Do not open a browser window.")
    ] = False,
    public: Annotated[
        bool,
        typer.Option(
            "--public", help="Serve many visitors, isolated from each other and this machine."
        ),
    ] = False,
    address: Annotated[
        str,
        typer.Option(help="The address to listen on; by default only this machine can connect."),
    ] = "127.0.0.1",
    host: Annotated[
        list[str] | None,
        typer.Option(help="A name that visitors reach it by, as behind a proxy; may be repeated."),
    ] = None,
    allow_frame: Annotated[
        bool, typer.Option("--allow-frame", help="Allow other web pages to show it in a frame.")
    ] = False,
) -> None:
    """Open the app in the browser, or with --public serve it to others: see docs/hosting.md."""
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
        os.environ["MORPHGRAPH_PUBLIC"] = "1"
    if host:
        os.environ["MORPHGRAPH_HOST"] = " ".join(host)
    if allow_frame:
        os.environ["MORPHGRAPH_ALLOW_FRAME"] = "1"
    shown = f"[{address}]" if ":" in address else address
    print_message(f"morphgraph: http://{shown}:{port} (Ctrl-C ends it)")
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "web" / "serve.py")]
    command += [item for name, value in options.items() for item in (f"--{name}", str(value))]
    os.execv(sys.executable, command)


def _free_port(address: str) -> int:
    """Return the first free port from 8501 on."""
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in range(_PORT, _PORT + 100):
        # Bind like servers, so that remnants of a closed one's connections do not matter.
        with suppress(OSError), socket.create_server((address, port), family=kind):
            return port
    return _PORT
