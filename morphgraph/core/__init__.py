"""What every room needs: errors, files, texts, the system, and the version in signatures."""

__version__ = "0.2.0"
