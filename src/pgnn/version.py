"""The version of pgnn, on its own so that results can name it without importing the package."""

__version__ = "0.2.0"
