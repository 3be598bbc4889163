"""Kernels whose operations have formats of their own: assignments, and what computes in them."""
