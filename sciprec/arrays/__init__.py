"""Arrays in an arithmetic: quantised arrays, matrix products, sums, and norms of their errors."""
