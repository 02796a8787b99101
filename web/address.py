"""The address holds what a page shows: Back, Forward, reload and a copied address bring it back.

A step, which Back takes back, is made by an element of ours in the browser: it gives the address
that one leaves a number of its own, then adds one with the next number. So each address is told by
its number: one that Python wrote since the last arrival comes with a click, however late the
browser is; any other one is Back, Forward or a link.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import streamlit as st

from web.components import hidden_component

_ADDRESS, _STEP, _LEFT = "address", "step", "before"
_LONGEST = 1500
"""Characters of a value that an address holds; browsers and servers cut off very long ones."""


@dataclass
class Address:
    """What the address of one tab holds, as far as Python knows.

    ``arrived``: the step of the address that was last loaded or gone back to, ``since`` the first
    step after it, and ``newest`` the last one; ``shown`` the parameters that were followed since;
    ``now`` those of the present run, ``stepped`` whether it has made its step.
    """

    page: str = ""
    arrived: str = ""
    since: int = 1
    newest: int = 0
    shown: dict[str, str] = field(default_factory=dict)
    now: set[str] = field(default_factory=set)
    stepped: bool = False

    def arrive(self, page: str, step: str) -> None:
        """Begin a run of the whole page; another address than Python wrote counts."""
        self.now.clear()
        self.stepped = False
        number = re.fullmatch(rf"({_LEFT})?(\d{{1,9}})", step)
        written = step == self.arrived or (
            step.isdecimal() and number and self.since <= int(step) <= self.newest
        )
        if page == self.page and written:
            return
        self.page, self.arrived = page, step
        self.newest = max(self.newest, int(number[2]) if number else 0)
        self.since = self.newest + 1
        self.shown.clear()

    def take(self, name: str, value: str, asked: str | None, *, step: bool) -> str:
        """What to show: ``value``, or what is ``asked`` for."""
        if name in self.now:  # a fragment runs again
            self.now.clear()
            self.stepped = False
        self.now.add(name)
        if name not in self.shown:
            value = value if asked is None else asked
        elif step and value != self.shown[name] and not self.stepped:
            self.newest += 1
            self.stepped = True
        self.shown[name] = value
        return value

    @property
    def step(self) -> str:
        """The step that is on show."""
        return str(self.newest) if self.newest >= self.since else self.arrived


def address() -> Address:
    found: Address = st.session_state.setdefault(_ADDRESS, Address())
    return found


def arrive(page: str) -> None:
    """Begin a page: what its address asks for counts, unless it is the page of the last run."""
    address().arrive(page, st.query_params.get(_STEP, ""))


def follow(name: str, value: str, reads: Callable[[str], str] = str, *, step: bool = True) -> str:
    """What to show: ``value``, or what the address asks for instead.

    That is so on arrival, and after Back and Forward; else the address takes ``value``. Where that
    has changed, it is a ``step`` that Back takes back, or not, as while one types. ``reads``: what
    the page makes of what is asked for, as anybody can write anything into an address. Empty:
    nothing is asked for.
    """
    now = address()
    # What Python wrote says all; what somebody else did asks for what is in it.
    asked = st.query_params.get(name, "" if now.arrived else None)
    held = now.take(name, _held(value), None if asked is None else _held(reads(asked)), step=step)
    _writing()(
        key=f"address {name}",
        data={
            "name": name,
            "value": held,
            "step": now.step,
            "arrived": now.arrived,
            "since": now.since,
        },
    )
    return held if held != _held(value) else value


def _held(value: str) -> str:
    """A value as an address can hold it; nothing where it cannot."""
    value = value.encode("utf-8", "ignore").decode()
    return value if len(value) <= _LONGEST else ""


@cache
def _writing() -> Callable[..., Any]:
    """Writes a value into the address, if that is one from which its step was made.

    The element is there in every run: what comes and goes makes the browser draw anew all below.
    Where the browser knows more steps than Python, as after the app was started anew, Python is
    told of them, as by Back.
    """
    script = f"""  const address = new URL(location.href), parameters = address.searchParams;
  const here = parameters.get("{_STEP}") ?? "";
  if (here !== data.step) {{
    if (here !== data.arrived && !(+here >= data.since && +here < +data.step)) {{
      if (told !== here) dispatchEvent(new PopStateEvent("popstate"));
      told = here;
      return;
    }}
    parameters.set("{_STEP}", "{_LEFT}" + data.step);
    history.replaceState(history.state, "", address);
    parameters.set("{_STEP}", data.step);
    history.pushState(null, "", address);
  }}
  if (data.value) parameters.set(data.name, data.value);
  else parameters.delete(data.name);
  history.replaceState(history.state, "", address);"""
    return hidden_component("address", "let told = null;", script)
