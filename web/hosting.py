"""Whom the app is for: one person on their own machine, or everybody who reaches a server.

In public mode visitors share a server and must not notice each other. Every place that takes a
path, keeps something between visits or lists runs asks `is_public`.
"""

import os

import streamlit as st

_HERE = ("127.0.0.1", "::1", "localhost")
"""Addresses of a server that only this machine reaches."""


def is_public() -> bool:
    """Whether ``MORPHGRAPH_PUBLIC`` is set, as ``morphgraph app --public`` does.

    Whatever is not plainly a no counts as a yes: the public mode is the one that gives less.
    """
    return os.environ.get("MORPHGRAPH_PUBLIC", "").strip().lower() not in (
        "",
        "0",
        "no",
        "off",
        "false",
    )


def only_this_machine() -> bool:
    """Whether nobody but people at this machine reach the app, so that it may take paths."""
    return not is_public() and st.get_option("server.address") in _HERE
