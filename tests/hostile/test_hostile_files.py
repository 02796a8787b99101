"""No file costs much: a clear error within seconds and 500 MB, in the app and on the command line.

On one's own machine larger files are opened, if there is memory for them, unless the limits are set
to those of a public app, as here. The process that opens them is one, as the app is, so a file that
ends it fails all that follow.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from effort import EFFORT, all_but
from hostile.files import FILES, OPENS

from morphgraph.core.limits import LIMITS

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 5.0
MOST_BYTES = 500_000_000
# Each is stopped by what stops another: seconds, the memory of values, or steps.
LIKE_OTHERS = (
    *("4 million formats of cells", "a comment of 200 MB", "a pre-tokeniser of 300,000 steps"),
    *("33 million empty objects", "one wide character and 90 MB"),
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells"),
]


@pytest.fixture(scope="module")
def opener(tmp_path_factory):
    """A process that opens files and says what they cost."""
    state = str(tmp_path_factory.mktemp("state"))
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("opening.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            **{one.variable: str(one.public) for one in LIMITS if one.public < one.own},
            "MORPHGRAPH_STATE": state,
            "MORPHGRAPH_MAX_READING_SECONDS": str(round(MOST_SECONDS)),
            "PYTHONPATH": str(ROOT),
        },
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", all_but(FILES, *LIKE_OTHERS))
def test_a_clear_error_at_once(opener, tmp_path, name):
    hostile = FILES[name]
    path = tmp_path / hostile.name
    path.write_bytes(hostile.make())
    # As a public server first: what was opened is remembered. The command says what the app does.
    ways = ["public", "upload", "command"]
    if EFFORT != "soak":
        ways = [*["public"] * bool(hostile.public), *["command"] * (hostile.error is not OPENS)]
    opener.stdin.write(f"{hostile.kind} {','.join(ways)} {path}\n")
    opener.stdin.flush()
    line = opener.stdout.readline()
    assert line, f"the process has ended: {opener.poll()}"
    path.unlink()
    told = json.loads(line)
    assert list(told) == ways
    for way, found in told.items():
        said = f"{way}: {found}"
        expected = hostile.public if way == "public" and hostile.public else hostile.error
        if expected is OPENS:
            assert found["error"][:11] in ("", "exit code 0"), said
        else:
            assert expected in found["error"], said
            assert found["error"].startswith("morphgraph: " if way == "command" else ""), said
            assert "\n" not in found["error"] and len(found["error"]) < 1_000, said
            assert found["error"].endswith("."), said
            assert "panicked" not in found["error"], said
        assert found["seconds"] <= MOST_SECONDS, said
        assert found["grown"] <= MOST_BYTES, said
