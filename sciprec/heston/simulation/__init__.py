"""Paths in a backend's arithmetic, and the payments along them."""
