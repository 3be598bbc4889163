"""Regression: results of later commits, and of the same code under other circumstances."""
