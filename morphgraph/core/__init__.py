"""What every room needs: errors, files, texts, the system, and the version in signatures."""

__version__ = "0.1.0"
