"""Compiled loops of the searches for candidates."""
