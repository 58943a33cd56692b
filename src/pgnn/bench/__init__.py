"""Benchmarks behind `pgnn bench`: each measures a peer in the same run."""
