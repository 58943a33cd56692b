"""Compiled kernels of `pgnn.distributed`."""
