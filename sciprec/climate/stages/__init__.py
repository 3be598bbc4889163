"""Transforms whose stages have arithmetics of their own."""
