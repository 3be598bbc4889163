"""Pairs of values and their errors."""
