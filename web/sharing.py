"""Edits in the address of a page, so that a copy of it opens the tokeniser as it is now."""

import base64
import binascii
import json
import zlib
from contextlib import suppress

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json
from morphgraph.formats.recipe import check_steps, replay
from web.state import Session

_NAME, _LONGEST = "edits", 1_500
_MOST, _STEPS = 20_000, 100
"""Bytes of JSON that an address may unpack to, and edits in it, as each is made when it is opened.
"""


def edits_in_address(current: Session) -> str:
    """Return the edits of the open tokeniser for an address; empty where they are too long."""
    steps = current.study.graph.recipe()
    if not steps:
        return ""
    told = {"tokeniser": current.study.tokeniser.checksum, "steps": steps}
    written = json.dumps(told, separators=(",", ":")).encode()
    text = base64.urlsafe_b64encode(zlib.compress(written, 9)).decode().rstrip("=")
    fits = len(text) <= _LONGEST and len(written) <= _MOST and len(steps) <= _STEPS
    return text if fits else ""


def follow_edits(current: Session) -> None:
    """Let the address follow the edits."""
    now = current.once((_NAME,), lambda: edits_in_address(current))
    current.address.follow(_NAME, now, reads=lambda _: now, step=False)


def make_shared_edits(current: Session) -> None:
    """Make the edits of an address that was opened, on the tokeniser that they are of.

    Nothing else happens: with edits of one's own, or a text that is no recipe, they are ignored.
    """
    text, graph = st.query_params.get(_NAME, ""), current.study.graph
    if not text or text == st.session_state.get(_NAME) or len(text) > _LONGEST:
        return
    st.session_state[_NAME] = text
    if graph.history or graph.undone:
        return
    with suppress(binascii.Error, zlib.error, ValueError, MorphGraphError):
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        told = parse_json(zlib.decompressobj().decompress(packed, _MOST), "The address")
        if not isinstance(told, dict) or told.get("tokeniser") != current.study.tokeniser.checksum:
            return
        check_steps(told.get("steps"), "The address")
        if len(told["steps"]) > _STEPS:
            return
        changes = replay(current.study.tokeniser, told, "The address")
        one = len(changes) == 1
        current.notice = f"{len(changes)} {'edit' if one else 'edits'} of the address you opened."
