"""A browser test that fails runs once more: that it did is a warning at the end of the run.

All else fails at once. The plugin is `pytest-rerunfailures`.
"""

import pytest


def pytest_collection_modifyitems(items):
    """Let browser tests run once more."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter):
    """List the tests that ran again, each with the reason."""
    again = terminalreporter.getreports("rerun")
    if again:
        terminalreporter.section(f"warning: {len(again)} run again", sep="=", yellow=True)
    for report in again:
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = " ".join(str(crash.message if crash else report.longrepr).split())[:300]
        terminalreporter.write_line(f"{report.nodeid} ({report.when}): {reason}", yellow=True)
