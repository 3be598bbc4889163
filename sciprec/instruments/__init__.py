"""Instruments: formats, parts of an error and notes at every operation of a lifted kernel."""
