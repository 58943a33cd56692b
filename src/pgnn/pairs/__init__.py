"""Pairs of nodes: checked, coded as integers, drawn, described by how close their ends are."""
