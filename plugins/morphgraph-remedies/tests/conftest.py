"""The folder that commands run in."""

from tests.cli.conftest import folder  # noqa: F401
