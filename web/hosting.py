"""Who the app is for: one person on their own machine, or everybody who can reach a server.

In public mode visitors share a server and must not notice each other. Every place that takes a
path, keeps something between visits or lists runs asks `is_public`.
"""

import os

import streamlit as st

from morphgraph.core.limits import is_public as is_public
from morphgraph.core.limits import is_set

THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
"""The loopback addresses: a server at these can be reached only from its own machine."""


def allows_frames() -> bool:
    """Return whether other pages may embed the app in a frame (``--allow-frame``)."""
    return is_set("MORPHGRAPH_ALLOW_FRAME")


def own_hosts() -> list[str]:
    """Return the address that the server listens on, and the names given by ``--host``."""
    return [
        st.get_option("server.address") or "0.0.0.0",
        *os.environ.get("MORPHGRAPH_HOST", "").split(),
    ]


def only_this_machine() -> bool:
    """Return whether only people at this machine reach the app, so that it may take paths."""
    return not is_public() and st.get_option("server.address") in THIS_MACHINE
