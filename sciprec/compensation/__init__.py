"""What a compensation costs, and how its coefficients are fitted."""
