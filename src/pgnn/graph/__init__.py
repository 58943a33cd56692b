"""Graph: the one currency type, frozen compressed rows that were checked at the door."""

from pgnn.graph.graph import Graph as Graph
