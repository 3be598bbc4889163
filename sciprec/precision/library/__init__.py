"""NumPy's functions as kernels: what a lifted kernel calls in their place."""
