"""Greeks by Monte Carlo, each with a bound."""
