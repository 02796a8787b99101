"""The address holds what a page shows: Back, Forward, reload and a copied address restore it.

Each step that Back undoes has a number, assigned by an element in the browser: it numbers the
address being left, then adds an address with the next number. So an address that Python wrote since
the last arrival belongs to a click, however late the browser is; any other is Back, Forward or a
link.
"""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import streamlit as st

from web.components import hidden_component

_STEP, _LEFT = "step", "before"
_NUMBER = re.compile(rf"(?:{_LEFT})?(\d{{1,9}})")
_LONGEST = 1500
"""The limit of characters of a value; browsers and servers truncate very long addresses."""


@dataclass
class Address:
    """The address of one tab, as far as Python knows it.

    ``arrived``: the step of the address last loaded or returned to; ``since`` the first step after
    it, ``newest`` the last one; ``shown`` the parameters followed since then; ``now`` those of the
    present run, and ``stepped`` whether it has made its step.
    """

    page: str = ""
    arrived: str = ""
    since: int = 1
    newest: int = 0
    shown: dict[str, str] = field(default_factory=dict)
    now: set[str] = field(default_factory=set)
    stepped: bool = False

    def arrive(self, page: str) -> None:
        """Begin a run of a whole page; an address that Python did not write is an arrival."""
        self._begin_run()
        step = st.query_params.get(_STEP, "")
        written = step.isdecimal() and self.since <= int(step) <= self.newest
        if page == self.page and (written or step == self.arrived):
            return
        self.page, self.arrived = page, step
        number = _NUMBER.fullmatch(step)
        self.newest = max(self.newest, int(number[1]) if number else 0)
        self.since = self.newest + 1
        self.shown.clear()

    def follow(
        self,
        name: str,
        value: str,
        *,
        among: Container[str] | None = None,
        reads: Callable[[str], str] = str,
        step: bool = True,
    ) -> str:
        """Return ``value``, or what the address asks for instead.

        The address decides on arrival, and after Back and Forward; otherwise it takes ``value``. A
        changed value is a ``step`` that Back undoes, or not, as while typing; a run makes at most
        one step. Call this where its element is visible: one in a popover is inactive until that is
        opened. As anybody can write anything into an address, ``among`` lists the values it may
        take, and ``reads`` is how the page parses it.
        """
        if name in self.now:  # in a fragment's run, which is never an arrival
            self._begin_run()
        self.now.add(name)
        held = _held(value)
        if name not in self.shown:
            # Python wrote this address, from which empty values were omitted.
            asked = st.query_params.get(name, "" if self.arrived else None)
            is_fit = asked is not None and (among is None or asked in among)
            read = reads(asked) if asked is not None and is_fit else value
            if _held(read) != held:
                value, held = read, _held(read)
        elif step and held != self.shown[name] and not self.stepped:
            self.newest += 1
            self.stepped = True
        self.shown[name] = held
        now = str(self.newest) if self.newest >= self.since else self.arrived
        _writing()(
            key=f"address {name}",
            data={"name": name, "value": held, "step": now}
            | {"arrived": self.arrived, "since": self.since},
        )
        return value

    def _begin_run(self) -> None:
        self.now.clear()
        self.stepped = False


def _held(value: str) -> str:
    """Return a value as an address holds it; empty if it cannot."""
    value = value.encode("utf-8", "ignore").decode()
    return value if len(value) <= _LONGEST else ""


@cache
def _writing() -> Callable[..., Any]:
    """Return an element that writes a value into the address, unless the browser has moved on.

    In that case it reports the address, as Back does: a restarted Python may know of no step. It is
    mounted in every run, since an element that comes and goes makes the browser redraw all below.
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
