"""Quantised arrays and exact products of integers."""
