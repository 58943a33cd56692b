"""Compiled loops of the layer, its gate, and scores of pairs."""
