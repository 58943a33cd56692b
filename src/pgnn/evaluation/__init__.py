"""How good scores are: metrics, heuristics as peers, judging on held-out pairs."""
