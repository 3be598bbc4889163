"""Bands of zonal wavenumbers, by which errors are told apart."""

from __future__ import annotations

BANDS = {"m = 0": (0, 0), "m = 1 to 3": (1, 3), "m = 4 to 15": (4, 15), "m above 15": (16, None)}
"""Name of a band of zonal wavenumbers -> its first and last one."""
