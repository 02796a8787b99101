"""Refusals: errors that a user can act on, and what they say, which stands in `messages.txt`.

No test pins wording: `refused` compares what a test was told with that file. ``make messages``
writes it anew, and its diff is read like any other.
"""

import os
import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import pytest

from morphgraph.core.errors import FileFormatError, MorphGraphError

FILE = Path(__file__).with_name("messages.txt")
PROJECT = FILE.parent.parent
IS_WRITING = "MORPHGRAPH_MESSAGES" in os.environ
PLACES = {
    re.compile(r"/[^\s:“']*/pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/\s:,”']+"): "TMP",
    re.compile(rf"{re.escape(gettempdir())}/tmp\w+"): "TMP",
    re.compile(
        re.escape(str(PROJECT / os.environ.get("MORPHGRAPH_DATA", "../shared/data")))
    ): "DATA",
    re.compile(re.escape(str(PROJECT))): "PROJECT",
    re.compile(r"127\.0\.0\.1:\d+"): "ADDRESS",
    re.compile(r"\b[0-9a-f]{40,64}\b"): "SUM",
}
"""What differs from one machine and run to the next."""

running = []
"""The test that runs; its messages so far are among its properties."""
collected = []
"""All tests of this run, also those that markers leave out; none if single cases were asked for."""


@cache
def messages():
    """The messages of `messages.txt` by test."""
    found = {}
    said = []
    for line in FILE.read_text(encoding="utf-8").split("\n"):
        if line.startswith("    "):
            said.append(line.strip())
        elif line:
            said = found[line] = []
    return found


def expect(message):
    """Compare the next message in this test with that in `messages.txt`."""
    for place, name in PLACES.items():
        message = place.sub(name, message)
    message = re.sub(r"(.)\1{99,}", r"\1…", message.strip())
    message = re.sub(r"[\0-\x1f]", lambda found: repr(found[0])[1:-1], message)
    [test] = running
    assert len(test.nodeid) < 300, "a test that refuses something has a short id"
    known = messages().get(test.nodeid, [])[len(test.user_properties) :]
    test.user_properties.append(("said", message))
    if not IS_WRITING:
        assert [message] == known[:1], "read the difference, and run: make messages"


@contextmanager
def refused(kind=MorphGraphError, place=None):
    """What is inside is refused with this kind of error, whose message is the one that is known.

    ``place``: where in a file the error is, if that is asked for.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    if isinstance(error, FileFormatError):
        assert error.fix, "it says what to do"
        assert place in (None, error.place)
    expect(str(error))


def write(reports):
    """Put the messages of the tests that ran into `messages.txt`; those of lost tests go."""
    cases = {text for each in reports for name, text in each.user_properties if name == "case"}
    known = {*map(_function, cases)}
    found = {
        test: said
        for test, said in messages().items()
        if (test in cases if _function(test) in known else _is_there(test))
    }
    for report in reports:
        said = [text for name, text in report.user_properties if name == "said"]
        found.pop(report.nodeid, None)
        if said:
            found[report.nodeid] = said
    lines = [line for test in sorted(found) for line in (test, *("    " + s for s in found[test]))]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tell_cases(test):
    """Tell `write`, which may be in another process, all cases of a test, so that others go."""
    cases = [each for each in collected if _function(each) == _function(test.nodeid)]
    test.user_properties += [("case", each) for each in cases]


def _function(test):
    return test.partition("[")[0]


def _is_there(test):
    file, _, name = test.partition("::")
    path = PROJECT / file
    return path.exists() and f"def {name.partition('[')[0]}(" in path.read_text(encoding="utf-8")
