"""Compiled kernels of pair proximities. Import its modules when first used: numba loads slowly."""
