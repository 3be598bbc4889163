"""Studies of kernels of one's own."""
