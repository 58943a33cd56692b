"""Compiled loops of searches and walks to anchor-sets."""
