"""Sums and updates that keep what they lose."""
