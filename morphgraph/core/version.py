"""The version of the library, which is part of every signature."""

__version__ = "0.1.0"
