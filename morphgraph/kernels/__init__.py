"""The numba kernels: integers in flat arrays."""
