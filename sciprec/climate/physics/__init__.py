"""Forcings that users write, and the clock that they see."""
