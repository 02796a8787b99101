"""The address holds what a page shows: Back, Forward, reload and a copied address bring it back."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import streamlit as st

from web.components import hidden_component

_PAGE, _SEEN, _STEPS = "page in the address", "seen in the address", "steps in the address"
_LATE = 0.25
"""Seconds within which a click may come from a browser that does not know the last address yet."""
_REMEMBERED = 20
"""Values of which a browser that hears late of new ones may still ask for any."""
_LONGEST = 1500
"""Characters of a value that an address holds; browsers and servers cut off very long ones."""


@dataclass(frozen=True)
class _Seen:
    """What the address asked for in the last run, what was shown then, and what before that.

    ``at``: when that changed; the browser learns of it later, so that it may ask for any of
    ``earlier`` for a while, the last of which was on show before.
    """

    asked: str
    shown: str
    earlier: tuple[str, ...]
    at: float


def arrive(page: str) -> None:
    """Begin a page: what its address asks for counts, unless it is the page of the last run."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_SEEN] = {}


def arrive_elsewhere(name: str) -> None:
    """After Back or Forward to another value of this: what stands beside it counts, too."""
    seen = st.session_state[_SEEN]
    st.session_state[_SEEN] = {name: seen[name]}


def follow(name: str, value: str, *, step: bool = True) -> str:
    """What to show: ``value``, or what the address asks for instead.

    That is so on arrival, and after Back and Forward; else the address takes ``value``. Where that
    has changed, it is a ``step`` that Back takes back, or not, as while one types. Whoever calls
    this checks what it returns, as anybody can write anything into an address. Empty: nothing is
    asked for.
    """
    seen: dict[str, _Seen] = st.session_state.setdefault(_SEEN, {})
    held = _held(value)
    asked = st.query_params.get(name, "")
    before = seen.get(name)
    replaces = False
    if before is None:
        replaces = not asked
        value = asked or value
        held = _held(value)
    elif step and _is_news(asked, held, before):
        held = value = asked
    elif not step:
        replaces = True
    elif held != before.shown:
        st.session_state[_STEPS] = st.session_state.get(_STEPS, 0) + 1
        if held:
            st.query_params[name] = held
        elif name in st.query_params:
            del st.query_params[name]
        asked = held
    _replace(name, held if replaces else None)
    if before is None:
        seen[name] = _Seen(asked, held, (), time.monotonic())
    elif held != before.shown:
        earlier = (*before.earlier, before.shown)[-_REMEMBERED:]
        seen[name] = _Seen(asked, held, earlier, time.monotonic())
    else:
        seen[name] = replace(before, asked=asked)
    return value


def _is_news(asked: str, held: str, before: _Seen) -> bool:
    """Whether the address was changed by Back or Forward, not by the last runs."""
    if asked in (before.asked, before.shown):
        return False
    if held != before.shown:  # chosen on the page, whose browser may not know the last addresses
        return asked not in before.earlier
    return asked not in before.earlier[-1:] or time.monotonic() - before.at >= _LATE


def _held(value: str) -> str:
    """A value as an address can hold it; nothing where it cannot."""
    value = value.encode("utf-8", "ignore").decode()
    return value if len(value) <= _LONGEST else ""


def _replace(name: str, value: str | None) -> None:
    """Put a value into the address without a step to come back from; None: leave it alone.

    The element is there in every run: what comes and goes makes the browser draw anew all below.
    It acts again after a step, in whose address the value is as Streamlit knows it.
    """
    data = {"name": name, "value": value, "steps": st.session_state.get(_STEPS, 0)}
    _replacing()(key=f"address {name}", data=data)


@cache
def _replacing() -> Callable[..., Any]:
    script = """  if (data.value === null) return;
  const address = new URL(location.href);
  if (data.value) address.searchParams.set(data.name, data.value);
  else address.searchParams.delete(data.name);
  history.replaceState(history.state, "", address);"""
    return hidden_component("address", "", script)
