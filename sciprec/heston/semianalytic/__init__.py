"""Prices and derivatives by integrals: the truth of the Monte Carlo."""
