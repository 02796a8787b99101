"""What makes the parts of the documentation that come from code, results or the app."""

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent
